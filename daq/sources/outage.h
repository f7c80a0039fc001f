/* SPDX-License-Identifier: GPL-2.0 */
/* outage.h - channels that cannot be read while others of their source can */
#ifndef SPEK_DAQ_SOURCES_OUTAGE_H
#define SPEK_DAQ_SOURCES_OUTAGE_H

#include "sources/source.h"

/* in place of an error: the channel was missing before this scan */
#define DAQ_STILL_MISSING 1

/**
 * struct daq_outages - outages of a source's channels; initially zero
 * @said: last reported reason why a channel is missing, "" if it is not
 */
struct daq_outages {
	struct daq_error said[DAQ_MAX_CHANNELS];
};

/**
 * typedef daq_find_fn - find channel @index of a source that is being opened
 * Return: 0, or -errno and a sentence.
 */
typedef int daq_find_fn(struct daq_source *source, size_t index, struct daq_error *err);

/**
 * daq_outages_find() - find the channels of a source that is being opened
 *
 * At first, all must be there: the user may have misspelt one. When the source is reopened, those
 * that are back do not wait for the others.
 *
 * Return: number of missing channels; -errno and a sentence if the source cannot be opened.
 */
int daq_outages_find(struct daq_outages *outages, struct daq_source *source, daq_find_fn *find,
		     struct daq_error *err);

/** daq_outage_note() - say why channel @index is missing, if that is new. */
void daq_outage_note(struct daq_outages *outages, size_t index, const struct daq_error *why);

/**
 * daq_outages_scan() - take the outcomes of one scan, and say which channels went or came back
 * @error: per channel: 0: it was read; -errno; DAQ_STILL_MISSING
 * Return: 0, or -ENODEV and a sentence if no channel was read: the device is gone.
 */
int daq_outages_scan(struct daq_outages *outages, const struct daq_source *source,
		     const int *error, struct daq_error *err);

#endif
