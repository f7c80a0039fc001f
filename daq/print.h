/* SPDX-License-Identifier: GPL-2.0 */
/* print.h - samples as CSV, in the format of source replay: on standard output, or in a file */
#ifndef SPEK_DAQ_PRINT_H
#define SPEK_DAQ_PRINT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "bridge.h"

/**
 * struct daq_print - a sink that prints
 * @meter: the rails
 * @nr_channels: number of values in a scan
 * @raw: print channels as the source delivers them, not rails in uW
 * @file: destination
 * @stop: request to end, after which it does not wait for a reader of @file; NULL: no reader can
 *	hold up @file
 * @has_names: the header is written; it waits for the first scan, when the units are known
 */
struct daq_print {
	const struct daq_meter *meter;
	size_t nr_channels;
	bool raw;
	FILE *file;
	const atomic_bool *stop;
	bool has_names;
};

/** daq_print_check() - check the names of the columns. Return: 0, or -EINVAL and a sentence. */
int daq_print_check(const struct daq_print *print, struct daq_error *err);

/** daq_print_scan() - print one scan; a daq_sink.scan whose context is the struct daq_print. */
int daq_print_scan(void *print, uint64_t at_ns, const int64_t *value,
		   const struct spek_prober_power_sample *sample, size_t nr_samples,
		   struct daq_error *err);

/** daq_print_flush() - flush standard output. Return: 0, or -EIO and a sentence. */
int daq_print_flush(struct daq_error *err);

#endif
