/* SPDX-License-Identifier: GPL-2.0 */
/*
 * States of the probe and of feeds as data: check a property, not the state.
 *
 * Pure C, as all of core/. The netlink contract defines the states.
 */
#ifndef SPEK_PROBER_CORE_STATE_H
#define SPEK_PROBER_CORE_STATE_H

#include "../../kmod/core/spek_host.h"
#include "../uapi/spek_prober.h"

#define SPEK_PROBE_NR_STATES (SPEK_PROBER_PROBE_STATE_DONE + 1)
#define SPEK_FEED_NR_STATES (SPEK_PROBER_FEED_STATE_BROKEN + 1)

/**
 * enum spek_probe_event - events of a probe
 * @SPEK_PROBE_EVENT_START: its thread starts
 * @SPEK_PROBE_EVENT_STOP: probe-stop, its owner's socket closed, or the module is unloaded
 * @SPEK_PROBE_EVENT_ENDED: its thread has taken the last row and ended
 * @SPEK_PROBE_EVENT_RELEASE: probe-del, its owner's socket closed, or the next probe starts
 * @SPEK_PROBE_NR_EVENTS: number of events
 */
enum spek_probe_event {
	SPEK_PROBE_EVENT_START,
	SPEK_PROBE_EVENT_STOP,
	SPEK_PROBE_EVENT_ENDED,
	SPEK_PROBE_EVENT_RELEASE,
	SPEK_PROBE_NR_EVENTS,
};

/**
 * enum spek_feed_event - events of a feed
 * @SPEK_FEED_EVENT_CLOSE: feed-close
 * @SPEK_FEED_EVENT_OWNER_GONE: its owner's socket closed
 * @SPEK_FEED_NR_EVENTS: number of events
 */
enum spek_feed_event {
	SPEK_FEED_EVENT_CLOSE,
	SPEK_FEED_EVENT_OWNER_GONE,
	SPEK_FEED_NR_EVENTS,
};

/**
 * struct spek_probe_state_info - properties of a state of the probe
 * @name: name for people
 * @takes_rows: its thread runs and the CPU callbacks are registered
 * @makes_room: another probe may start in its place
 * @has_ended: its rows and counts are final
 */
struct spek_probe_state_info {
	const char *name;
	bool takes_rows;
	bool makes_room;
	bool has_ended;
};

/**
 * struct spek_feed_state_info - properties of a state of a feed
 * @name: name for people
 * @takes_samples: its owner may push samples; otherwise no pending sample will come
 */
struct spek_feed_state_info {
	const char *name;
	bool takes_samples;
};

extern const struct spek_probe_state_info spek_probe_states[SPEK_PROBE_NR_STATES];
extern const struct spek_feed_state_info spek_feed_states[SPEK_FEED_NR_STATES];

int spek_probe_next_state(enum spek_prober_probe_state state, enum spek_probe_event event);
int spek_feed_next_state(enum spek_prober_feed_state state, enum spek_feed_event event);

#endif
