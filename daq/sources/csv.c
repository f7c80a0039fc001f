// SPDX-License-Identifier: GPL-2.0
/* Parsing of sample files. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "sources/csv.h"

struct field {
	const char *text;
	size_t length;
};

static const struct {
	const char *name;
	unsigned int decimals;
} times[] = { { "time_ns", 0 }, { "time_us", 3 }, { "time_ms", 6 }, { "time_s", 9 } };

static const struct {
	const char *name;
	enum daq_unit unit;
	unsigned int decimals;
} units[] = {
	{ "W", DAQ_UNIT_NW, 9 }, { "mW", DAQ_UNIT_NW, 6 }, { "uW", DAQ_UNIT_NW, 3 },
	{ "nW", DAQ_UNIT_NW, 0 }, { "V", DAQ_UNIT_UV, 6 }, { "mV", DAQ_UNIT_UV, 3 },
	{ "uV", DAQ_UNIT_UV, 0 }, { "A", DAQ_UNIT_UA, 6 }, { "mA", DAQ_UNIT_UA, 3 },
	{ "uA", DAQ_UNIT_UA, 0 }, { "J", DAQ_UNIT_NJ, 9 }, { "mJ", DAQ_UNIT_NJ, 6 },
	{ "uJ", DAQ_UNIT_NJ, 3 }, { "nJ", DAQ_UNIT_NJ, 0 }, { "C", DAQ_UNIT_MC, 3 },
	{ "mC", DAQ_UNIT_MC, 0 }, { "ppm", DAQ_UNIT_PPM, 0 }, { "bits", DAQ_UNIT_BITS, 0 },
};

static bool field_is(const struct field *field, const char *text)
{
	return field->length == strlen(text) && !memcmp(field->text, text, field->length);
}

static void trim(struct field *field)
{
	while (field->length && (field->text[0] == ' ' || field->text[0] == '\t')) {
		field->text++;
		field->length--;
	}
	while (field->length && memchr(" \t\r", field->text[field->length - 1], 3))
		field->length--;
}

/* Remove the first field from *rest. Return: false if *rest has no more fields. */
static bool next_field(struct field *rest, struct field *field)
{
	const char *comma;

	if (!rest->text)
		return false;
	*field = *rest;
	comma = memchr(rest->text, ',', rest->length);
	if (comma) {
		field->length = (size_t)(comma - rest->text);
		rest->text = comma + 1;
		rest->length -= field->length + 1;
	} else {
		rest->text = NULL;
	}
	trim(field);
	return true;
}

static int parse_column(const struct field *field, struct daq_channel *column,
			unsigned int *decimals, struct daq_error *err)
{
	const char *dot = memrchr(field->text, '.', field->length);
	struct field unit = { dot ? dot + 1 : NULL, 0 };
	size_t length, i;

	if (!dot || dot == field->text)
		return daq_fail(err, EINVAL, "column '%.*s' has no unit; use for example 12V.mW",
				(int)field->length, field->text);
	length = (size_t)(dot - field->text);
	unit.length = field->length - length - 1;
	if (length >= sizeof(column->name))
		return daq_fail(err, EINVAL, "a column name is longer than %zu bytes",
				sizeof(column->name) - 1);
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!field_is(&unit, units[i].name))
			continue;
		memset(column, 0, sizeof(*column));
		memcpy(column->name, field->text, length);
		column->unit = units[i].unit;
		*decimals = units[i].decimals;
		return 0;
	}
	return daq_fail(err, EINVAL,
			"column '%.*s' has an unknown unit; known units: W, V, A and J, with m, u or n, C, mC, ppm and bits",
			(int)field->length, field->text);
}

/* Parse the column of the time. */
static int take_time(const struct field *field, struct daq_csv_layout *layout,
		     struct daq_error *err)
{
	size_t i;

	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		if (field_is(field, times[i].name))
			break;
	if (i == sizeof(times) / sizeof(times[0]))
		return daq_fail(err, EINVAL,
				"the first column is '%.*s'; it must be time_ns, time_us, time_ms or time_s",
				(int)field->length, field->text);
	layout->has_time = true;
	layout->time_decimals = times[i].decimals;
	return 0;
}

static int take_columns(struct field *rest, struct daq_csv_layout *layout, struct daq_error *err)
{
	struct field field = { 0 };
	size_t i, j;
	int error;

	for (i = 0; next_field(rest, &field); i++) {
		if (i == DAQ_MAX_CHANNELS)
			return daq_fail(err, EINVAL, "there are more than %d columns",
					DAQ_MAX_CHANNELS);
		error = parse_column(&field, &layout->column[i], &layout->decimals[i], err);
		if (error)
			return error;
		for (j = 0; j < i; j++)
			if (!strcmp(layout->column[i].name, layout->column[j].name))
				return daq_fail(err, EINVAL, "two columns are called '%s'",
						layout->column[i].name);
	}
	layout->nr_columns = i;
	return i ? 0 : daq_fail(err, EINVAL, "there is no column besides the time");
}

int daq_csv_header(const char *line, size_t length, struct daq_csv_layout *layout,
		   struct daq_error *err)
{
	struct field rest = { line, length }, field = { 0 };
	int error;

	next_field(&rest, &field);
	error = take_time(&field, layout, err);
	return error ? error : take_columns(&rest, layout, err);
}

int daq_csv_columns(const char *line, size_t length, struct daq_csv_layout *layout,
		    struct daq_error *err)
{
	struct field rest = { line, length }, field = { 0 };

	next_field(&rest, &field);
	/* A channel has a unit, behind a dot. */
	if (!memchr(field.text, '.', field.length))
		return daq_csv_header(line, length, layout, err);
	layout->has_time = false;
	rest = (struct field){ line, length };
	return take_columns(&rest, layout, err);
}

static int parse_time(const struct field *field, const struct daq_csv_layout *layout,
		      uint64_t *at_ns, struct daq_error *err)
{
	int64_t at;

	if (daq_parse_fixed(field->text, field->length, layout->time_decimals, &at))
		return daq_fail(err, EINVAL, "the time '%.*s' is not a valid number",
				(int)field->length, field->text);
	if (at < 0)
		return daq_fail(err, EINVAL, "the time %.*s is negative", (int)field->length,
				field->text);
	*at_ns = (uint64_t)at;
	return 0;
}

int daq_csv_line(const char *line, size_t length, const struct daq_csv_layout *layout,
		 uint64_t *at_ns, int64_t *value, struct daq_error *err)
{
	struct field rest = { line, length }, field = { 0 };
	size_t i;
	int error;

	trim(&rest);
	if (!rest.length || rest.text[0] == '#')
		return 0;
	if (layout->has_time) {
		next_field(&rest, &field);
		error = parse_time(&field, layout, at_ns, err);
		if (error)
			return error;
	}
	for (i = 0; next_field(&rest, &field); i++) {
		if (i == layout->nr_columns)
			return daq_fail(err, EINVAL, "there are more than %zu values",
					layout->nr_columns);
		value[i] = DAQ_ABSENT;
		if (field.length && (daq_parse_fixed(field.text, field.length, layout->decimals[i],
						     &value[i]) || value[i] == DAQ_ABSENT))
			return daq_fail(err, EINVAL, "the value '%.*s' of '%s' is not a valid number",
					(int)field.length, field.text, layout->column[i].name);
	}
	if (i < layout->nr_columns)
		return daq_fail(err, EINVAL, "found %zu values, expected %zu", i,
				layout->nr_columns);
	return 1;
}

static int grow(struct daq_csv *csv, size_t *room)
{
	size_t wanted = *room ? *room * 2 : 1024;
	uint64_t *at_ns = reallocarray(csv->at_ns, wanted, sizeof(*at_ns));
	int64_t *value;

	if (!at_ns)
		return -ENOMEM;
	csv->at_ns = at_ns;
	value = reallocarray(csv->value, wanted * csv->layout.nr_columns, sizeof(*value));
	if (!value)
		return -ENOMEM;
	csv->value = value;
	*room = wanted;
	return 0;
}

/* Return: as daq_csv_line(); may increase csv->nr_rows. */
static int parse_row(const char *line, size_t length, struct daq_csv *csv, size_t *room,
		     struct daq_error *err)
{
	size_t row = csv->nr_rows;
	int found;

	if (row == *room && grow(csv, room))
		return daq_fail(err, ENOMEM, "out of memory");
	found = daq_csv_line(line, length, &csv->layout, &csv->at_ns[row],
			     csv->value + row * csv->layout.nr_columns, err);
	if (found > 0 && row && csv->at_ns[row] < csv->at_ns[row - 1])
		return daq_fail(err, EINVAL, "time goes backwards");
	csv->nr_rows += found > 0;
	return found;
}

int daq_csv_parse(const char *text, size_t length, struct daq_csv *csv, struct daq_error *err)
{
	const char *end = text + length;
	bool has_header = false;
	struct daq_error inner;
	unsigned long number;
	size_t room = 0;
	int error = 0;

	memset(csv, 0, sizeof(*csv));
	for (number = 1; text < end; number++) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t bytes = (size_t)((stop ? stop : end) - text);

		if (memchr(text, '\0', bytes)) {
			error = daq_fail(&inner, EINVAL, "it has a NUL byte: the file is damaged");
		} else if (has_header) {
			error = parse_row(text, bytes, csv, &room, &inner);
		} else if (bytes && text[0] != '#' && text[0] != '\r') {
			error = daq_csv_header(text, bytes, &csv->layout, &inner);
			has_header = true;
		}
		if (error < 0) {
			daq_csv_free(csv);
			return daq_fail(err, -error, "line %lu: %s", number, inner.text);
		}
		text += bytes + (stop ? 1 : 0);
	}
	if (!csv->nr_rows) {
		daq_csv_free(csv);
		return daq_fail(err, EINVAL, "the file has no values");
	}
	return 0;
}

void daq_csv_free(struct daq_csv *csv)
{
	free(csv->at_ns);
	free(csv->value);
	csv->at_ns = NULL;
	csv->value = NULL;
	csv->nr_rows = 0;
}
