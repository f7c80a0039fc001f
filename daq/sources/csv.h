/* SPDX-License-Identifier: GPL-2.0 */
/*
 * csv.h - parser of sample files, and of the same lines from a program (lines.h). Pure.
 *
 * The first line names the columns: the time (time_ns, time_us, time_ms or time_s), then
 * NAME.UNIT for each channel, with UNIT one of W mW uW nW, V mV uV, A mA uA, J mJ uJ nJ, C mC, ppm, bits. An
 * empty field is a missing value: power between its neighbours is unknown. Empty lines and lines
 * that start with # are skipped. The output of spek-daq --print is such a file.
 */
#ifndef SPEK_DAQ_SOURCES_CSV_H
#define SPEK_DAQ_SOURCES_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "channel.h"
#include "error.h"

/**
 * struct daq_csv_layout - the columns
 * @has_time: the first column is the time
 * @time_decimals: decimal exponent from the time's unit to ns
 * @nr_columns: number of columns after the time
 * @column: names and units of the columns
 * @decimals: decimal exponent from a column's unit to the one of enum daq_unit
 */
struct daq_csv_layout {
	bool has_time;
	unsigned int time_decimals;
	size_t nr_columns;
	struct daq_channel column[DAQ_MAX_CHANNELS];
	unsigned int decimals[DAQ_MAX_CHANNELS];
};

/**
 * daq_csv_header() - parse the header line
 * @line: without the newline
 * Return: 0, or -EINVAL and a sentence without the file's name.
 */
int daq_csv_header(const char *line, size_t length, struct daq_csv_layout *layout,
		   struct daq_error *err);

/** daq_csv_columns() - as daq_csv_header(), but the column of the time may be missing. */
int daq_csv_columns(const char *line, size_t length, struct daq_csv_layout *layout,
		    struct daq_error *err);

/**
 * daq_csv_line() - parse a line of values
 * @at_ns: unchanged if there is no time
 * @value: layout->nr_columns values
 * Return: 1; 0: the line is empty or a comment; -EINVAL and a sentence.
 */
int daq_csv_line(const char *line, size_t length, const struct daq_csv_layout *layout,
		 uint64_t *at_ns, int64_t *value, struct daq_error *err);

/**
 * struct daq_csv - contents of a file
 * @layout: its columns
 * @nr_rows: number of scans
 * @at_ns: times, in order
 * @value: nr_rows * layout.nr_columns values
 */
struct daq_csv {
	struct daq_csv_layout layout;
	size_t nr_rows;
	uint64_t *at_ns;
	int64_t *value;
};

/**
 * daq_csv_parse() - parse a file; sentences name the line
 * Return: 0; -EINVAL: invalid, or without values, or time goes backwards; -ENOMEM. After success,
 * free the contents with daq_csv_free().
 */
int daq_csv_parse(const char *text, size_t length, struct daq_csv *csv, struct daq_error *err);
void daq_csv_free(struct daq_csv *csv);

#endif
