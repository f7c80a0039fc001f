// SPDX-License-Identifier: GPL-2.0
/* Which block of the SSD holds a block of the RAID: entries in a hash, and the clock of copies. */
#include "machine.h"

/* Steps of the clock before a copy is given up. */
#define CLOCK_STEPS	64

static u32 hash_bits(u32 entries)
{
	u32 bits = 1;

	while (bits < 31 && (2U << bits) <= entries)
		bits++;
	return bits;
}

static u32 *head_of(const struct spek_augment *m, u64 block)
{
	return &m->heads[block * 0x9e3779b97f4a7c15ULL >> m->hash_shift];
}

/**
 * spek_augment_bytes() - memory that the machine needs for its entries
 * @config: checked
 *
 * Return: number of bytes, at most 16 for each block of the SSD.
 */
size_t spek_augment_bytes(const struct spek_augment_config *config)
{
	u32 entries = config->ssd_blocks - SPEK_AUGMENT_LOG_START;

	return (size_t)entries * sizeof(struct spek_augment_entry) +
	       (sizeof(u32) << hash_bits(entries));
}

/**
 * spek_augment_map_init() - empty the map
 * @m: machine with its memory
 */
void spek_augment_map_init(struct spek_augment *m)
{
	u32 bits = hash_bits(m->nr_entries);
	u32 i;

	m->heads = (u32 *)(m->entries + m->nr_entries);
	m->hash_shift = 64 - bits;
	for (i = 0; i < 1U << bits; i++) {
		m->heads[i] = SPEK_AUGMENT_NONE;
		spek_yield_at(i);
	}
	for (i = 0; i < m->nr_entries; i++) {
		spek_memset(&m->entries[i], 0, sizeof(m->entries[i]));
		spek_yield_at(i);
	}
	m->hand = m->config.log_blocks;
}

/**
 * spek_augment_map_find() - look a block up
 * @m: machine
 * @block: block of the RAID
 *
 * Return: its entry, or SPEK_AUGMENT_NONE.
 */
u32 spek_augment_map_find(const struct spek_augment *m, u64 block)
{
	u32 entry = *head_of(m, block);

	while (entry != SPEK_AUGMENT_NONE && spek_augment_block_of(&m->entries[entry]) != block)
		entry = m->entries[entry].next;
	return entry;
}

/**
 * spek_augment_map_insert() - make an entry the one of its block
 * @m: machine
 * @entry: entry with its block; the block has no other
 */
void spek_augment_map_insert(struct spek_augment *m, u32 entry)
{
	u32 *head = head_of(m, spek_augment_block_of(&m->entries[entry]));

	m->entries[entry].next = *head;
	*head = entry;
}

/**
 * spek_augment_map_remove() - take an entry out
 * @m: machine
 * @entry: entry in the map
 */
void spek_augment_map_remove(struct spek_augment *m, u32 entry)
{
	u32 *link = head_of(m, spek_augment_block_of(&m->entries[entry]));

	while (*link != entry)
		link = &m->entries[*link].next;
	*link = m->entries[entry].next;
}

/**
 * spek_augment_map_retire() - take an entry out whose contents are of no use any more
 * @m: machine
 * @entry: entry in the map
 */
void spek_augment_map_retire(struct spek_augment *m, u32 entry)
{
	struct spek_augment_entry *retired = &m->entries[entry];

	spek_augment_map_remove(m, entry);
	m->dirty -= spek_augment_state(retired) == SPEK_AUGMENT_DIRTY;
	retired->state = (retired->state & ~SPEK_AUGMENT_STATE) | SPEK_AUGMENT_DEAD;
}

/**
 * spek_augment_map_take_copy() - find room for a copy of a clean block
 * @m: machine
 * @block: block of the RAID that is not in the map
 *
 * The entry is in the map but not readable, and pinned until the copy ends.
 *
 * Return: entry, or SPEK_AUGMENT_NONE if the clock came upon none that may go.
 */
u32 spek_augment_map_take_copy(struct spek_augment *m, u64 block)
{
	u32 step;

	if (m->nr_entries == m->config.log_blocks)
		return SPEK_AUGMENT_NONE;
	for (step = 0; step < CLOCK_STEPS; step++) {
		u32 entry = m->hand;
		struct spek_augment_entry *taken = &m->entries[entry];

		m->hand = entry + 1 < m->nr_entries ? entry + 1 : m->config.log_blocks;
		if (taken->member & SPEK_AUGMENT_PINS)
			continue;
		if (spek_augment_state(taken) == SPEK_AUGMENT_CLEAN) {
			if (taken->state & SPEK_AUGMENT_USED) {
				taken->state &= ~SPEK_AUGMENT_USED;
				continue;
			}
			spek_augment_map_remove(m, entry);
		}
		taken->low = block;
		taken->high = block >> 32;
		taken->state = SPEK_AUGMENT_FILLING;
		taken->member = SPEK_AUGMENT_PIN;
		spek_augment_map_insert(m, entry);
		return entry;
	}
	return SPEK_AUGMENT_NONE;
}

/**
 * spek_augment_source() - choose the device to read an entry from
 * @m: machine
 * @entry: entry
 *
 * Return: device, or SPEK_AUGMENT_NONE if none can.
 */
u32 spek_augment_source(const struct spek_augment *m, u32 entry)
{
	const struct spek_augment_entry *wanted = &m->entries[entry];
	u32 mirror = spek_augment_mirror_of(wanted);

	if ((m->live & spek_augment_bit(SPEK_AUGMENT_SSD)) &&
	    !(wanted->state & SPEK_AUGMENT_NO_SSD))
		return SPEK_AUGMENT_SSD;
	if (spek_augment_in_log(m, entry) && !(wanted->state & SPEK_AUGMENT_NO_MIRROR) &&
	    (m->live & spek_augment_bit(mirror)))
		return mirror;
	return SPEK_AUGMENT_NONE;
}
