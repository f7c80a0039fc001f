/* SPDX-License-Identifier: GPL-2.0 */
/* channel.h - channels of a source, its settings, and its requested interval */
#ifndef SPEK_DAQ_CHANNEL_H
#define SPEK_DAQ_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "stop.h"

#define DAQ_MAX_CHANNELS 64
#define DAQ_NAME_MAX 64
#define DAQ_DEVICE_MAX 512

/* value of a channel that has none in this scan */
#define DAQ_ABSENT INT64_MIN

/**
 * enum daq_unit - unit of a channel's values
 * @DAQ_UNIT_UV: microvolt: a voltage, or the output of a current transducer (calibrate.h)
 * @DAQ_UNIT_UA: microampere
 * @DAQ_UNIT_NW: nanowatt
 * @DAQ_UNIT_NJ: nanojoule since an arbitrary start, never decreasing (energy_counter.h unwraps)
 * @DAQ_UNIT_PPM: a ratio in millionths, such as a power factor
 * @DAQ_UNIT_BITS: a word of digital inputs
 * @DAQ_UNIT_MC: a temperature in thousandths of a degree Celsius
 */
enum daq_unit {
	DAQ_UNIT_UV,
	DAQ_UNIT_UA,
	DAQ_UNIT_NW,
	DAQ_UNIT_NJ,
	DAQ_UNIT_PPM,
	DAQ_UNIT_BITS,
	DAQ_UNIT_MC,
};

/**
 * struct daq_channel - one channel of a source
 * @name: as in the rails file ("AIN3", "nvme/power1", "intel-rapl:0", a CSV column...)
 * @unit: set by open
 * @delay_ns: set by open or start: time from the start of a scan to the sampling of this channel
 * @lsb: set by open or start: resolution of its values, in @unit; 0: unknown
 * @low: set by open or start: end of its range, in @unit; a value there may be any lower than it
 * @high: the other end; a source that knows no range leaves both 0
 * @device: set by the first open and valid for all later ones: the device that the number in @name
 *	stood for (identity.h); "" if @name has no such number
 * @is_part: set by discover: another channel measures this power too, so that it is no rail
 *	without a rails file
 */
struct daq_channel {
	char name[DAQ_NAME_MAX];
	enum daq_unit unit;
	uint32_t delay_ns;
	uint32_t lsb;
	int64_t low;
	int64_t high;
	char device[DAQ_DEVICE_MAX];
	bool is_part;
};

/**
 * struct daq_setting - one line of [settings] in the rails file, or one --set
 * @key: e.g. "serial"
 * @value: as written; numbers in decimal, true and false
 * @used: the source has read it; a setting that is never read is invalid input
 */
struct daq_setting {
	char key[DAQ_NAME_MAX];
	char value[256];
	bool used;
};

/**
 * struct daq_setup - the user's request to a source; const for sources, except daq_setting.used
 * @interval_ns: requested scan interval; 0: the source's default
 * @sysfs: mount point of sysfs, "/sys" except in tests
 * @setting: settings; read them with daq_setting_*()
 * @nr_settings: length of @setting
 * @stop: request to end, which ends the source's waits for its device with -ECANCELED
 */
struct daq_setup {
	uint64_t interval_ns;
	const char *sysfs;
	struct daq_setting *setting;
	size_t nr_settings;
	const struct daq_stop *stop;
};

/*
 * Read a setting. Return: 0, or -EINVAL and a sentence if it is not a whole number in [min, max],
 * or not true or false. If the setting is missing, *value is unchanged.
 */
int daq_setting_number(const struct daq_setup *setup, const char *key, int64_t min, int64_t max,
		       int64_t *value, struct daq_error *err);
int daq_setting_bool(const struct daq_setup *setup, const char *key, bool *value,
		     struct daq_error *err);
/* Return: the text, or NULL if the setting is missing. */
const char *daq_setting_text(const struct daq_setup *setup, const char *key);

#endif
