// SPDX-License-Identifier: GPL-2.0
/*
 * Acknowledged writes: each block is on the RAID, or only the cache has it. A block that is written
 * again while an older version is on its way to the RAID is still the cache's.
 */
#include "sim.h"

enum {
	UNWRITTEN,
	ACCEPTED,
	ON_THE_WAY,
	ON_RAID,
};

/**
 * struct track - state of every block of the RAID
 * @states: by block
 * @blocks: those that were written
 * @length: number of them
 * @room: for so many
 */
struct track {
	u8 *states;
	u64 *blocks;
	u64 length;
	u64 room;
};

void track_init(struct sim *sim)
{
	sim->track = calloc(1, sizeof(*sim->track));
	/* Memory that is never touched is never there. */
	sim->track->states = calloc(sim->raid_blocks, 1);
}

void track_free(struct sim *sim)
{
	if (!sim->track)
		return;
	free(sim->track->states);
	free(sim->track->blocks);
	free(sim->track);
}

static void set(struct track *t, u64 block, u8 state)
{
	if (t->states[block] == UNWRITTEN) {
		if (t->length == t->room) {
			t->room = t->room ? 2 * t->room : 4096;
			t->blocks = realloc(t->blocks, t->room * sizeof(*t->blocks));
		}
		t->blocks[t->length++] = block;
	}
	t->states[block] = state;
}

/* A write to the cache was acknowledged. */
void track_accept(struct sim *sim, u64 block, u32 blocks)
{
	u32 i;

	for (i = 0; i < blocks; i++)
		set(sim->track, block + i, ACCEPTED);
}

/* A write to the RAID itself was acknowledged. */
void track_direct(struct sim *sim, u64 block, u32 blocks)
{
	u32 i;

	for (i = 0; i < blocks; i++)
		set(sim->track, block + i, ON_RAID);
}

/* Write-back begins to write these. */
void track_begin(struct sim *sim, u64 block, u32 blocks)
{
	u32 i;

	for (i = 0; i < blocks; i++)
		if (sim->track->states[block + i] == ACCEPTED)
			sim->track->states[block + i] = ON_THE_WAY;
}

/* And has written them. */
void track_end(struct sim *sim, u64 block, u32 blocks)
{
	u32 i;

	for (i = 0; i < blocks; i++)
		if (sim->track->states[block + i] == ON_THE_WAY)
			sim->track->states[block + i] = ON_RAID;
}

/* Count what is lost: neither on the RAID nor known to be missing there. */
void track_result(struct sim *sim)
{
	struct track *t = sim->track;
	u64 i;

	sim->result->written = t->length;
	for (i = 0; i < t->length; i++) {
		u64 block = t->blocks[i];

		if (t->states[block] == ON_RAID)
			continue;
		sim->result->waiting++;
		if (!(sim->ours ? ours_lacks(sim, block) : stock_lacks(sim, block)))
			sim->result->lost++;
	}
}
