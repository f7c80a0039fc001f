// SPDX-License-Identifier: GPL-2.0
/* Slots of I/O, the caller's buffers, and lists of bios. */
#include "machine.h"

/**
 * spek_augment_io_init() - make all slots, buffers and bios free
 * @m: machine, zeroed
 */
void spek_augment_io_init(struct spek_augment *m)
{
	struct spek_augment_list empty = { SPEK_AUGMENT_NONE, SPEK_AUGMENT_NONE };
	u32 i;

	m->free_io = SPEK_AUGMENT_NONE;
	m->first_io = SPEK_AUGMENT_NONE;
	m->last_io = SPEK_AUGMENT_NONE;
	for (i = 0; i < SPEK_AUGMENT_IOS; i++) {
		m->slots[i].next = m->free_io;
		m->free_io = i;
	}
	m->nr_free_ios = SPEK_AUGMENT_IOS;
	m->free_stages = SPEK_AUGMENT_STAGES;
	m->free_bios = empty;
	m->reads = empty;
	m->writes = empty;
	m->flushes = empty;
	m->answers = empty;
	for (i = 0; i < SPEK_AUGMENT_BIOS; i++)
		spek_augment_push(m, &m->free_bios, i);
}

static void enqueue(struct spek_augment *m, struct spek_augment_slot *slot)
{
	u32 tag = slot->io.tag;

	slot->next = SPEK_AUGMENT_NONE;
	if (m->last_io == SPEK_AUGMENT_NONE)
		m->first_io = tag;
	else
		m->slots[m->last_io].next = tag;
	m->last_io = tag;
}

/**
 * spek_augment_io_new() - queue an I/O
 * @m: machine with a free slot
 * @purpose: enum spek_augment_purpose
 * @op: enum spek_augment_op
 * @device: device
 * @block: first block on it
 * @blocks: length
 *
 * Return: slot, for the caller to add to.
 */
struct spek_augment_slot *spek_augment_io_new(struct spek_augment *m, u32 purpose, u32 op,
					      u32 device, u64 block, u32 blocks)
{
	u32 tag = m->free_io;
	struct spek_augment_slot *slot = &m->slots[tag];

	m->free_io = slot->next;
	m->nr_free_ios--;
	spek_memset(slot, 0, sizeof(*slot));
	slot->purpose = purpose;
	slot->io.op = op;
	slot->io.device = device;
	slot->io.block = block;
	slot->io.blocks = blocks;
	slot->io.record = SPEK_AUGMENT_NONE;
	slot->io.bio = SPEK_AUGMENT_NONE;
	slot->io.stage = SPEK_AUGMENT_NONE;
	slot->io.tag = tag;
	enqueue(m, slot);
	return slot;
}

/**
 * spek_augment_io_repeat() - queue an I/O that has ended once more
 * @m: machine
 * @slot: the I/O, which is not to be freed
 * @device: device to send it to
 *
 * Takes no slot: there may be none, as the failure of a read is not foreseen.
 */
void spek_augment_io_repeat(struct spek_augment *m, struct spek_augment_slot *slot, u32 device)
{
	slot->io.device = device;
	slot->is_repeat = true;
	enqueue(m, slot);
}

/**
 * spek_augment_io_free() - free a slot
 * @m: machine
 * @tag: number of a slot that was issued
 */
void spek_augment_io_free(struct spek_augment *m, u32 tag)
{
	m->slots[tag].next = m->free_io;
	m->free_io = tag;
	m->nr_free_ios++;
	m->again = true;
}

/**
 * spek_augment_next_io() - take the next I/O to issue
 * @m: machine
 * @io: filled in
 *
 * Return: false if there is none.
 */
bool spek_augment_next_io(struct spek_augment *m, struct spek_augment_io *io)
{
	u32 tag = m->first_io;

	if (tag == SPEK_AUGMENT_NONE)
		return false;
	m->first_io = m->slots[tag].next;
	if (m->first_io == SPEK_AUGMENT_NONE)
		m->last_io = SPEK_AUGMENT_NONE;
	*io = m->slots[tag].io;
	spek_augment_wake_note(m, &m->slots[tag]);
	return true;
}

/**
 * spek_augment_stage_take() - take a buffer
 * @m: machine with a free buffer
 *
 * Return: its number, used once.
 */
u32 spek_augment_stage_take(struct spek_augment *m)
{
	u32 stage;

	for (stage = 0; stage < SPEK_AUGMENT_STAGES - 1; stage++)
		if (!m->stage_uses[stage])
			break;
	m->stage_uses[stage] = 1;
	m->free_stages--;
	return stage;
}

/**
 * spek_augment_stage_put() - end a use of a buffer
 * @m: machine
 * @stage: number
 */
void spek_augment_stage_put(struct spek_augment *m, u32 stage)
{
	if (!--m->stage_uses[stage]) {
		m->free_stages++;
		m->again = true;
	}
}

/**
 * spek_augment_push() - append a bio
 * @m: machine
 * @list: list
 * @bio: number of the bio
 */
void spek_augment_push(struct spek_augment *m, struct spek_augment_list *list, u32 bio)
{
	m->requests[bio].next = SPEK_AUGMENT_NONE;
	if (list->last == SPEK_AUGMENT_NONE)
		list->first = bio;
	else
		m->requests[list->last].next = bio;
	list->last = bio;
}

/**
 * spek_augment_pop() - take the first bio
 * @m: machine
 * @list: list
 *
 * Return: number of the bio, or SPEK_AUGMENT_NONE.
 */
u32 spek_augment_pop(struct spek_augment *m, struct spek_augment_list *list)
{
	u32 bio = list->first;

	if (bio == SPEK_AUGMENT_NONE)
		return bio;
	list->first = m->requests[bio].next;
	if (list->first == SPEK_AUGMENT_NONE)
		list->last = SPEK_AUGMENT_NONE;
	return bio;
}
