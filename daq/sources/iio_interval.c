// SPDX-License-Identifier: GPL-2.0
/* The median of steps. */
#include "sources/iio_interval.h"

uint64_t daq_iio_interval_add(struct daq_iio_interval *interval, uint64_t step_ns)
{
	uint64_t *step = interval->step_ns;
	uint32_t i;

	if (interval->nr_steps < DAQ_IIO_STEPS) {
		for (i = interval->nr_steps++; i && step[i - 1] > step_ns; i--)
			step[i] = step[i - 1];
		step[i] = step_ns;
	}
	return interval->nr_steps == DAQ_IIO_STEPS ? step[DAQ_IIO_STEPS / 2] : 0;
}
