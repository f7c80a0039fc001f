/* until v6.12 (and 6.12.y), 61952bb73486 ("block: remove the write_hint field from struct request") */
/* asks about: write_hint */
#include <linux/blk-mq.h>

void probe(struct request *rq);

void probe(struct request *rq)
{
	rq->write_hint = 0;
}
