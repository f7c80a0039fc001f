// SPDX-License-Identifier: GPL-2.0
/* Flushes: what is on stable media on every device that has it. */
#include "machine.h"

/* Answer bios that wait for nothing more; true if others could go by another round. */
static bool answer_flushed(struct spek_augment *m)
{
	struct spek_augment_list waiting = m->flushes;
	struct spek_augment_list empty = { SPEK_AUGMENT_NONE, SPEK_AUGMENT_NONE };
	bool wanted = false;
	u32 bio;

	m->flushes = empty;
	for (bio = spek_augment_pop(m, &waiting); bio != SPEK_AUGMENT_NONE;
	     bio = spek_augment_pop(m, &waiting)) {
		struct spek_augment_request *request = &m->requests[bio];

		/* What was flushed before a failure may be lost with it. */
		if (m->mode == SPEK_AUGMENT_FAILED ||
		    (request->target > m->flushed_seq && spek_augment_is_stuck(m)))
			request->error = -EIO;
		if (request->target <= m->flushed_seq || request->error) {
			spek_augment_push(m, &m->answers, bio);
			continue;
		}
		wanted |= request->target <= m->done_seq;
		spek_augment_push(m, &m->flushes, bio);
	}
	return wanted;
}

static void end_round(struct spek_augment *m)
{
	/* A device that failed has lost what it held: the records have to be drained first. */
	if (m->mode == SPEK_AUGMENT_NORMAL && !m->flush_failed)
		m->flushed_seq = m->flush_seq;
	m->again = true;
}

static void flush_devices(struct spek_augment *m, u32 devices)
{
	u32 device;

	for (device = 0; device < SPEK_AUGMENT_RAID; device++) {
		if (!(devices & spek_augment_bit(device)))
			continue;
		spek_augment_io_new(m, SPEK_AUGMENT_FOR_FLUSH, SPEK_AUGMENT_FLUSH, device, 0, 0);
		m->flushing++;
	}
}

/**
 * spek_augment_flush_all() - flush all devices, also those without writes since the start
 * @m: machine that has adopted a log
 *
 * After a crash of the kernel without a power cut, records may be only in the devices' caches. A
 * cut now would lose data that bios have read, or records that are needed to mend torn blocks. The
 * same goes for blocks on the RAID of writes that bypassed the log, and for superblocks: without the
 * newest, older records would count again.
 */
void spek_augment_flush_all(struct spek_augment *m)
{
	m->wants_flush = false;
	flush_devices(m, m->live);
	if (!m->has_passed)
		return;
	spek_augment_io_new(m, SPEK_AUGMENT_FOR_FLUSH, SPEK_AUGMENT_FLUSH, SPEK_AUGMENT_RAID, 0, 0);
	m->flushing++;
}

/**
 * spek_augment_flush_step() - begin a round of flushes if a bio or the tail waits for it
 * @m: machine
 */
void spek_augment_flush_step(struct spek_augment *m)
{
	bool wanted = m->flushes.first != SPEK_AUGMENT_NONE && answer_flushed(m);

	if (m->destage.step == SPEK_AUGMENT_BARRIER && m->destage.barrier > m->flushed_seq)
		wanted |= m->destage.barrier <= m->done_seq;
	if (!wanted || m->flushing || m->mode != SPEK_AUGMENT_NORMAL)
		return;
	m->flush_seq = m->done_seq;
	m->flush_failed = false;
	m->stats.flushes++;
	flush_devices(m, m->unflushed);
	m->unflushed = 0;
	if (!m->flushing)
		end_round(m);
}

/**
 * spek_augment_flush_end() - end a flush of a device
 * @m: machine
 * @slot: the I/O
 * @error: 0 or a negative errno
 */
void spek_augment_flush_end(struct spek_augment *m, struct spek_augment_slot *slot, int error)
{
	if (error && slot->io.device == SPEK_AUGMENT_RAID) {
		m->wants_flush = true;
		spek_augment_pause(m);
	} else if (error) {
		m->flush_failed = true;
		spek_augment_drop(m, slot->io.device);
	}
	if (!--m->flushing)
		end_round(m);
}
