/* v6.9, da4c8c3d0975 ("block: cache current nsec time in struct blk_plug") */
/* asks about: cur_ktime */
#include <linux/blkdev.h>
#include <linux/sched.h>

void probe(struct blk_plug *plug);

void probe(struct blk_plug *plug)
{
	plug->cur_ktime = 0;
	current->flags &= ~PF_BLOCK_TS;
}
