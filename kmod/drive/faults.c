// SPDX-License-Identifier: GPL-2.0
/* Faults of a unit's drive, as core/fault.h defines them: read and changed while it works. */
#include "events.h"
#include "faults.h"

/**
 * spek_unit_fault() - read an injected fault
 * @unit: unit
 * @index: number of the fault
 * @fault: filled in
 *
 * Context: process.
 * Return: false if there is no fault with this number.
 */
bool spek_unit_fault(struct spek_unit *unit, u32 index, struct spek_drive_fault *fault)
{
	unsigned long flags;
	LIST_HEAD(done);
	bool found;

	spek_unit_lock_settled(unit, &done, &flags);
	found = index < unit->drive.faults.length;
	if (found)
		*fault = unit->drive.faults.entries[index];
	spek_unit_unlock(unit, &done, flags);
	return found;
}

/**
 * spek_unit_set_faults() - change the faults of a drive: all that is asked for, or nothing
 * @unit: the drive
 * @change: whether all faults are removed first, and faults to add
 * @scratch: memory for a trial
 * @refusal: says what was wrong
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int spek_unit_set_faults(struct spek_unit *unit, const struct spek_drive_change *change,
			 struct spek_drive_faults *scratch, struct spek_refusal *refusal)
{
	const struct spek_drive_mechanics *mechanics = &unit->config->model.mechanics;
	unsigned long flags;
	LIST_HEAD(done);
	u64 now_ns;
	int err = 0;
	u32 i;

	now_ns = spek_unit_lock_settled(unit, &done, &flags);
	*scratch = unit->drive.faults;
	if (change->clear_faults)
		scratch->length = 0;
	for (i = 0; !err && i < change->nr_faults; i++)
		err = spek_drive_faults_add(scratch, mechanics, &change->fault[i], refusal);
	if (!err) {
		if (change->clear_faults)
			spek_drive_clear_faults(&unit->drive, now_ns);
		for (i = 0; i < change->nr_faults; i++)
			spek_drive_fault(&unit->drive, now_ns, &change->fault[i], refusal);
		spek_unit_start_all(unit, now_ns);
		/* What a stop waited for may have been taken back while the drive was gone. */
		if (!unit->drive.is_gone)
			spek_unit_drive_power(unit, now_ns, &done);
	}
	spek_unit_unlock(unit, &done, flags);
	return err;
}
