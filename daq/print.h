/* SPDX-License-Identifier: GPL-2.0 */
/* print.h - samples as CSV on standard output, in the form that source replay reads */
#ifndef SPEK_DAQ_PRINT_H
#define SPEK_DAQ_PRINT_H

#include <stdbool.h>

#include "bridge.h"

/**
 * struct daq_print - a sink
 * @meter: the rails
 * @nr_channels: values of a scan
 * @raw: channels as the source gives them; else rails, in uW
 */
struct daq_print {
	const struct daq_meter *meter;
	size_t nr_channels;
	bool raw;
};

/** daq_print_header() - the line of names. */
void daq_print_header(const struct daq_print *print);

/** daq_print_scan() - for struct daq_sink; its context is the struct daq_print. */
void daq_print_scan(void *print, uint64_t at_ns, const int64_t *value,
		    const struct spek_prober_power_sample *sample, size_t nr_samples);

#endif
