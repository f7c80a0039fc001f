/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Description of a run's I/O: address ranges (asu), arrival processes and streams. Filled in
 * by the caller, checked by spek_workload_check(), const afterwards. Addresses and lengths are
 * in bytes, times in ns, shares in ppm.
 */
#ifndef SPEK_CORE_WORKLOAD_H
#define SPEK_CORE_WORKLOAD_H

#include "../../core/refusal.h"
#include "../../core/spek_host.h"
#include "../uapi/spek_enums.h"

#define SPEK_MAX_STREAMS	64
#define SPEK_MAX_SIZES		64
#define SPEK_MAX_ARRIVALS	16
#define SPEK_MAX_ASUS		16
#define SPEK_MAX_TARGETS	16
#define SPEK_MAX_WORKERS	256
#define SPEK_NAME_LEN		32
#define SPEK_SECTOR		512
#define SPEK_MAX_PARTS		256	/* of a stream */
#define SPEK_MAX_PARTS_IN_ALL	4096
#define SPEK_TABLE_WEIGHT	(1ull << 40)
#define SPEK_MAX_POINTS		256	/* of a rate curve */
#define SPEK_MAX_POINTS_IN_ALL	1024
#define SPEK_MAX_WAIT_NS	1000000000000000ull	/* 11 days: sums cannot overflow */
#define SPEK_MAX_RATE_MILLI	1000000000000ull	/* one I/O per ns */
#define SPEK_MAX_IO_BYTES	(16u << 20)
#define SPEK_MAX_FILL		64	/* bytes */

/**
 * struct spek_asu - an address range on one target, or striped over several
 * @bytes: size over all extents
 * @stripe_bytes: stripe unit, a power of two; 0 with one extent
 * @zone_bytes: distance from zone to zone, a power of two; 0 without streams at write pointers
 * @open_zones: zones that these write in turn over all workers; 0 without them
 * @nr_extents: number of extents, 1 to SPEK_MAX_TARGETS
 * @extent: per extent, index of the target and first byte on it
 */
struct spek_asu {
	u64 bytes;
	u64 zone_bytes;
	u32 open_zones;
	u32 stripe_bytes;
	u32 nr_extents;
	struct spek_extent {
		u32 target;
		u64 start;
	} extent[SPEK_MAX_TARGETS];
};

/**
 * struct spek_arrival - an arrival process; all values are totals over the workers
 * @law: enum spek_law
 * @depth: closed: I/Os outstanding
 * @think_ns: closed: pause between a completion and the next I/O
 * @rate_milli: poisson, constant: I/Os per 1000 s; 0 with a curve; closed: at most so many, 0: no
 *	limit
 * @first_point: poisson, constant: index of the first point of its rate curve in the workload
 * @nr_points: poisson, constant: number of points; 0 without a curve
 * @repeats: 1: the curve begins again after its last point, else it keeps the last rate
 * @tail_milli: poisson, constant: shape of Pareto lengths of on and off periods, in thousandths; 0:
 *	exponential lengths
 * @on_ns: poisson, constant: mean of the periods in which I/Os arrive; 0: always
 * @off_ns: poisson, constant: mean of the periods between them
 * @burst_length: burst: I/Os per burst; closed: I/Os that may follow a pause at once, beside the
 *	limit; 0 means 1
 * @burst_interval_ns: burst: time from start to start
 */
struct spek_arrival {
	u32 law;
	u32 depth;
	u64 think_ns;
	u64 rate_milli;
	u32 first_point;
	u32 nr_points;
	u32 repeats;
	u32 tail_milli;
	u64 on_ns;
	u64 off_ns;
	u32 burst_length;
	u64 burst_interval_ns;
};

/**
 * struct spek_point - a point of a rate curve
 * @at_ns: time from the start of the curve
 * @rate_milli: rate there, I/Os per 1000 s
 */
struct spek_point {
	u64 at_ns;
	u64 rate_milli;
};

struct spek_size {
	u32 bytes;
	u32 weight;
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
 * struct spek_stream - a stream of I/Os
 * @asu: index of its address range
 * @arrival: index of its arrival process
 * @weight: share among the streams of that arrival process
 * @replicas: independent copies of the state, spread evenly over workers (SPC-1: BSUs); >= 1
 * @read_ppm: share of reads
 * @pattern: enum spek_pattern
 * @range_start: first byte of the range within the asu
 * @range_bytes: size of the range
 * @align_bytes: addresses are multiples of this within the asu; the block of walks and runs
 * @seq_ppm: uniform: share of I/Os that continue the previous one
 * @stride_bytes: strided: distance from start to start
 * @jitter_bytes: strided: largest distance of an I/O after its place in the grid of strides
 * @run_bytes: runs: length of a run
 * @restart_bytes: runs: size of the restart zone at the start of the range, where runs start
 * @run_align_bytes: runs: start and end of a run are rounded down to multiples of this in the
 *	asu, the start not to before the range
 * @walk_style: walk: enum spek_walk_style
 * @first_part: table: index of the first part of the range in the workload
 * @nr_parts: table: number of parts; they are all addresses where the largest block fits
 * @spread: table: 1: neighbouring addresses are spread over the range
 * @operation: enum spek_operation
 * @fua: 1: writes have forced unit access
 * @priority: enum spek_priority
 * @priority_level: 0 (highest) to 7 within the class
 * @write_hint: enum spek_write_hint
 * @own_data: 1: its writes have data of its own, as the next four say; 0: those of the run
 * @compressible_ppm: share of fill in each block of data
 * @duplicate_ppm: share of blocks of data that are duplicates
 * @fill_bytes: length of @fill; 0: the fill is zeroes
 * @fill: bytes that the fill repeats
 * @nr_sizes: number of entries in @size
 * @size: block sizes with weights
 */
struct spek_stream {
	u32 asu;
	u32 arrival;
	u32 weight;
	u32 replicas;
	u32 read_ppm;
	u32 pattern;
	u64 range_start;
	u64 range_bytes;
	u64 stride_bytes;
	u64 jitter_bytes;
	u64 run_bytes;
	u64 restart_bytes;
	u32 align_bytes;
	u32 seq_ppm;
	u32 run_align_bytes;
	u32 walk_style;
	u32 first_part;
	u32 nr_parts;
	u32 spread;
	u32 operation;
	u32 fua;
	u32 priority;
	u32 priority_level;
	u32 write_hint;
	u32 own_data;
	u32 compressible_ppm;
	u32 duplicate_ppm;
	u32 fill_bytes;
	u8 fill[SPEK_MAX_FILL];
	u32 nr_sizes;
	struct spek_size size[SPEK_MAX_SIZES];
};

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
bool spek_stream_has_hints(const struct spek_stream *stream);
bool spek_workload_has_hints(const struct spek_workload *wl);
bool spek_workload_has_own_data(const struct spek_workload *wl);
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
