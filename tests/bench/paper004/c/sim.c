// SPDX-License-Identifier: GPL-2.0
/* The clock: requests of the host, ends of I/O, looks, ticks; and what comes of it. */
#include "sim.h"

#define STUCK_NS	3600000000000ULL

struct join *join_begin(void (*done)(struct sim *sim, void *arg), void *arg)
{
	struct join *join = malloc(sizeof(*join));

	*join = (struct join) { 1, done, arg };
	return join;
}

void join_end(struct sim *sim, struct join *join)
{
	if (--join->pending)
		return;
	join->done(sim, join->arg);
	free(join);
}

u64 draw(struct sim *sim)
{
	sim->state ^= sim->state << 13;
	sim->state ^= sim->state >> 7;
	sim->state ^= sim->state << 17;
	return sim->state * 0x2545f4914f6cdd1dULL >> 11;
}

void answer(struct sim *sim, u64 number)
{
	sim->response_ns[number] = sim->now_ns - sim->sent_ns[number];
	sim->answered++;
	sim->host_ns = sim->now_ns;
}

static void plain_done(struct sim *sim, void *arg)
{
	answer(sim, (u64)(uintptr_t)arg);
}

static void submit(struct sim *sim, u64 number)
{
	const struct sim_request *request = &sim->requests[number];
	struct join *join;

	sim->sent_ns[number] = sim->now_ns;
	sim->host_ns = sim->now_ns;
	if (sim->config.system == SYSTEM_OURS) {
		ours_submit(sim, number);
		return;
	}
	if (sim->config.system == SYSTEM_STOCK) {
		stock_submit(sim, number);
		return;
	}
	join = join_begin(plain_done, (void *)(uintptr_t)number);
	if (request->op == OP_FLUSH)
		raid_flush(sim, join);
	else if (request->op == OP_READ)
		raid_read(sim, request->block, request->blocks, CAUSE_READ, join);
	else
		raid_write(sim, request->block, request->blocks, false, CAUSE_WRITE, join);
	if (request->op == OP_READ)
		sim->result->misses += request->blocks;
	join_end(sim, join);
}

static void look(struct sim *sim)
{
	u32 i;

	for (i = 0; sim->config.rest_ns && i < sim->config.members; i++)
		if (sim->now_ns - sim->devices[i].used_ns >= sim->config.rest_ns)
			device_rest(sim, &sim->devices[i]);
	if (sim->ours)
		ours_look(sim);
}

static u64 rails_nj(const struct device *d)
{
	return d->drive.account.energy[0].nj + d->drive.account.energy[1].nj;
}

static void line_of_course(struct sim *sim, struct sim_course *courses)
{
	struct sim_course *line = &courses[sim->result->courses++];
	u32 i;

	for (i = 0; i < sim->nr_devices; i++) {
		struct device *d = &sim->devices[i];

		spek_drive_account(&d->drive, sim->now_ns);
		line->nj += rails_nj(d);
		line->asleep_ns += d->drive.account.condition_ns[SPEK_DRIVE_STANDBY];
		line->starts += d->drive.account.starts;
	}
}

static u64 sooner(u64 a_ns, u64 b_ns)
{
	return a_ns < b_ns ? a_ns : b_ns;
}

static bool may_send(const struct sim *sim)
{
	return sim->sent < sim->nr_requests &&
	       sim->sent - sim->answered < sim->config.most_outstanding;
}

static u64 next_ns(const struct sim *sim, u64 look_ns, u64 bin_ns)
{
	u64 ns = sooner(look_ns, bin_ns);
	u32 i;

	for (i = 0; i < sim->nr_devices; i++)
		ns = sooner(ns, sim->devices[i].next_ns);
	if (may_send(sim))
		ns = sooner(ns, sim->requests[sim->sent].arrival_ns);
	if (sim->ours)
		ns = sooner(ns, ours_next_ns(sim));
	if (sim->stock)
		ns = sooner(ns, stock_next_ns(sim));
	return ns < sim->now_ns ? sim->now_ns : ns;
}

static void pump(struct sim *sim)
{
	u32 i;

	for (i = 0; i < sim->nr_devices; i++)
		if (sim->devices[i].is_touched)
			device_pump(sim, &sim->devices[i]);
}

static bool is_over(const struct sim *sim)
{
	return !sim->config.until_ns && sim->answered == sim->nr_requests;
}

static void run(struct sim *sim, struct sim_course *courses)
{
	const struct sim_config *c = &sim->config;
	u64 until_ns = c->until_ns ? c->until_ns : NEVER;
	u64 look_ns = c->look_ns ? c->look_ns : NEVER, bin_ns = c->bin_ns ? c->bin_ns : NEVER;
	u32 i;

	pump(sim);
	while (!is_over(sim)) {
		u64 ns = next_ns(sim, look_ns, bin_ns);

		if (ns >= until_ns) {
			sim->now_ns = until_ns;
			break;
		}
		if (sim->sent > sim->answered && ns - sim->host_ns > STUCK_NS)
			abort();	/* a request that nobody answers */
		sim->now_ns = ns;
		for (i = 0; i < sim->nr_devices; i++)
			if (sim->devices[i].next_ns <= ns)
				device_advance(sim, &sim->devices[i], ns);
		if (ns >= look_ns) {
			look(sim);
			look_ns += c->look_ns;
		}
		if (sim->ours && ours_next_ns(sim) <= ns)
			ours_tick(sim);
		if (sim->stock && stock_next_ns(sim) <= ns)
			stock_tick(sim);
		while (may_send(sim) && sim->requests[sim->sent].arrival_ns <= ns)
			submit(sim, sim->sent++);
		if (ns >= bin_ns) {
			line_of_course(sim, courses);
			bin_ns += c->bin_ns;
		}
		pump(sim);
	}
	if (c->bin_ns)
		line_of_course(sim, courses);
}

static void collect(struct sim *sim)
{
	u32 i;

	for (i = 0; i < sim->nr_devices; i++) {
		struct sim_device_result *result = &sim->result->devices[i];
		struct spek_drive *drive = &sim->devices[i].drive;
		u32 k;

		spek_drive_account(drive, sim->now_ns);
		for (k = 0; k < SPEK_DRIVE_RAIL_NR; k++)
			result->nj[k] = drive->account.energy[k].nj;
		memcpy(result->condition_ns, drive->account.condition_ns,
		       sizeof(result->condition_ns));
		memcpy(result->phase_ns, drive->account.phase_ns, sizeof(result->phase_ns));
		result->starts = drive->account.starts;
		result->served = drive->account.served;
	}
	sim->result->end_ns = sim->now_ns;
	sim->result->answered = sim->answered;
	if (sim->ours)
		ours_result(sim);
	if (sim->track)
		track_result(sim);
}

static void sim_free(struct sim *sim)
{
	u32 i;

	track_free(sim);
	stock_free(sim);
	ours_free(sim);
	raid_free(sim);
	for (i = 0; sim->devices && i < sim->nr_devices; i++)
		device_free(&sim->devices[i]);
	free(sim->devices);
	free(sim->slots);
	free(sim->sent_ns);
}

/* Blocks of the RAID on disks of so many sectors. */
u64 sim_raid_blocks(u64 sectors, u64 members, u64 chunk_blocks, u64 log_blocks)
{
	return (sectors / BLOCK_SECTORS - log_blocks - 2) / chunk_blocks * chunk_blocks *
	       (members - 1);
}

static int init(struct sim *sim, u8 *descriptions, const u64 *bytes, char *sentence)
{
	const struct sim_config *c = &sim->config;
	u32 i;

	sim->ssd = (u32)c->members;
	sim->nr_devices = (u32)c->members + (c->system != SYSTEM_PLAIN);
	sim->free_slot = NONE;
	sim->state = c->seed * 0x9e3779b97f4a7c15ULL + 1;
	sim->devices = calloc(sim->nr_devices, sizeof(*sim->devices));
	for (i = 0; i < sim->nr_devices; descriptions += bytes[i++])
		if (device_init(&sim->devices[i], descriptions, bytes[i], sentence))
			return -1;
	sim->disk_blocks = sim->devices[0].model.mechanics.geometry.sectors / BLOCK_SECTORS;
	/* The spare areas are behind what the RAID has, also where nothing uses them. */
	sim->raid_blocks = sim_raid_blocks(sim->disk_blocks * BLOCK_SECTORS, c->members,
					   c->chunk_blocks, c->log_blocks);
	raid_init(sim);
	if (c->system == SYSTEM_PLAIN)
		return 0;
	track_init(sim);
	if (c->system == SYSTEM_STOCK)
		stock_init(sim);
	return c->system == SYSTEM_OURS ? ours_init(sim, sentence) : 0;
}

/**
 * sim_run() - simulate
 * @config: see there
 * @descriptions: of the disks, then of the SSD, one behind the other; filled in
 * @bytes: size of each
 * @nr: number of requests
 * @requests: these, by arrival
 * @response_ns: filled in: from sending to answer, of each
 * @wait_ns: filled in: from arrival to sending
 * @courses: filled in, if there is a course
 * @result: filled in
 * @sentence: of 256 bytes; filled in on failure
 *
 * Return: 0 or -1.
 */
int sim_run(const struct sim_config *config, void *descriptions, const u64 *bytes, u64 nr,
	    const struct sim_request *requests, u64 *response_ns, u64 *wait_ns,
	    struct sim_course *courses, struct sim_result *result, char *sentence)
{
	struct sim sim = {
		.config = *config,
		.requests = requests,
		.nr_requests = nr,
		.response_ns = response_ns,
		.result = result,
	};
	u64 i;
	int err;

	memset(result, 0, sizeof(*result));
	sim.sent_ns = calloc(nr + 1, sizeof(*sim.sent_ns));
	err = init(&sim, descriptions, bytes, sentence);
	if (!err) {
		run(&sim, courses);
		collect(&sim);
		for (i = 0; i < sim.sent; i++)
			wait_ns[i] = sim.sent_ns[i] - requests[i].arrival_ns;
	}
	sim_free(&sim);
	return err;
}
