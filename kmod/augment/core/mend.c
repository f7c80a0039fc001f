// SPDX-License-Identifier: GPL-2.0
/*
 * After a restart, makes a second copy of records that only the SSD or only members have, because
 * of a power cut or a missing member. Without it, the next loss of a device could lose data that
 * bios have read, or leave a gap in the log of the remaining device, which would end there.
 *
 * A copy goes to the place of the record, which holds no valid record on that device.
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

static void read_part(struct spek_augment *m, u32 entry, u32 blocks, u32 to)
{
	struct spek_augment_slot *slot;

	slot = spek_augment_io_new(m, SPEK_AUGMENT_FOR_MEND, SPEK_AUGMENT_READ,
				   spek_augment_source(m, entry),
				   (u64)entry + SPEK_AUGMENT_LOG_START, blocks);
	slot->entry = entry;
	slot->index = to;
	slot->io.stage = spek_augment_stage_take(m);
	m->mend.pending++;
}

static void begin_part(struct spek_augment *m)
{
	struct spek_augment_mend *mend = &m->mend;
	const struct spek_augment_entry *header = &m->entries[mend->first];
	u32 blocks = 1 + header->low - mend->begun;

	if (blocks > SPEK_AUGMENT_STAGE_BLOCKS)
		blocks = SPEK_AUGMENT_STAGE_BLOCKS;
	/* A record is valid only as a whole on one member: choose the member once. */
	if (!mend->begun)
		mend->to = header->state & SPEK_AUGMENT_NO_SSD ? SPEK_AUGMENT_SSD :
								 spek_augment_any_mirror(m);
	read_part(m, mend->first + mend->begun, blocks, mend->to);
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
	       m->nr_free_ios > SPEK_AUGMENT_KEPT_IOS)
		begin_part(m);
	return mend->first != SPEK_AUGMENT_NONE || mend->pending;
}

static void end_part(struct spek_augment *m, const struct spek_augment_slot *slot)
{
	spek_augment_stage_put(m, slot->io.stage);
	m->mend.pending--;
	m->again = true;
}

static void read_end(struct spek_augment *m, const struct spek_augment_slot *slot, int error)
{
	struct spek_augment_slot *write;
	u32 i;

	for (i = 0; error && i < slot->io.blocks; i++)
		spek_augment_read_failed(m, slot->entry + i, slot->io.device);
	if (error)
		m->keeps_log = false;
	/* Also cleared if the device was dropped meanwhile. */
	if (!m->keeps_log) {
		end_part(m, slot);
		return;
	}
	write = spek_augment_io_new(m, SPEK_AUGMENT_FOR_MEND, SPEK_AUGMENT_WRITE, slot->index,
				    slot->io.block, slot->io.blocks);
	write->entry = slot->entry;
	write->io.stage = slot->io.stage;
}

static void write_end(struct spek_augment *m, const struct spek_augment_slot *slot, int error)
{
	u32 device = slot->io.device;
	u32 i;

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
	end_part(m, slot);
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
