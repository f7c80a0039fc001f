/* v6.3, 5f27571382ca ("block: count 'ios' and 'sectors' when io is done for bio-based device") */
/* asks about: bdev_start_io_acct */
#include <linux/blkdev.h>

void probe(struct block_device *bdev);

void probe(struct block_device *bdev)
{
	bdev_start_io_acct(bdev, REQ_OP_READ, 0);
}
