/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Distribution of a run over its workers. For set-up only: the hot path uses the results.
 *
 * A stream whose replicas have a history that a second copy would falsify (runs, walk) stays
 * with its replicas. All other streams can be copied: with fewer replicas than workers each
 * worker gets all replicas and an equal share of the I/O.
 *
 * Poisson: a worker's rate follows its shares of the streams, which is exact for any numbers.
 * The other laws deal out whole I/Os, so they use only as many workers as can have at least one
 * I/O and a share of every stream.
 *
 * Numbers of I/Os are shared out by load, so that workers come to their ends at about the same
 * time. A number that is a multiple of an ordered pass of a range is shared out by the parts of the
 * range, so that each part is passed that many times.
 */
#ifndef SPEK_CORE_SHARE_H
#define SPEK_CORE_SHARE_H

#include "../../core/spek_host.h"
#include "workload.h"

/**
 * struct spek_share - a worker's share of a stream
 * @first: number of its first replica
 * @count: number of its replicas; 0 without a share
 * @first_part: sequential, strided: number of the part of the range of its first replica
 * @parts: number of parts of the whole range
 * @numerator: share of the stream's I/O, over @denominator
 * @denominator: number > 0 that @numerator is divided by
 * @part: table: parts of the range
 * @key: random number of the stream, the same on all workers; set by the generator
 */
struct spek_share {
	u32 first;
	u32 count;
	u64 first_part;
	u64 parts;
	u32 numerator;
	u32 denominator;
	const struct spek_section *part;
	u64 key;
};

u32 spek_share_even(u32 total, u32 worker, u32 workers, u32 *first);
u32 spek_share_participants(const struct spek_workload *wl, u32 arrival, u32 nr_workers);
void spek_share_stream(struct spek_share *share, const struct spek_workload *wl, u32 stream,
		       u32 worker, u32 nr_workers);
u64 spek_share_weights(u64 *weight, const struct spek_workload *wl, u32 arrival, u32 worker,
		       u32 nr_workers, u64 *all);
u64 spek_share_arrival_load(const struct spek_workload *wl, u32 arrival, u32 worker,
			    u32 nr_workers);
u32 spek_share_passed(const struct spek_workload *wl, u32 arrival, u32 nr_workers, u64 count);
u64 spek_share_count_load(const struct spek_workload *wl, u32 arrival, u32 passed, u32 worker,
			  u32 nr_workers);
u64 spek_share_count(const struct spek_workload *wl, u32 arrival, u32 worker, u32 nr_workers);
u64 spek_share_load(const struct spek_workload *wl, u32 worker, u32 nr_workers);
u64 spek_share_part(u64 *left, u64 load, u64 all);

#endif
