// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "draws.h"
#include "garble.h"

/* As in format.c: what the checksum of a header covers, besides those of its blocks. */
#define HEADER_BYTES	64
/* Of a sector, see fill_block(). */
#define MARK_BYTES	16

static u32 bytes_of(const struct spek_augment_header *header)
{
	return HEADER_BYTES + 4 * header->blocks;
}

/* A bit of what the log is checked by: the other bytes of blocks are not modelled. */
static void flip(const struct spek_augment_io *io, u8 (*blocks)[BYTES], u32 i, u64 any, u32 bit)
{
	struct spek_augment_header header;
	u32 at = SECTOR_BYTES * (any % SECTORS) + any / SECTORS % MARK_BYTES;

	if (!io->stage_block && !i && spek_augment_header_decode(blocks[0], &header))
		at = any % bytes_of(&header);
	blocks[i][at] ^= 1 << bit;
}

/* Another place, which has a record of the same blocks of the RAID. */
static bool swap(const struct spek_augment_io *io, u8 (*blocks)[BYTES], u64 any)
{
	const struct device *d = &rig.devices[io->device];
	struct spek_augment_header header, other;
	u32 k;

	if (io->stage_block || !spek_augment_header_decode(blocks[0], &header) ||
	    io->blocks != 1 + header.blocks)
		return false;
	for (k = 0; k < LOG_BLOCKS; k++) {
		u64 place = SPEK_AUGMENT_LOG_START + (any + k) % LOG_BLOCKS;
		u32 i;

		if (place == io->block ||
		    place + io->blocks > SPEK_AUGMENT_LOG_START + LOG_BLOCKS ||
		    !spek_augment_header_decode(device_read(d, place), &other) ||
		    other.block != header.block || other.blocks != header.blocks)
			continue;
		for (i = 0; i < io->blocks; i++)
			memcpy(blocks[i], device_read(d, place + i), BYTES);
		rig.counts.swapped++;
		return true;
	}
	return false;
}

/* The header that the place had in an earlier life. */
static bool age(const struct spek_augment_io *io, u8 (*blocks)[BYTES])
{
	struct spek_augment_header header;

	if (io->stage_block || !spek_augment_header_decode(blocks[0], &header) ||
	    header.generation < 2)
		return false;
	header.generation--;
	spek_augment_header_encode(&header, blocks[0]);
	return true;
}

/* Have a read for the copy of a record return something else, at the rate of this life. */
void garble(const struct spek_augment_io *io, u8 (*stage)[BYTES])
{
	u8 (*blocks)[BYTES] = stage + io->stage_block;
	u32 i, bit;
	u64 any;

	if (!rig.faults.garble_rate ||
	    rig.machine.slots[io->tag].purpose != SPEK_AUGMENT_FOR_MEND ||
	    below(rig.faults.garble_rate))
		return;
	i = below(io->blocks);
	any = draw();
	bit = below(8);
	if ((any & 3) == 2 && swap(io, blocks, any >> 2))
		return;
	if ((any & 3) == 3 && age(io, blocks))
		return;
	flip(io, blocks, i, any >> 2, bit);
}

static bool is_same(const u8 *data, const u8 *block)
{
	u32 k;

	for (k = 0; k < SECTORS; k++)
		if (memcmp(data + SECTOR_BYTES * k, block + SECTOR_BYTES * k, MARK_BYTES))
			return false;
	return true;
}

/* Whether the buffer of a copy has what the device that it was read from has at these places. */
bool garble_is_intact(const struct spek_augment_io *io, u8 (*stage)[BYTES])
{
	const struct spek_augment_mend_part *part = &rig.machine.mend.parts[io->stage];
	const struct device *d = &rig.devices[part->from];
	const u8 *head = device_read(d, SPEK_AUGMENT_LOG_START + part->header);
	struct spek_augment_header header;
	u32 i;

	if (!spek_augment_header_decode(head, &header))
		rig_fail("no record where one was adopted", part->header, part->from);
	if (memcmp(stage[0], head, bytes_of(&header)))
		return false;
	for (i = part->first == part->header; i < part->blocks; i++)
		if (!is_same(stage[io->stage_block + i], device_read(d, io->block + i)))
			return false;
	return true;
}
