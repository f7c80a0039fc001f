/* v6.19, 2f6b2565d43c ("block: accumulate memory segment gaps per bio") */
/* asks about: phys_gap_bit */
#include <linux/blk-mq.h>

void probe(struct request *rq);

void probe(struct request *rq)
{
	rq->phys_gap_bit = 0;
}
