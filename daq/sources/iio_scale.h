/* SPDX-License-Identifier: GPL-2.0 */
/* iio_scale.h - conversion of IIO's units to those of enum daq_unit. Pure. */
#ifndef SPEK_DAQ_SOURCES_IIO_SCALE_H
#define SPEK_DAQ_SOURCES_IIO_SCALE_H

#include <stdbool.h>
#include <stdint.h>

#include "channel.h"

/**
 * struct daq_iio_scale - value = (raw + offset) * scale in the ABI's unit (mV, mA, mW, J), times
 * @factor, which makes it one of enum daq_unit
 */
struct daq_iio_scale {
	double offset;
	double scale;
	double factor;
};

/**
 * daq_iio_unit() - derive the unit from a channel's id: "voltage0", "current1", "power0", "energy0"
 * Return: false if the channel cannot contribute to power.
 */
bool daq_iio_unit(const char *id, enum daq_unit *unit, double *factor);

/** daq_iio_value() - Return: the scaled value, or DAQ_ABSENT if it is not representable. */
int64_t daq_iio_value(const struct daq_iio_scale *scale, double raw);

/**
 * daq_iio_range() - derive the range of values from the raw ones, which have @bits
 * @low: INT64_MIN if the lowest raw value is 0, which is a measurement
 * Both are 0 if the range is unknown.
 */
void daq_iio_range(const struct daq_iio_scale *scale, unsigned int bits, bool is_signed,
		   int64_t *low, int64_t *high);

#endif
