// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The core of the modelled drive in userspace, over batches of requests: the library that core.py
 * compiles and calls. Structures have fields of 8 bytes before fields of 4, so that they are laid
 * out the same by every compiler and by Python's struct.
 */
#include <stdlib.h>

#include "drive.h"
#include "hist.h"
#include "userspace.h"

#define METRICS		4	/* response, seek, rotation, transfer */

/**
 * struct sim_request - a request
 * @op: 0 read, 1 write, 2 discard
 */
struct sim_request {
	u64 arrival_ns;
	u64 lba;
	u32 sectors;
	u32 op;
};

/**
 * struct sim_result - a request that was served, in the order of ends
 * @number: place among the requests, from 0
 * @op: as in struct sim_request
 * @arm: index of the arm; SPEK_DRIVE_BUS: the cache, or flash
 * @error: enum spek_drive_error
 */
struct sim_result {
	u64 number;
	u64 arrival_ns;
	u64 lba;
	u64 start_ns;
	u64 end_ns;
	u64 overhead_ns;
	u64 seek_ns;
	u64 rotate_ns;
	u64 transfer_ns;
	u32 sectors;
	u32 op;
	u32 arm;
	u32 error;
};

/**
 * struct sim_account - struct spek_drive_account without types of its own
 */
struct sim_account {
	u64 now_ns;
	u64 energy_nj[SPEK_DRIVE_RAIL_NR];
	u64 energy_rest[SPEK_DRIVE_RAIL_NR];
	u64 condition_ns[SPEK_DRIVE_CONDITION_NR];
	u64 phase_ns[SPEK_DRIVE_PHASE_NR];
	u64 starts;
	u64 served;
	u64 moved;
	u64 pages_programmed;
	u64 pages_moved;
	u64 blocks_erased;
	u64 arm_served[SPEK_DRIVE_MAX_ARMS + 1];
	u64 sum_ns[METRICS];
	u64 sum_high[METRICS];		/* multiples of 2^64 ns: of an overloaded drive */
	u64 max_ns[METRICS];
};

struct sim {
	struct spek_drive_model model;
	struct spek_drive drive;
	void *flash;
	u64 now_ns;
	u64 taken;
	u32 outstanding;
	u32 closed;
	struct sim_result *out;
	u64 room;
	u64 done;
	u64 arm_served[SPEK_DRIVE_MAX_ARMS + 1];
	u64 sum_ns[METRICS];
	u64 sum_high[METRICS];		/* multiples of 2^64 ns: of an overloaded drive */
	u64 max_ns[METRICS];
	u64 hist[METRICS][SPEK_HIST_BUCKETS];
};

void sim_free(struct sim *sim)
{
	if (!sim)
		return;
	userspace_drive_deinit(&sim->model, sim->flash);
	free(sim);
}

/*
 * A drive at time 0, or NULL and in @sentence (SENTENCE_BYTES, zeroed) why not. @description has
 * @bytes, and what it leaves out is filled in. @closed: requests kept outstanding, in place of their
 * arrivals; 0: open loop.
 */
struct sim *sim_new(struct spek_drive_description *description, u64 bytes, u32 closed,
		    char *sentence)
{
	struct sim *sim = calloc(1, sizeof(*sim));

	if (!sim) {
		strcpy(sentence, "There is no memory for the drive.");
		return NULL;
	}
	if (!userspace_drive_init(&sim->model, &sim->drive, &sim->flash, description, bytes,
				  sentence)) {
		sim_free(sim);
		return NULL;
	}
	sim->closed = closed;
	return sim;
}

/*
 * Take an arm out of service, for good; an access that it has begun ends.
 *
 * Return: whether there is such an arm; if not, @sentence (SENTENCE_BYTES, zeroed) says so.
 */
bool sim_fail_arm(struct sim *sim, u32 number, char *sentence)
{
	struct spek_drive_fault fault = { .kind = SPEK_DRIVE_FAULT_ARM, .number = number };
	struct spek_refusal refusal = { 0 };

	if (!spek_drive_fault(&sim->drive, sim->now_ns, &fault, &refusal))
		return true;
	strncpy(sentence, refusal.text, SENTENCE_BYTES - 1);
	return false;
}

static void count(struct sim *sim, u32 metric, u64 ns)
{
	sim->sum_high[metric] += __builtin_add_overflow(sim->sum_ns[metric], ns,
							&sim->sum_ns[metric]);
	if (ns > sim->max_ns[metric])
		sim->max_ns[metric] = ns;
	sim->hist[metric][spek_hist_index(ns)]++;
}

static void deliver(struct sim *sim, const struct spek_drive_service *ended)
{
	const struct spek_drive_access *access = &ended->access;

	sim->outstanding--;
	sim->arm_served[ended->arm]++;
	count(sim, 0, ended->end_ns - ended->request.arrival_ns);
	count(sim, 1, access->seek_ns);
	count(sim, 2, access->rotate_ns);
	count(sim, 3, access->transfer_ns);
	if (!sim->out)
		return;
	if (sim->done == sim->room)
		abort();	/* the caller has room for all that it sent and all that waited */
	sim->out[sim->done++] = (struct sim_result) {
		.number = ended->request.tag,
		.arrival_ns = ended->request.arrival_ns,
		.lba = ended->request.lba,
		.start_ns = ended->start_ns,
		.end_ns = ended->end_ns,
		.overhead_ns = access->overhead_ns,
		.seek_ns = access->seek_ns,
		.rotate_ns = access->rotate_ns,
		.transfer_ns = access->transfer_ns,
		.sectors = ended->request.sectors,
		.op = ended->request.trim ? 2 : ended->request.write,
		.arm = ended->arm,
		.error = ended->error,
	};
}

/* Start what can start now; arrivals at this time are in. */
static void start(struct sim *sim)
{
	struct spek_drive_service started;

	while (spek_drive_start(&sim->drive, sim->now_ns, &started))
		;
}

/* Go to the next event if it is before @until_ns; what it frees is not used yet. */
static bool step(struct sim *sim, u64 until_ns)
{
	struct spek_drive_service ended;
	u64 next_ns;

	start(sim);
	next_ns = spek_drive_next_ns(&sim->drive);
	if (next_ns >= until_ns)
		return false;
	sim->now_ns = next_ns;
	spek_drive_account(&sim->drive, next_ns);
	while (spek_drive_finish(&sim->drive, next_ns, &ended))
		deliver(sim, &ended);
	return true;
}

/*
 * Serve requests. In an open loop each arrives at its time, which must not fall; in a closed loop
 * as soon as one of those outstanding has ended, before the drive chooses the next one. Requests
 * beyond the queue wait outside.
 *
 * Return: 0, or the negative errno of request *@refused. *@done results are in @out unless that
 * is NULL; there are at most as many as requests sent and not answered yet.
 */
int sim_feed(struct sim *sim, u64 nr, const struct sim_request *requests, struct sim_result *out,
	     u64 room, u64 *done, u64 *refused)
{
	int err = 0;
	u64 i;

	sim->out = out;
	sim->room = room;
	sim->done = 0;
	for (i = 0; i < nr && !err; i++) {
		struct spek_drive_request request = {
			.lba = requests[i].lba,
			.sectors = requests[i].sectors,
			.write = requests[i].op == 1,
			.trim = requests[i].op == 2,
			.arrival_ns = requests[i].arrival_ns,
			.tag = sim->taken,
		};

		if (sim->closed) {
			while (sim->outstanding >= sim->closed && step(sim, SPEK_DRIVE_NEVER))
				;
			request.arrival_ns = sim->now_ns;
		} else if (request.arrival_ns > sim->now_ns) {
			while (step(sim, request.arrival_ns))
				;
			sim->now_ns = request.arrival_ns;
		}
		do {
			err = spek_drive_submit(&sim->drive, &request);
		} while (err == -EBUSY && step(sim, SPEK_DRIVE_NEVER));
		*refused = i;
		if (!err) {
			sim->taken++;
			sim->outstanding++;
		}
	}
	*done = sim->done;
	return err;
}

/* Serve what waits. Return: number of results in @out. */
u64 sim_drain(struct sim *sim, struct sim_result *out, u64 room)
{
	sim->out = out;
	sim->room = room;
	sim->done = 0;
	/* Not further: what the drive does by itself is not waited for. */
	while (sim->outstanding && step(sim, SPEK_DRIVE_NEVER))
		;
	return sim->done;
}

/* Let time pass up to @until_ns, then say what was done and used. */
void sim_account(struct sim *sim, u64 until_ns, struct sim_account *account)
{
	const struct spek_drive_account *from = &sim->drive.account;
	u32 i;

	while (until_ns > sim->now_ns && step(sim, until_ns))
		;
	if (until_ns > sim->now_ns)
		sim->now_ns = until_ns;
	spek_drive_account(&sim->drive, sim->now_ns);
	memset(account, 0, sizeof(*account));
	account->now_ns = sim->now_ns;
	for (i = 0; i < SPEK_DRIVE_RAIL_NR; i++) {
		account->energy_nj[i] = from->energy[i].nj;
		account->energy_rest[i] = from->energy[i].rest;
	}
	for (i = 0; i < SPEK_DRIVE_CONDITION_NR; i++)
		account->condition_ns[i] = from->condition_ns[i];
	for (i = 0; i < SPEK_DRIVE_PHASE_NR; i++)
		account->phase_ns[i] = from->phase_ns[i];
	account->starts = from->starts;
	account->served = from->served;
	account->moved = from->moved;
	if (sim->drive.flash) {
		account->pages_programmed = sim->drive.flash->programmed;
		account->pages_moved = sim->drive.flash->moved;
		account->blocks_erased = sim->drive.flash->erased;
	}
	memcpy(account->arm_served, sim->arm_served, sizeof(sim->arm_served));
	memcpy(account->sum_ns, sim->sum_ns, sizeof(sim->sum_ns));
	memcpy(account->sum_high, sim->sum_high, sizeof(sim->sum_high));
	memcpy(account->max_ns, sim->max_ns, sizeof(sim->max_ns));
}

/* Return: a percentile of a metric, off by at most 1/128. */
u64 sim_percentile(const struct sim *sim, u32 metric, u32 ppm)
{
	u64 total = 0;
	u32 i;

	for (i = 0; i < SPEK_HIST_BUCKETS; i++)
		total += sim->hist[metric][i];
	return total ? spek_hist_percentile(sim->hist[metric], total, ppm, sim->max_ns[metric]) : 0;
}
