/* SPDX-License-Identifier: GPL-2.0 */
/* Accesses without an arm, and what arms and bus have in common. */
#ifndef SPEK_DRIVE_BUS_H
#define SPEK_DRIVE_BUS_H

#include "drive_state.h"

u32 spek_drive_ahead_done(const struct spek_drive *drive, u64 now_ns);
bool spek_drive_is_extended(const struct spek_drive *drive, u32 segment);
void spek_drive_cut_ahead(struct spek_drive *drive, u64 now_ns);
bool spek_drive_is_reached(const struct spek_drive *drive, u64 lba);
void spek_drive_note_read(struct spek_drive *drive, u32 index);
void spek_drive_note_destage(struct spek_drive *drive);
void spek_drive_sort(struct spek_drive *drive, u64 now_ns, u32 *for_bus, u32 *stream);
struct spek_drive_service *spek_drive_take(struct spek_drive *drive,
					   struct spek_drive_queue *queue, u32 index, u32 arm,
					   u64 now_ns);
void spek_drive_start_bus(struct spek_drive *drive, u64 now_ns, u32 index,
			  struct spek_drive_service *started);
void spek_drive_end_bus(struct spek_drive *drive, const struct spek_drive_service *service);

#endif
