// SPDX-License-Identifier: GPL-2.0
/*
 * A write-back cache without knowledge of the disks' states: a model of the documented policy of
 * dm-cache, dm-writecache or bcache, not of their code. What differs between them is in struct
 * sim_config: what is cached, of which size, and when it is written back. Their metadata is on
 * the SSD and left out.
 *
 * Cached units are clean, in the order of their use, or dirty, in the order of their writes.
 */
#include "sim.h"

#define TICK_NS		1000000000ULL
#define BATCH		64
#define TOUCHES		65536
#define STREAMS		8
#define MOST_FILLING	16

enum {
	FREE,
	FILLING,
	CLEAN,
	DIRTY,
	WRITING,
};

/**
 * struct stock_entry - a place of the SSD
 * @unit: what it holds
 * @dirty_ns: when it became dirty
 * @chain: next entry with the same hash
 * @before: older entry of its list
 * @after: newer entry
 * @state: see above
 * @again: written while it was written back
 */
struct stock_entry {
	u64 unit;
	u64 dirty_ns;
	u32 chain;
	u32 before;
	u32 after;
	u8 state;
	bool again;
};

/**
 * struct stock_list - entries by age
 * @oldest: first
 * @newest: last
 * @length: number
 */
struct stock_list {
	u32 oldest;
	u32 newest;
	u32 length;
};

/**
 * struct stock - the cache
 * @entries: places of the SSD
 * @heads: first entry of each hash
 * @nr_entries: number of places
 * @mask: of hashes
 * @unused: places never used
 * @free: list of places that are free again, by @chain
 * @clean: list
 * @dirty: list
 * @touches: units that missed, by hash
 * @next: of each stream: block after the last
 * @length: of each stream
 * @stream: to be replaced next
 * @filling: copies under way
 * @writing: runs of a batch under way
 * @is_shrinking: over the high limit, and not at the low one yet
 * @raid_read_ns: last read from the RAID
 * @tick_ns: next tick
 */
struct stock {
	struct stock_entry *entries;
	u32 *heads;
	u32 nr_entries;
	u32 mask;
	u32 unused;
	u32 free;
	struct stock_list clean;
	struct stock_list dirty;
	u64 touches[TOUCHES];
	u64 next[STREAMS];
	u64 length[STREAMS];
	u32 stream;
	u32 filling;
	u32 writing;
	bool is_shrinking;
	u64 raid_read_ns;
	u64 tick_ns;
};

/**
 * struct stock_part - a part of a request, a copy, or a run that is written back
 * @block: first block
 * @blocks: length
 * @nr_entries: of a copy and a run: number of entries; of a miss: whether it may be copied
 * @entries: these
 * @join: what waits for it
 */
struct stock_part {
	u64 block;
	u32 blocks;
	u32 nr_entries;
	u32 entries[BATCH];
	struct join *join;
};

static struct stock_entry *entry_of(const struct sim *sim, u32 index)
{
	return &sim->stock->entries[index];
}

static u32 hash_of(const struct stock *s, u64 unit)
{
	return (u32)(unit * 0x9e3779b97f4a7c15ULL >> 32) & s->mask;
}

static u32 find(const struct sim *sim, u64 unit)
{
	const struct stock *s = sim->stock;
	u32 i = s->heads[hash_of(s, unit)];

	while (i != NONE && s->entries[i].unit != unit)
		i = s->entries[i].chain;
	return i;
}

static void insert(struct sim *sim, u32 index, u64 unit)
{
	struct stock *s = sim->stock;
	u32 *head = &s->heads[hash_of(s, unit)];

	s->entries[index].unit = unit;
	s->entries[index].chain = *head;
	*head = index;
}

static void take_out(struct sim *sim, u32 index)
{
	struct stock *s = sim->stock;
	u32 *link = &s->heads[hash_of(s, s->entries[index].unit)];

	while (*link != index)
		link = &s->entries[*link].chain;
	*link = s->entries[index].chain;
}

static void append(struct sim *sim, struct stock_list *list, u32 index)
{
	struct stock_entry *entry = entry_of(sim, index);

	entry->before = list->newest;
	entry->after = NONE;
	if (list->newest == NONE)
		list->oldest = index;
	else
		entry_of(sim, list->newest)->after = index;
	list->newest = index;
	list->length++;
}

static void unlink_from(struct sim *sim, struct stock_list *list, u32 index)
{
	struct stock_entry *entry = entry_of(sim, index);

	if (entry->before == NONE)
		list->oldest = entry->after;
	else
		entry_of(sim, entry->before)->after = entry->after;
	if (entry->after == NONE)
		list->newest = entry->before;
	else
		entry_of(sim, entry->after)->before = entry->before;
	list->length--;
}

static void give_back(struct sim *sim, u32 index)
{
	struct stock *s = sim->stock;

	take_out(sim, index);
	s->entries[index].state = FREE;
	s->entries[index].chain = s->free;
	s->free = index;
}

/* A place for @unit, that of the clean one that was not used for longest if all are; or NONE. */
static u32 take_place(struct sim *sim, u64 unit)
{
	struct stock *s = sim->stock;
	u32 index = s->free;

	if (index != NONE) {
		s->free = s->entries[index].chain;
	} else if (s->unused < s->nr_entries) {
		index = s->unused++;
	} else if (s->clean.oldest != NONE) {
		index = s->clean.oldest;
		unlink_from(sim, &s->clean, index);
		take_out(sim, index);
	} else {
		return NONE;
	}
	s->entries[index].again = false;
	insert(sim, index, unit);
	return index;
}

void stock_init(struct sim *sim)
{
	struct stock *s = calloc(1, sizeof(*s));
	struct stock_list empty = { NONE, NONE, 0 };
	u32 size = 1;

	sim->stock = s;
	s->nr_entries = (u32)(sim->config.ssd_blocks / sim->config.unit_blocks);
	while (size < s->nr_entries)
		size *= 2;
	s->mask = size - 1;
	s->entries = calloc(s->nr_entries, sizeof(*s->entries));
	s->heads = malloc(size * sizeof(*s->heads));
	memset(s->heads, 0xff, size * sizeof(*s->heads));
	s->free = NONE;
	s->clean = empty;
	s->dirty = empty;
	s->tick_ns = TICK_NS;
}

void stock_free(struct sim *sim)
{
	if (!sim->stock)
		return;
	free(sim->stock->entries);
	free(sim->stock->heads);
	free(sim->stock);
}

static u32 unit_blocks(const struct sim *sim)
{
	return (u32)sim->config.unit_blocks;
}

static u64 place_of(const struct sim *sim, u32 index)
{
	return (u64)index * unit_blocks(sim);
}

static bool is_sequential(struct sim *sim, const struct sim_request *request)
{
	struct stock *s = sim->stock;
	u32 i;

	if (!sim->config.sequential_blocks)
		return false;
	for (i = 0; i < STREAMS; i++)
		if (s->length[i] && s->next[i] == request->block)
			break;
	if (i == STREAMS) {
		i = s->stream;
		s->stream = (i + 1) % STREAMS;
		s->length[i] = 0;
	}
	s->length[i] += request->blocks;
	s->next[i] = request->block + request->blocks;
	return s->length[i] >= sim->config.sequential_blocks;
}

/* Whether a unit that missed is to be copied now. */
static bool wants_copy(struct sim *sim, u64 unit)
{
	u64 *touch = &sim->stock->touches[unit * 0x9e3779b97f4a7c15ULL >> 48];

	if (sim->config.copy < 2)
		return sim->config.copy == 1;
	if (*touch == unit + 1)
		return true;
	*touch = unit + 1;
	return false;
}

/* --- copies -------------------------------------------------------------------------------- */

static void copy_done(struct sim *sim, void *arg)
{
	struct stock_part *part = arg;
	struct stock *s = sim->stock;
	u32 i;

	for (i = 0; i < part->nr_entries; i++) {
		struct stock_entry *entry = entry_of(sim, part->entries[i]);

		/* Written meanwhile: the copy is of no use. */
		if (entry->again) {
			give_back(sim, part->entries[i]);
			continue;
		}
		entry->state = CLEAN;
		append(sim, &s->clean, part->entries[i]);
		sim->result->copies += unit_blocks(sim);
	}
	s->filling--;
	free(part);
}

static void copy_read(struct sim *sim, void *arg)
{
	struct stock_part *part = arg;
	struct join *join = join_begin(copy_done, part);
	u32 i;

	for (i = 0; i < part->nr_entries; i++)
		device_submit(sim, sim->ssd, OP_WRITE, place_of(sim, part->entries[i]),
			      unit_blocks(sim), false, CAUSE_READ, join);
	join_end(sim, join);
}

/* Copy the units of a part that was read. Larger units are read as a whole, once more. */
static void copy(struct sim *sim, u64 block, u32 blocks)
{
	u32 size = unit_blocks(sim);
	u64 unit, last = (block + blocks - 1) / size;
	struct stock_part *part = NULL;
	struct join *join;
	u32 i;

	if (!sim->config.copy || sim->stock->filling >= MOST_FILLING)
		return;
	for (unit = block / size; unit <= last; unit++) {
		u32 index;

		if (find(sim, unit) != NONE || (unit + 1) * size > sim->raid_blocks ||
		    !wants_copy(sim, unit) || (part && part->nr_entries == BATCH))
			continue;
		index = take_place(sim, unit);
		if (index == NONE)
			break;
		entry_of(sim, index)->state = FILLING;
		if (!part)
			part = calloc(1, sizeof(*part));
		part->entries[part->nr_entries++] = index;
	}
	if (!part)
		return;
	sim->stock->filling++;
	join = join_begin(copy_read, part);
	for (i = 0; size > 1 && i < part->nr_entries; i++)
		raid_read(sim, entry_of(sim, part->entries[i])->unit * size, size, CAUSE_READ,
			  join);
	join_end(sim, join);
}

/* --- write-back ---------------------------------------------------------------------------- */

static void write_back_done(struct sim *sim, void *arg)
{
	struct stock_part *part = arg;
	struct stock *s = sim->stock;
	u32 i;

	for (i = 0; i < part->nr_entries; i++) {
		struct stock_entry *entry = entry_of(sim, part->entries[i]);
		bool again = entry->again;

		entry->again = false;
		entry->state = again ? DIRTY : CLEAN;
		append(sim, again ? &s->dirty : &s->clean, part->entries[i]);
	}
	track_end(sim, part->block, part->blocks);
	sim->result->destaged += part->blocks;
	s->writing--;
	free(part);
	stock_tick(sim);
}

static void write_back_read(struct sim *sim, void *arg)
{
	struct stock_part *part = arg;
	struct join *join = join_begin(write_back_done, part);

	raid_write(sim, part->block, part->blocks, false, CAUSE_WRITE_BACK, join);
	join_end(sim, join);
}

static int by_unit(const void *a, const void *b)
{
	const struct stock_entry *left = *(struct stock_entry *const *)a;
	const struct stock_entry *right = *(struct stock_entry *const *)b;

	return left->unit < right->unit ? -1 : left->unit > right->unit;
}

static void write_back(struct sim *sim, u32 most)
{
	struct stock *s = sim->stock;
	struct stock_entry *batch[BATCH];
	u32 n = 0, i, k, size = unit_blocks(sim);

	while (n < most && n < BATCH && s->dirty.oldest != NONE) {
		u32 index = s->dirty.oldest;

		unlink_from(sim, &s->dirty, index);
		s->entries[index].state = WRITING;
		batch[n++] = &s->entries[index];
	}
	qsort(batch, n, sizeof(*batch), by_unit);
	for (i = 0; i < n; i = k) {
		struct stock_part *part = calloc(1, sizeof(*part));
		struct join *join = join_begin(write_back_read, part);

		for (k = i; k < n && batch[k]->unit == batch[i]->unit + (k - i); k++) {
			u32 index = (u32)(batch[k] - s->entries);

			part->entries[part->nr_entries++] = index;
			device_submit(sim, sim->ssd, OP_READ, place_of(sim, index), size, false,
				      CAUSE_WRITE_BACK, join);
		}
		part->block = batch[i]->unit * size;
		part->blocks = (k - i) * size;
		track_begin(sim, part->block, part->blocks);
		s->writing++;
		join_end(sim, join);
	}
}

/* Write back what is due, a batch at a time. */
void stock_tick(struct sim *sim)
{
	const struct sim_config *c = &sim->config;
	struct stock *s = sim->stock;
	u64 dirty_blocks = (u64)s->dirty.length * c->unit_blocks;
	bool is_second = sim->now_ns >= s->tick_ns;
	bool is_idle;

	if (is_second)
		s->tick_ns = sim->now_ns - sim->now_ns % TICK_NS + TICK_NS;
	if (dirty_blocks >= c->high_blocks)
		s->is_shrinking = true;
	else if (dirty_blocks <= c->low_blocks)
		s->is_shrinking = false;
	if (s->writing || !s->dirty.length ||
	    (c->pause_ns && s->raid_read_ns && sim->now_ns - s->raid_read_ns < c->pause_ns))
		return;
	is_idle = c->idle_ns && sim->sent == sim->answered &&
		  sim->now_ns - sim->host_ns >= c->idle_ns;
	if (s->is_shrinking || is_idle)
		write_back(sim, BATCH);
	else if (c->trickle_blocks && is_second &&
		 sim->now_ns - entry_of(sim, s->dirty.oldest)->dirty_ns >= c->delay_ns)
		write_back(sim, (u32)c->trickle_blocks);
}

u64 stock_next_ns(const struct sim *sim)
{
	return sim->stock->dirty.length ? sim->stock->tick_ns : NEVER;
}

/* --- requests ------------------------------------------------------------------------------ */

static void request_done(struct sim *sim, void *arg)
{
	u64 number = (u64)(uintptr_t)arg;
	const struct sim_request *request = &sim->requests[number];

	answer(sim, number);
	if (request->op != OP_FLUSH)
		stock_tick(sim);
}

static void direct_done(struct sim *sim, void *arg)
{
	struct stock_part *part = arg;

	track_direct(sim, part->block, part->blocks);
	join_end(sim, part->join);
	if (part->nr_entries)
		copy(sim, part->block, part->blocks);
	free(part);
}

static void cached_done(struct sim *sim, void *arg)
{
	struct stock_part *part = arg;

	track_accept(sim, part->block, part->blocks);
	join_end(sim, part->join);
	free(part);
}

static void miss_done(struct sim *sim, void *arg)
{
	struct stock_part *part = arg;

	join_end(sim, part->join);
	if (part->nr_entries)
		copy(sim, part->block, part->blocks);
	free(part);
}

static struct stock_part *part_of(u64 block, u32 blocks, struct join *join)
{
	struct stock_part *part = calloc(1, sizeof(*part));

	part->block = block;
	part->blocks = blocks;
	part->join = join;
	join->pending++;
	return part;
}

static bool is_readable(const struct sim *sim, u32 index)
{
	return index != NONE && entry_of(sim, index)->state != FILLING;
}

static void use(struct sim *sim, u32 index)
{
	struct stock *s = sim->stock;

	if (entry_of(sim, index)->state != CLEAN)
		return;
	unlink_from(sim, &s->clean, index);
	append(sim, &s->clean, index);
}

/* @blocks of one unit are on the SSD. */
static void read_hit(struct sim *sim, u32 index, u64 block, u32 blocks, struct join *join)
{
	use(sim, index);
	sim->result->hits += blocks;
	device_submit(sim, sim->ssd, OP_READ, place_of(sim, index) + block % unit_blocks(sim),
		      blocks, false, CAUSE_READ, join);
}

static void read_miss(struct sim *sim, u64 block, u32 blocks, bool copies, struct join *whole)
{
	struct stock_part *part = part_of(block, blocks, whole);
	struct join *join = join_begin(miss_done, part);

	part->nr_entries = copies;
	sim->stock->raid_read_ns = sim->now_ns;
	sim->result->misses += blocks;
	raid_read(sim, block, blocks, CAUSE_READ, join);
	join_end(sim, join);
}

static void write_direct(struct sim *sim, u64 block, u32 blocks, struct join *whole)
{
	struct stock_part *part = part_of(block, blocks, whole);
	struct join *join = join_begin(direct_done, part);

	/* Where writes that miss are not taken, they make a unit hot as reads do. */
	part->nr_entries = !sim->config.allocate;
	raid_write(sim, block, blocks, false, CAUSE_WRITE, join);
	join_end(sim, join);
}

/* The place of a unit that is written, now dirty; NONE: it goes to the RAID. */
static u32 place_for_write(struct sim *sim, u64 unit, bool bypasses)
{
	struct stock *s = sim->stock;
	u32 index = find(sim, unit);
	struct stock_entry *entry;

	if (index != NONE && entry_of(sim, index)->state == FILLING) {
		entry_of(sim, index)->again = true;
		/* Written at its place only once nothing old can come after it. */
		return NONE;
	}
	if (index == NONE) {
		if (bypasses || !sim->config.allocate)
			return NONE;
		index = take_place(sim, unit);
		if (index == NONE)
			return NONE;
		entry_of(sim, index)->state = DIRTY;
		entry_of(sim, index)->dirty_ns = sim->now_ns;
		append(sim, &s->dirty, index);
		return index;
	}
	entry = entry_of(sim, index);
	if (entry->state == WRITING) {
		entry->again = true;
	} else if (entry->state == CLEAN) {
		unlink_from(sim, &s->clean, index);
		entry->state = DIRTY;
		entry->dirty_ns = sim->now_ns;
		append(sim, &s->dirty, index);
	}
	return index;
}

static void write_cached(struct sim *sim, u32 index, u64 block, u32 blocks, struct join *whole)
{
	struct stock_part *part = part_of(block, blocks, whole);
	struct join *join = join_begin(cached_done, part);

	device_submit(sim, sim->ssd, OP_WRITE, place_of(sim, index) + block % unit_blocks(sim),
		      blocks, false, CAUSE_WRITE, join);
	join_end(sim, join);
}

/* Split a request into units; neighbours that go to the RAID stay together. */
static void submit_media(struct sim *sim, const struct sim_request *request, struct join *join)
{
	bool bypasses = is_sequential(sim, request), is_write = request->op == OP_WRITE;
	u64 block = request->block, end = block + request->blocks, first = block;
	u32 size = unit_blocks(sim);

	while (block < end) {
		u32 part = size - (u32)(block % size);
		u32 index;

		if (part > end - block)
			part = (u32)(end - block);
		index = is_write ? place_for_write(sim, block / size, bypasses) :
				   find(sim, block / size);
		if (is_write ? index != NONE : is_readable(sim, index)) {
			if (first < block && is_write)
				write_direct(sim, first, (u32)(block - first), join);
			else if (first < block)
				read_miss(sim, first, (u32)(block - first), !bypasses, join);
			if (is_write)
				write_cached(sim, index, block, part, join);
			else
				read_hit(sim, index, block, part, join);
			first = block + part;
		}
		block += part;
	}
	if (first < end && is_write)
		write_direct(sim, first, (u32)(end - first), join);
	else if (first < end)
		read_miss(sim, first, (u32)(end - first), !bypasses, join);
}

void stock_submit(struct sim *sim, u64 number)
{
	const struct sim_request *request = &sim->requests[number];
	struct join *join = join_begin(request_done, (void *)(uintptr_t)number);

	if (request->op == OP_FLUSH) {
		device_submit(sim, sim->ssd, OP_FLUSH, 0, 0, false, CAUSE_FLUSH, join);
		raid_flush(sim, join);
	} else {
		submit_media(sim, request, join);
	}
	join_end(sim, join);
}

bool stock_lacks(const struct sim *sim, u64 block)
{
	u32 index = find(sim, block / sim->config.unit_blocks);

	return index != NONE && (entry_of(sim, index)->state == DIRTY ||
				 entry_of(sim, index)->state == WRITING);
}
