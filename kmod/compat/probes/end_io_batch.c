/* v7.0, 5e2fde1a9433 ("block: pass io_comp_batch to rq_end_io_fn callback") */
#include <linux/blk-mq.h>

enum rq_end_io_ret probe(rq_end_io_fn *fn, struct request *rq, const struct io_comp_batch *iob);

enum rq_end_io_ret probe(rq_end_io_fn *fn, struct request *rq, const struct io_comp_batch *iob)
{
	return fn(rq, BLK_STS_OK, iob);
}
