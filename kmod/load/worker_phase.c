// SPDX-License-Identifier: GPL-2.0
/*
 * Phases and interval rows of a worker: when each ends, and the sets that pass to the collector.
 *
 * A worker counts into its active set. At the end of a row or phase its thread seals the set: it
 * stamps it, publishes it as phases.sealed and continues with the other one. The collector takes
 * the sealed set, empties it and gives it back. With two sets, one can only be sealed once the
 * other is back. The thread waits for that at the end of a phase. At the end of a row it does not
 * wait: the set is not sealed and continues into the next row.
 */
#include <linux/ioprio.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include "config.h"
#include "outcome.h"
#include "replay.h"
#include "slot.h"
#include "stats.h"
#include "worker_issue.h"
#include "worker_phase.h"
#include "worker_state.h"

#define TOTALS_NS	NSEC_PER_SEC		/* between seals when no rows are kept */
#define PIECE_NS	(10 * NSEC_PER_SEC)	/* between seals within a long row */

static u64 interval_ns(const struct spek_worker *w)
{
	return w->config->interval_ns ?: TOTALS_NS;
}

/* A set has 32-bit counters, so a long row is sealed in pieces. @now_ns: start of a piece */
static void set_boundary(struct spek_worker *w, u64 now_ns)
{
	/* It can change at any time. Bios with no priority set would look it up one by one. */
	w->ioprio = get_current_ioprio();
	w->phases.row_end_ns = min(w->phases.row_start_ns + interval_ns(w), w->phases.phase_end_ns);
	w->phases.boundary_ns = w->phases.row_end_ns;
	/* Merge a short last piece into the one before: the collector needs time for each. */
	if (w->phases.row_end_ns > now_ns + 2 * PIECE_NS)
		w->phases.boundary_ns = now_ns + PIECE_NS;
}

/*
 * Record the ages of all I/Os that are in flight at the end of the measure phase, and that the
 * drain will complete: also an operation for which the driver has no room yet. Once per run.
 */
static void note_ages(struct spek_worker *w, struct spek_set *set, u64 end_ns)
{
	u32 i;

	set->age = w->phases.age;
	set->nr_ages = 0;
	for (i = 0; i < w->nr_slots; i++) {
		const struct spek_slot *slot = &w->slots[i];
		struct spek_age *age = &w->phases.age[set->nr_ages];

		if (!slot->busy && slot != w->stalled)
			continue;
		age->response_ns = end_ns - min(end_ns, slot->op.at_ns);
		age->service_ns = slot->busy ? end_ns - min(end_ns, slot->issue_ns) : 0;
		age->cell = slot->op.stream * 2 + slot->op.write;
		set->nr_ages++;
	}
}

static void stamp_set(struct spek_worker *w, struct spek_set *set, u64 end_ns)
{
	u64 cpu_ns = READ_ONCE(current->se.sum_exec_runtime);
	u64 switches = current->nvcsw + current->nivcsw;

	set->row = w->phases.row;
	set->phase = w->phases.phase;
	set->start_ns = w->phases.row_start_ns;
	set->end_ns = end_ns;
	set->outstanding = spek_worker_held(w);
	/* The collector counts the backlog: that may take a million draws. */
	spek_gen_mark(w->gen, set->mark);
	set->trace_backlog = w->replay ? spek_replay_backlog(w->replay, w->gen, end_ns) : 0;
	set->cpu_ns = cpu_ns - w->phases.seen_cpu_ns;
	set->switches = switches - w->phases.seen_switches;
	w->phases.seen_cpu_ns = cpu_ns;
	w->phases.seen_switches = switches;
}

/* Seal the active set; the collector must have returned the other one. */
static void pass_set(struct spek_worker *w, u64 next_row, u64 end_ns)
{
	struct spek_set *set = w->phases.active;

	stamp_set(w, set, end_ns);
	set->next_row = next_row;
	w->phases.active = w->phases.set[set == w->phases.set[0]];
	/* The collector sees all counters: pairs with spek_worker_take_sealed(). */
	smp_store_release(&w->phases.sealed, set);
	w->ops->collect(w->owner);
}

static bool has_given_back(struct spek_worker *w)
{
	/* The set was emptied: pairs with spek_worker_give_back(). */
	return !smp_load_acquire(&w->phases.sealed);
}

static void wait_for_collector(struct spek_worker *w)
{
	while (!has_given_back(w))
		schedule_timeout_uninterruptible(1);
}

static void set_phase(struct spek_worker *w, u32 phase, u64 now_ns)
{
	const struct spek_run_config *config = w->config;
	struct spek_phases *phases = &w->phases;
	u64 ramp = phases->ramp_count, count = phases->measure_count;

	/* A worker that never has I/O doesn't know when the others have made their counts. */
	if (phase == SPEK_PHASE_RAMP && config->ramp_count && !spek_worker_has_work(w))
		phase = SPEK_PHASE_DRAIN;
	/* A worker whose share of the transactions is 0 has nothing to measure. */
	if (phase == SPEK_PHASE_RAMP && !config->ramp_ns && !ramp)
		phase = SPEK_PHASE_MEASURE;
	if (phase == SPEK_PHASE_MEASURE && !config->time_ns && !count && !w->replay)
		phase = SPEK_PHASE_DRAIN;

	phases->phase = phase;
	phases->row = spek_row_first(phase);
	phases->row_start_ns = now_ns;
	phases->phase_end_ns = SPEK_NEVER;
	phases->phase_left = SPEK_NEVER;
	switch (phase) {
	case SPEK_PHASE_RAMP:
		if (ramp)
			phases->phase_left = ramp;
		else
			phases->phase_end_ns = now_ns + config->ramp_ns;
		phases->issue_left = SPEK_NEVER;
		if (ramp && config->count && check_add_overflow(ramp, count, &phases->issue_left))
			phases->issue_left = SPEK_NEVER;
		break;
	case SPEK_PHASE_MEASURE:
		if (config->time_ns) {
			phases->phase_end_ns = now_ns + config->time_ns;
			phases->issue_left = SPEK_NEVER;
		} else if (w->replay) {
			/* It ends with the trace. */
			phases->issue_left = SPEK_NEVER;
		} else {
			phases->phase_left = count;
			/* I/Os that were issued in the ramp-up complete in this phase and count. */
			phases->issue_left = count - min_t(u64, count, w->inflight.outstanding);
		}
		break;
	default:
		phases->issue_left = 0;
	}
	set_boundary(w, now_ns);
}

/**
 * spek_worker_enter_phase() - seal the set, and begin a phase
 * @w: worker
 * @phase: enum spek_phase
 * @now_ns: end of the phase before
 *
 * Context: the worker's thread, may sleep.
 */
void spek_worker_enter_phase(struct spek_worker *w, u32 phase, u64 now_ns)
{
	/* The run has ended before its start time: no phase began, so there is none to seal. */
	if (now_ns < w->start_ns) {
		set_phase(w, phase, now_ns);
		return;
	}
	/* A completion may be added late, or the clock of its CPU may lag. */
	now_ns = max(now_ns, w->phases.row_start_ns);
	/*
	 * Issue the arrivals before the end even if the worker is late. Those that find no free
	 * slot are the backlog.
	 */
	if (phase == SPEK_PHASE_DRAIN && !spek_outcome_has_ended(w->inflight.outcome))
		while (spek_worker_issue(w, ktime_get_ns()))
			;
	wait_for_collector(w);
	if (w->phases.phase == SPEK_PHASE_MEASURE)
		note_ages(w, w->phases.active, now_ns);
	pass_set(w, spek_row_first(phase), now_ns);
	set_phase(w, phase, now_ns);
}

/**
 * spek_worker_pass_boundary() - seal what ends, at the end of a piece, of a row or of a phase
 * @w: worker
 * @now_ns: time of an event, which has reached its boundary_ns
 *
 * Context: the worker's thread, may sleep.
 */
void spek_worker_pass_boundary(struct spek_worker *w, u64 now_ns)
{
	struct spek_phases *phases = &w->phases;

	while (now_ns >= phases->boundary_ns) {
		u64 next;

		if (phases->boundary_ns == phases->phase_end_ns) {
			spek_worker_enter_phase(w, phases->phase + 1, phases->phase_end_ns);
			continue;
		}
		if (phases->boundary_ns < phases->row_end_ns) {
			if (has_given_back(w))
				pass_set(w, phases->row, phases->boundary_ns);
			set_boundary(w, now_ns);
			continue;
		}
		/*
		 * Rows follow a schedule, so that all workers agree on them. A worker that
		 * was blocked counts what it missed in the row in which it continues. If the
		 * collector is late, the set is not sealed and continues as well.
		 */
		next = phases->row + div64_u64(now_ns - phases->row_start_ns, interval_ns(w));
		if (phases->phase_end_ns <= now_ns)
			next = phases->row +
			       div64_u64(phases->phase_end_ns - 1 - phases->row_start_ns,
					 interval_ns(w));
		if (has_given_back(w))
			pass_set(w, next, phases->row_end_ns);
		phases->row_start_ns += (next - phases->row) * interval_ns(w);
		phases->row = next;
		set_boundary(w, phases->row_start_ns);
	}
}

/**
 * spek_worker_begin_phases() - begin the first phase and its first row
 * @w: worker, whose run has started
 *
 * Context: the worker's thread.
 */
void spek_worker_begin_phases(struct spek_worker *w)
{
	w->phases.seen_cpu_ns = READ_ONCE(current->se.sum_exec_runtime);
	w->phases.seen_switches = current->nvcsw + current->nivcsw;
	w->phases.active = w->phases.set[0];
	set_phase(w, SPEK_PHASE_RAMP, w->start_ns);
}

/**
 * spek_worker_end_phases() - seal the last set
 * @w: worker that has drained
 *
 * Context: the worker's thread, may sleep.
 */
void spek_worker_end_phases(struct spek_worker *w)
{
	wait_for_collector(w);
	/* The clock of this CPU may lag behind the one that ended the phase before. */
	pass_set(w, SPEK_NEVER, max(ktime_get_ns(), w->phases.row_start_ns));
}

/**
 * spek_worker_take_sealed() - take the sealed set and complete it with the backlog
 * @w: worker
 *
 * Context: process; the caller is the only collector.
 * Return: the set, the caller's until it is given back, or NULL.
 */
struct spek_set *spek_worker_take_sealed(struct spek_worker *w)
{
	/* Counters of the worker: pairs with pass_set(). */
	struct spek_set *set = smp_load_acquire(&w->phases.sealed);

	if (!set)
		return NULL;
	/* An arrival due exactly at the end belongs to the next interval. */
	set->backlog = set->phase == SPEK_PHASE_DRAIN ? 0 :
			spek_backlog_count(&w->phases.backlog, set->mark, set->end_ns - 1) +
			set->trace_backlog;
	return set;
}

/**
 * spek_worker_give_back() - return the set of spek_worker_take_sealed(), emptied, to its worker
 * @w: worker
 *
 * Context: process; the caller holds the run's lock.
 */
void spek_worker_give_back(struct spek_worker *w)
{
	/* The set was emptied: pairs with has_given_back(). */
	smp_store_release(&w->phases.sealed, NULL);
}
