// SPDX-License-Identifier: GPL-2.0
/* From bytes to lines, and from lines to scans. */
#include <errno.h>
#include <string.h>

#include "sources/lines.h"

void daq_lines_init(struct daq_lines *lines, uint64_t start_ns)
{
	memset(lines, 0, sizeof(*lines));
	lines->start_ns = start_ns;
	lines->last_ns = start_ns;
}

char *daq_lines_room(struct daq_lines *lines, size_t *room)
{
	memmove(lines->text, lines->text + lines->taken, lines->length - lines->taken);
	lines->length -= lines->taken;
	lines->taken = 0;
	if (lines->length == sizeof(lines->text)) {
		lines->is_overlong = true;
		lines->length = 0;
	}
	*room = sizeof(lines->text) - lines->length;
	return lines->text + lines->length;
}

void daq_lines_added(struct daq_lines *lines, size_t length)
{
	lines->length += length;
}

bool daq_lines_is_cut(const struct daq_lines *lines)
{
	return lines->is_overlong || lines->taken < lines->length;
}

static int take_header(struct daq_lines *lines, const char *line, size_t length,
		       struct daq_error *err)
{
	int error;

	if (!length || line[0] == '#' || line[0] == '\r')
		return DAQ_LINE_NONE;
	error = daq_csv_columns(line, length, &lines->layout, err);
	if (error)
		return error;
	lines->has_header = true;
	return DAQ_LINE_HEADER;
}

static int check_time(const struct daq_lines *lines, uint64_t at_ns, uint64_t now_ns,
		      struct daq_error *err)
{
	if (at_ns < lines->start_ns)
		return daq_fail(err, EINVAL,
				"its time, %llu ns, is before the start of the program; times must be CLOCK_MONOTONIC",
				(unsigned long long)at_ns);
	if (at_ns > now_ns)
		return daq_fail(err, EINVAL,
				"its time, %llu ns, is in the future; times must be CLOCK_MONOTONIC",
				(unsigned long long)at_ns);
	if (at_ns < lines->last_ns)
		return daq_fail(err, EINVAL, "time goes backwards");
	return 0;
}

static int take_scan(struct daq_lines *lines, const char *line, size_t length, uint64_t now_ns,
		     uint64_t *at_ns, int64_t *value, struct daq_error *err)
{
	int found, error;

	*at_ns = now_ns;
	found = daq_csv_line(line, length, &lines->layout, at_ns, value, err);
	if (found <= 0)
		return found;
	error = check_time(lines, *at_ns, now_ns, err);
	if (error)
		return error;
	lines->last_ns = *at_ns;
	return DAQ_LINE_SCAN;
}

static int take_line(struct daq_lines *lines, const char *line, size_t length, uint64_t now_ns,
		     uint64_t *at_ns, int64_t *value, struct daq_error *err)
{
	if (lines->is_overlong) {
		lines->is_overlong = false;
		return daq_fail(err, EINVAL, "it is longer than %d bytes", DAQ_LINES_MAX);
	}
	if (memchr(line, '\0', length))
		return daq_fail(err, EINVAL, "it has a NUL byte");
	if (!lines->has_header)
		return take_header(lines, line, length, err);
	return take_scan(lines, line, length, now_ns, at_ns, value, err);
}

int daq_lines_next(struct daq_lines *lines, uint64_t now_ns, uint64_t *at_ns, int64_t *value,
		   struct daq_error *err)
{
	const char *line, *end;
	struct daq_error inner;
	int found = DAQ_LINE_NONE;

	while (!found) {
		line = lines->text + lines->taken;
		end = memchr(line, '\n', lines->length - lines->taken);
		if (!end)
			return DAQ_LINE_NONE;
		lines->number++;
		lines->taken += (size_t)(end - line) + 1;
		found = take_line(lines, line, (size_t)(end - line), now_ns, at_ns, value, &inner);
	}
	if (found < 0)
		return daq_fail(err, -found, "line %llu: %s", (unsigned long long)lines->number,
				inner.text);
	return found;
}
