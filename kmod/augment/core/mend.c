// SPDX-License-Identifier: GPL-2.0
/*
 * After a restart, makes a second copy of records that only the SSD or only members have, because
 * of a power cut or a missing member. Without it, the next loss of a device could lose data that
 * bios have read, or leave a gap in the log of the remaining device, which would end there.
 *
 * A copy goes to the place of the record, which holds no valid record on that device. It is written
 * only if it has the checksums of the record.
 */
#include "machine.h"

/**
 * spek_augment_mend_note() - note whether a record that was adopted lacks a copy
 * @m: recovering
 * @header: entry of its header
 */
void spek_augment_mend_note(struct spek_augment *m, u32 header)
{
	struct spek_augment_mend *mend = &m->mend;

	if (!(m->entries[header].state & (SPEK_AUGMENT_NO_SSD | SPEK_AUGMENT_NO_MIRROR)))
		return;
	/* Headers are not in the hash, so their links are free. */
	m->entries[header].next = SPEK_AUGMENT_NONE;
	if (mend->last == SPEK_AUGMENT_NONE)
		mend->first = header;
	else
		m->entries[mend->last].next = header;
	mend->last = header;
}

static void read_blocks(struct spek_augment *m, u32 stage, u32 stage_block, u32 entry, u32 blocks)
{
	struct spek_augment_slot *slot;

	slot = spek_augment_io_new(m, SPEK_AUGMENT_FOR_MEND, SPEK_AUGMENT_READ,
				   m->mend.parts[stage].from, (u64)entry + SPEK_AUGMENT_LOG_START,
				   blocks);
	slot->entry = entry;
	slot->io.stage = stage;
	slot->io.stage_block = stage_block;
	m->mend.parts[stage].reads++;
}

/* The first part of a record has its header; the others read it as well, for its checksums. */
static void read_part(struct spek_augment *m, u32 stage)
{
	struct spek_augment_mend_part *part = &m->mend.parts[stage];
	u32 stage_block = part->first == part->header ? 0 : 1;

	part->lacks_header = false;
	part->lacks_data = false;
	if (stage_block)
		read_blocks(m, stage, 0, part->header, 1);
	read_blocks(m, stage, stage_block, part->first, part->blocks);
}

static void begin_part(struct spek_augment *m)
{
	struct spek_augment_mend *mend = &m->mend;
	const struct spek_augment_entry *header = &m->entries[mend->first];
	u32 stage = spek_augment_stage_take(m);
	struct spek_augment_mend_part *part = &mend->parts[stage];
	u32 blocks = 1 + header->low - mend->begun;
	u32 stage_block = mend->begun ? 1 : 0;

	if (blocks > SPEK_AUGMENT_STAGE_BLOCKS - stage_block)
		blocks = SPEK_AUGMENT_STAGE_BLOCKS - stage_block;
	/*
	 * A record is valid only as a whole on one member: choose the member once. What a block of
	 * data can be read from need not have all of the record.
	 */
	if (!mend->begun) {
		mend->from = spek_augment_source(m, mend->first);
		mend->to = header->state & SPEK_AUGMENT_NO_SSD ? SPEK_AUGMENT_SSD :
								 spek_augment_any_mirror(m);
	}
	part->header = mend->first;
	part->first = mend->first + mend->begun;
	part->blocks = blocks;
	part->end = part->first + blocks;
	part->from = mend->from;
	part->to = mend->to;
	part->reads = 0;
	part->is_repeat = false;
	read_part(m, stage);
	mend->pending++;
	mend->begun += blocks;
	if (mend->begun <= header->low)
		return;
	mend->begun = 0;
	mend->first = header->next;
	if (mend->first == SPEK_AUGMENT_NONE)
		mend->last = SPEK_AUGMENT_NONE;
}

/**
 * spek_augment_mend_step() - copy the records that lack a copy
 * @m: recovering, with SSD and a member
 *
 * Return: true until all records have both copies.
 */
bool spek_augment_mend_step(struct spek_augment *m)
{
	struct spek_augment_mend *mend = &m->mend;

	while (mend->first != SPEK_AUGMENT_NONE && m->free_stages &&
	       m->nr_free_ios > SPEK_AUGMENT_KEPT_IOS + 1)
		begin_part(m);
	return mend->first != SPEK_AUGMENT_NONE || mend->pending;
}

static void end_part(struct spek_augment *m, u32 stage)
{
	spek_augment_stage_put(m, stage);
	m->mend.pending--;
	m->again = true;
}

/* Go on with a part that is copied block by block, as long as both devices are in use. */
static void next_block(struct spek_augment *m, u32 stage)
{
	struct spek_augment_mend_part *part = &m->mend.parts[stage];
	u32 devices = spek_augment_bit(part->from) | spek_augment_bit(part->to);

	if (++part->first == part->end || (m->live & devices) != devices)
		end_part(m, stage);
	else
		read_part(m, stage);
}

/*
 * Read a part once more, now block by block: the failure of one block says nothing of the others.
 * What fails again the other device cannot give, and the log is drained. Without their header, be it
 * unreadable or damaged, blocks cannot be compared with their checksums; they are left to the drain,
 * as they were intact before.
 */
static void part_failed(struct spek_augment *m, u32 stage)
{
	struct spek_augment_mend_part *part = &m->mend.parts[stage];

	if (!part->is_repeat && (m->live & spek_augment_bit(part->from))) {
		part->is_repeat = true;
		part->blocks = 1;
		read_part(m, stage);
		return;
	}
	m->keeps_log = false;
	if (part->lacks_header || !part->is_repeat) {
		end_part(m, stage);
		return;
	}
	spek_augment_read_failed(m, part->first, part->from);
	next_block(m, stage);
}

static void read_end(struct spek_augment *m, const struct spek_augment_slot *slot, int error)
{
	u32 stage = slot->io.stage;
	struct spek_augment_mend_part *part = &m->mend.parts[stage];
	struct spek_augment_slot *write;

	if (error && slot->entry == part->first)
		part->lacks_data = true;
	else if (error)
		part->lacks_header = true;
	if (--part->reads)
		return;
	/* Also cleared if a device was dropped meanwhile. */
	if (!m->keeps_log && !part->is_repeat) {
		end_part(m, stage);
		return;
	}
	if (part->lacks_header || part->lacks_data) {
		part_failed(m, stage);
		return;
	}
	write = spek_augment_io_new(m, SPEK_AUGMENT_FOR_MEND, SPEK_AUGMENT_WRITE, part->to,
				    (u64)part->first + SPEK_AUGMENT_LOG_START, part->blocks);
	write->entry = part->first;
	write->io.stage = stage;
	write->io.stage_block = part->first == part->header ? 0 : 1;
	write->io.is_copy = true;
}

static void write_end(struct spek_augment *m, const struct spek_augment_slot *slot, int error)
{
	u32 stage = slot->io.stage;
	u32 device = slot->io.device;
	u32 i;

	if (error == SPEK_AUGMENT_HEADLESS)
		m->mend.parts[stage].lacks_header = true;
	if (error == SPEK_AUGMENT_DAMAGED || error == SPEK_AUGMENT_HEADLESS) {
		part_failed(m, stage);
		return;
	}
	if (error)
		spek_augment_drop(m, device);
	for (i = 0; !error && i < slot->io.blocks; i++) {
		struct spek_augment_entry *mended = &m->entries[slot->entry + i];

		if (device == SPEK_AUGMENT_SSD) {
			mended->state &= ~SPEK_AUGMENT_NO_SSD;
		} else {
			mended->state &= ~SPEK_AUGMENT_NO_MIRROR;
			mended->member = device;
		}
	}
	if (m->mend.parts[stage].is_repeat)
		next_block(m, stage);
	else
		end_part(m, stage);
}

/**
 * spek_augment_check_copy() - check that a buffer has what the log has, before it is written
 * @m: machine
 * @tag: I/O that @is_copy
 * @block: first block of its buffer, the header of the record
 * @crc: CRC-32C of each block of the I/O; that of the header is not used
 *
 * A record was intact when it was adopted, but what has been read for the copy may be something
 * else: a device that returns wrong data does not always say so. A copy of that would be the one
 * that is read from then on. A read of another place may return an intact record, even of the same
 * blocks of the RAID.
 *
 * Return: 0, or SPEK_AUGMENT_DAMAGED or _HEADLESS, with which the I/O ends without being sent.
 */
int spek_augment_check_copy(const struct spek_augment *m, u32 tag, const u8 *block, const u32 *crc)
{
	const struct spek_augment_mend_part *part = &m->mend.parts[m->slots[tag].io.stage];
	u32 done = part->first - part->header;
	struct spek_augment_header header;
	u32 i;

	if (!spek_augment_header_decode(block, &header))
		return SPEK_AUGMENT_HEADLESS;
	if (header.blocks != m->entries[part->header].low || header.seq < m->tail_seq ||
	    header.seq > m->issued_seq || (u16)header.seq != m->entries[part->header].high ||
	    header.generation != spek_augment_generation_of(m, header.seq))
		return SPEK_AUGMENT_DAMAGED;
	for (i = 0; i < sizeof(header.uuid); i++)
		if (header.uuid[i] != m->config.uuid[i])
			return SPEK_AUGMENT_DAMAGED;
	if (header.blocks && header.block != spek_augment_block_of(&m->entries[part->header + 1]))
		return SPEK_AUGMENT_DAMAGED;
	for (i = done ? 0 : 1; i < part->blocks; i++)
		if (crc[i] != header.crc[done + i - 1])
			return SPEK_AUGMENT_DAMAGED;
	return 0;
}

/**
 * spek_augment_mend_end() - end an I/O of a copy
 * @m: machine
 * @slot: the I/O
 * @error: 0 or a negative errno
 */
void spek_augment_mend_end(struct spek_augment *m, struct spek_augment_slot *slot, int error)
{
	if (slot->io.op == SPEK_AUGMENT_READ)
		read_end(m, slot, error);
	else
		write_end(m, slot, error);
}
