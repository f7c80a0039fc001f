/* SPDX-License-Identifier: GPL-2.0 */
/* The hwmon device of a drive. See hwmon.c. */
#ifndef SPEK_DRIVE_HWMON_H
#define SPEK_DRIVE_HWMON_H

struct spek_unit;

void spek_hwmon_add(struct spek_unit *unit);
void spek_hwmon_remove(struct spek_unit *unit);

#endif
