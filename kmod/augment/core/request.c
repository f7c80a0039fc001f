// SPDX-License-Identifier: GPL-2.0
/* Ends of bios: when nothing is left to be done for them, or destage keeps them from it. */
#include "machine.h"

/**
 * spek_augment_is_stuck() - ask whether destage has failed and waits before it tries again
 * @m: machine
 *
 * Return: true if so; bios that depend on destage end with an error then. True if the machine has
 * failed, too.
 */
bool spek_augment_is_stuck(const struct spek_augment *m)
{
	if (m->mode == SPEK_AUGMENT_FAILED)
		return true;
	return m->destage.stuck && m->now_ns < m->destage.retry_at_ns &&
	       m->mode != SPEK_AUGMENT_NORMAL && m->mode != SPEK_AUGMENT_PASSING;
}

/**
 * spek_augment_request_end() - end a bio if nothing of it is in flight or still to be issued
 * @m: machine
 * @bio: number of the bio
 */
void spek_augment_request_end(struct spek_augment *m, u32 bio)
{
	struct spek_augment_request *request = &m->requests[bio];

	if (request->parts || request->issued < request->bio.blocks)
		return;
	m->again = true;
	if (request->retry && !request->error) {
		request->retry = false;
		request->issued = 0;
		spek_augment_push(m, &m->reads, bio);
	} else if (!request->error && (request->bio.fua || request->bio.preflush)) {
		spek_augment_push(m, &m->flushes, bio);
	} else {
		spek_augment_push(m, &m->answers, bio);
	}
}
