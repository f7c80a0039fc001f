// SPDX-License-Identifier: GPL-2.0
/*
 * The floor: what a read costs when nobody does anything but submit it.
 *
 * While it is being loaded the module reads 4 KiB blocks at random from a disk, as many as
 * asked for, and leaves the time that took in a parameter. A read gets an address and is sent;
 * its completion says that the buffer is free. Nothing is generated, timed or counted beyond
 * that, and there is no cheaper way through exported functions that we know of; so this is
 * what a load generator in the kernel can be compared with.
 *
 * path=bio: submit_bio()
 * path=mq: requests of the disk's own tags, by blk_insert_cloned_request()
 * path=plug: the same requests, put on the plug's own list, which blk_finish_plug() sends; the
 *	disk does not count them
 * A batch goes under a plug that knows how many are coming and fetches their tags at once
 * (ahead=0: one by one, to see what that saves); a plug around a single read would only cost,
 * but path=plug can't do without.
 */
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>

#define BLOCK_BYTES	4096
#define BLOCK_SECTORS	(BLOCK_BYTES >> SECTOR_SHIFT)
#define MAX_DEPTH	1024
#define MAX_BATCH	32	/* that the block layer has in a plug */

static char *device;
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "disk to read from, whole and not in use");
static char *path = "bio";
module_param(path, charp, 0444);
MODULE_PARM_DESC(path, "bio, mq or plug");
static uint depth = 32;
module_param(depth, uint, 0444);
MODULE_PARM_DESC(depth, "reads outstanding");
static uint batch = 16;
module_param(batch, uint, 0444);
MODULE_PARM_DESC(batch, "reads submitted in one go");
static bool ahead = true;
module_param(ahead, bool, 0444);
MODULE_PARM_DESC(ahead, "fetch the tags of a batch at once");
static bool polled;
module_param(polled, bool, 0444);
MODULE_PARM_DESC(polled, "poll for completions");
static ulong count = 100000;
module_param(count, ulong, 0444);
MODULE_PARM_DESC(count, "reads in all");
static ulong elapsed_ns;
module_param(elapsed_ns, ulong, 0444);
MODULE_PARM_DESC(elapsed_ns, "result: from the first submission to the last completion");

/**
 * struct slot - a read that can be outstanding
 * @bio: reset before every use
 * @vec: its page
 * @busy: the disk has it; cleared by its completion
 */
struct slot {
	struct bio bio;
	struct bio_vec vec;
	bool busy;
};

/**
 * struct floor - everything
 * @slots: @depth of them, used in turn
 * @next: slot of the next read
 * @bdev: the disk
 * @opf: operation and flags of every read
 * @blocks: size of the disk
 * @random: state of the generator of addresses
 * @failed: a read failed
 */
struct floor {
	struct slot *slots;
	u32 next;
	struct block_device *bdev;
	blk_opf_t opf;
	u64 blocks;
	u64 random;
	bool failed;
};

static struct floor the_floor;

static void end_io(struct bio *bio)
{
	struct slot *slot = container_of(bio, struct slot, bio);

	if (unlikely(bio->bi_status))
		WRITE_ONCE(the_floor.failed, true);
	/* The bio is no longer touched: pairs with wait_for(). */
	smp_store_release(&slot->busy, false);
}

static sector_t random_sector(struct floor *floor)
{
	u64 x = floor->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	floor->random = x;
	return mul_u64_u64_shr(x, floor->blocks, 64) * BLOCK_SECTORS;
}

/* @cgroup: submit_bio() needs to know whom to charge, a request doesn't. */
static void arm(struct floor *floor, struct slot *slot, bool cgroup)
{
	struct bio *bio = &slot->bio;

	bio_reset(bio, cgroup ? floor->bdev : NULL, floor->opf);
	bio->bi_bdev = floor->bdev;
	bio->bi_io_vec = &slot->vec;
	bio->bi_vcnt = 1;
	bio->bi_iter.bi_sector = random_sector(floor);
	bio->bi_iter.bi_size = BLOCK_BYTES;
	bio->bi_end_io = end_io;
	slot->busy = true;
}

static void poll(struct bio *bio)
{
	DEFINE_IO_COMP_BATCH(iob);

	bio_poll(bio, &iob, BLK_POLL_ONESHOT);
	if (iob.complete)
		iob.complete(&iob);
}

static void wait_for(struct slot *slot)
{
	/* The bio is ours again: pairs with end_io(). */
	while (smp_load_acquire(&slot->busy)) {
		if (polled)
			poll(&slot->bio);
		else
			cond_resched();
	}
}

static struct slot *next_slot(struct floor *floor)
{
	struct slot *slot = &floor->slots[floor->next];

	floor->next = floor->next + 1 == depth ? 0 : floor->next + 1;
	return slot;
}

static void send_bio(struct floor *floor, struct slot *slot)
{
	arm(floor, slot, true);
	submit_bio(&slot->bio);
}

/* Return: a request for @slot, or NULL: its bio has failed. */
static struct request *make_request(struct floor *floor, struct slot *slot)
{
	struct bio *bio = &slot->bio;
	struct request *rq;

	arm(floor, slot, false);
	/* With a read's flags it would take no tag that was fetched ahead: see kmod/load/submit_mq.c. */
	rq = blk_mq_alloc_request(bdev_get_queue(floor->bdev),
				  ahead ? bio->bi_opf | REQ_OP_WRITE : bio->bi_opf,
				  BLK_MQ_REQ_NOWAIT);
	if (IS_ERR(rq)) {
		bio_io_error(bio);
		return NULL;
	}
	rq->cmd_flags = bio->bi_opf;
	rq->__sector = bio->bi_iter.bi_sector;
	rq->__data_len = bio->bi_iter.bi_size;
	rq->bio = bio;
	rq->biotail = bio;
	return rq;
}

static void send_request(struct floor *floor, struct slot *slot)
{
	struct request *rq = make_request(floor, slot);

	if (!rq || likely(blk_insert_cloned_request(rq) == BLK_STS_OK))
		return;
	rq->bio = NULL;
	rq->biotail = NULL;
	blk_mq_free_request(rq);
	bio_io_error(&slot->bio);
}

static void send_plugged(struct floor *floor, struct slot *slot)
{
	struct blk_plug *plug = current->plug;
	struct request *rq = make_request(floor, slot);

	if (!rq)
		return;
	rq->nr_phys_segments = 1;
	/* What is a function since v6.13 was a macro for another kind of list. */
#ifdef rq_list_add_tail
	rq_list_add(&plug->mq_list, rq);
#else
	rq_list_add_tail(&plug->mq_list, rq);
#endif
	plug->rq_count++;
}

static __always_inline void loop(struct floor *floor, void (*send)(struct floor *, struct slot *),
				 bool always_plugs)
{
	unsigned long left = count;
	struct blk_plug plug;

	while (left && !READ_ONCE(floor->failed)) {
		unsigned long n = min_t(unsigned long, left, batch);

		left -= n;
		if (batch > 1 || always_plugs) {
			blk_start_plug(&plug);
			if (ahead)
				plug.nr_ios = n;
		}
		while (n--) {
			struct slot *slot = next_slot(floor);

			/* None of these is in the plug: a batch is not larger than the depth. */
			wait_for(slot);
			send(floor, slot);
		}
		if (batch > 1 || always_plugs)
			blk_finish_plug(&plug);
		cond_resched();
	}
}

static int run(struct floor *floor)
{
	u64 start_ns = ktime_get_ns();
	u32 i;

	if (!strcmp(path, "mq"))
		loop(floor, send_request, false);
	else if (!strcmp(path, "plug"))
		loop(floor, send_plugged, true);
	else
		loop(floor, send_bio, false);
	for (i = 0; i < depth; i++)
		wait_for(&floor->slots[i]);
	elapsed_ns = ktime_get_ns() - start_ns;
	return floor->failed ? -EIO : 0;
}

/* ---- set-up ---- */

static void destroy_slots(struct floor *floor)
{
	u32 i;

	for (i = 0; i < depth; i++) {
		bio_uninit(&floor->slots[i].bio);
		if (floor->slots[i].vec.bv_page)
			__free_page(floor->slots[i].vec.bv_page);
	}
	kvfree(floor->slots);
}

static int create_slots(struct floor *floor)
{
	u32 i;

	floor->slots = kvcalloc(depth, sizeof(*floor->slots), GFP_KERNEL);
	if (!floor->slots)
		return -ENOMEM;
	for (i = 0; i < depth; i++) {
		struct slot *slot = &floor->slots[i];

		bio_init(&slot->bio, NULL, &slot->vec, 1, 0);
		slot->vec.bv_len = BLOCK_BYTES;
		slot->vec.bv_page = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (!slot->vec.bv_page) {
			destroy_slots(floor);
			return -ENOMEM;
		}
	}
	return 0;
}

static int check_parameters(void)
{
	bool is_path = !strcmp(path, "bio") || !strcmp(path, "mq") || !strcmp(path, "plug");

	if (device && is_path && batch && batch <= depth && batch <= MAX_BATCH &&
	    depth <= MAX_DEPTH)
		return 0;
	pr_err("spek_floor: needs device=, path=bio|mq|plug, batch <= %u, batch <= depth <= %u\n",
	       MAX_BATCH, MAX_DEPTH);
	return -EINVAL;
}

static int __init floor_init(void)
{
	struct floor *floor = &the_floor;
	struct file *file;
	int err;

	err = check_parameters();
	if (err)
		return err;
	file = filp_open(device, O_RDONLY | O_EXCL, 0);
	if (IS_ERR(file))
		return PTR_ERR(file);
	err = -ENOTBLK;
	if (!S_ISBLK(file_inode(file)->i_mode))
		goto err_close;
	floor->bdev = I_BDEV(file->f_mapping->host);
	err = -EOPNOTSUPP;
	if (strcmp(path, "bio") && !queue_is_mq(bdev_get_queue(floor->bdev)))
		goto err_close;
	floor->blocks = bdev_nr_sectors(floor->bdev) / BLOCK_SECTORS;
	floor->random = 0x9e3779b97f4a7c15ull;
	floor->opf = REQ_OP_READ | REQ_NOMERGE | (polled ? REQ_POLLED : 0);
	err = create_slots(floor);
	if (err)
		goto err_close;
	err = run(floor);
	destroy_slots(floor);
err_close:
	filp_close(file, NULL);
	return err;
}

static void __exit floor_exit(void)
{
}

module_init(floor_init);
module_exit(floor_exit);

MODULE_DESCRIPTION("What reading from a block device costs at least");
MODULE_LICENSE("GPL");
