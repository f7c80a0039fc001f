/* v6.9, 74fa8f9c553f ("block: pass a queue_limits argument to blk_alloc_disk") */
/* asks about: blk_alloc_disk */
#include <linux/blkdev.h>

struct gendisk *probe(void);

struct gendisk *probe(void)
{
	return blk_alloc_disk(NULL, NUMA_NO_NODE);
}
