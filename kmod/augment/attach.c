// SPDX-License-Identifier: GPL-2.0
/*
 * Before a unit serves: superblocks, and recovery of the log.
 *
 * The constructor only reads. Superblocks are written, and the log is read, when the target is
 * resumed for the first time: a table for a device that is in use is constructed while the target
 * of the table before it still writes.
 *
 * The log is read from the tail in windows, one for each device, until no device has the
 * next record. The windows are the machine's buffers, which nothing uses yet.
 *
 * The refusals' index is the number of the device that is to be named, or SPEK_AUGMENT_UNNAMED.
 */
#include <linux/blkdev.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "attach.h"
#include "data.h"

#define DM_MSG_PREFIX "spek-augment"

/* Blocks of a window: a record and more. */
#define WINDOW	(SPEK_AUGMENT_STAGE_PAGES / SPEK_AUGMENT_DEVICES)

static_assert(WINDOW > SPEK_AUGMENT_RECORD_BLOCKS && WINDOW <= SPEK_AUGMENT_UNIT_BLOCKS);

/**
 * struct window - a part of a device's log in memory
 * @first: place in the log
 * @blocks: number of blocks; 0: nothing has been read
 * @failed: of each block whether it could not be read
 */
struct window {
	u32 first;
	u32 blocks;
	DECLARE_BITMAP(failed, WINDOW);
};

/**
 * struct found_supers - superblocks of all devices
 * @supers: two for each device
 * @found: bitmap of a device's that are there
 * @foreign: bitmap of devices with one of another version of the format
 */
struct found_supers {
	struct spek_augment_super supers[2 * SPEK_AUGMENT_DEVICES];
	u32 found[SPEK_AUGMENT_DEVICES];
	u32 foreign;
};

/**
 * struct recovery - what is needed until the machine starts
 * @scan: what was chosen
 * @windows: by device
 * @next: the next record
 */
struct recovery {
	struct spek_augment_scan scan;
	struct window windows[SPEK_AUGMENT_DEVICES];
	struct spek_augment_next next;
};

static int transfer(struct spek_augment_unit *unit, u32 device, blk_opf_t opf, u64 block,
		    u8 *const *blocks, u32 number)
{
	struct spek_augment_part *part = unit->parts[0];
	u32 i;
	int err;

	bio_init(&part->bio, spek_augment_unit_bdev(unit, device), part->vecs,
		 ARRAY_SIZE(part->vecs), opf);
	for (i = 0; i < number; i++)
		__bio_add_page(&part->bio, virt_to_page(blocks[i]), SPEK_AUGMENT_BLOCK_BYTES,
			       offset_in_page(blocks[i]));
	part->bio.bi_iter.bi_sector = block * SPEK_AUGMENT_SECTORS;
	err = submit_bio_wait(&part->bio);
	bio_uninit(&part->bio);
	return err;
}

/* Once more if it fails: what kept the device from it may be over. */
static int read_again(struct spek_augment_unit *unit, u32 device, u64 block, u8 *const *blocks)
{
	int err = transfer(unit, device, REQ_OP_READ, block, blocks, 1);

	return err ? transfer(unit, device, REQ_OP_READ, block, blocks, 1) : 0;
}

static u8 *const *window_of(const struct spek_augment_unit *unit, u32 device)
{
	return &unit->stages[device * WINDOW];
}

/* ---- superblocks ---- */

static int read_supers(struct spek_augment_unit *unit, struct found_supers *supers,
		       struct spek_refusal *refusal)
{
	u32 device, i;

	for (device = 0; device <= unit->config.nr_members; device++) {
		u8 *const *blocks = window_of(unit, device);
		u32 nr_read = 0;
		int err, failure = 0;

		if (!unit->devices[device])
			continue;
		/* One by one: a write that was torn may have left one that cannot be read. */
		for (i = 0; i < 2; i++) {
			err = read_again(unit, device, i, &blocks[i]);
			if (err) {
				failure = err;
				continue;
			}
			nr_read++;
			if (spek_augment_super_decode(blocks[i], &supers->supers[2 * device + i]))
				supers->found[device] |= 1U << i;
			else if (spek_augment_super_is_foreign(blocks[i]))
				supers->foreign |= spek_augment_bit(device);
		}
		if (!nr_read)
			return spek_refuse(refusal, 0, device, failure,
					   "Its superblocks cannot be read; - stands for a missing device.");
	}
	return 0;
}

static const struct spek_augment_super *any_super(const struct found_supers *supers, u32 device)
{
	if (!supers->found[device])
		return NULL;
	return &supers->supers[2 * device + !(supers->found[device] & 1)];
}

/* To format a device of another version would lose what its log holds. */
static int refuse_without_super(const struct found_supers *supers, u32 device,
				struct spek_refusal *refusal)
{
	if (supers->foreign & spek_augment_bit(device))
		return spek_refuse(refusal, 0, device, -EPROTONOSUPPORT,
				   "Its superblock is of another version of the format; the version of the module that wrote it can destage its log.");
	return spek_refuse(refusal, 0, device, -ENODEV,
			   "It has no superblock of a cache; the feature format writes new ones.");
}

static int look(struct spek_augment_unit *unit, struct found_supers **supers,
		struct spek_refusal *refusal)
{
	u32 device;
	int err;

	*supers = kzalloc(sizeof(**supers), GFP_KERNEL);
	if (!*supers)
		return spek_refuse(refusal, 0, SPEK_AUGMENT_UNNAMED, -ENOMEM,
				   "There is not enough memory.");
	err = read_supers(unit, *supers, refusal);
	for (device = 0; !err && device <= unit->config.nr_members; device++)
		if (!unit->wants_format && unit->devices[device] && !(*supers)->found[device])
			err = refuse_without_super(*supers, device, refusal);
	return err;
}

/* A record of the same set that an earlier format has left behind would count. */
static int check_fresh(struct spek_augment_unit *unit, const struct found_supers *supers,
		       struct spek_refusal *refusal)
{
	u32 device, i;

	for (device = 0; device <= unit->config.nr_members; device++)
		for (i = 0; i < 2; i++)
			if ((supers->found[device] & (1U << i)) &&
			    !memcmp(supers->supers[2 * device + i].uuid, unit->config.uuid, 16))
				return spek_refuse(refusal, 0, device, -EEXIST,
						   "It belongs to a set of this UUID already; format takes a new UUID.");
	return 0;
}

/**
 * spek_augment_attach_identify() - take UUID and length of the SSD from the superblocks
 * @unit: unit with its devices and stages, not to be formatted
 * @refusal: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int spek_augment_attach_identify(struct spek_augment_unit *unit, struct spek_refusal *refusal)
{
	const struct spek_augment_super *super = NULL;
	struct found_supers *supers;
	u32 device;
	int err;

	err = look(unit, &supers, refusal);
	for (device = 0; !err && !super && device <= unit->config.nr_members; device++)
		super = any_super(supers, device);
	if (!err && !super)
		err = spek_refuse(refusal, 0, SPEK_AUGMENT_UNNAMED, -ENODEV,
				  "Every device is missing.");
	if (!err) {
		memcpy(unit->config.uuid, super->uuid, sizeof(unit->config.uuid));
		unit->config.ssd_blocks = super->ssd_blocks;
	}
	kfree(supers);
	return err;
}

static int choose(struct spek_augment_unit *unit, struct spek_augment_scan *scan,
		  struct spek_refusal *refusal)
{
	struct found_supers *supers;
	int err;

	err = look(unit, &supers, refusal);
	if (!err && unit->wants_format)
		err = check_fresh(unit, supers, refusal);
	else if (!err)
		err = spek_augment_choose(&unit->config, supers->supers, supers->found, scan,
					  refusal);
	if (err == -EIO && !refusal->index && !unit->devices[SPEK_AUGMENT_SSD])
		refusal->index = SPEK_AUGMENT_UNNAMED;
	kfree(supers);
	return err;
}

/**
 * spek_augment_attach_check() - check that the devices belong together, or may be formatted
 * @unit: unit with devices, stages and a checked config
 * @refusal: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int spek_augment_attach_check(struct spek_augment_unit *unit, struct spek_refusal *refusal)
{
	struct spek_augment_scan scan;

	return choose(unit, &scan, refusal);
}

static int format(struct spek_augment_unit *unit, struct spek_refusal *refusal)
{
	u32 device;

	for (device = 0; device <= unit->config.nr_members; device++) {
		u8 *const *blocks = window_of(unit, device);
		struct spek_augment_super super;
		int err;

		spek_augment_format(&unit->config, device, &super);
		spek_augment_super_encode(&super, blocks[0]);
		spek_augment_super_encode(&super, blocks[1]);
		err = transfer(unit, device, REQ_OP_WRITE | REQ_SYNC | REQ_FUA | REQ_PREFLUSH, 0,
			       blocks, 2);
		if (err)
			return spek_refuse(refusal, 0, device, err,
					   "Its superblocks cannot be written.");
	}
	return 0;
}

/* ---- the log ---- */

/* Blocks that cannot be read are zeroes, which are no header and fail their checksum. */
static void read_singly(struct spek_augment_unit *unit, u32 device, struct window *window)
{
	u8 *const *blocks = window_of(unit, device);
	u32 i;

	for (i = 0; i < window->blocks; i++) {
		u64 block = (u64)SPEK_AUGMENT_LOG_START + window->first + i;

		if (!read_again(unit, device, block, &blocks[i]))
			continue;
		memset(blocks[i], 0, SPEK_AUGMENT_BLOCK_BYTES);
		__set_bit(i, window->failed);
	}
	if (!bitmap_empty(window->failed, WINDOW))
		DMWARN_LIMIT("%s: %u of %u blocks from block %u of the log on cannot be read from %s",
			     dm_table_device_name(unit->ti->table),
			     bitmap_weight(window->failed, WINDOW), window->blocks, window->first,
			     unit->devices[device]->name);
}

static void fill_window(struct spek_augment_unit *unit, u32 device, struct window *window)
{
	u32 head = unit->machine.head;

	window->first = head;
	window->blocks = min_t(u32, WINDOW, unit->config.log_blocks - head);
	bitmap_zero(window->failed, WINDOW);
	if (transfer(unit, device, REQ_OP_READ, (u64)SPEK_AUGMENT_LOG_START + head,
		     window_of(unit, device), window->blocks))
		read_singly(unit, device, window);
}

/* The @wanted blocks from the head on; NULL: the log ends before. */
static u8 *const *at_head(struct spek_augment_unit *unit, u32 device, struct window *window,
			  u32 wanted)
{
	u32 head = unit->machine.head;

	if (head < window->first || head + wanted > window->first + window->blocks)
		fill_window(unit, device, window);
	if (head + wanted > window->first + window->blocks)
		return NULL;
	return window_of(unit, device) + (head - window->first);
}

/* Whether a block behind the head could not be read. */
static bool is_unread(const struct spek_augment_unit *unit, const struct window *window, u32 block)
{
	return test_bit(unit->machine.head - window->first + block, window->failed);
}

static void look_at_header(struct spek_augment_unit *unit, u32 device, struct recovery *recovery)
{
	struct window *window = &recovery->windows[device];
	u8 *const *blocks = at_head(unit, device, window, 1);

	if (blocks)
		spek_augment_next_header(&unit->machine, &recovery->next, device,
					 is_unread(unit, window, 0) ? NULL : blocks[0]);
}

static void look_at_data(struct spek_augment_unit *unit, u32 device, struct recovery *recovery)
{
	struct window *window = &recovery->windows[device];
	u32 number = recovery->next.header.blocks;
	u8 *const *blocks = at_head(unit, device, window, 1 + number);
	u32 i;

	for (i = 0; blocks && i < number; i++) {
		u32 crc = spek_augment_block_crc(blocks[1 + i]);

		spek_augment_next_block(&recovery->next, device, i,
					is_unread(unit, window, 1 + i) ? NULL : &crc);
	}
}

/* Look at all of these devices. */
static void look_at(struct spek_augment_unit *unit, u32 devices, struct recovery *recovery,
		    void (*part)(struct spek_augment_unit *unit, u32 device,
				 struct recovery *recovery))
{
	u32 device;

	for (device = 0; device <= unit->config.nr_members; device++)
		if (devices & spek_augment_bit(device))
			part(unit, device, recovery);
}

static bool adopt_next(struct spek_augment_unit *unit, struct recovery *recovery)
{
	u32 readable = recovery->scan.present & ~recovery->scan.stale;
	struct spek_augment_next *next = &recovery->next;

	spek_augment_next_begin(next);
	look_at(unit, readable, recovery, look_at_header);
	look_at(unit, next->headers, recovery, look_at_data);
	look_at(unit, spek_augment_next_others(next, readable), recovery, look_at_data);
	return spek_augment_next_adopt(&unit->machine, next, unit->ends_unread);
}

static int recover(struct spek_augment_unit *unit, struct recovery *recovery,
		   struct spek_refusal *refusal)
{
	int err;

	err = choose(unit, &recovery->scan, refusal);
	if (err)
		return err;
	spek_augment_init(&unit->machine, &unit->config, unit->memory);
	spek_augment_recover(&unit->machine, &recovery->scan);
	while (adopt_next(unit, recovery)) {
		cond_resched();
		if (fatal_signal_pending(current))
			return spek_refuse(refusal, 0, SPEK_AUGMENT_UNNAMED, -EINTR,
					   "Recovery was interrupted.");
	}
	if (recovery->next.is_beyond)
		return spek_refuse(refusal, 0, SPEK_AUGMENT_RAID, -ERANGE,
				   "The log has data beyond its end: it is another RAID, or has shrunk.");
	if (!unit->ends_unread &&
	    spek_augment_is_unknown(&recovery->scan, recovery->next.unread))
		return spek_refuse(refusal, 0, __ffs(recovery->next.unread), -EIO,
				   "The log cannot be read on, and who else may have it is missing or cannot be read either; the feature unread end gives up what follows.");
	if (!unit->ends_unread && spek_augment_is_short(&unit->machine))
		return spek_refuse(refusal, 0, SPEK_AUGMENT_UNNAMED, -EIO,
				   "The log ends before records that it had at the last start: they are damaged; the feature unread end gives them up, and what follows.");
	spek_augment_start(&unit->machine, ktime_get_ns());
	return 0;
}

/**
 * spek_augment_attach_start() - write superblocks if wanted, recover the log, start the machine
 * @unit: unit that is not started
 * @refusal: filled in on failure
 *
 * Return: 0, or a negative errno: then it may be called again.
 */
int spek_augment_attach_start(struct spek_augment_unit *unit, struct spek_refusal *refusal)
{
	struct recovery *recovery;
	int err = 0;

	if (unit->wants_format) {
		err = spek_augment_attach_check(unit, refusal);
		if (!err)
			err = format(unit, refusal);
		if (err)
			return err;
		unit->wants_format = false;
	}
	recovery = kzalloc(sizeof(*recovery), GFP_KERNEL);
	if (!recovery)
		return spek_refuse(refusal, 0, SPEK_AUGMENT_UNNAMED, -ENOMEM,
				   "There is not enough memory.");
	err = recover(unit, recovery, refusal);
	kfree(recovery);
	return err;
}
