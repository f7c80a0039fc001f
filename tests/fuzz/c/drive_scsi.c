// SPDX-License-Identifier: GPL-2.0
/* SCSI commands of a modelled drive: any CDB ends in bounds, and as often as it comes. */
#include <stdlib.h>
#include <string.h>

#include "scsi.h"
#include "target.h"

static void init_unit(struct spek_scsi_unit *unit, struct fuzz_input *in)
{
	uint32_t i;

	memset(unit, 0, sizeof(*unit));
	memcpy(unit->vendor, "SPEK    ", 8);
	memcpy(unit->product, "MODELLED DRIVE  ", 16);
	memcpy(unit->revision, "0001", 4);
	memset(unit->serial, '7', fuzz_upto(in, 20));
	unit->naa = 3ULL << 60;
	unit->sectors = 1 + (fuzz_any64(in) >> 1);
	unit->rpm = (u16)fuzz_bytes(in, 2);
	unit->caches_writes = fuzz_upto(in, 1);
	unit->unmap_sectors = fuzz_upto(in, 1) * 8;
	unit->nr_ranges = fuzz_upto(in, SPEK_SCSI_MAX_RANGES);
	for (i = 0; i < unit->nr_ranges; i++)
		unit->ranges[i].sectors = unit->sectors;
}

static void check_sense(const struct spek_scsi_sense *sense)
{
	u8 data[SPEK_SCSI_SENSE_BYTES];
	bool descriptor;

	for (descriptor = false;; descriptor = true) {
		u32 bytes = spek_scsi_sense(sense, descriptor, data);

		FUZZ_REQUIRE(bytes >= 8 && bytes <= sizeof(data), "sense data fits");
		FUZZ_REQUIRE(bytes == 8u + data[7], "sense data has its length in it");
		FUZZ_REQUIRE(data[descriptor ? 1 : 2] == sense->key, "the key is where it belongs");
		if (descriptor)
			return;
	}
}

static void check_media(const struct spek_scsi_unit *unit, const struct spek_scsi_request *request)
{
	FUZZ_REQUIRE(request->lba <= unit->sectors &&
		     request->sectors <= unit->sectors - request->lba,
		     "accesses are within the capacity");
	FUZZ_REQUIRE(request->action == SPEK_SCSI_SYNC_CACHE ||
		     request->sectors <= SPEK_SCSI_MAX_SECTORS, "transfers have a limit");
}

static void select_mode(struct spek_scsi_unit *unit, struct spek_scsi_request *request,
			struct fuzz_input *in)
{
	u8 *data = malloc(SPEK_SCSI_MODE_BYTES + 1);
	struct spek_scsi_mode before = unit->mode;
	u32 bytes = fuzz_upto(in, SPEK_SCSI_MODE_BYTES), i;

	for (i = 0; i < bytes; i++)
		data[i] = (u8)fuzz_bytes(in, 1);
	/* Behind its end is nothing. */
	data = realloc(data, bytes ? bytes : 1);
	if (spek_scsi_mode_select(unit, request, data, bytes)) {
		FUZZ_REQUIRE(request->action == SPEK_SCSI_REFUSE, "a refusal has its sense");
		FUZZ_REQUIRE(!memcmp(&before, &unit->mode, sizeof(before)),
			     "a refused list changes nothing");
		check_sense(&request->sense);
	}
	free(data);
}

static void unmap(const struct spek_scsi_unit *unit, struct spek_scsi_request *request,
		  struct fuzz_input *in)
{
	u32 bytes = fuzz_upto(in, SPEK_SCSI_UNMAP_BYTES + 20), i;
	u8 *data = malloc(bytes ? bytes : 1);

	for (i = 0; i < bytes; i++)
		data[i] = (u8)fuzz_bytes(in, 1);
	if (spek_scsi_unmap(unit, request, data, bytes)) {
		FUZZ_REQUIRE(request->action == SPEK_SCSI_REFUSE, "a refusal has its sense");
		check_sense(&request->sense);
	} else {
		check_media(unit, request);
	}
	free(data);
}

static void command(struct spek_scsi_unit *unit, struct fuzz_input *in)
{
	struct spek_scsi_status status = { .starts = fuzz_bytes(in, 1) };
	u32 length = fuzz_upto(in, 16), i, bytes;
	struct spek_scsi_request request;
	u8 *cdb = malloc(length ? length : 1);
	u8 data[SPEK_SCSI_ANSWER_BYTES];

	for (i = 0; i < length; i++)
		cdb[i] = (u8)fuzz_bytes(in, 1);
	if (length && fuzz_upto(in, 3))
		cdb[0] = spek_scsi_commands[fuzz_upto(in, SPEK_SCSI_NR_COMMANDS - 1)].opcode;
	spek_scsi_decode(unit, cdb, length, &request);
	free(cdb);
	switch (request.action) {
	case SPEK_SCSI_REFUSE:
		FUZZ_REQUIRE(request.sense.key, "a refusal has a key");
		check_sense(&request.sense);
		return;
	case SPEK_SCSI_READ:
	case SPEK_SCSI_WRITE:
	case SPEK_SCSI_SYNC_CACHE:
		check_media(unit, &request);
		return;
	case SPEK_SCSI_MODE_SELECT:
		select_mode(unit, &request, in);
		return;
	case SPEK_SCSI_UNMAP:
		FUZZ_REQUIRE(unit->unmap_sectors, "only a unit with UNMAP gets one");
		unmap(unit, &request, in);
		return;
	default:
		break;
	}
	bytes = spek_scsi_answer(unit, &status, &request, data);
	FUZZ_REQUIRE(bytes <= sizeof(data) && bytes <= request.length, "an answer fits");
	if (request.action == SPEK_SCSI_REFUSE)
		check_sense(&request.sense);
}

void fuzz_drive_scsi(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	struct spek_scsi_unit unit;

	init_unit(&unit, &in);
	do
		command(&unit, &in);
	while (in.size);
}
