/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Grains: what is known of each piece of a verified device, in 64 bits.
 *
 * A grain is the largest power of two (at least a logical block, at most SPEK_GRAIN_MAX) of
 * which every address, size and boundary of a workload is a multiple: an operation covers it
 * whole or not at all, so one number stands for all its blocks.
 *
 * Operations on a grain exclude each other as readers and writers do, for else nobody could say
 * which of two overlapping writes a later read has to find. The state is
 *
 *	bits 0..15	holders: number of readers, or GRAIN_WRITER
 *	bit 16		a writer waits: no new readers, so that they can't keep it out
 *	bit 17		uncertain: the last write has failed
 *	bits 18..63	generation: writes so far, failed ones too, as their data may be there
 *
 * A million writes per second of one grain need two years to use it up; a run lasts one at most.
 *
 * All are pure functions; the caller makes them atomic (compare and exchange).
 */
#ifndef SPEK_CORE_GRAIN_H
#define SPEK_CORE_GRAIN_H

#include "../../core/spek_host.h"
#include "workload.h"

#define SPEK_GRAIN_MAX		(1u << 20)
/* More could be holders of one grain than can be counted. */
#define SPEK_GRAIN_MAX_READERS	65534u

/** spek_grain_bytes() - Return: grain of a workload that fits its devices. */
u32 spek_grain_bytes(const struct spek_workload *wl);

/**
 * spek_grain_acquire() - begin an operation
 * @state: changed
 * @write: it writes
 *
 * Return: false if it has to wait for others: @state says that a writer does.
 */
bool spek_grain_acquire(u64 *state, bool write);

/**
 * spek_grain_give_up() - end an operation that has not begun after all
 * @state: it holds the grain
 * @write: it writes
 * @again: it will be tried again, so a write waits from now on
 *
 * Return: the new state.
 */
u64 spek_grain_give_up(u64 state, bool write, bool again);

/** spek_grain_stop_waiting() - Return: @state after a write that waited won't be tried again. */
u64 spek_grain_stop_waiting(u64 state);

/** spek_grain_read() - Return: @state after the end of a read. */
u64 spek_grain_read(u64 state);

/** spek_grain_written() - Return: @state after the end of a write; @failed: by an error. */
u64 spek_grain_written(u64 state, bool failed);

/** spek_grain_generation() - Return: the last write that has ended, 0: there was none. */
u64 spek_grain_generation(u64 state);

/** spek_grain_uncertain() - Return: true if that write has failed. */
bool spek_grain_uncertain(u64 state);

/** spek_grain_save() - Return: what is to be kept of an idle @state: 2 * generation + uncertain. */
u64 spek_grain_save(u64 state);

/** spek_grain_restore() - Return: true if @saved is a state, then in @state. */
bool spek_grain_restore(u64 saved, u64 *state);

#endif
