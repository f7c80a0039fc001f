// SPDX-License-Identifier: GPL-2.0
/*
 * Rows of u64 words between one writer and any number of readers.
 *
 * Stamps: a slot that holds row n is stamped n + 1; 0 means empty or being
 * written, as in fresh memory.
 */
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <asm/barrier.h>

#include "ring.h"

/* Stamps and counts are read while they are written. */
static_assert(BITS_PER_LONG == 64);

static u64 *slot_at(const struct spek_ring *ring, u32 slot)
{
	return ring->words + (size_t)slot * (ring->row_words + 1);
}

/**
 * spek_ring_init() - get memory for @rows rows of @row_words words
 * @ring: caller's memory
 * @rows: at least 2, so that the row before the one being written can be read
 * @row_words: words of a row
 *
 * Context: process, may sleep. Fails rather than invoke the OOM killer.
 * Return: 0 or -ENOMEM.
 */
int spek_ring_init(struct spek_ring *ring, u32 rows, u32 row_words)
{
	*ring = (struct spek_ring){ .rows = rows, .row_words = row_words };
	ring->words = kvcalloc(rows, array_size(row_words + 1, sizeof(u64)),
			       GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
	return ring->words ? 0 : -ENOMEM;
}

/**
 * spek_ring_deinit() - free the rows
 * @ring: ring without writer and readers; its init may have failed
 */
void spek_ring_deinit(struct spek_ring *ring)
{
	kvfree(ring->words);
	ring->words = NULL;
}

/**
 * spek_ring_begin() - take the slot of the next row
 * @ring: ring
 *
 * Context: the one writer; ends with spek_ring_commit().
 * Return: the row's words, to be filled; they hold an old row.
 */
u64 *spek_ring_begin(struct spek_ring *ring)
{
	u64 *slot = slot_at(ring, ring->slot);

	WRITE_ONCE(slot[0], 0);
	/* No new word is seen under the old stamp; pairs with smp_rmb() in spek_ring_read(). */
	smp_wmb();
	return slot + 1;
}

/**
 * spek_ring_commit() - make the row that was begun readable
 * @ring: ring
 *
 * Context: the one writer.
 */
void spek_ring_commit(struct spek_ring *ring)
{
	/* The words are there before their stamp says so; pairs with spek_ring_read(). */
	smp_store_release(slot_at(ring, ring->slot), ring->next + 1);
	/* And the stamp before the count; pairs with spek_ring_made(). */
	smp_store_release(&ring->next, ring->next + 1);

	ring->slot = ring->slot + 1 == ring->rows ? 0 : ring->slot + 1;
}

/**
 * spek_ring_made() - count the rows made so far
 * @ring: ring
 *
 * Context: any.
 * Return: the count, which is the number of the next row.
 */
u64 spek_ring_made(const struct spek_ring *ring)
{
	/* Rows before the count are readable; pairs with spek_ring_commit(). */
	return smp_load_acquire(&ring->next);
}

/**
 * spek_ring_oldest() - find the row to continue with after rows were lost
 * @ring: ring
 *
 * Return: number of the oldest row that can be read, unless the writer laps it meanwhile.
 */
u64 spek_ring_oldest(const struct spek_ring *ring)
{
	u64 made = spek_ring_made(ring);

	return made > ring->rows ? made - ring->rows : 0;
}

/* Copy @nr words of row @seq, from @first on. Return: as spek_ring_read() */
static int read_words(const struct spek_ring *ring, u64 seq, u32 first, u32 nr, u64 *words)
{
	const u64 *slot;
	u32 index;

	if (seq >= spek_ring_made(ring))
		return -EAGAIN;

	div_u64_rem(seq, ring->rows, &index);
	slot = slot_at(ring, index);
	/* Words are read after the first look at the stamp; pairs with spek_ring_commit(). */
	if (smp_load_acquire(slot) != seq + 1)
		return -ESTALE;

	memcpy(words, slot + 1 + first, nr * sizeof(u64));
	/* Words are read before the second look; pairs with smp_wmb() in spek_ring_begin(). */
	smp_rmb();
	return READ_ONCE(slot[0]) == seq + 1 ? 0 : -ESTALE;
}

/**
 * spek_ring_read() - copy one row out
 * @ring: ring
 * @seq: number of the row
 * @words: room for row_words words; undefined unless the row could be read
 *
 * Context: any; never makes the writer wait.
 * Return: 0, -EAGAIN if the row has not been made yet, -ESTALE if it was overwritten.
 */
int spek_ring_read(const struct spek_ring *ring, u64 seq, u64 *words)
{
	return read_words(ring, seq, 0, ring->row_words, words);
}

/**
 * spek_ring_read_word() - copy one word of a row out
 * @ring: ring
 * @seq: number of the row
 * @word: index of the word, below row_words
 * @value: undefined unless the row could be read
 *
 * Context: any; never makes the writer wait.
 * Return: as spek_ring_read().
 */
int spek_ring_read_word(const struct spek_ring *ring, u64 seq, u32 word, u64 *value)
{
	return read_words(ring, seq, word, 1, value);
}
