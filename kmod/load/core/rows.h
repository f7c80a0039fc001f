/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rows by time: which spans of the workers make which row, when a row is complete, and which share
 * of the workers' time it covers.
 *
 * The rows that are open here are disjoint within a phase. A span joins the open row that it
 * overlaps; if it overlaps several, they become one, from the first start to the last end. A row
 * closes once every worker has passed its end. If more than SPEK_OPEN_ROWS are open, the oldest
 * closes without the workers that have not passed it. What these counted in its time makes a row
 * of its own later, with the same times. So every span is in exactly one row, and nothing that a
 * row counts happened outside of its times.
 *
 * Coverage: a worker's time between spans is covered as well, since nothing completed in it. Not
 * covered is the time whose span went, or will go, to another row.
 */
#ifndef SPEK_CORE_ROWS_H
#define SPEK_CORE_ROWS_H

#include "../../core/spek_host.h"
#include "course.h"

/* Rows that wait for slow workers */
#define SPEK_OPEN_ROWS	8
/* One more for a span that comes after its row has closed */
#define SPEK_ROW_SLOTS	(SPEK_OPEN_ROWS + 1)
/* Coverage of a row that counts everything that the workers did in its time */
#define SPEK_COVERS_ALL	1000000u

/**
 * struct spek_levels - I/Os that wait at the end of a span or row
 * @outstanding: I/Os in flight
 * @backlog: arrivals that are due and not issued
 */
struct spek_levels {
	u64 outstanding;
	u64 backlog;
};

/**
 * struct spek_passed - how far the spans of a worker have come
 * @phase: phase of its next span; SPEK_NR_PHASES after the last span
 * @from_ns: start of its time in each phase; SPEK_NEVER before that
 * @until_ns: end of its time in each phase so far; SPEK_NEVER after the last span
 * @end_ns: end of its last span
 * @last_ns: end of its last span in each phase, or before it if it had none there
 * @levels: at that end
 */
struct spek_passed {
	u32 phase;
	u64 from_ns[SPEK_NR_PHASES];
	u64 until_ns[SPEK_NR_PHASES];
	u64 end_ns;
	u64 last_ns[SPEK_NR_PHASES];
	struct spek_levels levels[SPEK_NR_PHASES];
};

/**
 * struct spek_open_row - an open row
 * @is_open: the slot is in use
 * @phase: enum spek_phase
 * @bound_start_ns: start by schedule
 * @bound_end_ns: end by schedule
 * @start_ns: start of the first span
 * @end_ns: end of the last span
 * @late_ns: worker time of its spans that lies before the end of closed rows
 * @coverage_ppm: when it closes, share of the workers' time that it covers
 * @levels: at its end, sum of the workers that have passed it
 */
struct spek_open_row {
	bool is_open;
	u32 phase;
	u64 bound_start_ns;
	u64 bound_end_ns;
	u64 start_ns;
	u64 end_ns;
	u64 late_ns;
	u32 coverage_ppm;
	struct spek_levels levels;
};

/**
 * struct spek_rows - the rows of a run that are open
 * @nr_workers: entries of @passed
 * @passed: of each worker; the caller's memory
 * @closed_ns: of each phase, the last end of a closed row
 * @slot: open rows; the caller keeps the counts of each
 */
struct spek_rows {
	u32 nr_workers;
	struct spek_passed *passed;
	u64 closed_ns[SPEK_NR_PHASES];
	struct spek_open_row slot[SPEK_ROW_SLOTS];
};

void spek_rows_init(struct spek_rows *rows, struct spek_passed *passed, u32 nr_workers);
u32 spek_rows_phase(const struct spek_rows *rows);
u32 spek_rows_place(struct spek_rows *rows, u32 worker, const struct spek_span *span);
int spek_rows_join(struct spek_rows *rows, u32 slot);
void spek_rows_pass(struct spek_rows *rows, u32 worker, const struct spek_span *span,
		    const struct spek_levels *levels);
int spek_rows_close(struct spek_rows *rows, u32 max_open);

#endif
