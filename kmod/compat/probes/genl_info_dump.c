/* v6.6, 9272af109fe6 ("genetlink: add struct genl_info to struct genl_dumpit_info") */
/* asks about: genl_info_dump */
#include <net/genetlink.h>

struct nlattr **probe(struct netlink_callback *cb);

struct nlattr **probe(struct netlink_callback *cb)
{
	return genl_info_dump(cb)->attrs;
}
