/* before v6.4, 54bdd67d0f88 ("blk-mq: remove hybrid polling") */
/* asks about: poll_nsec */
#include <linux/blkdev.h>

int probe(struct request_queue *q);

int probe(struct request_queue *q)
{
	return q->poll_nsec;
}
