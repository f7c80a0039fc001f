// SPDX-License-Identifier: GPL-2.0
/* Accesses of the arms. */
#include "arm.h"
#include "bus.h"

/* Number of other arms that transfer at a time in [@begin_ns, @end_ns), and the first to end. */
static u32 transfers_during(const struct spek_drive *drive, u64 begin_ns, u64 end_ns,
			    u64 *first_end_ns)
{
	u32 arm, n = 0;

	*first_end_ns = SPEK_DRIVE_NEVER;
	for (arm = 0; arm < drive->model->mechanics.nr_arms; arm++) {
		const struct spek_drive_service *other = &drive->service[arm];

		if (!(drive->arms.busy >> arm & 1) || other->end_ns <= begin_ns ||
		    other->end_ns - other->access.transfer_ns >= end_ns)
			continue;
		if (other->end_ns < *first_end_ns)
			*first_end_ns = other->end_ns;
		n++;
	}
	return n;
}

/* Postpone the transfer until a channel is free for all of it; what was chosen stays chosen. */
static void wait_for_channel(const struct spek_drive *drive, struct spek_drive_service *service,
			     const struct spek_drive_request *request)
{
	const struct spek_drive_mechanics *mechanics = &drive->model->mechanics;
	struct spek_drive_access *access = &service->access;
	u64 arrival_ns = service->start_ns + access->overhead_ns + access->seek_ns, free_ns;

	/* As many turns as there are other transfers, at most. */
	while (transfers_during(drive, service->end_ns - access->transfer_ns, service->end_ns,
				&free_ns) >= mechanics->channels) {
		service->end_ns = spek_drive_transfer(mechanics, service->arm, request, free_ns,
						      access);
		access->rotate_ns += free_ns - arrival_ns;
	}
}

/* Of heads that transfer together, of which @first is the first, the slowest one counts. */
static u64 head_delay_ns(const struct spek_drive *drive, u32 first)
{
	u32 end = first + drive->model->mechanics.geometry.surfaces, head;
	u64 slowest_ns = 0;

	for (head = first; head < end; head++) {
		u64 ns = spek_drive_faults_delay_ns(&drive->faults, SPEK_DRIVE_FAULT_SLOW_HEAD,
						    head);

		if (ns > slowest_ns)
			slowest_ns = ns;
	}
	return slowest_ns;
}

/* Times of an access, of the part of it that is not cached, up to a bad sector. */
static void time_access(struct spek_drive *drive, struct spek_drive_service *service)
{
	const struct spek_drive_mechanics *mechanics = &drive->model->mechanics;
	struct spek_drive_request part = service->request;
	const struct spek_drive_fault *fault = NULL;
	u64 slow_ns = 0;
	u32 segment;

	if (!part.write && !part.fua && drive->model->cache.segments) {
		segment = spek_drive_cache_find(&drive->cache, &drive->model->cache, part.lba);
		if (segment != SPEK_DRIVE_NONE &&
		    drive->cache.segments[segment].end < part.lba + part.sectors) {
			part.sectors -= (u32)(drive->cache.segments[segment].end - part.lba);
			part.lba = drive->cache.segments[segment].end;
		}
	}
	if (spek_unlikely(drive->faults.length)) {
		struct spek_drive_place place;

		fault = spek_drive_faults_first(&drive->faults,
						part.write ? SPEK_DRIVE_FAULT_WRITE :
							     SPEK_DRIVE_FAULT_MEDIUM,
						part.lba, part.sectors, &service->error_lba);
		if (fault) {
			service->error = part.write ? SPEK_DRIVE_WRITE_ERROR :
						      SPEK_DRIVE_MEDIUM_ERROR;
			part.sectors = (u32)(service->error_lba - part.lba) + 1;
		}
		spek_drive_locate(&mechanics->geometry, part.lba, &place);
		slow_ns = head_delay_ns(drive, place.head);
	}
	spek_drive_access(mechanics, service->arm, &drive->arms.position[service->arm], &part,
			  service->start_ns + slow_ns, &service->access);
	service->access.overhead_ns += slow_ns;
	service->end_ns = service->start_ns + spek_drive_access_ns(&service->access);
	if (mechanics->moving > mechanics->channels)
		wait_for_channel(drive, service, &part);
	if (fault) {
		service->access.transfer_ns += fault->delay_ns;
		service->end_ns += fault->delay_ns;
	}
}

/**
 * spek_drive_start_arm() - let an arm serve a request
 * @drive: initialised
 * @queue: requests of the host, or extents of the cache
 * @rule: order of service
 * @now_ns: time
 * @moved: set to whether the arm has to change its cylinder
 *
 * Return: the access, or NULL if no arm or no request is ready.
 */
struct spek_drive_service *spek_drive_start_arm(struct spek_drive *drive,
						struct spek_drive_queue *queue,
						const struct spek_drive_rule *rule, u64 now_ns,
						bool *moved)
{
	const struct spek_drive_mechanics *mechanics = &drive->model->mechanics;
	struct spek_drive_service *service;
	struct spek_drive_choice choice;

	if (spek_drive_count_arms(drive->arms.busy) >= mechanics->moving ||
	    !spek_drive_choose(mechanics, rule, queue, &drive->arms, now_ns, &choice))
		return NULL;
	spek_drive_cut_ahead(drive, now_ns);
	*moved = drive->arms.position[choice.arm].cylinder !=
		 queue->slots[choice.slot].place.cylinder;
	service = spek_drive_take(drive, queue, choice.slot, choice.arm, now_ns);
	time_access(drive, service);
	drive->arms.position[choice.arm] = service->access.end;
	drive->arms.last_lba = service->request.lba;
	drive->arms.busy |= 1U << choice.arm;
	drive->ahead_arm = SPEK_DRIVE_NONE;
	return service;
}
