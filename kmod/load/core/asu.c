// SPDX-License-Identifier: GPL-2.0
/*
 * Where a byte of an asu lies: on one target, or striped over several as in
 * RAID-0. Stripe unit number q lies on extent q mod n, as its unit q div n.
 *
 * q div n is q times a reciprocal, m = floor((2^64 - 1) / n) + 1. With n <= 16 the error
 * of m is less than 16 units, so the quotient is exact for q < 2^60, which is any q
 * because a stripe unit has at least 2^9 bytes.
 */
#include "workload.h"

/**
 * spek_asu_map_init() - prepare an asu for mapping
 * @map: filled in
 * @asu: checked asu; must outlive @map
 */
void spek_asu_map_init(struct spek_asu_map *map, const struct spek_asu *asu)
{
	map->asu = asu;
	map->nr = asu->nr_extents;
	map->stripe_shift = 0;
	map->magic = 0;
	if (map->nr == 1)
		return;
	map->stripe_shift = (u32)__builtin_ctz(asu->stripe_bytes);
	map->magic = spek_div64(~0ull, map->nr) + 1;
}

/**
 * spek_asu_map_striped() - spek_asu_map() of an asu with several extents
 * @map: prepared by spek_asu_map_init()
 * @addr: first byte in the asu
 * @bytes: length of the piece
 * @target: set to the index of the target
 * @offset: set to the first byte on that target
 *
 * Return: number of the @bytes that are contiguous there; > 0.
 */
u32 spek_asu_map_striped(const struct spek_asu_map *map, u64 addr, u32 bytes, u32 *target,
			 u64 *offset)
{
	const struct spek_asu *asu = map->asu;
	u64 unit, row, within;
	u32 column;

	unit = addr >> map->stripe_shift;
	within = addr & (asu->stripe_bytes - 1);
	row = spek_mulhi64(unit, map->magic);
	column = (u32)(unit - row * map->nr);
	*target = asu->extent[column].target;
	*offset = asu->extent[column].start + (row << map->stripe_shift) + within;
	return bytes < asu->stripe_bytes - within ? bytes : (u32)(asu->stripe_bytes - within);
}
