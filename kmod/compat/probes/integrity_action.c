/* v7.1, 7ea25eaad5ae ("block: factor out a bio_integrity_action helper") */
/* asks about: bio_integrity_action */
#include <linux/blk-integrity.h>

void probe(struct bio *bio);

void probe(struct bio *bio)
{
	bio_integrity_prep(bio, bio_integrity_action(bio));
}
