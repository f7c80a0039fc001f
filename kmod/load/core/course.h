/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Course of a worker: its place in the phases and rows of a run, and the spans of time for which
 * it counts into one set.
 *
 * Rows follow a schedule: the first one begins with its phase and each is an interval long, for
 * all workers. A span is a row, or a piece of a long one, or several rows if the worker could not
 * seal its set in between. It never crosses a phase.
 */
#ifndef SPEK_CORE_COURSE_H
#define SPEK_CORE_COURSE_H

#include "../../core/spek_host.h"
#include "gen.h"

/* Sets have 32-bit counters, so a long row is counted in pieces. */
#define SPEK_PIECE_NS	10000000000ull

#define SPEK_NR_PHASES	(SPEK_PHASE_DRAIN + 1)

/**
 * struct spek_span - time of a worker in which one set counted; all times CLOCK_MONOTONIC, ns
 * @phase: enum spek_phase
 * @next_phase: phase of the next span; SPEK_NR_PHASES after the last span
 * @row_start_ns: start of its row by schedule, of the first one if it spans several
 * @row_end_ns: end of its row by schedule, of the last one if it spans several
 * @start_ns: start
 * @end_ns: end
 * @next_ns: start of the next span; nothing completes between @end_ns and this time
 */
struct spek_span {
	u32 phase;
	u32 next_phase;
	u64 row_start_ns;
	u64 row_end_ns;
	u64 start_ns;
	u64 end_ns;
	u64 next_ns;
};

/**
 * struct spek_course - place of a worker in phases and rows; all times CLOCK_MONOTONIC, ns
 * @boundary_ns: end of the piece, row or phase, whichever comes first
 * @phase_end_ns: end of the worker's part of the phase; SPEK_NEVER while it is not known
 * @common_end_ns: end of the phase for all workers, not after @phase_end_ns
 * @interval_ns: length of a row
 * @phase: enum spek_phase
 * @span_row_ns: start of the first row of the span
 * @span_start_ns: start of the span
 * @row_start_ns: start of the row
 * @row_end_ns: end of the row
 */
struct spek_course {
	u64 boundary_ns;
	u64 phase_end_ns;
	u64 common_end_ns;
	u64 interval_ns;
	u32 phase;
	u64 span_row_ns;
	u64 span_start_ns;
	u64 row_start_ns;
	u64 row_end_ns;
};

void spek_course_begin(struct spek_course *c, u32 phase, u64 start_ns, u64 now_ns);
void spek_course_set_end(struct spek_course *c, u64 end_ns, u64 counted_ns);
bool spek_course_pass(struct spek_course *c, u64 now_ns, bool may_seal, struct spek_span *span);
void spek_course_end_phase(const struct spek_course *c, u32 next_phase, struct spek_span *span);

/**
 * spek_course_may_seal() - check whether a worker may seal its set at the end of a row or piece
 * @c: course
 * @nr_free: sets that are not sealed, including the one that it counts into
 *
 * A phase ends at its time for all workers, so each phase to come keeps a set in reserve.
 *
 * Return: true if enough sets remain.
 */
static inline bool spek_course_may_seal(const struct spek_course *c, u32 nr_free)
{
	return nr_free > 1 + SPEK_PHASE_DRAIN - c->phase;
}

#endif
