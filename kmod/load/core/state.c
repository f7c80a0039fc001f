// SPDX-License-Identifier: GPL-2.0
/*
 * States of a run.
 *
 *   OPENING -opened-> READY -start-> RUNNING -end-> DRAINING -drained-> DONE
 *   OPENING -failed-> FAILED
 *   READY -arm-> ARMED -start-> RUNNING
 *   READY, ARMED -end-> DONE          nothing was issued, so nothing has to drain
 *   DRAINING, DONE, CLOSING -end->    stay: a second request to end does no harm
 *   OPENING, READY, DONE, FAILED -delete-> CLOSING -gone-> GONE
 *   CLOSING -opened|failed->          stays: it was deleted while it opened its devices
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
	},
	[SPEK_STATE_DRAINING] = {
		.name = "DRAINING",
		.accepts_stop = true,
	},
	[SPEK_STATE_DONE] = {
		.name = "DONE",
		.accepts_stop = true,
		.accepts_delete = true,
		.has_ended = true,
	},
	[SPEK_STATE_OPENING] = {
		.name = "OPENING",
		.accepts_stop = true,
		.accepts_delete = true,
	},
	[SPEK_STATE_ARMED] = {
		.name = "ARMED",
		.accepts_stop = true,
	},
	[SPEK_STATE_FAILED] = {
		.name = "FAILED",
		.accepts_stop = true,
		.accepts_delete = true,
		.has_ended = true,
	},
	[SPEK_STATE_CLOSING] = {
		.name = "CLOSING",
		.accepts_stop = true,
		.has_ended = true,
	},
	[SPEK_STATE_GONE] = {
		.name = "GONE",
		.has_ended = true,
	},
};

/* The state after an event, plus 1; 0: the event is not allowed there. */
#define TO(state)	(SPEK_STATE_##state + 1)

static const u8 transitions[SPEK_STATE_NR][SPEK_EVENT_NR] = {
	[SPEK_STATE_OPENING] = {
		[SPEK_EVENT_OPENED] = TO(READY),
		[SPEK_EVENT_FAILED] = TO(FAILED),
		[SPEK_EVENT_DELETE] = TO(CLOSING),
	},
	[SPEK_STATE_READY] = {
		[SPEK_EVENT_START] = TO(RUNNING),
		[SPEK_EVENT_ARM] = TO(ARMED),
		[SPEK_EVENT_END] = TO(DONE),
		[SPEK_EVENT_DELETE] = TO(CLOSING),
	},
	[SPEK_STATE_ARMED] = {
		[SPEK_EVENT_START] = TO(RUNNING),
		[SPEK_EVENT_END] = TO(DONE),
	},
	[SPEK_STATE_RUNNING] = {
		[SPEK_EVENT_END] = TO(DRAINING),
	},
	[SPEK_STATE_DRAINING] = {
		[SPEK_EVENT_END] = TO(DRAINING),
		[SPEK_EVENT_DRAINED] = TO(DONE),
	},
	[SPEK_STATE_DONE] = {
		[SPEK_EVENT_END] = TO(DONE),
		[SPEK_EVENT_DELETE] = TO(CLOSING),
	},
	[SPEK_STATE_FAILED] = {
		[SPEK_EVENT_DELETE] = TO(CLOSING),
	},
	[SPEK_STATE_CLOSING] = {
		[SPEK_EVENT_OPENED] = TO(CLOSING),
		[SPEK_EVENT_FAILED] = TO(CLOSING),
		[SPEK_EVENT_END] = TO(CLOSING),
		[SPEK_EVENT_GONE] = TO(GONE),
	},
};

/**
 * spek_state_next() - find the state after an event
 * @state: state before it
 * @event: what happens
 *
 * Return: the state, -EBUSY if the event is not allowed there, -EINVAL for an argument that is
 * no state or event.
 */
int spek_state_next(enum spek_state state, enum spek_event event)
{
	if ((u32)state >= SPEK_STATE_NR || (u32)event >= SPEK_EVENT_NR)
		return -EINVAL;
	return transitions[state][event] ? transitions[state][event] - 1 : -EBUSY;
}
