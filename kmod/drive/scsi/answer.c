// SPDX-License-Identifier: GPL-2.0
/* Parameter data: INQUIRY with its vital product data, capacity, logs, what is supported. */
#include "scsi.h"

#define VERSION_SPC4		0x06
#define VERSION_SAM5		0x00a0
#define VERSION_SPC4_ANY	0x0460
#define VERSION_SBC3_ANY	0x04c0
#define NO_TEMPERATURE		0xff
#define NOT_ROTATING		1
#define STORAGE_ELEMENT		1
#define HEALTH_GOOD		0x01
#define HEALTH_DEPOPULATED	0xff

enum {
	VPD_SUPPORTED		= 0x00,
	VPD_SERIAL		= 0x80,
	VPD_IDENTIFICATION	= 0x83,
	VPD_POWER_CONDITION	= 0x8a,
	VPD_BLOCK_LIMITS	= 0xb0,
	VPD_CHARACTERISTICS	= 0xb1,
	VPD_PROVISIONING	= 0xb2,
	VPD_RANGES		= 0xb9,
};

enum {
	LOG_SUPPORTED		= 0x00,
	LOG_TEMPERATURE		= 0x0d,
	LOG_START_STOP		= 0x0e,
};

static void copy(u8 *to, const char *from, u32 bytes)
{
	while (bytes--)
		*to++ = (u8)*from++;
}

static u32 length_of(const char *text)
{
	u32 n = 0;

	while (text[n])
		n++;
	return n;
}

static u32 standard_inquiry(const struct spek_scsi_unit *unit, u8 *data)
{
	data[2] = VERSION_SPC4;
	data[3] = 0x12;		/* HISUP, response format 2 */
	data[4] = 96 - 5;
	data[7] = 0x02;		/* CMDQUE */
	copy(data + 8, unit->vendor, sizeof(unit->vendor));
	copy(data + 16, unit->product, sizeof(unit->product));
	copy(data + 32, unit->revision, sizeof(unit->revision));
	spek_scsi_put(data + 58, 2, VERSION_SAM5);
	spek_scsi_put(data + 60, 2, VERSION_SPC4_ANY);
	spek_scsi_put(data + 62, 2, VERSION_SBC3_ANY);
	return 96;
}

static u32 vpd_supported(const struct spek_scsi_unit *unit, u8 *data)
{
	u32 n = 4;

	data[n++] = VPD_SUPPORTED;
	data[n++] = VPD_SERIAL;
	data[n++] = VPD_IDENTIFICATION;
	data[n++] = VPD_POWER_CONDITION;
	data[n++] = VPD_BLOCK_LIMITS;
	data[n++] = VPD_CHARACTERISTICS;
	if (unit->unmap_sectors)
		data[n++] = VPD_PROVISIONING;
	if (unit->nr_ranges)
		data[n++] = VPD_RANGES;
	return n;
}

static u32 vpd_identification(const struct spek_scsi_unit *unit, u8 *data)
{
	u32 serial = length_of(unit->serial);
	u8 *at = data + 4;

	/* NAA, binary, of the logical unit. */
	at[0] = 0x01;
	at[1] = 0x03;
	at[3] = 8;
	spek_scsi_put(at + 4, 8, unit->naa);
	at += 12;
	/* T10 vendor identification, ASCII. */
	at[0] = 0x02;
	at[1] = 0x01;
	at[3] = (u8)(sizeof(unit->vendor) + sizeof(unit->product) + serial);
	copy(at + 4, unit->vendor, sizeof(unit->vendor));
	copy(at + 12, unit->product, sizeof(unit->product));
	copy(at + 28, unit->serial, serial);
	return (u32)(at - data) + 4 + at[3];
}

static u32 vpd_ranges(const struct spek_scsi_unit *unit, u8 *data)
{
	u32 i;

	for (i = 0; i < unit->nr_ranges; i++) {
		u8 *at = data + 64 + 32 * i;

		at[0] = (u8)i;
		at[1] = 1;	/* one storage element */
		spek_scsi_put(at + 8, 8, unit->ranges[i].first);
		spek_scsi_put(at + 16, 8, unit->ranges[i].sectors);
	}
	return 64 + 32 * unit->nr_ranges;
}

static u32 vital_product_data(const struct spek_scsi_unit *unit,
			      struct spek_scsi_request *request, u8 *data)
{
	u32 bytes;

	data[1] = request->page;
	switch (request->page) {
	case VPD_SUPPORTED:
		bytes = vpd_supported(unit, data);
		break;
	case VPD_SERIAL:
		bytes = 4 + length_of(unit->serial);
		copy(data + 4, unit->serial, bytes - 4);
		break;
	case VPD_IDENTIFICATION:
		bytes = vpd_identification(unit, data);
		break;
	case VPD_POWER_CONDITION:
		bytes = 18;
		data[4] = 0x01;		/* standby_z */
		data[5] = 0x01;		/* idle_a */
		break;
	case VPD_BLOCK_LIMITS:
		bytes = 64;
		spek_scsi_put(data + 8, 4, SPEK_SCSI_MAX_SECTORS);
		spek_scsi_put(data + 44, 4, unit->atomic_sectors);
		if (!unit->unmap_sectors)
			break;
		spek_scsi_put(data + 20, 4, SPEK_SCSI_MAX_SECTORS);
		spek_scsi_put(data + 24, 4, 1);		/* descriptors */
		spek_scsi_put(data + 28, 4, unit->unmap_sectors);
		data[32] = 0x80;			/* aligned to LBA 0 */
		break;
	case VPD_CHARACTERISTICS:
		bytes = 64;
		spek_scsi_put(data + 4, 2, unit->rpm);
		data[7] = unit->rpm == NOT_ROTATING ? 0x03 : 0x02;	/* 2.5, 3.5 inch */
		break;
	case VPD_PROVISIONING:
		bytes = unit->unmap_sectors ? 8 : 0;
		data[5] = 0x80 | 1 << 2;	/* UNMAP; unmapped LBAs read as zeroes */
		data[6] = 0x02;			/* thin */
		break;
	case VPD_RANGES:
		bytes = unit->nr_ranges ? vpd_ranges(unit, data) : 0;
		break;
	default:
		bytes = 0;
	}
	if (!bytes) {
		spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_FIELD, 2, 7);
		return 0;
	}
	spek_scsi_put(data + 2, 2, bytes - 4);
	return bytes;
}

static u32 read_capacity(const struct spek_scsi_unit *unit, u8 *data)
{
	u64 last = unit->sectors - 1;

	spek_scsi_put(data, 4, last > 0xfffffffe ? 0xffffffff : last);
	spek_scsi_put(data + 4, 4, SPEK_SCSI_SECTOR_BYTES);
	return 8;
}

static u32 read_capacity_16(const struct spek_scsi_unit *unit, u8 *data)
{
	spek_scsi_put(data, 8, unit->sectors - 1);
	spek_scsi_put(data + 8, 4, SPEK_SCSI_SECTOR_BYTES);
	if (unit->unmap_sectors)
		data[14] = 0xc0;	/* LBPME, LBPRZ */
	return 32;
}

static u32 report_luns(const struct spek_scsi_request *request, u8 *data)
{
	/* Option 1 is about well-known units, of which there are none. */
	u32 units = request->option == 1 ? 0 : 1;

	spek_scsi_put(data, 4, 8 * units);
	return 8 + 8 * units;
}

static u32 log_sense(const struct spek_scsi_status *status, struct spek_scsi_request *request,
		     u8 *data)
{
	u32 bytes;

	if (request->subpage) {
		spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_FIELD, 3, 7);
		return 0;
	}
	data[0] = request->page;
	switch (request->page) {
	case LOG_SUPPORTED:
		data[4] = LOG_SUPPORTED;
		data[5] = LOG_TEMPERATURE;
		data[6] = LOG_START_STOP;
		bytes = 7;
		break;
	case LOG_TEMPERATURE:
		/* The model has no heat: the page says that no temperature is known. */
		data[6] = 0x03;
		data[7] = 2;
		data[9] = NO_TEMPERATURE;
		bytes = 10;
		break;
	case LOG_START_STOP:
		spek_scsi_put(data + 4, 2, 0x0004);	/* accumulated cycles */
		data[6] = 0x03;
		data[7] = 4;
		spek_scsi_put(data + 8, 4, status->starts);
		bytes = 12;
		break;
	default:
		spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_FIELD, 2, 5);
		return 0;
	}
	spek_scsi_put(data + 2, 2, bytes - 4);
	return bytes;
}

static u32 element_status(const struct spek_scsi_unit *unit, const struct spek_scsi_status *status,
			  const struct spek_scsi_request *request, u8 *data)
{
	u32 room = request->length < 32 ? 0 : (request->length - 32) / 32;
	u32 matching = 0, returned = 0, arm;

	for (arm = 0; arm < unit->nr_elements; arm++) {
		bool is_removed = status->removed >> arm & 1;
		u8 *at = data + 32 + 32 * returned;

		if (arm + 1 < request->element || (request->filter && !is_removed))
			continue;
		matching++;
		if (returned == room)
			continue;
		spek_scsi_put(at + 4, 4, arm + 1);
		at[13] = 0x01;		/* can be restored */
		at[14] = STORAGE_ELEMENT;
		at[15] = is_removed ? HEALTH_DEPOPULATED : HEALTH_GOOD;
		/* What the drive cannot reach without the arm. */
		spek_scsi_put(at + 16, 8, status->sole_sectors[arm]);
		returned++;
	}
	spek_scsi_put(data, 4, matching);
	spek_scsi_put(data + 4, 4, returned);
	return 32 + 32 * returned;
}

static u32 all_opcodes(const struct spek_scsi_unit *unit, u8 *data)
{
	u32 i, bytes = 4;

	for (i = 0; i < SPEK_SCSI_NR_COMMANDS; i++) {
		const struct spek_scsi_command *command = &spek_scsi_commands[i];
		u8 *at = data + bytes;

		if (!spek_scsi_knows(unit, command))
			continue;
		at[0] = command->opcode;
		if (command->service >= 0) {
			spek_scsi_put(at + 2, 2, (u64)command->service);
			at[5] = 0x01;
		}
		spek_scsi_put(at + 6, 2, command->bytes);
		bytes += 8;
	}
	spek_scsi_put(data, 4, bytes - 4);
	return bytes;
}

static u32 report_opcodes(const struct spek_scsi_unit *unit, struct spek_scsi_request *request,
			  u8 *data)
{
	const struct spek_scsi_command *command;
	bool known, has_services;
	u32 i;

	if (!request->option)
		return all_opcodes(unit, data);
	command = spek_scsi_find(unit, request->opcode, request->service, &known);
	has_services = known && (!command || command->service >= 0);
	/* 1: commands without service action; 2: commands with one; 3: whatever there is. */
	if ((request->option == 1 && has_services) ||
	    (request->option == 2 && known && !has_services)) {
		spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_FIELD, 2, 2);
		return 0;
	}
	if (!command) {
		data[1] = 0x01;		/* not supported */
		return 4;
	}
	data[1] = 0x03;
	spek_scsi_put(data + 2, 2, command->bytes);
	for (i = 0; i < command->bytes; i++)
		data[4 + i] = i ? command->usage[i] : command->opcode;
	if (command->service >= 0)
		data[5] = (u8)command->service;
	return 4 + command->bytes;
}

/**
 * spek_scsi_answer() - make the parameter data of a command
 * @unit: the unit
 * @status: its state
 * @request: decoded; becomes SPEK_SCSI_REFUSE if it asks for something that there isn't
 * @data: SPEK_SCSI_ANSWER_BYTES
 *
 * Return: length, at most the allocation length.
 */
u32 spek_scsi_answer(const struct spek_scsi_unit *unit, const struct spek_scsi_status *status,
		     struct spek_scsi_request *request, u8 *data)
{
	u32 bytes;

	spek_memset(data, 0, SPEK_SCSI_ANSWER_BYTES);
	switch (request->action) {
	case SPEK_SCSI_INQUIRY:
		bytes = request->vital ? vital_product_data(unit, request, data) :
					 standard_inquiry(unit, data);
		break;
	case SPEK_SCSI_REPORT_LUNS:
		bytes = report_luns(request, data);
		break;
	case SPEK_SCSI_REQUEST_SENSE:
		bytes = spek_scsi_sense(&status->condition, !request->no_descriptor, data);
		break;
	case SPEK_SCSI_READ_CAPACITY:
		bytes = read_capacity(unit, data);
		break;
	case SPEK_SCSI_READ_CAPACITY_16:
		bytes = read_capacity_16(unit, data);
		break;
	case SPEK_SCSI_MODE_SENSE:
		bytes = spek_scsi_mode_sense(unit, request, data);
		break;
	case SPEK_SCSI_LOG_SENSE:
		bytes = log_sense(status, request, data);
		break;
	case SPEK_SCSI_REPORT_OPCODES:
		bytes = report_opcodes(unit, request, data);
		break;
	case SPEK_SCSI_ELEMENT_STATUS:
		bytes = element_status(unit, status, request, data);
		break;
	default:
		return 0;
	}
	return bytes < request->length ? bytes : request->length;
}
