/* v6.5, 05bdb9965305 ("block: replace fmode_t with a block-specific type for block open flags") */
/* asks about: blk_mode_t */
#include <linux/blkdev.h>

blk_mode_t probe(void);

blk_mode_t probe(void)
{
	return BLK_OPEN_WRITE;
}
