// SPDX-License-Identifier: GPL-2.0
/*
 * The generator of one worker: arrival processes say when, sources say what. gen_setup.c lays it
 * out in memory.
 *
 * An operation takes its process's time, makes its choice of stream, size, direction
 * and replica by one draw (none if there is only one), finds the address, and advances the
 * process. The process that is due next is kept; with several it is found by a scan.
 *
 * A choice is drawn as soon as the operation before it is made, which is the same order of
 * draws, and the replica's state is fetched meanwhile: 60,000 BSUs have more than a cache holds.
 *
 * A process that replays a trace draws nothing: the next record, which its supply has given it,
 * says the choice, and with law trace the time.
 *
 * A closed loop with pauses issues a burst, waits until all of it has completed, and pauses. Until
 * then no I/O is due, so that the completion that makes all of its depth ready is the last one.
 *
 * A process with a count, of any law, takes paths of its own: it makes so many operations and is
 * not due again, and it counts completions, the last of which is its end.
 */
#include "alias.h"
#include "arrival.h"
#include "gen_internal.h"
#include "gen_simple.h"
#include "hotband.h"
#include "pattern.h"
#include "../../core/rng.h"
#include "replay.h"
#include "walk.h"

/* Time of an I/O in a preview of several arrival processes: about that of a flash read. */
#define PREVIEW_SERVICE_NS	100000

/* Draw the next choice and prefetch the state of its replica. */
static inline void draw_choice(struct spek_process *process)
{
	u64 bits = spek_rng_next(&process->rng);
	const struct spek_choice *choice = process->choice +
		spek_alias_pick(process->alias, process->nr_choices, (u32)(bits >> 32));
	u32 replica = spek_rng_scale32((u32)bits, choice->replicas);

	spek_choice_prefetch(choice, replica);
	process->next_choice = choice;
	process->next_replica = replica;
}

/* Find the process that is due next; the first of several at the same time. */
static spek_noinline void find_next(struct spek_gen *gen)
{
	struct spek_process *process = gen->process;
	struct spek_process *end = process + gen->nr_processes;
	struct spek_process *next = process;

	while (++process < end)
		if (process->times.next_ns < next->times.next_ns)
			next = process;
	gen->next = next;
	gen->next_ns = next->times.next_ns;
}

/* When an I/O that is ready may be made; SPEK_NEVER if its trace has no record for it. */
static u64 held_until(const struct spek_process *process, u64 ready_ns)
{
	if (!process->replays)
		return spek_bucket_hold(&process->bucket, ready_ns);
	return process->has_record ? ready_ns + process->due_ns : SPEK_NEVER;
}

/**
 * spek_gen_begin() - draw the first choices, and find the process that is due first
 * @gen: generator, laid out; its processes have their first arrivals or, closed, first ready times
 */
void spek_gen_begin(struct spek_gen *gen)
{
	struct spek_process *process = gen->process;
	struct spek_process *end = process + gen->nr_processes;

	for (; process < end; process++) {
		if (process->draws_choice)
			draw_choice(process);
		process->is_simple = gen->nr_processes == 1 && !process->draws_choice &&
				     process->pace == SPEK_PACE_CLOSED &&
				     process->next_choice &&
				     process->next_choice->kind == SPEK_KIND_UNIFORM;
		if (process->depth && process->is_held)
			process->times.next_ns = held_until(process, process->times.next_ns);
	}
	find_next(gen);
}

static inline void advance_limited(struct spek_process *process)
{
	spek_bucket_take(&process->bucket, process->times.next_ns);
	spek_gen_advance_closed(process);
	if (process->times.next_ns != SPEK_NEVER)
		process->times.next_ns = spek_bucket_hold(&process->bucket,
							  process->times.next_ns);
}

static void set_replay_time(struct spek_process *process)
{
	if (!process->has_record)
		process->times.next_ns = SPEK_NEVER;
	else if (process->clock.pace == SPEK_PACE_TRACE)
		process->times.next_ns = process->due_ns;
	else if (process->head == process->tail)
		process->times.next_ns = SPEK_NEVER;
	else
		process->times.next_ns = process->ready[process->head & process->mask] +
					 process->due_ns;
}

/* Take the next record from the supply, whose records are checked (spek_replay_check()). */
static void take_record(struct spek_process *process)
{
	struct spek_recorded record;
	const struct spek_choice *choice;

	process->has_record = process->supply &&
			      process->supply->next(process->supply, &record);
	if (process->has_record) {
		choice = &process->choice[process->choice_of[record.asu][record.op]];
		choice->source->replay.addr = record.addr;
		choice->source->replay.bytes = record.bytes;
		choice->source->replay.kind = spek_replay_kind(&record);
		process->next_choice = choice;
		process->due_ns = record.at_ns;
		if (process->clock.pace == SPEK_PACE_TRACE)
			process->due_ns += process->start_ns;
	}
	set_replay_time(process);
}

static void advance_replay(struct spek_process *process)
{
	process->head += process->clock.pace == SPEK_PACE_TRACE_CLOSED;
	take_record(process);
}

/* When a loop with pauses issues next, from what is ready. */
static void set_pausing_time(struct spek_process *process)
{
	u64 ready_ns;

	if (process->is_draining || process->head == process->tail) {
		process->times.next_ns = SPEK_NEVER;
		return;
	}
	ready_ns = process->ready[process->head & process->mask];
	if (ready_ns < process->resume_ns)
		ready_ns = process->resume_ns;
	if (process->has_limit)
		ready_ns = spek_bucket_hold(&process->bucket, ready_ns);
	process->times.next_ns = ready_ns;
}

static void end_burst(struct spek_process *process)
{
	/* What completes from now on counts towards the next burst, as in fio. */
	process->counted = 0;
	process->is_draining = true;
}

static bool has_burst(const struct spek_process *process)
{
	return process->pause_every && process->counted >= process->pause_every;
}

static void advance_pausing(struct spek_process *process)
{
	u64 at_ns = process->times.next_ns;

	if (process->has_limit)
		spek_bucket_take(&process->bucket, at_ns);
	process->head++;
	process->counted += !process->counts_completed;
	if (has_burst(process) || (process->pause_after_ns &&
				   at_ns - process->resume_ns >= process->pause_after_ns))
		end_burst(process);
	set_pausing_time(process);
}

static spek_noinline void advance_counted(struct spek_process *process)
{
	if (process->clock.pace < SPEK_PACE_CLOSED)
		spek_times_advance(&process->times, &process->clock);
	else if (process->clock.pace == SPEK_PACE_PAUSING)
		advance_pausing(process);
	else if (process->clock.pace == SPEK_PACE_LIMITED)
		advance_limited(process);
	else
		spek_gen_advance_closed(process);
	process->pending++;
	if (!--process->left)
		process->times.next_ns = SPEK_NEVER;
}

static spek_noinline void advance_held(struct spek_process *process)
{
	if (process->replays)
		advance_replay(process);
	else if (process->pace == SPEK_PACE_LIMITED)
		advance_limited(process);
	else if (process->pace == SPEK_PACE_PAUSING)
		advance_pausing(process);
	else
		advance_counted(process);
}

/* Advance to the next arrival, for any law and number of processes. */
static spek_noinline void advance(struct spek_gen *gen, struct spek_process *process)
{
	process->made++;
	if (process->pace == SPEK_PACE_CLOSED)
		spek_gen_advance_closed(process);
	else if (process->is_held)
		advance_held(process);
	else
		spek_times_advance(&process->times, &process->clock);
	if (gen->nr_processes == 1)
		gen->next_ns = process->times.next_ns;
	else
		find_next(gen);
}

static spek_cold spek_noinline void advance_rare_gap(struct spek_gen *gen,
						     struct spek_process *process, u64 bits)
{
	spek_times_add_gap(&process->times, &process->clock,
			   spek_expo_rare(&process->times.rng, bits));
	gen->next_ns = process->times.next_ns;
}

/* advance() for a single process, a closed loop with a limit. */
static spek_noinline void advance_capped(struct spek_gen *gen, struct spek_process *process)
{
	process->made++;
	advance_limited(process);
	gen->next_ns = process->times.next_ns;
}

/* advance() for a single process with an open loop; only @gen has to be saved meanwhile. */
static spek_noinline void advance_open(struct spek_gen *gen)
{
	struct spek_process *process = gen->next;

	process->made++;
	spek_times_advance(&process->times, &process->clock);
	gen->next_ns = gen->next->times.next_ns;
}

/*
 * advance() for the cases that matter most: a single process, Poisson, closed, another open loop or
 * closed with a limit. All calls are tail calls, so the common path needs no stack frame.
 */
static inline void advance_fast(struct spek_gen *gen, struct spek_process *process)
{
	if (process->pace == SPEK_PACE_POISSON && gen->nr_processes == 1) {
		u64 bits = spek_rng_next(&process->times.rng);

		process->made++;
		if (spek_expo_is_rare(bits)) {
			advance_rare_gap(gen, process, bits);
			return;
		}
		spek_times_add_gap(&process->times, &process->clock, spek_expo_common(bits));
		gen->next_ns = process->times.next_ns;
	} else if (process->pace == SPEK_PACE_CLOSED && gen->nr_processes == 1) {
		spek_gen_advance_closed(process);
		gen->next_ns = process->times.next_ns;
	} else if (process->pace < SPEK_PACE_CLOSED && gen->nr_processes == 1) {
		advance_open(gen);
	} else if (process->pace == SPEK_PACE_LIMITED && gen->nr_processes == 1) {
		advance_capped(gen, process);
	} else {
		advance(gen, process);
	}
}

/* What follows an address. */
static inline void finish(struct spek_gen *gen, struct spek_process *process)
{
	if (process->draws_choice)
		draw_choice(process);
	advance_fast(gen, process);
}

static spek_noinline void next_with_history(struct spek_gen *gen, struct spek_process *process,
					    const struct spek_choice *choice, u32 replica,
					    struct spek_op *op)
{
	spek_pattern_next(choice, replica, &process->rng, op);
	finish(gen, process);
}

/* A function for each kind that needs no call: each saves only the registers it needs. */
static spek_cold spek_noinline void next_pass(struct spek_gen *gen, struct spek_process *process,
					      const struct spek_choice *choice, u32 replica,
					      struct spek_op *op)
{
	const struct spek_source *source = choice->source;

	spek_once_begin_pass((struct spek_once *)source->states + replica, source->once.key);
	op->addr = spek_once_next(choice, replica);
	finish(gen, process);
}

static spek_noinline void next_once(struct spek_gen *gen, struct spek_process *process,
				    const struct spek_choice *choice, u32 replica,
				    struct spek_op *op)
{
	const struct spek_once *once = (struct spek_once *)choice->source->states + replica;

	/* Here it is a tail call, which needs no register saved. */
	if (spek_unlikely(!once->left)) {
		next_pass(gen, process, choice, replica, op);
		return;
	}
	op->addr = spek_once_next(choice, replica);
	finish(gen, process);
}

static spek_noinline void next_table(struct spek_gen *gen, struct spek_process *process,
				     const struct spek_choice *choice, struct spek_op *op)
{
	u64 slot = spek_table_draw(&choice->source->table, &process->rng);

	op->addr = choice->start + slot * choice->align_bytes;
	finish(gen, process);
}

static spek_noinline void next_spread(struct spek_gen *gen, struct spek_process *process,
				      const struct spek_choice *choice, struct spek_op *op)
{
	const struct spek_table *table = &choice->source->table;
	u64 slot = spek_table_spread(table, spek_table_draw(table, &process->rng));

	op->addr = choice->start + slot * choice->align_bytes;
	finish(gen, process);
}

static spek_noinline void next_jitter(struct spek_gen *gen, struct spek_process *process,
				      const struct spek_choice *choice, u32 replica,
				      struct spek_op *op)
{
	op->addr = spek_jitter_next(choice, replica, &process->rng);
	finish(gen, process);
}

static spek_noinline void next_mixed(struct spek_gen *gen, struct spek_process *process,
				     const struct spek_choice *choice, u32 replica,
				     struct spek_op *op)
{
	op->addr = spek_mixed_next(choice, replica, &process->rng);
	finish(gen, process);
}

static spek_noinline void next_walk_read(struct spek_gen *gen, struct spek_process *process,
					 const struct spek_choice *choice, u32 replica,
					 struct spek_op *op)
{
	struct spek_walk *walk = (struct spek_walk *)choice->source->states + replica;

	op->addr = spek_walk_read(choice->source, walk, &process->rng) * choice->align_bytes;
	finish(gen, process);
}

static spek_noinline void next_walk_write(struct spek_gen *gen, struct spek_process *process,
					  const struct spek_choice *choice, u32 replica,
					  struct spek_op *op)
{
	struct spek_walk *walk = (struct spek_walk *)choice->source->states + replica;

	op->addr = spek_walk_write(choice->source, walk, &process->rng) * choice->align_bytes;
	finish(gen, process);
}

static spek_noinline void next_hotband(struct spek_gen *gen, struct spek_process *process,
				       const struct spek_choice *choice, struct spek_op *op)
{
	op->addr = spek_hotband_next(choice, &process->rng, op->write);
	finish(gen, process);
}

static spek_cold spek_noinline void next_first_of_run(struct spek_gen *gen,
						      struct spek_process *process,
						      const struct spek_choice *choice,
						      u32 replica, struct spek_op *op)
{
	spek_runs_restart(choice, replica, &process->rng);
	op->addr = spek_runs_next(choice, replica);
	finish(gen, process);
}

static spek_noinline void next_of_run(struct spek_gen *gen, struct spek_process *process,
				      const struct spek_choice *choice, u32 replica,
				      struct spek_op *op)
{
	if (spek_unlikely(!spek_runs_has_room(choice, replica))) {
		next_first_of_run(gen, process, choice, replica, op);
		return;
	}
	op->addr = spek_runs_next(choice, replica);
	finish(gen, process);
}

static spek_noinline void next_in_order(struct spek_gen *gen, struct spek_process *process,
					const struct spek_choice *choice, u32 replica,
					struct spek_op *op)
{
	if (choice->kind == SPEK_KIND_BACKWARD)
		op->addr = spek_backward_next(choice, replica);
	else
		op->addr = spek_cursor_next(choice, replica);
	finish(gen, process);
}

/* Every call is a tail call. */
static inline void next_elsewhere(struct spek_gen *gen, struct spek_process *process,
				  const struct spek_choice *choice, u32 replica,
				  struct spek_op *op)
{
	u32 kind = choice->kind;

	if (kind >= SPEK_KIND_WALK_READ) {
		if (kind == SPEK_KIND_WALK_READ)
			next_walk_read(gen, process, choice, replica, op);
		else if (kind == SPEK_KIND_WALK_WRITE)
			next_walk_write(gen, process, choice, replica, op);
		else if (kind == SPEK_KIND_RUNS)
			next_of_run(gen, process, choice, replica, op);
		else if (kind == SPEK_KIND_HOTBAND)
			next_hotband(gen, process, choice, op);
		else if (kind == SPEK_KIND_MIXED)
			next_mixed(gen, process, choice, replica, op);
		else
			next_with_history(gen, process, choice, replica, op);
	} else if (kind >= SPEK_KIND_TABLE) {
		if (kind == SPEK_KIND_SPREAD)
			next_spread(gen, process, choice, op);
		else if (kind == SPEK_KIND_TABLE)
			next_table(gen, process, choice, op);
		else
			next_jitter(gen, process, choice, replica, op);
	} else if (kind == SPEK_KIND_ONCE) {
		next_once(gen, process, choice, replica, op);
	} else {
		next_in_order(gen, process, choice, replica, op);
	}
}

/**
 * spek_gen_next() - make the next operation
 * @gen: generator; spek_gen_next_ns() is not SPEK_NEVER
 * @op: filled in; @op->at_ns is what spek_gen_next_ns() returned
 *
 * spek_gen_place() has to follow, in the order of the operations on each asu: those of streams at
 * write pointers have no address before.
 */
void spek_gen_next(struct spek_gen *gen, struct spek_op *op)
{
	struct spek_process *process = gen->next;
	const struct spek_choice *choice = process->next_choice;
	u32 replica = process->next_replica;

	spek_gen_begin_op(gen, choice, replica, op);
	if (choice->kind != SPEK_KIND_UNIFORM) {
		next_elsewhere(gen, process, choice, replica, op);
		return;
	}
	op->addr = spek_uniform_next(choice, &process->rng);
	if (spek_likely(process->is_simple)) {
		spek_gen_advance_simple(gen, process);
		return;
	}
	finish(gen, process);
}

/* A completion may end the burst, or the wait for the last of them. */
static spek_cold spek_noinline void complete_pausing(struct spek_gen *gen,
						     struct spek_process *process, u64 done_ns)
{
	if (process->tail - process->head == process->depth)
		return;
	process->ready[process->tail++ & process->mask] = done_ns + process->think_ns;
	if (process->done_ns < done_ns)
		process->done_ns = done_ns;
	process->counted += process->counts_completed;
	if (process->counts_completed && !process->is_draining && has_burst(process))
		end_burst(process);
	if (process->is_draining && process->tail - process->head == process->depth) {
		process->is_draining = false;
		process->resume_ns = process->done_ns + process->pause_ns;
	}
	set_pausing_time(process);
	find_next(gen);
}

/* A completion of a process with a count may be the last one. */
static spek_cold spek_noinline void complete_counted(struct spek_gen *gen,
						     struct spek_process *process, u64 done_ns)
{
	u32 ready = process->tail - process->head;

	if (!process->pending)
		return;
	process->pending--;
	if (process->clock.pace == SPEK_PACE_PAUSING) {
		complete_pausing(gen, process, done_ns);
	} else if (process->depth) {
		u64 ready_ns = done_ns + process->think_ns;

		process->ready[process->tail++ & process->mask] = ready_ns;
		/* Without a limit the bucket is empty and holds nothing up. */
		if (!ready)
			process->times.next_ns = spek_bucket_hold(&process->bucket, ready_ns);
	}
	if (process->done_ns < done_ns)
		process->done_ns = done_ns;
	if (!process->left) {
		process->times.next_ns = SPEK_NEVER;
		if (!process->pending)
			spek_write_once(process->ended_ns, process->done_ns);
	}
	find_next(gen);
}

static spek_cold spek_noinline void complete_slowly(struct spek_gen *gen,
						    struct spek_process *process, u64 done_ns)
{
	if (process->pace == SPEK_PACE_COUNTED)
		complete_counted(gen, process, done_ns);
	else
		complete_pausing(gen, process, done_ns);
}

static spek_noinline void complete_held(struct spek_gen *gen, struct spek_process *process,
					u64 ready_ns)
{
	spek_gen_make_due(gen, process, held_until(process, ready_ns));
}

/**
 * spek_gen_complete() - report a completion to its closed loop
 * @gen: generator
 * @arrival: spek_op.arrival of the completed I/O; open loops ignore the call
 * @done_ns: completion time
 */
void spek_gen_complete(struct spek_gen *gen, u32 arrival, u64 done_ns)
{
	struct spek_process *process = &gen->process[arrival];
	s32 ready;
	u64 ready_ns;

	if (spek_gen_complete_simple(gen, arrival, done_ns))
		return;
	/*
	 * Full: an open loop, whose depth is 0, or more completions than I/Os, which
	 * would be a bug of the caller and has no room; or a process with a count; or a loop
	 * with pauses, whose bursts are counted, and waited for, to the last I/O.
	 */
	ready = process->tail - process->head;
	if (ready >= process->room) {
		if (ready != process->room)
			complete_slowly(gen, process, done_ns);
		return;
	}
	ready_ns = done_ns + process->think_ns;
	process->ready[process->tail++ & process->mask] = ready_ns;
	complete_held(gen, process, ready_ns);
}

/**
 * spek_gen_set_count() - set a worker's part of the count of an arrival process
 * @gen: started
 * @arrival: index of an arrival process with a count
 * @count: operations, which spek_gen_begin_counts() begins to count
 */
void spek_gen_set_count(struct spek_gen *gen, u32 arrival, u64 count)
{
	gen->process[arrival].count = count;
}

/**
 * spek_gen_begin_counts() - begin to count the operations of all processes with a count
 * @gen: started
 * @now_ns: start of the measure phase, the end of processes that have no part of their count
 *
 * Operations that have been made and not completed are among those that count, all of them even if
 * there are more.
 *
 * Return: completions until all these processes have ended.
 */
u64 spek_gen_begin_counts(struct spek_gen *gen, u64 now_ns)
{
	u64 all = 0;
	u32 i;

	for (i = 0; i < gen->nr_processes; i++) {
		struct spek_process *process = &gen->process[i];

		if (process->pace != SPEK_PACE_COUNTED)
			continue;
		process->left = 0;
		if (process->count > process->pending)
			process->left = process->count - process->pending;
		if (!process->left)
			process->times.next_ns = SPEK_NEVER;
		if (!process->left && !process->pending)
			spek_write_once(process->ended_ns, now_ns);
		all += process->left + process->pending;
		find_next(gen);
	}
	return all;
}

/**
 * spek_gen_ended_ns() - ask when an arrival process with a count ended
 * @gen: generator
 * @arrival: index of an arrival process with a count
 *
 * Context: any thread.
 * Return: completion of its last operation on this worker; 0 before.
 */
u64 spek_gen_ended_ns(const struct spek_gen *gen, u32 arrival)
{
	return spek_read_once(gen->process[arrival].ended_ns);
}

/**
 * spek_gen_set_supply() - say where the records of a trace come from
 * @gen: prepared generator of a workload that replays a trace
 * @supply: gives checked records; must outlive @gen
 *
 * Takes the first record, if there is one.
 */
void spek_gen_set_supply(struct spek_gen *gen, struct spek_supply *supply)
{
	gen->trace->supply = supply;
	spek_gen_refill(gen);
}

/**
 * spek_gen_has_record() - check whether the next record of the trace is known
 * @gen: generator of a workload that replays a trace
 *
 * Return: false if the supply had none when it was asked last.
 */
bool spek_gen_has_record(const struct spek_gen *gen)
{
	return gen->trace->has_record;
}

/**
 * spek_gen_record_ns() - time of the next record of the trace
 * @gen: generator of a workload that replays a trace
 *
 * Return: its intended arrival, whatever other arrival processes do; SPEK_NEVER without a record,
 * or while a closed loop waits for a completion.
 */
u64 spek_gen_record_ns(const struct spek_gen *gen)
{
	return gen->trace->times.next_ns;
}

/**
 * spek_gen_refill() - ask the supply again
 * @gen: generator of a workload that replays a trace, without a record
 *
 * Return: true if there is a record now.
 */
bool spek_gen_refill(struct spek_gen *gen)
{
	take_record(gen->trace);
	find_next(gen);
	return gen->trace->has_record;
}

/**
 * spek_gen_mark() - take a generator's place in its time sequences
 * @gen: generator
 * @mark: one for each arrival process of the workload, filled in
 *
 * Cheap; backlog.h computes from it.
 */
void spek_gen_mark(const struct spek_gen *gen, struct spek_gen_mark *mark)
{
	u32 i;

	for (i = 0; i < gen->nr_processes; i++) {
		mark[i].times = gen->process[i].times;
		mark[i].made = gen->process[i].made;
		mark[i].left = SPEK_NEVER;
		if (gen->process[i].pace == SPEK_PACE_COUNTED)
			mark[i].left = gen->process[i].left;
	}
}

/**
 * spek_gen_clock() - get the constants of an arrival process
 * @gen: generator
 * @arrival: index of the arrival process
 *
 * Return: constants, valid as long as @gen is.
 */
const struct spek_clock *spek_gen_clock(const struct spek_gen *gen, u32 arrival)
{
	return &gen->process[arrival].clock;
}

/**
 * spek_gen_preview() - make operations without a device
 * @gen: generator
 * @ops: @count operations, filled in
 * @count: operations wanted
 *
 * In a closed loop each operation completes at its arrival. Beside other arrival processes, a loop
 * without a think time would then be due for ever and leave them no turn, so its operations take
 * PREVIEW_SERVICE_NS. The kernel's op-get and the tests use this.
 *
 * Return: operations made; fewer than @count only at the end of all counts, or without work.
 */
u32 spek_gen_preview(struct spek_gen *gen, struct spek_op *ops, u32 count)
{
	u64 service_ns;
	u32 i;

	for (i = 0; i < count && spek_gen_next_ns(gen) != SPEK_NEVER; i++) {
		spek_gen_next(gen, &ops[i]);
		spek_gen_place(gen, &ops[i]);
		service_ns = 0;
		if (gen->nr_processes > 1 && !gen->process[ops[i].arrival].think_ns)
			service_ns = PREVIEW_SERVICE_NS;
		spek_gen_complete(gen, ops[i].arrival, ops[i].at_ns + service_ns);
	}
	return i;
}
