// SPDX-License-Identifier: GPL-2.0
/*
 * RAID 5 as md has it: left-symmetric, the parity chunk one disk further to the left in each stripe.
 *
 * md works in rows: a block at the same place of every disk. What of a row is not written has to be
 * read first, unless it takes fewer reads to read what is written over and the parity: with 4 disks
 * it never does, and every write of a part of a row reads the other data and touches each disk once.
 * Rows that change are locked: writes to the same rows follow each other. Its cache of stripes, which
 * saves some of these reads, is left out.
 */
#include "sim.h"

#define BUCKETS	4096

/**
 * struct raid_write - a write to rows of a stripe
 * @stripe: number of the stripe
 * @row: first row in its chunks
 * @rows: number of rows
 * @mask: data chunks written
 * @is_started: the rows are locked
 * @fua: forced unit access
 * @cause: what it is for
 * @join: what waits for it
 * @next: next younger one in the bucket
 */
struct raid_write {
	u64 stripe;
	u32 row;
	u32 rows;
	u32 mask;
	bool is_started;
	bool fua;
	enum sim_cause cause;
	struct join *join;
	struct raid_write *next;
};

/**
 * struct raid - writes under way
 * @buckets: by stripe, oldest first
 */
struct raid {
	struct raid_write *buckets[BUCKETS];
};

/**
 * raid_place() - find a block of the RAID
 * @members: disks
 * @chunk_blocks: length of a chunk
 * @block: block of the RAID
 * @disk: filled in: disk of the block
 * @parity: filled in: disk of its stripe's parity
 * @at: filled in: block of these disks
 */
void raid_place(u32 members, u32 chunk_blocks, u64 block, u32 *disk, u32 *parity, u64 *at)
{
	u64 chunk = block / chunk_blocks;
	u64 stripe = chunk / (members - 1);

	*parity = (u32)(members - 1 - stripe % members);
	*disk = (u32)((*parity + 1 + chunk % (members - 1)) % members);
	*at = stripe * chunk_blocks + block % chunk_blocks;
}

/**
 * raid_reads() - count the reads before a write to a row
 * @members: disks
 * @written: data blocks of the row that are written
 * @is_modify: filled in: what is written over and the parity are read, not the other data
 *
 * Return: number of blocks read.
 */
u32 raid_reads(u32 members, u32 written, bool *is_modify)
{
	u32 rest = members - 1 - written;

	*is_modify = written + 1 < rest;
	return *is_modify ? written + 1 : rest;
}

void raid_init(struct sim *sim)
{
	sim->raid = calloc(1, sizeof(*sim->raid));
}

void raid_free(struct sim *sim)
{
	free(sim->raid);
}

void raid_read(struct sim *sim, u64 block, u32 blocks, enum sim_cause cause, struct join *join)
{
	u32 chunk = (u32)sim->config.chunk_blocks;

	while (blocks) {
		u32 part = chunk - (u32)(block % chunk);
		u32 disk, parity;
		u64 at;

		if (part > blocks)
			part = blocks;
		raid_place((u32)sim->config.members, chunk, block, &disk, &parity, &at);
		device_submit(sim, disk, OP_READ, at, part, false, cause, join);
		block += part;
		blocks -= part;
	}
}

static struct raid_write **bucket_of(struct sim *sim, u64 stripe)
{
	return &sim->raid->buckets[stripe % BUCKETS];
}

static bool is_blocked(struct sim *sim, const struct raid_write *w)
{
	const struct raid_write *older;

	for (older = *bucket_of(sim, w->stripe); older != w; older = older->next)
		if (older->stripe == w->stripe && older->row < w->row + w->rows &&
		    w->row < older->row + older->rows)
			return true;
	return false;
}

/* I/O to the chunks of @mask, and to the parity. */
static void issue(struct sim *sim, const struct raid_write *w, enum sim_op op, u32 mask,
		  bool with_parity, struct join *join)
{
	u32 members = (u32)sim->config.members, chunk = (u32)sim->config.chunk_blocks;
	u64 first = w->stripe * (members - 1) * chunk + w->row;
	u32 disk, parity, k;
	u64 at;

	raid_place(members, chunk, first, &disk, &parity, &at);
	for (k = 0; k < members - 1; k++)
		if (mask >> k & 1)
			device_submit(sim, (parity + 1 + k) % members, op, at, w->rows,
				      op == OP_WRITE && w->fua, w->cause, join);
	if (with_parity)
		device_submit(sim, parity, op, at, w->rows, op == OP_WRITE && w->fua, w->cause,
			      join);
}

static void start(struct sim *sim, struct raid_write *w);

static void write_done(struct sim *sim, void *arg)
{
	struct raid_write *w = arg, **link = bucket_of(sim, w->stripe), *next;

	for (; *link != w; link = &(*link)->next)
		;
	*link = w->next;
	for (next = *bucket_of(sim, w->stripe); next; next = next->next)
		if (!next->is_started && next->stripe == w->stripe && !is_blocked(sim, next))
			start(sim, next);
	join_end(sim, w->join);
	free(w);
}

static void read_done(struct sim *sim, void *arg)
{
	struct raid_write *w = arg;
	struct join *join = join_begin(write_done, w);

	issue(sim, w, OP_WRITE, w->mask, true, join);
	join_end(sim, join);
}

static void start(struct sim *sim, struct raid_write *w)
{
	u32 all = (1U << (sim->config.members - 1)) - 1;
	struct join *join = join_begin(read_done, w);
	bool is_modify;

	w->is_started = true;
	raid_reads((u32)sim->config.members, spek_drive_count_arms(w->mask), &is_modify);
	issue(sim, w, OP_READ, is_modify ? w->mask : all & ~w->mask, is_modify, join);
	join_end(sim, join);
}

static void add(struct sim *sim, u64 stripe, u32 row, u32 rows, u32 mask, bool fua,
		enum sim_cause cause, struct join *join)
{
	struct raid_write *w = calloc(1, sizeof(*w)), **link = bucket_of(sim, stripe);

	*w = (struct raid_write) {
		.stripe = stripe, .row = row, .rows = rows, .mask = mask, .fua = fua,
		.cause = cause, .join = join,
	};
	join->pending++;
	for (; *link; link = &(*link)->next)
		;
	*link = w;
	if (!is_blocked(sim, w))
		start(sim, w);
}

/* The data chunks of @row that [@from, @to) of a stripe covers. */
static u32 mask_of(const struct sim *sim, u32 row, u32 from, u32 to)
{
	u32 k, mask = 0;

	for (k = 0; k < sim->config.members - 1; k++) {
		u32 place = k * (u32)sim->config.chunk_blocks + row;

		if (from <= place && place < to)
			mask |= 1U << k;
	}
	return mask;
}

void raid_write(struct sim *sim, u64 block, u32 blocks, bool fua, enum sim_cause cause,
		struct join *join)
{
	u32 chunk = (u32)sim->config.chunk_blocks;
	u32 data = chunk * (u32)(sim->config.members - 1);

	while (blocks) {
		u64 stripe = block / data;
		u32 from = (u32)(block % data);
		u32 part = data - from < blocks ? data - from : blocks;
		u32 row, rows;

		for (row = 0; row < chunk; row += rows) {
			u32 mask = mask_of(sim, row, from, from + part);

			for (rows = 1; row + rows < chunk; rows++)
				if (mask_of(sim, row + rows, from, from + part) != mask)
					break;
			if (mask)
				add(sim, stripe, row, rows, mask, fua, cause, join);
		}
		block += part;
		blocks -= part;
	}
}

void raid_flush(struct sim *sim, struct join *join)
{
	u32 i;

	for (i = 0; i < sim->config.members; i++)
		device_submit(sim, i, OP_FLUSH, 0, 0, false, CAUSE_FLUSH, join);
}
