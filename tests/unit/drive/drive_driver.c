// SPDX-License-Identifier: GPL-2.0
/*
 * Drives of random, also impossible descriptions with random calls, for sanitizers and checksums:
 * driver SEED DRIVES. Prints how many descriptions were accepted and a checksum of all times and energies.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "drive_shim.h"

static uint64_t state;

static uint64_t draw(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* Up to @limit, often near 0 or the limit. */
static uint64_t upto(uint64_t limit)
{
	uint64_t kind = draw() % 8;

	if (kind == 0)
		return draw() % 3 < limit ? draw() % 3 : limit;
	if (kind == 1)
		return limit;
	return limit + 1 ? draw() % (limit + 1) : draw();
}

static struct spek_drive_zone zones[SPEK_DRIVE_MAX_ZONES];
static struct spek_drive_seek_point points[SPEK_DRIVE_MAX_SEEK_POINTS];
static struct spek_drive_model model;
static struct spek_drive drive;

/* Blocks often just suffice, or not. */
static void describe_flash(void)
{
	struct spek_drive_flash_rule *rule = &model.flash;
	uint64_t share;

	rule->channels = (u32)(draw() % 50 ? 1 + draw() % 8 : upto(SPEK_DRIVE_MAX_CHANNELS + 1));
	rule->page_sectors = (u32)(draw() % 50 ? 1 + draw() % 16 : upto(SPEK_DRIVE_MAX_PAGE_SECTORS + 1));
	rule->block_pages = (u32)(draw() % 50 ? 1 + draw() % 32 : upto(SPEK_DRIVE_MAX_BLOCK_PAGES + 1));
	rule->low_blocks = (u32)(1 + draw() % 5);
	rule->sectors = draw() % 50 ? 1 + draw() % 20000 : draw();
	if (rule->page_sectors && rule->block_pages && rule->channels && rule->sectors < 100000) {
		share = rule->sectors / rule->page_sectors / rule->channels + 1;
		rule->blocks = (u32)(share / rule->block_pages + rule->low_blocks + 2 + draw() % 3);
	}
	rule->read_ns = 1 + draw() % 100000;
	rule->program_ns = 1 + draw() % 1000000;
	rule->erase_ns = 1 + draw() % 5000000;
	rule->sector_ps = draw() % 10000000;
	model.cache.segments = 0;
	model.cache.ahead_sectors = 0;
}

static void describe(void)
{
	struct spek_drive_mechanics *mechanics = &model.mechanics;
	struct spek_refusal refusal = { 0 };
	struct shim_lee lee;
	uint32_t i, cylinder = 0;

	spek_memset(&model, 0, sizeof(model));
	mechanics->geometry.layout = (u32)(draw() % SPEK_DRIVE_LAYOUT_NR);
	mechanics->geometry.heads = (u32)(draw() % 8 ? 1 + draw() % 10 : upto(SPEK_DRIVE_MAX_HEADS + 1));
	mechanics->geometry.band_cylinders = (u32)(1 + draw() % 200);
	mechanics->geometry.nr_zones = (u32)(1 + draw() % 40);
	mechanics->geometry.zones = zones;
	for (i = 0; i < mechanics->geometry.nr_zones; i++) {
		zones[i].first_cylinder = cylinder + (u32)(draw() % 3);
		zones[i].cylinders = (u32)(draw() % 100 ? 1 + draw() % 90000 : draw());
		zones[i].spt = (u32)(draw() % 100 ? 1 + draw() % 5000 : upto(SPEK_DRIVE_MAX_SPT + 1));
		zones[i].track_skew = draw();
		zones[i].cylinder_skew = draw();
		cylinder = zones[i].first_cylinder + zones[i].cylinders;
	}
	mechanics->seek.points = points;
	if (draw() % 4) {
		u64 min = 1 + draw() % 2000000, avg = min + draw() % 20000000;
		uint32_t cylinders = cylinder;

		if (shim_lee_init(&lee, min, avg, 2 * avg, cylinders, &refusal)) {
			cylinders = 165000;
			shim_lee_init(&lee, 800000, 8500000, 17000000, cylinders, &refusal);
		}
		mechanics->seek.nr_points = shim_lee_points(&lee, cylinders, points);
	} else {
		u32 distance = 0;

		mechanics->seek.nr_points = (u32)(1 + draw() % 200);
		for (i = 0; i < mechanics->seek.nr_points; i++) {
			distance += 1 + (u32)(draw() % 1000);
			points[i].distance = distance;
			points[i].ns = draw() % 50 ? 1000000 + draw() % 100000 : upto(SPEK_DRIVE_MAX_SEEK_NS);
		}
	}
	mechanics->max_fall_ppm = 1000000;
	mechanics->rotation.period_ps = draw() % 20 ? 4000000000 + draw() % 12000000000 : upto(1000000000001);
	mechanics->rotation.phase = draw();
	mechanics->head_switch_ns = draw() % 2000000;
	mechanics->settle_ns = draw() % 1000000;
	mechanics->overhead_ns = draw() % 1000000;
	mechanics->seek_scale = (u32)(draw() % 2 ? SPEK_DRIVE_SCALE : upto(SPEK_DRIVE_SCALE));
	mechanics->rotation_scale = (u32)(draw() % 2 ? SPEK_DRIVE_SCALE : upto(SPEK_DRIVE_SCALE));
	mechanics->nr_arms = (u32)(1 + draw() % SPEK_DRIVE_MAX_ARMS);
	mechanics->channels = (u32)(1 + draw() % mechanics->nr_arms);
	mechanics->moving = draw() % 2 ? 0 : (u32)(draw() % (mechanics->nr_arms + 1));
	mechanics->split = draw() % 3 == 0;
	mechanics->zero_latency = draw() & 1;
	mechanics->heads_per_surface = (u32)(draw() % (SPEK_DRIVE_MAX_HEADS_PER_SURFACE + 1));
	for (i = 0; i < SPEK_DRIVE_MAX_HEADS_PER_SURFACE; i++)
		mechanics->head_angle[i] = draw();
	if (draw() % 8 == 0)
		mechanics->geometry.surfaces = (u32)(draw() % (mechanics->geometry.heads + 1));
	if (draw() % 4 == 0)
		mechanics->geometry.stacks = mechanics->nr_arms;
	for (i = 0; i < SPEK_DRIVE_MAX_ARMS; i++)
		mechanics->arm_angle[i] = draw();
	model.rule.policy = (u32)(draw() % SPEK_DRIVE_POLICY_NR);
	model.rule.window = (u32)(1 + draw() % 40);
	model.rule.max_wait_ns = draw() % 2 ? draw() % 1000000000 : 0;
	if (draw() & 1) {
		model.cache.segments = (u32)(draw() % (SPEK_DRIVE_MAX_SEGMENTS + 1));
		model.cache.segment_sectors = (u32)(draw() % 5000);
		model.cache.ahead_sectors = (u32)(draw() % (model.cache.segment_sectors + 1));
		if (!model.cache.segments)
			model.cache.ahead_sectors = 0;
		model.cache.write_sectors = draw() & 1 ? draw() % 100000 : 0;
		model.cache.hit_ns = draw() % 100000;
		model.cache.sector_ps = draw() % 10000000;
	}
	model.queue_depth = (u32)(1 + draw() % SPEK_DRIVE_MAX_QUEUE);
	for (i = 0; i < SPEK_DRIVE_CONDITION_NR; i++) {
		model.watts.base[i][0] = (u32)(draw() % 20000000);
		model.watts.base[i][1] = (u32)(draw() % 20000000);
	}
	for (i = 1; i < SPEK_DRIVE_PHASE_NR; i++)
		model.watts.phase[i] = (u32)upto(SPEK_DRIVE_MAX_UW);
	model.watts.hold = (u32)upto(SPEK_DRIVE_MAX_UW);
	model.watts.starting_ns = draw() % 1000000000;
	model.watts.stopping_ns = draw() % 1000000000;
	if (draw() % 5 == 0)
		describe_flash();
}

static uint64_t waiting, off_ns, cut_ns;

/* Without power nothing is accounted, and what was waiting is lost. */
static void note_power(bool had_power)
{
	if (had_power && !drive.has_power) {
		waiting = 0;
		cut_ns = drive.accounted_ns;
	} else if (!had_power && drive.has_power) {
		off_ns += drive.accounted_ns - cut_ns;
	}
}

static void clear_faults(uint64_t now_ns)
{
	bool was_gone = drive.is_gone, had_power = drive.has_power;

	spek_drive_clear_faults(&drive, now_ns);
	note_power(had_power);
	if (was_gone && spek_drive_next_ns(&drive) < now_ns)
		abort();
}

static void break_something(uint64_t now_ns)
{
	bool had_power = drive.has_power;
	struct spek_drive_fault fault = { 0 };
	struct spek_refusal refusal = { 0 };

	fault.kind = (u32)(draw() % SPEK_DRIVE_FAULT_KIND_NR);
	fault.lba = upto(model.mechanics.geometry.sectors);
	fault.sectors = draw() % 3 ? draw() % 10000 : upto(model.mechanics.geometry.sectors);
	fault.number = (u32)(draw() % (SPEK_DRIVE_MAX_ARMS + 1));
	fault.delay_ns = draw() % 100000000;
	if (spek_drive_fault(&drive, now_ns, &fault, &refusal) && !refusal.text)
		abort();
	note_power(had_power);
	if (draw() % 4 == 0)
		clear_faults(now_ns);
}

static uint64_t step(uint64_t now_ns)
{
	struct spek_drive_service service;
	uint64_t sum = 0;

	while (spek_drive_finish(&drive, now_ns, &service)) {
		sum = sum * 31 + service.end_ns + service.error;
		waiting--;
	}
	while (spek_drive_start(&drive, now_ns, &service)) {
		if (service.end_ns < now_ns)
			abort();
		sum = sum * 31 + service.end_ns + service.arm;
	}
	return sum;
}

/* Once it is active again a drive serves all that it holds, and destages all that it accepted. */
static uint64_t drain(uint64_t now_ns)
{
	uint64_t sum = 0;
	int i;

	if (drive.is_gone)
		clear_faults(now_ns);
	while (spek_drive_command(&drive, now_ns, SPEK_DRIVE_START))
		now_ns = spek_drive_next_ns(&drive);
	for (i = 0; i < 1000000; i++) {
		sum = sum * 31 + step(now_ns);
		if (spek_drive_next_ns(&drive) == SPEK_DRIVE_NEVER)
			break;
		now_ns = spek_drive_next_ns(&drive);
	}
	if (waiting || drive.queue.length || drive.flushes || drive.cache.dirty_sectors ||
	    drive.arms.busy || drive.destaging ||
	    (drive.flash && (drive.flash->nr_flights || drive.flash->is_planning)))
		abort();
	return sum;
}

static uint64_t exercise(void)
{
	struct spek_drive_request request = { 0 };
	uint64_t begin_ns = upto(1ULL << 50), now_ns = begin_ns, sum = 0, lba = 0;
	u64 conditions_ns = 0, phases_ns = 0;
	u32 arms = model.mechanics.nr_arms;
	void *memory = NULL;
	int i, err;

	waiting = 0;
	off_ns = 0;
	spek_drive_init(&drive, &model, now_ns);
	if (model.flash.channels) {
		arms = model.flash.channels;
		memory = malloc(spek_drive_flash_bytes(&model.flash));
		if (!memory)
			abort();
		spek_drive_init_flash(&drive, memory);
	}
	for (i = 0; i < 200; i++) {
		uint64_t sectors = model.mechanics.geometry.sectors;

		request.lba = draw() % 3 ? lba : upto(sectors);
		request.sectors = (u32)(draw() % 50 ? 1 + draw() % (drive.flash ? 100 : 3000) : draw());
		request.write = draw() & 1;
		request.fua = draw() % 8 == 0;
		request.flush = draw() % 30 == 0;
		request.trim = draw() % 30 == 0;
		if (draw() % 8 && (request.flush || request.trim))
			request.write = false;
		if (request.flush && draw() % 8) {
			request.lba = 0;
			request.sectors = 0;
		}
		request.arrival_ns = now_ns;
		request.tag = (u64)i;
		lba = request.lba + request.sectors;
		err = spek_drive_submit(&drive, &request);
		waiting += !err;
		sum = sum * 31 + (uint64_t)(int64_t)err;
		if (draw() % 40 == 0)
			sum += (uint64_t)(int64_t)spek_drive_command(&drive, now_ns, draw() % 3);
		if (draw() % 60 == 0)
			break_something(now_ns);
		if (draw() % 40 == 0)
			waiting -= spek_drive_abort(&drive, now_ns, draw() % 200);
		if (draw() % 3 && spek_drive_next_ns(&drive) != SPEK_DRIVE_NEVER)
			now_ns = spek_drive_next_ns(&drive);
		if (draw() % 20 == 0)
			now_ns += draw() % 100000000;
		sum = sum * 31 + step(now_ns);
		sum = sum * 31 + spek_drive_power_uw(&drive, i & 1, now_ns);
	}
	sum = sum * 31 + drain(now_ns);
	for (i = 0; i < SPEK_DRIVE_CONDITION_NR; i++)
		conditions_ns += drive.account.condition_ns[i];
	for (i = 0; i < SPEK_DRIVE_PHASE_NR; i++)
		phases_ns += drive.account.phase_ns[i];
	if (conditions_ns != drive.accounted_ns - begin_ns - off_ns ||
	    phases_ns != conditions_ns * arms)
		abort();
	free(memory);
	return sum * 31 + drive.account.energy[0].nj * 31 + drive.account.energy[1].nj +
	       drive.account.energy[1].rest;
}

int main(int argc, char **argv)
{
	uint64_t drives = argc > 2 ? strtoull(argv[2], NULL, 0) : 100, accepted = 0, sum = 0;

	state = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	while (drives--) {
		struct spek_refusal refusal = { 0 };

		describe();
		if (spek_drive_model_init(&model, &refusal)) {
			if (!refusal.err || !refusal.text)
				abort();
			continue;
		}
		accepted++;
		sum = sum * 31 + exercise();
	}
	printf("%" PRIu64 " %" PRIx64 "\n", accepted, sum);
	return 0;
}
