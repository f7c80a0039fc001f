/* SPDX-License-Identifier: GPL-2.0 */
/* columns.h - the columns of a file or of a program's lines that are a source's channels */
#ifndef SPEK_DAQ_SOURCES_COLUMNS_H
#define SPEK_DAQ_SOURCES_COLUMNS_H

#include <stddef.h>

#include "error.h"
#include "sources/csv.h"
#include "sources/source.h"

/**
 * daq_source_columns() - find the column of each channel, and set the channels' units
 * @what: what has the columns, for sentences: "file"
 * @column: per channel: index of its column in @layout
 *
 * A source that is reopened keeps its units: its rails were resolved with them.
 *
 * Return: 0, or -EINVAL and a sentence.
 */
int daq_source_columns(struct daq_source *source, const struct daq_csv_layout *layout,
		       const char *what, size_t *column, struct daq_error *err);

#endif
