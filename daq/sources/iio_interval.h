/* SPDX-License-Identifier: GPL-2.0 */
/* iio_interval.h - how often a device brings scans, by their times, where it doesn't say. Pure. */
#ifndef SPEK_DAQ_SOURCES_IIO_INTERVAL_H
#define SPEK_DAQ_SOURCES_IIO_INTERVAL_H

#include <stdint.h>

#define DAQ_IIO_STEPS 15

/**
 * struct daq_iio_interval - begins as zeros
 * @step_ns: from scan to scan, the shortest first
 * @nr_steps: of them
 */
struct daq_iio_interval {
	uint64_t step_ns[DAQ_IIO_STEPS];
	uint32_t nr_steps;
};

/**
 * daq_iio_interval_add() - a scan came @step_ns after the one before
 * Return: the median of the first DAQ_IIO_STEPS, which late scans and lost ones don't move; 0
 * before.
 */
uint64_t daq_iio_interval_add(struct daq_iio_interval *interval, uint64_t step_ns);

#endif
