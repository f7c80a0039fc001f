// SPDX-License-Identifier: GPL-2.0
/*
 * Zoned devices. Before the start their zones are read: streams that write anywhere must stay out
 * of zones that have to be written sequentially, and streams at write pointers take the pointers
 * over (core/zones.h).
 *
 * During the run each worker has a gate. It keeps one write or command per zone in flight, which
 * keeps them in order on every kernel: before v6.10 the order of several bios for one zone is that
 * of their arrival at the elevator, and there may be none. An operation that has to wait does so in
 * the line of its target, like one for which the driver has no room (worker_line.c). If its zone
 * has old data, the gate resets the zone meanwhile: at most one such command of a worker is in
 * flight for each address range. With stamped data that reset is a writer of all blocks of the zone
 * (verify.c).
 *
 * A zone with a failed operation is left, and reset before the zone that takes its place is
 * written. A failed reset is not reported by itself: the next write to the zone fails, too.
 */
#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/blkzoned.h>
#include <linux/completion.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "../compat/compat.h"
#include "../core/refusal.h"
#include "config.h"
#include "core/zone_share.h"
#include "core/zones.h"
#include "slot.h"
#include "target.h"
#include "verify.h"
#include "zone.h"

/* ---- before the start ---- */

/*
 * struct scan - a pass over the zones of a target
 *
 * @config: of the run
 * @target: index of the target
 * @zone_sectors: from zone to zone
 * @map: filled in
 * @is_wrong: a zone of an asu can't be as the device reports it
 * @active: zones that are open or closed
 * @held: those of them that were opened by command, and that the device does not close by itself
 * @offender: stream that writes anywhere in a zone that has to be written sequentially; -1: none
 */
struct scan {
	const struct spek_run_config *config;
	u32 target;
	u64 zone_sectors;
	struct spek_zone_map *map;
	bool is_wrong;
	u32 active;
	u32 held;
	int offender;
};

static bool is_at_pointers(const struct spek_stream *stream)
{
	return stream->pattern == SPEK_PATTERN_WRITE_POINTER;
}

/* Return: true if @stream may write to some of the bytes from @start to @end of a target */
static bool writes_anywhere_in(const struct spek_workload *wl, const struct spek_stream *stream,
			       u32 target, u64 start, u64 end)
{
	const struct spek_asu *asu = &wl->asu[stream->asu];
	u32 i;

	if (stream->read_ppm == 1000000 || is_at_pointers(stream) ||
	    stream->operation == SPEK_OPERATION_FLUSH)
		return false;
	for (i = 0; i < asu->nr_extents; i++) {
		u64 from = asu->extent[i].start, to;

		if (asu->extent[i].target != target)
			continue;
		if (asu->nr_extents == 1) {
			from += stream->range_start;
			to = from + stream->range_bytes;
		} else {
			to = from + div_u64(asu->bytes, asu->nr_extents);
		}
		if (from < end && to > start)
			return true;
	}
	return false;
}

/* Return: false if @zone can't be as the device reports it */
static bool report_of(struct spek_zone_report *report, const struct blk_zone *zone, u64 sectors)
{
	u64 next = 0;

	*report = (struct spek_zone_report){};
	switch (zone->cond) {
	case BLK_ZONE_COND_FULL:
		next = zone->capacity;
		break;
	case BLK_ZONE_COND_EMPTY:
		break;
	case BLK_ZONE_COND_IMP_OPEN:
	case BLK_ZONE_COND_EXP_OPEN:
	case BLK_ZONE_COND_CLOSED:
		next = zone->wp - zone->start;
		report->active = 1;
		break;
	default:
		return true;
	}
	return spek_zone_report_set(report, next, zone->capacity, sectors);
}

static int see_zone(struct blk_zone *zone, unsigned int index, void *data)
{
	struct scan *scan = data;
	const struct spek_workload *wl = &scan->config->workload;
	u64 start = zone->start << SECTOR_SHIFT, end = (zone->start + zone->len) << SECTOR_SHIFT;
	struct spek_zone_report report;
	bool is_valid = report_of(&report, zone, scan->zone_sectors);
	u32 i;

	scan->active += report.active;
	scan->held += zone->cond == BLK_ZONE_COND_EXP_OPEN;
	for (i = 0; i < wl->nr_streams; i++)
		if (zone->type == BLK_ZONE_TYPE_SEQWRITE_REQ && scan->offender < 0 &&
		    writes_anywhere_in(wl, &wl->stream[i], scan->target, start, end))
			scan->offender = i;
	for (i = 0; i < wl->nr_asus; i++) {
		const struct spek_asu *asu = &wl->asu[i];
		u64 offset = start - asu->extent[0].start;	/* huge before the asu */

		if (!scan->map->zone[i] || asu->extent[0].target != scan->target ||
		    offset >= asu->bytes)
			continue;
		if (!is_valid) {
			scan->is_wrong = true;
			return -EIO;
		}
		scan->map->zone[i][div64_u64(offset, asu->zone_bytes)] = report;
	}
	return 0;
}

/* Zones of an asu: their size, and no two asus of one target on the same ones. */
static int check_asu(const struct spek_workload *wl, u32 index, const struct spek_target *targets,
		     struct spek_refusal *refusal)
{
	const struct spek_asu *asu = &wl->asu[index];
	const struct spek_target *target = &targets[asu->extent[0].target];
	struct block_device *bdev = target->handle.bdev;
	u64 start = asu->extent[0].start;
	u32 i;

	if (!bdev_is_zoned(bdev))
		return spek_refuse(refusal, SPEK_REFUSAL_ASU, index, -EOPNOTSUPP,
				   "The device is not zoned: it has no write pointers.");
	if (target->start_sector)
		return spek_refuse(refusal, SPEK_REFUSAL_ASU, index, -EOPNOTSUPP,
				   "A partition is not written at write pointers: use the whole device.");
	if (bdev_zone_sectors(bdev) << SECTOR_SHIFT != asu->zone_bytes)
		return spek_refuse(refusal, SPEK_REFUSAL_ASU, index, -EINVAL,
				   "The zones of the device have another size than the run gives.");
	if (start & (asu->zone_bytes - 1))
		return spek_refuse(refusal, SPEK_REFUSAL_ASU, index, -EINVAL,
				   "The address range does not start at a zone of its device.");
	for (i = 0; i < index; i++) {
		const struct spek_asu *other = &wl->asu[i];

		if (other->zone_bytes && other->extent[0].target == asu->extent[0].target &&
		    other->extent[0].start < start + asu->bytes &&
		    start < other->extent[0].start + other->bytes)
			return spek_refuse(refusal, SPEK_REFUSAL_ASU, index, -EINVAL,
					   "Two address ranges with streams at write pointers overlap on their device.");
	}
	return 0;
}

static int check_sizes(const struct spek_workload *wl, const struct spek_target *targets,
		       struct spek_refusal *refusal)
{
	u32 i;

	for (i = 0; i < wl->nr_streams; i++) {
		const struct spek_stream *stream = &wl->stream[i];
		u32 bytes = spek_stream_max_bytes(stream);
		const struct spek_target *target;

		if (!is_at_pointers(stream) || stream->read_ppm == 1000000 ||
		    !spek_stream_has_data(stream))
			continue;
		target = &targets[wl->asu[stream->asu].extent[0].target];
		if (bytes > spek_target_whole_bytes(target) ||
		    (target->only_segment && bytes > target->only_segment))
			return spek_refuse(refusal, SPEK_REFUSAL_STREAM, i, -ERANGE,
					   "A block size is above what the device takes at once (max_sectors_kb): writes at a pointer can't be cut.");
		if (stream->operation != SPEK_OPERATION_ZONE_APPEND)
			continue;
		if (!bdev_max_zone_append_sectors(target->handle.bdev))
			return spek_refuse(refusal, SPEK_REFUSAL_STREAM, i, -EOPNOTSUPP,
					   "The device does not support zone appends.");
		if (bytes >> SECTOR_SHIFT > bdev_max_zone_append_sectors(target->handle.bdev))
			return spek_refuse(refusal, SPEK_REFUSAL_STREAM, i, -ERANGE,
					   "A block size is above what the device appends at once (zone_append_max_bytes).");
	}
	return 0;
}

/* The open zones of a target, those that other writers left behind included, must fit. */
static int check_limits(const struct spek_run_config *config, const struct spek_target *target,
			const struct scan *scan, struct spek_refusal *refusal)
{
	const struct spek_workload *wl = &config->workload;
	u32 max_active = bdev_max_active_zones(target->handle.bdev);
	u32 max_open = bdev_max_open_zones(target->handle.bdev);
	u32 wanted = 0, continued = 0, i;

	for (i = 0; i < wl->nr_asus; i++) {
		if (!scan->map->zone[i] || wl->asu[i].extent[0].target != scan->target)
			continue;
		wanted += wl->asu[i].open_zones;
		continued += spek_zone_share_continued(wl, i, config->nr_workers,
						       scan->map->zone[i]);
	}
	if (!wanted)
		return 0;
	if (max_open && wanted > max_open)
		return spek_refuse(refusal, SPEK_REFUSAL_TARGET, scan->target, -ERANGE,
				   "The run has more open zones than the device can have (max_open_zones).");
	if (max_active && wanted > max_active)
		return spek_refuse(refusal, SPEK_REFUSAL_TARGET, scan->target, -ERANGE,
				   "The run has more open zones than the device can have active (max_active_zones).");
	wanted -= continued;
	if ((max_active && wanted + scan->active > max_active) ||
	    (max_open && wanted + scan->held > max_open))
		return spek_refuse(refusal, SPEK_REFUSAL_TARGET, scan->target, -EBUSY,
				   "Zones of the device are open or closed with data in them, which leaves too few for the run: reset or finish them.");
	return 0;
}

static int scan_target(struct spek_zone_map *map, const struct spek_run_config *config,
		       const struct spek_target *targets, u32 index, struct spek_refusal *refusal)
{
	struct block_device *bdev = targets[index].handle.bdev;
	struct scan scan = {
		.config = config,
		.target = index,
		.zone_sectors = bdev_zone_sectors(bdev),
		.map = map,
		.offender = -1,
	};
	int err = spek_compat_report_zones(bdev, see_zone, &scan);

	if (scan.is_wrong)
		return spek_refuse(refusal, SPEK_REFUSAL_TARGET, index, -EIO,
				   "The device reports a zone whose capacity or write pointer lies outside of the zone.");
	if (err < 0)
		return spek_refuse(refusal, SPEK_REFUSAL_TARGET, index, err,
				   "The zones of the device can't be read.");
	if (scan.offender >= 0)
		return spek_refuse(refusal, SPEK_REFUSAL_STREAM, scan.offender, -EOPNOTSUPP,
				   "The stream writes in zones that must be written sequentially: it needs pattern write-pointer, or a range of conventional zones.");
	return check_limits(config, &targets[index], &scan, refusal);
}

static int alloc_reports(struct spek_zone_map *map, const struct spek_workload *wl,
			 const struct spek_target *targets, struct spek_refusal *refusal)
{
	u32 i;
	int err;

	for (i = 0; i < wl->nr_asus; i++) {
		if (!wl->asu[i].zone_bytes)
			continue;
		err = check_asu(wl, i, targets, refusal);
		if (err)
			return err;
		map->zone[i] = kvcalloc(div64_u64(wl->asu[i].bytes, wl->asu[i].zone_bytes),
					sizeof(*map->zone[i]), GFP_KERNEL | __GFP_RETRY_MAYFAIL);
		if (!map->zone[i])
			return spek_refuse(refusal, SPEK_REFUSAL_ASU, i, -ENOMEM,
					   "There is not enough memory for the zones of an address range.");
	}
	return 0;
}

/**
 * spek_zone_map_create() - check a run against the zones of its targets, and take these over
 * @map: set to what spek_zone_map_destroy() frees; NULL if no stream is at write pointers
 * @config: of the run, checked without the devices
 * @targets: open
 * @refusal: filled in on failure
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno.
 */
int spek_zone_map_create(struct spek_zone_map **map, const struct spek_run_config *config,
			 const struct spek_target *targets, struct spek_refusal *refusal)
{
	const struct spek_workload *wl = &config->workload;
	struct spek_zone_map *new = kzalloc(sizeof(*new), GFP_KERNEL);
	u32 i;
	int err;

	if (!new)
		return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -ENOMEM,
				   "There is not enough memory for the zones of a run.");
	err = alloc_reports(new, wl, targets, refusal);
	if (!err)
		err = check_sizes(wl, targets, refusal);
	for (i = 0; i < config->nr_targets && !err; i++)
		if (bdev_is_zoned(targets[i].handle.bdev))
			err = scan_target(new, config, targets, i, refusal);
	for (i = 0; i < wl->nr_asus && !err; i++)
		if (new->zone[i] && !spek_zone_share_fits(wl, i, config->nr_workers, new->zone[i]))
			err = spek_refuse(refusal, SPEK_REFUSAL_ASU, i, -ERANGE,
					  "A worker's part of the address range has fewer zones with a write pointer than the worker is to have open.");
	if (err || !spek_workload_has_zones(wl)) {
		spek_zone_map_destroy(new);
		return err;
	}
	for (i = 0; i < wl->nr_streams; i++)
		new->is_at_pointers[i] = is_at_pointers(&wl->stream[i]);
	*map = new;
	return 0;
}

/**
 * spek_zone_map_destroy() - free what spek_zone_map_create() has made
 * @map: or NULL
 */
void spek_zone_map_destroy(struct spek_zone_map *map)
{
	u32 i;

	if (!map)
		return;
	for (i = 0; i < SPEK_MAX_ASUS; i++)
		kvfree(map->zone[i]);
	kfree(map);
}

/* ---- during the run ---- */

/**
 * struct spek_zone_prep - the command that an operation on the zones of an asu waits for
 * @gate: of the worker
 * @bio: the command
 * @done: @bio has come back
 * @is_out: @bio was sent, and its end not seen yet
 * @waits: @reset waits for its blocks
 * @recovers: @bio resets a lost zone, for an operation on another one
 * @reset: with stamped data, the last reset that @bio was for, or that waits
 *
 * Operations on one asu are asked for in their order, so one waits at a time.
 */
struct spek_zone_prep {
	struct spek_zone_gate *gate;
	struct bio bio;
	struct completion done;
	bool is_out;
	bool waits;
	bool recovers;
	struct spek_op reset;
};

/**
 * struct spek_zone_gate - what a worker's operations on zones wait for; the worker's own
 * @map: of the run
 * @gen: of the worker, which has the pointers
 * @count: requests sent to each target, of the worker
 * @verify: with stamped data, else NULL
 * @inflight: of the worker, for waking it
 * @nr_out: entries of @prep that are with their devices
 * @is_woken: what the last operation asked for waits for will come back to the worker
 * @prep: by asu
 */
struct spek_zone_gate {
	const struct spek_zone_map *map;
	struct spek_gen *gen;
	struct spek_target_count *count;
	struct spek_verify *verify;
	const struct spek_inflight *inflight;
	u32 nr_out;
	bool is_woken;
	struct spek_zone_prep *prep;
};

/**
 * spek_zone_gate_create() - make the gate of a worker
 * @map: of the run
 * @count: requests sent to each target, of the worker
 * @verify: of the run with stamped data, else NULL
 * @inflight: of the worker
 * @node: NUMA node of the worker
 *
 * Context: process, may sleep.
 * Return: the gate, or NULL without memory.
 */
struct spek_zone_gate *spek_zone_gate_create(const struct spek_zone_map *map,
					     struct spek_target_count *count,
					     struct spek_verify *verify,
					     const struct spek_inflight *inflight, int node)
{
	struct spek_zone_gate *gate = kzalloc_node(sizeof(*gate), GFP_KERNEL, node);
	u32 i;

	if (!gate)
		return NULL;
	/* Not within the gate: a bio ends in an array of no fixed length. */
	gate->prep = kcalloc_node(SPEK_MAX_ASUS, sizeof(*gate->prep), GFP_KERNEL, node);
	if (!gate->prep) {
		kfree(gate);
		return NULL;
	}
	gate->map = map;
	gate->count = count;
	gate->verify = verify;
	gate->inflight = inflight;
	for (i = 0; i < SPEK_MAX_ASUS; i++) {
		gate->prep[i].gate = gate;
		init_completion(&gate->prep[i].done);
	}
	return gate;
}

/**
 * spek_zone_gate_destroy() - free a gate whose worker has ended
 * @gate: or NULL
 */
void spek_zone_gate_destroy(struct spek_zone_gate *gate)
{
	if (!gate)
		return;
	kfree(gate->prep);
	kfree(gate);
}

/**
 * spek_zone_gate_load() - take over the zones as they were before the start
 * @gate: of the worker
 * @gen: its generator, laid out
 */
void spek_zone_gate_load(struct spek_zone_gate *gate, struct spek_gen *gen)
{
	u32 i;

	gate->gen = gen;
	for (i = 0; i < SPEK_MAX_ASUS; i++)
		if (gen->zones[i])
			spek_zones_load(gen->zones[i], gate->map->zone[i]);
}

/* The zones that an operation keeps to, or NULL: those of its stream, not of all in its asu. */
static struct spek_zones *zones_of(const struct spek_zone_gate *gate, const struct spek_op *op)
{
	return gate->map->is_at_pointers[op->stream] ? gate->gen->zones[op->asu] : NULL;
}

static void count_one(struct spek_target_count *count, u32 kind)
{
	WRITE_ONCE(count->ios[kind], count->ios[kind] + 1);
}

static void end_preparation(struct bio *bio)
{
	struct spek_zone_prep *prep = container_of(bio, struct spek_zone_prep, bio);
	const struct spek_inflight *inflight = prep->gate->inflight;

	/* An RCU read section, as in spek_part_end_io(): the worker may end. */
	preempt_disable();
	complete(&prep->done);
	smp_mb();	/* pairs with wait_for_event() in worker.c: see there for lost wakeups */
	if (READ_ONCE(inflight->idle))
		wake_up_process(inflight->task);
	preempt_enable();
}

/**
 * spek_zone_has_news() - check whether a command that an operation waits for has come back
 * @gate: of the worker
 *
 * Context: the worker's thread.
 * Return: true if spek_zone_prepare() is to be asked again.
 */
bool spek_zone_has_news(struct spek_zone_gate *gate)
{
	u32 left = gate->nr_out, i;

	for (i = 0; left && i < SPEK_MAX_ASUS; i++) {
		if (!gate->prep[i].is_out)
			continue;
		if (completion_done(&gate->prep[i].done))
			return true;
		left--;
	}
	return false;
}

/* With stamped data. Return: true if the zone at @addr, for which @op waits, can be reset now */
static bool acquire_zone(struct spek_zone_gate *gate, const struct spek_op *op, u64 addr,
			 const struct spek_asu_map *asu)
{
	struct spek_zone_prep *prep = &gate->prep[op->asu];

	/* Another zone was lost meanwhile. */
	if (prep->waits && prep->reset.addr != addr)
		spek_verify_drop(gate->verify, &prep->reset, asu, false);
	prep->reset = *op;
	prep->reset.kind = SPEK_OP_ZONE_RESET;
	prep->reset.addr = addr;
	prep->waits = !spek_verify_acquire(gate->verify, &prep->reset, asu);
	return !prep->waits;
}

/*
 * The block layer counts commands on zones as writes of no bytes.
 *
 * Without bytes they pass its check of the end of a disk that is gone, and a SCSI disk's queue
 * accepts them again for other drivers (submit_request.h): they would reset zones of whatever disk
 * is there next. The write that waits for them fails in its turn.
 */
static void submit_zone_command(struct spek_zone_prep *prep, const struct spek_part *part,
				u64 sector, bool reset)
{
	struct spek_target_count *count = &prep->gate->count[part->target_index];
	struct block_device *bdev = part->target->handle.bdev;

	reinit_completion(&prep->done);
	prep->is_out = true;
	prep->gate->nr_out++;
	bio_init(&prep->bio, bdev, NULL, 0,
		 (reset ? REQ_OP_ZONE_RESET : REQ_OP_ZONE_OPEN) | REQ_SYNC);
	prep->bio.bi_iter.bi_sector = sector;
	prep->bio.bi_end_io = end_preparation;
	if (unlikely(spek_compat_bdev_is_gone(&part->target->handle))) {
		bio_io_error(&prep->bio);
		return;
	}
	count_one(count, SPEK_COUNT_WRITE);
	count_one(count, reset ? SPEK_COUNT_ZONE_RESET : SPEK_COUNT_ZONE_OPEN);
	submit_bio(&prep->bio);
}

static void end_wait(struct spek_zone_prep *prep, const struct spek_asu_map *asu)
{
	struct spek_verify *verify = prep->gate->verify;

	prep->is_out = false;
	prep->gate->nr_out--;
	if (verify && bio_op(&prep->bio) == REQ_OP_ZONE_RESET)
		spek_verify_release(verify, &prep->reset, asu, prep->bio.bi_status);
	bio_uninit(&prep->bio);
}

/* Send the reset or opening that @answer asks for, if its blocks can be acquired. */
static void request_preparation(struct spek_zone_gate *gate, const struct spek_slot *slot,
				const struct spek_asu_map *asu, enum spek_zone_answer answer)
{
	struct spek_zones *zones = zones_of(gate, &slot->op);
	u64 addr = round_down(slot->op.addr, 1ull << zones->shift);

	if (answer == SPEK_ZONE_RECOVER)
		addr = spek_zones_lost_addr(zones);
	if (gate->verify && answer != SPEK_ZONE_OPEN && !acquire_zone(gate, &slot->op, addr, asu))
		return;
	spek_zones_begin(zones, &slot->op);
	gate->prep[slot->op.asu].recovers = answer == SPEK_ZONE_RECOVER;
	submit_zone_command(&gate->prep[slot->op.asu], slot->part,
			    (asu->asu->extent[0].start + addr) >> SECTOR_SHIFT,
			    answer != SPEK_ZONE_OPEN);
}

/**
 * spek_zone_prepare() - ask whether an operation may be sent to its zone
 * @gate: of the worker
 * @slot: armed
 * @asu: maps the operation to its target
 *
 * Sends what the zone needs before.
 *
 * Context: the worker's thread.
 * Return: true if it may be sent, after spek_zone_begin(); else ask again.
 */
bool spek_zone_prepare(struct spek_zone_gate *gate, const struct spek_slot *slot,
		       const struct spek_asu_map *asu)
{
	struct spek_zones *zones = zones_of(gate, &slot->op);
	struct spek_zone_prep *prep = &gate->prep[slot->op.asu];
	enum spek_zone_answer answer;

	gate->is_woken = false;
	if (!zones)
		return true;
	if (prep->is_out && !try_wait_for_completion(&prep->done)) {
		gate->is_woken = true;
		return false;
	}
	if (prep->is_out) {
		end_wait(prep, asu);
		if (prep->recovers)
			spek_zones_recovered(zones, &slot->op);
		else
			spek_zones_prepared(zones, &slot->op);
	}
	answer = spek_zones_ask(zones, &slot->op);
	if (answer != SPEK_ZONE_READY && answer != SPEK_ZONE_WAIT)
		request_preparation(gate, slot, asu, answer);
	gate->is_woken = answer == SPEK_ZONE_WAIT || prep->is_out;
	return answer == SPEK_ZONE_READY;
}

/**
 * spek_zone_is_woken() - check whether the worker is woken for what an operation waits for
 * @gate: of the worker
 *
 * Context: the worker's thread, after spek_zone_prepare() for the operation.
 * Return: true if it waits for an operation of the worker or for a command of the gate; false if it
 * waits for blocks that other workers may hold, or for nothing.
 */
bool spek_zone_is_woken(const struct spek_zone_gate *gate)
{
	return gate->is_woken;
}

/**
 * spek_zone_begin() - an operation is about to be sent
 * @gate: of the worker
 * @slot: of the operation, for which spek_zone_prepare() has returned true
 *
 * Context: the worker's thread.
 */
void spek_zone_begin(struct spek_zone_gate *gate, const struct spek_slot *slot)
{
	struct spek_zones *zones = zones_of(gate, &slot->op);

	if (zones)
		spek_zones_begin(zones, &slot->op);
}

/**
 * spek_zone_end() - an operation has completed
 * @gate: of the worker
 * @slot: of the operation
 *
 * Context: the worker's thread.
 * Return: true if its zone was lost: see spek_zones_end().
 */
bool spek_zone_end(struct spek_zone_gate *gate, const struct spek_slot *slot)
{
	struct spek_zones *zones = zones_of(gate, &slot->op);
	const struct spek_part *part = slot->part;

	if (!zones)
		return false;
	if (slot->op.kind == SPEK_OP_ZONE_APPEND && !slot->status &&
	    part->bio.bi_iter.bi_sector != part->offset >> SECTOR_SHIFT)
		count_one(&gate->count[part->target_index], SPEK_COUNT_ZONE_MISPLACED);
	return spek_zones_end(zones, &slot->op, slot->status);
}

/**
 * spek_zone_is_waited_for() - check whether an operation has its place in the zone of another one
 * @gate: of the worker
 * @slot: of the operation, armed
 * @failed: of the other one, for which spek_zone_end() has returned true
 *
 * Context: the worker's thread.
 * Return: true if it has to be placed again, unless it only reads or empties the zone.
 */
bool spek_zone_is_waited_for(const struct spek_zone_gate *gate, const struct spek_slot *slot,
			     const struct spek_slot *failed)
{
	const struct spek_zones *zones = zones_of(gate, &slot->op);

	return zones && zones == zones_of(gate, &failed->op) && slot->op.write &&
	       slot->op.kind != SPEK_OP_ZONE_RESET &&
	       spek_zones_share_zone(zones, &slot->op, &failed->op);
}

/**
 * spek_zone_drop() - an operation that waits is given up
 * @gate: of the worker
 * @slot: of the operation
 * @asu: maps the operation to its target
 *
 * Context: the worker's thread; waits for a command that is with the device.
 */
void spek_zone_drop(struct spek_zone_gate *gate, const struct spek_slot *slot,
		    const struct spek_asu_map *asu)
{
	struct spek_zone_prep *prep = &gate->prep[slot->op.asu];

	if (!zones_of(gate, &slot->op))
		return;
	if (prep->waits)
		spek_verify_drop(gate->verify, &prep->reset, asu, false);
	prep->waits = false;
	if (!prep->is_out)
		return;
	wait_for_completion_state(&prep->done, TASK_IDLE);
	end_wait(prep, asu);
}

/**
 * spek_zone_arm_append() - make an armed write an append
 * @part: armed; its offset is where the data should get
 */
void spek_zone_arm_append(struct spek_part *part)
{
	struct bio *bio = &part->bio;

	bio->bi_opf = (bio->bi_opf & ~(blk_opf_t)REQ_OP_MASK) | REQ_OP_ZONE_APPEND;
	bio->bi_iter.bi_sector = round_down(bio->bi_iter.bi_sector,
					    bdev_zone_sectors(bio->bi_bdev));
}
