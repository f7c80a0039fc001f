// SPDX-License-Identifier: GPL-2.0
/* Building of alias tables. */
#include "../../core/muldiv.h"
#include "alias.h"

#define END	(~0u)

/**
 * spek_alias_init() - build an alias table
 * @table: @n columns, filled in
 * @weight: @n weights, zeros allowed; sum in [1, 2^SPEK_ALIAS_BITS); destroyed
 * @n: number of choices, 1 to SPEK_ALIAS_MAX
 */
void spek_alias_init(struct spek_alias *table, u64 *weight, u32 n)
{
	/* Columns that hold less and not less than their share, chained through .other. */
	u32 poor = END, rich = END, i, next;
	u64 sum = 0;

	for (i = 0; i < n; i++)
		sum += weight[i];

	/* Scaled by n, the share of a column is exactly the sum. */
	for (i = 0; i < n; i++) {
		u32 *list = weight[i] * n < sum ? &poor : &rich;

		weight[i] *= n;
		table[i].other = *list;
		*list = i;
	}
	while (poor != END) {
		i = poor;
		poor = table[i].other;
		table[i].threshold = (u32)spek_muldiv64(weight[i], 1ull << 32, sum, NULL);
		table[i].other = rich;
		weight[rich] -= sum - weight[i];
		if (weight[rich] < sum) {
			next = table[rich].other;
			table[rich].other = poor;
			poor = rich;
			rich = next;
		}
	}
	/*
	 * Integers lose nothing on the way: while a column lacks something another one has
	 * too much, and the columns left at the end hold exactly their share.
	 */
	while (rich != END) {
		next = table[rich].other;
		table[rich].threshold = ~0u;
		table[rich].other = rich;
		rich = next;
	}
}
