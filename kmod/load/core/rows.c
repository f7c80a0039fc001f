// SPDX-License-Identifier: GPL-2.0
/* Rows by time: see rows.h. */
#include "../../core/muldiv.h"
#include "rows.h"

/**
 * spek_rows_init() - begin without rows
 * @rows: filled in
 * @passed: memory for @nr_workers
 * @nr_workers: workers of the run
 */
void spek_rows_init(struct spek_rows *rows, struct spek_passed *passed, u32 nr_workers)
{
	u32 i, phase;

	spek_memset(rows, 0, sizeof(*rows));
	spek_memset(passed, 0, nr_workers * sizeof(*passed));
	rows->nr_workers = nr_workers;
	rows->passed = passed;
	for (i = 0; i < nr_workers; i++)
		for (phase = 0; phase < SPEK_NR_PHASES; phase++)
			passed[i].from_ns[phase] = SPEK_NEVER;
}

/**
 * spek_rows_phase() - phase that all workers have reached
 * @rows: rows
 *
 * Return: enum spek_phase.
 */
u32 spek_rows_phase(const struct spek_rows *rows)
{
	u32 i, phase = SPEK_PHASE_DRAIN;

	for (i = 0; i < rows->nr_workers; i++)
		if (rows->passed[i].phase < phase)
			phase = rows->passed[i].phase;
	return phase;
}

static bool has_passed(const struct spek_passed *passed, const struct spek_open_row *row)
{
	return passed->phase > row->phase || passed->until_ns[row->phase] >= row->bound_end_ns;
}

/* Spans that are empty in time belong to the row that ends there. */
static bool overlaps(const struct spek_open_row *row, u32 phase, u64 start_ns, u64 end_ns)
{
	if (!row->is_open || row->phase != phase)
		return false;
	if (start_ns == end_ns)
		return row->bound_start_ns <= start_ns && start_ns <= row->bound_end_ns;
	return row->bound_start_ns < end_ns && start_ns < row->bound_end_ns;
}

static void add_levels(struct spek_levels *sum, const struct spek_levels *levels)
{
	sum->outstanding += levels->outstanding;
	sum->backlog += levels->backlog;
}

/* Sum the levels of all workers but @worker that have passed the row, by their last spans. */
static void sum_levels(const struct spek_rows *rows, struct spek_open_row *row, u32 worker,
		       u64 until_ns)
{
	u32 i;

	spek_memset(&row->levels, 0, sizeof(row->levels));
	for (i = 0; i < rows->nr_workers; i++) {
		const struct spek_passed *passed = &rows->passed[i];

		if (i != worker && passed->last_ns[row->phase] <= until_ns &&
		    has_passed(passed, row))
			add_levels(&row->levels, &passed->levels[row->phase]);
	}
}

static void open_row(struct spek_rows *rows, struct spek_open_row *row, u32 worker,
		     const struct spek_span *span)
{
	spek_memset(row, 0, sizeof(*row));
	row->is_open = true;
	row->phase = span->phase;
	row->bound_start_ns = span->row_start_ns;
	row->bound_end_ns = span->row_end_ns;
	row->start_ns = span->start_ns;
	row->end_ns = span->end_ns;
	/* Workers that were blocked during the whole row have passed it without a span in it. */
	sum_levels(rows, row, worker, row->bound_start_ns);
}

/**
 * spek_rows_place() - find or open the row of a span
 * @rows: rows
 * @worker: number of the worker
 * @span: its span
 *
 * The caller joins rows (spek_rows_join()), adds what the span counted to the slot, tells that
 * the worker has passed it (spek_rows_pass()) and closes rows (spek_rows_close()), in this order.
 *
 * Return: slot of the row.
 */
u32 spek_rows_place(struct spek_rows *rows, u32 worker, const struct spek_span *span)
{
	u64 closed_ns = rows->closed_ns[span->phase];
	struct spek_open_row *row = NULL;
	u32 i, free = 0;

	for (i = 0; i < SPEK_ROW_SLOTS; i++) {
		struct spek_open_row *slot = &rows->slot[i];

		if (!slot->is_open)
			free = i;
		else if (overlaps(slot, span->phase, span->row_start_ns, span->row_end_ns) &&
			 (!row || slot->bound_start_ns < row->bound_start_ns))
			row = slot;
	}
	if (!row) {
		row = &rows->slot[free];
		open_row(rows, row, worker, span);
	}
	if (span->row_start_ns < row->bound_start_ns)
		row->bound_start_ns = span->row_start_ns;
	if (span->row_end_ns > row->bound_end_ns) {
		/*
		 * Of the workers that had passed the old end, those that have left the phase, or
		 * are blocked, have passed the new one as well; others come to it, or have a row
		 * there.
		 */
		row->bound_end_ns = span->row_end_ns;
		sum_levels(rows, row, worker, SPEK_NEVER);
	}
	if (span->start_ns < row->start_ns)
		row->start_ns = span->start_ns;
	if (span->end_ns > row->end_ns)
		row->end_ns = span->end_ns;
	if (span->start_ns < closed_ns)
		row->late_ns += (span->end_ns < closed_ns ? span->end_ns : closed_ns) -
				span->start_ns;
	return row - rows->slot;
}

/**
 * spek_rows_join() - join another open row with the row of a span
 * @rows: rows
 * @slot: from spek_rows_place()
 *
 * Called until it returns -1.
 *
 * Return: slot whose counts the caller adds to those of @slot and empties; -1 if there is none.
 */
int spek_rows_join(struct spek_rows *rows, u32 slot)
{
	struct spek_open_row *row = &rows->slot[slot];
	u32 i;

	for (i = 0; i < SPEK_ROW_SLOTS; i++) {
		struct spek_open_row *from = &rows->slot[i];

		if (from == row || from->bound_start_ns == from->bound_end_ns ||
		    !overlaps(from, row->phase, row->bound_start_ns, row->bound_end_ns))
			continue;
		if (from->bound_end_ns >= row->bound_end_ns) {
			row->bound_end_ns = from->bound_end_ns;
			row->levels = from->levels;
		}
		if (from->start_ns < row->start_ns)
			row->start_ns = from->start_ns;
		if (from->end_ns > row->end_ns)
			row->end_ns = from->end_ns;
		row->late_ns += from->late_ns;
		from->is_open = false;
		return i;
	}
	return -1;
}

/**
 * spek_rows_pass() - note that a worker has passed a span, whose counts were added
 * @rows: rows
 * @worker: number of the worker; its spans come in order
 * @span: span
 * @levels: at the end of the span
 */
void spek_rows_pass(struct spek_rows *rows, u32 worker, const struct spek_span *span,
		    const struct spek_levels *levels)
{
	struct spek_passed *passed = &rows->passed[worker];
	bool leaves = span->next_phase != span->phase;
	u32 i;

	for (i = 0; i < SPEK_ROW_SLOTS; i++) {
		struct spek_open_row *row = &rows->slot[i];

		if (row->is_open && row->phase == span->phase &&
		    span->end_ns <= row->bound_end_ns &&
		    (leaves || row->bound_end_ns <= span->next_ns))
			add_levels(&row->levels, levels);
	}
	if (passed->from_ns[span->phase] == SPEK_NEVER)
		passed->from_ns[span->phase] = span->start_ns;
	/* After its last span, a worker has nothing in flight. */
	passed->until_ns[span->phase] = span->next_phase == SPEK_NR_PHASES ? SPEK_NEVER :
									     span->next_ns;
	passed->phase = span->next_phase;
	passed->end_ns = span->end_ns;
	for (i = span->phase; i == span->phase || i < span->next_phase; i++) {
		passed->last_ns[i] = span->end_ns;
		passed->levels[i] = *levels;
	}
}

static u64 covered_ns(const struct spek_rows *rows, const struct spek_open_row *row)
{
	u64 closed_ns = rows->closed_ns[row->phase];
	/* Before that, other rows have what is not in the spans of this row. */
	u64 from_ns = closed_ns > row->start_ns ? closed_ns : row->start_ns;
	u64 sum = row->late_ns;
	u32 i;

	for (i = 0; i < rows->nr_workers; i++) {
		const struct spek_passed *passed = &rows->passed[i];
		u64 start_ns = passed->from_ns[row->phase], end_ns = passed->until_ns[row->phase];

		if (start_ns < from_ns)
			start_ns = from_ns;
		if (end_ns > row->end_ns)
			end_ns = row->end_ns;
		if (start_ns < end_ns)
			sum += end_ns - start_ns;
	}
	return sum;
}

static u32 coverage_ppm(const struct spek_rows *rows, const struct spek_open_row *row)
{
	u64 all_ns = (row->end_ns - row->start_ns) * rows->nr_workers;
	u64 sum_ns = covered_ns(rows, row), remainder;

	if (sum_ns >= all_ns)
		return SPEK_COVERS_ALL;
	return spek_muldiv64(sum_ns, SPEK_COVERS_ALL, all_ns, &remainder);
}

static struct spek_open_row *oldest(struct spek_rows *rows, u32 *nr_open)
{
	struct spek_open_row *row = NULL;
	u32 i;

	*nr_open = 0;
	for (i = 0; i < SPEK_ROW_SLOTS; i++) {
		struct spek_open_row *slot = &rows->slot[i];

		if (!slot->is_open)
			continue;
		++*nr_open;
		if (!row || slot->phase < row->phase ||
		    (slot->phase == row->phase && slot->bound_start_ns < row->bound_start_ns))
			row = slot;
	}
	return row;
}

/**
 * spek_rows_close() - close the oldest row if it is complete or there are too many
 * @rows: rows
 * @max_open: rows that may stay open
 *
 * Called until it returns -1.
 *
 * Return: slot of the row, whose times, levels and coverage are final until a row is placed; -1 if
 * none closes.
 */
int spek_rows_close(struct spek_rows *rows, u32 max_open)
{
	struct spek_open_row *row;
	u32 i, nr_open;

	row = oldest(rows, &nr_open);
	if (!row)
		return -1;
	if (nr_open <= max_open)
		for (i = 0; i < rows->nr_workers; i++)
			if (!has_passed(&rows->passed[i], row))
				return -1;
	row->coverage_ppm = coverage_ppm(rows, row);
	row->is_open = false;
	if (rows->closed_ns[row->phase] < row->end_ns)
		rows->closed_ns[row->phase] = row->end_ns;
	return row - rows->slot;
}
