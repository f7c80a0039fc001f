/* v6.6, d8530de5a6e8 ("block: call into the file system for bdev_mark_dead") */
#include <linux/blkdev.h>

void probe(const struct blk_holder_ops *ops, struct block_device *bdev);

void probe(const struct blk_holder_ops *ops, struct block_device *bdev)
{
	ops->mark_dead(bdev, true);
}
