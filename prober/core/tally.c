// SPDX-License-Identifier: GPL-2.0
/* Totals of a rail at the starts of rows; see tally.h. */
#include "tally.h"

#define NO_TOTAL (~0ULL)

/**
 * spek_tally_init() - begin with row 0
 * @tally: filled in
 * @totals: array of @rows totals; must outlive @tally
 * @rows: number of rows to keep, not 0
 */
void spek_tally_init(struct spek_tally *tally, struct spek_tally_row *totals, u32 rows)
{
	*tally = (struct spek_tally){ .totals = totals, .rows = rows };
}

static struct spek_tally_row *slot_of(const struct spek_tally *tally, u64 seq)
{
	return &tally->totals[seq - spek_div64(seq, tally->rows) * tally->rows];
}

static int total_at(const struct spek_rail *rail, u64 at_ns, bool ended,
		    struct spek_tally_row *row)
{
	struct spek_rail_total total;
	int err = spek_rail_total(rail, at_ns, ended, &total);

	if (err)
		return err;
	row->energy_nj = (u64)total.energy.uj * 1000 +
			 total.energy.remainder / (SPEK_ENERGY_UNIT / 1000);
	row->known_ns = total.known_ns;
	row->gap_ns = total.gap_ns;
	return 0;
}

/**
 * spek_tally_take() - take the total at the start of the next row
 * @tally: tally
 * @rail: its rail, to which samples may still come
 * @at_ns: CLOCK_MONOTONIC of the start of row @tally->next, not before that of the row before
 * @budget: number of rows to take now; reduced by a row that is taken. Below it, only rows are
 *	taken whose total the next sample overwrites
 *
 * Return: 0, also if the row has no total, or -EAGAIN if samples may still come for that time, or
 *	if it is to be taken later.
 */
int spek_tally_take(struct spek_tally *tally, const struct spek_rail *rail, u64 at_ns, u32 *budget)
{
	struct spek_tally_row row = { .known_ns = NO_TOTAL };

	if (!*budget && spek_rail_outlasts(rail, at_ns))
		return -EAGAIN;
	if (total_at(rail, at_ns, false, &row) == -EAGAIN)
		return -EAGAIN;
	if (*budget)
		--*budget;
	*slot_of(tally, tally->next++) = row;
	return 0;
}

/**
 * spek_tally_skip() - leave out rows that are no longer there
 * @tally: tally
 * @to: number of the next row to take; ignored unless it is greater than @tally->next
 */
void spek_tally_skip(struct spek_tally *tally, u64 to)
{
	if (to <= tally->next)
		return;
	tally->next = to;
	tally->first = to;
}

/**
 * spek_tally_read() - get the total at the start of a row
 * @tally: tally
 * @rail: its rail
 * @seq: number of the row
 * @at_ns: CLOCK_MONOTONIC of its start
 * @ended: no more samples will come to @rail
 * @row: filled in
 *
 * Return: 0, -EAGAIN if samples may still come for that time, -ESTALE if they were overwritten or
 *	the total was, -ENOENT if the rail has none for that time.
 */
int spek_tally_read(const struct spek_tally *tally, const struct spek_rail *rail, u64 seq,
		    u64 at_ns, bool ended, struct spek_tally_row *row)
{
	if (seq >= tally->next)
		return total_at(rail, at_ns, ended, row);
	if (seq < tally->first || tally->next - seq > tally->rows)
		return -ESTALE;
	*row = *slot_of(tally, seq);
	return row->known_ns == NO_TOTAL ? -ENOENT : 0;
}
