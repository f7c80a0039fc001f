// SPDX-License-Identifier: GPL-2.0
/* See config.h. */
#include "powersensor3/config.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SUPPLY_V	3.3
#define AT_NAME		16
#define AT_VREF		32
#define AT_SENSITIVITY	36
#define AT_IN_USE	40
/* V per A, or per V: sensors and dividers in use have 0.01 to 1 */
#define MIN_SENSITIVITY	0.0001
#define MAX_SENSITIVITY	1e3
#define OLDEST_MINOR	3

int ps3_version_check(const char *text, struct daq_error *err)
{
	const char *model = strrchr(text, ' ');
	unsigned int chip, major, minor;

	if (sscanf(model ? model + 1 : text, "F%3u-%3u.%3u", &chip, &major, &minor) != 3)
		return daq_fail(err, EIO,
				"the device does not answer as a PowerSensor3: its version is '%s'",
				text);
	if (major != 1 || minor < OLDEST_MINOR)
		return daq_fail(err, EIO,
				"the PowerSensor3 has firmware %u.%u; it must be 1.%u or a later 1.x",
				major, minor, OLDEST_MINOR);
	return 0;
}

static float float_at(const uint8_t *bytes)
{
	uint32_t bits = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
			(uint32_t)bytes[3] << 24;
	float value;

	_Static_assert(sizeof(value) == sizeof(bits), "the device sends IEEE single precision");
	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* Return: 0, or -EIO and a sentence. */
static int fill_table(int64_t *table, unsigned int number, const uint8_t *sensor,
		      struct daq_error *err)
{
	double vref = (double)float_at(sensor + AT_VREF);
	double sensitivity = (double)float_at(sensor + AT_SENSITIVITY);

	/* Also false for NaN. */
	if (!(fabs(vref) <= SUPPLY_V) || !(fabs(sensitivity) >= MIN_SENSITIVITY) ||
	    !(fabs(sensitivity) <= MAX_SENSITIVITY))
		return daq_fail(err, EIO,
				"the PowerSensor3's configuration of sensor %u is implausible (vref %g V, sensitivity %g); psconfig sets it",
				number, vref, sensitivity);
	for (int level = 0; level < PS3_LEVELS; level++)
		table[level] = llround((SUPPLY_V * level / (PS3_LEVELS - 1) - vref) / sensitivity *
				       1e6);
	return 0;
}

/* Names that rails and channels can have; psconfig writes NA where none was given. */
static bool is_usable(const char *name)
{
	for (size_t i = 0; name[i]; i++) {
		if (name[i] <= ' ' || name[i] > '~' || name[i] == '/' || name[i] == ',')
			return false;
	}
	return name[0] && strcmp(name, "NA") && strncmp(name, "pair", strlen("pair"));
}

static void name_pairs(struct ps3_config *config,
		       const uint8_t sensor[PS3_SENSORS][PS3_SENSOR_BYTES])
{
	char name[PS3_PAIRS][PS3_NAME_MAX + 1] = { { 0 } };

	for (int i = 0; i < PS3_PAIRS; i++)
		memcpy(name[i], sensor[2 * i] + AT_NAME, PS3_NAME_MAX);
	for (int i = 0; i < PS3_PAIRS; i++) {
		bool is_good = strlen(name[i]) < PS3_NAME_MAX && is_usable(name[i]);

		for (int j = 0; j < PS3_PAIRS; j++) {
			if (j != i && config->pair[j].is_used && !strcmp(name[i], name[j]))
				is_good = false;
		}
		if (is_good)
			memcpy(config->pair[i].name, name[i], PS3_NAME_MAX);
		else
			snprintf(config->pair[i].name, PS3_NAME_MAX, "pair%d", i);
	}
}

int ps3_config_decode(struct ps3_config *config, const uint8_t sensor[PS3_SENSORS][PS3_SENSOR_BYTES],
		      struct daq_error *err)
{
	memset(config, 0, sizeof(*config));
	for (unsigned int i = 0; i < PS3_PAIRS; i++) {
		struct ps3_pair *pair = &config->pair[i];
		uint8_t current = sensor[2 * i][AT_IN_USE], voltage = sensor[2 * i + 1][AT_IN_USE];
		int error = 0;

		if (current > 1 || voltage > 1)
			return daq_fail(err, EIO,
					"the PowerSensor3's configuration of pair %u is implausible: its memory was erased or is worn out; psconfig sets it",
					i);
		pair->is_used = current && voltage;
		pair->is_half_used = current != voltage;
		if (pair->is_used)
			error = fill_table(pair->current_ua, 2 * i, sensor[2 * i], err);
		if (pair->is_used && !error)
			error = fill_table(pair->voltage_uv, 2 * i + 1, sensor[2 * i + 1], err);
		if (error)
			return error;
	}
	name_pairs(config, sensor);
	return 0;
}

int ps3_pair_find(const struct ps3_config *config, const char *name, size_t length)
{
	for (int i = 0; i < PS3_PAIRS; i++) {
		char number[PS3_NAME_MAX];

		snprintf(number, sizeof(number), "pair%d", i);
		if (!config->pair[i].is_used)
			continue;
		if (strlen(config->pair[i].name) == length &&
		    !strncmp(name, config->pair[i].name, length))
			return i;
		if (strlen(number) == length && !strncmp(name, number, length))
			return i;
	}
	return -1;
}
