/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Conversion of raw samples to volts, with the factory calibration stored in the device's memory:
 * for each gain a centre (the raw value of 0 V) and a slope above and below it.
 *
 * The constants are signed 32.32 fixed-point numbers and are used as such: no floating point.
 */
#ifndef SPEK_DAQ_U6_CALIBRATION_H
#define SPEK_DAQ_U6_CALIBRATION_H

#include <stdint.h>

#include "u6/packet.h"

#define U6_CALIBRATION_BLOCKS	4	/* blocks 0 to 3, those of the analogue inputs */

/**
 * struct u6_calibration - constants of the inputs per gain, in 32.32 fixed point
 * @slope: volts per step above the centre
 * @negative_slope: volts per step below the centre; negative
 * @center: raw value of 0 V
 */
struct u6_calibration {
	int64_t slope[U6_GAINS];
	int64_t negative_slope[U6_GAINS];
	int64_t center[U6_GAINS];
};

/** u6_calibration_nominal() - set the constants of an ideal device. */
void u6_calibration_nominal(struct u6_calibration *calibration);

/**
 * u6_calibration_decode() - decode the constants in the device's memory
 * @calibration: filled in
 * @blocks: first blocks of the memory
 *
 * Return: 0, or -ERANGE if a constant is further from its nominal value than in any working
 * converter (2 % for slopes, 2 % of the range for the centre): the memory was erased or misread.
 * @calibration is then undefined.
 */
int u6_calibration_decode(struct u6_calibration *calibration,
			  const uint8_t blocks[U6_CALIBRATION_BLOCKS][U6_BLOCK_BYTES]);

/** u6_calibration_uv() - Return: voltage of @raw at @gain in uV, rounded to nearest. */
int64_t u6_calibration_uv(const struct u6_calibration *calibration, uint8_t gain, uint16_t raw);

/** u6_calibration_step_uv() - Return: voltage of one step at @gain in uV, rounded to nearest. */
uint32_t u6_calibration_step_uv(const struct u6_calibration *calibration, uint8_t gain);

#endif
