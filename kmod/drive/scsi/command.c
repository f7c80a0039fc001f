// SPDX-License-Identifier: GPL-2.0
/* CDBs: which there are, and what they ask for. */
#include "scsi.h"

#define SERVICE_MASK		0x1f
#define ATA_NON_DATA		3
#define ATA_STANDBY_IMMEDIATE	0xe0
#define ATA_IDLE_IMMEDIATE	0xe1
#define ATA_STANDBY		0xe2
#define ATA_IDLE		0xe3
#define ATA_CHECK_POWER		0xe5
#define ATA_SLEEP		0xe6
#define ATA_ABORTED		0x04
#define ATA_ERROR_STATUS	0x51

#define WRITE_ATOMIC	0x9c

#define SIX	6
#define TEN	10
#define TWELVE	12
#define SIXTEEN	16

/* Byte 0 is the operation code; the control byte may carry NACA in no command. */
const struct spek_scsi_command spek_scsi_commands[SPEK_SCSI_NR_COMMANDS] = {
	{ 0x00, -1, SPEK_SCSI_TEST_READY, SIX, { 0xff, 0, 0, 0, 0, 0 } },
	{ 0x03, -1, SPEK_SCSI_REQUEST_SENSE, SIX, { 0xff, 0x01, 0, 0, 0xff, 0 } },
	{ 0x08, -1, SPEK_SCSI_READ, SIX, { 0xff, 0x1f, 0xff, 0xff, 0xff, 0 } },
	{ 0x0a, -1, SPEK_SCSI_WRITE, SIX, { 0xff, 0x1f, 0xff, 0xff, 0xff, 0 } },
	{ 0x12, -1, SPEK_SCSI_INQUIRY, SIX, { 0xff, 0x01, 0xff, 0xff, 0xff, 0 } },
	{ 0x15, -1, SPEK_SCSI_MODE_SELECT, SIX, { 0xff, 0x11, 0, 0, 0xff, 0 } },
	{ 0x1a, -1, SPEK_SCSI_MODE_SENSE, SIX, { 0xff, 0x08, 0xff, 0xff, 0xff, 0 } },
	{ 0x1b, -1, SPEK_SCSI_POWER, SIX, { 0xff, 0x01, 0, 0x0f, 0xf7, 0 } },
	{ 0x25, -1, SPEK_SCSI_READ_CAPACITY, TEN,
	  { 0xff, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0x01, 0 } },
	{ 0x28, -1, SPEK_SCSI_READ, TEN,
	  { 0xff, 0xf8, 0xff, 0xff, 0xff, 0xff, 0x3f, 0xff, 0xff, 0 } },
	{ 0x2a, -1, SPEK_SCSI_WRITE, TEN,
	  { 0xff, 0xf8, 0xff, 0xff, 0xff, 0xff, 0x3f, 0xff, 0xff, 0 } },
	{ 0x35, -1, SPEK_SCSI_SYNC_CACHE, TEN,
	  { 0xff, 0x02, 0xff, 0xff, 0xff, 0xff, 0x3f, 0xff, 0xff, 0 } },
	{ 0x42, -1, SPEK_SCSI_UNMAP, TEN, { 0xff, 0, 0, 0, 0, 0, 0x3f, 0xff, 0xff, 0 } },
	{ 0x4d, -1, SPEK_SCSI_LOG_SENSE, TEN,
	  { 0xff, 0, 0xff, 0xff, 0, 0xff, 0xff, 0xff, 0xff, 0 } },
	{ 0x55, -1, SPEK_SCSI_MODE_SELECT, TEN, { 0xff, 0x11, 0, 0, 0, 0, 0, 0xff, 0xff, 0 } },
	{ 0x5a, -1, SPEK_SCSI_MODE_SENSE, TEN, { 0xff, 0x18, 0xff, 0xff, 0, 0, 0, 0xff, 0xff, 0 } },
	{ 0x85, -1, SPEK_SCSI_CHECK_POWER, SIXTEEN,
	  { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0 } },
	{ 0x88, -1, SPEK_SCSI_READ, SIXTEEN,
	  { 0xff, 0xf8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f, 0 } },
	{ 0x8a, -1, SPEK_SCSI_WRITE, SIXTEEN,
	  { 0xff, 0xf8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f, 0 } },
	{ 0x91, -1, SPEK_SCSI_SYNC_CACHE, SIXTEEN,
	  { 0xff, 0x02, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f, 0 } },
	{ WRITE_ATOMIC, -1, SPEK_SCSI_WRITE, SIXTEEN,
	  { 0xff, 0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	    0xff, 0xff, 0, 0, 0xff, 0xff, 0x3f, 0 } },
	{ 0x9e, 0x10, SPEK_SCSI_READ_CAPACITY_16, SIXTEEN,
	  { 0xff, 0x1f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0 } },
	{ 0x9e, 0x17, SPEK_SCSI_ELEMENT_STATUS, SIXTEEN,
	  { 0xff, 0x1f, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xcf, 0 } },
	{ 0x9e, 0x18, SPEK_SCSI_REMOVE_ELEMENT, SIXTEEN,
	  { 0xff, 0x1f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0 } },
	{ 0x9e, 0x19, SPEK_SCSI_RESTORE_ELEMENTS, SIXTEEN, { 0xff, 0x1f } },
	{ 0xa0, -1, SPEK_SCSI_REPORT_LUNS, TWELVE,
	  { 0xff, 0, 0xff, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0 } },
	{ 0xa1, -1, SPEK_SCSI_CHECK_POWER, TWELVE,
	  { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0 } },
	{ 0xa3, 0x0c, SPEK_SCSI_REPORT_OPCODES, TWELVE,
	  { 0xff, 0x1f, 0x87, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0 } },
	{ 0xa8, -1, SPEK_SCSI_READ, TWELVE,
	  { 0xff, 0xf8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f, 0 } },
	{ 0xaa, -1, SPEK_SCSI_WRITE, TWELVE,
	  { 0xff, 0xf8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f, 0 } },
};

/**
 * spek_scsi_knows() - whether a unit has a command of the table
 * @unit: the unit
 * @command: a row of spek_scsi_commands
 *
 * Return: true if it has.
 */
bool spek_scsi_knows(const struct spek_scsi_unit *unit, const struct spek_scsi_command *command)
{
	if (command->opcode == WRITE_ATOMIC)
		return unit->atomic_sectors;
	switch (command->action) {
	case SPEK_SCSI_UNMAP:
		return unit->unmap_sectors;
	case SPEK_SCSI_ELEMENT_STATUS:
	case SPEK_SCSI_REMOVE_ELEMENT:
	case SPEK_SCSI_RESTORE_ELEMENTS:
		return unit->nr_elements;
	default:
		return true;
	}
}

/**
 * spek_scsi_find() - find a command that the unit has
 * @unit: the unit
 * @opcode: operation code
 * @service: service action, for commands that have some
 * @opcode_known: set to whether there is a command of this operation code
 *
 * Return: command, or NULL.
 */
const struct spek_scsi_command *spek_scsi_find(const struct spek_scsi_unit *unit, u8 opcode,
					       s32 service, bool *opcode_known)
{
	u32 i;

	*opcode_known = false;
	for (i = 0; i < SPEK_SCSI_NR_COMMANDS; i++) {
		const struct spek_scsi_command *command = &spek_scsi_commands[i];

		if (command->opcode != opcode || !spek_scsi_knows(unit, command))
			continue;
		*opcode_known = true;
		if (command->service < 0 || command->service == service)
			return command;
	}
	return NULL;
}

static u8 highest_bit(u8 bits)
{
	u8 bit = 7;

	while (bit && !(bits >> bit & 1))
		bit--;
	return bit;
}

/* Where the CDBs of reads, writes and SYNCHRONIZE CACHE have address and length. */
static int decode_range(const struct spek_scsi_unit *unit, const u8 *cdb, u32 bytes,
			struct spek_scsi_request *request)
{
	switch (bytes) {
	case SIX:
		request->lba = spek_scsi_get(cdb + 1, 3) & 0x1fffff;
		request->sectors = cdb[4] ? cdb[4] : 256;
		break;
	case TEN:
		request->lba = spek_scsi_get(cdb + 2, 4);
		request->sectors = spek_scsi_get(cdb + 7, 2);
		break;
	case TWELVE:
		request->lba = spek_scsi_get(cdb + 2, 4);
		request->sectors = spek_scsi_get(cdb + 6, 4);
		break;
	default:
		request->lba = spek_scsi_get64(cdb + 2);
		request->sectors = spek_scsi_get(cdb + 10, 4);
		break;
	}
	if (request->lba > unit->sectors || request->sectors > unit->sectors - request->lba)
		return spek_scsi_refuse(request, SPEK_SCSI_ILLEGAL_REQUEST,
					SPEK_SCSI_LBA_OUT_OF_RANGE);
	return 0;
}

static int decode_transfer(const struct spek_scsi_unit *unit, const u8 *cdb, u32 bytes,
			   struct spek_scsi_request *request)
{
	if (bytes != SIX) {
		/* No protection information. */
		if (cdb[1] >> 5)
			return spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_FIELD, 1, 7);
		request->fua = cdb[1] & 0x08;
	}
	if (decode_range(unit, cdb, bytes, request))
		return -EIO;
	if (request->sectors > SPEK_SCSI_MAX_SECTORS)
		return spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_FIELD,
					      bytes == TWELVE ? 6 : 10, 7);
	request->atomic = cdb[0] == WRITE_ATOMIC;
	/* The upper half of the length is a boundary here, which must be 0. */
	if (request->atomic && request->sectors > unit->atomic_sectors)
		return spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_FIELD, 12, 7);
	return 0;
}

static int decode_power(const u8 *cdb, struct spek_scsi_request *request)
{
	u8 condition = cdb[4] >> 4, modifier = cdb[3] & 0x0f;

	request->immediate = cdb[1] & 1;
	request->keeps_cache = cdb[4] & 4;
	/* Nothing can be ejected. */
	if (cdb[4] & 2)
		return spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_FIELD, 4, 1);
	if (modifier && condition != 0x2 && condition != 0x3)
		return spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_FIELD, 3, 3);
	switch (condition) {
	case 0x0:
		request->power = cdb[4] & 1 ? SPEK_SCSI_POWER_START : SPEK_SCSI_POWER_STOP;
		return 0;
	case 0x1:
		request->power = SPEK_SCSI_POWER_START;
		return 0;
	case 0x2:
	case 0xa:
		/* idle_a is the only one that the drive has. */
		if (modifier)
			break;
		request->power = SPEK_SCSI_POWER_IDLE;
		return 0;
	case 0x3:
	case 0xb:
		if (modifier)
			break;
		request->power = SPEK_SCSI_POWER_STANDBY;
		return 0;
	case 0x7:
		/* Control goes back to the timers, which always have it. */
		request->power = SPEK_SCSI_POWER_NONE;
		return 0;
	default:
		return spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_FIELD, 4, 7);
	}
	return spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_FIELD, 3, 3);
}

/* Time of the standby timer by the sector count of STANDBY and IDLE, in units of 100 ms. */
static u32 standby_ticks(u8 count)
{
	const u32 second = 10, minute = 60 * second, hour = 60 * minute;

	if (count <= 240)
		return count * 5 * second;
	if (count <= 251)
		return (count - 240) * 30 * minute;
	switch (count) {
	case 252:
		return 21 * minute;
	case 255:
		return 21 * minute + 15 * second;
	default:	/* 253: 8 to 12 hours, as the vendor likes; 254 is reserved */
		return 8 * hour;
	}
}

/* ATA PASS-THROUGH (12) and (16): power commands only. */
static int decode_ata(const u8 *cdb, u32 bytes, struct spek_scsi_request *request)
{
	u8 count = cdb[bytes == TWELVE ? 4 : 6], command = cdb[bytes == TWELVE ? 9 : 14];

	if ((cdb[1] >> 1 & 0x0f) != ATA_NON_DATA)
		return spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_FIELD, 1, 4);
	request->check = cdb[2] & 0x20;
	request->immediate = true;
	if (command == ATA_CHECK_POWER)
		return 0;
	request->action = SPEK_SCSI_POWER;
	switch (command) {
	case ATA_STANDBY:
	case ATA_STANDBY_IMMEDIATE:
		request->power = SPEK_SCSI_POWER_STANDBY;
		break;
	case ATA_IDLE:
	case ATA_IDLE_IMMEDIATE:
		request->power = SPEK_SCSI_POWER_IDLE;
		break;
	case ATA_SLEEP:
		request->power = SPEK_SCSI_POWER_SLEEP;
		break;
	default:
		spek_scsi_refuse(request, SPEK_SCSI_ABORTED_COMMAND, SPEK_SCSI_NO_ADDITIONAL);
		request->sense.has_ata = true;
		request->sense.ata_status = ATA_ERROR_STATUS;
		request->sense.ata_error = ATA_ABORTED;
		return -EIO;
	}
	if (command == ATA_STANDBY || command == ATA_IDLE) {
		request->sets_timer = true;
		request->standby_ticks = standby_ticks(count);
	}
	return 0;
}

static int decode_opcodes(const u8 *cdb, struct spek_scsi_request *request)
{
	request->option = cdb[2] & 7;
	request->opcode = cdb[3];
	request->service = (u16)spek_scsi_get(cdb + 4, 2);
	request->length = spek_scsi_get(cdb + 6, 4);
	/* Without timeouts descriptors. */
	if (cdb[2] & 0x80)
		return spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_FIELD, 2, 7);
	if (request->option > 3)
		return spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_FIELD, 2, 2);
	return 0;
}

static int decode_pages(const u8 *cdb, u32 bytes, struct spek_scsi_request *request)
{
	request->page = cdb[2] & 0x3f;
	request->control = cdb[2] >> 6;
	request->subpage = cdb[3];
	request->length = bytes == SIX ? cdb[4] : spek_scsi_get(cdb + 7, 2);
	request->long_form = bytes != SIX;
	return 0;
}

static int decode_element_status(const u8 *cdb, struct spek_scsi_request *request)
{
	request->element = spek_scsi_get(cdb + 6, 4);
	request->length = spek_scsi_get(cdb + 10, 4);
	request->filter = cdb[14] >> 6;
	request->option = cdb[14] & 0x0f;
	/* All elements, or those that are out of service or worn. */
	if (request->filter > 1)
		return spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_FIELD, 14, 7);
	/* Physical elements or storage elements, which are the same here. */
	if (request->option > 1)
		return spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_FIELD, 14, 3);
	return 0;
}

/* The capacity stays: only an arm is removed whose LBAs others reach, which the unit checks. */
static int decode_remove_element(const struct spek_scsi_unit *unit, const u8 *cdb,
				 struct spek_scsi_request *request)
{
	u64 capacity = spek_scsi_get64(cdb + 2);

	request->element = spek_scsi_get(cdb + 10, 4);
	if (capacity && capacity != unit->sectors)
		return spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_FIELD, 2, 7);
	if (!request->element || request->element > unit->nr_elements)
		return spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_FIELD, 10, 7);
	return 0;
}

static int decode_fields(const struct spek_scsi_unit *unit, const u8 *cdb, u32 bytes,
			 struct spek_scsi_request *request)
{
	switch (request->action) {
	case SPEK_SCSI_INQUIRY:
		request->vital = cdb[1] & 1;
		request->page = cdb[2];
		request->length = spek_scsi_get(cdb + 3, 2);
		if (request->page && !request->vital)
			return spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_FIELD, 2, 7);
		return 0;
	case SPEK_SCSI_REQUEST_SENSE:
		request->no_descriptor = !(cdb[1] & 1);
		request->length = cdb[4];
		return 0;
	case SPEK_SCSI_REPORT_LUNS:
		request->option = cdb[2];
		request->length = spek_scsi_get(cdb + 6, 4);
		/* All, well-known ones, or both. */
		if (request->option > 2)
			return spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_FIELD, 2, 7);
		return 0;
	case SPEK_SCSI_READ_CAPACITY:
		request->length = 8;
		if (spek_scsi_get(cdb + 2, 4) && !(cdb[8] & 1))
			return spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_FIELD, 2, 7);
		return 0;
	case SPEK_SCSI_READ_CAPACITY_16:
		request->length = spek_scsi_get(cdb + 10, 4);
		return 0;
	case SPEK_SCSI_MODE_SENSE:
		request->no_descriptor = cdb[1] & 0x08;
		return decode_pages(cdb, bytes, request);
	case SPEK_SCSI_LOG_SENSE:
		if (spek_scsi_get(cdb + 5, 2))
			return spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_FIELD, 5, 7);
		return decode_pages(cdb, bytes, request);
	case SPEK_SCSI_MODE_SELECT:
		request->length = bytes == SIX ? cdb[4] : spek_scsi_get(cdb + 7, 2);
		request->long_form = bytes != SIX;
		/* Pages have the standard's format, and can't be saved. */
		if (!(cdb[1] & 0x10) && request->length)
			return spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_FIELD, 1, 4);
		if (cdb[1] & 0x01)
			return spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_FIELD, 1, 0);
		return 0;
	case SPEK_SCSI_UNMAP:
		request->length = spek_scsi_get(cdb + 7, 2);
		return 0;
	case SPEK_SCSI_REPORT_OPCODES:
		return decode_opcodes(cdb, request);
	case SPEK_SCSI_READ:
	case SPEK_SCSI_WRITE:
		return decode_transfer(unit, cdb, bytes, request);
	case SPEK_SCSI_SYNC_CACHE:
		request->immediate = cdb[1] & 0x02;
		return decode_range(unit, cdb, bytes, request);
	case SPEK_SCSI_POWER:
		return decode_power(cdb, request);
	case SPEK_SCSI_CHECK_POWER:
		return decode_ata(cdb, bytes, request);
	case SPEK_SCSI_ELEMENT_STATUS:
		return decode_element_status(cdb, request);
	case SPEK_SCSI_REMOVE_ELEMENT:
		return decode_remove_element(unit, cdb, request);
	default:
		return 0;
	}
}

/**
 * spek_scsi_decode() - find out what a CDB asks for
 * @unit: for its capacity
 * @cdb: the CDB
 * @bytes: its length
 * @request: filled in; SPEK_SCSI_REFUSE with sense for what the unit doesn't do
 */
void spek_scsi_decode(const struct spek_scsi_unit *unit, const u8 *cdb, u32 bytes,
		      struct spek_scsi_request *request)
{
	const struct spek_scsi_command *command;
	bool known;
	u32 i;

	spek_memset(request, 0, sizeof(*request));
	if (!bytes) {
		spek_scsi_refuse(request, SPEK_SCSI_ILLEGAL_REQUEST, SPEK_SCSI_INVALID_OPCODE);
		return;
	}
	command = spek_scsi_find(unit, cdb[0], bytes > 1 ? cdb[1] & SERVICE_MASK : 0, &known);
	if (!command) {
		if (known)
			spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_FIELD, 1, 4);
		else
			spek_scsi_refuse(request, SPEK_SCSI_ILLEGAL_REQUEST,
					 SPEK_SCSI_INVALID_OPCODE);
		return;
	}
	if (bytes < command->bytes) {
		spek_scsi_refuse(request, SPEK_SCSI_ILLEGAL_REQUEST, SPEK_SCSI_INVALID_FIELD);
		return;
	}
	for (i = 1; i < command->bytes; i++) {
		u8 wrong = cdb[i] & ~command->usage[i];

		if (wrong) {
			spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_FIELD, (u16)i,
					       highest_bit(wrong));
			return;
		}
	}
	request->action = command->action;
	decode_fields(unit, cdb, command->bytes, request);
}

/**
 * spek_scsi_unmap() - read the parameter list of UNMAP
 * @unit: for its capacity
 * @request: decoded UNMAP; gets @lba and @sectors, 0 if nothing is to be unmapped, or becomes
 *	SPEK_SCSI_REFUSE with sense
 * @data: parameter list
 * @bytes: number of bytes that there are of it; SPEK_SCSI_UNMAP_BYTES are enough
 *
 * A list has one descriptor at most, as VPD page b0 says. A descriptor that is cut off is ignored,
 * as the standard wants it.
 *
 * Return: 0, or -EIO if the list is refused.
 */
int spek_scsi_unmap(const struct spek_scsi_unit *unit, struct spek_scsi_request *request,
		    const u8 *data, u32 bytes)
{
	u64 lba;
	u32 sectors, descriptors;

	if (!bytes)
		return 0;
	if (bytes < 8)
		return spek_scsi_refuse(request, SPEK_SCSI_ILLEGAL_REQUEST, SPEK_SCSI_LIST_LENGTH);
	descriptors = spek_scsi_get(data + 2, 2);
	if (descriptors >= 32)
		return spek_scsi_refuse(request, SPEK_SCSI_ILLEGAL_REQUEST,
					SPEK_SCSI_INVALID_PARAMETER);
	if (descriptors < 16 || bytes < SPEK_SCSI_UNMAP_BYTES)
		return 0;
	lba = spek_scsi_get64(data + 8);
	sectors = spek_scsi_get(data + 16, 4);
	if (lba > unit->sectors || sectors > unit->sectors - lba)
		return spek_scsi_refuse(request, SPEK_SCSI_ILLEGAL_REQUEST,
					SPEK_SCSI_LBA_OUT_OF_RANGE);
	if (sectors > SPEK_SCSI_MAX_SECTORS)
		return spek_scsi_refuse(request, SPEK_SCSI_ILLEGAL_REQUEST,
					SPEK_SCSI_INVALID_PARAMETER);
	request->lba = lba;
	request->sectors = sectors;
	return 0;
}
