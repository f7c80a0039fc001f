// SPDX-License-Identifier: GPL-2.0
/* Conversion of channels to rails. */
#include <errno.h>

#include "meter.h"

#define MAX_STEP_INTERVALS 10
#define MIN_STEP_NS 1000000000

static int64_t round_div(int64_t a, int64_t b)
{
	return a / b + (a % b) / (b / 2);
}

static int check_rail(const struct daq_meter *meter, const struct daq_rail *rail,
		      struct daq_error *err)
{
	const struct daq_channel *channel = &meter->channel[rail->channel];
	bool has_voltage = rail->cal.voltage_uv || rail->voltage_channel >= 0;

	if (rail->voltage_channel >= 0 &&
	    meter->channel[rail->voltage_channel].unit != DAQ_UNIT_UV)
		return daq_fail(err, EINVAL, "rail '%s': channel '%s' doesn't measure a voltage",
				rail->name, meter->channel[rail->voltage_channel].name);
	switch (channel->unit) {
	case DAQ_UNIT_UV:
	case DAQ_UNIT_UA:
		return daq_calibration_check(&rail->cal, rail->name, rail->voltage_channel >= 0,
					     err);
	case DAQ_UNIT_NW:
	case DAQ_UNIT_NJ:
		if (!has_voltage)
			return 0;
		return daq_fail(err, EINVAL,
				"rail '%s': channel '%s' measures power; remove the rail's voltage",
				rail->name, channel->name);
	case DAQ_UNIT_PPM:
		return daq_fail(err, EINVAL,
				"rail '%s': channel '%s' is a ratio and can't measure power",
				rail->name, channel->name);
	case DAQ_UNIT_MC:
		return daq_fail(err, EINVAL,
				"rail '%s': channel '%s' is a temperature and can't measure power",
				rail->name, channel->name);
	case DAQ_UNIT_BITS:
		break;
	}
	return daq_fail(err, EINVAL, "rail '%s': channel '%s' is digital and can't measure power",
			rail->name, channel->name);
}

int daq_meter_check(const struct daq_meter *meter, struct daq_error *err)
{
	size_t i;

	for (i = 0; i < meter->nr_rails; i++) {
		int error = check_rail(meter, &meter->rail[i], err);

		if (error)
			return error;
	}
	return 0;
}

static size_t put(struct daq_rail *rail, uint32_t number, uint64_t at_ns, int64_t power_uw,
		  struct spek_prober_power_sample *sample)
{
	*sample = (struct spek_prober_power_sample){
		.at_ns = at_ns,
		.power_uw = power_uw,
		.rail = number,
		.flags = rail->gap ? SPEK_PROBER_POWER_GAP : 0,
	};
	rail->samples++;
	rail->gaps += rail->gap;
	rail->gap = false;
	rail->last_ns = at_ns;
	return 1;
}

static void lose(struct daq_rail *rail)
{
	rail->gap = true;
	rail->has_energy = false;
}

static bool is_plausible(struct daq_rail *rail, __int128 power_uw)
{
	if (power_uw <= (int64_t)SPEK_PROBER_MAX_POWER_UW &&
	    power_uw >= -(int64_t)SPEK_PROBER_MAX_POWER_UW)
		return true;
	rail->implausible++;
	lose(rail);
	return false;
}

/* At the end of its range, a value is a bound of what is measured, and no measurement. */
static bool is_clipped(const struct daq_channel *channel, int64_t value)
{
	return channel->low != channel->high &&
	       (value <= channel->low || value >= channel->high);
}

static bool is_over(const struct daq_meter *meter, const struct daq_rail *rail,
		    const int64_t *value)
{
	const struct daq_channel *channel = &meter->channel[rail->channel];
	int voltage = rail->voltage_channel;

	if (is_clipped(channel, value[rail->channel]))
		return true;
	if (channel->unit == DAQ_UNIT_UV && daq_sensor_is_saturated(value[rail->channel]))
		return true;
	return voltage >= 0 && is_clipped(&meter->channel[voltage], value[voltage]);
}

/* Return: whether the rail's power is known. */
static bool power_of(const struct daq_meter *meter, struct daq_rail *rail, const int64_t *value,
		     int64_t *power_nw)
{
	int64_t measured = value[rail->channel];
	int64_t voltage_uv = 0;

	rail->is_over = false;
	if (meter->channel[rail->channel].unit == DAQ_UNIT_UV)
		rail->is_unplugged = daq_sensor_is_unplugged(measured);
	if (rail->voltage_channel >= 0)
		voltage_uv = value[rail->voltage_channel];
	if (voltage_uv == DAQ_ABSENT || rail->is_unplugged)
		return false;
	rail->is_over = is_over(meter, rail, value);
	rail->over += rail->is_over;
	if (rail->is_over)
		return false;
	if (meter->channel[rail->channel].unit == DAQ_UNIT_NW) {
		*power_nw = measured;
		return true;
	}
	voltage_uv = daq_rail_voltage_uv(&rail->cal, voltage_uv);
	if (meter->channel[rail->channel].unit == DAQ_UNIT_UV)
		measured = daq_current_ua(&rail->cal, measured);
	*power_nw = daq_power_nw(measured, voltage_uv);
	return true;
}

static size_t put_power(const struct daq_meter *meter, struct daq_rail *rail, uint32_t number,
			uint64_t at_ns, const int64_t *value,
			struct spek_prober_power_sample *sample)
{
	int64_t power_nw;

	if (!power_of(meter, rail, value, &power_nw)) {
		lose(rail);
		return 0;
	}
	power_nw = round_div(power_nw, 1000);
	return is_plausible(rail, power_nw) ? put(rail, number, at_ns, power_nw, sample) : 0;
}

static size_t put_energy(struct daq_rail *rail, uint32_t number, uint64_t at_ns, int64_t nj,
			 struct spek_prober_power_sample *sample)
{
	uint64_t from_ns = rail->last_ns;
	__int128 energy_fj, power_uw;
	size_t made;

	/* A counter that decreased has been reset. */
	if (rail->has_energy && nj < rail->last_nj)
		lose(rail);
	if (!rail->has_energy) {
		rail->has_energy = true;
		rail->last_nj = nj;
		rail->rest_fj = 0;
		rail->last_ns = at_ns;
		return 0;
	}
	if (at_ns == from_ns)
		return 0;
	/* fJ / ns is uW. The remainder goes to the next samples: dropped each time, it adds up. */
	energy_fj = ((__int128)nj - rail->last_nj) * 1000000 + rail->rest_fj;
	power_uw = energy_fj / (int64_t)(at_ns - from_ns);
	rail->last_nj = nj;
	if (!is_plausible(rail, power_uw))
		return 0;
	rail->rest_fj = (uint64_t)(energy_fj % (int64_t)(at_ns - from_ns));
	made = put(rail, number, from_ns, (int64_t)power_uw, sample);
	return made + put(rail, number, at_ns, (int64_t)power_uw, sample + made);
}

size_t daq_meter_scan(struct daq_meter *meter, uint64_t at_ns, const int64_t *value,
		      struct spek_prober_power_sample *sample)
{
	size_t made = 0;
	uint32_t i;

	for (i = 0; i < meter->nr_rails; i++) {
		struct daq_rail *rail = &meter->rail[i];
		const struct daq_channel *channel = &meter->channel[rail->channel];
		uint64_t rail_ns = at_ns + channel->delay_ns;

		if (rail_ns < rail->last_ns)
			rail_ns = rail->last_ns;
		if (value[rail->channel] == DAQ_ABSENT) {
			rail->is_over = false;
			lose(rail);
		} else if (channel->unit == DAQ_UNIT_NJ) {
			made += put_energy(rail, i, rail_ns, value[rail->channel], sample + made);
		} else {
			made += put_power(meter, rail, i, rail_ns, value, sample + made);
		}
	}
	return made;
}

void daq_meter_gap(struct daq_meter *meter, uint64_t until_ns)
{
	size_t i;

	for (i = 0; i < meter->nr_rails; i++) {
		lose(&meter->rail[i]);
		if (meter->rail[i].last_ns < until_ns)
			meter->rail[i].last_ns = until_ns;
	}
}

uint64_t daq_meter_silent_until(const struct daq_meter *meter, uint64_t at_ns)
{
	uint64_t until_ns = at_ns;
	bool has_silent = false;
	size_t i;

	for (i = 0; i < meter->nr_rails; i++) {
		if (meter->rail[i].gap)
			has_silent = true;
		else if (meter->rail[i].last_ns < until_ns)
			until_ns = meter->rail[i].last_ns;
	}
	return has_silent ? until_ns : 0;
}

uint64_t daq_meter_max_step_ns(uint64_t interval_ns)
{
	uint64_t step_ns = interval_ns * MAX_STEP_INTERVALS;

	if (interval_ns > SPEK_PROBER_MAX_STEP_LIMIT_NS / MAX_STEP_INTERVALS)
		return SPEK_PROBER_MAX_STEP_LIMIT_NS;
	return step_ns && step_ns < MIN_STEP_NS ? MIN_STEP_NS : step_ns;
}

uint64_t daq_meter_lsb_nw(const struct daq_meter *meter, size_t number)
{
	const struct daq_rail *rail = &meter->rail[number];
	const struct daq_channel *channel = &meter->channel[rail->channel];
	int64_t ua = channel->lsb;

	if (channel->unit == DAQ_UNIT_NW)
		return channel->lsb;
	/* Constants are unchecked until the device has been opened once. */
	if (channel->unit == DAQ_UNIT_UV && (rail->cal.sens_uv_per_a <= 0 || !rail->cal.turns))
		return 0;
	if (channel->unit == DAQ_UNIT_UV)
		ua = daq_current_ua(&rail->cal, rail->cal.zero_uv + channel->lsb);
	else if (channel->unit != DAQ_UNIT_UA)
		return 0;
	return (uint64_t)daq_power_nw(ua, rail->cal.voltage_uv);
}
