/* v6.11, 9da3d1e912f3 ("block: Add core atomic write support") */
/* asks about: REQ_ATOMIC bdev_can_atomic_write queue_atomic_write_unit_max_bytes */
#include <linux/blkdev.h>

blk_opf_t probe(struct block_device *bdev);

blk_opf_t probe(struct block_device *bdev)
{
	if (!bdev_can_atomic_write(bdev))
		return 0;
	return queue_atomic_write_unit_max_bytes(bdev_get_queue(bdev)) ? REQ_ATOMIC : 0;
}
