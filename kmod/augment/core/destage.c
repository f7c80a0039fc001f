// SPDX-License-Identifier: GPL-2.0
/*
 * Destage: a batch of dirty blocks at a time. Blocks of one batch are distinct, and batches do not
 * overlap, so that an older version of a block never overtakes a newer one on the way to the RAID.
 *
 *	BARRIER	wait until the log is flushed: a cut that tears a block on the RAID must leave its
 *		record, and blocks that the tail passes may have been replaced by records that are
 *		only in the devices' caches
 *	RETAIL	write superblocks with the new tail, behind what earlier batches have moved
 *	MOVE	read the blocks into buffers, write them to the RAID
 *	SETTLE	flush the RAID; the blocks are clean
 *	ANNOUNCE	the log has been recovered or drained: announce a generation in superblocks
 *	BEGIN	all devices know of it: write its first superblocks
 */
#include "machine.h"

/* Old blocks that a batch begins with; the remainder is for their stripes. */
#define LEADERS		16

static u32 next_record(const struct spek_augment *m, u32 place)
{
	place += 1 + m->entries[place].low;
	return place == m->config.log_blocks ? 0 : place;
}

/* Dirty, and some device can read it. */
static bool is_movable(const struct spek_augment *m, u32 entry)
{
	u32 state = m->entries[entry].state;

	return (state & SPEK_AUGMENT_STATE) == SPEK_AUGMENT_DIRTY &&
	       !(state & SPEK_AUGMENT_DESTAGING) &&
	       spek_augment_source(m, entry) != SPEK_AUGMENT_NONE;
}

static void take(struct spek_augment *m, u32 entry)
{
	struct spek_augment_destage *d = &m->destage;
	u64 block = spek_augment_block_of(&m->entries[entry]);
	u32 i = d->nr_items++;

	for (; i && d->items[i - 1].block > block; i--)
		d->items[i] = d->items[i - 1];
	d->items[i].block = block;
	d->items[i].entry = entry;
	m->entries[entry].state |= SPEK_AUGMENT_DESTAGING;
}

static void take_stripe(struct spek_augment *m, u64 block)
{
	u64 first = spek_div64(block, m->config.stripe_blocks) * m->config.stripe_blocks;
	u32 i;

	for (i = 0; i < m->config.stripe_blocks && m->destage.nr_items < SPEK_AUGMENT_BATCH; i++) {
		u32 entry = spek_augment_map_find(m, first + i);

		if (entry != SPEK_AUGMENT_NONE && is_movable(m, entry))
			take(m, entry);
	}
}

static void gather(struct spek_augment *m)
{
	struct spek_augment_destage *d = &m->destage;
	u32 leaders = 0;

	while (d->scan != m->head && leaders < LEADERS && d->nr_items < SPEK_AUGMENT_BATCH) {
		u32 blocks = m->entries[d->scan].low;
		u32 i;

		for (i = 1; i <= blocks && d->nr_items < SPEK_AUGMENT_BATCH; i++) {
			if (!is_movable(m, d->scan + i))
				continue;
			leaders++;
			take(m, d->scan + i);
			take_stripe(m, spek_augment_block_of(&m->entries[d->scan + i]));
		}
		if (i <= blocks)
			break;
		d->scan = next_record(m, d->scan);
	}
}

/* The first place that holds something that is not on the RAID. */
static void find_tail(struct spek_augment *m)
{
	struct spek_augment_destage *d = &m->destage;

	d->tail = m->tail;
	d->tail_seq = m->tail_seq;
	while (d->tail != m->head && d->tail_seq <= m->done_seq) {
		u32 i;

		for (i = 1; i <= m->entries[d->tail].low; i++)
			if (spek_augment_state(&m->entries[d->tail + i]) == SPEK_AUGMENT_DIRTY ||
			    spek_augment_state(&m->entries[d->tail + i]) == SPEK_AUGMENT_INFLIGHT)
				return;
		d->tail = next_record(m, d->tail);
		d->tail_seq++;
	}
}

static void begin_moving(struct spek_augment *m)
{
	struct spek_augment_destage *d = &m->destage;

	d->step = d->nr_items ? SPEK_AUGMENT_MOVE : SPEK_AUGMENT_IDLE;
	d->next_item = 0;
	d->nr_runs = 0;
	d->failed = false;
}

/* The tail has been found. It does not pass the blocks of the batch, which are dirty. */
static void await_flush(struct spek_augment *m)
{
	struct spek_augment_destage *d = &m->destage;

	if (!d->nr_items && d->tail == m->tail)
		return;
	d->barrier = m->issued_seq;
	d->step = SPEK_AUGMENT_BARRIER;
	m->again = true;
}

/* Once all that can be read is on the RAID, what is dirty is lost, and the machine has failed. */
static void drain_batch(struct spek_augment *m)
{
	struct spek_augment_destage *d = &m->destage;
	bool is_whole = d->scan == m->head || d->scan == m->tail;

	d->nr_items = 0;
	if (d->scan == m->head)
		d->scan = m->tail;
	gather(m);
	if (!d->nr_items && is_whole)
		spek_augment_fail(m);
	else if (!d->nr_items)
		m->again = true;
	begin_moving(m);
}

static struct spek_augment_slot *read_from(struct spek_augment *m, u32 run, u32 offset, u32 device)
{
	struct spek_augment_run *moved = &m->destage.runs[run];
	u32 entry = m->destage.items[moved->first + offset].entry;
	struct spek_augment_slot *slot;

	slot = spek_augment_io_new(m, SPEK_AUGMENT_FOR_DESTAGE_READ, SPEK_AUGMENT_READ, device,
				   (u64)entry + SPEK_AUGMENT_LOG_START, 1);
	slot->entry = entry;
	slot->index = run;
	slot->io.stage = moved->stage;
	slot->io.stage_block = offset;
	moved->reads++;
	return slot;
}

static void read_item(struct spek_augment *m, u32 run, u32 offset)
{
	struct spek_augment_run *moved = &m->destage.runs[run];
	u32 entry = m->destage.items[moved->first + offset].entry;
	u32 device = spek_augment_source(m, entry);

	if (device == SPEK_AUGMENT_NONE) {
		/* Nobody needs a block that was written again meanwhile. */
		if (spek_augment_state(&m->entries[entry]) == SPEK_AUGMENT_DIRTY)
			spek_augment_drain(m);
		moved->is_void = true;
		return;
	}
	read_from(m, run, offset, device);
}

static void end_items(struct spek_augment *m, u32 first, u32 items, bool is_clean)
{
	u32 i;

	for (i = first; i < first + items; i++) {
		struct spek_augment_entry *entry = &m->entries[m->destage.items[i].entry];

		if (is_clean && (entry->state & SPEK_AUGMENT_DESTAGING)) {
			m->stats.destaged++;
			if (spek_augment_state(entry) == SPEK_AUGMENT_DIRTY) {
				entry->state = (entry->state & ~SPEK_AUGMENT_STATE) |
					       SPEK_AUGMENT_CLEAN;
				m->dirty--;
			}
		}
		entry->state &= ~SPEK_AUGMENT_DESTAGING;
	}
}

/* End a run that is not written: what it holds is tried again, if it is still wanted. */
static void abandon_run(struct spek_augment *m, struct spek_augment_run *run)
{
	end_items(m, run->first, run->items, false);
	spek_augment_stage_put(m, run->stage);
	m->destage.pending--;
	m->again = true;
}

static void begin_run(struct spek_augment *m)
{
	struct spek_augment_destage *d = &m->destage;
	struct spek_augment_run *run = &d->runs[d->nr_runs];
	const struct spek_augment_item *first = &d->items[d->next_item];
	u32 i = 1;

	while (i < SPEK_AUGMENT_STAGE_BLOCKS && d->next_item + i < d->nr_items &&
	       first[i].block == first->block + i)
		i++;
	run->first = d->next_item;
	run->items = i;
	run->stage = spek_augment_stage_take(m);
	run->reads = 0;
	run->is_void = false;
	d->next_item += i;
	d->pending++;
	for (i = 0; i < run->items; i++)
		read_item(m, d->nr_runs, i);
	d->nr_runs++;
	if (!run->reads)
		abandon_run(m, run);
}

static void move(struct spek_augment *m)
{
	struct spek_augment_destage *d = &m->destage;

	while (d->next_item < d->nr_items && m->free_stages &&
	       m->nr_free_ios >= SPEK_AUGMENT_KEPT_IOS + SPEK_AUGMENT_STAGE_BLOCKS)
		begin_run(m);
	if (d->next_item < d->nr_items || d->pending)
		return;
	spek_augment_io_new(m, SPEK_AUGMENT_FOR_DESTAGE_FLUSH, SPEK_AUGMENT_FLUSH,
			    SPEK_AUGMENT_RAID, 0, 0);
	d->step = SPEK_AUGMENT_SETTLE;
}

static void settle(struct spek_augment *m, int error)
{
	struct spek_augment_destage *d = &m->destage;

	end_items(m, 0, d->nr_items, !error);
	d->stuck = false;
	if (d->failed || error)
		spek_augment_pause(m);
	d->step = SPEK_AUGMENT_IDLE;
	d->is_over = true;
	m->again = true;
}

static bool all_awake(const struct spek_augment *m)
{
	u32 members = m->live & SPEK_AUGMENT_ALL_MEMBERS;

	return (m->awake & members) == members;
}

static bool is_over_limit(const struct spek_augment *m, u32 used)
{
	return used >= m->config.high_blocks ||
	       (m->destage.shrinking && used > m->config.low_blocks);
}

/* Whether a batch may be due. The tail may lag behind: some records may be on the RAID already. */
static bool may_be_due(struct spek_augment *m)
{
	struct spek_augment_destage *d = &m->destage;
	u32 used = spek_augment_used(m);

	if (!used)
		return false;
	/* Reads go first, unless the log is about to be full. */
	if (m->raid_reads && m->config.log_blocks - used > m->config.log_blocks / 8)
		return false;
	if (m->config.age_ns && m->mark_ns != SPEK_AUGMENT_NEVER &&
	    m->now_ns - m->mark_ns >= m->config.age_ns) {
		d->to_seq = m->issued_seq + 1;
		m->mark_ns = m->now_ns;
	}
	/* Once, as writes alone would keep members awake by what is destaged of them. */
	if (m->stirred && all_awake(m) && m->now_ns - m->raid_read_ns >= m->config.quiet_ns) {
		d->to_seq = m->issued_seq + 1;
		m->stirred = false;
	}
	return is_over_limit(m, used) || d->to_seq > m->tail_seq;
}

/* Whether a batch is due, with the tail that was found: records that it is to pass need none. */
static bool is_due(struct spek_augment *m)
{
	struct spek_augment_destage *d = &m->destage;
	u32 used = spek_augment_used(m) - spek_augment_distance(m, d->tail);

	d->shrinking = is_over_limit(m, used);
	return d->shrinking || d->to_seq > d->tail_seq;
}

/* If the log still holds dirty blocks, its tail stays. */
static void begin_generation(struct spek_augment *m)
{
	m->destage.step = SPEK_AUGMENT_BEGIN;
	spek_augment_super_write(m, m->live, m->dirty ? m->tail : m->head,
				 m->dirty ? m->tail_seq : m->issued_seq + 1);
}

static void renew(struct spek_augment *m)
{
	if (!m->live) {
		spek_augment_fail(m);
		return;
	}
	spek_augment_begin_generation(m, m->dirty ? m->tail_seq : m->issued_seq + 1);
	m->destage.step = SPEK_AUGMENT_ANNOUNCE;
	m->destage.failed = false;
	spek_augment_super_announce(m);
}

/*
 * After a batch the tail moves, whether another batch is due or not. Out of line, because the
 * caller is in the path of all bios.
 */
static spek_noinline void begin_batch(struct spek_augment *m, bool may_begin)
{
	struct spek_augment_destage *d = &m->destage;

	find_tail(m);
	d->nr_items = 0;
	d->scan = m->tail;
	if (is_due(m) && may_begin)
		gather(m);
	await_flush(m);
	d->is_over = false;
}

static void idle_normally(struct spek_augment *m, bool is_pause)
{
	bool may_begin = !is_pause && may_be_due(m);

	if (may_begin || m->destage.is_over)
		begin_batch(m, may_begin);
	/* A write under way has an age, too. */
	if (!is_pause && !m->dirty && m->done_seq == m->issued_seq)
		m->mark_ns = SPEK_AUGMENT_NEVER;
}

static void idle(struct spek_augment *m)
{
	bool is_pause = m->destage.stuck && m->now_ns < m->destage.retry_at_ns;

	if (m->mode == SPEK_AUGMENT_NORMAL) {
		idle_normally(m, is_pause);
		return;
	}
	if (is_pause || m->done_seq != m->issued_seq || m->flushing || m->mend.pending)
		return;
	if (m->keeps_log && spek_augment_mend_step(m))
		return;
	if (!spek_augment_has_span(m))
		m->keeps_log = false;
	if (m->wants_flush)
		spek_augment_flush_all(m);
	else if (m->dirty && !m->keeps_log)
		drain_batch(m);
	else
		renew(m);
}

static void pass_barrier(struct spek_augment *m)
{
	struct spek_augment_destage *d = &m->destage;

	if (m->mode != SPEK_AUGMENT_NORMAL) {
		end_items(m, 0, d->nr_items, false);
		d->step = SPEK_AUGMENT_IDLE;
		m->again = true;
	} else if (d->barrier > m->flushed_seq) {
		return;
	} else if (d->tail == m->tail) {
		begin_moving(m);
	} else {
		d->step = SPEK_AUGMENT_RETAIL;
		d->failed = false;
		spek_augment_super_write(m, spek_augment_bit(SPEK_AUGMENT_SSD) |
					    spek_augment_bit(spek_augment_any_mirror(m)),
					 d->tail, d->tail_seq);
	}
}

/**
 * spek_augment_destage_step() - go on with the batch, or begin another one
 * @m: machine
 */
void spek_augment_destage_step(struct spek_augment *m)
{
	struct spek_augment_destage *d = &m->destage;

	if (m->mode == SPEK_AUGMENT_PASSING)
		return;
	if (m->mode == SPEK_AUGMENT_FAILED) {
		if (m->forgets)
			spek_augment_forget_step(m);
		return;
	}
	if (d->step == SPEK_AUGMENT_IDLE)
		idle(m);
	if (d->step == SPEK_AUGMENT_BARRIER)
		pass_barrier(m);
	if (d->step == SPEK_AUGMENT_MOVE)
		move(m);
}

/*
 * Each device that has the block is asked twice, the SSD first. Only then are its copies written off,
 * all together: if one can be read, the other may still be needed, when the RAID is not written.
 */
static void read_failed(struct spek_augment *m, const struct spek_augment_slot *slot)
{
	u32 device = slot->io.device;
	u32 source = SPEK_AUGMENT_NONE;

	if (!slot->is_repeat && (m->live & spek_augment_bit(device))) {
		read_from(m, slot->index, slot->io.stage_block, device)->is_repeat = true;
		return;
	}
	if (device == SPEK_AUGMENT_SSD)
		source = spek_augment_other(m, slot->entry, device);
	if (source != SPEK_AUGMENT_NONE) {
		read_from(m, slot->index, slot->io.stage_block, source);
		return;
	}
	spek_augment_read_failed(m, slot->entry, SPEK_AUGMENT_SSD);
	spek_augment_read_failed(m, slot->entry, device);
	read_item(m, slot->index, slot->io.stage_block);
}

static void read_end(struct spek_augment *m, struct spek_augment_slot *slot, int error)
{
	struct spek_augment_run *run = &m->destage.runs[slot->index];
	struct spek_augment_slot *write;

	run->reads--;
	if (error)
		read_failed(m, slot);
	if (run->reads)
		return;
	if (run->is_void) {
		abandon_run(m, run);
		return;
	}
	write = spek_augment_io_new(m, SPEK_AUGMENT_FOR_DESTAGE_WRITE, SPEK_AUGMENT_WRITE,
				    SPEK_AUGMENT_RAID, m->destage.items[run->first].block,
				    run->items);
	write->index = slot->index;
	write->io.stage = run->stage;
}

static void write_end(struct spek_augment *m, struct spek_augment_slot *slot, int error)
{
	struct spek_augment_run *run = &m->destage.runs[slot->index];

	if (error) {
		m->destage.failed = true;
		abandon_run(m, run);
		return;
	}
	spek_augment_stage_put(m, run->stage);
	m->destage.pending--;
	m->again = true;
}

/* If a device of the superblocks was lost meanwhile, another generation begins from IDLE. */
static void generation_end(struct spek_augment *m)
{
	struct spek_augment_destage *d = &m->destage;
	bool is_announced = d->step == SPEK_AUGMENT_ANNOUNCE;

	d->step = SPEK_AUGMENT_IDLE;
	if (d->failed || d->devices != m->live)
		return;
	if (is_announced)
		begin_generation(m);
	else
		spek_augment_resume(m);
}

static void super_end(struct spek_augment *m, struct spek_augment_slot *slot, int error)
{
	struct spek_augment_destage *d = &m->destage;

	if (error) {
		d->failed = true;
		spek_augment_drop(m, slot->io.device);
	}
	if (--d->pending)
		return;
	m->again = true;
	if (d->step != SPEK_AUGMENT_RETAIL) {
		generation_end(m);
		return;
	}
	if (!d->failed) {
		m->tail = d->tail;
		m->tail_seq = d->tail_seq;
	}
	begin_moving(m);
}

/**
 * spek_augment_destage_end() - end an I/O of destage
 * @m: machine
 * @slot: the I/O
 * @error: 0 or a negative errno
 */
void spek_augment_destage_end(struct spek_augment *m, struct spek_augment_slot *slot, int error)
{
	switch (slot->purpose) {
	case SPEK_AUGMENT_FOR_DESTAGE_READ:
		read_end(m, slot, error);
		break;
	case SPEK_AUGMENT_FOR_DESTAGE_WRITE:
		write_end(m, slot, error);
		break;
	case SPEK_AUGMENT_FOR_DESTAGE_FLUSH:
		settle(m, error);
		break;
	default:
		super_end(m, slot, error);
	}
}
