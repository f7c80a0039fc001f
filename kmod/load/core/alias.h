/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Choice among n things by integer weights in constant time (Walker's alias
 * method, table built as Vose does).
 *
 * One multiplication splits 32 random bits into a column and a fraction; the
 * column keeps the choice if the fraction lies below its threshold and else
 * gives it to its other. A probability is off by at most (n + 2) / 2^32.
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
 * @other: who gets the rest; the column itself where it keeps all
 */
struct spek_alias {
	u32 threshold;
	u32 other;
};

/**
 * spek_alias_init() - build a table
 * @table: @n columns, filled in
 * @weight: @n weights, zeros allowed; sum in [1, 2^SPEK_ALIAS_BITS); destroyed
 * @n: 1..SPEK_ALIAS_MAX
 */
void spek_alias_init(struct spek_alias *table, u64 *weight, u32 n);

/** spek_alias_pick() - Return: index in [0, @n), from 32 random @bits. */
static inline u32 spek_alias_pick(const struct spek_alias *table, u32 n, u32 bits)
{
	u64 product = (u64)bits * n;
	u32 i = (u32)(product >> 32);

	return (u32)product < table[i].threshold ? i : table[i].other;
}

#endif
