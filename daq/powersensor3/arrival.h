/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When a PowerSensor3's sets arrive, and whether that agrees with their times.
 *
 * A set arrives late by at least the delay of the bus and the host: the smallest lateness maps the
 * clocks best (clock.h).
 *
 * Time stamps have 10 bits, so a loss of more than 1024 us looks shorter by a multiple of that.
 * Damaged time stamps can make it look longer. If the set after a visible loss has an unusual
 * lateness, the length of the loss is uncertain. A loss of exactly a multiple is invisible, but all
 * sets after it are late, whereas a busy host delays only some of the sets of several seconds.
 * Pure.
 */
#ifndef SPEK_DAQ_POWERSENSOR3_ARRIVAL_H
#define SPEK_DAQ_POWERSENSOR3_ARRIVAL_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct ps3_arrival - lateness of sets: arrival minus time by the device's clock; the device's
 *	zero is arbitrary
 * @window_start_ns: start of the current window
 * @window_late_ns: smallest lateness in it; INT64_MAX: none
 * @usual_late_ns: smallest lateness in the last window that was not late; INT64_MAX: none
 * @late_windows: number of late windows since that one
 * @best_late_ns: smallest lateness since ps3_arrival_take(); INT64_MAX: none
 */
struct ps3_arrival {
	uint64_t window_start_ns;
	int64_t window_late_ns;
	int64_t usual_late_ns;
	unsigned int late_windows;
	int64_t best_late_ns;
};

/** ps3_arrival_start() - begin a new stream. */
void ps3_arrival_start(struct ps3_arrival *arrival, uint64_t now_ns);

/**
 * ps3_arrival_add() - add the last set of what has just arrived
 * @at_us: its time by the device's clock
 * @now_ns: CLOCK_MONOTONIC at its arrival
 * @after_loss: sets are missing before it, since the last call
 * Return: 0, or -ESTALE: the time by the device's clock is wrong, or may be.
 */
int ps3_arrival_add(struct ps3_arrival *arrival, uint64_t at_us, uint64_t now_ns, bool after_loss);

/** ps3_arrival_take() - Return: smallest lateness since the last call, for clock.h. */
int64_t ps3_arrival_take(struct ps3_arrival *arrival);

#endif
