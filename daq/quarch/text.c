// SPDX-License-Identifier: GPL-2.0
/* See text.h. */
#include "quarch/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "number.h"

/* Far below the end of 64 bits when scaled. */
#define MAX_NUMBER 1000000000000ll
/* In ns, with ticks of a us, far below the end of 64 bits: 31 years. */
#define MAX_TICKS 1000000000000000ll

static const struct {
	const char *name;
	enum daq_unit unit;
	int64_t scale;
} units[] = {
	{ "V", DAQ_UNIT_UV, 1000000 }, { "mV", DAQ_UNIT_UV, 1000 }, { "uV", DAQ_UNIT_UV, 1 },
	{ "A", DAQ_UNIT_UA, 1000000 }, { "mA", DAQ_UNIT_UA, 1000 }, { "uA", DAQ_UNIT_UA, 1 },
	{ "mW", DAQ_UNIT_NW, 1000000 }, { "uW", DAQ_UNIT_NW, 1000 }, { "nW", DAQ_UNIT_NW, 1 },
};

#define NR_UNITS (sizeof(units) / sizeof(units[0]))

/* ---- header ---- */

/* The text of the first element called @tag before @end. Return: false if there is none. */
static bool find_element(const char *text, const char *end, const char *tag, const char **from,
			 size_t *length)
{
	char opening[32], closing[32];
	const char *found, *close;

	snprintf(opening, sizeof(opening), "<%s>", tag);
	snprintf(closing, sizeof(closing), "</%s>", tag);
	found = memmem(text, (size_t)(end - text), opening, strlen(opening));
	if (!found)
		return false;
	found += strlen(opening);
	close = memmem(found, (size_t)(end - found), closing, strlen(closing));
	if (!close)
		return false;
	*from = found;
	*length = (size_t)(close - found);
	return true;
}

static bool copy_element(const char *text, const char *end, const char *tag, char *to, size_t room)
{
	const char *from;
	size_t length;

	if (!find_element(text, end, tag, &from, &length) || !length || length >= room)
		return false;
	for (size_t i = 0; i < length; i++)
		if (from[i] <= ' ' || from[i] > '~' || strchr("<>&,/", from[i]))
			return false;
	memcpy(to, from, length);
	to[length] = '\0';
	return true;
}

static int64_t end_of(const char *text, const char *end, int64_t scale)
{
	char number[24];
	int64_t value;

	if (!copy_element(text, end, "maxTValue", number, sizeof(number)) ||
	    daq_parse_fixed(number, strlen(number), 0, &value) || value <= 0 || value > MAX_NUMBER)
		return 0;
	return value * scale;
}

static void name_column(struct quarch_column *column, const char *name, const char *group)
{
	if (column->unit == DAQ_UNIT_NW)
		snprintf(column->name, sizeof(column->name), "%s", name);
	else
		snprintf(column->name, sizeof(column->name), "%s/%s", name, group);
}

/* Return: whether it has a name, and no other column has that. */
static bool take_column(struct quarch_header *header, const char *text, const char *end)
{
	struct quarch_column *column = &header->column[header->nr];
	char name[24], group[24], unit[8];
	size_t i = 0;

	if (!copy_element(text, end, "name", name, sizeof(name)) ||
	    !copy_element(text, end, "group", group, sizeof(group)) ||
	    !copy_element(text, end, "units", unit, sizeof(unit)))
		return false;
	while (i < NR_UNITS && strcmp(unit, units[i].name))
		i++;
	header->nr++;
	if (i == NR_UNITS)
		return !strcmp(unit, "NA");
	column->is_measured = true;
	column->unit = units[i].unit;
	column->scale = units[i].scale;
	column->end = end_of(text, end, column->scale);
	name_column(column, name, group);
	header->nr_measured++;
	for (i = 0; i + 1 < header->nr; i++)
		if (!strcmp(header->column[i].name, column->name))
			return false;
	return true;
}

static uint32_t tick_of(const char *text, const char *end)
{
	char period[24];

	/* Where nothing but the main period is given, rows have its unit. */
	if (copy_element(text, end, "devicePeriod", period, sizeof(period)) ||
	    copy_element(text, end, "devicePerioduS", period, sizeof(period)))
		return 1000;
	if (!copy_element(text, end, "mainPeriod", period, sizeof(period)))
		return 0;
	return strstr(period, "ns") || strstr(period, "nS") ? 1 : 1000;
}

int quarch_header_parse(struct quarch_header *header, const char *text, struct daq_error *err)
{
	const char *end = text + strlen(text), *from, *channel;
	char version[8];
	size_t length, bytes;

	memset(header, 0, sizeof(*header));
	if (!strstr(text, "<?xml version=") ||
	    !copy_element(text, end, "version", version, sizeof(version)) ||
	    strcmp(version, "V3"))
		return daq_fail(err, EIO, "QIS gives no stream header of version V3");
	if (strstr(text, "<groups>"))
		return daq_fail(err, EIO,
				"the module has several sampling rates, which spek-daq does not support");
	header->tick_ns = tick_of(text, end);
	if (!header->tick_ns || !find_element(text, end, "channels", &from, &length))
		return daq_fail(err, EIO, "the stream header of QIS has no period or no channels");
	end = from + length;
	while (find_element(from, end, "channel", &channel, &bytes)) {
		if (header->nr == QUARCH_MAX_COLUMNS ||
		    !take_column(header, channel, channel + bytes))
			return daq_fail(err, EIO,
					"channel %zu in the stream header of QIS is not one that spek-daq knows",
					header->nr);
		from = channel + bytes;
	}
	if (!header->nr_measured)
		return daq_fail(err, EIO, "the stream header of QIS has no channel with a unit");
	return 0;
}

/* ---- rows ---- */

/* Return: number of fields; more than @max if there are more. */
static size_t split(const char *text, size_t length, int64_t *number, size_t max)
{
	const char *end = text + length;
	size_t nr = 0;

	for (;;) {
		const char *from;

		while (text < end && *text == ' ')
			text++;
		if (text == end)
			return nr;
		from = text;
		while (text < end && *text != ' ')
			text++;
		if (nr == max || memchr(from, '.', (size_t)(text - from)) ||
		    daq_parse_fixed(from, (size_t)(text - from), 0, &number[nr]))
			return max + 1;
		nr++;
	}
}

int quarch_row_parse(const struct quarch_header *header, const char *text, size_t length,
		     uint64_t *at, int64_t *value)
{
	int64_t number[QUARCH_MAX_COLUMNS + 1];
	size_t nr = split(text, length, number, header->nr + 1), next = 1;
	bool has_all = nr == header->nr + 1;

	if ((!has_all && nr != header->nr_measured + 1) || number[0] < 0 || number[0] > MAX_TICKS)
		return -EINVAL;
	for (size_t i = 0; i < header->nr; i++) {
		const struct quarch_column *column = &header->column[i];

		value[i] = DAQ_ABSENT;
		if (!column->is_measured) {
			next += has_all;
			continue;
		}
		if (number[next] > MAX_NUMBER || number[next] < -MAX_NUMBER)
			return -EINVAL;
		value[i] = number[next++] * column->scale;
	}
	*at = (uint64_t)number[0];
	return 0;
}
