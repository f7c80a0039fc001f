// SPDX-License-Identifier: GPL-2.0
/*
 * spek_limits: disks that hold nothing, with limits that no disk at hand has, for tests. Never
 * shipped.
 *
 * A request that is more than the disk has said it takes is answered with an error and a warning.
 *
 * Parameters: disks, mib (size of each), segments (of a request), segment_bytes (of a segment),
 * boundary_bytes (no segment crosses a multiple of it), chunk_sectors (no request does), sectors
 * (of a request), physical_bytes (physical block, no limit). 0: the block layer's own. requests: how
 * many a disk has. shared: all disks have one set of tags, as the LUNs of a SCSI host.
 *
 * hold has a bit for each disk. While it is set the disk keeps what it is given, and answers it
 * when the bit is cleared. Disks whose bit is set in sleepers don't keep it: their driver sleeps
 * until then.
 */
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/spinlock.h>
#include <linux/version.h>
#include <linux/wait.h>

#define MAX_DISKS	4u

static unsigned int disks = 1;
module_param(disks, uint, 0444);
static unsigned int mib = 16;
module_param(mib, uint, 0444);
static unsigned int segments;
module_param(segments, uint, 0444);
static unsigned int segment_bytes;
module_param(segment_bytes, uint, 0444);
static unsigned int boundary_bytes;
module_param(boundary_bytes, uint, 0444);
static unsigned int chunk_sectors;
module_param(chunk_sectors, uint, 0444);
static unsigned int sectors;
module_param(sectors, uint, 0444);
static unsigned int physical_bytes;
module_param(physical_bytes, uint, 0444);
static unsigned int requests = 64;
module_param(requests, uint, 0444);
static unsigned int sleepers;
module_param(sleepers, uint, 0444);
static bool shared;
module_param(shared, bool, 0444);

static unsigned int hold;
static LIST_HEAD(held);
static DEFINE_SPINLOCK(held_lock);	/* hold and held; innermost */
static DECLARE_WAIT_QUEUE_HEAD(released);

static struct disk {
	struct blk_mq_tag_set tags;	/* if shared, of the first disk only */
	struct gendisk *gendisk;
} disk[MAX_DISKS];

static unsigned int bit_of(const struct request *rq)
{
	const struct disk *receiver = rq->q->queuedata;

	return 1u << (receiver - disk);
}

static void set_hold(unsigned int wanted)
{
	struct request *rq, *next;
	LIST_HEAD(answered);

	spin_lock_irq(&held_lock);
	WRITE_ONCE(hold, wanted);
	list_for_each_entry_safe(rq, next, &held, queuelist)
		if (!(wanted & bit_of(rq)))
			list_move_tail(&rq->queuelist, &answered);
	spin_unlock_irq(&held_lock);
	wake_up_all(&released);
	list_for_each_entry_safe(rq, next, &answered, queuelist) {
		list_del_init(&rq->queuelist);
		blk_mq_end_request(rq, BLK_STS_OK);
	}
}

static int write_hold(const char *text, const struct kernel_param *param)
{
	unsigned int wanted;
	int err = kstrtouint(text, 0, &wanted);

	if (!err)
		set_hold(wanted);
	return err;
}

static const struct kernel_param_ops hold_ops = {
	.set = write_hold,
	.get = param_get_uint,
};
module_param_cb(hold, &hold_ops, &hold, 0644);

/* Return: whether @rq is kept. */
static bool keep(struct request *rq)
{
	unsigned long flags;
	bool kept;

	spin_lock_irqsave(&held_lock, flags);
	kept = hold & bit_of(rq);
	if (kept)
		list_add_tail(&rq->queuelist, &held);
	spin_unlock_irqrestore(&held_lock, flags);
	return kept;
}

/* Segments as a driver has to make them: of pieces that lie beside each other by chance as well. */
static unsigned int count_segments(struct request *rq)
{
	const struct queue_limits *limits = &rq->q->limits;
	struct req_iterator iter;
	unsigned int count = 0;
	struct bio_vec vec;

	rq_for_each_bvec(vec, rq, iter) {
		phys_addr_t at = page_to_phys(vec.bv_page) + vec.bv_offset;
		phys_addr_t end = at + vec.bv_len;

		for (; at < end; count++) {
			u64 next = (at | limits->seg_boundary_mask) + 1;

			at = min3((u64)at + limits->max_segment_size, (u64)end, next);
		}
	}
	return count;
}

static const char *wrong_with(struct request *rq)
{
	const struct queue_limits *limits = &rq->q->limits;
	u64 first = blk_rq_pos(rq), last = first + blk_rq_sectors(rq) - 1;

	if (blk_rq_sectors(rq) > limits->max_hw_sectors)
		return "sectors";
	/* A driver makes room for as many as the request says. */
	if (count_segments(rq) > min(limits->max_segments, blk_rq_nr_phys_segments(rq)))
		return "segments";
	if (limits->chunk_sectors &&
	    first / limits->chunk_sectors != last / limits->chunk_sectors)
		return "chunks";
	return NULL;
}

static blk_status_t queue_rq(struct blk_mq_hw_ctx *hctx, const struct blk_mq_queue_data *data)
{
	struct request *rq = data->rq;
	const char *wrong = blk_rq_bytes(rq) ? wrong_with(rq) : NULL;

	blk_mq_start_request(rq);
	WARN_ONCE(wrong, "spek_limits: more %s than a request may have\n", wrong);
	if (sleepers & bit_of(rq))
		wait_event_idle(released, !(READ_ONCE(hold) & bit_of(rq)));
	if (!wrong && keep(rq))
		return BLK_STS_OK;
	blk_mq_end_request(rq, wrong ? BLK_STS_IOERR : BLK_STS_OK);
	return BLK_STS_OK;
}

static const struct blk_mq_ops mq_ops = {
	.queue_rq = queue_rq,
};

static const struct block_device_operations ops = {
	.owner = THIS_MODULE,
};

static struct gendisk *make_disk(struct blk_mq_tag_set *tags, struct disk *owner)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
	struct queue_limits limits = {
		.max_segments = segments,
		.max_segment_size = segment_bytes,
		.seg_boundary_mask = boundary_bytes ? boundary_bytes - 1 : 0,
		.chunk_sectors = chunk_sectors,
		.max_hw_sectors = sectors,
		.physical_block_size = physical_bytes,
	};

	return blk_mq_alloc_disk(tags, &limits, owner);
#else
	struct gendisk *made = blk_mq_alloc_disk(tags, owner);

	if (IS_ERR(made))
		return made;
	if (segments)
		blk_queue_max_segments(made->queue, segments);
	if (segment_bytes)
		blk_queue_max_segment_size(made->queue, segment_bytes);
	if (boundary_bytes)
		blk_queue_segment_boundary(made->queue, boundary_bytes - 1);
	if (sectors)
		blk_queue_max_hw_sectors(made->queue, sectors);
	if (physical_bytes)
		blk_queue_physical_block_size(made->queue, physical_bytes);
	if (chunk_sectors)
		blk_queue_chunk_sectors(made->queue, chunk_sectors);
	return made;
#endif
}

static int alloc_tags(struct blk_mq_tag_set *tags, bool sleeps)
{
	tags->ops = &mq_ops;
	tags->nr_hw_queues = 1;
	tags->queue_depth = requests;
	tags->numa_node = NUMA_NO_NODE;
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)	/* merging is no choice since then */
	tags->flags = BLK_MQ_F_SHOULD_MERGE;
#endif
	if (sleeps)
		tags->flags |= BLK_MQ_F_BLOCKING;
	return blk_mq_alloc_tag_set(tags);
}

static int add(unsigned int number)
{
	struct blk_mq_tag_set *tags = &disk[shared ? 0 : number].tags;
	struct gendisk *made;
	int err;

	if (!tags->tags) {
		err = alloc_tags(tags, sleepers & (shared ? ~0u : 1u << number));
		if (err)
			return err;
	}
	made = make_disk(tags, &disk[number]);
	if (IS_ERR(made))
		return PTR_ERR(made);
	made->fops = &ops;
	made->flags |= GENHD_FL_NO_PART;
	snprintf(made->disk_name, sizeof(made->disk_name), "spek_limits%u", number);
	set_capacity(made, (sector_t)mib << (20 - SECTOR_SHIFT));
	err = add_disk(made);
	if (err) {
		put_disk(made);
		return err;
	}
	disk[number].gendisk = made;
	return 0;
}

static void remove_all(void)
{
	unsigned int i;

	for (i = 0; i < MAX_DISKS; i++) {
		if (!disk[i].gendisk)
			continue;
		del_gendisk(disk[i].gendisk);
		put_disk(disk[i].gendisk);
	}
	for (i = 0; i < MAX_DISKS; i++)
		if (disk[i].tags.tags)
			blk_mq_free_tag_set(&disk[i].tags);
}

static int __init limits_init(void)
{
	unsigned int i;

	if (!disks || disks > MAX_DISKS)
		return -EINVAL;
	for (i = 0; i < disks; i++) {
		int err = add(i);

		if (err) {
			remove_all();
			return err;
		}
	}
	return 0;
}

static void __exit limits_exit(void)
{
	set_hold(0);
	remove_all();
}

module_init(limits_init);
module_exit(limits_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Disks with unusual limits, for tests");
