// SPDX-License-Identifier: GPL-2.0
/* Outages of channels. */
#include <errno.h>
#include <string.h>

#include "say.h"
#include "sources/outage.h"

void daq_outage_note(struct daq_outages *outages, size_t index, const struct daq_error *why)
{
	if (strcmp(why->text, outages->said[index].text))
		daq_say("%s; waiting for it, the other channels continue", why->text);
	outages->said[index] = *why;
}

int daq_outages_find(struct daq_outages *outages, struct daq_source *source, daq_find_fn *find,
		     struct daq_error *err)
{
	struct daq_error why[DAQ_MAX_CHANNELS];
	bool is_missing[DAQ_MAX_CHANNELS] = { false };
	size_t nr_missing = 0, i;
	int error = 0;

	for (i = 0; i < source->nr_channels; i++) {
		int failed;

		if (!source->is_reopened)
			source->channel[i].device[0] = '\0';
		failed = find(source, i, &why[i]);
		if (!failed)
			continue;
		is_missing[i] = true;
		if (!nr_missing++) {
			*err = why[i];
			error = failed;
		}
		if (!source->is_reopened)
			return error;
	}
	if (nr_missing == source->nr_channels)
		return error;
	for (i = 0; i < source->nr_channels; i++)
		if (is_missing[i])
			daq_outage_note(outages, i, &why[i]);
	return (int)nr_missing;
}

static void end_outage(struct daq_outages *outages, size_t index, const char *channel)
{
	if (outages->said[index].text[0])
		daq_say("channel '%s' is back", channel);
	outages->said[index].text[0] = '\0';
}

int daq_outages_scan(struct daq_outages *outages, const struct daq_source *source,
		     const int *error, struct daq_error *err)
{
	bool was_read = false;
	size_t i;

	for (i = 0; i < source->nr_channels; i++)
		was_read = was_read || !error[i];
	for (i = 0; i < source->nr_channels; i++) {
		const char *channel = source->channel[i].name;
		struct daq_error why;

		if (!error[i])
			end_outage(outages, i, channel);
		if (error[i] >= 0)
			continue;
		daq_error_set(&why, "cannot read channel '%s': %s", channel, strerror(-error[i]));
		if (!was_read)
			return daq_fail(err, ENODEV, "%s", why.text);
		daq_outage_note(outages, i, &why);
	}
	return 0;
}
