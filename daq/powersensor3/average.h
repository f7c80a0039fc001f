/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From a PowerSensor3's sets to means over equal windows of the device's clock.
 *
 * Window k has the sets from k * length up to (k + 1) * length. Its power is the mean of the sets'
 * powers, not the product of its mean current and mean voltage. Sums are exact; a mean is rounded
 * once. A window that misses a set is not delivered: its number is skipped.
 *
 * A level at an end of the converter's range is a bound and not a measurement, and so is the mean
 * of a window with such a level: its value is then the end of the range. A voltage of level 0 is a
 * line that is switched off. Pure.
 */
#ifndef SPEK_DAQ_POWERSENSOR3_AVERAGE_H
#define SPEK_DAQ_POWERSENSOR3_AVERAGE_H

#include "powersensor3/stream.h"

/**
 * struct ps3_mean - means of one pair in one window
 * @power_nw: power
 * @current_ua: current
 * @voltage_uv: voltage
 */
struct ps3_mean {
	int64_t power_nw;
	int64_t current_ua;
	int64_t voltage_uv;
};

/**
 * struct ps3_range - ends of the ranges of one pair's means, which clipped means have
 * @low: low ends
 * @high: high ends
 */
struct ps3_range {
	struct ps3_mean low;
	struct ps3_mean high;
};

/**
 * struct ps3_window - a complete window
 * @number: its number
 * @mean: means of the used pairs
 */
struct ps3_window {
	uint64_t number;
	struct ps3_mean mean[PS3_PAIRS];
};

typedef void (*ps3_window_fn)(void *context, const struct ps3_window *window);

/**
 * struct ps3_sum - sums of one pair over the sets of a window
 * @power_pw: sum of its powers
 * @current_ua: sum of its currents
 * @voltage_uv: sum of its voltages
 * @is_current_clipped: a current was at an end of its range
 * @is_voltage_clipped: a voltage was
 */
struct ps3_sum {
	__int128 power_pw;
	int64_t current_ua;
	int64_t voltage_uv;
	bool is_current_clipped;
	bool is_voltage_clipped;
};

/**
 * struct ps3_average - state of the averaging
 * @config: configuration
 * @length_us: length of a window
 * @spacing_us: time between sets
 * @number: number of the current window
 * @sets: its sets so far
 * @is_lost: one of its sets is missing
 * @sum: its sums
 */
struct ps3_average {
	const struct ps3_config *config;
	uint32_t length_us;
	uint32_t spacing_us;
	uint64_t number;
	uint32_t sets;
	bool is_lost;
	struct ps3_sum sum[PS3_PAIRS];
};

/** ps3_range_of() - Return: the ends of the ranges of one pair. */
struct ps3_range ps3_range_of(const struct ps3_pair *pair);

/** ps3_average_start() - begin with window 0; @length_us is at least 1.5 * PS3_MAX_SPACING_US. */
void ps3_average_start(struct ps3_average *average, const struct ps3_config *config,
		       uint32_t length_us, uint32_t spacing_us);

/** ps3_average_add() - add a set; @give gets the window before it, if that is complete. */
void ps3_average_add(struct ps3_average *average, const struct ps3_set *set, ps3_window_fn give,
		     void *context);

#endif
