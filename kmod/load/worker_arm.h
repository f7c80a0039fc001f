/* SPDX-License-Identifier: GPL-2.0 */
/* How operations become parts. See worker_arm.c. */
#ifndef SPEK_WORKER_ARM_H
#define SPEK_WORKER_ARM_H

#include <linux/types.h>

struct spek_lane;
struct spek_part;
struct spek_slot;
struct spek_worker;

bool spek_worker_flush_may_sleep(const struct spek_worker *w);
void spek_worker_init_lanes(struct spek_worker *w);
void spek_worker_read_limits(struct spek_worker *w);

bool spek_worker_arm_parts(struct spek_worker *w, struct spek_slot *slot,
			   const struct spek_lane *lane);
bool spek_worker_arm_placed(struct spek_worker *w, struct spek_slot *slot,
			    const struct spek_lane *lane);
bool spek_worker_begin(struct spek_worker *w, struct spek_slot *slot);

u32 spek_worker_cut(struct spek_worker *w, struct spek_slot *slot, struct spek_part *part,
		    u32 done);
bool spek_worker_must_not_cut(struct spek_worker *w, const struct spek_op *op, u32 nr);
bool spek_worker_grow(struct spek_worker *w, struct spek_slot *slot, u32 nr_parts);

#endif
