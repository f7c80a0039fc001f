/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rails.h - the rails file
 *
 *	source = "u6"			# name of the source; --source overrides it
 *	name = "csb"			# name of the feed; default: the source's
 *	interval_us = 1000		# scan interval; default: the source's
 *
 *	[settings]			# settings of the source, see spek-daq --help
 *	serial = 360012345
 *
 *	[[rail]]
 *	name = "12V"			# printable, no spaces, at most 31 bytes
 *	channel = "AIN0"		# as the source calls it; default: name
 *	voltage_mv = 12000		# nominal, or measured:
 *	# voltage_channel = "AIN13"
 *	# voltage_scale_ppm = 3000000	# behind a divider: rail's / measured voltage, times 10^6
 *	zero_uv = 2500000		# these three: transducers only, see calibrate.h
 *	sens_uv_per_a = 104167
 *	turns = 1
 */
#ifndef SPEK_DAQ_CONFIG_RAILS_H
#define SPEK_DAQ_CONFIG_RAILS_H

#include <stddef.h>
#include <stdint.h>

#include "calibrate.h"
#include "channel.h"
#include "error.h"
#include "meter.h"
#include "stop.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DAQ_MAX_SETTINGS 64

/**
 * struct daq_rail_spec - one [[rail]]
 * @name: name of the rail
 * @channel: channel that measures it
 * @voltage_channel: channel that measures its voltage; "" if the voltage is nominal
 * @cal: calibration constants
 */
struct daq_rail_spec {
	char name[DAQ_RAIL_NAME_MAX];
	char channel[DAQ_NAME_MAX];
	char voltage_channel[DAQ_NAME_MAX];
	struct daq_calibration cal;
};

/**
 * struct daq_rails - contents of a rails file
 * @source: name of the source; "" if missing
 * @name: name of the feed; "" if missing
 * @interval_ns: scan interval; 0 if missing
 * @setting: settings of the source
 * @nr_settings: length of @setting
 * @rail: the rails
 * @nr_rails: length of @rail
 * @also: further channels to read; not from the file
 * @nr_also: length of @also
 */
struct daq_rails {
	char source[DAQ_RAIL_NAME_MAX];
	char name[DAQ_RAIL_NAME_MAX];
	uint64_t interval_ns;
	struct daq_setting setting[DAQ_MAX_SETTINGS];
	size_t nr_settings;
	struct daq_rail_spec rail[SPEK_PROBER_MAX_RAILS];
	size_t nr_rails;
	char also[DAQ_MAX_CHANNELS][DAQ_NAME_MAX];
	size_t nr_also;
};

/**
 * daq_rails_parse() - parse the text of a rails file; pure
 * Return: 0, or -EINVAL and a sentence that names the line.
 */
int daq_rails_parse(const char *text, size_t length, struct daq_rails *rails,
		    struct daq_error *err);

/**
 * daq_rails_load() - read a rails file
 * @stop: as of daq_file_read()
 * Return: as daq_rails_parse() or daq_file_read().
 */
int daq_rails_load(const char *path, const struct daq_stop *stop, struct daq_rails *rails,
		   struct daq_error *err);

/**
 * daq_rails_resolve() - assign channel indices to the rails
 * @channel: filled with the channels that the rails use, then with further ones, without
 *	duplicates
 * Return: number of channels, or -EINVAL and a sentence.
 */
int daq_rails_resolve(const struct daq_rails *rails, struct daq_meter *meter,
		      struct daq_channel *channel, struct daq_error *err);

/** daq_name_is_good() - Return: true if the prober accepts @name as a name. */
bool daq_name_is_good(const char *name);

#ifdef __cplusplus
}
#endif

#endif
