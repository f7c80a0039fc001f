/* v6.13 (and 6.12.y), a3396b99990d ("block: add a rq_list type") */
/* asks about: mq_list */
#include <linux/blkdev.h>

void probe(struct blk_plug *plug);

void probe(struct blk_plug *plug)
{
	plug->mq_list.head = NULL;
}
