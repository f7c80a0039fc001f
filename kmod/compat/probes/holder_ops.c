/* v6.5, 0718afd47f70 ("block: introduce holder ops") */
#include <linux/blkdev.h>

bool probe(const struct blk_holder_ops *ops);

bool probe(const struct blk_holder_ops *ops)
{
	return ops->mark_dead;
}
