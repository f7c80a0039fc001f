/* v6.5, dd6216bb16e8 ("blk-mq: make sure elevator callbacks aren't called for passthrough request") */
/* asks about: RQF_SCHED_TAGS */
#include <linux/blk-mq.h>

bool probe(struct request *rq);

bool probe(struct request *rq)
{
	return rq->rq_flags & RQF_SCHED_TAGS;
}
