// SPDX-License-Identifier: GPL-2.0
/*
 * The core of spek-augment on the modelled devices: what kmod/augment/serve.c is to it in the
 * kernel. A spare area is the last blocks of its disk. Data and checksums there are none.
 */
#include "machine.h"
#include "sim.h"

/**
 * struct ours_io - an I/O of the machine
 * @tag: of the machine
 * @device: of the machine
 * @block: first block
 * @blocks: length
 * @is_destage: blocks that reach the RAID
 */
struct ours_io {
	u32 tag;
	u32 device;
	u64 block;
	u32 blocks;
	bool is_destage;
};

/**
 * struct ours - the machine and its memory
 * @machine: the core
 * @memory: its map
 * @crc: checksums of any write
 * @spare: first block of the spare area of every disk
 */
struct ours {
	struct spek_augment machine;
	void *memory;
	u32 crc[SPEK_AUGMENT_BIO_BLOCKS];
	u64 spare;
};

static void pump(struct sim *sim);

int ours_init(struct sim *sim, char *sentence)
{
	const struct sim_config *c = &sim->config;
	struct ours *ours = calloc(1, sizeof(*ours));
	struct spek_augment_super *supers = calloc(2 * MAX_DEVICES, sizeof(*supers));
	u32 present[MAX_DEVICES] = { 0 };
	struct spek_refusal refusal = { 0 };
	struct spek_augment_scan scan;
	struct spek_augment_config config = {
		.uuid = { 4 },
		.raid_blocks = sim->raid_blocks,
		.ssd_blocks = (u32)c->ssd_blocks,
		.log_blocks = (u32)c->log_blocks,
		.nr_members = (u32)c->members,
		.copy = (u32)c->copy,
		.prefetch_blocks = (u32)c->prefetch_blocks,
		.stripe_blocks = (u32)(c->chunk_blocks * (c->members - 1)),
		.sequential_blocks = (u32)c->sequential_blocks,
		.high_blocks = (u32)c->high_blocks,
		.low_blocks = (u32)c->low_blocks,
		.age_ns = c->age_ns,
		.quiet_ns = c->quiet_ns,
		.retry_ns = 5000000000ULL,
	};
	u32 device;
	int err;

	sim->ours = ours;
	ours->spare = sim->disk_blocks - c->log_blocks - SPEK_AUGMENT_LOG_START;
	err = spek_augment_check(&config, &refusal);
	for (device = 0; device <= c->members; device++) {
		spek_augment_format(&config, device, &supers[2 * device]);
		present[device] = 1;
	}
	if (!err)
		err = spek_augment_choose(&config, supers, present, &scan, &refusal);
	free(supers);
	if (err) {
		strcpy(sentence, refusal.text);
		return -1;
	}
	ours->memory = calloc(1, spek_augment_bytes(&config));
	spek_augment_init(&ours->machine, &config, ours->memory);
	spek_augment_recover(&ours->machine, &scan);
	spek_augment_start(&ours->machine, 0);
	pump(sim);
	return 0;
}

void ours_free(struct sim *sim)
{
	if (!sim->ours)
		return;
	free(sim->ours->memory);
	free(sim->ours);
}

static void done(struct sim *sim, void *arg)
{
	struct spek_augment *m = &sim->ours->machine;
	struct ours_io io = *(struct ours_io *)arg;

	free(arg);
	if (io.is_destage)
		track_end(sim, io.block, io.blocks);
	/* A member that has read or written is awake, whatever was said before. */
	if (io.device != SPEK_AUGMENT_SSD && io.device != SPEK_AUGMENT_RAID &&
	    !(m->awake & spek_augment_bit(io.device)) && io.blocks)
		spek_augment_set_awake(m, sim->now_ns, io.device - SPEK_AUGMENT_MEMBER, true);
	spek_augment_complete(m, sim->now_ns, io.tag, 0);
	pump(sim);
}

static enum sim_cause cause_of(const struct spek_augment *m, u32 tag)
{
	switch (m->slots[tag].purpose) {
	case SPEK_AUGMENT_FOR_HIT:
	case SPEK_AUGMENT_FOR_MISS:
	case SPEK_AUGMENT_FOR_PREFETCH:
	case SPEK_AUGMENT_FOR_COPY:
		return CAUSE_READ;
	case SPEK_AUGMENT_FOR_RECORD:
	case SPEK_AUGMENT_FOR_WAKE:
		return CAUSE_WRITE;
	case SPEK_AUGMENT_FOR_FLUSH:
		return CAUSE_FLUSH;
	default:
		return CAUSE_WRITE_BACK;
	}
}

static void issue_to_raid(struct sim *sim, const struct spek_augment_io *io,
			  enum sim_cause cause, struct join *join)
{
	if (io->op == SPEK_AUGMENT_FLUSH)
		raid_flush(sim, join);
	else if (io->op == SPEK_AUGMENT_READ)
		raid_read(sim, io->block, io->blocks, cause, join);
	else
		raid_write(sim, io->block, io->blocks, io->fua, cause, join);
}

static void issue(struct sim *sim, const struct spek_augment_io *io)
{
	struct ours *ours = sim->ours;
	enum sim_cause cause = cause_of(&ours->machine, io->tag);
	struct ours_io *kept = malloc(sizeof(*kept));
	struct join *join = join_begin(done, kept);
	u32 device = io->device == SPEK_AUGMENT_SSD ? sim->ssd : io->device - SPEK_AUGMENT_MEMBER;
	u64 block = io->block + (device == sim->ssd ? 0 : ours->spare);
	u32 blocks = io->blocks;

	*kept = (struct ours_io) { io->tag, io->device, io->block, io->blocks, false };
	if (io->device == SPEK_AUGMENT_RAID) {
		kept->is_destage = io->op == SPEK_AUGMENT_WRITE;
		if (kept->is_destage)
			track_begin(sim, io->block, io->blocks);
		issue_to_raid(sim, io, cause, join);
	} else if (io->op == SPEK_AUGMENT_WAKE) {
		/* A block of the log that the disk's cache does not have. */
		block = ours->spare + draw(sim) % sim->config.log_blocks;
		device_submit(sim, device, OP_READ, block, 1, false, cause, join);
	} else {
		device_submit(sim, device, io->op == SPEK_AUGMENT_FLUSH ? OP_FLUSH :
					   io->op == SPEK_AUGMENT_READ ? OP_READ : OP_WRITE,
			      block, blocks, io->fua, cause, join);
	}
	join_end(sim, join);
}

/* Take what the machine says. */
static void pump(struct sim *sim)
{
	struct spek_augment *m = &sim->ours->machine;
	struct spek_augment_answer answered;
	struct spek_augment_io io;

	while (spek_augment_next_io(m, &io))
		issue(sim, &io);
	while (spek_augment_next_answer(m, &answered)) {
		const struct sim_request *request = &sim->requests[answered.cookie];

		if (answered.error)
			abort();	/* no device fails here */
		if (request->op == OP_WRITE)
			track_accept(sim, request->block, request->blocks);
		answer(sim, answered.cookie);
	}
}

void ours_submit(struct sim *sim, u64 number)
{
	const struct sim_request *request = &sim->requests[number];
	struct spek_augment_bio bio = {
		.block = request->block,
		.blocks = request->blocks,
		.op = request->op == OP_READ ? SPEK_AUGMENT_READ :
		      request->op == OP_WRITE ? SPEK_AUGMENT_WRITE : SPEK_AUGMENT_FLUSH,
		.crc = sim->ours->crc,
		.cookie = number,
	};

	if (spek_augment_submit(&sim->ours->machine, sim->now_ns, &bio))
		abort();	/* the host has no more outstanding than the machine takes */
	pump(sim);
}

/* What the monitor tells. */
void ours_look(struct sim *sim)
{
	u32 i;

	for (i = 0; i < sim->config.members; i++)
		spek_augment_set_awake(&sim->ours->machine, sim->now_ns, i,
				       device_is_awake(&sim->devices[i]));
	pump(sim);
}

void ours_tick(struct sim *sim)
{
	spek_augment_tick(&sim->ours->machine, sim->now_ns);
	pump(sim);
}

u64 ours_next_ns(const struct sim *sim)
{
	return spek_augment_next_ns(&sim->ours->machine);
}

bool ours_lacks(const struct sim *sim, u64 block)
{
	const struct spek_augment *m = &sim->ours->machine;
	u32 entry = spek_augment_map_find(m, block);

	return entry != SPEK_AUGMENT_NONE &&
	       spek_augment_state(&m->entries[entry]) == SPEK_AUGMENT_DIRTY;
}

void ours_result(struct sim *sim)
{
	const struct spek_augment_stats *stats = &sim->ours->machine.stats;

	sim->result->hits = stats->hits;
	sim->result->misses = stats->misses;
	sim->result->copies = stats->copies;
	sim->result->prefetched = stats->prefetched;
	sim->result->prefetch_hits = stats->prefetch_hits;
	sim->result->destaged = stats->destaged;
}
