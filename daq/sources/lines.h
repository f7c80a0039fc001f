/* SPDX-License-Identifier: GPL-2.0 */
/*
 * lines.h - samples from the lines that a program writes. Pure.
 *
 * The format is that of csv.h, with one difference: the column of the time may be missing, then a
 * line's time is that of its arrival. Times are CLOCK_MONOTONIC: they do not decrease, and are
 * between the start of the program and now. Any other line is damaged: it counts as lost.
 */
#ifndef SPEK_DAQ_SOURCES_LINES_H
#define SPEK_DAQ_SOURCES_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "sources/csv.h"

/* room for the header of DAQ_MAX_CHANNELS channels with the longest names */
#define DAQ_LINES_MAX 8192

/**
 * struct daq_lines - bytes of a program, and what is known of its lines; see daq_lines_init()
 * @layout: columns, if @has_header
 * @has_header: the header has been read
 * @is_overlong: the line under way is longer than DAQ_LINES_MAX; its bytes are dropped
 * @start_ns: start of the program
 * @last_ns: time of the last line
 * @number: number of the last line, from 1
 * @taken: bytes of @text that are done with
 * @length: bytes in @text
 * @text: bytes that have arrived
 */
struct daq_lines {
	struct daq_csv_layout layout;
	bool has_header;
	bool is_overlong;
	uint64_t start_ns;
	uint64_t last_ns;
	uint64_t number;
	size_t taken;
	size_t length;
	char text[DAQ_LINES_MAX];
};

/** enum daq_line_kind - what daq_lines_next() has found */
enum daq_line_kind {
	DAQ_LINE_NONE,
	DAQ_LINE_HEADER,
	DAQ_LINE_SCAN,
};

/** daq_lines_init() - begin with a program that has been started at @start_ns. */
void daq_lines_init(struct daq_lines *lines, uint64_t start_ns);

/** daq_lines_room() - Return: where further bytes go, and *@room, which is never 0. */
char *daq_lines_room(struct daq_lines *lines, size_t *room);

/** daq_lines_added() - @length bytes are in the room; if daq_lines_next() has no more lines. */
void daq_lines_added(struct daq_lines *lines, size_t length);

/**
 * daq_lines_next() - take the next whole line
 * @now_ns: arrival of the last bytes
 * @at_ns: time of the scan
 * @value: room for DAQ_MAX_CHANNELS values
 *
 * Empty lines and comments are skipped.
 *
 * Return: enum daq_line_kind; -EINVAL and a sentence: the line is damaged, and lost. Without a
 * header, that means the program does not write this format.
 */
int daq_lines_next(struct daq_lines *lines, uint64_t now_ns, uint64_t *at_ns, int64_t *value,
		   struct daq_error *err);

/** daq_lines_is_cut() - Return: whether the output ends within a line. */
bool daq_lines_is_cut(const struct daq_lines *lines);

#endif
