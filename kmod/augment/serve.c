// SPDX-License-Identifier: GPL-2.0
/*
 * The worker: takes bios and ends of I/O to the machine, sends what the machine wants, and ends the
 * bios that it answers.
 *
 *	map, end of I/O, message --> arrived, ended, kick --> worker --> devices, ends of bios
 *
 * Locks: unit->lock (mutex) > unit->arrived_lock (spinlock, interrupts off). The worker and
 * messages call the machine under the mutex. The worker sends I/O and ends bios without it, so that
 * status and messages do not wait for a device that is busy or spins up.
 *
 * Lifetime: a bio of device mapper belongs to the unit from map until bio_endio(), and device
 * mapper waits for all of them before it suspends. A part is in flight from the time the worker has
 * it from the machine until the worker reports its end; spek_augment_serve_stop() waits for that.
 * The end of I/O kicks the worker under arrived_lock, so no end touches the unit after the worker
 * has seen it.
 *
 * Data of a write are copied before their checksum is computed: a program may change a buffer under
 * way, and a record whose checksum is wrong ends the log at recovery, with all records after it.
 * For the same reason a read that fills a buffer of the machine is not read into the bio: it is
 * copied to it. Nothing is allocated here once the unit is made.
 */
#include <linux/blkdev.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "data.h"
#include "hold.h"
#include "lost.h"
#include "serve.h"

#define DM_MSG_PREFIX "spek-augment"

static void kick(struct spek_augment_unit *unit)
{
	mod_delayed_work(unit->queue, &unit->work, 0);
}

/**
 * spek_augment_serve_kick() - run the worker
 * @unit: unit
 */
void spek_augment_serve_kick(struct spek_augment_unit *unit)
{
	kick(unit);
}

/* Once for all that arrives until the worker looks: a kick costs more than what it is for. */
static void kick_for_arrived(struct spek_augment_unit *unit)
{
	lockdep_assert_held(&unit->arrived_lock);
	if (unit->is_kicked)
		return;
	unit->is_kicked = true;
	kick(unit);
}

/**
 * spek_augment_serve_bio() - take a bio of device mapper
 * @unit: started
 * @bio: bio of whole blocks; ended by the worker
 */
void spek_augment_serve_bio(struct spek_augment_unit *unit, struct bio *bio)
{
	unsigned long flags;

	spin_lock_irqsave(&unit->arrived_lock, flags);
	bio_list_add(&unit->arrived, bio);
	kick_for_arrived(unit);
	spin_unlock_irqrestore(&unit->arrived_lock, flags);
}

static void part_end(struct bio *bio)
{
	struct spek_augment_part *part = container_of(bio, struct spek_augment_part, bio);
	struct spek_augment_unit *unit = part->unit;
	unsigned long flags;

	part->status = bio->bi_status;
	spin_lock_irqsave(&unit->arrived_lock, flags);
	list_add_tail(&part->node, &unit->ended);
	kick_for_arrived(unit);
	spin_unlock_irqrestore(&unit->arrived_lock, flags);
}

/* ---- bios ---- */

static u32 blocks_of(const struct bio *bio)
{
	return bio->bi_iter.bi_size / SPEK_AUGMENT_BLOCK_BYTES;
}

static bool is_write(const struct bio *bio)
{
	return bio_op(bio) == REQ_OP_WRITE && bio->bi_iter.bi_size;
}

/* @free_places has a bit for each bio. */
static_assert(SPEK_AUGMENT_BIOS == 64);

static struct spek_augment_place *take_place(struct spek_augment_unit *unit)
{
	u32 number;

	if (!unit->free_places)
		return NULL;
	number = __ffs64(unit->free_places);
	unit->free_places &= ~BIT_ULL(number);
	return &unit->places[number];
}

static void fill_place(struct spek_augment_place *place, struct bio *bio)
{
	u32 i;

	spek_augment_hold_restore(bio);
	place->bio = bio;
	if (!is_write(bio))
		return;
	spek_augment_copy_from_bio(bio, place->data);
	for (i = 0; i < blocks_of(bio); i++)
		place->crc[i] = spek_augment_block_crc(place->data[i]);
}

static int submit(struct spek_augment_unit *unit, const struct spek_augment_place *place)
{
	const struct bio *bio = place->bio;
	struct spek_augment_bio wanted = {
		.block = dm_target_offset(unit->ti, bio->bi_iter.bi_sector) / SPEK_AUGMENT_SECTORS,
		.blocks = blocks_of(bio),
		.crc = place->crc,
		.cookie = place - unit->places,
	};

	if (is_write(bio)) {
		wanted.op = SPEK_AUGMENT_WRITE;
		wanted.fua = bio->bi_opf & REQ_FUA;
		wanted.preflush = bio->bi_opf & REQ_PREFLUSH;
	} else if (wanted.blocks) {
		wanted.op = SPEK_AUGMENT_READ;
	} else {
		wanted.op = SPEK_AUGMENT_FLUSH;
		wanted.block = 0;
	}
	return spek_augment_submit(&unit->machine, ktime_get_ns(), &wanted);
}

static void give_back(struct spek_augment_unit *unit, struct spek_augment_place *place, int error,
		      struct bio_list *answered)
{
	place->bio->bi_status = errno_to_blk_status(error);
	bio_list_add(answered, place->bio);
	unit->free_places |= BIT_ULL(place - unit->places);
}

/* Return: true if more could be taken at once. */
static bool take_bios(struct spek_augment_unit *unit, struct bio_list *answered)
{
	while (!bio_list_empty(&unit->waiting)) {
		struct spek_augment_place *place = take_place(unit);
		int err;

		if (!place)
			return false;
		fill_place(place, bio_list_pop(&unit->waiting));
		mutex_lock(&unit->lock);
		err = submit(unit, place);
		mutex_unlock(&unit->lock);
		if (err)
			give_back(unit, place, err, answered);
	}
	return true;
}

static void take_answers(struct spek_augment_unit *unit, struct bio_list *answered)
{
	struct spek_augment_answer answer;

	while (spek_augment_next_answer(&unit->machine, &answer))
		give_back(unit, &unit->places[answer.cookie], answer.error, answered);
}

/* ---- parts ---- */

static void add_blocks(struct spek_augment_part *part, u8 *const *blocks, u32 number)
{
	u32 i;

	/* The vectors suffice for the longest I/O. */
	for (i = 0; i < number; i++)
		__bio_add_page(&part->bio, virt_to_page(blocks[i]), SPEK_AUGMENT_BLOCK_BYTES,
			       offset_in_page(blocks[i]));
}

static u8 *const *stage_of(const struct spek_augment_unit *unit, const struct spek_augment_io *io)
{
	return &unit->stages[io->stage * SPEK_AUGMENT_STAGE_BLOCKS + io->stage_block];
}

static void init_bio(struct spek_augment_part *part, struct block_device *bdev, blk_opf_t opf)
{
	bio_init(&part->bio, bdev, part->vecs, ARRAY_SIZE(part->vecs), opf);
}

static u8 **head_of(struct spek_augment_unit *unit, struct spek_augment_part *part)
{
	return part->io.record == SPEK_AUGMENT_NONE ? &part->head : &unit->heads[part->io.record];
}

/* Encode a record's header once for both devices, at the I/O to the SSD, even if that is gone. */
static void encode(struct spek_augment_unit *unit, struct spek_augment_part *part)
{
	const struct spek_augment_io *io = &part->io;

	if (io->record == SPEK_AUGMENT_NONE || io->device == SPEK_AUGMENT_SSD)
		spek_augment_encode(&unit->machine, io->tag, *head_of(unit, part));
}

static void prepare_write(struct spek_augment_unit *unit, struct spek_augment_part *part,
			  struct block_device *bdev)
{
	const struct spek_augment_io *io = &part->io;
	u32 blocks = io->blocks - io->encoded;
	blk_opf_t opf = REQ_OP_WRITE;

	/* Nobody waits for destage and copies. */
	if (io->encoded || part->place)
		opf |= REQ_SYNC | REQ_IDLE;
	if (io->fua)
		opf |= REQ_FUA;
	if (io->preflush)
		opf |= REQ_PREFLUSH;
	init_bio(part, bdev, opf);
	if (io->encoded)
		add_blocks(part, head_of(unit, part), 1);
	if (part->place)
		add_blocks(part, &part->place->data[io->bio_block], blocks);
	else if (io->stage != SPEK_AUGMENT_NONE)
		add_blocks(part, stage_of(unit, io), blocks);
}

static int check_copy(const struct spek_augment_unit *unit, const struct spek_augment_io *io)
{
	u8 *const *blocks = stage_of(unit, io);
	u32 crc[SPEK_AUGMENT_STAGE_BLOCKS];
	u32 i;
	int err;

	for (i = 0; i < io->blocks; i++)
		crc[i] = spek_augment_block_crc(blocks[i]);
	blocks = &unit->stages[io->stage * SPEK_AUGMENT_STAGE_BLOCKS];
	err = spek_augment_check_copy(&unit->machine, io->tag, blocks[0], crc);
	if (err)
		DMERR_LIMIT("%s: what is read of the log at block %llu is not what is there",
			    dm_table_device_name(unit->ti->table), io->block);
	return err;
}

static int prepare_read(struct spek_augment_unit *unit, struct spek_augment_part *part,
			struct block_device *bdev)
{
	const struct spek_augment_io *io = &part->io;
	blk_opf_t opf = REQ_OP_READ;
	struct bio *bio;
	int err;

	if (part->place)
		opf |= part->place->bio->bi_opf & (REQ_SYNC | REQ_META | REQ_PRIO);
	if (io->stage != SPEK_AUGMENT_NONE) {
		init_bio(part, bdev, opf);
		add_blocks(part, stage_of(unit, io), io->blocks);
		return 0;
	}
	bio = part->place->bio;
	err = bio_init_clone(bdev, &part->bio, bio, GFP_NOIO);
	if (err)
		return err;
	part->bio.bi_opf = opf;
	bio_advance(&part->bio, io->bio_block * SPEK_AUGMENT_BLOCK_BYTES);
	part->bio.bi_iter.bi_size = io->blocks * SPEK_AUGMENT_BLOCK_BYTES;
	return 0;
}

/* A drive may answer a flush, or a read of what it has in its cache, without spinning up. */
static void prepare_wake(struct spek_augment_unit *unit, struct spek_augment_part *part,
			 struct block_device *bdev)
{
	part->io.block = SPEK_AUGMENT_LOG_START + get_random_u32() % unit->config.log_blocks;
	init_bio(part, bdev, REQ_OP_READ | REQ_SYNC);
	add_blocks(part, &part->head, 1);
}

static int prepare(struct spek_augment_unit *unit, struct spek_augment_part *part)
{
	struct block_device *bdev = spek_augment_unit_bdev(unit, part->io.device);
	const struct spek_augment_io *io = &part->io;
	int err = 0;

	lockdep_assert_held(&unit->lock);
	part->place = NULL;
	if (io->bio != SPEK_AUGMENT_NONE)
		part->place = &unit->places[unit->machine.requests[io->bio].bio.cookie];
	if (io->encoded)
		encode(unit, part);
	if (!bdev || (unit->gone & spek_augment_bit(io->device)))
		return -ENODEV;
	if (io->is_copy)
		err = check_copy(unit, io);
	if (err)
		return err;
	if (io->op == SPEK_AUGMENT_READ)
		err = prepare_read(unit, part, bdev);
	else if (io->op == SPEK_AUGMENT_WRITE)
		prepare_write(unit, part, bdev);
	else if (io->op == SPEK_AUGMENT_FLUSH)
		init_bio(part, bdev, REQ_OP_WRITE | REQ_PREFLUSH | REQ_SYNC);
	else
		prepare_wake(unit, part, bdev);
	if (err)
		return err;
	part->bio.bi_iter.bi_sector = io->block * SPEK_AUGMENT_SECTORS;
	part->bio.bi_end_io = part_end;
	return 0;
}

static void take_parts(struct spek_augment_unit *unit, struct list_head *sent)
{
	struct spek_augment_io io;

	while (!unit->is_stopped && spek_augment_next_io(&unit->machine, &io)) {
		struct spek_augment_part *part = unit->parts[io.tag];
		int err;

		part->io = io;
		err = prepare(unit, part);
		if (err) {
			spek_augment_complete(&unit->machine, ktime_get_ns(), io.tag, err);
			continue;
		}
		WRITE_ONCE(unit->in_flight, unit->in_flight + 1);
		list_add_tail(&part->node, sent);
	}
}

static void send_parts(struct list_head *sent)
{
	struct spek_augment_part *part, *next;
	struct blk_plug plug;

	blk_start_plug(&plug);
	list_for_each_entry_safe(part, next, sent, node)
		submit_bio_noacct(&part->bio);
	blk_finish_plug(&plug);
}

static bool copies_back(const struct spek_augment_part *part)
{
	return part->io.op == SPEK_AUGMENT_READ && part->place &&
	       part->io.stage != SPEK_AUGMENT_NONE && !part->status;
}

/* Without the lock: the part, its buffer and its bio are the worker's until the machine knows. */
static void settle_part(struct spek_augment_unit *unit, struct spek_augment_part *part)
{
	bio_uninit(&part->bio);
	if (copies_back(part))
		spek_augment_copy_to_bio(part->place->bio, part->io.bio_block,
					 stage_of(unit, &part->io), part->io.blocks);
}

static void report_part(struct spek_augment_unit *unit, struct spek_augment_part *part)
{
	u32 device = part->io.device;
	int err = blk_status_to_errno(part->status);

	/* A bad block was read for nothing but to wake the disk, which it has. */
	if (part->io.op == SPEK_AUGMENT_WAKE && part->status == BLK_STS_MEDIUM)
		err = 0;
	if (unit->gone & spek_augment_bit(device))
		err = -ENODEV;
	/* A member that has read or written is awake, whatever was said before. */
	if (!err && device != SPEK_AUGMENT_RAID && device != SPEK_AUGMENT_SSD &&
	    part->io.op != SPEK_AUGMENT_FLUSH &&
	    !(unit->machine.awake & spek_augment_bit(device)))
		spek_augment_set_awake(&unit->machine, ktime_get_ns(),
				       device - SPEK_AUGMENT_MEMBER, true);
	spek_augment_complete(&unit->machine, ktime_get_ns(), part->io.tag, err);
	WRITE_ONCE(unit->in_flight, unit->in_flight - 1);
	if (!unit->in_flight)
		wake_up(&unit->idle);
}

/* ---- the worker ---- */

static const char *const mode_names[] = {
	[SPEK_AUGMENT_RECOVERING] = "recovering",
	[SPEK_AUGMENT_NORMAL] = "normal",
	[SPEK_AUGMENT_DRAINING] = "draining",
	[SPEK_AUGMENT_PASSING] = "passing",
	[SPEK_AUGMENT_FAILED] = "failed",
};

/**
 * spek_augment_mode_name() - name the machine's mode
 * @unit: unit
 *
 * Return: a word.
 */
const char *spek_augment_mode_name(const struct spek_augment_unit *unit)
{
	return unit->is_started ? mode_names[unit->machine.mode] :
				  mode_names[SPEK_AUGMENT_RECOVERING];
}

static bool has_news(struct spek_augment_unit *unit)
{
	u32 lost = unit->told_live & ~unit->machine.live;
	u32 device;

	lockdep_assert_held(&unit->lock);
	for (device = 0; device < SPEK_AUGMENT_DEVICES; device++)
		if (lost & spek_augment_bit(device))
			DMERR("%s: device %u (%s) is lost", dm_table_device_name(unit->ti->table),
			      device, unit->devices[device] ? unit->devices[device]->name : "-");
	if (!lost && unit->told_mode == unit->machine.mode)
		return false;
	unit->told_live = unit->machine.live;
	if (unit->told_mode != unit->machine.mode)
		DMINFO("%s: %s", dm_table_device_name(unit->ti->table),
		       spek_augment_mode_name(unit));
	unit->told_mode = unit->machine.mode;
	unit->told_place = 0;
	unit->told_ranges = 0;
	return true;
}

static void arm(struct spek_augment_unit *unit)
{
	u64 next_ns = spek_augment_next_ns(&unit->machine);
	u64 now_ns = ktime_get_ns();

	if (next_ns == SPEK_AUGMENT_NEVER)
		return;
	/* Does nothing if something has arrived meanwhile: then the worker runs at once. */
	queue_delayed_work(unit->queue, &unit->work,
			   next_ns > now_ns ? nsecs_to_jiffies(next_ns - now_ns) + 1 : 0);
}

static void serve(struct work_struct *work)
{
	struct spek_augment_unit *unit = container_of(to_delayed_work(work),
						      struct spek_augment_unit, work);
	struct bio_list answered = BIO_EMPTY_LIST;
	struct spek_augment_part *part, *next;
	struct bio *bio;
	LIST_HEAD(ended);
	LIST_HEAD(sent);
	bool has_room, news, again;

	spin_lock_irq(&unit->arrived_lock);
	unit->is_kicked = false;
	bio_list_merge(&unit->waiting, &unit->arrived);
	bio_list_init(&unit->arrived);
	list_splice_init(&unit->ended, &ended);
	spin_unlock_irq(&unit->arrived_lock);

	list_for_each_entry(part, &ended, node)
		settle_part(unit, part);
	mutex_lock(&unit->lock);
	spek_augment_holds_tell(unit);
	list_for_each_entry_safe(part, next, &ended, node)
		report_part(unit, part);
	take_answers(unit, &answered);
	mutex_unlock(&unit->lock);

	has_room = take_bios(unit, &answered);
	mutex_lock(&unit->lock);
	spek_augment_holds_tell(unit);
	spek_augment_tick(&unit->machine, ktime_get_ns());
	take_parts(unit, &sent);
	take_answers(unit, &answered);
	news = has_news(unit);
	again = spek_augment_lost_tell(unit);
	again |= spek_augment_holds_arm(unit);
	arm(unit);
	mutex_unlock(&unit->lock);

	send_parts(&sent);
	/* Places that these answers leave are for those who wait. */
	if (again || (!has_room && !bio_list_empty(&answered)))
		kick(unit);
	while ((bio = bio_list_pop(&answered)))
		bio_endio(bio);
	if (news)
		dm_table_event(unit->ti->table);
}

/**
 * spek_augment_serve_init() - make buffers and the worker
 * @unit: zeroed
 *
 * Return: 0 or -ENOMEM; spek_augment_serve_deinit() has to follow either way.
 */
int spek_augment_serve_init(struct spek_augment_unit *unit)
{
	u32 i;

	mutex_init(&unit->lock);
	spin_lock_init(&unit->arrived_lock);
	init_waitqueue_head(&unit->idle);
	bio_list_init(&unit->arrived);
	bio_list_init(&unit->waiting);
	INIT_LIST_HEAD(&unit->ended);
	spek_augment_holds_init(unit);
	INIT_DELAYED_WORK(&unit->work, serve);
	unit->is_stopped = true;
	unit->free_places = ~0ULL;
	if (spek_augment_blocks_alloc(unit->stages, SPEK_AUGMENT_STAGE_PAGES) ||
	    spek_augment_blocks_alloc(unit->heads, SPEK_AUGMENT_RECORDS))
		return -ENOMEM;
	for (i = 0; i < SPEK_AUGMENT_RECORDS; i++)
		memset(unit->heads[i], 0, SPEK_AUGMENT_BLOCK_BYTES);
	for (i = 0; i < SPEK_AUGMENT_BIOS; i++)
		if (spek_augment_blocks_alloc(unit->places[i].data, SPEK_AUGMENT_UNIT_BLOCKS))
			return -ENOMEM;
	for (i = 0; i < SPEK_AUGMENT_IOS; i++) {
		struct spek_augment_part *part = kzalloc(sizeof(*part), GFP_KERNEL);

		unit->parts[i] = part;
		if (!part || spek_augment_blocks_alloc(&part->head, 1))
			return -ENOMEM;
		part->unit = unit;
	}
	unit->queue = alloc_ordered_workqueue("spek_augment", WQ_MEM_RECLAIM | WQ_HIGHPRI);
	return unit->queue ? 0 : -ENOMEM;
}

/**
 * spek_augment_serve_deinit() - free buffers and the worker
 * @unit: stopped, or never started
 */
void spek_augment_serve_deinit(struct spek_augment_unit *unit)
{
	u32 i;

	if (unit->queue)
		destroy_workqueue(unit->queue);
	for (i = 0; i < SPEK_AUGMENT_IOS; i++) {
		if (unit->parts[i])
			spek_augment_blocks_free(&unit->parts[i]->head, 1);
		kfree(unit->parts[i]);
	}
	for (i = 0; i < SPEK_AUGMENT_BIOS; i++)
		spek_augment_blocks_free(unit->places[i].data, SPEK_AUGMENT_UNIT_BLOCKS);
	spek_augment_blocks_free(unit->heads, SPEK_AUGMENT_RECORDS);
	spek_augment_blocks_free(unit->stages, SPEK_AUGMENT_STAGE_PAGES);
}

/**
 * spek_augment_serve_stop() - send nothing more, and wait for what was sent
 * @unit: unit without bios of device mapper
 *
 * The devices are free for another table, or to be closed, afterwards.
 */
void spek_augment_serve_stop(struct spek_augment_unit *unit)
{
	mutex_lock(&unit->lock);
	unit->is_stopped = true;
	mutex_unlock(&unit->lock);
	wait_event(unit->idle, !READ_ONCE(unit->in_flight));
	cancel_delayed_work_sync(&unit->work);
	spin_lock_irq(&unit->arrived_lock);
	unit->is_kicked = false;
	spin_unlock_irq(&unit->arrived_lock);
}

/**
 * spek_augment_serve_resume() - send again
 * @unit: started
 */
void spek_augment_serve_resume(struct spek_augment_unit *unit)
{
	mutex_lock(&unit->lock);
	unit->is_stopped = false;
	mutex_unlock(&unit->lock);
	kick(unit);
}
