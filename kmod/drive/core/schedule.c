// SPDX-License-Identifier: GPL-2.0
/* The queue and the choice among its requests. */
#include "schedule.h"

#define NEVER	(~0ULL)

/**
 * spek_drive_queue_init() - make an empty queue
 * @queue: queue
 * @capacity: requests that it can hold, > 0
 */
void spek_drive_queue_init(struct spek_drive_queue *queue, u32 capacity)
{
	u32 i;

	queue->capacity = capacity;
	queue->length = 0;
	queue->oldest = SPEK_DRIVE_NONE;
	queue->youngest = SPEK_DRIVE_NONE;
	queue->free = 0;
	for (i = 0; i < capacity; i++)
		queue->slots[i].next = i + 1 < capacity ? i + 1 : SPEK_DRIVE_NONE;
}

/**
 * spek_drive_queue_add() - append a request
 * @queue: initialised
 * @geometry: initialised; NULL for flash, which has none
 * @request: within the capacity of the drive; copied
 *
 * Return: its slot, or SPEK_DRIVE_NONE if the queue is full.
 */
u32 spek_drive_queue_add(struct spek_drive_queue *queue,
			 const struct spek_drive_geometry *geometry,
			 const struct spek_drive_request *request)
{
	u32 index = queue->free;
	struct spek_drive_slot *slot;

	if (index == SPEK_DRIVE_NONE)
		return SPEK_DRIVE_NONE;
	slot = &queue->slots[index];
	queue->free = slot->next;
	slot->request = *request;
	slot->held = false;
	slot->hits_dirty = false;
	if (geometry)
		spek_drive_locate(geometry, request->lba, &slot->place);
	slot->next = SPEK_DRIVE_NONE;
	slot->previous = queue->youngest;
	if (queue->youngest == SPEK_DRIVE_NONE)
		queue->oldest = (u16)index;
	else
		queue->slots[queue->youngest].next = (u16)index;
	queue->youngest = (u16)index;
	queue->length++;
	return index;
}

/**
 * spek_drive_queue_remove() - take a request out of a queue
 * @queue: queue
 * @index: slot of the request
 */
void spek_drive_queue_remove(struct spek_drive_queue *queue, u32 index)
{
	struct spek_drive_slot *slot = &queue->slots[index];

	if (slot->previous == SPEK_DRIVE_NONE)
		queue->oldest = slot->next;
	else
		queue->slots[slot->previous].next = slot->next;
	if (slot->next == SPEK_DRIVE_NONE)
		queue->youngest = slot->previous;
	else
		queue->slots[slot->next].previous = slot->previous;
	slot->next = queue->free;
	queue->free = (u16)index;
	queue->length--;
}

/*
 * What an arm would take to the request; NEVER if that is not less than @limit. Most arms are too
 * far away to be timed at all.
 */
static u64 cost(const struct spek_drive_mechanics *mechanics, u32 policy,
		const struct spek_drive_slot *slot, u32 arm,
		const struct spek_drive_arms *arms, u64 now_ns, u64 limit)
{
	const struct spek_drive_position *from = &arms->position[arm];
	u32 distance = from->cylinder < slot->place.cylinder ?
		       slot->place.cylinder - from->cylinder :
		       from->cylinder - slot->place.cylinder;
	struct spek_drive_access access;

	if (policy == SPEK_DRIVE_SSTF)
		return distance;
	if (spek_drive_least_ns(mechanics, distance) >= limit)
		return NEVER;
	return spek_drive_reach_ns(mechanics, arm, from, &slot->place, slot->request.write,
				   now_ns, &access);
}

/* The cheapest idle arm for a request; NEVER if none may serve it for less than @limit. */
static u64 best_arm(const struct spek_drive_mechanics *mechanics, u32 policy,
		    const struct spek_drive_slot *slot, const struct spek_drive_arms *arms,
		    u64 now_ns, u64 limit, u32 *best)
{
	u32 unable = arms->busy | arms->failed, arm;
	u64 least = limit;

	for (arm = 0; arm < mechanics->nr_arms; arm++) {
		u64 one;

		if ((unable >> arm & 1) ||
		    (mechanics->is_parted &&
		     !spek_drive_reaches(mechanics, arm, slot->request.lba)))
			continue;
		one = cost(mechanics, policy, slot, arm, arms, now_ns, least);
		if (one < least) {
			least = one;
			*best = arm;
		}
	}
	return least < limit ? least : NEVER;
}

/**
 * spek_drive_choose() - choose request and arm
 * @mechanics: initialised
 * @rule: how
 * @queue: requests that wait
 * @arms: positions, and which arms are busy
 * @now_ns: start of the access
 * @choice: filled in
 *
 * Return: true if there is a request that an idle arm may serve.
 */
bool spek_drive_choose(const struct spek_drive_mechanics *mechanics,
		       const struct spek_drive_rule *rule, const struct spek_drive_queue *queue,
		       const struct spek_drive_arms *arms, u64 now_ns,
		       struct spek_drive_choice *choice)
{
	u64 least = NEVER;
	u32 index, seen = 0;
	bool found = false;

	for (index = queue->oldest; index != SPEK_DRIVE_NONE && seen < rule->window;
	     index = queue->slots[index].next) {
		const struct spek_drive_slot *slot = &queue->slots[index];
		bool overdue = rule->max_wait_ns &&
			       now_ns - slot->request.arrival_ns > rule->max_wait_ns;
		/* Of the others only those matter that are reached sooner. */
		u64 limit = rule->policy == SPEK_DRIVE_SPTF && !overdue ? least : NEVER, one;
		u32 arm = 0;

		if (slot->held)
			continue;
		seen++;
		one = best_arm(mechanics, rule->policy, slot, arms, now_ns, limit, &arm);
		if (one == NEVER)
			continue;
		/* Upwards from the last one; what is below comes after what is above. */
		if (rule->policy == SPEK_DRIVE_CLOOK)
			one = slot->request.lba - arms->last_lba;
		if (!found || one < least) {
			least = one;
			choice->slot = index;
			choice->arm = arm;
			found = true;
		}
		if (overdue || rule->policy == SPEK_DRIVE_FCFS) {
			choice->slot = index;
			choice->arm = arm;
			break;
		}
	}
	return found;
}
