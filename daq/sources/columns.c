// SPDX-License-Identifier: GPL-2.0
/* From channels to columns. */
#include <errno.h>
#include <string.h>

#include "sources/columns.h"

static size_t column_of(const struct daq_csv_layout *layout, const char *name)
{
	size_t i;

	for (i = 0; i < layout->nr_columns; i++)
		if (!strcmp(name, layout->column[i].name))
			break;
	return i;
}

int daq_source_columns(struct daq_source *source, const struct daq_csv_layout *layout,
		       const char *what, size_t *column, struct daq_error *err)
{
	size_t i, j;

	for (i = 0; i < source->nr_channels; i++) {
		struct daq_channel *channel = &source->channel[i];

		j = column_of(layout, channel->name);
		if (j == layout->nr_columns)
			return daq_fail(err, EINVAL, "the %s has no column '%s'", what,
					channel->name);
		if (source->is_reopened && channel->unit != layout->column[j].unit)
			return daq_fail(err, EINVAL,
					"column '%s' of the %s has another unit than before",
					channel->name, what);
		column[i] = j;
		channel->unit = layout->column[j].unit;
	}
	return 0;
}
