/* SPDX-License-Identifier: GPL-2.0 */
/* iio_scale.h - IIO's units as ours. Pure. */
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
 * daq_iio_unit() - what a channel's id says: "voltage0", "current1", "power0", "energy0"
 * Return: false if it is nothing that power can be made of.
 */
bool daq_iio_unit(const char *id, enum daq_unit *unit, double *factor);

/** daq_iio_value() - Return: the value, or DAQ_ABSENT if it is none. */
int64_t daq_iio_value(const struct daq_iio_scale *scale, double raw);

#endif
