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
 * @has_names: the line of names is written: before the first scan, when units are known
 */
struct daq_print {
	const struct daq_meter *meter;
	size_t nr_channels;
	bool raw;
	bool has_names;
};

/** daq_print_scan() - for struct daq_sink; its context is the struct daq_print. */
int daq_print_scan(void *print, uint64_t at_ns, const int64_t *value,
		   const struct spek_prober_power_sample *sample, size_t nr_samples,
		   struct daq_error *err);

/** daq_print_flush() - Return: 0 if all that was printed is out, or -EIO and a sentence. */
int daq_print_flush(struct daq_error *err);

#endif
