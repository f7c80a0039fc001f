// SPDX-License-Identifier: GPL-2.0
/* Superblocks: the tail of the log, and the generations of its records. */
#include "machine.h"

/**
 * spek_augment_generation_of() - find the generation of a record
 * @m: machine
 * @seq: sequence number of a record in the log, or of the next record
 *
 * Return: generation.
 */
u64 spek_augment_generation_of(const struct spek_augment *m, u64 seq)
{
	u32 i = m->nr_spans - 1;

	while (i && m->spans[i].first_seq > seq)
		i--;
	return m->spans[i].generation;
}

/* Drop generations without a record from @tail_seq on. */
static void drop_spans(struct spek_augment *m, u64 tail_seq)
{
	u32 dropped = 0, i;

	while (dropped + 1 < m->nr_spans && m->spans[dropped + 1].first_seq <= tail_seq)
		dropped++;
	m->nr_spans -= dropped;
	for (i = 0; i < m->nr_spans; i++)
		m->spans[i] = m->spans[i + dropped];
}

/**
 * spek_augment_has_span() - check whether superblocks have room for another generation
 * @m: machine
 *
 * Return: true if they have; false: the log must be drained first.
 */
bool spek_augment_has_span(const struct spek_augment *m)
{
	return m->nr_spans < SPEK_AUGMENT_SPANS ||
	       m->spans[m->nr_spans - 1].first_seq > m->issued_seq;
}

/**
 * spek_augment_begin_generation() - begin a generation with the next record
 * @m: machine without records in flight
 * @tail_seq: sequence number of the first record in the log, or of the next record
 */
void spek_augment_begin_generation(struct spek_augment *m, u64 tail_seq)
{
	u64 next_seq = m->issued_seq + 1;

	m->generation++;
	drop_spans(m, tail_seq);
	/* The log may end before records that superblocks have: none of them counts any more. */
	while (m->nr_spans > 1 && m->spans[m->nr_spans - 1].first_seq >= next_seq)
		m->nr_spans--;
	if (m->spans[m->nr_spans - 1].first_seq < next_seq && tail_seq < next_seq)
		m->nr_spans++;
	m->spans[m->nr_spans - 1].generation = m->generation;
	m->spans[m->nr_spans - 1].first_seq = next_seq;
}

/* Each device's goes to the place of its older one. */
static void write_supers(struct spek_augment *m, u32 devices)
{
	u32 device;

	m->super.version = ++m->version;
	m->super.announced = m->generation;
	m->destage.devices = devices;
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

/**
 * spek_augment_super_announce() - write superblocks that announce the generation to come
 * @m: machine with no superblock in flight
 *
 * Adds the number of I/O to that of the batch in flight.
 */
void spek_augment_super_announce(struct spek_augment *m)
{
	write_supers(m, m->live);
}

/**
 * spek_augment_super_write() - write superblocks
 * @m: machine with no superblock in flight
 * @devices: bitmap of devices
 * @tail: place of the first record that counts
 * @tail_seq: its sequence number
 *
 * Adds the number of I/O to that of the batch in flight.
 */
void spek_augment_super_write(struct spek_augment *m, u32 devices, u32 tail, u64 tail_seq)
{
	struct spek_augment_super *super = &m->super;
	u32 i;

	drop_spans(m, tail_seq);
	spek_memcpy(super->uuid, m->config.uuid, sizeof(super->uuid));
	super->generation = m->generation;
	super->tail_seq = tail_seq;
	super->tail = tail;
	super->log_blocks = m->config.log_blocks;
	super->ssd_blocks = m->config.ssd_blocks;
	super->devices = m->live;
	super->nr_members = m->config.nr_members;
	super->nr_spans = m->nr_spans;
	for (i = 0; i < m->nr_spans; i++)
		super->spans[i] = m->spans[i];
	write_supers(m, devices);
}

static void encode_header(const struct spek_augment *m, const struct spek_augment_record *record,
			  u8 *to)
{
	struct spek_augment_header header;
	u32 i;

	spek_memcpy(header.uuid, m->config.uuid, sizeof(header.uuid));
	header.generation = m->generation;
	header.seq = record->seq;
	header.block = 0;
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
