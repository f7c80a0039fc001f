/* SPDX-License-Identifier: GPL-2.0 */
/* iio_interval.h - scan interval of a device that does not report it, from scan times. Pure. */
#ifndef SPEK_DAQ_SOURCES_IIO_INTERVAL_H
#define SPEK_DAQ_SOURCES_IIO_INTERVAL_H

#include <stdint.h>

#define DAQ_IIO_STEPS 15

/**
 * struct daq_iio_interval - steps seen so far; initially zero
 * @step_ns: times from scan to scan, in ascending order
 * @nr_steps: number of steps in @step_ns
 */
struct daq_iio_interval {
	uint64_t step_ns[DAQ_IIO_STEPS];
	uint32_t nr_steps;
};

/**
 * daq_iio_interval_add() - add the time between two successive scans
 * Return: the median of the first DAQ_IIO_STEPS steps, which late or lost scans do not shift; 0
 * until then.
 */
uint64_t daq_iio_interval_add(struct daq_iio_interval *interval, uint64_t step_ns);

#endif
