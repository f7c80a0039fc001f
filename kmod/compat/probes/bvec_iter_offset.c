/* v7.3, b539aeacf8cc ("block: rename bi_bvec_done") */
/* asks about: bi_offset */
#include <linux/bvec.h>

unsigned int probe(const struct bvec_iter *iter);

unsigned int probe(const struct bvec_iter *iter)
{
	return iter->bi_offset;
}
