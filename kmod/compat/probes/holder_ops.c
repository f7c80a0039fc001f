/* v6.5, 0718afd47f70 ("block: introduce holder ops") */
/* asks about: blk_holder_ops */
#include <linux/blkdev.h>

struct blk_holder_ops;

bool probe(const struct blk_holder_ops *ops);

bool probe(const struct blk_holder_ops *ops)
{
	return ops->mark_dead;
}
