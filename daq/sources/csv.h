/* SPDX-License-Identifier: GPL-2.0 */
/*
 * csv.h - a file of samples. Pure: text in, numbers out.
 *
 * The first line names the columns: the time (time_ns, time_us, time_ms or time_s), then
 * NAME.UNIT each, the unit one of W mW uW nW, V mV uV, A mA uA, J mJ uJ nJ. An
 * empty field is a value that is missing; power between its neighbours is then unknown. Lines
 * that are empty or begin with # are skipped. What spek-daq --print writes can be read.
 */
#ifndef SPEK_DAQ_SOURCES_CSV_H
#define SPEK_DAQ_SOURCES_CSV_H

#include <stddef.h>
#include <stdint.h>

#include "channel.h"
#include "error.h"

/**
 * struct daq_csv_layout - the columns
 * @time_decimals: digits between the time's unit and ns
 * @nr_columns: columns after the time
 * @column: their names and units
 * @decimals: digits between the unit as written and the one of enum daq_unit
 */
struct daq_csv_layout {
	unsigned int time_decimals;
	size_t nr_columns;
	struct daq_channel column[DAQ_MAX_CHANNELS];
	unsigned int decimals[DAQ_MAX_CHANNELS];
};

/**
 * daq_csv_header() - read the line of names
 * @line: without its end
 * Return: 0, or -EINVAL and a sentence without the file's name.
 */
int daq_csv_header(const char *line, size_t length, struct daq_csv_layout *layout,
		   struct daq_error *err);

/**
 * daq_csv_line() - read a line of values
 * @value: layout->nr_columns of them
 * Return: 1; 0 if there is nothing in this line; -EINVAL and a sentence.
 */
int daq_csv_line(const char *line, size_t length, const struct daq_csv_layout *layout,
		 uint64_t *at_ns, int64_t *value, struct daq_error *err);

/**
 * struct daq_csv - a file that was read whole
 * @at_ns: in order
 * @value: nr_rows * layout.nr_columns
 */
struct daq_csv {
	struct daq_csv_layout layout;
	size_t nr_rows;
	uint64_t *at_ns;
	int64_t *value;
};

/**
 * daq_csv_parse() - read all lines; sentences name the line
 * Return: 0; -EINVAL: also when time goes back, or there are no values; -ENOMEM. Free with
 * daq_csv_free() after success.
 */
int daq_csv_parse(const char *text, size_t length, struct daq_csv *csv, struct daq_error *err);
void daq_csv_free(struct daq_csv *csv);

#endif
