// SPDX-License-Identifier: GPL-2.0
/* What the drive serves without an arm: hits, accepted writes, flushes, and what fails. */
#include "bus.h"

/**
 * spek_drive_ahead_done() - sectors that the read-ahead has delivered
 * @drive: it reads ahead
 * @now_ns: time
 *
 * It stays on a track, so that they pass evenly.
 *
 * Return: number of sectors.
 */
u32 spek_drive_ahead_done(const struct spek_drive *drive, u64 now_ns)
{
	const struct spek_drive_service *ahead = &drive->ahead;
	u64 begin_ns = ahead->end_ns - ahead->access.transfer_ns;

	if (now_ns >= ahead->end_ns)
		return ahead->request.sectors;
	if (now_ns <= begin_ns)
		return 0;
	return (u32)spek_muldiv64(now_ns - begin_ns, ahead->request.sectors,
				  ahead->access.transfer_ns, NULL);
}

/**
 * spek_drive_is_extended() - ask whether a read-ahead extends a segment
 * @drive: drive
 * @segment: number of the segment
 *
 * Return: true while it does.
 */
bool spek_drive_is_extended(const struct spek_drive *drive, u32 segment)
{
	return drive->is_reading_ahead && segment == drive->ahead_segment &&
	       drive->cache.segments[segment].end == drive->ahead.request.lba;
}

/**
 * spek_drive_cut_ahead() - end the read-ahead
 * @drive: drive
 * @now_ns: time; sectors that passed the head before are kept
 */
void spek_drive_cut_ahead(struct spek_drive *drive, u64 now_ns)
{
	u32 done;

	if (!drive->is_reading_ahead)
		return;
	done = spek_drive_ahead_done(drive, now_ns);
	if (spek_drive_is_extended(drive, drive->ahead_segment))
		spek_drive_cache_grow(&drive->cache, &drive->model->cache, drive->ahead_segment,
				      done);
	drive->account.ahead_sectors += done;
	drive->is_reading_ahead = false;
}

/* The segment that holds all of a read by now; SPEK_DRIVE_NONE if there is none. */
static u32 segment_of(const struct spek_drive *drive, const struct spek_drive_request *request,
		      u64 now_ns)
{
	const struct spek_drive_segment *segments = drive->cache.segments;
	u64 end = request->lba + request->sectors;
	u32 segment = drive->ahead_segment;

	if (spek_drive_is_extended(drive, segment) && request->lba >= segments[segment].first &&
	    end <= segments[segment].end + spek_drive_ahead_done(drive, now_ns))
		return segment;
	segment = spek_drive_cache_find(&drive->cache, &drive->model->cache, request->lba);
	return segment != SPEK_DRIVE_NONE && end <= segments[segment].end ? segment :
									     SPEK_DRIVE_NONE;
}

/* Whether the first @before writes that the cache accepted are on the media. */
static bool is_clean(const struct spek_drive *drive, u64 before)
{
	u32 arm;

	for (arm = 0; arm < drive->model->mechanics.nr_arms; arm++)
		if ((drive->destaging >> arm & 1) && drive->service[arm].request.tag <= before)
			return false;
	return spek_drive_cache_is_clean(&drive->cache, before);
}

/**
 * spek_drive_is_reached() - ask whether a block can be reached
 * @drive: drive
 * @lba: logical block
 *
 * Return: true if an arm in service reaches @lba.
 */
bool spek_drive_is_reached(const struct spek_drive *drive, u64 lba)
{
	const struct spek_drive_mechanics *mechanics = &drive->model->mechanics;
	u32 arm;

	for (arm = 0; arm < mechanics->nr_arms; arm++)
		if (!(drive->arms.failed >> arm & 1) && spek_drive_reaches(mechanics, arm, lba))
			return true;
	return false;
}

/*
 * Reads that hit an extent are marked when a read or an extent arrives or an extent is destaged:
 * otherwise sorting would compare all reads with all extents each time.
 */

/**
 * spek_drive_note_read() - mark a new request if it is a read that hits an extent
 * @drive: drive
 * @index: slot of the request
 */
void spek_drive_note_read(struct spek_drive *drive, u32 index)
{
	struct spek_drive_slot *slot = &drive->queue.slots[index];
	const struct spek_drive_request *request = &slot->request;

	slot->hits_dirty = !request->write && !request->flush &&
			   spek_drive_cache_holds_dirty(&drive->cache, request->lba,
							request->sectors);
}

static void note_extent(struct spek_drive *drive, const struct spek_drive_request *extent)
{
	struct spek_drive_queue *queue = &drive->queue;
	u32 index;

	for (index = queue->oldest; index != SPEK_DRIVE_NONE; index = queue->slots[index].next) {
		struct spek_drive_slot *slot = &queue->slots[index];
		const struct spek_drive_request *request = &slot->request;

		if (!request->write && !request->flush &&
		    spek_drive_extent_holds(extent, request->lba, request->sectors))
			slot->hits_dirty = true;
	}
}

/**
 * spek_drive_note_destage() - note that extents have left the cache
 * @drive: drive
 */
void spek_drive_note_destage(struct spek_drive *drive)
{
	struct spek_drive_queue *queue = &drive->queue;
	u32 index;

	for (index = queue->oldest; index != SPEK_DRIVE_NONE; index = queue->slots[index].next)
		if (queue->slots[index].hits_dirty)
			spek_drive_note_read(drive, index);
}

/* Whether a request needs no arm, and nothing that is still to come. */
static bool is_for_bus(const struct spek_drive *drive, const struct spek_drive_slot *slot,
		       u64 now_ns)
{
	const struct spek_drive_request *request = &slot->request;
	const struct spek_drive_cache_rule *rule = &drive->model->cache;

	if (request->flush)
		return is_clean(drive, slot->barrier);
	if (drive->arms.failed && !spek_drive_is_reached(drive, request->lba))
		return true;
	if (request->fua)
		return false;
	/* A flush comes to an end: nothing more is accepted until then. */
	if (request->write)
		return !drive->flushes &&
		       spek_drive_cache_has_room(&drive->cache, rule, request->sectors);
	return slot->hits_dirty || segment_of(drive, request, now_ns) != SPEK_DRIVE_NONE;
}

/* Whether a write waits until destages make room for it. */
static bool is_for_room(const struct spek_drive *drive, const struct spek_drive_request *request)
{
	return request->write && !request->fua &&
	       request->sectors <= drive->model->cache.write_sectors;
}

/* Whether a read continues what an arm is just reading ahead. */
static bool is_stream(const struct spek_drive *drive, const struct spek_drive_request *request)
{
	const struct spek_drive_request *ahead = &drive->ahead.request;

	/* Which sectors are bad, ordinary accesses find out. */
	if (request->write || request->fua || drive->faults.length)
		return false;
	return spek_drive_is_extended(drive, drive->ahead_segment) &&
	       request->lba >= drive->cache.segments[drive->ahead_segment].first &&
	       request->lba <= ahead->lba + ahead->sectors;
}

/**
 * spek_drive_sort() - tell the requests for the arms from the others
 * @drive: initialised
 * @now_ns: time
 * @for_bus: set to the oldest request that needs no arm
 * @stream: set to the oldest one that continues the read-ahead
 *
 * Both are SPEK_DRIVE_NONE if there is none.
 */
void spek_drive_sort(struct spek_drive *drive, u64 now_ns, u32 *for_bus, u32 *stream)
{
	struct spek_drive_queue *queue = &drive->queue;
	u32 index;

	*for_bus = SPEK_DRIVE_NONE;
	*stream = SPEK_DRIVE_NONE;
	drive->is_room_wanted = false;
	for (index = queue->oldest; index != SPEK_DRIVE_NONE; index = queue->slots[index].next) {
		struct spek_drive_slot *slot = &queue->slots[index];
		bool is_ready = is_for_bus(drive, slot, now_ns);

		bool is_waiting = !is_ready && is_for_room(drive, &slot->request);

		drive->is_room_wanted |= is_waiting;
		slot->held = is_ready || is_waiting || slot->request.flush;
		if (is_ready && *for_bus == SPEK_DRIVE_NONE)
			*for_bus = index;
		if (!slot->held && *stream == SPEK_DRIVE_NONE && is_stream(drive, &slot->request))
			*stream = index;
	}
}

/**
 * spek_drive_take() - take a request out of a queue into service
 * @drive: initialised
 * @queue: requests of the host, or extents of the cache
 * @index: slot of the request
 * @arm: arm that is to serve it, or SPEK_DRIVE_BUS
 * @now_ns: time
 *
 * Return: the service, without its times.
 */
struct spek_drive_service *spek_drive_take(struct spek_drive *drive,
					   struct spek_drive_queue *queue, u32 index, u32 arm,
					   u64 now_ns)
{
	struct spek_drive_service *service = &drive->service[arm];

	spek_memset(service, 0, sizeof(*service));
	service->request = queue->slots[index].request;
	service->arm = arm;
	service->start_ns = now_ns;
	spek_drive_queue_remove(queue, index);
	return service;
}

/**
 * spek_drive_start_bus() - serve a request without an arm, or fail it
 * @drive: its bus is idle
 * @now_ns: time
 * @index: slot of the request
 * @started: filled in
 */
void spek_drive_start_bus(struct spek_drive *drive, u64 now_ns, u32 index,
			  struct spek_drive_service *started)
{
	struct spek_drive_service *service =
		spek_drive_take(drive, &drive->queue, index, SPEK_DRIVE_BUS, now_ns);
	const struct spek_drive_request *request = &service->request;
	struct spek_drive_cache *cache = &drive->cache;
	u32 segment;

	service->access.transfer_ns = spek_drive_hit_ns(&drive->model->cache, request->sectors);
	service->end_ns = now_ns + service->access.transfer_ns;
	drive->is_bus_busy = true;
	if (request->flush) {
		drive->flushes--;
		if (drive->has_lost)
			service->error = SPEK_DRIVE_WRITE_ERROR;
		drive->has_lost = false;
	} else if (drive->arms.failed && !spek_drive_is_reached(drive, request->lba)) {
		service->error = SPEK_DRIVE_NO_ARM;
	} else if (request->write) {
		cache->dirty_sectors += request->sectors;
		drive->account.accepted++;
	} else {
		segment = segment_of(drive, request, now_ns);
		if (segment != SPEK_DRIVE_NONE)
			spek_drive_cache_use(cache, segment, request->lba + request->sectors);
		drive->account.hits++;
	}
	*started = *service;
}

/**
 * spek_drive_end_bus() - end a transfer over the bus
 * @drive: drive
 * @service: the access whose data the bus carried; they are in the cache now
 */
void spek_drive_end_bus(struct spek_drive *drive, const struct spek_drive_service *service)
{
	const struct spek_drive_request *request = &service->request, *extent;

	drive->is_bus_busy = false;
	if (!request->write || service->error)
		return;
	spek_drive_cache_drop(&drive->cache, &drive->model->cache, request->lba,
			      request->sectors);
	extent = spek_drive_cache_write(&drive->cache, &drive->model->mechanics.geometry, request);
	note_extent(drive, extent);
}
