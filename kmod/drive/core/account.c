// SPDX-License-Identifier: GPL-2.0
/* What a drive has used: residencies and energies, integrated where something changes. */
#include "account.h"

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
	const struct spek_drive_service *service = spek_drive_arm_access(drive, arm);
	u32 step;

	if (service) {
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

/* Account a flash channel over [from_ns, to_ns); drop finished spans. */
static void account_channel(struct spek_drive *drive, struct spek_drive_channel *channel,
			    u64 from_ns, u64 to_ns)
{
	while (channel->length) {
		const struct spek_drive_span *span = &channel->plan[channel->first];
		u64 begin_ns = span->begin_ns > from_ns ? span->begin_ns : from_ns;
		u64 end_ns = span->end_ns < to_ns ? span->end_ns : to_ns;

		if (begin_ns >= to_ns)
			break;
		account_phase(drive, SPEK_DRIVE_IDLE, begin_ns - from_ns);
		account_phase(drive, span->phase, end_ns - begin_ns);
		from_ns = end_ns;
		if (span->end_ns > to_ns)
			return;
		channel->first = (channel->first + 1) % SPEK_DRIVE_MAX_PLAN;
		channel->length--;
	}
	account_phase(drive, SPEK_DRIVE_IDLE, to_ns - from_ns);
}

/* Sum of what is constant while the condition lasts. */
static u64 base_uw(const struct spek_drive *drive, enum spek_drive_rail rail)
{
	const struct spek_drive_model *model = drive->model;
	u64 uw = model->watts.base[drive->condition][rail];

	if (drive->condition == SPEK_DRIVE_ACTIVE && rail == SPEK_DRIVE_12V)
		uw += (u64)model->watts.hold *
		      (model->mechanics.nr_arms - spek_drive_count_arms(drive->arms.failed));
	return uw;
}

static void account_until(struct spek_drive *drive, u64 now_ns)
{
	u64 ns = now_ns - drive->accounted_ns;
	u32 i;

	if (!drive->has_power) {
		drive->accounted_ns = now_ns;
		return;
	}
	for (i = 0; i < SPEK_DRIVE_RAIL_NR; i++)
		spek_drive_energy_add(&drive->account.energy[i], base_uw(drive, i), ns);
	for (i = 0; i < drive->model->mechanics.nr_arms; i++)
		account_arm(drive, i, drive->accounted_ns, now_ns);
	for (i = 0; drive->flash && i < drive->flash->rule->channels; i++)
		account_channel(drive, &drive->flash->channels[i], drive->accounted_ns, now_ns);
	drive->account.condition_ns[drive->condition] += ns;
	drive->accounted_ns = now_ns;
}

/**
 * spek_drive_set_condition() - change the power condition
 * @drive: drive; the change is at the time of its accounts
 * @condition: new condition
 */
void spek_drive_set_condition(struct spek_drive *drive, enum spek_drive_condition condition)
{
	const struct spek_drive_watts *watts = &drive->model->watts;

	if (condition == drive->condition)
		return;
	drive->condition = condition;
	drive->condition_end_ns = SPEK_DRIVE_NEVER;
	if (condition == SPEK_DRIVE_STARTING) {
		drive->account.starts++;
		drive->condition_end_ns = drive->accounted_ns + watts->starting_ns +
			spek_drive_faults_delay_ns(&drive->faults, SPEK_DRIVE_FAULT_SLOW_START, 0);
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
	int next;

	while (drive->condition_end_ns <= now_ns) {
		if (drive->condition_end_ns > drive->accounted_ns)
			account_until(drive, drive->condition_end_ns);
		next = spek_drive_condition_next(drive->condition, SPEK_DRIVE_REACHED);
		spek_drive_set_condition(drive, next);
	}
	if (now_ns > drive->accounted_ns)
		account_until(drive, now_ns);
}

/* Power of what a channel of flash does. */
static u64 channel_uw(const struct spek_drive *drive, const struct spek_drive_channel *channel,
		      u64 now_ns)
{
	u32 i;

	for (i = 0; i < channel->length; i++) {
		const struct spek_drive_span *span =
			&channel->plan[(channel->first + i) % SPEK_DRIVE_MAX_PLAN];

		if (span->begin_ns <= now_ns && now_ns < span->end_ns)
			return drive->model->watts.phase[span->phase];
	}
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
	u32 arm, step, i;

	if (!drive->has_power)
		return 0;
	for (i = 0; drive->flash && rail == SPEK_DRIVE_5V && i < drive->flash->rule->channels; i++)
		uw += channel_uw(drive, &drive->flash->channels[i], now_ns);

	for (arm = 0; arm < drive->model->mechanics.nr_arms; arm++) {
		const struct spek_drive_service *service = spek_drive_arm_access(drive, arm);

		if (!service)
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
