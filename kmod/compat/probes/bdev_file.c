/* v6.9, f3a608827d1f ("bdev: open block device as files") */
/* asks about: bdev_file_open_by_dev */
#include <linux/blkdev.h>

struct blk_holder_ops;

struct file *probe(dev_t dev, void *holder, const struct blk_holder_ops *ops);

struct file *probe(dev_t dev, void *holder, const struct blk_holder_ops *ops)
{
	return bdev_file_open_by_dev(dev, BLK_OPEN_READ, holder, ops);
}
