/* v6.7 to v6.8, e719b4d15674 ("block: Provide bdev_open_* functions") */
/* asks about: bdev_open_by_dev */
#include <linux/blkdev.h>

struct blk_holder_ops;

struct block_device *probe(dev_t dev, void *holder, const struct blk_holder_ops *ops);

struct block_device *probe(dev_t dev, void *holder, const struct blk_holder_ops *ops)
{
	struct bdev_handle *handle = bdev_open_by_dev(dev, BLK_OPEN_READ, holder, ops);

	return IS_ERR(handle) ? NULL : handle->bdev;
}
