/* until v6.12 (and 6.12.y), 6975c1a486a4 ("block: remove the ioprio field from struct request") */
/* asks about: ioprio */
#include <linux/blk-mq.h>

unsigned short probe(struct request *rq);

unsigned short probe(struct request *rq)
{
	return rq->ioprio;
}
