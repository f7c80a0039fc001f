// SPDX-License-Identifier: GPL-2.0
/* A modelled drive: its events and its accounts. */
#include "drive.h"

/**
 * spek_drive_model_init() - check a description and compute what a drive needs
 * @model: filled in
 * @refusal: says what was wrong
 *
 * Return: 0 or a negative errno.
 */
int spek_drive_model_init(struct spek_drive_model *model, struct spek_refusal *refusal)
{
	int err;

	err = spek_drive_mechanics_init(&model->mechanics, refusal);
	if (!err)
		err = spek_drive_watts_check(&model->watts, refusal);
	if (err)
		return err;
	if (model->rule.policy >= SPEK_DRIVE_POLICY_NR)
		return spek_refuse(refusal, SPEK_DRIVE_PART_WHOLE, 0, -EINVAL,
				   "The policy must be fcfs, sstf, sptf or clook.");
	if (!model->rule.window)
		return spek_refuse(refusal, SPEK_DRIVE_PART_WHOLE, 0, -ERANGE,
				   "The window has at least one request.");
	if (!model->queue_depth || model->queue_depth > SPEK_DRIVE_MAX_QUEUE)
		return spek_refuse(refusal, SPEK_DRIVE_PART_WHOLE, 0, -ERANGE,
				   "The queue holds 1 to 256 requests.");
	return 0;
}

/**
 * spek_drive_init() - make a drive that is active, with all arms at cylinder 0
 * @drive: memory of the caller
 * @model: checked by spek_drive_model_init()
 * @now_ns: time from which accounts count
 *
 * All at one cylinder, since SPTF would never choose an arm that began far from a small footprint.
 */
void spek_drive_init(struct spek_drive *drive, const struct spek_drive_model *model, u64 now_ns)
{
	spek_memset(drive, 0, sizeof(*drive));
	drive->model = model;
	spek_drive_queue_init(&drive->queue, model->queue_depth);
	drive->condition = SPEK_DRIVE_ACTIVE;
	drive->condition_end_ns = SPEK_DRIVE_NEVER;
	drive->accounted_ns = now_ns;
}

/**
 * spek_drive_submit() - give a request to the drive
 * @drive: initialised
 * @request: copied; its arrival is the time of the call
 *
 * Return: 0; -EINVAL for no or too many sectors, -ERANGE beyond the capacity, -EIO if the drive is
 * stopped, -EBUSY if the queue is full.
 */
int spek_drive_submit(struct spek_drive *drive, const struct spek_drive_request *request)
{
	const struct spek_drive_geometry *geometry = &drive->model->mechanics.geometry;

	if (!request->sectors || request->sectors > SPEK_DRIVE_MAX_SECTORS)
		return -EINVAL;
	if (request->lba >= geometry->sectors ||
	    request->sectors > geometry->sectors - request->lba)
		return -ERANGE;
	if (spek_drive_conditions[drive->condition].refuses)
		return -EIO;
	if (spek_drive_queue_add(&drive->queue, geometry, request) == SPEK_DRIVE_NONE)
		return -EBUSY;
	return 0;
}

static u32 nr_busy(const struct spek_drive *drive)
{
	u32 busy = drive->arms.busy, n;

	/* Not the compiler's count of bits: it calls a function that the kernel does not have. */
	for (n = 0; busy; n++)
		busy &= busy - 1;
	return n;
}

/* End of a phase of an access, from its start. Overhead is no phase of the arm: it is idle then. */
static u64 phase_end_ns(const struct spek_drive_service *service, u32 step)
{
	const struct spek_drive_access *access = &service->access;
	u64 ns = service->start_ns + access->overhead_ns;

	if (step > 0)
		ns += access->seek_ns;
	if (step > 1)
		ns += access->rotate_ns;
	return step > 2 ? service->end_ns : ns;
}

static enum spek_drive_phase phase_of(const struct spek_drive_service *service, u32 step)
{
	switch (step) {
	case 0:
		return SPEK_DRIVE_IDLE;
	case 1:
		return SPEK_DRIVE_SEEK;
	case 2:
		return SPEK_DRIVE_ROTATE;
	default:
		return service->request.write ? SPEK_DRIVE_WRITE : SPEK_DRIVE_READ;
	}
}

static void account_phase(struct spek_drive *drive, enum spek_drive_phase phase, u64 ns)
{
	struct spek_drive_account *account = &drive->account;

	account->phase_ns[phase] += ns;
	spek_drive_energy_add(&account->energy[spek_drive_phase_rail(phase)],
			      drive->model->watts.phase[phase], ns);
}

/* What an arm did in [from_ns, to_ns). */
static void account_arm(struct spek_drive *drive, u32 arm, u64 from_ns, u64 to_ns)
{
	const struct spek_drive_service *service = &drive->service[arm];
	u32 step;

	if (drive->arms.busy >> arm & 1) {
		for (step = 0; step < 4 && from_ns < to_ns; step++) {
			u64 end_ns = phase_end_ns(service, step);

			if (end_ns > to_ns)
				end_ns = to_ns;
			if (end_ns <= from_ns)
				continue;
			account_phase(drive, phase_of(service, step), end_ns - from_ns);
			from_ns = end_ns;
		}
	}
	/* After its end, too, until the caller has noticed. */
	if (from_ns < to_ns)
		account_phase(drive, SPEK_DRIVE_IDLE, to_ns - from_ns);
}

/* Sum of what is constant while the condition lasts. */
static u64 base_uw(const struct spek_drive *drive, enum spek_drive_rail rail)
{
	const struct spek_drive_model *model = drive->model;
	u64 uw = model->watts.base[drive->condition][rail];

	if (drive->condition == SPEK_DRIVE_ACTIVE && rail == SPEK_DRIVE_12V)
		uw += (u64)model->watts.hold * model->mechanics.nr_arms;
	return uw;
}

static void account_until(struct spek_drive *drive, u64 now_ns)
{
	u64 ns = now_ns - drive->accounted_ns;
	u32 i;

	for (i = 0; i < SPEK_DRIVE_RAIL_NR; i++)
		spek_drive_energy_add(&drive->account.energy[i], base_uw(drive, i), ns);
	for (i = 0; i < drive->model->mechanics.nr_arms; i++)
		account_arm(drive, i, drive->accounted_ns, now_ns);
	drive->account.condition_ns[drive->condition] += ns;
	drive->accounted_ns = now_ns;
}

static void enter(struct spek_drive *drive, enum spek_drive_condition condition)
{
	const struct spek_drive_watts *watts = &drive->model->watts;

	if (condition == drive->condition)
		return;
	drive->condition = condition;
	drive->condition_end_ns = SPEK_DRIVE_NEVER;
	if (condition == SPEK_DRIVE_STARTING) {
		drive->account.starts++;
		drive->condition_end_ns = drive->accounted_ns + watts->starting_ns;
	} else if (spek_drive_conditions[condition].is_transition) {
		drive->condition_end_ns = drive->accounted_ns + watts->stopping_ns;
	}
}

/**
 * spek_drive_account() - bring accounts and power condition up to date
 * @drive: initialised
 * @now_ns: time; one before the last call changes nothing
 */
void spek_drive_account(struct spek_drive *drive, u64 now_ns)
{
	while (drive->condition_end_ns <= now_ns) {
		if (drive->condition_end_ns > drive->accounted_ns)
			account_until(drive, drive->condition_end_ns);
		enter(drive, spek_drive_condition_next(drive->condition, SPEK_DRIVE_REACHED));
	}
	if (now_ns > drive->accounted_ns)
		account_until(drive, now_ns);
}

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
static void wait_for_channel(const struct spek_drive *drive, struct spek_drive_service *service)
{
	const struct spek_drive_mechanics *mechanics = &drive->model->mechanics;
	struct spek_drive_access *access = &service->access;
	u64 arrival_ns = service->start_ns + access->overhead_ns + access->seek_ns, free_ns;

	/* As many turns as there are other transfers, at most. */
	while (transfers_during(drive, service->end_ns - access->transfer_ns, service->end_ns,
				&free_ns) >= mechanics->channels) {
		service->end_ns = spek_drive_transfer(mechanics, service->arm, &service->request,
						      free_ns, access);
		access->rotate_ns += free_ns - arrival_ns;
	}
}

/**
 * spek_drive_start() - start the next access, or the spindle if a request waits for it
 * @drive: initialised
 * @now_ns: start of the access; not before the end of the last one on its channel
 * @started: filled in
 *
 * Return: true if an access was started.
 */
bool spek_drive_start(struct spek_drive *drive, u64 now_ns, struct spek_drive_service *started)
{
	const struct spek_drive_mechanics *mechanics = &drive->model->mechanics;
	struct spek_drive_service *service;
	struct spek_drive_choice choice;
	int condition;
	u32 cylinder;

	spek_drive_account(drive, now_ns);
	if (!drive->queue.length)
		return false;
	condition = spek_drive_condition_next(drive->condition, SPEK_DRIVE_MEDIA);
	if (condition >= 0)
		enter(drive, condition);
	if (!spek_drive_conditions[drive->condition].serves ||
	    nr_busy(drive) >= mechanics->moving ||
	    !spek_drive_choose(mechanics, &drive->model->rule, &drive->queue, &drive->arms, now_ns,
			       &choice))
		return false;
	service = &drive->service[choice.arm];
	service->request = drive->queue.slots[choice.slot].request;
	service->arm = choice.arm;
	service->start_ns = now_ns;
	cylinder = drive->queue.slots[choice.slot].place.cylinder;
	spek_drive_queue_remove(&drive->queue, choice.slot);
	spek_drive_access(mechanics, choice.arm, &drive->arms.position[choice.arm],
			  &service->request, now_ns, &service->access);
	service->end_ns = now_ns + spek_drive_access_ns(&service->access);
	if (mechanics->moving > mechanics->channels)
		wait_for_channel(drive, service);
	drive->account.served++;
	drive->account.moved += drive->arms.position[choice.arm].cylinder != cylinder;
	drive->arms.position[choice.arm] = service->access.end;
	drive->arms.last_lba = service->request.lba;
	drive->arms.busy |= 1U << choice.arm;
	*started = *service;
	return true;
}

/* The busy arm whose access ends first; nr_arms if all are idle. */
static u32 first_to_end(const struct spek_drive *drive)
{
	u32 nr_arms = drive->model->mechanics.nr_arms, first = nr_arms, arm;

	for (arm = 0; arm < nr_arms; arm++)
		if ((drive->arms.busy >> arm & 1) &&
		    (first == nr_arms || drive->service[arm].end_ns < drive->service[first].end_ns))
			first = arm;
	return first;
}

/**
 * spek_drive_finish() - take back an access that has ended
 * @drive: initialised
 * @now_ns: time
 * @ended: filled in
 *
 * Accesses come in the order of their ends.
 *
 * Return: true if an access ended at or before @now_ns.
 */
bool spek_drive_finish(struct spek_drive *drive, u64 now_ns, struct spek_drive_service *ended)
{
	u32 arm = first_to_end(drive);

	if (arm == drive->model->mechanics.nr_arms || drive->service[arm].end_ns > now_ns)
		return false;
	/* Not further: what starts at the end of this access is still to come. */
	spek_drive_account(drive, drive->service[arm].end_ns);
	*ended = drive->service[arm];
	drive->arms.busy &= ~(1U << arm);
	return true;
}

/** spek_drive_next_ns() - Return: time of the next event, SPEK_DRIVE_NEVER if there is none. */
u64 spek_drive_next_ns(const struct spek_drive *drive)
{
	u32 arm = first_to_end(drive);

	if (arm < drive->model->mechanics.nr_arms &&
	    drive->service[arm].end_ns < drive->condition_end_ns)
		return drive->service[arm].end_ns;
	return drive->condition_end_ns;
}

/**
 * spek_drive_command() - change the power condition
 * @drive: initialised
 * @now_ns: time
 * @event: SPEK_DRIVE_START, SPEK_DRIVE_SLEEP or SPEK_DRIVE_STOP
 *
 * Return: 0; -EBUSY while arms are busy or if the condition does not allow it.
 */
int spek_drive_command(struct spek_drive *drive, u64 now_ns, enum spek_drive_event event)
{
	int condition;

	spek_drive_account(drive, now_ns);
	condition = spek_drive_condition_next(drive->condition, event);
	if (condition < 0)
		return condition;
	if (condition != SPEK_DRIVE_ACTIVE && drive->arms.busy)
		return -EBUSY;
	enter(drive, condition);
	return 0;
}

/**
 * spek_drive_power_uw() - power that a rail supplies
 * @drive: initialised
 * @rail: which
 * @now_ns: time, not before the last account and before the next event
 *
 * Return: power in uW.
 */
u64 spek_drive_power_uw(const struct spek_drive *drive, enum spek_drive_rail rail, u64 now_ns)
{
	u64 uw = base_uw(drive, rail);
	u32 arm, step;

	for (arm = 0; arm < drive->model->mechanics.nr_arms; arm++) {
		const struct spek_drive_service *service = &drive->service[arm];

		if (!(drive->arms.busy >> arm & 1))
			continue;
		for (step = 0; step < 4; step++) {
			enum spek_drive_phase phase = phase_of(service, step);

			if (now_ns >= phase_end_ns(service, step))
				continue;
			if (spek_drive_phase_rail(phase) == rail)
				uw += drive->model->watts.phase[phase];
			break;
		}
	}
	return uw;
}
