/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The drive's memory: segments of what was read and read ahead, and written data that is not on
 * the media yet. It holds times and places, no data.
 *
 * A read segment is a run of LBAs. Reads extend the segment that they continue, else they take
 * the one that was unused for longest. When the arms have nothing to do, the drive reads on after
 * the last read, up to @ahead_sectors beyond what the host has read, track by track. Reads of what
 * is there are hits. A read that needs what is just coming takes over the read-ahead: it ends when
 * its last sector has passed the head.
 *
 * A write-back drive accepts writes while there is room, and ends them at bus time. Extents that
 * continue each other become one. They are written to the media (destaged) when no read waits for
 * the arms, or in turn with reads while more than 3/4 of the room are used, or a flush or
 * a write waits for them. Newer data does not shorten an older extent: it is destaged, too. A write
 * that finds no room waits for it; one that exceeds the cache goes to the media by itself.
 *
 * A hit takes the overhead of a hit and the time of its sectors on the bus, one hit at a time.
 *
 * Forced unit access (FUA) passes the cache by: a read reads the media, a write ends when it
 * is on the media. A flush ends when everything that was accepted before it is on the media; while
 * it waits no write is accepted.
 */
#ifndef SPEK_DRIVE_CACHE_H
#define SPEK_DRIVE_CACHE_H

#include "schedule.h"

#define SPEK_DRIVE_MAX_SEGMENTS		64
#define SPEK_DRIVE_MAX_SEGMENT_SECTORS	(1U << 22)
#define SPEK_DRIVE_MAX_CACHE_SECTORS	(1ULL << 24)
/* 50 ns is 10 GB/s, 1 ms 0.5 MB/s. */
#define SPEK_DRIVE_MAX_SECTOR_PS	1000000000ULL

/**
 * struct spek_drive_cache_rule - size and speed of the cache; all 0: there is none
 * @segments: number of read segments; 0: reads are not cached
 * @segment_sectors: size of one
 * @ahead_sectors: how far the drive reads ahead, up to a segment; 0: it does not
 * @write_sectors: room for written data; 0: write-through
 * @hit_ns: time of a hit before its transfer
 * @sector_ps: time of a sector on the bus
 */
struct spek_drive_cache_rule {
	u32 segments;
	u32 segment_sectors;
	u32 ahead_sectors;
	u64 write_sectors;
	u64 hit_ns;
	u64 sector_ps;
};

/**
 * struct spek_drive_segment - what was read
 * @first: first LBA
 * @end: LBA after the last one; @first if the segment is empty
 * @wanted: end of the host's last read; what follows was read ahead
 * @used: number of the use that was last
 */
struct spek_drive_segment {
	u64 first;
	u64 end;
	u64 wanted;
	u64 used;
};

/**
 * struct spek_drive_cache - contents
 * @segments: see there
 * @uses: number of uses of segments
 * @dirty: extents to destage; the tag is the number of the write that began it
 * @writes: number of writes accepted
 * @dirty_sectors: sectors of extents, also those that are just being destaged or transferred
 */
struct spek_drive_cache {
	struct spek_drive_segment segments[SPEK_DRIVE_MAX_SEGMENTS];
	u64 uses;
	struct spek_drive_queue dirty;
	u64 writes;
	u64 dirty_sectors;
};

/**
 * spek_drive_extent_holds() - ask whether an extent holds all of a read
 * @extent: extent
 * @lba: first block
 * @sectors: length
 *
 * Return: true if it does.
 */
static inline bool spek_drive_extent_holds(const struct spek_drive_request *extent, u64 lba,
					   u32 sectors)
{
	return lba >= extent->lba && lba + sectors <= extent->lba + extent->sectors;
}

int spek_drive_cache_check(const struct spek_drive_cache_rule *rule, struct spek_refusal *refusal);
void spek_drive_cache_init(struct spek_drive_cache *cache);
u64 spek_drive_hit_ns(const struct spek_drive_cache_rule *rule, u32 sectors);
u32 spek_drive_cache_find(const struct spek_drive_cache *cache,
			  const struct spek_drive_cache_rule *rule, u64 lba);
u32 spek_drive_cache_newest(const struct spek_drive_cache *cache,
			    const struct spek_drive_cache_rule *rule);
bool spek_drive_cache_holds_dirty(const struct spek_drive_cache *cache, u64 lba, u32 sectors);
void spek_drive_cache_use(struct spek_drive_cache *cache, u32 segment, u64 end);
void spek_drive_cache_read(struct spek_drive_cache *cache,
			   const struct spek_drive_cache_rule *rule, u64 lba, u32 sectors);
void spek_drive_cache_grow(struct spek_drive_cache *cache,
			   const struct spek_drive_cache_rule *rule, u32 segment, u32 sectors);
void spek_drive_cache_drop(struct spek_drive_cache *cache,
			   const struct spek_drive_cache_rule *rule, u64 lba, u32 sectors);
bool spek_drive_cache_has_room(const struct spek_drive_cache *cache,
			       const struct spek_drive_cache_rule *rule, u32 sectors);
const struct spek_drive_request *
spek_drive_cache_write(struct spek_drive_cache *cache, const struct spek_drive_geometry *geometry,
		       const struct spek_drive_request *request);
bool spek_drive_cache_is_clean(const struct spek_drive_cache *cache, u64 before);

#endif
