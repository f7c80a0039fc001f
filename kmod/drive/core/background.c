// SPDX-License-Identifier: GPL-2.0
/* Work of the drive for itself: destaging and read-ahead. */
#include "arm.h"
#include "background.h"
#include "bus.h"

/**
 * spek_drive_lose_extents() - drop extents that no arm reaches any more
 * @drive: drive
 */
void spek_drive_lose_extents(struct spek_drive *drive)
{
	struct spek_drive_queue *dirty = &drive->cache.dirty;
	u32 index = dirty->oldest;

	while (index != SPEK_DRIVE_NONE) {
		const struct spek_drive_slot *slot = &dirty->slots[index];
		u32 next = slot->next;

		if (!spek_drive_is_reached(drive, slot->request.lba)) {
			drive->cache.dirty_sectors -= slot->request.sectors;
			spek_drive_queue_remove(dirty, index);
			drive->account.lost++;
			drive->has_lost = true;
		}
		index = next;
	}
	spek_drive_note_destage(drive);
}

/**
 * spek_drive_is_destage_due() - ask whether extents go to the media in turn with reads
 * @drive: drive
 *
 * Return: true if a flush or a write waits, or the cache is nearly full.
 */
bool spek_drive_is_destage_due(const struct spek_drive *drive)
{
	const struct spek_drive_cache *cache = &drive->cache;

	return drive->flushes || drive->is_room_wanted ||
	       cache->dirty.length > SPEK_DRIVE_MAX_QUEUE / 4 * 3 ||
	       cache->dirty_sectors * 4 > drive->model->cache.write_sectors * 3;
}

/**
 * spek_drive_start_destage() - write an extent of the cache to the media
 * @drive: drive
 * @now_ns: time
 *
 * Return: true if an arm was free for it.
 */
bool spek_drive_start_destage(struct spek_drive *drive, u64 now_ns)
{
	/* All extents are compared, and none is ever too old: a flush waits for all of them. */
	const struct spek_drive_rule rule = {
		.policy = drive->model->rule.policy,
		.window = SPEK_DRIVE_MAX_QUEUE,
	};
	const struct spek_drive_service *service;
	bool moved;

	service = spek_drive_start_arm(drive, &drive->cache.dirty, &rule, now_ns, &moved);
	if (!service)
		return false;
	spek_drive_note_destage(drive);
	drive->destaging |= 1U << service->arm;
	drive->account.destages++;
	drive->destaged_last = true;
	return true;
}

static void start_ahead(struct spek_drive *drive, u64 now_ns)
{
	const struct spek_drive_mechanics *mechanics = &drive->model->mechanics;
	const struct spek_drive_cache_rule *rule = &drive->model->cache;
	struct spek_drive_service *ahead = &drive->ahead;
	const struct spek_drive_segment *segment;
	u32 arm = drive->ahead_arm, index, left;
	struct spek_drive_place place;
	u64 sectors, bad;

	if (!rule->ahead_sectors || arm == SPEK_DRIVE_NONE || drive->is_reading_ahead ||
	    drive->arms.busy || (drive->arms.failed >> arm & 1))
		return;
	index = spek_drive_cache_newest(&drive->cache, rule);
	if (index == SPEK_DRIVE_NONE)
		return;
	segment = &drive->cache.segments[index];
	if (segment->end >= segment->wanted + rule->ahead_sectors ||
	    segment->end >= mechanics->geometry.sectors ||
	    !spek_drive_reaches(mechanics, arm, segment->end))
		return;
	sectors = segment->wanted + rule->ahead_sectors - segment->end;
	if (sectors > mechanics->geometry.sectors - segment->end)
		sectors = mechanics->geometry.sectors - segment->end;
	spek_drive_locate(&mechanics->geometry, segment->end, &place);
	left = mechanics->geometry.zones[place.zone].track_sectors - place.sector;
	if (sectors > left)
		sectors = left;
	if (spek_drive_faults_first(&drive->faults, SPEK_DRIVE_FAULT_MEDIUM, segment->end,
				    (u32)sectors, &bad))
		sectors = bad - segment->end;
	if (!sectors)
		return;
	spek_memset(ahead, 0, sizeof(*ahead));
	ahead->request.lba = segment->end;
	ahead->request.sectors = (u32)sectors;
	ahead->request.own = true;
	ahead->arm = arm;
	ahead->start_ns = now_ns;
	spek_drive_access(mechanics, arm, &drive->arms.position[arm], &ahead->request, now_ns,
			  &ahead->access);
	ahead->end_ns = now_ns + spek_drive_access_ns(&ahead->access);
	drive->arms.position[arm] = ahead->access.end;
	drive->ahead_segment = index;
	drive->is_reading_ahead = true;
}

/**
 * spek_drive_start_background() - destage and read ahead, as no request waits for an arm
 * @drive: drive
 * @now_ns: time
 */
void spek_drive_start_background(struct spek_drive *drive, u64 now_ns)
{
	while (spek_drive_start_destage(drive, now_ns))
		;
	start_ahead(drive, now_ns);
}
