/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Choice among n things by integer weights in constant time (Walker's alias
 * method, table built as Vose does).
 *
 * One multiplication splits 32 random bits into a column and a fraction; the
 * column keeps the choice if the fraction lies below its threshold and passes
 * it to its other column if not. A probability is off by at most (n + 2) / 2^32.
 */
#ifndef SPEK_CORE_ALIAS_H
#define SPEK_CORE_ALIAS_H

#include "../../core/spek_host.h"

#define SPEK_ALIAS_MAX	8192
/* Weights add up to less than 2^this: times SPEK_ALIAS_MAX it fits in 64 bits. */
#define SPEK_ALIAS_BITS	50

/**
 * struct spek_alias - one column of the table
 * @threshold: the column keeps fractions below this, in units of 2^-32
 * @other: column that gets the remainder; the column itself if it keeps all
 */
struct spek_alias {
	u32 threshold;
	u32 other;
};

void spek_alias_init(struct spek_alias *table, u64 *weight, u32 n);

/**
 * spek_alias_pick() - choose by weight
 * @table: built by spek_alias_init()
 * @n: number of choices
 * @bits: 32 random bits
 *
 * Return: index in [0, @n).
 */
static inline u32 spek_alias_pick(const struct spek_alias *table, u32 n, u32 bits)
{
	u64 product = (u64)bits * n;
	u32 i = (u32)(product >> 32);

	return (u32)product < table[i].threshold ? i : table[i].other;
}

#endif
