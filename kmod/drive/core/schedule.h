/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The drive's queue, and which request is served next by which arm.
 *
 * FCFS		the oldest one
 * SSTF		the one on the nearest cylinder
 * SPTF		the one whose first sector is under a head first
 * C-LOOK	the next LBA upwards, and from the top back to the lowest
 *
 * Ties go to the oldest request, then to the first arm. The arm is the one that reaches the
 * request first; for SSTF the nearest one. Only the oldest requests, as many as the window has, are
 * compared. The oldest request that has waited longer than the age limit goes first, so that none
 * starves.
 *
 * "Queue depth n" has two meanings. If the host sends the next request before the drive chooses, n
 * requests are compared, else n - 1, which costs 2.5 % of throughput at depth 8. The drive offers
 * end and choice as two calls, and the caller decides what happens between them.
 */
#ifndef SPEK_DRIVE_SCHEDULE_H
#define SPEK_DRIVE_SCHEDULE_H

#include "service.h"

#define SPEK_DRIVE_MAX_QUEUE	256
#define SPEK_DRIVE_NONE		0xffffU

/**
 * enum spek_drive_policy - order of service
 * @SPEK_DRIVE_FCFS: first come, first served
 * @SPEK_DRIVE_SSTF: shortest seek time first
 * @SPEK_DRIVE_SPTF: shortest positioning time first
 * @SPEK_DRIVE_CLOOK: by ascending cylinder, then from the lowest again
 * @SPEK_DRIVE_POLICY_NR: number of policies
 */
enum spek_drive_policy {
	SPEK_DRIVE_FCFS,
	SPEK_DRIVE_SSTF,
	SPEK_DRIVE_SPTF,
	SPEK_DRIVE_CLOOK,
	SPEK_DRIVE_POLICY_NR,
};

/**
 * struct spek_drive_slot - place for a request in the queue
 * @request: request of the host
 * @place: its first sector
 * @barrier: of a flush: number of writes that it waits for
 * @held: not for the arms: a hit, a flush, or one that fails
 * @hits_dirty: a read that one extent of the cache holds
 * @next: next younger slot, or next free one; SPEK_DRIVE_NONE ends the list
 * @previous: next older slot
 */
struct spek_drive_slot {
	struct spek_drive_request request;
	struct spek_drive_place place;
	u64 barrier;
	bool held;
	bool hits_dirty;
	u16 next;
	u16 previous;
};

/**
 * struct spek_drive_queue - requests that wait, in the order of their arrival
 * @slots: memory
 * @oldest: first slot of the list
 * @youngest: last slot of the list
 * @free: first free slot
 * @length: number of requests
 * @capacity: number of requests it takes, up to SPEK_DRIVE_MAX_QUEUE
 */
struct spek_drive_queue {
	struct spek_drive_slot slots[SPEK_DRIVE_MAX_QUEUE];
	u16 oldest;
	u16 youngest;
	u16 free;
	u32 length;
	u32 capacity;
};

/**
 * struct spek_drive_rule - how requests are chosen
 * @policy: enum spek_drive_policy
 * @window: number of the oldest requests that are compared, > 0
 * @max_wait_ns: age limit; 0: none
 */
struct spek_drive_rule {
	u32 policy;
	u32 window;
	u64 max_wait_ns;
};

/**
 * struct spek_drive_arms - what a choice depends on besides the queue
 * @position: position of each arm
 * @busy: bit n is set while arm n serves an access
 * @failed: bit n is set if arm n is out of service
 * @last_lba: first LBA of the request that was chosen last, for C-LOOK
 */
struct spek_drive_arms {
	struct spek_drive_position position[SPEK_DRIVE_MAX_ARMS];
	u32 busy;
	u32 failed;
	u64 last_lba;
};

/**
 * spek_drive_count_arms() - count arms
 * @arms: set of arms, a bit each
 *
 * Return: number of bits set in @arms.
 */
static inline u32 spek_drive_count_arms(u32 arms)
{
	u32 n;

	/* Not the compiler's count of bits: it calls a function that the kernel does not have. */
	for (n = 0; arms; n++)
		arms &= arms - 1;
	return n;
}

/**
 * struct spek_drive_choice - the request to serve next
 * @slot: slot of the request
 * @arm: index of the arm
 */
struct spek_drive_choice {
	u32 slot;
	u32 arm;
};

void spek_drive_queue_init(struct spek_drive_queue *queue, u32 capacity);
u32 spek_drive_queue_add(struct spek_drive_queue *queue,
			 const struct spek_drive_geometry *geometry,
			 const struct spek_drive_request *request);
void spek_drive_queue_remove(struct spek_drive_queue *queue, u32 slot);
bool spek_drive_choose(const struct spek_drive_mechanics *mechanics,
		       const struct spek_drive_rule *rule, const struct spek_drive_queue *queue,
		       const struct spek_drive_arms *arms, u64 now_ns,
		       struct spek_drive_choice *choice);

#endif
