/* v6.8, cd4d7263d58a ("genetlink: Use internal flags for multicast groups") */
/* asks about: flags GENL_MCAST_CAP_SYS_ADMIN */
#include <net/genetlink.h>

u8 probe(const struct genl_multicast_group *group);

u8 probe(const struct genl_multicast_group *group)
{
	return group->flags & GENL_MCAST_CAP_SYS_ADMIN;
}
