/* v6.9, 449813515d3e ("block, fs: Restore the per-bio/request data lifetime fields") */
/* asks about: bi_write_hint */
#include <linux/bio.h>

void probe(struct bio *bio);

void probe(struct bio *bio)
{
	bio->bi_write_hint = 0;
}
