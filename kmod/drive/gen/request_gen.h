/* SPDX-License-Identifier: GPL-2.0 */
/* generated from kmod/drive/uapi/spek_drive.yaml, run `make gen` */

#ifndef _SPEK_DRIVE_REQUEST_GEN_H
#define _SPEK_DRIVE_REQUEST_GEN_H

#include "../../genl/request.h"

/* Groups of attributes. */
enum {
	SPEK_DRIVE_GROUP_PLATTERS = 1U << 0,
	SPEK_DRIVE_GROUP_TABLES = 1U << 1,
	SPEK_DRIVE_GROUP_FLASH = 1U << 2,
};

extern const struct spek_genl_record spek_drive_description_request;
extern const struct spek_genl_record spek_drive_change_request;

#endif /* _SPEK_DRIVE_REQUEST_GEN_H */
