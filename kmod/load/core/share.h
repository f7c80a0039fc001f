/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a run is shared out among its workers.
 * For set-up only: the hot path uses what was computed here.
 *
 * A stream whose replicas have a history that a second copy would falsify
 * (runs, walk) lives where its replicas live. All other streams can be copied: with fewer
 * replicas than workers each worker gets all replicas and an equal share of the I/O.
 *
 * Poisson: a worker's rate follows what it has of each stream, which is exact
 * for any numbers. The other laws deal out whole I/Os, so they are dealt
 * out to as many workers only as can have one and have every stream.
 */
#ifndef SPEK_CORE_SHARE_H
#define SPEK_CORE_SHARE_H

#include "../../core/spek_host.h"
#include "workload.h"

/**
 * struct spek_share - what a worker has of a stream
 * @first: its first replica
 * @count: its replicas; 0 if it has nothing of the stream
 * @first_part: sequential, strided: the part of the range of its first replica
 * @parts: parts the whole range is divided into
 * @numerator: its share of the stream's I/O, over @denominator
 * @denominator: see @numerator; > 0
 */
struct spek_share {
	u32 first;
	u32 count;
	u64 first_part;
	u64 parts;
	u32 numerator;
	u32 denominator;
};

/**
 * spek_share_even() - deal out a number of things, the remainder to the first ones
 * @total: things
 * @worker: receiver
 * @workers: receivers
 * @first: number of the receiver's first thing
 *
 * Return: how many @worker gets.
 */
u32 spek_share_even(u32 total, u32 worker, u32 workers, u32 *first);

/** spek_share_participants() - Return: how many workers, the first ones, a process uses; > 0. */
u32 spek_share_participants(const struct spek_workload *wl, u32 arrival, u32 nr_workers);

/** spek_share_stream() - what @worker has of @stream. */
void spek_share_stream(struct spek_share *share, const struct spek_workload *wl, u32 stream,
		       u32 worker, u32 nr_workers);

/**
 * spek_share_weights() - how a worker chooses among the streams of an arrival process
 * @weight: SPEK_MAX_STREAMS weights, filled in by stream; 0 for streams of other processes and
 *	those it has nothing of; may be NULL
 * @wl: checked workload
 * @arrival: index of the arrival process
 * @worker: number of this worker
 * @nr_workers: workers of the run
 * @all: sum that a single worker would have, in the same unit
 *
 * Return: sum of the weights, < 2^SPEK_ALIAS_BITS.
 */
u64 spek_share_weights(u64 *weight, const struct spek_workload *wl, u32 arrival, u32 worker,
		       u32 nr_workers, u64 *all);

#endif
