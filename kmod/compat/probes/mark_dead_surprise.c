/* v6.6, d8530de5a6e8 ("block: call into the file system for bdev_mark_dead") */
/* asks about: blk_holder_ops block_device */
#include <linux/blkdev.h>

struct blk_holder_ops;

void probe(struct blk_holder_ops *ops, void (*mark_dead)(struct block_device *, bool));

void probe(struct blk_holder_ops *ops, void (*mark_dead)(struct block_device *, bool))
{
	ops->mark_dead = mark_dead;
}
