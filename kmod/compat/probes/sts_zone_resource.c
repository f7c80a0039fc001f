/* until v6.9, 63b5385e7814 ("block: Remove BLK_STS_ZONE_RESOURCE") */
/* asks about: BLK_STS_ZONE_RESOURCE */
#include <linux/blk_types.h>

blk_status_t probe(void);

blk_status_t probe(void)
{
	return BLK_STS_ZONE_RESOURCE;
}
