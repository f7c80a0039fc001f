// SPDX-License-Identifier: GPL-2.0
/* Distribution of the zones of an asu over the workers that write them. */
#include "share.h"
#include "zone_share.h"

#define SECTOR_SHIFT	9
#define MAX_OPEN_ZONES	(1u << 20)
#define MAX_SECTORS	(1ull << 31)	/* 1 TiB */

static bool is_on(const struct spek_stream *stream, u32 asu)
{
	return stream->asu == asu && stream->pattern == SPEK_PATTERN_WRITE_POINTER;
}

/* Workers among which the zones of an asu are dealt out; 0: no stream is at write pointers. */
static u32 owners_of(const struct spek_workload *wl, u32 asu, u32 nr_workers)
{
	u32 i;

	for (i = 0; i < wl->nr_streams; i++)
		if (is_on(&wl->stream[i], asu))
			return spek_share_participants(wl, wl->stream[i].arrival, nr_workers);
	return 0;
}

static u32 zones_in(const struct spek_asu *asu)
{
	return (u32)spek_div64(asu->bytes, asu->zone_bytes);
}

static struct spek_zone_part part_of(const struct spek_asu *asu, u32 worker, u32 owners)
{
	struct spek_zone_part part;
	u32 unused;

	part.nr = spek_share_even(zones_in(asu), worker, owners, &part.first);
	part.nr_open = spek_share_even(asu->open_zones, worker, owners, &unused);
	return part;
}

/**
 * spek_zone_share() - find a worker's part of the zones of an asu
 * @wl: checked workload
 * @asu: index of the asu
 * @worker: number of the worker
 * @nr_workers: workers of the run
 *
 * Return: the part; empty if no stream is at write pointers there, or the worker has none.
 */
struct spek_zone_part spek_zone_share(const struct spek_workload *wl, u32 asu, u32 worker,
				      u32 nr_workers)
{
	u32 owners = owners_of(wl, asu, nr_workers);

	if (worker >= owners)
		return (struct spek_zone_part){};
	return part_of(&wl->asu[asu], worker, owners);
}

/**
 * spek_zone_share_check() - check the zones of an asu
 * @wl: workload whose arrival processes are checked
 * @asu: index of the asu
 * @nr_workers: workers of the run
 * @refusal: filled in on failure
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int spek_zone_share_check(const struct spek_workload *wl, u32 asu, u32 nr_workers,
			  struct spek_refusal *refusal)
{
	const struct spek_asu *range = &wl->asu[asu];
	u32 owners = owners_of(wl, asu, nr_workers), i;

	if (!owners) {
		if (!range->zone_bytes && !range->open_zones)
			return 0;
		return spek_refuse_part(refusal, -EINVAL,
					"Zones are given for an address range without a stream at write pointers.");
	}
	if (range->nr_extents > 1)
		return spek_refuse_part(refusal, -EINVAL,
					"A striped address range can't be written at the write pointers of zones.");
	if (!spek_is_power_of_two(range->zone_bytes) || range->zone_bytes < SPEK_SECTOR ||
	    range->zone_bytes >> SECTOR_SHIFT > MAX_SECTORS)
		return spek_refuse_part(refusal, -EINVAL,
					"The zone size of an address range must be a power of two, 512 bytes to 1 TiB.");
	if (!spek_is_multiple(range->bytes, range->zone_bytes) ||
	    spek_div64(range->bytes, range->zone_bytes) > ~(u32)0)
		return spek_refuse_part(refusal, -EINVAL,
					"An address range that is written at write pointers must have whole zones, at most 2^32.");
	/* A read of an empty zone starts at its first byte all the same, and must end in it. */
	for (i = 0; i < wl->nr_streams; i++)
		if (is_on(&wl->stream[i], asu) && spek_stream_has_data(&wl->stream[i]) &&
		    spek_stream_max_bytes(&wl->stream[i]) > range->zone_bytes)
			return spek_refuse_part(refusal, -ERANGE,
						"A block size of a stream at write pointers is above the zone size of its address range.");
	for (i = 0; i < wl->nr_streams; i++)
		if (is_on(&wl->stream[i], asu) &&
		    spek_share_participants(wl, wl->stream[i].arrival, nr_workers) != owners)
			return spek_refuse_part(refusal, -EINVAL,
						"Streams at write pointers of one address range need arrival processes that use as many workers.");
	if (range->open_zones > MAX_OPEN_ZONES)
		return spek_refuse_part(refusal, -ERANGE,
					"An address range has more than 1048576 open zones.");
	if (range->open_zones < owners)
		return spek_refuse_part(refusal, -ERANGE,
					"An address range has fewer open zones than workers write it: each needs at least one.");
	if ((range->open_zones - 1) / owners >= zones_in(range) / owners)
		return spek_refuse_part(refusal, -ERANGE,
					"An address range has more open zones than each worker's part of it has zones.");
	return 0;
}

/**
 * spek_zone_share_fits() - check that there are zones to have open
 * @wl: checked workload
 * @asu: index of an asu with zones
 * @nr_workers: workers of the run
 * @report: of all zones of the asu
 *
 * Return: false if a worker has fewer zones that can be written than it is to have open.
 */
bool spek_zone_share_fits(const struct spek_workload *wl, u32 asu, u32 nr_workers,
			  const struct spek_zone_report *report)
{
	u32 owners = owners_of(wl, asu, nr_workers), worker, i;

	for (worker = 0; worker < owners; worker++) {
		struct spek_zone_part part = part_of(&wl->asu[asu], worker, owners);
		u32 usable = 0;

		for (i = part.first; i < part.first + part.nr; i++)
			usable += report[i].capacity > 0;
		if (usable < part.nr_open)
			return false;
	}
	return true;
}

/**
 * spek_zone_share_continued() - count the active zones that the workers will continue
 * @wl: checked workload
 * @asu: index of an asu with zones
 * @nr_workers: workers of the run
 * @report: of all zones of the asu
 *
 * Return: zones.
 */
u32 spek_zone_share_continued(const struct spek_workload *wl, u32 asu, u32 nr_workers,
			      const struct spek_zone_report *report)
{
	u32 owners = owners_of(wl, asu, nr_workers), worker, n = 0, i;

	for (worker = 0; worker < owners; worker++) {
		struct spek_zone_part part = part_of(&wl->asu[asu], worker, owners);
		u32 open = 0;

		for (i = part.first; i < part.first + part.nr && open < part.nr_open; i++)
			open += spek_zone_can_continue(&report[i]);
		n += open;
	}
	return n;
}
