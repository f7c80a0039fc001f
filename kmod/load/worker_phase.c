// SPDX-License-Identifier: GPL-2.0
/*
 * Phases and interval rows of a worker: when each ends, and the sets that pass to the collector.
 *
 * A worker counts into its active set. At the end of a row or phase its thread seals the set: it
 * stamps it with the span of time that it counts, publishes it and continues with the next one of
 * a ring. The collector takes sealed sets in order, empties them and gives them back. The thread
 * never waits for it. If the collector is late and too few sets are free, the set is not sealed at
 * the end of a row: its span continues. Each phase to come keeps a set in reserve, so that a phase
 * always ends at its time (spek_course_may_seal()).
 *
 * Phases end for all workers at one time. An end by time is known from the start. An end by count
 * is published by the worker that is the last to complete its share; until then the others continue
 * in the phase, and in the ramp-up with their load. A measure phase with both ends at whichever is
 * published first: the first worker to reach the time publishes that. Where all arrival processes
 * have counts, the phase ends by the sum of these: the generator makes no more. If the run ends
 * early, the time is that of spek_outcome_end(). The end by count and that of the run wake the
 * workers.
 */
#include <linux/ioprio.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include "config.h"
#include "outcome.h"
#include "replay.h"
#include "slot.h"
#include "stats.h"
#include "worker_issue.h"
#include "worker_line.h"
#include "worker_phase.h"
#include "worker_state.h"

#define TOTALS_NS	NSEC_PER_SEC		/* between seals when no rows are kept */
/* A ramp-up by count ends that much after its count, so that all workers know before it ends. */
#define RAMP_LEAD_NS	(100 * NSEC_PER_USEC)
#define DRAWS_PER_STEP	(1u << 14)		/* of the backlog, between two resched points */

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

		if (!slot->busy && !slot->stalled)
			continue;
		age->response_ns = end_ns - min(end_ns, slot->op.at_ns);
		age->service_ns = slot->busy ? end_ns - min(end_ns, slot->issue_ns) : 0;
		age->cell = slot->op.stream * 2 + slot->op.write;
		set->nr_ages++;
	}
}

/* ---- sets ---- */

static bool may_seal(const struct spek_phases *phases)
{
	/* The sets were emptied: pairs with spek_worker_give_back(). */
	u32 sealed = phases->sealed - smp_load_acquire(&phases->taken);

	return spek_course_may_seal(&phases->course, phases->nr_sets - sealed);
}

/* Seal the active set, whose span is filled in. The next set is free, unless this is the last. */
static void seal_set(struct spek_worker *w)
{
	struct spek_phases *phases = &w->phases;
	struct spek_set *set = phases->active;
	u64 cpu_ns = READ_ONCE(current->se.sum_exec_runtime);
	u64 switches = current->nvcsw + current->nivcsw;

	/* Also what waits with a slot: it has left the backlog, and the drain completes it. */
	set->outstanding = w->inflight.outstanding;
	/* The collector counts the backlog: that may take a million draws. */
	spek_gen_mark(w->gen, set->mark);
	set->made_backlog = spek_worker_waiting(w, set->span.end_ns) + phases->dropped;
	if (w->replay)
		set->made_backlog += spek_replay_backlog(w->replay, w->gen, set->span.end_ns);
	set->cpu_ns = cpu_ns - phases->seen_cpu_ns;
	set->switches = switches - phases->seen_switches;
	phases->seen_cpu_ns = cpu_ns;
	phases->seen_switches = switches;
	phases->active = phases->set[(phases->sealed + 1) & (phases->nr_sets - 1)];
	/* The collector sees all counters: pairs with spek_worker_next_sealed(). */
	smp_store_release(&phases->sealed, phases->sealed + 1);
	w->ops->collect(w->owner);
}

/* ---- ends of phases ---- */

/**
 * spek_phase_ends_init() - prepare for phases that end by count
 * @ends: for the ramp-up and the measure phase
 * @nr_workers: workers of the run
 */
void spek_phase_ends_init(struct spek_phase_end *ends, u32 nr_workers)
{
	u32 phase;

	for (phase = SPEK_PHASE_RAMP; phase <= SPEK_PHASE_MEASURE; phase++) {
		atomic_set(&ends[phase].left, nr_workers);
		atomic64_set(&ends[phase].latest_ns, 0);
		ends[phase].end_ns = 0;
	}
}

static void note_latest(struct spek_phase_end *end, u64 now_ns)
{
	s64 latest_ns = atomic64_read(&end->latest_ns);

	while (latest_ns < (s64)now_ns &&
	       !atomic64_try_cmpxchg(&end->latest_ns, &latest_ns, now_ns))
		;
}

/* Publish the end of a phase, unless it is known. Return: the end. */
static u64 publish_end(struct spek_phase_end *end, u64 end_ns)
{
	/* A full barrier, before the wake-ups: pairs with the check before a worker sleeps. */
	u64 known_ns = cmpxchg(&end->end_ns, 0, end_ns);

	return known_ns ?: end_ns;
}

/**
 * spek_worker_complete_share() - note that the worker's share of the phase is complete
 * @w: worker in a phase that ends by count
 * @now_ns: time of the completion that was the last of the share
 *
 * The last worker publishes the end of the phase and wakes the others.
 *
 * Context: the worker's thread.
 */
void spek_worker_complete_share(struct spek_worker *w, u64 now_ns)
{
	struct spek_phases *phases = &w->phases;
	struct spek_phase_end *end = &phases->ends[phases->course.phase];
	u32 i, nr = w->config->nr_workers;
	u64 end_ns;

	phases->phase_left = SPEK_NEVER;
	phases->waits = true;
	/* A ramp-up also counts I/Os beyond its share. */
	phases->counted_ns = SPEK_NEVER;
	if (phases->course.phase == SPEK_PHASE_MEASURE && !w->inflight.outstanding &&
	    !w->issue.op_room.waiting)
		phases->counted_ns = now_ns;
	note_latest(end, now_ns);
	/* A full barrier: the last worker sees the times of all. */
	if (!atomic_dec_and_test(&end->left))
		return;
	end_ns = atomic64_read(&end->latest_ns);
	if (phases->course.phase == SPEK_PHASE_RAMP && nr > 1)
		end_ns = max_t(u64, end_ns, ktime_get_ns()) + RAMP_LEAD_NS;
	publish_end(end, end_ns);
	for (i = 0; i < nr; i++)
		if (i != w->index)
			spek_outcome_wake(w->inflight.outcome, i);
	spek_worker_learn_end(w, now_ns);
}

/**
 * spek_worker_learn_end() - learn the end of a phase by count, if it is known
 * @w: worker that waits for it
 * @counted_ns: the worker has counted everything before this time
 *
 * Context: the worker's thread.
 */
void spek_worker_learn_end(struct spek_worker *w, u64 counted_ns)
{
	struct spek_phases *phases = &w->phases;
	u64 end_ns = READ_ONCE(phases->ends[phases->course.phase].end_ns);

	if (!end_ns)
		return;
	phases->waits = false;
	/* A worker without I/Os to count ends with the others, even if it learns of it late. */
	spek_course_set_end(&phases->course, end_ns, min(counted_ns, phases->counted_ns));
}

static void begin_phase(struct spek_worker *w, u32 phase, u64 start_ns, u64 now_ns);

/**
 * spek_worker_end_early() - end the phase where the run ended, and drain
 * @w: worker of a run that has ended, not in the drain
 * @counted_ns: the worker has counted everything before this time
 *
 * Context: the worker's thread.
 */
void spek_worker_end_early(struct spek_worker *w, u64 counted_ns)
{
	struct spek_phases *phases = &w->phases;
	u64 ended_ns = spek_outcome_ended_ns(w->inflight.outcome);

	phases->issue_left = 0;
	/* The phase ended before the run: begin_phase() comes here again. */
	if (phases->course.phase_end_ns <= ended_ns)
		return;
	/* No phase began, so there is none to seal. */
	if (ended_ns < w->start_ns) {
		begin_phase(w, SPEK_PHASE_DRAIN, ended_ns, ended_ns);
		return;
	}
	phases->phase_left = SPEK_NEVER;
	phases->waits = false;
	phases->next_phase = SPEK_PHASE_DRAIN;
	spek_course_set_end(&phases->course, ended_ns, counted_ns);
}

/* ---- phases ---- */

/* A phase ends by its share, @count completions, of which some are in flight. */
static void begin_count(struct spek_worker *w, u64 count, u64 now_ns)
{
	if (count)
		w->phases.phase_left = count;
	else
		spek_worker_complete_share(w, now_ns);
}

static void begin_phase(struct spek_worker *w, u32 phase, u64 start_ns, u64 now_ns)
{
	const struct spek_run_config *config = w->config;
	struct spek_phases *phases = &w->phases;
	u64 count = phases->measure_count, counted;

	if (phase == SPEK_PHASE_RAMP && !config->ramp_ns && !config->ramp_count)
		phase = SPEK_PHASE_MEASURE;
	spek_course_begin(&phases->course, phase, start_ns, now_ns);
	phases->next_phase = phase + 1;
	phases->phase_left = SPEK_NEVER;
	phases->issue_left = SPEK_NEVER;
	phases->waits = false;
	switch (phase) {
	case SPEK_PHASE_RAMP:
		/* A single worker ends the phase itself, so it needs no I/O beyond both counts. */
		if (config->nr_workers == 1 && config->ramp_count && config->count &&
		    check_add_overflow(phases->ramp_count, count, &phases->issue_left))
			phases->issue_left = SPEK_NEVER;
		if (config->ramp_count)
			begin_count(w, phases->ramp_count, now_ns);
		else
			spek_course_set_end(&phases->course, start_ns + config->ramp_ns, now_ns);
		break;
	case SPEK_PHASE_MEASURE:
		if (config->time_ns)
			spek_course_set_end(&phases->course, start_ns + config->time_ns, now_ns);
		if (config->count) {
			/* I/Os that were made in the ramp-up complete in this phase and count. */
			phases->issue_left = count - min_t(u64, count, w->inflight.outstanding +
									w->issue.op_room.waiting);
			begin_count(w, count, now_ns);
		}
		counted = spek_gen_begin_counts(w->gen, start_ns);
		if (spek_workload_ends(&config->workload))
			begin_count(w, counted, now_ns);
		/* A replay ends with its trace, and with it the run. */
		break;
	default:
		phases->issue_left = 0;
		/* The set that was sealed has them in its backlog. */
		if (w->issue.op_room.waiting)
			spek_worker_drop_waiting(w);
		return;
	}
	if (spek_outcome_has_ended(w->inflight.outcome))
		spek_worker_end_early(w, now_ns);
}

/*
 * Issue the arrivals before the end even if the worker is late. Those that find no free slot are
 * the backlog.
 */
static void issue_overdue(struct spek_worker *w)
{
	while (!spek_outcome_has_ended(w->inflight.outcome) && spek_worker_issue(w, ktime_get_ns()))
		cond_resched();
}

/*
 * The measure phase ends by time or by count, and its time has come. Where all shares were complete
 * before any worker was here, it has ended by count; this one has counted until the time.
 */
static void end_by_either(struct spek_worker *w)
{
	struct spek_course *course = &w->phases.course;
	u64 end_ns = publish_end(&w->phases.ends[SPEK_PHASE_MEASURE], course->phase_end_ns);

	if (end_ns < course->phase_end_ns)
		spek_course_set_end(course, end_ns, course->phase_end_ns);
}

static void change_phase(struct spek_worker *w)
{
	struct spek_phases *phases = &w->phases;
	struct spek_course *course = &phases->course;
	struct spek_span *span = &phases->active->span;

	if (phases->next_phase == SPEK_PHASE_DRAIN)
		issue_overdue(w);
	if (course->phase == SPEK_PHASE_MEASURE && w->config->time_ns &&
	    (w->config->count || spek_workload_ends(&w->config->workload)))
		end_by_either(w);
	if (course->phase == SPEK_PHASE_MEASURE)
		note_ages(w, phases->active, course->phase_end_ns);
	spek_course_end_phase(course, phases->next_phase, span);
	seal_set(w);
	begin_phase(w, phases->next_phase, course->common_end_ns, course->phase_end_ns);
}

/**
 * spek_worker_pass_boundary() - seal what ends, at the end of a piece, of a row or of a phase
 * @w: worker
 * @now_ns: time of an event, which has reached the boundary
 *
 * Context: the worker's thread, may sleep.
 */
void spek_worker_pass_boundary(struct spek_worker *w, u64 now_ns)
{
	struct spek_phases *phases = &w->phases;
	struct spek_course *course = &phases->course;

	while (now_ns >= course->boundary_ns) {
		/* It can change at any time; bios without a priority would look it up each. */
		w->ioprio = get_current_ioprio();
		if (course->boundary_ns == course->phase_end_ns)
			change_phase(w);
		else if (spek_course_pass(course, now_ns, may_seal(phases), &phases->active->span))
			seal_set(w);
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
	struct spek_phases *phases = &w->phases;

	w->ioprio = get_current_ioprio();
	phases->seen_cpu_ns = READ_ONCE(current->se.sum_exec_runtime);
	phases->seen_switches = current->nvcsw + current->nivcsw;
	phases->active = phases->set[0];
	phases->course.interval_ns = w->config->interval_ns ?: TOTALS_NS;
	begin_phase(w, SPEK_PHASE_RAMP, w->start_ns, w->start_ns);
}

/**
 * spek_worker_end_phases() - seal the last set
 * @w: worker that has drained
 *
 * Context: the worker's thread.
 */
void spek_worker_end_phases(struct spek_worker *w)
{
	struct spek_phases *phases = &w->phases;
	u64 now_ns = ktime_get_ns();

	/* The clock of this CPU may lag behind the one that ended the phase before. */
	spek_course_set_end(&phases->course, now_ns, now_ns);
	spek_course_end_phase(&phases->course, SPEK_NR_PHASES, &phases->active->span);
	seal_set(w);
}

/* ---- the collector's side ---- */

/**
 * spek_worker_next_sealed() - find the oldest sealed set
 * @w: worker
 *
 * Context: process; the caller is the only collector.
 * Return: the set, the caller's until it is given back, or NULL.
 */
struct spek_set *spek_worker_next_sealed(struct spek_worker *w)
{
	struct spek_phases *phases = &w->phases;

	/* Counters of the worker: pairs with seal_set(). */
	if (smp_load_acquire(&phases->sealed) == phases->taken)
		return NULL;
	return phases->set[phases->taken & (phases->nr_sets - 1)];
}

/**
 * spek_worker_count_backlog() - complete a sealed set with the backlog
 * @w: worker
 * @set: from spek_worker_next_sealed()
 *
 * May take seconds at rates far beyond the device.
 *
 * Context: process, may sleep; the caller is the only collector and holds no lock that a request
 * waits for.
 */
void spek_worker_count_backlog(struct spek_worker *w, struct spek_set *set)
{
	struct spek_backlog_count count = { 0 };

	if (set->span.phase == SPEK_PHASE_DRAIN) {
		set->backlog = 0;
		return;
	}
	/* An arrival due exactly at the end belongs to the next interval. */
	while (spek_backlog_step(&w->phases.backlog, &count, set->mark, set->span.end_ns - 1,
				 DRAWS_PER_STEP))
		cond_resched();
	set->backlog = count.sum + set->made_backlog;
}

/**
 * spek_worker_give_back() - return the set of spek_worker_next_sealed(), emptied, to its worker
 * @w: worker
 *
 * Context: process; the caller is the only collector.
 */
void spek_worker_give_back(struct spek_worker *w)
{
	/* The set was emptied: pairs with may_seal(). */
	smp_store_release(&w->phases.taken, w->phases.taken + 1);
}
