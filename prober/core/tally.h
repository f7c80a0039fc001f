/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Totals of a rail at the starts of rows, each taken while the rail keeps the samples around it.
 *
 * A rail keeps its last samples only, rows may be kept for longer. The total up to the start of a
 * row is fixed as soon as the rail's horizon reaches it, so the caller takes it then: after
 * samples and marks, and before the sample that overwrites the oldest one. Rows are taken in order.
 * A rail that was silent for long fixes many rows at once: the caller takes a number of them each
 * time, and those that the next sample would lose. Until a row is taken, its total is the rail's.
 *
 * Pure C: no kernel headers, floats, allocation, clock, locks. The caller locks.
 */
#ifndef SPEK_PROBER_CORE_TALLY_H
#define SPEK_PROBER_CORE_TALLY_H

#include "../../kmod/core/spek_host.h"
#include "rail.h"

/**
 * struct spek_tally_row - total up to the start of a row
 * @energy_nj: energy, nanojoule, modulo 2^64
 * @known_ns: length of the known part; U64_MAX if there is no total
 * @gap_ns: length of gaps
 */
struct spek_tally_row {
	u64 energy_nj;
	u64 known_ns;
	u64 gap_ns;
};

/**
 * struct spek_tally - totals of a rail
 * @totals: ring of @rows totals; caller's memory
 * @rows: number of rows whose totals are kept
 * @next: number of the next row to take
 * @first: number of the first row that was not skipped
 */
struct spek_tally {
	struct spek_tally_row *totals;
	u32 rows;
	u64 next;
	u64 first;
};

void spek_tally_init(struct spek_tally *tally, struct spek_tally_row *totals, u32 rows);
int spek_tally_take(struct spek_tally *tally, const struct spek_rail *rail, u64 at_ns, u32 *budget);
void spek_tally_skip(struct spek_tally *tally, u64 to);
int spek_tally_read(const struct spek_tally *tally, const struct spek_rail *rail, u64 seq,
		    u64 at_ns, bool ended, struct spek_tally_row *row);

#endif
