/* SPDX-License-Identifier: GPL-2.0 */
/* channel.h - what sources measure, and what the user wants of them */
#ifndef SPEK_DAQ_CHANNEL_H
#define SPEK_DAQ_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

#define DAQ_MAX_CHANNELS 64
#define DAQ_NAME_MAX 64

/* a channel's value that a scan could not give */
#define DAQ_ABSENT INT64_MIN

/**
 * enum daq_unit - what the values of a channel are
 * @DAQ_UNIT_UV: microvolt: a voltage, or the output of a current transducer (calibrate.h)
 * @DAQ_UNIT_UA: microampere
 * @DAQ_UNIT_NW: nanowatt
 * @DAQ_UNIT_NJ: nanojoule since some start; never falls (energy_counter.h unwraps)
 * @DAQ_UNIT_BITS: a word of digital inputs
 */
enum daq_unit {
	DAQ_UNIT_UV,
	DAQ_UNIT_UA,
	DAQ_UNIT_NW,
	DAQ_UNIT_NJ,
	DAQ_UNIT_BITS,
};

/**
 * struct daq_channel - one channel of a source
 * @name: as in the rails file ("AIN3", "nvme/power1", "intel-rapl:0", a CSV's column...)
 * @unit: set by open
 * @delay_ns: set by open or start: this channel is sampled so long after its scan begins
 * @lsb: set by open or start: least step of its values, in @unit; 0: not known
 */
struct daq_channel {
	char name[DAQ_NAME_MAX];
	enum daq_unit unit;
	uint32_t delay_ns;
	uint32_t lsb;
};

/**
 * struct daq_setting - one line of the source's own table in the rails file, or of --set
 * @key: e.g. "serial"
 * @value: as written; numbers in decimal, true and false
 * @used: a source has asked for it; one that nobody asks for is wrong input
 */
struct daq_setting {
	char key[DAQ_NAME_MAX];
	char value[256];
	bool used;
};

/**
 * struct daq_setup - what the user wants of a source; const for sources but for the marks
 * @interval_ns: wanted time between scans; 0: the source's own choice
 * @sysfs: where sysfs is mounted, "/sys" outside of tests
 * @setting: use daq_setting_*() to read them
 */
struct daq_setup {
	uint64_t interval_ns;
	const char *sysfs;
	struct daq_setting *setting;
	size_t nr_settings;
};

/*
 * Read a setting. Return: 0, or -EINVAL with a sentence when it is there and is no number, or
 * not within [min, max]. When it is not there, *value stays.
 */
int daq_setting_number(const struct daq_setup *setup, const char *key, int64_t min, int64_t max,
		       int64_t *value, struct daq_error *err);
int daq_setting_bool(const struct daq_setup *setup, const char *key, bool *value,
		     struct daq_error *err);
/* Return: the text, or NULL. */
const char *daq_setting_text(const struct daq_setup *setup, const char *key);

#endif
