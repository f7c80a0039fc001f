/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The backlog of one worker: open loop arrivals that are due but not made by its generator.
 *
 * It is counted from marks of the generator (spek_gen_mark()) on a separate copy of the time
 * sequences, so another thread can count and the generator's owner never draws for it.
 */
#ifndef SPEK_CORE_BACKLOG_H
#define SPEK_CORE_BACKLOG_H

#include "../../core/spek_host.h"
#include "arrival.h"
#include "gen.h"
#include "workload.h"

/* Limit of the arrivals that one count draws per process */
#define SPEK_BACKLOG_DRAWS	(1u << 20)

/**
 * struct spek_backlog - counter of a worker's backlog; not thread-safe
 * @nr: number of arrival processes
 * @process: per arrival process, the constants of its times; once it has begun, a copy of the
 *	times ahead of the generator, and the number of arrivals that the copy has passed
 */
struct spek_backlog {
	u32 nr;
	struct spek_ahead {
		struct spek_clock clock;
		struct spek_times times;
		u64 seen;
		bool has_begun;
	} process[SPEK_MAX_ARRIVALS];
};

/**
 * struct spek_backlog_count - progress of a count
 * @process: arrival process whose arrivals are drawn
 * @draws: draws of this process so far
 * @sum: backlog of the processes before it
 */
struct spek_backlog_count {
	u32 process;
	u32 draws;
	u64 sum;
};

void spek_backlog_init(struct spek_backlog *backlog, const struct spek_workload *wl,
		       const struct spek_gen *gen);
bool spek_backlog_step(struct spek_backlog *backlog, struct spek_backlog_count *count,
		       const struct spek_gen_mark *mark, u64 now_ns, u32 draws);

#endif
