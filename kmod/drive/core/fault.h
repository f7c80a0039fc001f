/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Faults on demand.
 *
 *	medium error	reads of the sectors fail until they are written
 *	write error	writes of the sectors fail
 *	slow head	each access that begins with the head starts later
 *	failed arm	is out of service after the access that it serves, and draws nothing
 *	slow start	the spindle takes longer to start
 *	gone		the drive does not answer: nothing starts or ends any more; it has
 *			power, and keeps its condition and all that it holds
 *	volatile cache	a power cut loses the writes since the last flush
 *	ignored flush	as volatile cache, and flushes and FUA make no write permanent
 *	torn writes	as volatile cache, and a power cut can lose a part of a write
 *	power cut	gone, draws nothing, and has lost its requests, its cache and all data
 *			that are not permanent; when it is over the spindle starts
 *
 * An access that meets a bad sector ends there, after the retries that the fault's delay stands
 * for. A destage that does fails the next flush. Requests that no arm reaches fail at once.
 *
 * The last four concern the data, which the core does not have: its caller applies them.
 */
#ifndef SPEK_DRIVE_FAULT_H
#define SPEK_DRIVE_FAULT_H

#include "service.h"

#define SPEK_DRIVE_MAX_FAULT_NS		600000000000ULL

/**
 * enum spek_drive_fault_kind - kind of an injected fault; see above
 * @SPEK_DRIVE_FAULT_MEDIUM: sectors that can't be read
 * @SPEK_DRIVE_FAULT_WRITE: sectors that can't be written
 * @SPEK_DRIVE_FAULT_SLOW_HEAD: a head that needs longer
 * @SPEK_DRIVE_FAULT_ARM: an arm out of service
 * @SPEK_DRIVE_FAULT_SLOW_START: a spindle that needs longer to start
 * @SPEK_DRIVE_FAULT_GONE: a drive that does not answer
 * @SPEK_DRIVE_FAULT_VOLATILE: a write cache whose data a power cut loses
 * @SPEK_DRIVE_FAULT_NO_FLUSH: a volatile write cache that ignores flushes
 * @SPEK_DRIVE_FAULT_POWER_CUT: a drive that has lost its power
 * @SPEK_DRIVE_FAULT_TORN: a volatile write cache in which a power cut tears writes
 * @SPEK_DRIVE_FAULT_KIND_NR: number of kinds
 */
enum spek_drive_fault_kind {
	SPEK_DRIVE_FAULT_MEDIUM,
	SPEK_DRIVE_FAULT_WRITE,
	SPEK_DRIVE_FAULT_SLOW_HEAD,
	SPEK_DRIVE_FAULT_ARM,
	SPEK_DRIVE_FAULT_SLOW_START,
	SPEK_DRIVE_FAULT_GONE,
	SPEK_DRIVE_FAULT_VOLATILE,
	SPEK_DRIVE_FAULT_NO_FLUSH,
	SPEK_DRIVE_FAULT_POWER_CUT,
	SPEK_DRIVE_FAULT_TORN,
	SPEK_DRIVE_FAULT_KIND_NR,
};

/**
 * enum spek_drive_error - end of an access
 * @SPEK_DRIVE_GOOD: success
 * @SPEK_DRIVE_MEDIUM_ERROR: a sector can't be read
 * @SPEK_DRIVE_WRITE_ERROR: a sector can't be written
 * @SPEK_DRIVE_NO_ARM: no arm in service reaches the sectors
 */
enum spek_drive_error {
	SPEK_DRIVE_GOOD,
	SPEK_DRIVE_MEDIUM_ERROR,
	SPEK_DRIVE_WRITE_ERROR,
	SPEK_DRIVE_NO_ARM,
};

/**
 * struct spek_drive_faults - the faults of a drive
 * @entries: in no order
 * @length: number of faults
 */
struct spek_drive_faults {
	struct spek_drive_fault entries[SPEK_DRIVE_MAX_FAULTS];
	u32 length;
};

int spek_drive_faults_add(struct spek_drive_faults *faults,
			  const struct spek_drive_mechanics *mechanics,
			  const struct spek_drive_fault *fault, struct spek_refusal *refusal);
const struct spek_drive_fault *
spek_drive_faults_first(const struct spek_drive_faults *faults, u32 kind, u64 lba, u32 sectors,
			u64 *bad);
u64 spek_drive_faults_delay_ns(const struct spek_drive_faults *faults, u32 kind, u32 number);
void spek_drive_faults_drop(struct spek_drive_faults *faults, u32 kind);
void spek_drive_faults_mend(struct spek_drive_faults *faults, u64 lba, u32 sectors);

#endif
