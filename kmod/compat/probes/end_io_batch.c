/* v7.0, 5e2fde1a9433 ("block: pass io_comp_batch to rq_end_io_fn callback") */
/* asks about: io_comp_batch */
#include <linux/blk-mq.h>

void probe(struct request *rq, enum rq_end_io_ret (*end_io)(struct request *, blk_status_t,
							    const struct io_comp_batch *));

void probe(struct request *rq, enum rq_end_io_ret (*end_io)(struct request *, blk_status_t,
							    const struct io_comp_batch *))
{
	rq->end_io = end_io;
}
