// SPDX-License-Identifier: GPL-2.0
/* Parsing of SCSI sense data. */
#include "sense.h"

enum {
	FIXED_CURRENT = 0x70,
	FIXED_DEFERRED,
	DESCRIPTOR_CURRENT,
	DESCRIPTOR_DEFERRED,
};

/* Devices may send less than the format defines; missing bytes count as 0. */
static u8 byte_at(const u8 *data, u32 bytes, u32 at)
{
	return at < bytes ? data[at] : 0;
}

/**
 * spek_sense_parse() - find the cause of a failure in sense data
 * @sense: filled in; all zero if @data is not valid sense data
 * @data: bytes that the device sent
 * @bytes: length of @data
 */
void spek_sense_parse(struct spek_sense *sense, const u8 *data, u32 bytes)
{
	u32 code = byte_at(data, bytes, 0) & 0x7f;
	bool fixed = code == FIXED_CURRENT || code == FIXED_DEFERRED;

	spek_memset(sense, 0, sizeof(*sense));
	if (code < FIXED_CURRENT || code > DESCRIPTOR_DEFERRED)
		return;
	sense->present = true;
	sense->deferred = code == FIXED_DEFERRED || code == DESCRIPTOR_DEFERRED;
	sense->key = byte_at(data, bytes, fixed ? 2 : 1) & 0xf;
	sense->asc = byte_at(data, bytes, fixed ? 12 : 2);
	sense->ascq = byte_at(data, bytes, fixed ? 13 : 3);
}
