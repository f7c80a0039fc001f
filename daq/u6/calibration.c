// SPDX-License-Identifier: GPL-2.0
/* See calibration.h. */
#include "u6/calibration.h"

#include <errno.h>
#include <stddef.h>

__extension__ typedef __int128 wide;

#define ONE		(1ll << 32)
#define CENTER		(33523 * ONE)
#define CENTER_SLACK	(65536 / 50 * ONE)
#define PICOVOLTS	1000000000000ll
/* Nominal slopes in pV per step at gain x1; each higher gain divides them by ten. */
#define STEP_PV		315805780ll
#define NEGATIVE_STEP_PV (-315805800ll)

/* Rounded to nearest; no argument is near an overflow. */
static int64_t fixed(int64_t picovolts)
{
	wide doubled = (wide)picovolts * 2 * ONE / PICOVOLTS;

	return (int64_t)((doubled + (doubled < 0 ? -1 : 1)) / 2);
}

void u6_calibration_nominal(struct u6_calibration *calibration)
{
	int64_t divisor = 1;

	for (size_t gain = 0; gain < U6_GAINS; gain++, divisor *= 10) {
		calibration->slope[gain] = fixed(STEP_PV / divisor);
		calibration->negative_slope[gain] = fixed(NEGATIVE_STEP_PV / divisor);
		calibration->center[gain] = CENTER;
	}
}

static int64_t get64(const uint8_t *at)
{
	uint64_t value = 0;

	for (int i = 7; i >= 0; i--)
		value = value << 8 | at[i];
	return (int64_t)value;
}

static int is_near(int64_t value, int64_t nominal, int64_t slack)
{
	return (wide)value - nominal <= slack && (wide)nominal - value <= slack;
}

/*
 * A block holds a pair of constants for each of two gains: slope and offset in blocks 0 and 1,
 * negative slope and centre in blocks 2 and 3. The offset belongs to a simpler formula that is off
 * by some steps below the centre; it is not used.
 */
int u6_calibration_decode(struct u6_calibration *calibration,
			  const uint8_t blocks[U6_CALIBRATION_BLOCKS][U6_BLOCK_BYTES])
{
	struct u6_calibration nominal;

	u6_calibration_nominal(&nominal);
	for (size_t gain = 0; gain < U6_GAINS; gain++) {
		const uint8_t *positive = blocks[gain / 2] + gain % 2 * 16;
		const uint8_t *negative = blocks[2 + gain / 2] + gain % 2 * 16;
		int64_t slack = nominal.slope[gain] / 50 + 1;

		calibration->slope[gain] = get64(positive);
		calibration->negative_slope[gain] = get64(negative);
		calibration->center[gain] = get64(negative + 8);
		if (!is_near(calibration->slope[gain], nominal.slope[gain], slack) ||
		    !is_near(calibration->negative_slope[gain], nominal.negative_slope[gain],
			     slack) ||
		    !is_near(calibration->center[gain], CENTER, CENTER_SLACK))
			return -ERANGE;
	}
	return 0;
}

int64_t u6_calibration_uv(const struct u6_calibration *calibration, uint8_t gain, uint16_t raw)
{
	int64_t above = raw * ONE - calibration->center[gain];
	wide product; /* 64 bits after the point, in V */

	if (above < 0)
		product = (wide)-above * calibration->negative_slope[gain];
	else
		product = (wide)above * calibration->slope[gain];
	/* |product| < 2^49 * 2^22, so 10^6 times as much is below 2^91 */
	product = product * 1000000 + ((wide)1 << 63);
	return (int64_t)(product >> 64);
}

uint32_t u6_calibration_step_uv(const struct u6_calibration *calibration, uint8_t gain)
{
	/* A slope is within 2 % of the nominal one. */
	return (uint32_t)((calibration->slope[gain] * 1000000 + ONE / 2) / ONE);
}
