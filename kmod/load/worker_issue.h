/* SPDX-License-Identifier: GPL-2.0 */
/* Issuing operations, and what waits to be issued. See worker_issue.c. */
#ifndef SPEK_WORKER_ISSUE_H
#define SPEK_WORKER_ISSUE_H

#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/types.h>
#include "core/gen.h"
#include "op_fifo.h"
#include "target.h"
#include "worker_line.h"

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
 * @count: requests sent to @target
 * @whole_end: all operations of fewer bytes are one part in one chunk of the buffer
 * @plain_end: plain ones of fewer bytes are; 0, as of @whole_end: it depends, for any operation
 * @may_sleep: sending a read or a write may sleep in the block layer
 * @start: first byte of the asu on @target
 * @opf: operation and flags of a read and of a write
 */
struct spek_lane {
	struct spek_asu_map map;
	const struct spek_target *target;
	struct spek_target_count *count;
	u32 target_index;
	u32 whole_end;
	u32 plain_end;
	bool may_sleep;
	u64 start;
	blk_opf_t opf[2];
};

/**
 * struct spek_issue - what a worker issues, and what waits to be issued; the thread's own
 * @free: free slots
 * @lines: bits of the targets with operations in @line
 * @served: line whose operations are being sent, or NULL
 * @has_made: operations were made beside lines
 * @line: of each target
 * @op_room: memory of their FIFOs
 * @targets: copies of the run's, with the limits as last seen
 * @next_checked: target whose limits are looked at next
 * @lane: how operations on each asu become parts
 * @batch_hint: operations the next plug is likely to carry
 * @always_plugs: a back end puts its requests on the plug, const
 * @flush_sleeps: drivers may sleep when they get the requests of a plug, const
 * @plug: the thread's while it issues; not on its stack, where many kernels zero it at each use
 * @count: requests sent to each target
 * @poller: of each target
 *
 * Others read it with READ_ONCE.
 */
struct spek_issue {
	struct spek_slot *free;
	u32 lines;
	struct spek_line *served;
	bool has_made;
	struct spek_line line[SPEK_MAX_TARGETS];
	struct spek_op_room op_room;
	u32 next_checked;
	struct spek_target *targets;
	struct spek_lane lane[SPEK_MAX_ASUS];
	u32 batch_hint;
	bool always_plugs;
	bool flush_sleeps;
	struct blk_plug plug;
	struct spek_target_count count[SPEK_MAX_TARGETS];
	struct spek_poller *poller;
};

bool spek_worker_issue(struct spek_worker *w, u64 now_ns);
u64 spek_worker_next_issue_ns(struct spek_worker *w);

#endif
