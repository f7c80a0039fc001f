/* v6.7 only, e03781879a0d ("drop_monitor: Require 'CAP_SYS_ADMIN' when joining "events" group") */
/* asks about: cap_sys_admin */
#include <net/genetlink.h>

bool probe(const struct genl_multicast_group *group);

bool probe(const struct genl_multicast_group *group)
{
	return group->cap_sys_admin;
}
