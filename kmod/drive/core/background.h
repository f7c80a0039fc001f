/* SPDX-License-Identifier: GPL-2.0 */
/* Work of the drive for itself: destaging and read-ahead. */
#ifndef SPEK_DRIVE_BACKGROUND_H
#define SPEK_DRIVE_BACKGROUND_H

#include "drive_state.h"

bool spek_drive_is_destage_due(const struct spek_drive *drive);
bool spek_drive_start_destage(struct spek_drive *drive, u64 now_ns);
void spek_drive_start_background(struct spek_drive *drive, u64 now_ns);
void spek_drive_lose_extents(struct spek_drive *drive);

#endif
