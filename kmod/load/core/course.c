// SPDX-License-Identifier: GPL-2.0
/* Course of a worker: see course.h. */
#include "course.h"

static void set_boundary(struct spek_course *c, u64 now_ns)
{
	c->row_end_ns = c->row_start_ns + c->interval_ns;
	if (c->row_end_ns > c->phase_end_ns)
		c->row_end_ns = c->phase_end_ns;
	c->boundary_ns = c->row_end_ns;
	/* Merge a short last piece into the one before: the collector needs time for each. */
	if (c->row_end_ns > now_ns + 2 * SPEK_PIECE_NS)
		c->boundary_ns = now_ns + SPEK_PIECE_NS;
}

/**
 * spek_course_begin() - begin a phase, whose end is not known yet
 * @c: course; interval_ns is set
 * @phase: enum spek_phase
 * @start_ns: start of the phase
 * @now_ns: start of the worker's part of it: later if the worker learned of the phase too late
 */
void spek_course_begin(struct spek_course *c, u32 phase, u64 start_ns, u64 now_ns)
{
	c->phase = phase;
	c->phase_end_ns = SPEK_NEVER;
	c->common_end_ns = SPEK_NEVER;
	c->row_start_ns = start_ns;
	if (now_ns > start_ns)
		c->row_start_ns += spek_div64(now_ns - start_ns, c->interval_ns) * c->interval_ns;
	c->span_row_ns = c->row_start_ns;
	c->span_start_ns = now_ns;
	set_boundary(c, now_ns);
}

/**
 * spek_course_set_end() - set the end of the phase
 * @c: course
 * @end_ns: end for all workers; it may have passed
 * @counted_ns: no event before this time is still to be counted
 *
 * What a worker has counted already is in the phase. If it learns of the end too late, its phase
 * ends later than that of the others.
 */
void spek_course_set_end(struct spek_course *c, u64 end_ns, u64 counted_ns)
{
	if (counted_ns < c->span_start_ns)
		counted_ns = c->span_start_ns;
	c->common_end_ns = end_ns;
	c->phase_end_ns = end_ns > counted_ns ? end_ns : counted_ns;
	if (c->row_end_ns > c->phase_end_ns)
		c->row_end_ns = c->phase_end_ns;
	if (c->boundary_ns > c->phase_end_ns)
		c->boundary_ns = c->phase_end_ns;
}

static void fill(const struct spek_course *c, struct spek_span *span, u64 row_end_ns, u64 end_ns,
		 u64 next_ns)
{
	span->phase = c->phase;
	span->next_phase = c->phase;
	span->row_start_ns = c->span_row_ns;
	span->row_end_ns = row_end_ns;
	span->start_ns = c->span_start_ns;
	span->end_ns = end_ns;
	span->next_ns = next_ns;
}

/**
 * spek_course_pass() - pass the end of a piece or row
 * @c: course, whose boundary is before the end of the phase
 * @now_ns: time of an event at or after the boundary
 * @may_seal: the worker can seal its set; else the span continues
 * @span: filled with the span that ends here, unless the span continues
 *
 * A worker that was blocked continues in the row of @now_ns.
 *
 * Return: @may_seal.
 */
bool spek_course_pass(struct spek_course *c, u64 now_ns, bool may_seal, struct spek_span *span)
{
	u64 until_ns = now_ns < c->phase_end_ns ? now_ns : c->phase_end_ns - 1;
	u64 next_ns;

	if (c->boundary_ns < c->row_end_ns) {
		if (may_seal) {
			fill(c, span, c->row_end_ns, c->boundary_ns, c->boundary_ns);
			c->span_start_ns = c->boundary_ns;
		}
		set_boundary(c, now_ns);
		return may_seal;
	}
	next_ns = c->row_start_ns + spek_div64(until_ns - c->row_start_ns, c->interval_ns) *
				    c->interval_ns;
	if (may_seal) {
		fill(c, span, c->row_end_ns, c->row_end_ns, next_ns);
		c->span_start_ns = next_ns;
		c->span_row_ns = next_ns;
	}
	c->row_start_ns = next_ns;
	set_boundary(c, next_ns);
	return may_seal;
}

/**
 * spek_course_end_phase() - end the phase, and with it the span
 * @c: course, whose boundary is the end of the phase
 * @next_phase: next phase; SPEK_NR_PHASES after the last
 * @span: filled with the span that ends here
 *
 * The caller begins the next phase at c->common_end_ns, with a span that begins at span->end_ns.
 */
void spek_course_end_phase(const struct spek_course *c, u32 next_phase, struct spek_span *span)
{
	fill(c, span, c->phase_end_ns, c->phase_end_ns, c->phase_end_ns);
	span->next_phase = next_phase;
}
