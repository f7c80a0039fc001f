/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The least of up to 2^30 numbers, and the first of the places that have it.
 *
 * A tree: each entry of a level is the least of 64 entries of the level below. A change touches one
 * entry of each level, or looks through 64 entries where the least of them grew; the least is found
 * in at most 64 steps for each level.
 */
#ifndef SPEK_DRIVE_LEAST_H
#define SPEK_DRIVE_LEAST_H

#include "../../core/spek_host.h"

#define SPEK_DRIVE_LEAST_FAN	64
#define SPEK_DRIVE_LEAST_LEVELS	6
#define SPEK_DRIVE_LEAST_NONE	0xffffU

/**
 * struct spek_drive_least - the tree
 * @level: the numbers, and the levels above them
 * @length: entries of each level; 1 of the last one
 * @levels: number of levels
 */
struct spek_drive_least {
	u16 *level[SPEK_DRIVE_LEAST_LEVELS];
	u32 length[SPEK_DRIVE_LEAST_LEVELS];
	u32 levels;
};

u64 spek_drive_least_entries(u32 numbers);
void spek_drive_least_init(struct spek_drive_least *least, u16 *memory, u32 numbers);
void spek_drive_least_set(struct spek_drive_least *least, u32 place, u16 number);
u32 spek_drive_least_first(const struct spek_drive_least *least);

#endif
