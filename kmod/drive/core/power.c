// SPDX-License-Identifier: GPL-2.0
/* Power conditions as data, and exact energies. */
#include "../../core/muldiv.h"
#include "power.h"

#define FJ_PER_NJ	1000000

const struct spek_drive_condition_info spek_drive_conditions[SPEK_DRIVE_CONDITION_NR] = {
	[SPEK_DRIVE_ACTIVE] = { .name = "active", .serves = true },
	[SPEK_DRIVE_STANDBY] = { .name = "standby" },
	[SPEK_DRIVE_STOPPED] = { .name = "stopped", .refuses = true },
	[SPEK_DRIVE_STARTING] = { .name = "starting", .is_transition = true },
	[SPEK_DRIVE_TO_STANDBY] = { .name = "to standby", .is_transition = true },
	[SPEK_DRIVE_TO_STOPPED] = { .name = "to stopped", .refuses = true, .is_transition = true },
};

/* Condition after an event, plus 1; 0: the event does not apply. */
static const u8 next[SPEK_DRIVE_CONDITION_NR][SPEK_DRIVE_EVENT_NR] = {
	[SPEK_DRIVE_ACTIVE] = {
		[SPEK_DRIVE_START] = SPEK_DRIVE_ACTIVE + 1,
		[SPEK_DRIVE_SLEEP] = SPEK_DRIVE_TO_STANDBY + 1,
		[SPEK_DRIVE_STOP] = SPEK_DRIVE_TO_STOPPED + 1,
		[SPEK_DRIVE_MEDIA] = SPEK_DRIVE_ACTIVE + 1,
	},
	[SPEK_DRIVE_STANDBY] = {
		[SPEK_DRIVE_START] = SPEK_DRIVE_STARTING + 1,
		[SPEK_DRIVE_SLEEP] = SPEK_DRIVE_STANDBY + 1,
		[SPEK_DRIVE_STOP] = SPEK_DRIVE_STOPPED + 1,
		[SPEK_DRIVE_MEDIA] = SPEK_DRIVE_STARTING + 1,
	},
	[SPEK_DRIVE_STOPPED] = {
		[SPEK_DRIVE_START] = SPEK_DRIVE_STARTING + 1,
		[SPEK_DRIVE_STOP] = SPEK_DRIVE_STOPPED + 1,
	},
	[SPEK_DRIVE_STARTING] = {
		[SPEK_DRIVE_START] = SPEK_DRIVE_STARTING + 1,
		[SPEK_DRIVE_SLEEP] = SPEK_DRIVE_TO_STANDBY + 1,
		[SPEK_DRIVE_STOP] = SPEK_DRIVE_TO_STOPPED + 1,
		[SPEK_DRIVE_MEDIA] = SPEK_DRIVE_STARTING + 1,
		[SPEK_DRIVE_REACHED] = SPEK_DRIVE_ACTIVE + 1,
	},
	[SPEK_DRIVE_TO_STANDBY] = {
		[SPEK_DRIVE_START] = SPEK_DRIVE_STARTING + 1,
		[SPEK_DRIVE_SLEEP] = SPEK_DRIVE_TO_STANDBY + 1,
		[SPEK_DRIVE_STOP] = SPEK_DRIVE_TO_STOPPED + 1,
		[SPEK_DRIVE_MEDIA] = SPEK_DRIVE_STARTING + 1,
		[SPEK_DRIVE_REACHED] = SPEK_DRIVE_STANDBY + 1,
	},
	[SPEK_DRIVE_TO_STOPPED] = {
		[SPEK_DRIVE_START] = SPEK_DRIVE_STARTING + 1,
		[SPEK_DRIVE_STOP] = SPEK_DRIVE_TO_STOPPED + 1,
		[SPEK_DRIVE_REACHED] = SPEK_DRIVE_STOPPED + 1,
	},
};

/**
 * spek_drive_condition_next() - apply an event to a power condition
 * @condition: condition
 * @event: event
 *
 * Return: the condition after @event, or -EBUSY if the event does not apply.
 */
int spek_drive_condition_next(enum spek_drive_condition condition, enum spek_drive_event event)
{
	return next[condition][event] ? next[condition][event] - 1 : -EBUSY;
}

/**
 * spek_drive_phase_rail() - find the rail that feeds a phase
 * @phase: what an arm does
 *
 * Return: the rail.
 */
enum spek_drive_rail spek_drive_phase_rail(enum spek_drive_phase phase)
{
	return phase >= SPEK_DRIVE_READ ? SPEK_DRIVE_5V : SPEK_DRIVE_12V;
}

static int check_power(enum spek_drive_field field, u32 index, u32 uw, struct spek_refusal *refusal)
{
	if (uw <= SPEK_DRIVE_MAX_UW)
		return 0;
	return spek_refuse(refusal, field, index, -ERANGE, "A part draws up to 1 kW.");
}

static const u32 phase_fields[SPEK_DRIVE_PHASE_NR] = {
	[SPEK_DRIVE_SEEK] = SPEK_DRIVE_FIELD_SEEK_UW,
	[SPEK_DRIVE_ROTATE] = SPEK_DRIVE_FIELD_ROTATE_UW,
	[SPEK_DRIVE_READ] = SPEK_DRIVE_FIELD_READ_UW,
	[SPEK_DRIVE_WRITE] = SPEK_DRIVE_FIELD_WRITE_UW,
	[SPEK_DRIVE_ERASE] = SPEK_DRIVE_FIELD_ERASE_UW,
};

/**
 * spek_drive_watts_check() - check the powers of a description
 * @watts: powers
 * @refusal: filled in on failure
 *
 * Return: 0 or -ERANGE.
 */
int spek_drive_watts_check(const struct spek_drive_watts *watts, struct spek_refusal *refusal)
{
	int err = check_power(SPEK_DRIVE_FIELD_HOLD_UW, 0, watts->hold, refusal);
	u32 i, rail;

	for (i = 0; !err && i < SPEK_DRIVE_CONDITION_NR; i++)
		for (rail = 0; !err && rail < SPEK_DRIVE_RAIL_NR; rail++)
			err = check_power(SPEK_DRIVE_FIELD_CONDITION_POWER, i,
					  watts->base[i][rail], refusal);
	for (i = 0; !err && i < SPEK_DRIVE_PHASE_NR; i++)
		err = check_power(phase_fields[i], 0, watts->phase[i], refusal);
	if (err)
		return err;
	if (watts->phase[SPEK_DRIVE_IDLE])
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_WHOLE, 0, -ERANGE,
				   "An idle arm adds nothing: its power is that of holding it.");
	if (watts->starting_ns > SPEK_DRIVE_MAX_TRANSITION_NS)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_STARTING_NS, 0, -ERANGE,
				   "A spindle starts in up to 10 minutes.");
	if (watts->stopping_ns > SPEK_DRIVE_MAX_TRANSITION_NS)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_STOPPING_NS, 0, -ERANGE,
				   "A spindle stops in up to 10 minutes.");
	return 0;
}

/**
 * spek_drive_energy_add() - add to an energy
 * @energy: energy, modulo 2^64 nJ
 * @uw: power in microwatts
 * @ns: time
 */
void spek_drive_energy_add(struct spek_drive_energy *energy, u64 uw, u64 ns)
{
	u64 fj, high = spek_mul128(uw, ns, &fj), nj, rest;

	if (spek_likely(!high)) {
		/* By a constant, which needs no division. */
		nj = fj / FJ_PER_NJ;
		rest = fj - nj * FJ_PER_NJ;
	} else {
		/* 9 kW for 24 days: a quotient of more than 64 bits, which would trap. */
		high -= spek_div64(high, FJ_PER_NJ) * FJ_PER_NJ;
		nj = spek_div128(high, fj, FJ_PER_NJ, &rest);
	}
	energy->nj += nj;
	energy->rest += (u32)rest;
	if (energy->rest >= FJ_PER_NJ) {
		energy->rest -= FJ_PER_NJ;
		energy->nj++;
	}
}
