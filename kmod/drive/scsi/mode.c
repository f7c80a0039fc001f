// SPDX-License-Identifier: GPL-2.0
/* Mode parameters: caching, control and power condition pages. */
#include "scsi.h"

#define ALL_PAGES	0x3f
#define ALL_SUBPAGES	0xff
#define DESCRIPTOR	8
#define DPOFUA		0x10
#define NR_PAGES	3
#define LARGEST_PAGE	40

enum {
	CURRENT,
	CHANGEABLE,
	DEFAULT,
	SAVED,
};

enum {
	PAGE_CACHING		= 0x08,
	PAGE_CONTROL		= 0x0a,
	PAGE_POWER_CONDITION	= 0x1a,
};

static const struct {
	u8 code;
	u8 bytes;
} pages[NR_PAGES] = {
	{ PAGE_CACHING, 20 },
	{ PAGE_CONTROL, 12 },
	{ PAGE_POWER_CONDITION, 40 },
};

/* @mode: the unit's, or one that is being changed */
static void put_page(const struct spek_scsi_unit *unit, const struct spek_scsi_mode *mode,
		     u32 index, u8 control, u8 *data)
{
	static const struct spek_scsi_mode defaults = {};
	bool changeable = control == CHANGEABLE;

	if (control == DEFAULT)
		mode = &defaults;
	spek_memset(data, 0, pages[index].bytes);
	data[0] = pages[index].code;
	data[1] = (u8)(pages[index].bytes - 2);
	switch (pages[index].code) {
	case PAGE_CACHING:
		/* WCE and RCD: as the drive is built. */
		if (!changeable)
			data[2] = (unit->caches_writes ? 0x04 : 0) |
				  (unit->caches_reads ? 0 : 0x01);
		break;
	case PAGE_CONTROL:
		if (changeable || mode->descriptor_sense)
			data[2] = 0x04;
		if (!changeable)
			data[3] = 0x10;		/* commands may be reordered */
		break;
	case PAGE_POWER_CONDITION:
		if (changeable || mode->standby_timer)
			data[3] = 0x01;
		spek_scsi_put(data + 8, 4, changeable ? 0xffffffff : mode->standby_ticks);
		break;
	}
}

static void put_descriptor(const struct spek_scsi_unit *unit, u8 *data)
{
	spek_scsi_put(data, 4, unit->sectors > 0xffffffff ? 0xffffffff : unit->sectors);
	spek_scsi_put(data + 5, 3, SPEK_SCSI_SECTOR_BYTES);
}

/**
 * spek_scsi_mode_sense() - answer MODE SENSE
 * @unit: logical unit
 * @request: request; its sense is set if it is refused
 * @data: filled in
 *
 * Return: bytes of @data, 0 if the request was refused.
 */
u32 spek_scsi_mode_sense(const struct spek_scsi_unit *unit, struct spek_scsi_request *request,
			 u8 *data)
{
	u32 header = request->long_form ? 8 : 4, bytes = header, i;
	bool found = false;

	if (request->control == SAVED) {
		spek_scsi_refuse(request, SPEK_SCSI_ILLEGAL_REQUEST, SPEK_SCSI_NO_SAVED_PAGES);
		return 0;
	}
	if (request->subpage && !(request->page == ALL_PAGES && request->subpage == ALL_SUBPAGES)) {
		spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_FIELD, 3, 7);
		return 0;
	}
	if (!request->no_descriptor) {
		put_descriptor(unit, data + bytes);
		bytes += DESCRIPTOR;
	}
	for (i = 0; i < NR_PAGES; i++) {
		if (request->page != ALL_PAGES && request->page != pages[i].code)
			continue;
		put_page(unit, &unit->mode, i, request->control, data + bytes);
		bytes += pages[i].bytes;
		found = true;
	}
	if (!found) {
		spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_FIELD, 2, 5);
		return 0;
	}
	if (request->long_form) {
		spek_scsi_put(data, 2, bytes - 2);
		data[3] = DPOFUA;
		spek_scsi_put(data + 6, 2, request->no_descriptor ? 0 : DESCRIPTOR);
	} else {
		data[0] = (u8)(bytes - 1);
		data[2] = DPOFUA;
		data[3] = request->no_descriptor ? 0 : DESCRIPTOR;
	}
	return bytes;
}

static void apply_page(struct spek_scsi_mode *mode, u32 index, const u8 *page)
{
	switch (pages[index].code) {
	case PAGE_CONTROL:
		mode->descriptor_sense = page[2] & 0x04;
		break;
	case PAGE_POWER_CONDITION:
		mode->standby_timer = page[3] & 0x01;
		mode->standby_ticks = spek_scsi_get(page + 8, 4);
		break;
	}
}

/* Check a page of the list at @at and put it into @mode; Return: its length, or -EIO. */
static int select_page(const struct spek_scsi_unit *unit, struct spek_scsi_mode *mode,
		       struct spek_scsi_request *request, const u8 *data, u32 at, u32 bytes)
{
	u8 now[LARGEST_PAGE], mask[LARGEST_PAGE];
	u32 i, j;

	for (i = 0; i < NR_PAGES && pages[i].code != (data[at] & 0x3f); i++)
		;
	/* Nor is there a page in the format of subpages. */
	if (i == NR_PAGES || (data[at] & 0x40))
		return spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_PARAMETER, (u16)at, 6);
	if (bytes - at < pages[i].bytes)
		return spek_scsi_refuse(request, SPEK_SCSI_ILLEGAL_REQUEST, SPEK_SCSI_LIST_LENGTH);
	if (data[at + 1] != pages[i].bytes - 2)
		return spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_PARAMETER, (u16)(at + 1),
					      7);
	put_page(unit, mode, i, CURRENT, now);
	put_page(unit, mode, i, CHANGEABLE, mask);
	for (j = 2; j < pages[i].bytes; j++)
		if ((data[at + j] ^ now[j]) & ~mask[j])
			return spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_PARAMETER,
						      (u16)(at + j), 7);
	apply_page(mode, i, data + at);
	return pages[i].bytes;
}

/**
 * spek_scsi_mode_select() - change mode parameters
 * @unit: changed only if the whole list is good
 * @request: decoded; becomes SPEK_SCSI_REFUSE if it is not
 * @data: parameter list
 * @bytes: its length
 *
 * Return: 0 or -EIO.
 */
int spek_scsi_mode_select(struct spek_scsi_unit *unit, struct spek_scsi_request *request,
			  const u8 *data, u32 bytes)
{
	u32 at = request->long_form ? 8 : 4, descriptors;
	struct spek_scsi_mode mode = unit->mode;

	/* An empty list changes nothing and is no error. */
	if (!bytes)
		return 0;
	if (bytes < at)
		return spek_scsi_refuse(request, SPEK_SCSI_ILLEGAL_REQUEST, SPEK_SCSI_LIST_LENGTH);
	descriptors = request->long_form ? spek_scsi_get(data + 6, 2) : data[3];
	if (descriptors && descriptors != DESCRIPTOR)
		return spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_PARAMETER,
					      request->long_form ? 6 : 3, 7);
	if (bytes - at < descriptors)
		return spek_scsi_refuse(request, SPEK_SCSI_ILLEGAL_REQUEST, SPEK_SCSI_LIST_LENGTH);
	/* The number of blocks is not looked at: 0 and the capacity are what hosts send. */
	if (descriptors && spek_scsi_get(data + at + 5, 3) != SPEK_SCSI_SECTOR_BYTES)
		return spek_scsi_refuse_field(request, SPEK_SCSI_INVALID_PARAMETER,
					      (u16)(at + 5), 7);
	at += descriptors;
	while (at < bytes) {
		int page;

		if (bytes - at < 2)
			return spek_scsi_refuse(request, SPEK_SCSI_ILLEGAL_REQUEST,
						SPEK_SCSI_LIST_LENGTH);
		page = select_page(unit, &mode, request, data, at, bytes);
		if (page < 0)
			return page;
		at += (u32)page;
	}
	unit->mode = mode;
	return 0;
}
