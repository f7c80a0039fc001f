// SPDX-License-Identifier: GPL-2.0
/*
 * States of a run.
 *
 *   READY -start-> RUNNING -end-> DRAINING -drained-> DONE
 *   READY -end-> DONE         nothing was ever issued, so nothing has to drain
 *   DRAINING, DONE -end->     stay: whoever asks second does no harm
 */
#include "state.h"

const struct spek_state_info spek_states[SPEK_STATE_NR] = {
	[SPEK_STATE_READY] = {
		.name = "READY",
		.accepts_start = true,
		.accepts_stop = true,
		.accepts_delete = true,
	},
	[SPEK_STATE_RUNNING] = {
		.name = "RUNNING",
		.accepts_stop = true,
		.io_in_flight = true,
	},
	[SPEK_STATE_DRAINING] = {
		.name = "DRAINING",
		.accepts_stop = true,
		.io_in_flight = true,
	},
	[SPEK_STATE_DONE] = {
		.name = "DONE",
		.accepts_stop = true,
		.accepts_delete = true,
		.has_ended = true,
	},
};

static const s8 transitions[SPEK_STATE_NR][SPEK_EVENT_NR] = {
	[SPEK_STATE_READY] = {
		[SPEK_EVENT_START] = SPEK_STATE_RUNNING,
		[SPEK_EVENT_END] = SPEK_STATE_DONE,
		[SPEK_EVENT_DRAINED] = -1,
	},
	[SPEK_STATE_RUNNING] = {
		[SPEK_EVENT_START] = -1,
		[SPEK_EVENT_END] = SPEK_STATE_DRAINING,
		[SPEK_EVENT_DRAINED] = -1,
	},
	[SPEK_STATE_DRAINING] = {
		[SPEK_EVENT_START] = -1,
		[SPEK_EVENT_END] = SPEK_STATE_DRAINING,
		[SPEK_EVENT_DRAINED] = SPEK_STATE_DONE,
	},
	[SPEK_STATE_DONE] = {
		[SPEK_EVENT_START] = -1,
		[SPEK_EVENT_END] = SPEK_STATE_DONE,
		[SPEK_EVENT_DRAINED] = -1,
	},
};

int spek_state_next(enum spek_state state, enum spek_event event)
{
	if ((u32)state >= SPEK_STATE_NR || (u32)event >= SPEK_EVENT_NR)
		return -EINVAL;
	return transitions[state][event] < 0 ? -EBUSY : transitions[state][event];
}
