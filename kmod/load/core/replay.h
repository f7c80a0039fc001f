/* SPDX-License-Identifier: GPL-2.0 */
/* Replay: records of a trace instead of drawn operations. */
#ifndef SPEK_CORE_REPLAY_H
#define SPEK_CORE_REPLAY_H

#include "../../core/spek_host.h"
#include "gen.h"
#include "workload.h"

#define SPEK_NR_TRACE_OPS	4
#define SPEK_MAX_TRACE_NS	(366ull * 86400 * 1000000000)

/**
 * struct spek_recorded - a record of a trace; see struct spek_trace_record
 * @at_ns: due time after the start of the run; law closed: think time after the completion that
 *	makes room for it
 * @addr: first byte in the asu
 * @bytes: length
 * @asu: index of the asu
 * @op: enum spek_trace_op
 * @flags: SPEK_OP_FUA and SPEK_OP_PREFLUSH
 */
struct spek_recorded {
	u64 at_ns;
	u64 addr;
	u32 bytes;
	u16 asu;
	u8 op;
	u8 flags;
};

/**
 * struct spek_supply - where the records of a worker come from
 * @next: take the next record, which spek_replay_check() has accepted. Return: false if there is
 *	none at the moment
 */
struct spek_supply {
	bool (*next)(struct spek_supply *supply, struct spek_recorded *record);
};

/**
 * struct spek_replay_rules - what records of a workload may be
 * @rule: by asu and enum spek_trace_op
 * @rule.is_allowed: there is a stream for it
 * @rule.start: first byte of the stream's range
 * @rule.end: first byte after it
 * @rule.mask: bits that are 0 in addresses and lengths
 * @rule.max_bytes: longest length
 */
struct spek_replay_rules {
	struct spek_replay_rule {
		bool is_allowed;
		u64 start;
		u64 end;
		u32 mask;
		u32 max_bytes;
	} rule[SPEK_MAX_ASUS][SPEK_NR_TRACE_OPS];
};

int spek_replay_check_workload(const struct spek_workload *wl, u32 nr_workers,
			       struct spek_refusal *refusal);
void spek_replay_rules_init(struct spek_replay_rules *rules, const struct spek_workload *wl);
int spek_replay_check(const struct spek_replay_rules *rules, const struct spek_recorded *record,
		      u64 before_ns, struct spek_refusal *refusal);

u32 spek_replay_op(u32 operation, u64 tag);
u8 spek_replay_kind(const struct spek_recorded *record);

#endif
