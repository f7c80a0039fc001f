// SPDX-License-Identifier: GPL-2.0
/* Superblocks: where the log begins and which generation counts. */
#include "machine.h"

/**
 * spek_augment_super_write() - write superblocks
 * @m: machine with no superblock in flight
 * @devices: bitmap of devices
 * @generation: generation of records that count
 * @tail: place of the first record that counts
 * @tail_seq: its sequence number
 *
 * Adds the number of I/O to that of the batch in flight.
 */
void spek_augment_super_write(struct spek_augment *m, u32 devices, u64 generation, u32 tail,
			      u64 tail_seq)
{
	struct spek_augment_super *super = &m->super;
	u32 device, i;

	for (i = 0; i < 16; i++)
		super->uuid[i] = m->config.uuid[i];
	super->generation = generation;
	super->version = ++m->version;
	super->tail_seq = tail_seq;
	super->tail = tail;
	super->log_blocks = m->config.log_blocks;
	super->ssd_blocks = m->config.ssd_blocks;
	super->devices = m->live;
	super->nr_members = m->config.nr_members;
	for (device = 0; device < SPEK_AUGMENT_RAID; device++) {
		u32 bit = spek_augment_bit(device);
		struct spek_augment_slot *slot;

		if (!(devices & bit))
			continue;
		slot = spek_augment_io_new(m, SPEK_AUGMENT_FOR_SUPER, SPEK_AUGMENT_WRITE, device,
					   m->super_seen & bit ? 1 : 0, 1);
		slot->io.encoded = true;
		slot->io.fua = true;
		m->super_seen ^= bit;
		m->destage.pending++;
	}
}

static void encode_header(const struct spek_augment *m, const struct spek_augment_record *record,
			  u8 *to)
{
	struct spek_augment_header header;
	u32 i;

	spek_memset(&header, 0, sizeof(header));
	for (i = 0; i < 16; i++)
		header.uuid[i] = m->config.uuid[i];
	header.generation = m->generation;
	header.seq = record->seq;
	header.blocks = record->blocks;
	if (record->blocks) {
		const struct spek_augment_bio *bio = &m->requests[record->bio].bio;

		header.block = bio->block + record->bio_block;
		for (i = 0; i < record->blocks; i++)
			header.crc[i] = bio->crc[record->bio_block + i];
	}
	spek_augment_header_encode(&header, to);
}

/**
 * spek_augment_encode() - make the first block of an I/O
 * @m: machine
 * @tag: I/O that is @encoded
 * @to: block of 4096 bytes; for a record, of zeroes or with the header of an earlier one
 */
void spek_augment_encode(const struct spek_augment *m, u32 tag, u8 *to)
{
	const struct spek_augment_slot *slot = &m->slots[tag];
	struct spek_augment_super super;

	if (slot->purpose == SPEK_AUGMENT_FOR_RECORD) {
		encode_header(m, &m->records[slot->index], to);
		return;
	}
	super = m->super;
	super.device = slot->io.device;
	spek_augment_super_encode(&super, to);
}
