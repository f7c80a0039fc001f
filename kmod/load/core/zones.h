/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Zones of a zoned device that are written at their write pointers: one worker's part of an
 * address range. All streams of the range with pattern write-pointer share it.
 *
 * Zones are dealt out to workers in contiguous parts, so a zone has one owner, and the pointers
 * need no lock. Of its part a worker writes @nr_open zones in turn, one I/O each. A zone that is
 * full leaves its place to the next one in order; that one is reset first if it has data. So the
 * sequence follows from the seed and from the zones as they were at the start, not from the times
 * of completions.
 *
 * A zone has one write or command in flight: spek_zones_ask() makes the next one wait. It also
 * makes the first one on a zone wait for the last one on the zone whose place it took: until that
 * has ended, the device counts both as open. Pointers are moved as operations are placed, before
 * they are sent. A read goes below the pointer as it was before the last write, which is the only
 * one that can still be in flight.
 *
 * An operation is placed once all earlier ones on the zones have been sent, so at most one is
 * placed and not sent. What is drawn at random is drawn when the operation is made: how long it
 * waits changes no sequence.
 *
 * After a failed write or command nobody knows what the device has. The zone is lost: it leaves its
 * place, and is reset before the first operation on any zone that takes a place, because until then
 * the device may count the lost one as open.
 *
 * Memory: 16 bytes per zone, 12 per open zone.
 */
#ifndef SPEK_CORE_ZONES_H
#define SPEK_CORE_ZONES_H

#include "../../core/rng.h"
#include "../../core/spek_host.h"
#include "gen.h"

#define SPEK_ZONE_PLACE_SHIFT	8

/**
 * struct spek_zone - a zone; lengths in sectors of 512 bytes
 * @next: from its start to the place of the next write
 * @settled: from its start, what was written before the last write
 * @capacity: most that can be written; 0: the zone is never written at its pointer
 * @flags: bits of enum spek_zone_flag; from SPEK_ZONE_PLACE_SHIFT on the number of the
 *	place that it has or had
 */
struct spek_zone {
	u32 next;
	u32 settled;
	u32 capacity;
	u32 flags;
};

/**
 * enum spek_zone_flag - what else is known of a zone, as bits
 * @SPEK_ZONE_CHOSEN: it is one of those that are written in turn
 * @SPEK_ZONE_OPENED: it was opened by command, and is not full or empty since
 * @SPEK_ZONE_NEEDS_RESET: it has old data: it has to be reset before the next operation
 * @SPEK_ZONE_NEEDS_OPEN: it has to be opened before the next operation
 * @SPEK_ZONE_BUSY: an operation on it is in flight
 * @SPEK_ZONE_FOLLOWS: nothing was sent to it since it took the place of another one
 * @SPEK_ZONE_LOST: an operation on it has failed, and it was not reset since
 */
enum spek_zone_flag {
	SPEK_ZONE_CHOSEN = 1 << 0,
	SPEK_ZONE_OPENED = 1 << 1,
	SPEK_ZONE_NEEDS_RESET = 1 << 2,
	SPEK_ZONE_NEEDS_OPEN = 1 << 3,
	SPEK_ZONE_BUSY = 1 << 4,
	SPEK_ZONE_FOLLOWS = 1 << 5,
	SPEK_ZONE_LOST = 1 << 6,
};

/**
 * enum spek_zone_answer - what an operation on a zone has to wait for
 * @SPEK_ZONE_READY: nothing
 * @SPEK_ZONE_WAIT: another operation, on the zone or on the one that it follows
 * @SPEK_ZONE_RESET: a reset, which the caller sends; spek_zones_prepared() ends it
 * @SPEK_ZONE_OPEN: an opening, which the caller sends; spek_zones_prepared() ends it
 * @SPEK_ZONE_RECOVER: a reset of the zone at spek_zones_lost_addr(), which the caller sends;
 *	spek_zones_recovered() ends it
 */
enum spek_zone_answer {
	SPEK_ZONE_READY,
	SPEK_ZONE_WAIT,
	SPEK_ZONE_RESET,
	SPEK_ZONE_OPEN,
	SPEK_ZONE_RECOVER,
};

/**
 * struct spek_zone_report - a zone as the device reports it
 * @next: sectors from its start to its write pointer; @capacity if it is full
 * @capacity: sectors that can be written; 0: not at a pointer, as those of conventional zones
 * @active: it is open or closed, and counts among the active zones of the device
 */
struct spek_zone_report {
	u32 next;
	u32 capacity;
	u32 active;
};

/**
 * spek_zone_can_continue() - check whether a zone can be written where it was left
 * @zone: as reported
 *
 * Return: true if it is active and not full.
 */
static inline bool spek_zone_can_continue(const struct spek_zone_report *zone)
{
	return zone->active && zone->next < zone->capacity;
}

/**
 * struct spek_zone_part - a worker's part of the zones of an asu
 * @first: number of its first zone
 * @nr: its zones; 0: none
 * @nr_open: those of them that it writes in turn
 */
struct spek_zone_part {
	u32 first;
	u32 nr;
	u32 nr_open;
};

/**
 * struct spek_zone_place - a place for a zone that is written
 * @zone: the zone; SPEK_NO_ZONE: the next one is not chosen yet
 * @left: the one before, if there is no @zone; SPEK_NO_ZONE: there was none
 * @before: the one before @zone; SPEK_NO_ZONE: there was none
 */
struct spek_zone_place {
	u32 zone;
	u32 left;
	u32 before;
};

/**
 * struct spek_zones - a worker's zones of an asu; owned by the worker
 * @start: first byte of its first zone in the asu
 * @shift: log2 of the bytes from zone to zone
 * @nr: entries of @zone
 * @first: number of its first zone in the asu
 * @nr_open: entries of @place
 * @turn: entry of @place whose turn it is
 * @next_chosen: zone to be looked at when the next one is chosen
 * @next_reset: zone to be looked at for the next reset
 * @last: zone that was written last
 * @nr_lost: zones with SPEK_ZONE_LOST
 * @recovering: zone of the last reset for SPEK_ZONE_RECOVER; others may be lost until that ends
 * @zone: the zones
 * @place: zones that are written in turn
 */
struct spek_zones {
	u64 start;
	u32 shift;
	u32 nr;
	u32 first;
	u32 nr_open;
	u32 turn;
	u32 next_chosen;
	u32 next_reset;
	u32 last;
	u32 nr_lost;
	u32 recovering;
	struct spek_zone *zone;
	struct spek_zone_place *place;
};

#define SPEK_NO_ZONE	(~(u32)0)

u64 spek_zones_bytes(const struct spek_zone_part *part);
void spek_zones_init(struct spek_zones *zones, const struct spek_zone_part *part, u64 zone_bytes);
bool spek_zone_report_set(struct spek_zone_report *report, u64 next, u64 capacity, u64 sectors);
void spek_zones_load(struct spek_zones *zones, const struct spek_zone_report *report);

void spek_zones_draw(struct spek_rng *rng, struct spek_op *op);
void spek_zones_place(struct spek_zones *zones, u32 align_shift, struct spek_op *op);

enum spek_zone_answer spek_zones_ask(const struct spek_zones *zones, const struct spek_op *op);
void spek_zones_begin(struct spek_zones *zones, const struct spek_op *op);
void spek_zones_prepared(struct spek_zones *zones, const struct spek_op *op);
void spek_zones_recovered(struct spek_zones *zones, const struct spek_op *op);
bool spek_zones_end(struct spek_zones *zones, const struct spek_op *op, bool failed);

u64 spek_zones_lost_addr(const struct spek_zones *zones);
bool spek_zones_share_zone(const struct spek_zones *zones, const struct spek_op *op,
			   const struct spek_op *with);

#endif
