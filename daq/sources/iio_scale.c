// SPDX-License-Identifier: GPL-2.0
/* Documentation/ABI/testing/sysfs-bus-iio: voltages in mV, currents in mA, power in mW, energy J */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "sources/iio_scale.h"

bool daq_iio_unit(const char *id, enum daq_unit *unit, double *factor)
{
	static const struct {
		const char *prefix;
		enum daq_unit unit;
		double factor;
	} known[] = {
		{ "voltage", DAQ_UNIT_UV, 1e3 },
		{ "current", DAQ_UNIT_UA, 1e3 },
		{ "power", DAQ_UNIT_NW, 1e6 },
		{ "energy", DAQ_UNIT_NJ, 1e9 },
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strncmp(id, known[i].prefix, strlen(known[i].prefix)))
			continue;
		*unit = known[i].unit;
		*factor = known[i].factor;
		return true;
	}
	return false;
}

int64_t daq_iio_value(const struct daq_iio_scale *scale, double raw)
{
	double value = (raw + scale->offset) * scale->scale * scale->factor;

	/* NaN compares false. */
	if (!(fabs(value) < 9e18))
		return DAQ_ABSENT;
	return llround(value);
}

void daq_iio_range(const struct daq_iio_scale *scale, unsigned int bits, bool is_signed,
		   int64_t *low, int64_t *high)
{
	double steps = 1;
	int64_t first, last;

	*low = 0;
	*high = 0;
	/* More bits are computed, and end nowhere near the converter's range. */
	if (bits < 2 || bits > 32 || !(scale->scale * scale->factor > 0))
		return;
	for (; bits > is_signed; bits--)
		steps *= 2;
	first = daq_iio_value(scale, is_signed ? -steps : 0);
	last = daq_iio_value(scale, steps - 1);
	if (first == DAQ_ABSENT || last == DAQ_ABSENT || first == last)
		return;
	*low = is_signed ? first : INT64_MIN;
	*high = last;
}
