// SPDX-License-Identifier: GPL-2.0
/* Loading rails files, and resolving their channels. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/rails.h"
#include "file.h"

bool daq_name_is_good(const char *name)
{
	size_t length = strlen(name), i;

	for (i = 0; i < length; i++)
		if (name[i] <= ' ' || name[i] > '~')
			return false;
	return length && length <= SPEK_PROBER_MAX_NAME;
}

int daq_rails_load(const char *path, const struct daq_stop *stop, struct daq_rails *rails,
		   struct daq_error *err)
{
	struct daq_error inner;
	size_t length = 0;
	char *text = NULL;
	int error = daq_file_read(path, stop, &text, &length, err);

	if (error)
		return error;
	error = daq_rails_parse(text, length, rails, &inner);
	free(text);
	return error ? daq_fail(err, -error, "%s: %s", path, inner.text) : 0;
}

/* Return: index of a channel, which is added if missing; -1 if there is no room. */
static int channel_index(struct daq_channel *channel, int *nr, const char *name)
{
	int i;

	for (i = 0; i < *nr; i++)
		if (!strcmp(channel[i].name, name))
			return i;
	if (*nr == DAQ_MAX_CHANNELS)
		return -1;
	memset(&channel[i], 0, sizeof(channel[i]));
	memcpy(channel[i].name, name, strlen(name));
	return (*nr)++;
}

int daq_rails_resolve(const struct daq_rails *rails, struct daq_meter *meter,
		      struct daq_channel *channel, struct daq_error *err)
{
	int nr = 0;
	size_t i;

	memset(meter, 0, sizeof(*meter));
	meter->channel = channel;
	for (i = 0; i < rails->nr_rails; i++) {
		const struct daq_rail_spec *spec = &rails->rail[i];
		struct daq_rail *rail = &meter->rail[i];

		memcpy(rail->name, spec->name, sizeof(rail->name));
		rail->cal = spec->cal;
		rail->channel = channel_index(channel, &nr, spec->channel);
		rail->voltage_channel = -1;
		if (spec->voltage_channel[0])
			rail->voltage_channel = channel_index(channel, &nr, spec->voltage_channel);
		if (rail->channel < 0 || (spec->voltage_channel[0] && rail->voltage_channel < 0))
			return daq_fail(err, EINVAL, "the rails need more than %d channels",
					DAQ_MAX_CHANNELS);
	}
	for (i = 0; i < rails->nr_also; i++)
		if (channel_index(channel, &nr, rails->also[i]) < 0)
			return daq_fail(err, EINVAL,
					"the rails and --also need more than %d channels",
					DAQ_MAX_CHANNELS);
	meter->nr_rails = rails->nr_rails;
	return nr;
}
