// SPDX-License-Identifier: GPL-2.0
/* Reads: hits, misses, copies of misses. */
#include "machine.h"

#define MAX_PINS	0xe0

static bool is_readable(const struct spek_augment *m, u32 entry)
{
	u32 state;

	if (entry == SPEK_AUGMENT_NONE)
		return false;
	state = spek_augment_state(&m->entries[entry]);
	return state == SPEK_AUGMENT_DIRTY ||
	       (state == SPEK_AUGMENT_CLEAN && spek_augment_source(m, entry) != SPEK_AUGMENT_NONE);
}

static u64 place_of(u32 entry)
{
	return (u64)entry + SPEK_AUGMENT_LOG_START;
}

/* Neighbours on the RAID that are neighbours on the device, too. */
static u32 hit_length(const struct spek_augment *m, u32 entry, u32 device, u64 block, u32 limit)
{
	u32 blocks = 1;

	while (blocks < limit && entry + blocks < m->nr_entries &&
	       spek_augment_map_find(m, block + blocks) == entry + blocks &&
	       is_readable(m, entry + blocks) &&
	       m->entries[entry + blocks].member < MAX_PINS &&
	       spek_augment_source(m, entry + blocks) == device)
		blocks++;
	return blocks;
}

/* Hold blocks that are read from the SSD or a mirror. */
static void pin(struct spek_augment *m, u32 entry, u32 blocks)
{
	u32 i;

	for (i = entry; i < entry + blocks; i++) {
		struct spek_augment_entry *hit = &m->entries[i];

		hit->member += SPEK_AUGMENT_PIN;
		m->stats.prefetch_hits += (hit->state & SPEK_AUGMENT_AHEAD) != 0;
		hit->state = (hit->state & ~SPEK_AUGMENT_AHEAD) | SPEK_AUGMENT_USED;
	}
	m->stats.hits += blocks;
}

static bool issue_hit(struct spek_augment *m, u32 bio, u32 entry, u64 block, u32 limit)
{
	struct spek_augment_request *request = &m->requests[bio];
	u32 device = spek_augment_source(m, entry);
	struct spek_augment_slot *slot;
	u32 blocks;

	if (device == SPEK_AUGMENT_NONE) {
		request->error = -EIO;
		request->issued++;
		return true;
	}
	if (m->entries[entry].member >= MAX_PINS)
		return false;
	blocks = request->is_single ? 1 : hit_length(m, entry, device, block, limit);
	pin(m, entry, blocks);
	slot = spek_augment_io_new(m, SPEK_AUGMENT_FOR_HIT, SPEK_AUGMENT_READ, device,
				   place_of(entry), blocks);
	slot->entry = entry;
	slot->index = bio;
	slot->io.bio = bio;
	slot->io.bio_block = request->issued;
	request->issued += blocks;
	request->parts++;
	return true;
}

/* Take room for copies of the blocks that the policy wants and nothing holds. */
static u32 plan_copies(struct spek_augment *m, u64 block, u32 blocks)
{
	u32 stage = SPEK_AUGMENT_NONE;
	u32 i;

	for (i = 0; i < blocks; i++) {
		u32 entry = SPEK_AUGMENT_NONE;

		if (spek_augment_map_find(m, block + i) == SPEK_AUGMENT_NONE &&
		    spek_augment_wants_copy(m, block + i))
			entry = spek_augment_map_take_copy(m, block + i);
		if (entry != SPEK_AUGMENT_NONE && stage == SPEK_AUGMENT_NONE) {
			stage = spek_augment_stage_take(m);
			spek_memset(m->stage_entries[stage], 0xff, sizeof(m->stage_entries[stage]));
		}
		if (entry != SPEK_AUGMENT_NONE)
			m->stage_entries[stage][i] = entry;
	}
	return stage;
}

/*
 * Read what follows a miss that is copied: the disks are awake, and a reader of this block may want
 * it when they sleep.
 */
static void read_ahead(struct spek_augment *m, u64 block)
{
	u64 limit = m->config.raid_blocks - block;
	struct spek_augment_slot *slot;
	u32 blocks = 0, taken = 0;
	u32 stage;

	if (limit > m->config.prefetch_blocks)
		limit = m->config.prefetch_blocks;
	while (blocks < limit && spek_augment_map_find(m, block + blocks) == SPEK_AUGMENT_NONE)
		blocks++;
	if (!blocks || m->nr_free_ios < SPEK_AUGMENT_BIO_IOS ||
	    m->free_stages <= SPEK_AUGMENT_STAGES / 2)
		return;
	stage = spek_augment_stage_take(m);
	spek_memset(m->stage_entries[stage], 0xff, sizeof(m->stage_entries[stage]));
	for (; taken < blocks; taken++) {
		u32 entry = spek_augment_map_take_copy(m, block + taken);

		if (entry == SPEK_AUGMENT_NONE)
			break;
		m->entries[entry].state |= SPEK_AUGMENT_AHEAD;
		m->stage_entries[stage][taken] = entry;
	}
	if (!taken) {
		spek_augment_stage_put(m, stage);
		return;
	}
	slot = spek_augment_io_new(m, SPEK_AUGMENT_FOR_PREFETCH, SPEK_AUGMENT_READ,
				   SPEK_AUGMENT_RAID, block, taken);
	slot->io.stage = stage;
}

static void issue_miss(struct spek_augment *m, u32 bio, u64 block, u32 limit)
{
	struct spek_augment_request *request = &m->requests[bio];
	bool copies = m->mode == SPEK_AUGMENT_NORMAL && m->free_stages > SPEK_AUGMENT_STAGES / 2 &&
		      !request->is_sequential;
	struct spek_augment_slot *slot;
	u32 blocks = 1;

	if (copies && limit > SPEK_AUGMENT_STAGE_BLOCKS)
		limit = SPEK_AUGMENT_STAGE_BLOCKS;
	while (blocks < limit && !is_readable(m, spek_augment_map_find(m, block + blocks)))
		blocks++;
	slot = spek_augment_io_new(m, SPEK_AUGMENT_FOR_MISS, SPEK_AUGMENT_READ, SPEK_AUGMENT_RAID,
				   block, blocks);
	if (copies)
		slot->io.stage = plan_copies(m, block, blocks);
	slot->index = bio;
	slot->io.bio = bio;
	slot->io.bio_block = request->issued;
	request->issued += blocks;
	request->parts++;
	m->raid_reads++;
	m->raid_read_ns = m->now_ns;
	m->stirred = true;
	m->stats.misses += blocks;
	if (slot->io.stage != SPEK_AUGMENT_NONE && request->issued == request->bio.blocks)
		read_ahead(m, block + blocks);
}

/**
 * spek_augment_read_step() - issue what a read needs
 * @m: machine
 * @bio: number of the bio
 *
 * Return: true if all of it has been issued.
 */
bool spek_augment_read_step(struct spek_augment *m, u32 bio)
{
	struct spek_augment_request *request = &m->requests[bio];

	if (m->mode == SPEK_AUGMENT_RECOVERING)
		return false;
	while (request->issued < request->bio.blocks) {
		u64 block = request->bio.block + request->issued;
		u32 limit = request->bio.blocks - request->issued;
		u32 entry = SPEK_AUGMENT_NONE;

		if (m->nr_free_ios < SPEK_AUGMENT_RESERVE)
			return false;
		if (m->mode != SPEK_AUGMENT_PASSING)
			entry = spek_augment_map_find(m, block);
		if (m->mode == SPEK_AUGMENT_PASSING) {
			struct spek_augment_slot *slot;

			slot = spek_augment_io_new(m, SPEK_AUGMENT_FOR_PASS, SPEK_AUGMENT_READ,
						   SPEK_AUGMENT_RAID, block, limit);
			slot->index = bio;
			slot->io.bio = bio;
			slot->io.bio_block = request->issued;
			request->issued += limit;
			request->parts++;
		} else if (!is_readable(m, entry)) {
			issue_miss(m, bio, block, limit);
		} else if (!issue_hit(m, bio, entry, block, limit)) {
			return false;
		}
	}
	return true;
}

static void unpin(struct spek_augment *m, u32 entry)
{
	m->entries[entry].member -= SPEK_AUGMENT_PIN;
	m->again = true;
}

static void end_copy_of(struct spek_augment *m, u32 entry, bool is_good)
{
	struct spek_augment_entry *copied = &m->entries[entry];

	unpin(m, entry);
	/* A write may have replaced the block meanwhile. */
	if (spek_augment_state(copied) != SPEK_AUGMENT_FILLING)
		return;
	if (is_good) {
		m->stats.copies++;
		m->stats.prefetched += (copied->state & SPEK_AUGMENT_AHEAD) != 0;
		copied->state = SPEK_AUGMENT_CLEAN | (copied->state & SPEK_AUGMENT_AHEAD);
	} else {
		spek_augment_map_retire(m, entry);
	}
}

static void start_copies(struct spek_augment *m, const struct spek_augment_io *io, int error)
{
	u32 i;

	for (i = 0; i < io->blocks; i++) {
		u32 entry = m->stage_entries[io->stage][i];
		struct spek_augment_slot *slot;

		if (entry == SPEK_AUGMENT_NONE)
			continue;
		if (error || m->nr_free_ios < SPEK_AUGMENT_BIO_IOS || m->mode != SPEK_AUGMENT_NORMAL ||
		    spek_augment_state(&m->entries[entry]) != SPEK_AUGMENT_FILLING) {
			end_copy_of(m, entry, false);
			continue;
		}
		slot = spek_augment_io_new(m, SPEK_AUGMENT_FOR_COPY, SPEK_AUGMENT_WRITE,
					   SPEK_AUGMENT_SSD, place_of(entry), 1);
		slot->entry = entry;
		slot->io.stage = io->stage;
		slot->io.stage_block = i;
		m->stage_uses[io->stage]++;
	}
	spek_augment_stage_put(m, io->stage);
}

/*
 * Read a dirty block that a device could not read from its other copy. For this read only: the next one,
 * and destage, ask the device again. Each of the two may be the last copy that is left by then.
 */
static bool repeat_hit(struct spek_augment *m, struct spek_augment_slot *slot)
{
	u32 source;

	if (slot->io.blocks > 1 || slot->is_repeat ||
	    spek_augment_state(&m->entries[slot->entry]) != SPEK_AUGMENT_DIRTY)
		return false;
	source = spek_augment_other(m, slot->entry, slot->io.device);
	if (source == SPEK_AUGMENT_NONE)
		return false;
	spek_augment_io_repeat(m, slot, source);
	return true;
}

/*
 * Read again from the same device block by block, to see which it is. Of a single one that is dirty no
 * copy is left to be asked; any other is on the RAID, or was written again.
 */
static void hit_failed(struct spek_augment *m, const struct spek_augment_slot *slot,
		       struct spek_augment_request *request)
{
	m->stats.hits -= slot->io.blocks;
	if (slot->io.blocks == 1 &&
	    spek_augment_state(&m->entries[slot->entry]) == SPEK_AUGMENT_DIRTY) {
		request->error = -EIO;
		return;
	}
	if (slot->io.blocks == 1)
		spek_augment_read_failed(m, slot->entry, slot->io.device);
	request->is_single = true;
	request->retry = true;
}

/**
 * spek_augment_read_end() - end an I/O of a read
 * @m: machine
 * @slot: the I/O, a hit or a miss
 * @error: 0 or a negative errno
 *
 * Return: false if the I/O is queued once more.
 */
bool spek_augment_read_end(struct spek_augment *m, struct spek_augment_slot *slot, int error)
{
	struct spek_augment_request *request = &m->requests[slot->index];
	u32 i;

	if (slot->purpose == SPEK_AUGMENT_FOR_HIT) {
		if (error && repeat_hit(m, slot))
			return false;
		if (error)
			hit_failed(m, slot, request);
		for (i = 0; i < slot->io.blocks; i++)
			unpin(m, slot->entry + i);
	} else {
		m->raid_reads--;
		m->raid_read_ns = m->now_ns;
		if (error)
			request->error = error;
		if (slot->io.stage != SPEK_AUGMENT_NONE)
			start_copies(m, &slot->io, error);
	}
	request->parts--;
	spek_augment_request_end(m, slot->index);
	return true;
}

/**
 * spek_augment_prefetch_end() - end a read ahead
 * @m: machine
 * @slot: the I/O
 * @error: 0 or a negative errno
 */
void spek_augment_prefetch_end(struct spek_augment *m, struct spek_augment_slot *slot, int error)
{
	m->raid_read_ns = m->now_ns;
	start_copies(m, &slot->io, error);
}

/**
 * spek_augment_begin_hit() - hold what the SSD has of a read, which the caller then reads itself
 * @m: machine
 * @block: first block on the RAID
 * @blocks: length
 * @hit: filled in; to be given to spek_augment_end_hit() when the blocks have been read
 *
 * Instead of spek_augment_submit(), and without one of its 64 bios or an I/O. Reads that wait go
 * first: else they might wait for a block whose reads follow each other without end.
 *
 * Return: false if not all of it is in a row on the SSD; then nothing has changed.
 */
bool spek_augment_begin_hit(struct spek_augment *m, u64 block, u32 blocks,
			    struct spek_augment_hit *hit)
{
	const struct spek_augment_bio bio = { .block = block, .blocks = blocks };
	u32 entry;

	/* When writes pass by, what the map knows is old. */
	if ((m->mode != SPEK_AUGMENT_NORMAL && m->mode != SPEK_AUGMENT_DRAINING) ||
	    m->reads.first != SPEK_AUGMENT_NONE)
		return false;
	entry = spek_augment_map_find(m, block);
	if (!is_readable(m, entry) || m->entries[entry].member >= MAX_PINS ||
	    spek_augment_source(m, entry) != SPEK_AUGMENT_SSD ||
	    hit_length(m, entry, SPEK_AUGMENT_SSD, block, blocks) < blocks)
		return false;
	hit->place = entry + SPEK_AUGMENT_LOG_START;
	hit->blocks = blocks;
	pin(m, entry, blocks);
	spek_augment_is_sequential(m, &bio);
	return true;
}

/**
 * spek_augment_end_hit() - let go what spek_augment_begin_hit() holds
 * @m: machine
 * @hit: as it was filled in
 * @error: 0 or a negative errno; the read has to be submitted as any other then, to be served by
 *	another device
 *
 * If spek_augment_waits(), spek_augment_tick() has to follow.
 */
void spek_augment_end_hit(struct spek_augment *m, const struct spek_augment_hit *hit, int error)
{
	u32 entry = hit->place - SPEK_AUGMENT_LOG_START;
	u32 i;

	if (error) {
		m->stats.errors++;
		m->stats.hits -= hit->blocks;
	}
	/* Of more than one block it is not known which. What is dirty keeps its copies. */
	if (error && hit->blocks == 1 &&
	    spek_augment_state(&m->entries[entry]) != SPEK_AUGMENT_DIRTY)
		spek_augment_read_failed(m, entry, SPEK_AUGMENT_SSD);
	for (i = 0; i < hit->blocks; i++)
		unpin(m, entry + i);
}

/**
 * spek_augment_waits() - ask whether a read or write may be waiting for the end of a hit
 * @m: machine
 *
 * Return: false if none is.
 */
bool spek_augment_waits(const struct spek_augment *m)
{
	return m->reads.first != SPEK_AUGMENT_NONE || m->writes.first != SPEK_AUGMENT_NONE;
}

/**
 * spek_augment_copy_end() - end a copy to the SSD
 * @m: machine
 * @slot: the I/O
 * @error: 0 or a negative errno
 */
void spek_augment_copy_end(struct spek_augment *m, struct spek_augment_slot *slot, int error)
{
	end_copy_of(m, slot->entry, !error);
	spek_augment_stage_put(m, slot->io.stage);
	if (error)
		spek_augment_drop(m, SPEK_AUGMENT_SSD);
}
