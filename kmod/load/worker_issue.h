/* SPDX-License-Identifier: GPL-2.0 */
/* Issuing operations, and what waits to be issued. See worker_issue.c. */
#ifndef SPEK_WORKER_ISSUE_H
#define SPEK_WORKER_ISSUE_H

#include <linux/bio.h>
#include <linux/types.h>
#include "core/gen.h"
#include "target.h"

struct spek_part;
struct spek_slot;
struct spek_worker;

/**
 * struct spek_poller - how completions of a target are polled for
 * @last: the bio that was sent last; its cookie names the queue
 * @bio: what is given to bio_poll(); none of the slots', which may wait to be sent again
 */
struct spek_poller {
	const struct bio *last;
	struct bio bio;
};

/**
 * struct spek_lane - how operations on an asu become parts; changes with the limits of targets
 * @map: where its bytes lie
 * @target: of an asu that is not striped
 * @target_index: number of @target
 * @whole_end: reads and writes of fewer bytes are one part in one chunk of the buffer; 0: it
 *	depends, for any operation
 * @start: first byte of the asu on @target
 * @opf: operation and flags of a read and of a write
 */
struct spek_lane {
	struct spek_asu_map map;
	const struct spek_target *target;
	u32 target_index;
	u32 whole_end;
	u64 start;
	blk_opf_t opf[2];
};

/**
 * struct spek_issue - what a worker issues, and what waits to be issued; the thread's own
 * @free: free slots
 * @stalled: operation that waits for room, or NULL
 * @stalled_part: first part of @stalled to send; NULL if all of it waits for blocks (verify.c), for
 *	its zone (zone.c) or for memory
 * @recuts: @stalled is too large for the limits as they are now
 * @retry_ns: delay before the next try to send @stalled; 0 if a completion came since the last one
 * @retry_at_ns: time of that try
 * @gave_way_ns: when it last left requests to other workers
 * @targets: copies of the run's, with the limits as last seen
 * @next_checked: target whose limits are looked at next
 * @lane: how operations on each asu become parts
 * @batch_hint: operations the next plug is likely to carry
 * @count: requests sent to each target
 * @poller: of each target
 *
 * Others read it with READ_ONCE.
 */
struct spek_issue {
	struct spek_slot *free;
	struct spek_slot *stalled;
	struct spek_part *stalled_part;
	bool recuts;
	u64 retry_ns;
	u64 retry_at_ns;
	u64 gave_way_ns;
	u32 next_checked;
	struct spek_target *targets;
	struct spek_lane lane[SPEK_MAX_ASUS];
	u32 batch_hint;
	struct spek_target_count count[SPEK_MAX_TARGETS];
	struct spek_poller *poller;
};

bool spek_worker_issue(struct spek_worker *w, u64 now_ns);
void spek_worker_give_way(struct spek_worker *w);
void spek_worker_leave_zone(struct spek_worker *w, const struct spek_slot *failed);
void spek_worker_drop_stalled(struct spek_worker *w);

#endif
