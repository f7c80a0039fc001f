/* SPDX-License-Identifier: GPL-2.0 */
/*
 * calibrate.h - from the output of a current transducer to current and power
 *
 * The output of a Hall transducer (LEM LTS 6-NP and its successors) is zero + sensitivity *
 * current: 2.5 V + 104.167 mV/A with one turn of the primary, and twice or three times that
 * sensitivity with two or three turns. The zero is off by up to 25 mV (0.24 A), so it must be
 * measured.
 *
 *	uA = (uV - zero_uv) * 10^6 / (sens_uv_per_a * turns)
 *	nW = uA * mV
 *
 * The rail's voltage is nominal, or measured on a separate channel, possibly behind a divider.
 * Integers throughout, rounded to nearest (halves away from zero). Pure.
 */
#ifndef SPEK_DAQ_CALIBRATE_H
#define SPEK_DAQ_CALIBRATE_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"

#define DAQ_ZERO_UV 2500000
#define DAQ_SENS_UV_PER_A 104167
/* lowest possible output of a powered transducer, at any current */
#define DAQ_UNPLUGGED_UV 400000
/* highest output that still follows the current: above, a transducer saturates */
#define DAQ_SATURATED_UV 4600000

/**
 * struct daq_calibration - constants of one rail
 * @zero_uv: output at zero current
 * @sens_uv_per_a: sensitivity per ampere and turn
 * @turns: turns of the primary: 1, 2 or 3
 * @voltage_uv: nominal voltage of the rail; 0 if it is measured
 * @voltage_scale_ppm: rail's voltage / measured voltage * 10^6 (3,000,000 behind a 2:1 divider)
 */
struct daq_calibration {
	int64_t zero_uv;
	int64_t sens_uv_per_a;
	uint32_t turns;
	int64_t voltage_uv;
	int64_t voltage_scale_ppm;
};

#ifdef __cplusplus
extern "C" {
#endif

/** daq_calibration_default() - set the data sheet's constants, one turn, no voltage. */
void daq_calibration_default(struct daq_calibration *cal);

/**
 * daq_calibration_check() - check the constants of a rail
 * @rail: name of the rail, for the sentence
 * @has_voltage_channel: the rail's voltage is measured
 * Return: 0, or -EINVAL and a sentence: zero not between 0.4 V and 4.6 V, sensitivity not
 * between 1 mV/A and 10 V/A, turns not 1 to 3 ..., voltage neither given nor measured, or both.
 */
int daq_calibration_check(const struct daq_calibration *cal, const char *rail,
			  bool has_voltage_channel, struct daq_error *err);

/** daq_sensor_is_unplugged() - Return: true if @uv is below any powered transducer's output. */
bool daq_sensor_is_unplugged(int64_t uv);

/** daq_sensor_is_saturated() - Return: true if @uv no longer follows the current. */
bool daq_sensor_is_saturated(int64_t uv);

/** daq_current_ua() - Return: the current at an output of @uv, negative if reversed. */
int64_t daq_current_ua(const struct daq_calibration *cal, int64_t uv);

/**
 * daq_rail_voltage_uv() - Return: the rail's voltage: nominal, or @measured_uv scaled.
 * @measured_uv: value of the voltage channel; ignored if the voltage is nominal
 */
int64_t daq_rail_voltage_uv(const struct daq_calibration *cal, int64_t measured_uv);

/** daq_power_nw() - Return: @ua times @voltage_uv. */
int64_t daq_power_nw(int64_t ua, int64_t voltage_uv);

/**
 * daq_sensitivity() - compute the sensitivity from a known load
 * @uv: output at @ua
 * @zero_uv: output at zero current
 * Return: uV per ampere and turn; -1 if @ua is 0 or the two outputs have the wrong order.
 */
int64_t daq_sensitivity(int64_t uv, int64_t zero_uv, int64_t ua, uint32_t turns);

#ifdef __cplusplus
}
#endif

#endif
