// SPDX-License-Identifier: GPL-2.0
/*
 * The target of device mapper: life, messages, status.
 *
 *	ctr		opens the devices, reads superblocks, allocates; writes nothing
 *	preresume	the first time: writes superblocks (format), recovers
 *	resume		the worker may send I/O
 *	postsuspend	it may not, and what was sent has ended; device mapper has waited for
 *			its bios before
 *	dtr		frees
 *
 * A table for a device in use is constructed beside the target that it replaces, on the same
 * devices; it starts when that one is suspended for good. Devices of another device's target
 * are refused: all of device mapper is one holder, so opening them does not tell.
 *
 * Locks: units_lock protects the list of all targets and is taken in ctr and dtr alone, with
 * nothing inside. The others: serve.c.
 */
#include <linux/blkdev.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "../compat/dm.h"
#include "attach.h"
#include "hit.h"
#include "hold.h"
#include "lost.h"
#include "serve.h"
#include "table.h"
#include "target.h"

#define DM_MSG_PREFIX "spek-augment"

static DEFINE_MUTEX(units_lock);
static LIST_HEAD(units);

static int refuse(struct spek_augment_unit *unit, u32 device, const char *text, int err)
{
	return spek_augment_table_refuse(unit, device, text, err);
}

/* ---- life ---- */

static bool uses(const struct spek_augment_unit *unit, const struct block_device *bdev)
{
	u32 device;

	if (spek_augment_unit_bdev(unit, SPEK_AUGMENT_RAID) == bdev)
		return true;
	for (device = 0; device < SPEK_AUGMENT_DEVICES; device++)
		if (spek_augment_unit_bdev(unit, device) == bdev)
			return true;
	return false;
}

/* The first device that a target of another device has; SPEK_AUGMENT_NONE: there is none. */
static u32 shared_device(const struct spek_augment_unit *unit,
			 const struct spek_augment_unit *than)
{
	u32 device;

	if (dm_table_get_md(unit->ti->table) == dm_table_get_md(than->ti->table))
		return SPEK_AUGMENT_NONE;
	for (device = 0; device <= SPEK_AUGMENT_RAID; device++) {
		const struct block_device *bdev = spek_augment_unit_bdev(unit, device);

		if (bdev && uses(than, bdev))
			return device;
	}
	return SPEK_AUGMENT_NONE;
}

static int enlist(struct spek_augment_unit *unit)
{
	u32 device = SPEK_AUGMENT_NONE;
	struct spek_augment_unit *than;

	mutex_lock(&units_lock);
	list_for_each_entry(than, &units, node) {
		device = shared_device(unit, than);
		if (device != SPEK_AUGMENT_NONE)
			break;
	}
	if (device == SPEK_AUGMENT_NONE)
		list_add(&unit->node, &units);
	mutex_unlock(&units_lock);
	if (device == SPEK_AUGMENT_NONE)
		return 0;
	return refuse(unit, device, "Another device of spek-augment has it.", -EBUSY);
}

static void unit_free(struct spek_augment_unit *unit)
{
	struct dm_target *ti = unit->ti;
	u32 device;

	mutex_lock(&units_lock);
	list_del_init(&unit->node);
	mutex_unlock(&units_lock);
	vfree(unit->memory);
	spek_augment_serve_deinit(unit);
	for (device = 0; device < SPEK_AUGMENT_DEVICES; device++)
		if (unit->devices[device])
			dm_put_device(ti, unit->devices[device]);
	if (unit->raid)
		dm_put_device(ti, unit->raid);
	kvfree(unit);
}

static int check_config(struct spek_augment_unit *unit)
{
	const struct dm_dev *ssd = unit->devices[SPEK_AUGMENT_SSD];
	struct spek_refusal refusal = { .index = SPEK_AUGMENT_NONE };
	int err;

	if (!unit->wants_format) {
		err = spek_augment_attach_identify(unit, &refusal);
		if (err)
			return refuse(unit, refusal.index, refusal.text, err);
	}
	err = spek_augment_check(&unit->config, &refusal);
	if (err)
		return refuse(unit, SPEK_AUGMENT_NONE, refusal.text, err);
	if (ssd && bdev_nr_sectors(ssd->bdev) / SPEK_AUGMENT_SECTORS < unit->config.ssd_blocks)
		return refuse(unit, SPEK_AUGMENT_SSD, "It is smaller than when the set was made.",
			      -EINVAL);
	err = spek_augment_attach_check(unit, &refusal);
	return err ? refuse(unit, refusal.index, refusal.text, err) : 0;
}

static int allocate(struct spek_augment_unit *unit)
{
	size_t bytes = spek_augment_bytes(&unit->config);

	if (bytes >> PAGE_SHIFT > totalram_pages() / 4)
		return refuse(unit, SPEK_AUGMENT_NONE,
			      "The SSD needs 16 bytes of memory for each block, at most a quarter of the memory.",
			      -ENOMEM);
	unit->memory = vzalloc(bytes);
	if (!unit->memory)
		return refuse(unit, SPEK_AUGMENT_NONE, "There is not enough memory.", -ENOMEM);
	return 0;
}

static int augment_ctr(struct dm_target *ti, unsigned int argc, char **argv)
{
	struct spek_augment_unit *unit;
	int err;

	if (!spek_compat_dm_writes(ti->table)) {
		ti->error = "A read-only table cannot be.";
		return -EROFS;
	}
	unit = kvzalloc(sizeof(*unit), GFP_KERNEL);
	if (!unit) {
		ti->error = "There is not enough memory.";
		return -ENOMEM;
	}
	unit->ti = ti;
	INIT_LIST_HEAD(&unit->node);
	err = spek_augment_serve_init(unit);
	if (err)
		ti->error = "There is not enough memory.";
	if (!err)
		err = spek_augment_table_parse(unit, argc, argv);
	if (!err)
		err = enlist(unit);
	if (!err)
		err = check_config(unit);
	if (!err)
		err = allocate(unit);
	if (!err)
		err = dm_set_target_max_io_len(ti, SPEK_AUGMENT_UNIT_BLOCKS *
						   SPEK_AUGMENT_SECTORS);
	if (err) {
		unit_free(unit);
		return err;
	}
	ti->num_flush_bios = 1;
	ti->per_io_data_size = sizeof(struct spek_augment_read);
	/* Also for devices without a cache: a write is lost behind a gap in the log. */
	ti->flush_supported = true;
	ti->private = unit;
	return 0;
}

static void augment_dtr(struct dm_target *ti)
{
	struct spek_augment_unit *unit = ti->private;

	spek_augment_serve_stop(unit);
	unit_free(unit);
}

/*
 * Recovery may take minutes, and has no need of the lock: until it is over, status and messages do
 * not look at the machine. Device mapper resumes a device only once at a time.
 */
static int augment_preresume(struct dm_target *ti)
{
	struct spek_augment_unit *unit = ti->private;
	struct spek_refusal refusal = { .index = SPEK_AUGMENT_NONE };
	unsigned int flags;
	int err;

	if (unit->is_started)
		return 0;
	/* What is written to free memory may wait for this device. */
	flags = memalloc_noio_save();
	err = spek_augment_attach_start(unit, &refusal);
	memalloc_noio_restore(flags);
	if (err) {
		refuse(unit, refusal.index, refusal.text, err);
		DMERR("%s: %s", dm_table_device_name(ti->table), ti->error);
		return err;
	}
	mutex_lock(&unit->lock);
	unit->is_started = true;
	unit->told_mode = unit->machine.mode;
	unit->told_live = unit->machine.live;
	mutex_unlock(&unit->lock);
	return 0;
}

static void augment_resume(struct dm_target *ti)
{
	spek_augment_serve_resume(ti->private);
}

static void augment_postsuspend(struct dm_target *ti)
{
	spek_augment_serve_stop(ti->private);
}

/* ---- bios and limits ---- */

static int augment_map(struct dm_target *ti, struct bio *bio)
{
	const u64 where = dm_target_offset(ti, bio->bi_iter.bi_sector) |
			  bio->bi_iter.bi_size >> SECTOR_SHIFT;

	if ((bio_op(bio) != REQ_OP_READ && bio_op(bio) != REQ_OP_WRITE) ||
	    (bio->bi_iter.bi_size && where % SPEK_AUGMENT_SECTORS))
		return DM_MAPIO_KILL;
	if (spek_augment_hit_begin(ti->private, bio))
		return DM_MAPIO_REMAPPED;
	spek_augment_serve_bio(ti->private, bio);
	return DM_MAPIO_SUBMITTED;
}

static int augment_end_io(struct dm_target *ti, struct bio *bio, blk_status_t *error)
{
	return spek_augment_hit_end(ti->private, bio, *error) ? DM_ENDIO_DONE :
								DM_ENDIO_INCOMPLETE;
}

static int augment_iterate_devices(struct dm_target *ti, iterate_devices_callout_fn see,
				   void *data)
{
	const struct spek_augment_unit *unit = ti->private;
	const sector_t spare = (sector_t)(unit->config.log_blocks + SPEK_AUGMENT_LOG_START) *
			       SPEK_AUGMENT_SECTORS;
	const sector_t ssd = (sector_t)unit->config.ssd_blocks * SPEK_AUGMENT_SECTORS;
	u32 device;
	int ret;

	ret = see(ti, unit->raid, 0, ti->len, data);
	for (device = 0; !ret && device < SPEK_AUGMENT_DEVICES; device++)
		if (unit->devices[device])
			ret = see(ti, unit->devices[device], 0,
				  device == SPEK_AUGMENT_SSD ? ssd : spare, data);
	return ret;
}

static void augment_io_hints(struct dm_target *ti, struct queue_limits *limits)
{
	limits->logical_block_size = SPEK_AUGMENT_BLOCK_BYTES;
	limits->physical_block_size = max_t(u32, limits->physical_block_size,
					    SPEK_AUGMENT_BLOCK_BYTES);
	limits->io_min = max_t(u32, limits->io_min, SPEK_AUGMENT_BLOCK_BYTES);
}

/* ---- messages and status ---- */

static int member_awake(struct spek_augment_unit *unit, const char *member, const char *state)
{
	u32 number, awake;

	if (kstrtou32(member, 10, &number) || number >= unit->config.nr_members ||
	    kstrtou32(state, 10, &awake) || awake > 1) {
		DMERR("The message awake takes the number of a member, and 0 or 1.");
		return -EINVAL;
	}
	spek_augment_set_awake(&unit->machine, ktime_get_ns(), number, awake);
	return 0;
}

static int give_up(struct spek_augment_unit *unit, const char *device)
{
	u32 number;

	if (kstrtou32(device, 10, &number) || number > unit->config.nr_members) {
		DMERR("The message lose takes 0 for the SSD, or 1 and more for a member.");
		return -EINVAL;
	}
	unit->gone |= spek_augment_bit(number);
	spek_augment_lose(&unit->machine, ktime_get_ns(), number);
	return 0;
}

static int serve_message(struct spek_augment_unit *unit, unsigned int argc, char **argv,
			 char *result, unsigned int maxlen)
{
	if (!unit->is_started) {
		DMERR("The device has to be resumed before messages.");
		return -EBUSY;
	}
	if (argc == 3 && !strcmp(argv[0], "awake"))
		return member_awake(unit, argv[1], argv[2]);
	if (argc == 2 && !strcmp(argv[0], "lose"))
		return give_up(unit, argv[1]);
	if (argc == 1 && !strcmp(argv[0], "destage")) {
		spek_augment_destage_all(&unit->machine, ktime_get_ns());
		return 0;
	}
	if (argc == 2 && !strcmp(argv[0], "lost"))
		return spek_augment_lost_list(unit, argv[1], result, maxlen);
	if (argc == 2 && !strcmp(argv[0], "forget"))
		return spek_augment_lost_forget(unit, argv[1]);
	DMERR("There are the messages awake MEMBER 0|1, destage, lose DEVICE, lost PLACE and forget BLOCKS.");
	return -EINVAL;
}

static int augment_message(struct dm_target *ti, unsigned int argc, char **argv, char *result,
			   unsigned int maxlen)
{
	struct spek_augment_unit *unit = ti->private;
	int err;

	mutex_lock(&unit->lock);
	err = serve_message(unit, argc, argv, result, maxlen);
	mutex_unlock(&unit->lock);
	if (err >= 0)
		spek_augment_serve_kick(unit);
	return err;
}

/* Their order in the status. */
static const u8 causes[] = {
	SPEK_AUGMENT_CAUSE_WRITE, SPEK_AUGMENT_CAUSE_READ,  SPEK_AUGMENT_CAUSE_FLUSH,
	SPEK_AUGMENT_CAUSE_DESTAGE, SPEK_AUGMENT_CAUSE_OTHER,
};

static unsigned int print_machine(struct spek_augment_unit *unit, char *result,
				  unsigned int maxlen)
{
	const struct spek_augment *m = &unit->machine;
	const struct spek_augment_stats *stats = &m->stats;
	u64 oldest_ms = 0;
	unsigned int sz = 0;
	int i;

	if (m->dirty && m->mark_ns != SPEK_AUGMENT_NEVER)
		oldest_ms = (ktime_get_ns() - m->mark_ns) / NSEC_PER_MSEC;
	DMEMIT("%s %llu %x %x %u", spek_augment_mode_name(unit), m->generation, m->live, m->awake,
	       m->mirror);
	DMEMIT(" %u %u/%u %llu", m->dirty, spek_augment_used(m), unit->config.log_blocks,
	       oldest_ms);
	DMEMIT(" %llu %llu %llu", stats->hits, stats->misses, stats->copies);
	DMEMIT(" %llu %llu", stats->prefetched, stats->prefetch_hits);
	DMEMIT(" %llu %llu %llu", stats->records, stats->destaged, stats->flushes);
	DMEMIT(" %llu", stats->errors);
	for (i = 0; i < ARRAY_SIZE(causes); i++)
		DMEMIT(" %llu", stats->wakes[causes[i]]);
	DMEMIT(" %u", spek_augment_lost(m));
	return sz;
}

static unsigned int print_info(struct spek_augment_unit *unit, char *result, unsigned int maxlen)
{
	unsigned int sz = 0;

	mutex_lock(&unit->lock);
	if (unit->is_started)
		sz = print_machine(unit, result, maxlen);
	else
		DMEMIT("%s 0 0 0 0 0 0/%u 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
		       spek_augment_mode_name(unit), unit->config.log_blocks);
	mutex_unlock(&unit->lock);
	return sz;
}

static void augment_status(struct dm_target *ti, status_type_t type, unsigned int flags,
			   char *result, unsigned int maxlen)
{
	struct spek_augment_unit *unit = ti->private;

	if (maxlen)
		*result = 0;
	if (type == STATUSTYPE_INFO)
		print_info(unit, result, maxlen);
	else if (type == STATUSTYPE_TABLE)
		spek_augment_table_print(unit, result, maxlen);
}

struct target_type spek_augment_target = {
	.name = "spek-augment",
	/* 1.1: the feature raid; 1.2: the messages lost and forget */
	.version = { 1, 2, 0 },
	.features = DM_TARGET_SINGLETON,
	.module = THIS_MODULE,
	.ctr = augment_ctr,
	.dtr = augment_dtr,
	.map = augment_map,
	.end_io = augment_end_io,
	.preresume = augment_preresume,
	.resume = augment_resume,
	.postsuspend = augment_postsuspend,
	.message = augment_message,
	.status = augment_status,
	.iterate_devices = augment_iterate_devices,
	.io_hints = augment_io_hints,
};
