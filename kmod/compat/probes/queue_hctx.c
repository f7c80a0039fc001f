/* v6.19, 89e1fb7ceffd ("blk-mq: fix potential uaf for 'queue_hw_ctx'") */
/* asks about: queue_hctx */
#include <linux/blk-mq.h>

struct blk_mq_hw_ctx *probe(struct request_queue *q);

struct blk_mq_hw_ctx *probe(struct request_queue *q)
{
	return queue_hctx(q, 0);
}
