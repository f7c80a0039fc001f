// SPDX-License-Identifier: GPL-2.0
/* Devices that fail or are lost. */
#include "machine.h"

/**
 * spek_augment_read_failed() - do without a copy that a device cannot read
 * @m: machine
 * @entry: the block's entry
 * @device: SSD or member
 */
void spek_augment_read_failed(struct spek_augment *m, u32 entry, u32 device)
{
	struct spek_augment_entry *failed = &m->entries[entry];

	failed->state |= device == SPEK_AUGMENT_SSD ? SPEK_AUGMENT_NO_SSD : SPEK_AUGMENT_NO_MIRROR;
	if (!spek_augment_in_log(m, entry) && spek_augment_state(failed) == SPEK_AUGMENT_CLEAN)
		spek_augment_map_retire(m, entry);
}

/**
 * spek_augment_other() - choose the device to read an entry from that another one could not read
 * @m: machine
 * @entry: entry of the log
 * @device: SSD or member that could not read it
 *
 * Return: device, or SPEK_AUGMENT_NONE if there is no other copy.
 */
u32 spek_augment_other(const struct spek_augment *m, u32 entry, u32 device)
{
	const struct spek_augment_entry *wanted = &m->entries[entry];
	u32 lacks = SPEK_AUGMENT_NO_SSD;
	u32 source = SPEK_AUGMENT_SSD;

	if (device == SPEK_AUGMENT_SSD) {
		lacks = SPEK_AUGMENT_NO_MIRROR;
		source = spek_augment_mirror_of(wanted);
	}
	if ((wanted->state & lacks) || !(m->live & spek_augment_bit(source)))
		return SPEK_AUGMENT_NONE;
	return source;
}

/**
 * spek_augment_drain() - accept no writes until all that can be read of the log is on the RAID
 * @m: machine
 */
void spek_augment_drain(struct spek_augment *m)
{
	m->destage.scan = m->tail;
	m->keeps_log = false;
	if (m->mode == SPEK_AUGMENT_NORMAL)
		m->mode = SPEK_AUGMENT_DRAINING;
	m->again = true;
}

/**
 * spek_augment_drop() - do without a device from now on
 * @m: machine
 * @device: SSD or member
 */
void spek_augment_drop(struct spek_augment *m, u32 device)
{
	if (!(m->live & spek_augment_bit(device)))
		return;
	m->live &= ~spek_augment_bit(device);
	if (m->mirror == device)
		m->mirror = 0;
	/* Its wake-up may last for as long as the device hangs. */
	if (m->woken == device)
		m->waking = false;
	spek_augment_drain(m);
}

/**
 * spek_augment_pause() - destage again later, after an error of the RAID
 * @m: machine
 */
void spek_augment_pause(struct spek_augment *m)
{
	m->destage.stuck = true;
	m->destage.retry_at_ns = m->now_ns + m->config.retry_ns;
	m->destage.scan = m->tail;
}

/**
 * spek_augment_fail() - accept no writes: a dirty block has no readable copy, or no device is left
 * @m: machine that has nothing else to destage
 */
void spek_augment_fail(struct spek_augment *m)
{
	m->mode = SPEK_AUGMENT_FAILED;
	m->again = true;
}

/**
 * spek_augment_resume() - accept writes after the log has been recovered or drained
 * @m: machine whose devices have superblocks of the new generation
 */
void spek_augment_resume(struct spek_augment *m)
{
	m->tail = m->super.tail;
	m->tail_seq = m->super.tail_seq;
	m->done_seq = m->issued_seq;
	m->flushed_seq = m->issued_seq;
	m->unflushed = 0;
	m->mark_ns = m->dirty ? m->now_ns : SPEK_AUGMENT_NEVER;
	/* Whether the RAID was read before recovery is not known. */
	m->raid_read_ns = m->now_ns;
	m->mode = SPEK_AUGMENT_PASSING;
	if ((m->live & spek_augment_bit(SPEK_AUGMENT_SSD)) && (m->live & SPEK_AUGMENT_ALL_MEMBERS))
		m->mode = SPEK_AUGMENT_NORMAL;
	m->again = true;
}
