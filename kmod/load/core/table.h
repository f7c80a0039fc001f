/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tables: a random address by any distribution, given as parts of the range with weights.
 *
 * A part is chosen with probability weight / 2^40, an address within it uniformly. One random
 * number does both without a division: multiplied by the number of parts it gives a column of an
 * alias table (alias.h) and a fraction; each side of the column's threshold maps its fractions
 * onto the addresses of a part. Probabilities of parts are off by at most (parts + 2) / 2^32, those
 * of addresses by a further 2^-24 of them.
 *
 * Zipf, Pareto and normal distributions are such tables, made in userspace. Where the first
 * addresses are the most frequent ones, they can be spread over the range: address i becomes
 * i * F + offset, modulo the number of addresses N, where F is coprime to N and about 0.618 N, so
 * that neighbours come to lie far apart and no two addresses fall together. The offset depends on
 * the seed and the stream and is the same on all workers. As fractions of 2^64 no modulo is needed:
 * i * (F / N) + offset / N, both rounded up, is less than 2^32 / 2^64 too large for N <= 2^32, so
 * that N times it, rounded down, is exact.
 *
 * 40 bytes for each part.
 */
#ifndef SPEK_CORE_TABLE_H
#define SPEK_CORE_TABLE_H

#include "../../core/rng.h"
#include "../../core/spek_host.h"

#define SPEK_TABLE_MAX_SLOTS	(1ull << 40)
#define SPEK_SPREAD_MAX_SLOTS	(1ull << 32)

/**
 * struct spek_column - a column of a table
 * @threshold: fractions below it belong to the first piece, the others to the second
 * @piece: per side of the threshold, a part of the range
 * @piece.first: first address of the part
 * @piece.scale: number of addresses of the part, over the share of this side in the column
 */
struct spek_column {
	u64 threshold;
	struct {
		u64 first;
		u64 scale;
	} piece[2];
};

/**
 * struct spek_table - a table that is ready for use
 * @column: columns
 * @nr: number of columns, one per part
 * @slots: number of addresses
 * @factor: spread: 2^64 * F / @slots, rounded up
 * @offset: spread: 2^64 * place of the first address / @slots, rounded up
 */
struct spek_table {
	const struct spek_column *column;
	u64 nr;
	u64 slots;
	u64 factor;
	u64 offset;
};

/**
 * spek_table_draw() - draw an address
 * @table: table
 * @rng: sequence, advanced by one draw
 *
 * Return: number of the address, below @table->slots.
 */
static inline u64 spek_table_draw(const struct spek_table *table, struct spek_rng *rng)
{
	u64 fraction;
	const struct spek_column *column =
		table->column + spek_mul128(spek_rng_next(rng), table->nr, &fraction);

	if (fraction < column->threshold)
		return column->piece[0].first + spek_mulhi64(fraction, column->piece[0].scale);
	return column->piece[1].first + spek_mulhi64(fraction - column->threshold,
						     column->piece[1].scale);
}

/**
 * spek_table_spread() - spread neighbouring addresses over the range
 * @table: table
 * @slot: address, below @table->slots
 *
 * Return: address, another one for each @slot.
 */
static inline u64 spek_table_spread(const struct spek_table *table, u64 slot)
{
	return spek_mulhi64(slot * table->factor + table->offset, table->slots);
}

#endif
