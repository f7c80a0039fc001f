/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Grains: the state of each piece of a verified device, in 64 bits.
 *
 * A grain is the largest power of two (at least a logical block, at most SPEK_GRAIN_MAX) of
 * which every address, size and boundary of a workload is a multiple: an operation covers it
 * whole or not at all, so one number stands for all its blocks.
 *
 * Operations on a grain exclude each other as readers and writers: otherwise it would be unknown
 * which of two overlapping writes a later read should find. The state is
 *
 *	bits 0..15	holders: number of readers, or GRAIN_WRITER
 *	bit 16		a writer waits: no new readers, or they could starve it
 *	bits 17..18	enum spek_content: what the last operation has left
 *	bits 19..63	generation: number of writes, including failed ones, whose data may be there
 *
 * A million writes per second to one grain exhaust it in 13 months; a run lasts 12 at most. A
 * stored state is restored only if that much is left.
 *
 * All functions are pure; the caller makes them atomic (compare and exchange).
 */
#ifndef SPEK_CORE_GRAIN_H
#define SPEK_CORE_GRAIN_H

#include "../../core/spek_host.h"
#include "stamp.h"
#include "workload.h"

#define SPEK_GRAIN_MAX		(1u << 20)
/* Limit of the outstanding I/Os of a run: all may hold the same grain. */
#define SPEK_GRAIN_MAX_READERS	65534u
/* Limit of a restored generation: 25 days of a million writes per second. */
#define SPEK_GRAIN_MAX_RESTORED	(1ull << 41)

u32 spek_grain_bytes(const struct spek_workload *wl);
bool spek_grain_acquire(u64 *state, bool write);
u64 spek_grain_give_up(u64 state, bool write, bool again);
u64 spek_grain_stop_waiting(u64 state);
u64 spek_grain_read(u64 state);
u64 spek_grain_written(u64 state, enum spek_content left, bool failed);
u64 spek_grain_generation(u64 state);
enum spek_content spek_grain_content(u64 state);
u64 spek_grain_save(u64 state);
int spek_grain_restore(u64 saved, u64 *state);

#endif
