/* v6.1, de671d6116b5 ("block: change request end_io handler to pass back a return value") */
/* asks about: rq_end_io_ret */
#include <linux/blk-mq.h>

size_t probe(void);

size_t probe(void)
{
	return sizeof(enum rq_end_io_ret);
}
