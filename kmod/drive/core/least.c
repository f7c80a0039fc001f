// SPDX-License-Identifier: GPL-2.0
/* The least of many numbers. */
#include "least.h"

static u32 above(u32 length)
{
	return (length + SPEK_DRIVE_LEAST_FAN - 1) / SPEK_DRIVE_LEAST_FAN;
}

/**
 * spek_drive_least_entries() - size a tree
 * @numbers: 1 to 2^30
 *
 * Return: u16 of memory that it needs.
 */
u64 spek_drive_least_entries(u32 numbers)
{
	u64 entries = numbers;

	while (numbers > 1) {
		numbers = above(numbers);
		entries += numbers;
	}
	return entries;
}

/**
 * spek_drive_least_init() - make a tree
 * @least: tree
 * @memory: of spek_drive_least_entries(), all of it SPEK_DRIVE_LEAST_NONE, as the numbers then are
 * @numbers: 1 to 2^30
 */
void spek_drive_least_init(struct spek_drive_least *least, u16 *memory, u32 numbers)
{
	least->levels = 0;
	for (;;) {
		least->level[least->levels] = memory;
		least->length[least->levels++] = numbers;
		if (numbers == 1)
			return;
		memory += numbers;
		numbers = above(numbers);
	}
}

static u16 least_of_group(const struct spek_drive_least *least, u32 level, u32 group)
{
	const u16 *entries = least->level[level];
	u32 i = group * SPEK_DRIVE_LEAST_FAN, end = i + SPEK_DRIVE_LEAST_FAN;
	u16 found = SPEK_DRIVE_LEAST_NONE;

	if (end > least->length[level])
		end = least->length[level];
	for (; i < end; i++)
		if (entries[i] < found)
			found = entries[i];
	return found;
}

/**
 * spek_drive_least_set() - change a number
 * @least: tree
 * @place: which one
 * @number: SPEK_DRIVE_LEAST_NONE: it does not count
 */
void spek_drive_least_set(struct spek_drive_least *least, u32 place, u16 number)
{
	u32 level;

	for (level = 0;; level++) {
		u16 *entry = &least->level[level][place], was = *entry, group;

		*entry = number;
		if (was == number || level + 1 == least->levels)
			return;
		place /= SPEK_DRIVE_LEAST_FAN;
		group = least->level[level + 1][place];
		if (number > group) {
			if (was > group)
				return;
			number = least_of_group(least, level, place);
		}
	}
}

/**
 * spek_drive_least_first() - find the least number
 * @least: tree
 *
 * Return: the first place that has it.
 */
u32 spek_drive_least_first(const struct spek_drive_least *least)
{
	u32 level = least->levels - 1, place = 0;
	u16 number = least->level[level][0];

	while (level--) {
		place *= SPEK_DRIVE_LEAST_FAN;
		while (least->level[level][place] != number)
			place++;
	}
	return place;
}
