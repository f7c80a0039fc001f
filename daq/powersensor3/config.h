/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Version and sensor configuration of a PowerSensor3, as it sends them, and the conversion of
 * levels.
 *
 * Sensors 2p and 2p + 1 are pair p: its current and its voltage. A sensor's 10-bit level is its
 * output in steps of 3.3 V / 1023, which is vref + sensitivity * (the current in A, or the voltage
 * in V). A negative sensitivity is an inverted polarity. Pure.
 */
#ifndef SPEK_DAQ_POWERSENSOR3_CONFIG_H
#define SPEK_DAQ_POWERSENSOR3_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

#define PS3_SENSORS 8
#define PS3_PAIRS 4
#define PS3_LEVELS 1024
/* type and name of its pair, 16 bytes each; vref and sensitivity as floats; whether it is used */
#define PS3_SENSOR_BYTES 41
#define PS3_NAME_MAX 16
#define PS3_VERSION_MAX 64

/**
 * struct ps3_pair - two sensors of one line
 * @name: as users call it: the name in the device if that is usable and no other pair's, or pairN
 * @is_used: both sensors are in use
 * @is_half_used: only one of them is, so that the pair measures no power
 * @current_ua: current at each level of its sensor
 * @voltage_uv: voltage at each level of its sensor
 */
struct ps3_pair {
	char name[PS3_NAME_MAX];
	bool is_used;
	bool is_half_used;
	int64_t current_ua[PS3_LEVELS];
	int64_t voltage_uv[PS3_LEVELS];
};

struct ps3_config {
	struct ps3_pair pair[PS3_PAIRS];
};

/**
 * ps3_version_check() - check the line that the device sends as its version
 * @text: for example "F411-1.6.1"; older firmware puts words before it
 *
 * Names of pairs came with 1.3, and with them this layout of the configuration.
 *
 * Return: 0, or -EIO and a sentence.
 */
int ps3_version_check(const char *text, struct daq_error *err);

/**
 * ps3_config_decode() - decode the configuration
 * @sensor: as the device sends it, sensor by sensor
 * Return: 0, or -EIO and a sentence: a sensor in use has no possible configuration.
 */
int ps3_config_decode(struct ps3_config *config, const uint8_t sensor[PS3_SENSORS][PS3_SENSOR_BYTES],
		      struct daq_error *err);

/** ps3_pair_find() - Return: number of the used pair called @name, @length bytes, or -1. */
int ps3_pair_find(const struct ps3_config *config, const char *name, size_t length);

#endif
