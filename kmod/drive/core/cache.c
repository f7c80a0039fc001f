// SPDX-License-Identifier: GPL-2.0
/* Read segments and written extents. */
#include "cache.h"

/**
 * spek_drive_cache_check() - check the description of a cache
 * @rule: description
 * @refusal: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int spek_drive_cache_check(const struct spek_drive_cache_rule *rule, struct spek_refusal *refusal)
{
	if (rule->segments > SPEK_DRIVE_MAX_SEGMENTS)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_CACHE_SEGMENTS, 0, -ERANGE,
				   "A cache has up to 64 segments.");
	if (rule->segments && (!rule->segment_sectors ||
			       rule->segment_sectors > SPEK_DRIVE_MAX_SEGMENT_SECTORS))
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_SEGMENT_SECTORS, 0, -ERANGE,
				   "A segment of the cache has 1 to 4194304 sectors.");
	if (rule->ahead_sectors && (!rule->segments ||
				    rule->ahead_sectors > rule->segment_sectors))
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_AHEAD_SECTORS, 0, -ERANGE,
				   "The drive reads ahead up to a segment of the cache.");
	if (rule->write_sectors > SPEK_DRIVE_MAX_CACHE_SECTORS)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_WRITE_CACHE_SECTORS, 0, -ERANGE,
				   "The cache has room for up to 16777216 written sectors.");
	if (rule->hit_ns > SPEK_DRIVE_MAX_OVERHEAD_NS)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_HIT_NS, 0, -ERANGE,
				   "A hit takes up to 1 s before its transfer.");
	if (rule->sector_ps > SPEK_DRIVE_MAX_SECTOR_PS)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_SECTOR_PS, 0, -ERANGE,
				   "A sector takes up to 1 ms on the bus.");
	return 0;
}

/**
 * spek_drive_cache_init() - make an empty cache
 * @cache: zeroed memory
 */
void spek_drive_cache_init(struct spek_drive_cache *cache)
{
	spek_drive_queue_init(&cache->dirty, SPEK_DRIVE_MAX_QUEUE);
}

/**
 * spek_drive_hit_ns() - compute the time of a cache hit
 * @rule: description of the cache
 * @sectors: length
 *
 * Return: time, at least 1 ns.
 */
u64 spek_drive_hit_ns(const struct spek_drive_cache_rule *rule, u32 sectors)
{
	return rule->hit_ns + sectors * rule->sector_ps / 1000 + !rule->hit_ns;
}

/**
 * spek_drive_cache_find() - find the segment that holds an LBA or that the LBA continues
 * @cache: initialised
 * @rule: its rule
 * @lba: LBA
 *
 * Return: index; SPEK_DRIVE_NONE if there is none.
 */
u32 spek_drive_cache_find(const struct spek_drive_cache *cache,
			  const struct spek_drive_cache_rule *rule, u64 lba)
{
	u32 i;

	for (i = 0; i < rule->segments; i++) {
		const struct spek_drive_segment *segment = &cache->segments[i];

		if (segment->first < segment->end && segment->first <= lba && lba <= segment->end)
			return i;
	}
	return SPEK_DRIVE_NONE;
}

/**
 * spek_drive_cache_newest() - find the segment of the last read
 * @cache: cache
 * @rule: its description
 *
 * Return: its number, or SPEK_DRIVE_NONE if it is gone.
 */
u32 spek_drive_cache_newest(const struct spek_drive_cache *cache,
			    const struct spek_drive_cache_rule *rule)
{
	u32 i;

	for (i = 0; i < rule->segments; i++) {
		const struct spek_drive_segment *segment = &cache->segments[i];

		if (segment->used == cache->uses && segment->first < segment->end)
			return i;
	}
	return SPEK_DRIVE_NONE;
}

/**
 * spek_drive_cache_holds_dirty() - ask whether a read hits what is to be written
 * @cache: cache
 * @lba: first block
 * @sectors: length
 *
 * Return: true if one extent holds all of the read.
 */
bool spek_drive_cache_holds_dirty(const struct spek_drive_cache *cache, u64 lba, u32 sectors)
{
	const struct spek_drive_queue *dirty = &cache->dirty;
	u32 index;

	for (index = dirty->oldest; index != SPEK_DRIVE_NONE; index = dirty->slots[index].next)
		if (spek_drive_extent_holds(&dirty->slots[index].request, lba, sectors))
			return true;
	return false;
}

/**
 * spek_drive_cache_use() - note a read by the host
 * @cache: cache
 * @segment: number of the segment that was read
 * @end: block after the last that was read
 */
void spek_drive_cache_use(struct spek_drive_cache *cache, u32 segment, u64 end)
{
	cache->segments[segment].used = ++cache->uses;
	cache->segments[segment].wanted = end;
}

/* The oldest sectors of a segment make room for the newest. */
static void trim(struct spek_drive_segment *segment, const struct spek_drive_cache_rule *rule)
{
	if (segment->end - segment->first > rule->segment_sectors)
		segment->first = segment->end - rule->segment_sectors;
}

/**
 * spek_drive_cache_read() - keep what the media have delivered for a read
 * @cache: initialised
 * @rule: its rule; it has segments
 * @lba: first LBA
 * @sectors: number of sectors
 */
void spek_drive_cache_read(struct spek_drive_cache *cache,
			   const struct spek_drive_cache_rule *rule, u64 lba, u32 sectors)
{
	u32 index = spek_drive_cache_find(cache, rule, lba), i;
	struct spek_drive_segment *segment;

	if (index == SPEK_DRIVE_NONE) {
		index = 0;
		for (i = 1; i < rule->segments; i++)
			if (cache->segments[i].used < cache->segments[index].used)
				index = i;
		cache->segments[index].first = lba;
		cache->segments[index].end = lba;
	}
	segment = &cache->segments[index];
	if (segment->end < lba + sectors)
		segment->end = lba + sectors;
	trim(segment, rule);
	spek_drive_cache_use(cache, index, lba + sectors);
}

/**
 * spek_drive_cache_grow() - keep what was read ahead
 * @cache: cache
 * @rule: its description
 * @segment: number of the segment
 * @sectors: length of what is added
 */
void spek_drive_cache_grow(struct spek_drive_cache *cache,
			   const struct spek_drive_cache_rule *rule, u32 segment, u32 sectors)
{
	cache->segments[segment].end += sectors;
	trim(&cache->segments[segment], rule);
}

/**
 * spek_drive_cache_drop() - drop what a write makes stale
 * @cache: cache
 * @rule: its description
 * @lba: first block that is written
 * @sectors: length
 *
 * Segments that hold any of it are dropped whole.
 */
void spek_drive_cache_drop(struct spek_drive_cache *cache,
			   const struct spek_drive_cache_rule *rule, u64 lba, u32 sectors)
{
	u32 i;

	for (i = 0; i < rule->segments; i++) {
		struct spek_drive_segment *segment = &cache->segments[i];

		if (lba < segment->end && segment->first < lba + sectors)
			segment->end = segment->first;
	}
}

/**
 * spek_drive_cache_has_room() - ask whether a write fits
 * @cache: cache
 * @rule: its description
 * @sectors: length
 *
 * Return: true if the cache can accept it.
 */
bool spek_drive_cache_has_room(const struct spek_drive_cache *cache,
			       const struct spek_drive_cache_rule *rule, u32 sectors)
{
	return cache->dirty.length < SPEK_DRIVE_MAX_QUEUE &&
	       cache->dirty_sectors + sectors <= rule->write_sectors;
}

/**
 * spek_drive_cache_write() - keep what was written
 * @cache: it had room, and @dirty_sectors counts the request already
 * @geometry: of the drive
 * @request: the write
 *
 * Return: the extent that holds it.
 */
const struct spek_drive_request *
spek_drive_cache_write(struct spek_drive_cache *cache, const struct spek_drive_geometry *geometry,
		       const struct spek_drive_request *request)
{
	struct spek_drive_queue *dirty = &cache->dirty;
	struct spek_drive_request extent = *request;
	u32 index;

	extent.tag = ++cache->writes;
	for (index = dirty->oldest; index != SPEK_DRIVE_NONE; index = dirty->slots[index].next) {
		struct spek_drive_request *other = &dirty->slots[index].request;
		u64 end = other->lba + other->sectors, grown;

		if (request->lba < other->lba || request->lba > end)
			continue;
		grown = request->lba + request->sectors > end ?
			request->lba + request->sectors - end : 0;
		if (other->sectors + grown > SPEK_DRIVE_MAX_SECTORS)
			continue;
		other->sectors += (u32)grown;
		cache->dirty_sectors -= request->sectors - grown;
		return other;
	}
	index = spek_drive_queue_add(dirty, geometry, &extent);
	return &dirty->slots[index].request;
}

/**
 * spek_drive_cache_is_clean() - ask whether writes have left the cache
 * @cache: cache
 * @before: number of writes, from the first on
 *
 * Return: true if all of them are being destaged.
 */
bool spek_drive_cache_is_clean(const struct spek_drive_cache *cache, u64 before)
{
	u32 index = cache->dirty.oldest;

	/* In the order of their numbers. */
	return index == SPEK_DRIVE_NONE || cache->dirty.slots[index].request.tag > before;
}
