/* SPDX-License-Identifier: GPL-2.0 */
/* States of a run as data: ask for a property, not for an identity. */
#ifndef SPEK_CORE_STATE_H
#define SPEK_CORE_STATE_H

#include "../../core/spek_host.h"
#include "../uapi/spek_enums.h"

#define SPEK_STATE_NR	(SPEK_STATE_GONE + 1)

enum spek_event {
	SPEK_EVENT_START,	/* run-start, or the time of an armed run has come */
	SPEK_EVENT_END,		/* stop, deadline, error, owner or device gone: no new I/O */
	SPEK_EVENT_DRAINED,	/* the last worker has ended: all I/O came back */
	SPEK_EVENT_OPENED,	/* devices claimed, workers prepared */
	SPEK_EVENT_FAILED,	/* a device or memory refused */
	SPEK_EVENT_ARM,		/* run-start with a time */
	SPEK_EVENT_DELETE,	/* run-del, or the owner of a run without I/O is gone */
	SPEK_EVENT_GONE,	/* devices released, out of the table */
	SPEK_EVENT_NR,
};

/**
 * struct spek_state_info - properties of a state
 * @name: for people
 * @accepts_start: run-start is allowed
 * @accepts_stop: run-stop is allowed (a second stop is harmless)
 * @accepts_delete: run-del is allowed
 * @has_ended: results, if any, are final
 */
struct spek_state_info {
	const char *name;
	bool accepts_start;
	bool accepts_stop;
	bool accepts_delete;
	bool has_ended;
};

extern const struct spek_state_info spek_states[SPEK_STATE_NR];

int spek_state_next(enum spek_state state, enum spek_event event);

#endif
