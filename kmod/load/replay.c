// SPDX-License-Identifier: GPL-2.0
/*
 * Replay: records of a trace on their way from userspace to the workers.
 *
 * The feeder, a netlink socket, sends records in messages (trace-feed). A message is a copy in
 * kernel memory, so userspace can't change a record after its check, and positions are never
 * userspace's to set. All records of a message are checked (core/replay.c) before the first one is
 * accepted, and no accepted record is overwritten: a full ring accepts fewer records.
 *
 * Each worker has a ring. The feeder, under replay->lock, and the worker share it without a lock:
 * the feeder publishes records with @written, the worker frees them with @taken. Which worker
 * replays a record is the feeder's choice; order and due times hold within a ring.
 *
 * Schedule: a record is due at its time after the start of the run, however late those before it
 * were. If the ring is empty when a record is due, that is an underrun. It ends when the record
 * comes: only then is known when it was due. Until then @dry_since_ns shows that the ring is empty.
 * What other arrival processes do in the meantime makes no difference.
 *
 * End: a worker has finished its share of the trace once all its records have completed. It then
 * continues with other arrival processes, or sleeps; the last worker to finish ends the run, which
 * wakes all others. A worker that stops early because its time is up never counts as finished: the
 * others stop for the same reason.
 *
 * A worker sleeps on an empty ring. Lost wakeups are excluded by a full barrier on both sides:
 *   worker: @dry_since_ns = now;  read @written and has_ended;       sleep if there is nothing
 *   feeder: add records or end;   read @dry_since_ns;                wake the worker if it is set
 *
 * Lifetime: the run owns its replay until its last reference is dropped. Workers end before. The
 * feeder finds it through a reference to the run, and workers to wake through the outcome.
 */
#include <linux/blkdev.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include "config.h"
#include "memory.h"
#include "outcome.h"
#include "replay.h"
#include "submit.h"
#include "target.h"

/* A ring that is too large is refused: no OOM kill and no warning for it. */

static_assert(SPEK_OP_FUA == SPEK_TRACE_FUA);
static_assert(SPEK_OP_PREFLUSH == SPEK_TRACE_PREFLUSH);
static_assert(SPEK_NR_TRACE_OPS == SPEK_TRACE_OP_DISCARD + 1);
static_assert(sizeof(struct spek_recorded) == sizeof(struct spek_trace_record));

/**
 * spek_replay_records() - round up the capacity of a ring
 * @records: records wanted
 *
 * Return: a power of two.
 */
u32 spek_replay_records(u32 records)
{
	return roundup_pow_of_two(records);
}

/* ---- the worker's side ---- */

/* Take the next record: spek_supply.next */
static bool take_record(struct spek_supply *supply, struct spek_recorded *record)
{
	struct spek_replay_ring *ring = container_of(supply, struct spek_replay_ring, supply);

	/* The one before was issued. */
	WRITE_ONCE(ring->issued, ring->taken);
	if (ring->taken == ring->seen_written) {
		/* The contents of the records: pairs with publish_records(). */
		ring->seen_written = smp_load_acquire(&ring->written);
		if (ring->taken == ring->seen_written) {
			/* Here: a batch of other I/Os may follow before the worker asks again. */
			if (!ring->dry_since_ns)
				WRITE_ONCE(ring->dry_since_ns, ktime_get_ns());
			return false;
		}
	}
	*record = ring->record[ring->taken & ring->mask];
	/* The record was copied: pairs with room_in(). */
	smp_store_release(&ring->taken, ring->taken + 1);
	return true;
}

/**
 * spek_replay_attach() - give a worker's generator its records
 * @ring: of the worker
 * @gen: prepared
 * @start_ns: time 0 of the run
 *
 * Context: before the worker starts.
 */
void spek_replay_attach(struct spek_replay_ring *ring, struct spek_gen *gen, u64 start_ns)
{
	ring->start_ns = start_ns;
	spek_gen_set_supply(gen, &ring->supply);
}

/* A record has come that is due at @due_ns; the ring was empty. */
static void end_dry(struct spek_replay_ring *ring, u64 due_ns)
{
	/*
	 * Not now: the worker may have been busy with other I/Os since. Pairs with
	 * publish_records().
	 */
	u64 dry_ns = max(ring->dry_since_ns, due_ns), filled_ns = READ_ONCE(ring->filled_ns);

	if (dry_ns < filled_ns) {
		if (!ring->underruns)
			WRITE_ONCE(ring->underrun_first_ns, dry_ns);
		WRITE_ONCE(ring->underrun_last_ns, filled_ns);
		WRITE_ONCE(ring->underrun_ns, ring->underrun_ns + filled_ns - dry_ns);
		WRITE_ONCE(ring->underruns, ring->underruns + 1);
	}
	WRITE_ONCE(ring->dry_since_ns, 0);
}

/**
 * spek_replay_refill() - ask for a record again
 * @ring: of the worker
 * @gen: its generator, without a record
 *
 * Ends the run if this was the last share of the trace that was not done.
 *
 * Context: the worker's thread.
 */
void spek_replay_refill(struct spek_replay_ring *ring, struct spek_gen *gen)
{
	if (!ring->is_exhausted) {
		/* Read first: nothing is written after it. Pairs with spek_replay_end(). */
		bool has_ended = smp_load_acquire(&ring->replay->has_ended);

		if (spek_gen_refill(gen)) {
			end_dry(ring, spek_gen_record_ns(gen));
			return;
		}
		if (!has_ended)
			return;
		ring->is_exhausted = true;
		WRITE_ONCE(ring->dry_since_ns, 0);
	}
	if (ring->is_done || ring->completed != ring->taken)
		return;
	ring->is_done = true;
	if (atomic_dec_and_test(&ring->replay->shares_left))
		spek_outcome_end(ring->replay->outcome, SPEK_REASON_COMPLETED);
}

/**
 * spek_replay_complete() - note that an operation has completed or failed
 * @ring: of the worker
 * @op: any operation of the worker
 *
 * Context: the worker's thread.
 */
void spek_replay_complete(struct spek_replay_ring *ring, const struct spek_op *op)
{
	ring->completed += op->arrival == ring->arrival;
}

/**
 * spek_replay_drop() - note that an operation is given up, of which nothing was sent
 * @ring: of the worker
 * @op: any operation of the worker
 *
 * Context: the worker's thread, after it has taken its last record.
 */
void spek_replay_drop(struct spek_replay_ring *ring, const struct spek_op *op)
{
	if (op->arrival == ring->arrival)
		WRITE_ONCE(ring->issued, ring->issued - 1);
}

/**
 * spek_replay_has_news() - check whether spek_replay_refill() would change anything
 * @ring: of the worker
 * @gen: its generator
 *
 * Context: the worker's thread, after a full barrier that follows spek_replay_refill().
 * Return: true if it would.
 */
bool spek_replay_has_news(const struct spek_replay_ring *ring, const struct spek_gen *gen)
{
	if (spek_gen_has_record(gen) || ring->is_exhausted)
		return false;
	return READ_ONCE(ring->written) != ring->taken || READ_ONCE(ring->replay->has_ended);
}

/**
 * spek_replay_backlog() - count the records that are due and not issued
 * @ring: of the worker
 * @gen: its generator
 * @end_ns: records due before this time count
 *
 * Records that were not fed are not known, so they don't count. Context: the worker's thread.
 * Return: records; 0 in a closed loop.
 */
u64 spek_replay_backlog(const struct spek_replay_ring *ring, const struct spek_gen *gen,
			u64 end_ns)
{
	u64 low = ring->taken, high, first = low;
	bool held = spek_gen_has_record(gen);

	if (!ring->is_timed || (held && spek_gen_record_ns(gen) >= end_ns))
		return 0;
	/* The contents of the records: pairs with publish_records(). */
	high = smp_load_acquire(&ring->written);
	while (low < high) {
		u64 middle = low + (high - low) / 2;

		if (ring->start_ns + ring->record[middle & ring->mask].at_ns < end_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low - first + held;
}

/* ---- the feeder's side ---- */

/**
 * spek_replay_claim() - check that a socket is the feeder; the first one becomes it
 * @replay: of the run
 * @portid: socket
 * @refusal: text is filled in on failure
 *
 * Context: process.
 * Return: 1 if it has just become the feeder, 0 if it is, or -EBUSY.
 */
int spek_replay_claim(struct spek_replay *replay, u32 portid, struct spek_refusal *refusal)
{
	int found = 0;

	mutex_lock(&replay->lock);
	if (replay->is_retired) {
		found = spek_refuse_part(refusal, -EBUSY, "The run is being deleted.");
	} else if (!replay->has_feeder) {
		replay->portid = portid;
		/* Pairs with spek_replay_is_fed_by(). */
		smp_store_release(&replay->has_feeder, true);
		found = 1;
	} else if (replay->portid != portid) {
		found = spek_refuse_part(refusal, -EBUSY, "Another socket feeds the trace of this run.");
	}
	mutex_unlock(&replay->lock);
	return found;
}

/**
 * spek_replay_retire() - allow no feeder any more
 * @replay: of a run that is being removed
 * @portid: set to the socket of the feeder, if there is one
 *
 * Context: process.
 * Return: true if there is one.
 */
bool spek_replay_retire(struct spek_replay *replay, u32 *portid)
{
	bool has_feeder;

	mutex_lock(&replay->lock);
	replay->is_retired = true;
	has_feeder = replay->has_feeder;
	*portid = replay->portid;
	mutex_unlock(&replay->lock);
	return has_feeder;
}

/**
 * spek_replay_is_fed_by() - check whether a socket is the feeder
 * @replay: of the run
 * @portid: socket
 *
 * Context: any.
 * Return: true if it is.
 */
bool spek_replay_is_fed_by(const struct spek_replay *replay, u32 portid)
{
	/* Pairs with spek_replay_claim(). */
	return smp_load_acquire(&replay->has_feeder) && replay->portid == portid;
}

/* Return: records for which a ring has room */
static u32 room_in(const struct spek_replay_ring *ring)
{
	/* The worker has copied what it took: pairs with take_record(). */
	return ring->mask + 1 - (ring->written - smp_load_acquire(&ring->taken));
}

/* Record @i of a message, whose data are only 4-byte aligned. */
static struct spek_recorded record_at(const void *records, u32 i)
{
	struct spek_trace_record from;

	memcpy(&from, records + i * sizeof(from), sizeof(from));
	return (struct spek_recorded){
		.at_ns = from.at_ns,
		.addr = from.addr,
		.bytes = from.bytes,
		.asu = from.asu,
		.op = from.op,
		.flags = from.flags,
	};
}

static int check_records(const struct spek_replay *replay, const struct spek_replay_ring *ring,
			 const void *records, u32 nr, struct spek_refusal *refusal)
{
	u64 before_ns = ring->last_at_ns;
	u32 i;
	int err;

	for (i = 0; i < nr; i++) {
		struct spek_recorded record = record_at(records, i);

		err = spek_replay_check(&replay->rules, &record, before_ns, refusal);
		if (err)
			return err;
		if (record.flags && !replay->allows_flags[record.asu])
			return spek_refuse_part(refusal, -EOPNOTSUPP,
						"A record is a write with FUA or a flush, which only back end bio has.");
		/* Think times have no order. */
		if (ring->is_timed)
			before_ns = record.at_ns;
	}
	return 0;
}

static void wake_worker(const struct spek_replay *replay, u32 worker)
{
	/* Between adding records, or the end, and reading: see the top of this file. */
	smp_mb();
	if (READ_ONCE(replay->ring[worker]->dry_since_ns))
		spek_outcome_wake(replay->outcome, worker);
}

static void publish_records(struct spek_replay_ring *ring, const void *records, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++) {
		struct spek_recorded record = record_at(records, i);

		ring->record[(ring->written + i) & ring->mask] = record;
		if (ring->is_timed)
			ring->last_at_ns = record.at_ns;
	}
	if (room_in(ring) == ring->mask + 1)
		WRITE_ONCE(ring->filled_ns, ktime_get_ns());
	/* Publish whole records, and @filled_ns: pairs with take_record(). */
	smp_store_release(&ring->written, ring->written + nr);
}

/**
 * spek_replay_feed() - add records to the ring of a worker
 * @replay: of the run
 * @worker: number of the worker
 * @records: @nr of struct spek_trace_record, 4-byte aligned; any content
 * @nr: number of records
 * @accepted: set to the number of records that were added, the first ones
 * @room: set to the number of records for which there is room now
 * @refusal: text is filled in on failure
 *
 * Context: process; the caller has claimed @replay.
 * Return: 0, or a negative errno with nothing added.
 */
int spek_replay_feed(struct spek_replay *replay, u32 worker, const void *records, u32 nr,
		     u32 *accepted, u32 *room, struct spek_refusal *refusal)
{
	struct spek_replay_ring *ring = replay->ring[worker];
	int err;

	mutex_lock(&replay->lock);
	if (replay->has_ended)
		err = spek_refuse_part(refusal, -EBUSY, "The trace has ended: it takes no more records.");
	else if (spek_outcome_has_ended(replay->outcome))
		err = spek_refuse_part(refusal, -EBUSY, "The run has ended: it takes no more records.");
	else
		err = check_records(replay, ring, records, nr, refusal);
	if (!err) {
		*accepted = min(nr, room_in(ring));
		publish_records(ring, records, *accepted);
		*room = room_in(ring);
		wake_worker(replay, worker);
	}
	mutex_unlock(&replay->lock);
	return err;
}

/**
 * spek_replay_end() - all records were fed
 * @replay: of the run
 * @count: number of all records, over all workers
 * @refusal: text is filled in on failure
 *
 * Context: process; the caller has claimed @replay.
 * Return: 0 or a negative errno.
 */
int spek_replay_end(struct spek_replay *replay, u64 count, struct spek_refusal *refusal)
{
	u64 fed = 0;
	int err = 0;
	u32 i;

	mutex_lock(&replay->lock);
	for (i = 0; i < replay->nr; i++)
		fed += replay->ring[i]->written;
	if (replay->has_ended) {
		err = spek_refuse_part(refusal, -EBUSY, "The trace has ended already.");
	} else if (fed != count) {
		err = spek_refuse_part(refusal, -EINVAL,
				       "The number of records differs from the number that was accepted.");
	} else {
		/* Nothing is written after it: pairs with spek_replay_refill(). */
		smp_store_release(&replay->has_ended, true);
		for (i = 0; i < replay->nr; i++)
			wake_worker(replay, i);
	}
	mutex_unlock(&replay->lock);
	return err;
}

/**
 * spek_replay_may_start() - check whether there is enough to start with
 * @replay: of the run
 *
 * Half a ring of one worker is enough, since others may have few records or none.
 * Context: process.
 * Return: true if there is.
 */
bool spek_replay_may_start(struct spek_replay *replay)
{
	bool may;
	u32 i;

	mutex_lock(&replay->lock);
	may = replay->has_ended;
	for (i = 0; i < replay->nr; i++)
		may |= replay->ring[i]->written > replay->ring[i]->mask / 2;
	mutex_unlock(&replay->lock);
	return may;
}

/**
 * spek_replay_view() - read what netlink reports of a replay
 * @replay: of the run
 * @now_ns: current time, or the end of the run
 * @view: filled in
 *
 * Context: any.
 */
void spek_replay_view(const struct spek_replay *replay, u64 now_ns,
		      struct spek_replay_view *view)
{
	u32 i;

	*view = (struct spek_replay_view){ .has_ended = READ_ONCE(replay->has_ended) };
	for (i = 0; i < replay->nr; i++) {
		const struct spek_replay_ring *ring = replay->ring[i];
		u64 first_ns = READ_ONCE(ring->underrun_first_ns);
		u64 dry_since_ns = READ_ONCE(ring->dry_since_ns);

		view->fed += READ_ONCE(ring->written);
		view->issued += READ_ONCE(ring->issued);
		view->underruns += READ_ONCE(ring->underruns);
		view->underrun_ns += READ_ONCE(ring->underrun_ns);
		view->underrun_last_ns = max(view->underrun_last_ns,
					     READ_ONCE(ring->underrun_last_ns));
		if (first_ns && (!view->underrun_first_ns || first_ns < view->underrun_first_ns))
			view->underrun_first_ns = first_ns;
		/* A ring that has become empty after the end of the trace lacks nothing. */
		if (dry_since_ns && dry_since_ns < now_ns && !view->has_ended)
			view->dry_ns = max(view->dry_ns, now_ns - dry_since_ns);
	}
}

/* ---- memory ---- */

static struct spek_replay_ring *create_ring(struct spek_replay *replay,
					    const struct spek_run_config *config, u32 worker)
{
	const struct spek_workload *wl = &config->workload;
	int node = cpu_to_node(config->worker[worker].cpu);
	struct spek_replay_ring *ring = kzalloc_node(sizeof(*ring), GFP_KERNEL, node);

	if (!ring)
		return NULL;
	ring->supply.next = take_record;
	ring->replay = replay;
	ring->mask = config->trace_records - 1;
	ring->arrival = wl->stream[spek_workload_trace(wl)].arrival;
	ring->is_timed = wl->arrival[ring->arrival].law == SPEK_LAW_TRACE;
	ring->record = spek_zalloc_node(array_size(config->trace_records, sizeof(*ring->record)),
					node);
	if (!ring->record) {
		kfree(ring);
		return NULL;
	}
	return ring;
}

/**
 * spek_replay_create() - make the rings of a run
 * @config: of the run, which replays a trace
 * @targets: open
 * @outcome: of the run
 *
 * Context: process, may sleep.
 * Return: the replay, or NULL without memory.
 */
struct spek_replay *spek_replay_create(const struct spek_run_config *config,
				       const struct spek_target *targets,
				       struct spek_outcome *outcome)
{
	const struct spek_workload *wl = &config->workload;
	struct spek_replay *replay;
	u32 i;

	replay = kzalloc(struct_size(replay, ring, config->nr_workers), GFP_KERNEL);
	if (!replay)
		return NULL;
	mutex_init(&replay->lock);
	replay->outcome = outcome;
	replay->nr = config->nr_workers;
	atomic_set(&replay->shares_left, replay->nr);
	spek_replay_rules_init(&replay->rules, wl);
	for (i = 0; i < wl->nr_asus; i++)
		replay->allows_flags[i] = spek_backend_is_bio(targets, &wl->asu[i]);
	for (i = 0; i < replay->nr; i++) {
		replay->ring[i] = create_ring(replay, config, i);
		if (!replay->ring[i]) {
			spek_replay_destroy(replay);
			return NULL;
		}
	}
	return replay;
}

/**
 * spek_replay_destroy() - free the rings of a run
 * @replay: nobody uses it any more; or NULL
 *
 * Context: process.
 */
void spek_replay_destroy(struct spek_replay *replay)
{
	u32 i;

	if (!replay)
		return;
	for (i = 0; i < replay->nr; i++) {
		if (!replay->ring[i])
			continue;
		kvfree(replay->ring[i]->record);
		kfree(replay->ring[i]);
	}
	kfree(replay);
}
