// SPDX-License-Identifier: GPL-2.0
/* Write pointers of zones: which zone is next, and where it is written. */
#include "zones.h"

#define SECTOR_SHIFT	9

/**
 * spek_zones_bytes() - memory of a worker's zones
 * @part: the worker's part
 *
 * Return: bytes; 0 if the part has no zones.
 */
u64 spek_zones_bytes(const struct spek_zone_part *part)
{
	if (!part->nr)
		return 0;
	return sizeof(struct spek_zones) + (u64)part->nr * sizeof(struct spek_zone) +
	       (u64)part->nr_open * sizeof(struct spek_zone_place);
}

/**
 * spek_zones_init() - prepare a worker's zones, all empty
 * @zones: spek_zones_bytes() bytes, 8-byte aligned
 * @part: the worker's part
 * @zone_bytes: from zone to zone
 */
void spek_zones_init(struct spek_zones *zones, const struct spek_zone_part *part, u64 zone_bytes)
{
	u32 i;

	spek_memset(zones, 0, sizeof(*zones));
	zones->first = part->first;
	zones->nr = part->nr;
	zones->nr_open = part->nr_open;
	zones->shift = 63u - (u32)__builtin_clzll(zone_bytes);
	zones->start = (u64)zones->first << zones->shift;
	zones->zone = (struct spek_zone *)(zones + 1);
	zones->place = (struct spek_zone_place *)(zones->zone + zones->nr);
	for (i = 0; i < zones->nr; i++)
		zones->zone[i] = (struct spek_zone){
			.capacity = (u32)(zone_bytes >> SECTOR_SHIFT),
		};
	for (i = 0; i < zones->nr_open; i++)
		zones->place[i] = (struct spek_zone_place){
			.zone = SPEK_NO_ZONE,
			.left = SPEK_NO_ZONE,
			.before = SPEK_NO_ZONE,
		};
}

/**
 * spek_zone_report_set() - note what a device says of a zone that is written at its pointer
 * @report: next and capacity are set
 * @next: sectors from its start to its write pointer, any number
 * @capacity: sectors that can be written, any number
 * @sectors: from zone to zone
 *
 * Addresses, and so indices of zones and grains, follow from these numbers without a check.
 *
 * Return: false if it can't be, with nothing set.
 */
bool spek_zone_report_set(struct spek_zone_report *report, u64 next, u64 capacity, u64 sectors)
{
	if (capacity > sectors || next > capacity)
		return false;
	report->next = (u32)next;
	report->capacity = (u32)capacity;
	return true;
}

/**
 * spek_zones_load() - take over the state of a worker's zones from the device
 * @zones: prepared, nothing made of it
 * @report: of all zones of the asu, which spek_zone_share_fits()
 *
 * Zones that are active come first, then those that are empty.
 */
void spek_zones_load(struct spek_zones *zones, const struct spek_zone_report *report)
{
	u32 open = 0, i;
	bool found = false;

	for (i = 0; i < zones->nr; i++) {
		const struct spek_zone_report *seen = &report[zones->first + i];
		struct spek_zone *zone = &zones->zone[i];

		zone->capacity = seen->capacity;
		zone->next = seen->capacity ? seen->next : 0;
		zone->settled = zone->next;
		if (zone->next)
			zones->last = i;
		if (spek_zone_can_continue(seen) && open < zones->nr_open) {
			/* Nothing written yet: it was opened by command. */
			zone->flags = SPEK_ZONE_CHOSEN | open << SPEK_ZONE_PLACE_SHIFT |
				      (zone->next ? 0 : SPEK_ZONE_OPENED);
			zones->place[open++].zone = i;
		} else if (zone->capacity && !zone->next && !found) {
			zones->next_chosen = i;
			found = true;
		}
	}
}

/* The next zone in order that can be written and is not chosen yet; there is always one. */
static u32 choose(struct spek_zones *zones, u32 place)
{
	struct spek_zone *zone;
	u32 i;

	do {
		i = zones->next_chosen;
		zone = &zones->zone[i];
		zones->next_chosen = i + 1 == zones->nr ? 0 : i + 1;
	} while (!zone->capacity || zone->flags & SPEK_ZONE_CHOSEN);
	zone->flags &= ((u32)1 << SPEK_ZONE_PLACE_SHIFT) - 1;
	zone->flags |= SPEK_ZONE_CHOSEN | SPEK_ZONE_FOLLOWS | place << SPEK_ZONE_PLACE_SHIFT;
	if (zone->next) {
		zone->flags |= SPEK_ZONE_NEEDS_RESET;
		zone->next = 0;
		zone->settled = 0;
	}
	return i;
}

/* The zone whose turn it is. */
static u32 take_turn(struct spek_zones *zones)
{
	struct spek_zone_place *place = &zones->place[zones->turn];

	if (place->zone == SPEK_NO_ZONE) {
		place->zone = choose(zones, zones->turn);
		place->before = place->left;
	}
	if (++zones->turn == zones->nr_open)
		zones->turn = 0;
	return place->zone;
}

/* The zone of the last turn is full. */
static void leave(struct spek_zones *zones, u32 i)
{
	u32 turn = (zones->turn ? zones->turn : zones->nr_open) - 1;

	zones->place[turn].zone = SPEK_NO_ZONE;
	zones->place[turn].left = i;
	zones->zone[i].flags &= ~(u32)(SPEK_ZONE_CHOSEN | SPEK_ZONE_OPENED);
}

static u32 next_write(struct spek_zones *zones, struct spek_op *op)
{
	u32 i = take_turn(zones), sectors = op->bytes >> SECTOR_SHIFT;
	struct spek_zone *zone = &zones->zone[i];

	/* What is left of the zone may be smaller. */
	if (sectors > zone->capacity - zone->next) {
		sectors = zone->capacity - zone->next;
		op->bytes = sectors << SECTOR_SHIFT;
	}
	op->addr = (u64)zone->next << SECTOR_SHIFT;
	zone->settled = zone->next;
	zone->next += sectors;
	zones->last = i;
	if (zone->next == zone->capacity)
		leave(zones, i);
	return i;
}

/* Below the pointer of any zone, each equally likely; of the last written one if it is empty. */
static u32 next_read(struct spek_zones *zones, u32 align_shift, struct spek_op *op)
{
	u32 sectors = op->bytes >> SECTOR_SHIFT;
	u64 bits = op->addr;
	u32 i = spek_rng_scale32((u32)(bits >> 32), zones->nr), room;

	if (zones->zone[i].settled < sectors)
		i = zones->last;
	op->addr = 0;
	if (zones->zone[i].settled <= sectors)
		return i;
	room = (zones->zone[i].settled - sectors) >> (align_shift - SECTOR_SHIFT);
	op->addr = (u64)spek_rng_scale32((u32)bits, room + 1) << align_shift;
	return i;
}

static u32 next_reset(struct spek_zones *zones)
{
	struct spek_zone *zone;
	u32 i;

	do {
		i = zones->next_reset;
		zone = &zones->zone[i];
		zones->next_reset = i + 1 == zones->nr ? 0 : i + 1;
	} while (!zone->capacity);
	zone->next = 0;
	zone->settled = 0;
	zone->flags &= ~(u32)(SPEK_ZONE_OPENED | SPEK_ZONE_NEEDS_RESET | SPEK_ZONE_NEEDS_OPEN);
	return i;
}

static u32 next_finish(struct spek_zones *zones)
{
	u32 i = take_turn(zones);
	struct spek_zone *zone = &zones->zone[i];

	zone->settled = zone->next;
	zone->next = zone->capacity;
	leave(zones, i);
	return i;
}

/* A zone that was only chosen is opened first: an empty one can't be closed. */
static u32 next_close(struct spek_zones *zones)
{
	u32 i = take_turn(zones);
	struct spek_zone *zone = &zones->zone[i];

	if (!zone->next && !(zone->flags & SPEK_ZONE_OPENED))
		zone->flags |= SPEK_ZONE_NEEDS_OPEN;
	zone->flags &= ~(u32)SPEK_ZONE_OPENED;
	return i;
}

/**
 * spek_zones_draw() - draw what the place of an operation depends on
 * @rng: operations sequence of the arrival process; only reads draw
 * @op: tag and bytes are set; addr is set to what was drawn, for spek_zones_place()
 */
void spek_zones_draw(struct spek_rng *rng, struct spek_op *op)
{
	op->addr = op->write ? 0 : spek_rng_next(rng);
}

/**
 * spek_zones_place() - choose the zone of the next operation and its place there
 * @zones: of the worker
 * @align_shift: log2 of the alignment of reads
 * @op: from spek_zones_draw(), or one that is not a read and was placed in a zone that was lost
 *	before it was sent; addr is set, bytes cut to what is left of the zone
 */
void spek_zones_place(struct spek_zones *zones, u32 align_shift, struct spek_op *op)
{
	u32 i;

	switch (op->kind) {
	case SPEK_OP_ZONE_RESET:
		op->addr = 0;
		i = next_reset(zones);
		break;
	case SPEK_OP_ZONE_FINISH:
		op->addr = 0;
		i = next_finish(zones);
		break;
	case SPEK_OP_ZONE_OPEN:
		op->addr = 0;
		i = take_turn(zones);
		zones->zone[i].flags |= SPEK_ZONE_OPENED;
		break;
	case SPEK_OP_ZONE_CLOSE:
		op->addr = 0;
		i = next_close(zones);
		break;
	default:
		i = op->write ? next_write(zones, op) : next_read(zones, align_shift, op);
	}
	op->addr += zones->start + ((u64)i << zones->shift);
}

static struct spek_zone *zone_of(const struct spek_zones *zones, const struct spek_op *op)
{
	return &zones->zone[(op->addr - zones->start) >> zones->shift];
}

static bool follows_busy(const struct spek_zones *zones, const struct spek_zone *zone)
{
	u32 before = zones->place[zone->flags >> SPEK_ZONE_PLACE_SHIFT].before;

	return before != SPEK_NO_ZONE && zones->zone[before].flags & SPEK_ZONE_BUSY;
}

/* The first of the zones that are lost; there is one. Only failures lead here. */
static struct spek_zone *first_lost(const struct spek_zones *zones)
{
	struct spek_zone *zone = zones->zone;

	while (!(zone->flags & SPEK_ZONE_LOST))
		zone++;
	return zone;
}

static void forget_lost(struct spek_zones *zones, struct spek_zone *zone)
{
	zones->nr_lost -= !!(zone->flags & SPEK_ZONE_LOST);
	zone->flags &= ~(u32)(SPEK_ZONE_LOST | SPEK_ZONE_NEEDS_RESET);
}

/**
 * spek_zones_ask() - ask whether an operation may be sent
 * @zones: of the worker
 * @op: placed; operations are asked for in the order in which they were placed
 *
 * Return: SPEK_ZONE_READY, or what it has to wait for.
 */
enum spek_zone_answer spek_zones_ask(const struct spek_zones *zones, const struct spek_op *op)
{
	const struct spek_zone *zone = zone_of(zones, op);
	bool follows = zone->flags & SPEK_ZONE_FOLLOWS;

	if (!op->write)
		return SPEK_ZONE_READY;
	if (zone->flags & SPEK_ZONE_BUSY || (follows && follows_busy(zones, zone)))
		return SPEK_ZONE_WAIT;
	if (follows && zones->nr_lost)
		return first_lost(zones)->flags & SPEK_ZONE_BUSY ? SPEK_ZONE_WAIT :
								   SPEK_ZONE_RECOVER;
	if (zone->flags & SPEK_ZONE_NEEDS_RESET)
		return SPEK_ZONE_RESET;
	return zone->flags & SPEK_ZONE_NEEDS_OPEN ? SPEK_ZONE_OPEN : SPEK_ZONE_READY;
}

/**
 * spek_zones_begin() - an operation is about to be sent, or the reset or opening that it needs
 * @zones: of the worker
 * @op: what spek_zones_ask() did not let wait; spek_zones_end(), spek_zones_prepared() or
 *	spek_zones_recovered() is due
 */
void spek_zones_begin(struct spek_zones *zones, const struct spek_op *op)
{
	struct spek_zone *zone = zone_of(zones, op);

	if (!op->write)
		return;
	if (spek_zones_ask(zones, op) == SPEK_ZONE_RECOVER)
		zones->recovering = (u32)(first_lost(zones) - zones->zone);
	else
		zone->flags &= ~(u32)SPEK_ZONE_FOLLOWS;
	zone->flags |= SPEK_ZONE_BUSY;
}

/**
 * spek_zones_prepared() - the reset or opening that spek_zones_ask() asked for is done
 * @zones: of the worker
 * @op: the operation that waits for it, to be asked for once more
 */
void spek_zones_prepared(struct spek_zones *zones, const struct spek_op *op)
{
	struct spek_zone *zone = zone_of(zones, op);

	zone->flags &= ~(u32)SPEK_ZONE_BUSY;
	if (zone->flags & SPEK_ZONE_NEEDS_RESET)
		forget_lost(zones, zone);
	else
		zone->flags &= ~(u32)SPEK_ZONE_NEEDS_OPEN;
}

/**
 * spek_zones_lost_addr() - find the zone that spek_zones_ask() wants reset by SPEK_ZONE_RECOVER
 * @zones: of the worker
 *
 * Return: its first byte in the asu.
 */
u64 spek_zones_lost_addr(const struct spek_zones *zones)
{
	return zones->start + ((u64)(first_lost(zones) - zones->zone) << zones->shift);
}

/**
 * spek_zones_recovered() - the reset for SPEK_ZONE_RECOVER has ended
 * @zones: of the worker
 * @op: the operation that waits for it, to be asked for once more
 *
 * Whether the reset failed doesn't matter: the next write to the zone will tell.
 */
void spek_zones_recovered(struct spek_zones *zones, const struct spek_op *op)
{
	zone_of(zones, op)->flags &= ~(u32)SPEK_ZONE_BUSY;
	forget_lost(zones, &zones->zone[zones->recovering]);
}

/* Nobody knows what the device has in the zone: it needs a reset, and loses its place. */
static void lose(struct spek_zones *zones, u32 i)
{
	struct spek_zone *zone = &zones->zone[i];
	struct spek_zone_place *place = &zones->place[zone->flags >> SPEK_ZONE_PLACE_SHIFT];

	if (zone->flags & SPEK_ZONE_CHOSEN) {
		place->zone = SPEK_NO_ZONE;
		place->left = i;
	}
	zone->next = 0;
	zone->settled = 0;
	zone->flags &= ~(u32)(SPEK_ZONE_CHOSEN | SPEK_ZONE_OPENED | SPEK_ZONE_NEEDS_OPEN);
	zones->nr_lost += !(zone->flags & SPEK_ZONE_LOST);
	zone->flags |= SPEK_ZONE_NEEDS_RESET | SPEK_ZONE_LOST;
}

/**
 * spek_zones_end() - an operation has completed
 * @zones: of the worker
 * @op: the operation
 * @failed: it failed
 *
 * Return: true if its zone was lost for that: an operation that was placed there and not sent has
 * to be placed again.
 */
bool spek_zones_end(struct spek_zones *zones, const struct spek_op *op, bool failed)
{
	struct spek_zone *zone = zone_of(zones, op);

	if (!op->write)
		return false;
	zone->flags &= ~(u32)SPEK_ZONE_BUSY;
	if (failed)
		lose(zones, (u32)(zone - zones->zone));
	else if (op->kind == SPEK_OP_ZONE_RESET)
		forget_lost(zones, zone);
	return failed;
}

/**
 * spek_zones_share_zone() - check whether two operations are on one zone
 * @zones: of the worker
 * @op: placed
 * @with: placed
 *
 * Return: true if they are.
 */
bool spek_zones_share_zone(const struct spek_zones *zones, const struct spek_op *op,
			   const struct spek_op *with)
{
	return zone_of(zones, op) == zone_of(zones, with);
}
