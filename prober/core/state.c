// SPDX-License-Identifier: GPL-2.0
/*
 * States of the probe and of feeds.
 *
 * A probe, of which there is at most one:
 *
 *	IDLE -start-> RUNNING -stop-> STOPPING -ended-> DONE -release-> IDLE
 *	STOPPING, DONE -stop-> unchanged: a second stop is ignored
 *
 * A feed:
 *
 *	OPEN -close-> CLOSED
 *	OPEN -owner gone-> BROKEN
 *	CLOSED, BROKEN -close|owner gone-> unchanged: the first end counts
 */
#include "state.h"

#define IDLE		SPEK_PROBER_PROBE_STATE_IDLE
#define RUNNING		SPEK_PROBER_PROBE_STATE_RUNNING
#define STOPPING	SPEK_PROBER_PROBE_STATE_STOPPING
#define DONE		SPEK_PROBER_PROBE_STATE_DONE

#define OPEN		SPEK_PROBER_FEED_STATE_OPEN
#define CLOSED		SPEK_PROBER_FEED_STATE_CLOSED
#define BROKEN		SPEK_PROBER_FEED_STATE_BROKEN

const struct spek_probe_state_info spek_probe_states[SPEK_PROBE_NR_STATES] = {
	[IDLE] = {
		.name = "IDLE",
		.makes_room = true,
	},
	[RUNNING] = {
		.name = "RUNNING",
		.takes_rows = true,
	},
	[STOPPING] = {
		.name = "STOPPING",
		.takes_rows = true,
	},
	[DONE] = {
		.name = "DONE",
		.makes_room = true,
		.has_ended = true,
	},
};

const struct spek_feed_state_info spek_feed_states[SPEK_FEED_NR_STATES] = {
	[OPEN] = {
		.name = "OPEN",
		.takes_samples = true,
	},
	[CLOSED] = {
		.name = "CLOSED",
	},
	[BROKEN] = {
		.name = "BROKEN",
	},
};

static const s8 probe_transitions[SPEK_PROBE_NR_STATES][SPEK_PROBE_NR_EVENTS] = {
	[IDLE] = {
		[SPEK_PROBE_EVENT_START] = RUNNING,
		[SPEK_PROBE_EVENT_STOP] = -1,
		[SPEK_PROBE_EVENT_ENDED] = -1,
		[SPEK_PROBE_EVENT_RELEASE] = -1,
	},
	[RUNNING] = {
		[SPEK_PROBE_EVENT_START] = -1,
		[SPEK_PROBE_EVENT_STOP] = STOPPING,
		[SPEK_PROBE_EVENT_ENDED] = -1,
		[SPEK_PROBE_EVENT_RELEASE] = -1,
	},
	[STOPPING] = {
		[SPEK_PROBE_EVENT_START] = -1,
		[SPEK_PROBE_EVENT_STOP] = STOPPING,
		[SPEK_PROBE_EVENT_ENDED] = DONE,
		[SPEK_PROBE_EVENT_RELEASE] = -1,
	},
	[DONE] = {
		[SPEK_PROBE_EVENT_START] = -1,
		[SPEK_PROBE_EVENT_STOP] = DONE,
		[SPEK_PROBE_EVENT_ENDED] = -1,
		[SPEK_PROBE_EVENT_RELEASE] = IDLE,
	},
};

static const u8 feed_transitions[SPEK_FEED_NR_STATES][SPEK_FEED_NR_EVENTS] = {
	[OPEN] = {
		[SPEK_FEED_EVENT_CLOSE] = CLOSED,
		[SPEK_FEED_EVENT_OWNER_GONE] = BROKEN,
	},
	[CLOSED] = {
		[SPEK_FEED_EVENT_CLOSE] = CLOSED,
		[SPEK_FEED_EVENT_OWNER_GONE] = CLOSED,
	},
	[BROKEN] = {
		[SPEK_FEED_EVENT_CLOSE] = BROKEN,
		[SPEK_FEED_EVENT_OWNER_GONE] = BROKEN,
	},
};

/**
 * spek_probe_next_state() - look up a transition of a probe
 * @state: state it is in
 * @event: event
 *
 * Return: enum spek_prober_probe_state after @event, -EBUSY if @event is not allowed in
 *	@state, -EINVAL if there is no such state or event.
 */
int spek_probe_next_state(enum spek_prober_probe_state state, enum spek_probe_event event)
{
	if ((u32)state >= SPEK_PROBE_NR_STATES || (u32)event >= SPEK_PROBE_NR_EVENTS)
		return -EINVAL;
	return probe_transitions[state][event] < 0 ? -EBUSY : probe_transitions[state][event];
}

/**
 * spek_feed_next_state() - look up a transition of a feed
 * @state: state it is in
 * @event: event
 *
 * Return: enum spek_prober_feed_state after @event, -EINVAL if there is no such state or
 *	event.
 */
int spek_feed_next_state(enum spek_prober_feed_state state, enum spek_feed_event event)
{
	if ((u32)state >= SPEK_FEED_NR_STATES || (u32)event >= SPEK_FEED_NR_EVENTS)
		return -EINVAL;
	return feed_transitions[state][event];
}
