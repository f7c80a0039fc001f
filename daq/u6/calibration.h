/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From the converter's numbers to volts, by the constants that the maker has measured and
 * stored in the device's memory: for each gain a centre (the number that stands for 0 V), a
 * slope above it and another one below it.
 *
 * The constants are signed fixed point numbers, 32 bits before and 32 after the point. They are
 * used as they are: nothing here is floating.
 */
#ifndef SPEK_DAQ_U6_CALIBRATION_H
#define SPEK_DAQ_U6_CALIBRATION_H

#include <stdint.h>

#include "u6/packet.h"

#define U6_CALIBRATION_BLOCKS	4	/* the analogue inputs' ones, from block 0 on */

/**
 * struct u6_calibration - constants of the inputs, for each gain, as 32.32 fixed point
 * @slope: volts for one step above the centre
 * @negative_slope: volts for one step below it; negative
 * @center: the number that stands for 0 V
 */
struct u6_calibration {
	int64_t slope[U6_GAINS];
	int64_t negative_slope[U6_GAINS];
	int64_t center[U6_GAINS];
};

/** u6_calibration_nominal() - constants of a device that is exactly as it was designed. */
void u6_calibration_nominal(struct u6_calibration *calibration);

/**
 * u6_calibration_decode() - constants from the device's memory
 * @calibration: filled in
 * @blocks: the first blocks of the memory
 *
 * Return: 0, or -ERANGE if a constant is further from the nominal one than any converter that
 * works could be (2 % for slopes, 2 % of the range for the centre): memory that was erased or
 * misread. @calibration is then undefined.
 */
int u6_calibration_decode(struct u6_calibration *calibration,
			  const uint8_t blocks[U6_CALIBRATION_BLOCKS][U6_BLOCK_BYTES]);

/** u6_calibration_uv() - Return: microvolts that @raw at a gain stands for, rounded to nearest. */
int64_t u6_calibration_uv(const struct u6_calibration *calibration, uint8_t gain, uint16_t raw);

#endif
