// SPDX-License-Identifier: GPL-2.0
/* Of a modelled drive: long loops, which Python would take seconds for, and inline functions. */
#include "drive_shim.h"

/* Inline in the core. */
u32 shim_seek_step(u32 distance)
{
	return spek_drive_seek_step(distance);
}

/* SplitMix64, the generator of the golden tables. */
static u64 draw(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static void submit(struct spek_drive *drive, struct shim_loop *loop, u64 now_ns)
{
	struct spek_drive_request request = {
		.sectors = loop->sectors,
		.write = loop->write,
		.arrival_ns = now_ns,
	};

	do {
		request.lba = draw(&loop->seed) % loop->blocks * 8;
	} while (request.lba + request.sectors > drive->model->mechanics.geometry.sectors);
	loop->refused += spek_drive_submit(drive, &request) != 0;
}

/* Keep @depth requests outstanding; the next one arrives before the drive chooses. */
void shim_closed_loop(struct spek_drive *drive, struct shim_loop *loop)
{
	u64 now_ns = 0, wait_ns;
	u32 i, done = 0;

	for (i = 0; i < loop->depth; i++)
		submit(drive, loop, 0);
	while (done < loop->unmeasured + loop->measured) {
		struct spek_drive_service service;

		while (spek_drive_start(drive, now_ns, &service)) {
			wait_ns = service.start_ns - service.request.arrival_ns;
			if (wait_ns > loop->longest_wait_ns)
				loop->longest_wait_ns = wait_ns;
		}
		now_ns = spek_drive_next_ns(drive);
		if (now_ns == SPEK_DRIVE_NEVER)
			return;
		while (spek_drive_finish(drive, now_ns, &service)) {
			submit(drive, loop, now_ns);
			if (++done > loop->unmeasured) {
				loop->seek_ns += service.access.seek_ns;
				loop->rotate_ns += service.access.rotate_ns;
				loop->transfer_ns += service.access.transfer_ns;
			} else {
				loop->begin_ns = now_ns;
			}
		}
	}
	loop->end_ns = now_ns;
}
