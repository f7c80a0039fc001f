/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rows of u64 words between one writer and any number of readers.
 *
 * The writer never waits: it takes no lock and does not know its readers. Each slot has
 * a stamp. The writer invalidates the stamp, writes the words and then sets the stamp to
 * the row's number; a reader copies the words between two looks at the stamp and discards
 * the copy unless both show the number it wants. Readers are told of overwritten rows and
 * can count them; a torn row is never returned.
 */
#ifndef SPEK_PROBER_RING_H
#define SPEK_PROBER_RING_H

#include <linux/types.h>

/**
 * struct spek_ring - ring of the last rows
 * @words: @rows slots of one stamp and @row_words words each
 * @rows: number of slots; const after init
 * @row_words: words of a row without its stamp; const after init
 * @slot: slot of the row with number @next; writer-owned
 * @next: number of the next row; writer-owned, read elsewhere with acquire
 */
struct spek_ring {
	u64 *words;
	u32 rows;
	u32 row_words;
	u32 slot;
	u64 next;
};

int spek_ring_init(struct spek_ring *ring, u32 rows, u32 row_words);
void spek_ring_deinit(struct spek_ring *ring);

u64 *spek_ring_begin(struct spek_ring *ring);
void spek_ring_commit(struct spek_ring *ring);

u64 spek_ring_made(const struct spek_ring *ring);
u64 spek_ring_oldest(const struct spek_ring *ring);
int spek_ring_read(const struct spek_ring *ring, u64 seq, u64 *words);
int spek_ring_read_word(const struct spek_ring *ring, u64 seq, u32 word, u64 *value);

#endif
