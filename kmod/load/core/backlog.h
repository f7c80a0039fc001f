/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The backlog of one worker: open loop arrivals that are due and that its generator has not made.
 *
 * It is counted from marks of the generator (spek_gen_mark()), by its own copy of the time
 * sequences, so the generator's owner never draws for it: another thread may count.
 */
#ifndef SPEK_CORE_BACKLOG_H
#define SPEK_CORE_BACKLOG_H

#include "../../core/spek_host.h"
#include "arrival.h"
#include "gen.h"
#include "workload.h"

/** SPEK_BACKLOG_DRAWS - arrivals of a process that one call of spek_backlog_count() draws */
#define SPEK_BACKLOG_DRAWS	(1u << 20)

/**
 * struct spek_backlog - what counts the backlog of a worker; not thread-safe
 * @nr: arrival processes
 * @process: constants of each one's times; a copy of the times that is ahead of the generator,
 *	if it has begun; arrivals that the copy has passed
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
 * spek_backlog_init() - prepare for the marks of a generator
 * @backlog: filled in
 * @wl: workload of @gen
 * @gen: the generator; not used after the call
 */
void spek_backlog_init(struct spek_backlog *backlog, const struct spek_workload *wl,
		       const struct spek_gen *gen);

/**
 * spek_backlog_count() - count the arrivals that were due and not made
 * @backlog: counts
 * @mark: of the generator, not older than that of the call before
 * @now_ns: arrivals at or before this are due; must not go back from call to call
 *
 * Exact: the times are drawn ahead. Amortised cost: one draw for each arrival that was ever in
 * the backlog. But a rate far beyond any device must not keep the caller here for ever: what is
 * left after SPEK_BACKLOG_DRAWS draws of a process is computed from its rate. That is exact, too,
 * but for Poisson: there its standard deviation is less than a thousandth of the backlog.
 *
 * Return: arrivals that spek_gen_next() had not made at @mark, over all open loops.
 */
u64 spek_backlog_count(struct spek_backlog *backlog, const struct spek_gen_mark *mark, u64 now_ns);

#endif
