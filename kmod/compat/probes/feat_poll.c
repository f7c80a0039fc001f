/* v6.11, 8023e144f9d6 ("block: move the poll flag to queue_limits") */
/* asks about: features BLK_FEAT_POLL */
#include <linux/blkdev.h>

bool probe(struct request_queue *q);

bool probe(struct request_queue *q)
{
	return q->limits.features & BLK_FEAT_POLL;
}
