// SPDX-License-Identifier: GPL-2.0
/*
 * What the core of the modelled drive costs per request: drive ARMS DEPTH REQUESTS SLICES.
 * A closed loop of random 4 KiB reads by SPTF (FCFS at depth 1), on a drive like the Barracuda ES.
 * Prints the requests per second of CPU time, of the fastest slice and of all. Each slice is a drive
 * of its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "drive_shim.h"

static struct spek_drive_zone zones[16];
static struct spek_drive_seek_point points[SHIM_FORMULA_POINTS];
static struct spek_drive_model model;
static struct spek_drive drive;

static int describe(u32 arms, u32 depth)
{
	struct spek_drive_mechanics *mechanics = &model.mechanics;
	struct spek_refusal refusal = { 0 };
	struct shim_lee lee;
	u32 i;

	for (i = 0; i < 16; i++) {
		zones[i].first_cylinder = 10312 * i;
		zones[i].cylinders = 10312;
		zones[i].spt = 1432 - 644 * i / 15;
		zones[i].track_skew = 0x1eb851eb851eb851;
		zones[i].cylinder_skew = 0x1eb851eb851eb851;
	}
	mechanics->geometry.heads = 8;
	mechanics->geometry.nr_zones = 16;
	mechanics->geometry.zones = zones;
	if (shim_lee_init(&lee, 800000, 8500000, 17000000, 164992, &refusal))
		return -1;
	mechanics->seek.points = points;
	mechanics->seek.nr_points = shim_lee_points(&lee, 164992, points);
	mechanics->rotation.period_ps = 8333333333;
	mechanics->seek_scale = SPEK_DRIVE_SCALE;
	mechanics->rotation_scale = SPEK_DRIVE_SCALE;
	mechanics->nr_arms = arms;
	mechanics->channels = 1;
	for (i = 0; i < arms; i++)
		mechanics->arm_angle[i] = ~0ULL / arms * i;
	model.rule.policy = depth > 1 ? SPEK_DRIVE_SPTF : SPEK_DRIVE_FCFS;
	model.rule.window = depth;
	model.rule.max_wait_ns = 500000000;
	model.watts.hold = 2000000;
	model.watts.base[0][0] = 3055000;
	model.watts.base[0][1] = 4245000;
	model.watts.phase[SPEK_DRIVE_SEEK] = 4675000;
	model.watts.phase[SPEK_DRIVE_READ] = 1300000;
	model.queue_depth = depth;
	return spek_drive_model_init(&model, &refusal);
}

static double cpu_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	u32 arms, depth, requests, slices, i;
	double fastest_s = 1e9, all_s = 0;

	if (argc != 5)
		return 2;
	arms = (u32)atoi(argv[1]);
	depth = (u32)atoi(argv[2]);
	requests = (u32)atoi(argv[3]);
	slices = (u32)atoi(argv[4]);
	if (describe(arms, depth))
		return 1;
	for (i = 0; i < slices; i++) {
		struct shim_loop loop = {
			.depth = depth,
			.blocks = model.mechanics.geometry.sectors / 8,
			.sectors = 8,
			.measured = requests / slices,
			.seed = i,
		};
		double begin_s, s;

		spek_drive_init(&drive, &model, 0);
		begin_s = cpu_s();
		shim_closed_loop(&drive, &loop);
		s = cpu_s() - begin_s;
		all_s += s;
		if (s < fastest_s)
			fastest_s = s;
		if (loop.refused || loop.end_ns <= loop.begin_ns)
			return 1;
	}
	printf("%.0f %.0f\n", requests / slices / fastest_s, requests / all_s);
	return 0;
}
