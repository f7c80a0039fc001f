/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a SCSI device says of a command that failed: the cause out of its sense data.
 * Descriptor and fixed format (SPC-4, 4.5), current and deferred errors.
 */
#ifndef SPEK_CORE_SENSE_H
#define SPEK_CORE_SENSE_H

#include "../../core/spek_host.h"

/**
 * struct spek_sense - a cause; all zero where the device gave none
 * @present: the other fields mean something
 * @deferred: of an earlier command, whose status had already been good
 * @key: sense key, 0 to 15
 * @asc: additional sense code, 0 where there is none
 * @ascq: its qualifier
 */
struct spek_sense {
	bool present;
	bool deferred;
	u8 key;
	u8 asc;
	u8 ascq;
};

/**
 * spek_sense_parse() - find the cause in sense data
 * @sense: all zero if @data are no sense data
 * @data: as the device has sent them
 * @bytes: how many there are; nothing beyond is looked at
 */
void spek_sense_parse(struct spek_sense *sense, const u8 *data, u32 bytes);

#endif
