// SPDX-License-Identifier: GPL-2.0
/*
 * Members that sleep: which is the mirror, which is woken for a write, and what woke those that are
 * told to be awake.
 *
 * Which disks an I/O of the RAID wakes is not known here. The first I/O that may have reached a
 * sleeping member since it was told to sleep is taken for the cause if it is awake later.
 */
#include "machine.h"

/* Members come after the SSD, and the devices of a machine are few. */
static u32 next_of(u32 devices, u32 after)
{
	u32 device = after;

	do
		device = device < SPEK_AUGMENT_MEMBERS ? device + 1 : SPEK_AUGMENT_MEMBER;
	while (!(devices >> device & 1));
	return device;
}

static u32 choose(const struct spek_augment *m, u32 live)
{
	if (m->config.wake == SPEK_AUGMENT_WAKE_LAST && m->mirror &&
	    (live & spek_augment_bit(m->mirror)))
		return m->mirror;
	return next_of(live, m->config.wake == SPEK_AUGMENT_WAKE_LAST ? 0 : m->woken);
}

/**
 * spek_augment_has_mirror() - choose the member for the next record, or wake one
 * @m: machine
 *
 * The mirror stays as long as it is awake. None is woken while another one in use is being woken, or
 * as long as there is no I/O for it. In turn, starts wear all members alike.
 *
 * Return: true if the mirror is awake.
 */
bool spek_augment_has_mirror(struct spek_augment *m)
{
	u32 live = m->live & SPEK_AUGMENT_ALL_MEMBERS;

	if (m->mirror && (live & m->awake & spek_augment_bit(m->mirror)))
		return true;
	if (live & m->awake) {
		m->mirror = next_of(live & m->awake, 0);
		return true;
	}
	if (live && !m->waking && m->nr_free_ios >= SPEK_AUGMENT_BIO_IOS) {
		m->woken = choose(m, live);
		spek_augment_io_new(m, SPEK_AUGMENT_FOR_WAKE, SPEK_AUGMENT_WAKE, m->woken, 0, 0);
		m->waking = true;
	}
	return false;
}

/**
 * spek_augment_any_mirror() - choose a member, preferably one that is awake
 * @m: machine with a member in use
 *
 * Return: device of the mirror; without a mirror, of an awake member; without either, of a member
 * in use.
 */
u32 spek_augment_any_mirror(const struct spek_augment *m)
{
	u32 live = m->live & SPEK_AUGMENT_ALL_MEMBERS;

	if (m->mirror)
		return m->mirror;
	return next_of(live & m->awake ? live & m->awake : live, 0);
}

static enum spek_augment_cause cause_of(const struct spek_augment *m,
					const struct spek_augment_slot *slot)
{
	switch (slot->purpose) {
	case SPEK_AUGMENT_FOR_HIT:
	case SPEK_AUGMENT_FOR_MISS:
	case SPEK_AUGMENT_FOR_PREFETCH:
		return SPEK_AUGMENT_CAUSE_READ;
	case SPEK_AUGMENT_FOR_RECORD:
	case SPEK_AUGMENT_FOR_WAKE:
		return SPEK_AUGMENT_CAUSE_WRITE;
	case SPEK_AUGMENT_FOR_FLUSH:
		/* That no bio waits for: the barrier of destage. */
		if (m->flushes.first == SPEK_AUGMENT_NONE)
			return SPEK_AUGMENT_CAUSE_DESTAGE;
		return SPEK_AUGMENT_CAUSE_FLUSH;
	case SPEK_AUGMENT_FOR_PASS:
		if (slot->io.op == SPEK_AUGMENT_READ)
			return SPEK_AUGMENT_CAUSE_READ;
		return slot->io.op == SPEK_AUGMENT_WRITE ? SPEK_AUGMENT_CAUSE_WRITE :
							   SPEK_AUGMENT_CAUSE_FLUSH;
	default:
		return SPEK_AUGMENT_CAUSE_DESTAGE;
	}
}

/**
 * spek_augment_wake_note() - note what an I/O is for, should it wake a member
 * @m: machine
 * @slot: I/O that is issued
 */
void spek_augment_wake_note(struct spek_augment *m, const struct spek_augment_slot *slot)
{
	u32 reached = SPEK_AUGMENT_ALL_MEMBERS;
	u32 i;

	if (slot->io.device != SPEK_AUGMENT_RAID)
		reached &= spek_augment_bit(slot->io.device);
	reached &= ~m->awake;
	if (!reached)
		return;
	for (i = 0; i < m->config.nr_members; i++)
		if ((reached & spek_augment_bit(SPEK_AUGMENT_MEMBER + i)) &&
		    m->causes[i] == SPEK_AUGMENT_CAUSE_OTHER)
			m->causes[i] = cause_of(m, slot);
}

/**
 * spek_augment_wake_set() - note that a member sleeps or is awake
 * @m: machine
 * @member: number of the member, from 0
 * @is_awake: whether it is awake
 */
void spek_augment_wake_set(struct spek_augment *m, u32 member, bool is_awake)
{
	u32 bit = spek_augment_bit(SPEK_AUGMENT_MEMBER + member);

	if (is_awake && !(m->awake & bit)) {
		m->stats.wakes[m->causes[member]]++;
		m->stirred = true;
	}
	/* A member that still sleeps was not woken by what was sent before. */
	m->causes[member] = SPEK_AUGMENT_CAUSE_OTHER;
	m->awake = is_awake ? m->awake | bit : m->awake & ~bit;
}

/**
 * spek_augment_wake_end() - end the wake-up of a member
 * @m: machine
 * @slot: the I/O
 * @error: 0 or a negative errno
 */
void spek_augment_wake_end(struct spek_augment *m, struct spek_augment_slot *slot, int error)
{
	if (m->woken == slot->io.device)
		m->waking = false;
	m->again = true;
	if (error)
		spek_augment_drop(m, slot->io.device);
	else
		spek_augment_wake_set(m, slot->io.device - SPEK_AUGMENT_MEMBER, true);
}
