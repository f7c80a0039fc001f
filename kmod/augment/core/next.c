// SPDX-License-Identifier: GPL-2.0
/*
 * The next record of the log in recovery: which devices have it, and which of its blocks.
 *
 * A block counts if it has the checksum that a valid header of its record has for it, whatever device
 * either is on. A device whose own header is damaged may be the only one that has a block.
 */
#include "machine.h"

/**
 * spek_augment_next_begin() - know nothing of the next record
 * @next: the record; whether an earlier one was beyond the end of the RAID stays
 */
void spek_augment_next_begin(struct spek_augment_next *next)
{
	bool is_beyond = next->is_beyond;

	spek_memset(next, 0, sizeof(*next));
	next->is_beyond = is_beyond;
}

static bool is_same(const struct spek_augment_header *header,
		    const struct spek_augment_header *than)
{
	u32 i;

	if (header->block != than->block || header->blocks != than->blocks)
		return false;
	for (i = 0; i < header->blocks; i++)
		if (header->crc[i] != than->crc[i])
			return false;
	return true;
}

/**
 * spek_augment_next_header() - note what a device has at the place of the header
 * @m: recovering
 * @next: the record
 * @device: number of the device
 * @block: 4096 bytes; NULL: they cannot be read
 */
void spek_augment_next_header(const struct spek_augment *m, struct spek_augment_next *next,
			      u32 device, const u8 *block)
{
	struct spek_augment_header header;

	if (!block) {
		next->unread |= spek_augment_bit(device);
		return;
	}
	if (!spek_augment_header_decode(block, &header))
		return;
	next->is_beyond |= spek_augment_is_beyond(m, &header);
	if (!spek_augment_expects(m, &header))
		return;
	/* There is one record of a number and generation. */
	if (next->headers && !is_same(&header, &next->header))
		return;
	next->header = header;
	next->headers |= spek_augment_bit(device);
}

/**
 * spek_augment_next_block() - note what a device has at the place of a block of data
 * @next: the record, of which a device has the header
 * @device: number of the device
 * @i: number of the block
 * @crc: checksum of the block; NULL: it cannot be read
 */
void spek_augment_next_block(struct spek_augment_next *next, u32 device, u32 i, const u32 *crc)
{
	if (crc && *crc == next->header.crc[i])
		next->blocks[i] |= spek_augment_bit(device);
	/* What a device with another header cannot read need not be of this record. */
	if (crc || !(next->headers & spek_augment_bit(device)))
		return;
	next->unread |= spek_augment_bit(device);
	next->unread_data |= 1U << i;
}

/**
 * spek_augment_next_holders() - ask which devices have all of the record
 * @next: the record
 *
 * Return: bitmap of devices; 0: none has.
 */
u32 spek_augment_next_holders(const struct spek_augment_next *next)
{
	u32 holders = next->headers;
	u32 i;

	for (i = 0; i < next->header.blocks; i++)
		holders &= next->blocks[i];
	return holders;
}

/**
 * spek_augment_next_others() - ask which devices without the header are to be looked at as well
 * @next: the record, after the blocks of data of all devices with its header were noted
 * @readable: bitmap of devices whose log counts
 *
 * Return: bitmap of devices whose blocks of data may be needed.
 */
u32 spek_augment_next_others(const struct spek_augment_next *next, u32 readable)
{
	u32 others = readable & ~next->headers;

	if (!next->headers)
		return 0;
	/* Most members without a header of a record that others have have nothing of it. */
	if (spek_augment_next_holders(next))
		others &= next->unread | spek_augment_bit(SPEK_AUGMENT_SSD);
	return others;
}

/*
 * What a cut leaves of a write on its way may differ from its checksums on all devices, and ends the
 * log. A record from before the newest generation was there, and so may be one that cannot be read.
 * Blocks of it that nobody has are given up only on request.
 */
static bool adopts_parts(const struct spek_augment *m, const struct spek_augment_next *next,
			 bool gives_up)
{
	bool was_there = spek_augment_is_short(m);
	u32 i;

	if (!next->headers || (!was_there && !next->unread))
		return false;
	for (i = 0; i < next->header.blocks; i++)
		if (!next->blocks[i] &&
		    !(gives_up && (was_there || (next->unread_data & 1U << i))))
			return false;
	return true;
}

/**
 * spek_augment_next_adopt() - take the record over if the devices have it
 * @m: recovering
 * @next: the record, all devices noted
 * @gives_up: blocks of it that no device has any more are lost; false: the log ends before it
 *
 * Return: false if the log ends here.
 */
bool spek_augment_next_adopt(struct spek_augment *m, const struct spek_augment_next *next,
			     bool gives_up)
{
	u32 holders = spek_augment_next_holders(next);

	if (holders)
		spek_augment_adopt(m, &next->header, holders, next->blocks);
	else if (adopts_parts(m, next, gives_up))
		spek_augment_adopt_parts(m, &next->header, next->headers, next->blocks);
	else
		return false;
	return true;
}
