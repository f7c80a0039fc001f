// SPDX-License-Identifier: GPL-2.0
/* Sense data. */
#include "scsi.h"

#define FIXED_BYTES	18

/**
 * spek_scsi_refuse() - refuse a request
 * @request: request; its sense is set
 * @key: enum spek_scsi_key
 * @code: additional sense code and qualifier
 *
 * Return: -EIO.
 */
int spek_scsi_refuse(struct spek_scsi_request *request, u8 key, u16 code)
{
	spek_memset(&request->sense, 0, sizeof(request->sense));
	request->sense.key = key;
	request->sense.code = code;
	request->action = SPEK_SCSI_REFUSE;
	return -EIO;
}

/**
 * spek_scsi_refuse_field() - refuse a request because of a field
 * @request: set to SPEK_SCSI_REFUSE
 * @code: SPEK_SCSI_INVALID_FIELD for the CDB, else the parameter list
 * @field: byte
 * @bit: highest wrong bit of it
 *
 * Return: -EIO.
 */
int spek_scsi_refuse_field(struct spek_scsi_request *request, u16 code, u16 field, u8 bit)
{
	spek_scsi_refuse(request, SPEK_SCSI_ILLEGAL_REQUEST, code);
	request->sense.has_field = true;
	request->sense.in_cdb = code == SPEK_SCSI_INVALID_FIELD;
	request->sense.field = field;
	request->sense.bit = bit;
	return -EIO;
}

/* Sense-key-specific bytes of a wrong field. */
static void put_field(const struct spek_scsi_sense *sense, u8 *data)
{
	data[0] = 0x88 | (sense->in_cdb ? 0x40 : 0) | (sense->bit & 7);
	spek_scsi_put(data + 1, 2, sense->field);
}

static u32 put_fixed(const struct spek_scsi_sense *sense, u8 *data)
{
	data[0] = 0x70;
	data[2] = sense->key;
	data[7] = FIXED_BYTES - 8;
	spek_scsi_put(data + 12, 2, sense->code);
	if (sense->has_ata) {
		/* ATA registers where the information and command-specific fields are. */
		data[0] |= 0x80;
		data[3] = sense->ata_error;
		data[4] = sense->ata_status;
		data[6] = sense->ata_count;
	} else if (sense->has_info && !(sense->info >> 32)) {
		data[0] |= 0x80;
		spek_scsi_put(data + 3, 4, sense->info);
	}
	if (sense->has_field)
		put_field(sense, data + 15);
	return FIXED_BYTES;
}

static u32 put_descriptor(const struct spek_scsi_sense *sense, u8 *data)
{
	u32 bytes = 8;

	data[0] = 0x72;
	data[1] = sense->key;
	spek_scsi_put(data + 2, 2, sense->code);
	if (sense->has_ata) {
		data[8] = 0x09;
		data[9] = 0x0c;
		data[11] = sense->ata_error;
		data[13] = sense->ata_count;
		data[21] = sense->ata_status;
		bytes += 14;
	} else if (sense->has_info) {
		data[9] = 0x0a;
		data[10] = 0x80;
		spek_scsi_put(data + 12, 8, sense->info);
		bytes += 12;
	} else if (sense->has_field) {
		data[8] = 0x02;
		data[9] = 0x06;
		put_field(sense, data + 12);
		bytes += 8;
	}
	data[7] = (u8)(bytes - 8);
	return bytes;
}

/**
 * spek_scsi_sense() - encode sense data
 * @sense: what to say
 * @descriptor: descriptor format, else fixed format
 * @data: SPEK_SCSI_SENSE_BYTES
 *
 * Fixed format has no room for an LBA of 2^32 or more, which is left out.
 *
 * Return: length.
 */
u32 spek_scsi_sense(const struct spek_scsi_sense *sense, bool descriptor, u8 *data)
{
	spek_memset(data, 0, SPEK_SCSI_SENSE_BYTES);
	return descriptor ? put_descriptor(sense, data) : put_fixed(sense, data);
}
