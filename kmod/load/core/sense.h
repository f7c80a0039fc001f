/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cause of a failed SCSI command, from its sense data: descriptor and fixed format (SPC-4,
 * 4.5), current and deferred errors.
 */
#ifndef SPEK_CORE_SENSE_H
#define SPEK_CORE_SENSE_H

#include "../../core/spek_host.h"

/**
 * struct spek_sense - cause of a failure; all zero if the device gave none
 * @present: the other fields are valid
 * @deferred: error of an earlier command, whose status was good
 * @key: sense key, 0 to 15
 * @asc: additional sense code, 0 if there is none
 * @ascq: additional sense code qualifier
 */
struct spek_sense {
	bool present;
	bool deferred;
	u8 key;
	u8 asc;
	u8 ascq;
};

void spek_sense_parse(struct spek_sense *sense, const u8 *data, u32 bytes);

#endif
