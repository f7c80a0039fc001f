// SPDX-License-Identifier: GPL-2.0
/* Which reads are copied to the SSD. */
#include "machine.h"

/**
 * spek_augment_wants_copy() - decide whether to copy a block that missed
 * @m: machine
 * @block: block of the RAID
 *
 * At second touch: a table remembers misses by hash; another block may replace one.
 *
 * Return: true if it is to be copied.
 */
bool spek_augment_wants_copy(struct spek_augment *m, u64 block)
{
	u64 hash = block * 0x9e3779b97f4a7c15ULL;
	u32 tag = (u32)hash | 1;
	u32 *miss = &m->misses[hash >> 52];

	_Static_assert(SPEK_AUGMENT_MISSES == 1 << 12, "12 bits of the hash");
	if (m->config.copy != SPEK_AUGMENT_COPY_SECOND)
		return m->config.copy == SPEK_AUGMENT_COPY_FIRST;
	if (*miss == tag)
		return true;
	*miss = tag;
	return false;
}

/**
 * spek_augment_is_sequential() - decide whether a read belongs to a long sequence
 * @m: machine
 * @bio: the read
 *
 * Return: true if the sequence has reached the length from which reads pass by.
 */
bool spek_augment_is_sequential(struct spek_augment *m, const struct spek_augment_bio *bio)
{
	struct spek_augment_stream *stream;
	u32 i;

	for (i = 0; i < SPEK_AUGMENT_STREAMS; i++)
		if (m->streams[i].blocks && m->streams[i].next == bio->block)
			break;
	if (i == SPEK_AUGMENT_STREAMS) {
		i = m->next_stream;
		m->next_stream = (i + 1) % SPEK_AUGMENT_STREAMS;
		m->streams[i].blocks = 0;
	}
	stream = &m->streams[i];
	stream->blocks += bio->blocks;
	stream->next = bio->block + bio->blocks;
	return stream->blocks >= m->config.sequential_blocks;
}
