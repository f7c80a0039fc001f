/* SPDX-License-Identifier: GPL-2.0 */
/* The SCSI host of a drive. See host.c. */
#ifndef SPEK_DRIVE_HOST_H
#define SPEK_DRIVE_HOST_H

struct spek_unit;

int spek_host_add(struct spek_unit *unit);
void spek_host_remove(struct spek_unit *unit);

#endif
