/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Description of a run's I/O: address ranges (asu), arrival processes and streams. Filled in
 * by the caller, checked by spek_workload_check(), const afterwards. Addresses and lengths are
 * in bytes, times in ns, shares in ppm. The structures follow from the netlink spec, which says
 * what each member means; members that a pattern or law does not use are 0.
 */
#ifndef SPEK_CORE_WORKLOAD_H
#define SPEK_CORE_WORKLOAD_H

#include "../../core/refusal.h"
#include "../../core/spek_host.h"
#include "../uapi/spek_enums.h"
#include "workload_gen.h"

/**
 * struct spek_point - a point of a rate curve
 * @at_ns: time from the start of the curve
 * @rate_milli: rate there, I/Os per 1000 s
 */
struct spek_point {
	u64 at_ns;
	u64 rate_milli;
};

/**
 * struct spek_section - a part of a range that a table describes
 * @slots: number of addresses, multiples of the stream's alignment, at which an I/O may start
 * @weight: share of the I/Os, over SPEK_TABLE_WEIGHT
 */
struct spek_section {
	u64 slots;
	u64 weight;
};

/**
 * struct spek_workload - the I/O of a run
 * @nr_asus: number of address ranges
 * @nr_arrivals: number of arrival processes
 * @nr_streams: number of streams
 * @nr_parts: number of parts of all tables
 * @nr_points: number of points of all rate curves
 * @asu: address ranges
 * @arrival: arrival processes
 * @stream: streams
 * @part: parts of the tables, one stream's after the other
 * @point: points of the rate curves, one process's after the other
 */
struct spek_workload {
	u32 nr_asus;
	u32 nr_arrivals;
	u32 nr_streams;
	u32 nr_parts;
	u32 nr_points;
	struct spek_asu asu[SPEK_MAX_ASUS];
	struct spek_arrival arrival[SPEK_MAX_ARRIVALS];
	struct spek_stream stream[SPEK_MAX_STREAMS];
	struct spek_section part[SPEK_MAX_PARTS_IN_ALL];
	struct spek_point point[SPEK_MAX_POINTS_IN_ALL];
};

int spek_workload_check(const struct spek_workload *wl, u32 nr_workers,
			struct spek_refusal *refusal);
u32 spek_workload_max_bytes(const struct spek_workload *wl);
bool spek_workload_writes(const struct spek_workload *wl);

/* stream.c */
u32 spek_stream_max_bytes(const struct spek_stream *stream);
u64 spek_stream_slots(const struct spek_stream *stream);
bool spek_stream_is_aligned(const struct spek_stream *stream);
bool spek_stream_is_plain(const struct spek_stream *stream);
bool spek_workload_is_plain(const struct spek_workload *wl);
bool spek_stream_has_data(const struct spek_stream *stream);
bool spek_workload_has_zones(const struct spek_workload *wl);
bool spek_stream_keeps_sizes_aligned(const struct spek_stream *stream);
bool spek_workload_is_atomic(const struct spek_workload *wl);
bool spek_stream_has_hints(const struct spek_stream *stream);
bool spek_workload_has_hints(const struct spek_workload *wl);
bool spek_workload_has_own_data(const struct spek_workload *wl);
u32 spek_workload_counts(const struct spek_workload *wl);
bool spek_workload_ends(const struct spek_workload *wl);
bool spek_workload_replays(const struct spek_workload *wl);
u32 spek_workload_trace(const struct spek_workload *wl);

/**
 * struct spek_asu_map - an asu prepared for mapping without division
 * @asu: the asu, must stay
 * @stripe_shift: log2 of the stripe unit
 * @nr: extents
 * @magic: reciprocal of @nr in units of 2^-64, rounded up
 *
 * Private to asu.c and spek_asu_map().
 */
struct spek_asu_map {
	const struct spek_asu *asu;
	u32 stripe_shift;
	u32 nr;
	u64 magic;
};

void spek_asu_map_init(struct spek_asu_map *map, const struct spek_asu *asu);
u32 spek_asu_map_striped(const struct spek_asu_map *map, u64 addr, u32 bytes, u32 *target,
			 u64 *offset);

/**
 * spek_asu_map() - find the target and offset of a piece of an asu
 * @map: prepared by spek_asu_map_init()
 * @addr: first byte in the asu
 * @bytes: length of the piece
 * @target: set to the index of the target
 * @offset: set to the first byte on that target
 *
 * Return: number of the @bytes that are contiguous there; > 0.
 */
static inline u32 spek_asu_map(const struct spek_asu_map *map, u64 addr, u32 bytes, u32 *target,
			       u64 *offset)
{
	const struct spek_extent *only = map->asu->extent;

	if (map->nr > 1)
		return spek_asu_map_striped(map, addr, bytes, target, offset);
	*target = only->target;
	*offset = only->start + addr;
	return bytes;
}

#endif
