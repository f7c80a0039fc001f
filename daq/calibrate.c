// SPDX-License-Identifier: GPL-2.0
/* Transducer to current to power. */
#include <errno.h>

#include "calibrate.h"

#define ZERO_MIN_UV DAQ_UNPLUGGED_UV
#define ZERO_MAX_UV DAQ_SATURATED_UV
#define SENS_MIN_UV_PER_A 1000
#define SENS_MAX_UV_PER_A 10000000
#define VOLTAGE_MAX_UV 1000000000
#define SCALE_MIN_PPM 1000
#define SCALE_MAX_PPM 1000000000

static int64_t round_div(__int128 a, __int128 b)
{
	__int128 half = (b < 0 ? -b : b) / 2;
	__int128 found = (a < 0 ? a - half : a + half) / b;

	/* No real measurement is that large; a saturated value remains implausible. */
	if (found > INT64_MAX)
		return INT64_MAX;
	return found < -INT64_MAX ? -INT64_MAX : (int64_t)found;
}

void daq_calibration_default(struct daq_calibration *cal)
{
	*cal = (struct daq_calibration){
		.zero_uv = DAQ_ZERO_UV,
		.sens_uv_per_a = DAQ_SENS_UV_PER_A,
		.turns = 1,
		.voltage_scale_ppm = 1000000,
	};
}

int daq_calibration_check(const struct daq_calibration *cal, const char *rail,
			  bool has_voltage_channel, struct daq_error *err)
{
	if (cal->zero_uv < ZERO_MIN_UV || cal->zero_uv > ZERO_MAX_UV)
		return daq_fail(err, EINVAL,
				"rail '%s': zero_uv is %lld; it must be between %d and %d, the output range of a powered transducer",
				rail, (long long)cal->zero_uv, ZERO_MIN_UV, ZERO_MAX_UV);
	if (cal->sens_uv_per_a < SENS_MIN_UV_PER_A || cal->sens_uv_per_a > SENS_MAX_UV_PER_A)
		return daq_fail(err, EINVAL,
				"rail '%s': sens_uv_per_a is %lld; it must be between %d and %d",
				rail, (long long)cal->sens_uv_per_a, SENS_MIN_UV_PER_A,
				SENS_MAX_UV_PER_A);
	if (cal->turns < 1 || cal->turns > 3)
		return daq_fail(err, EINVAL, "rail '%s': turns is %u; it must be 1, 2 or 3",
				rail, cal->turns);
	if (cal->voltage_scale_ppm < SCALE_MIN_PPM || cal->voltage_scale_ppm > SCALE_MAX_PPM)
		return daq_fail(err, EINVAL,
				"rail '%s': voltage_scale_ppm is %lld; it must be between %d and %d",
				rail, (long long)cal->voltage_scale_ppm, SCALE_MIN_PPM,
				SCALE_MAX_PPM);
	if (has_voltage_channel && cal->voltage_uv)
		return daq_fail(err, EINVAL,
				"rail '%s' has both voltage_mv and voltage_channel; give only one of them", rail);
	if (!has_voltage_channel && !cal->voltage_uv)
		return daq_fail(err, EINVAL,
				"rail '%s' has no voltage; give voltage_mv (not 0) or voltage_channel", rail);
	if (cal->voltage_uv < 0 || cal->voltage_uv > VOLTAGE_MAX_UV)
		return daq_fail(err, EINVAL, "rail '%s': voltage_mv must be between 1 and %d",
				rail, VOLTAGE_MAX_UV / 1000);
	return 0;
}

bool daq_sensor_is_unplugged(int64_t uv)
{
	return uv < DAQ_UNPLUGGED_UV;
}

bool daq_sensor_is_saturated(int64_t uv)
{
	return uv > DAQ_SATURATED_UV;
}

int64_t daq_current_ua(const struct daq_calibration *cal, int64_t uv)
{
	return round_div(((__int128)uv - cal->zero_uv) * 1000000,
			 (__int128)cal->sens_uv_per_a * cal->turns);
}

int64_t daq_rail_voltage_uv(const struct daq_calibration *cal, int64_t measured_uv)
{
	if (cal->voltage_uv)
		return cal->voltage_uv;
	return round_div((__int128)measured_uv * cal->voltage_scale_ppm, 1000000);
}

int64_t daq_power_nw(int64_t ua, int64_t voltage_uv)
{
	return round_div((__int128)ua * voltage_uv, 1000);
}

int64_t daq_sensitivity(int64_t uv, int64_t zero_uv, int64_t ua, uint32_t turns)
{
	int64_t sens;

	if (!ua || !turns)
		return -1;
	sens = round_div(((__int128)uv - zero_uv) * 1000000, (__int128)ua * turns);
	return sens > 0 ? sens : -1;
}
