// SPDX-License-Identifier: GPL-2.0
/* The list of faults. */
#include "fault.h"

static int check_range(const struct spek_drive_geometry *geometry,
		       const struct spek_drive_fault *fault, struct spek_refusal *refusal)
{
	if (fault->lba >= geometry->sectors || fault->sectors > geometry->sectors - fault->lba)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_WHOLE, 0, -ERANGE,
				   "The sectors of the fault exceed the capacity.");
	return 0;
}

/**
 * spek_drive_faults_add() - add a fault
 * @faults: list
 * @mechanics: of the drive
 * @fault: copied
 * @refusal: says what was wrong
 *
 * Return: 0 or a negative errno.
 */
int spek_drive_faults_add(struct spek_drive_faults *faults,
			  const struct spek_drive_mechanics *mechanics,
			  const struct spek_drive_fault *fault, struct spek_refusal *refusal)
{
	u32 limit = fault->kind == SPEK_DRIVE_FAULT_ARM ? mechanics->nr_arms :
							  mechanics->geometry.heads;
	bool is_numbered = fault->kind == SPEK_DRIVE_FAULT_ARM ||
			   fault->kind == SPEK_DRIVE_FAULT_SLOW_HEAD;
	struct spek_drive_fault *added;
	int err;

	if (fault->kind >= SPEK_DRIVE_FAULT_KIND_NR)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_WHOLE, 0, -EINVAL,
				   "There is no fault of this kind.");
	if (fault->delay_ns > SPEK_DRIVE_MAX_FAULT_NS)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_WHOLE, 0, -ERANGE,
				   "A fault delays by up to 10 minutes.");
	if (is_numbered && fault->number >= limit)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_WHOLE, 0, -ERANGE,
				   "The drive has no arm or head of this number.");
	if (fault->kind == SPEK_DRIVE_FAULT_MEDIUM || fault->kind == SPEK_DRIVE_FAULT_WRITE) {
		err = check_range(&mechanics->geometry, fault, refusal);
		if (err)
			return err;
	}
	if (faults->length == SPEK_DRIVE_MAX_FAULTS)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_WHOLE, 0, -ENOSPC,
				   "A drive has up to 64 faults.");
	added = &faults->entries[faults->length++];
	*added = *fault;
	if (!added->sectors)
		added->sectors = 1;
	if (!is_numbered)
		added->number = 0;
	return 0;
}

/**
 * spek_drive_faults_first() - find the first bad sector of an access
 * @faults: list
 * @kind: SPEK_DRIVE_FAULT_MEDIUM or SPEK_DRIVE_FAULT_WRITE
 * @lba: first sector
 * @sectors: number of sectors
 * @bad: set to the bad sector
 *
 * Return: its fault, NULL if all are good.
 */
const struct spek_drive_fault *
spek_drive_faults_first(const struct spek_drive_faults *faults, u32 kind, u64 lba, u32 sectors,
			u64 *bad)
{
	const struct spek_drive_fault *found = NULL;
	u32 i;

	for (i = 0; i < faults->length; i++) {
		const struct spek_drive_fault *fault = &faults->entries[i];
		u64 first = fault->lba > lba ? fault->lba : lba;

		if (fault->kind != kind || first >= lba + sectors ||
		    first >= fault->lba + fault->sectors || (found && first >= *bad))
			continue;
		*bad = first;
		found = fault;
	}
	return found;
}

/**
 * spek_drive_faults_delay_ns() - sum up injected delays
 * @faults: faults
 * @kind: enum spek_drive_fault_kind
 * @number: head or arm
 *
 * Return: sum of the delays of faults of @kind with @number.
 */
u64 spek_drive_faults_delay_ns(const struct spek_drive_faults *faults, u32 kind, u32 number)
{
	u64 ns = 0;
	u32 i;

	for (i = 0; i < faults->length; i++)
		if (faults->entries[i].kind == kind && faults->entries[i].number == number)
			ns += faults->entries[i].delay_ns;
	return ns;
}

/**
 * spek_drive_faults_mend() - sectors were written: they can be read again
 * @faults: list
 * @lba: first sector
 * @sectors: number of sectors
 *
 * A write into the middle of a range leaves two. If the list is full the range stays whole.
 */
void spek_drive_faults_mend(struct spek_drive_faults *faults, u64 lba, u32 sectors)
{
	u64 end = lba + sectors;
	u32 i = 0;

	while (i < faults->length) {
		struct spek_drive_fault *fault = &faults->entries[i];
		u64 fault_end = fault->lba + fault->sectors;

		i++;
		if (fault->kind != SPEK_DRIVE_FAULT_MEDIUM || fault->lba >= end || fault_end <= lba)
			continue;
		if (fault->lba >= lba && fault_end <= end) {
			*fault = faults->entries[--faults->length];
			i--;
		} else if (fault->lba >= lba) {
			fault->lba = end;
			fault->sectors = fault_end - end;
		} else if (fault_end <= end) {
			fault->sectors = lba - fault->lba;
		} else if (faults->length < SPEK_DRIVE_MAX_FAULTS) {
			struct spek_drive_fault *rest = &faults->entries[faults->length++];

			*rest = *fault;
			rest->lba = end;
			rest->sectors = fault_end - end;
			fault->sectors = lba - fault->lba;
		}
	}
}

/**
 * spek_drive_faults_drop() - remove all faults of a kind
 * @faults: list
 * @kind: enum spek_drive_fault_kind
 */
void spek_drive_faults_drop(struct spek_drive_faults *faults, u32 kind)
{
	u32 i, kept = 0;

	for (i = 0; i < faults->length; i++)
		if (faults->entries[i].kind != kind)
			faults->entries[kept++] = faults->entries[i];
	faults->length = kept;
}
