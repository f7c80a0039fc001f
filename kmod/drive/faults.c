// SPDX-License-Identifier: GPL-2.0
/* Faults of a unit's drive, as core/fault.h defines them: read and changed while it works. */
#include "events.h"
#include "faults.h"
#include "serve.h"

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

	spek_unit_lock_accounted(unit, &done, &flags);
	found = index < unit->drive.faults.length;
	if (found)
		*fault = unit->drive.faults.entries[index];
	spek_unit_unlock(unit, &done, flags);
	return found;
}

static bool has_fault(const struct spek_drive_faults *faults, u32 kind)
{
	u32 i;

	for (i = 0; i < faults->length; i++)
		if (faults->entries[i].kind == kind)
			return true;
	return false;
}

/* Apply the faults to the data. A drive that has lost its power takes no writes. */
static void apply_to_store(struct spek_unit *unit, const struct spek_drive_faults *faults,
			   bool is_cut)
{
	bool ignores_flush = has_fault(faults, SPEK_DRIVE_FAULT_NO_FLUSH);

	WRITE_ONCE(unit->ignores_flush, ignores_flush);
	if (is_cut) {
		/* Writes that began to move before the drive was gone have ended: none is cut. */
		synchronize_rcu();
		spek_store_cut(&unit->store, has_fault(faults, SPEK_DRIVE_FAULT_TORN));
	}
	spek_store_track(&unit->store, ignores_flush ||
			 has_fault(faults, SPEK_DRIVE_FAULT_TORN) ||
			 has_fault(faults, SPEK_DRIVE_FAULT_VOLATILE));
}

/**
 * spek_unit_set_faults() - change the faults of a drive: all of the change, or nothing
 * @unit: the drive
 * @change: whether all faults are removed first, and faults to add
 * @scratch: memory for a trial
 * @refusal: says what was wrong
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno.
 */
int spek_unit_set_faults(struct spek_unit *unit, const struct spek_drive_change *change,
			 struct spek_drive_faults *scratch, struct spek_refusal *refusal)
{
	const struct spek_drive_mechanics *mechanics = &unit->config->model.mechanics;
	unsigned long flags;
	bool is_cut = false;
	LIST_HEAD(done);
	u64 now_ns;
	int err = 0;
	u32 i;

	mutex_lock(&unit->faults_lock);
	now_ns = spek_unit_lock_settled(unit, &done, &flags);
	*scratch = unit->drive.faults;
	if (change->clear_faults)
		scratch->length = 0;
	for (i = 0; !err && i < change->nr_faults; i++) {
		err = spek_drive_faults_add(scratch, mechanics, &change->fault[i], refusal);
		is_cut |= change->fault[i].kind == SPEK_DRIVE_FAULT_POWER_CUT;
	}
	if (!err) {
		if (change->clear_faults) {
			if (has_fault(&unit->drive.faults, SPEK_DRIVE_FAULT_POWER_CUT))
				spek_unit_power_on(unit, now_ns, &done);
			spek_drive_clear_faults(&unit->drive, now_ns);
		}
		for (i = 0; i < change->nr_faults; i++)
			spek_drive_fault(&unit->drive, now_ns, &change->fault[i], refusal);
		/* The drive has lost them; their commands stay until the power comes back. */
		if (is_cut)
			unit->held = 0;
		spek_unit_start_all(unit, now_ns);
		/* What a stop waited for may have been taken back while the drive was gone. */
		if (!unit->drive.is_gone)
			spek_unit_drive_power(unit, now_ns, &done);
	}
	spek_unit_unlock(unit, &done, flags);
	if (!err)
		apply_to_store(unit, scratch, is_cut);
	mutex_unlock(&unit->faults_lock);
	return err;
}
