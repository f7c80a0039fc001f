/* SPDX-License-Identifier: GPL-2.0 */
/*
 * text.h - replies of QIS, Quarch's instrument server, about a module's stream: header and rows
 *
 * By the help text of QIS, a header (V3) is XML, and a row is the time and a whole number for each
 * channel. The channel without a unit, the status, may have no number: the row is shorter then.
 * Pure.
 */
#ifndef SPEK_DAQ_QUARCH_TEXT_H
#define SPEK_DAQ_QUARCH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "channel.h"
#include "error.h"

#define QUARCH_MAX_COLUMNS DAQ_MAX_CHANNELS

/**
 * struct quarch_column - one channel of a module
 * @name: NAME for a power, NAME/current or NAME/voltage
 * @is_measured: it has a unit
 * @unit: of its values
 * @scale: a step of the number in a row, in @unit
 * @end: end of its range, in @unit; 0: unknown
 */
struct quarch_column {
	char name[DAQ_NAME_MAX];
	bool is_measured;
	enum daq_unit unit;
	int64_t scale;
	int64_t end;
};

/**
 * struct quarch_header - channels of a stream
 * @column: in the order of a row's numbers
 * @nr: length of @column
 * @nr_measured: how many of them have a unit
 * @tick_ns: unit of a row's time
 */
struct quarch_header {
	struct quarch_column column[QUARCH_MAX_COLUMNS];
	size_t nr;
	size_t nr_measured;
	uint32_t tick_ns;
};

/** quarch_header_parse() - Return: 0, or -EIO and a sentence: what is wrong or not supported. */
int quarch_header_parse(struct quarch_header *header, const char *text, struct daq_error *err);

/**
 * quarch_row_parse() - parse a row
 * @length: bytes of @text, without the end of the line
 * @at: time, in ticks
 * @value: room for QUARCH_MAX_COLUMNS: value of each column, DAQ_ABSENT for those without a unit
 * Return: 0, or -EINVAL: the row is damaged.
 */
int quarch_row_parse(const struct quarch_header *header, const char *text, size_t length,
		     uint64_t *at, int64_t *value);

#endif
