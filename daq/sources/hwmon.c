// SPDX-License-Identifier: GPL-2.0
/*
 * Source hwmon: hardware sensors of the kernel. A channel is CHIP/SENSOR, with CHIP a name or
 * hwmonN and SENSOR one of powerN (uW), currN (mA), inN (mV), energyN (uJ), tempN (thousandths of a
 * degree Celsius).
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sources/polled.h"
#include "sources/sysfs.h"

static const struct {
	const char *prefix;
	enum daq_unit unit;
	int64_t scale;
} sensors[] = {
	{ "power", DAQ_UNIT_NW, 1000 },
	{ "curr", DAQ_UNIT_UA, 1000 },
	{ "in", DAQ_UNIT_UV, 1000 },
	{ "energy", DAQ_UNIT_NJ, 1000 },
	{ "temp", DAQ_UNIT_MC, 1 },
};

#define NR_SENSORS (sizeof(sensors) / sizeof(sensors[0]))

/* Return: index into sensors[], or NR_SENSORS. */
static size_t sensor_kind(const char *sensor, size_t length)
{
	size_t i, prefix, j;

	for (i = 0; i < NR_SENSORS; i++) {
		prefix = strlen(sensors[i].prefix);
		if (length <= prefix || strncmp(sensor, sensors[i].prefix, prefix))
			continue;
		for (j = prefix; j < length && isdigit((unsigned char)sensor[j]); j++)
			;
		if (j == length)
			return i;
	}
	return NR_SENSORS;
}

static int find_chip(const char *root, const char *chip, int length, char found[NAME_MAX + 1],
		     struct daq_error *err)
{
	int nr = daq_sysfs_find(root, chip, (size_t)length, found);

	if (nr < 0)
		return daq_fail(err, ENODEV, "%s: this machine has no hwmon sensors", root);
	if (!nr)
		return daq_fail(err, ENODEV, "hwmon chip '%.*s' not found", length, chip);
	if (nr > 1)
		return daq_fail(err, EINVAL,
				"%d hwmon chips are called '%.*s'; use hwmonN instead (the last is %s)",
				nr, length, chip, found);
	return 0;
}

static int attach(struct daq_source *source, size_t index, const char *root,
		  struct daq_error *err)
{
	const char *name = source->channel[index].name;
	const char *slash = strrchr(name, '/');
	char path[PATH_MAX], input[PATH_MAX], chip[NAME_MAX + 1];
	size_t kind;
	int error;

	kind = slash ? sensor_kind(slash + 1, strlen(slash + 1)) : NR_SENSORS;
	if (kind == NR_SENSORS)
		return daq_fail(err, EINVAL,
				"'%s' is not a hwmon channel; use CHIP/powerN, CHIP/currN, CHIP/inN, CHIP/energyN or CHIP/tempN",
				name);
	error = find_chip(root, name, (int)(slash - name), chip, err);
	if (error)
		return error;
	snprintf(path, sizeof(path), "%s/%s%s_average", root, chip, slash);
	snprintf(input, sizeof(input), "%s/%s%s_input", root, chip, slash);
	/* Some chips have only a mean. */
	if (sensors[kind].unit != DAQ_UNIT_NW || access(path, F_OK) || !access(input, F_OK))
		memcpy(path, input, sizeof(path));
	error = daq_polled_attach(source, index, path, sensors[kind].unit, sensors[kind].scale,
				  err);
	if (!error && strlen(chip) == (size_t)(slash - name) &&
	    !strncmp(chip, name, strlen(chip)))
		error = daq_polled_pin(source, index, chip, err);
	return error;
}

static int hwmon_open(struct daq_source *source, const struct daq_setup *setup,
		      struct daq_error *err)
{
	return daq_polled_open(source, setup, "hwmon", attach, err);
}

struct listing {
	const char *root;
	const char *entry;
	struct daq_channel *found;
	size_t max;
	size_t nr;
};

static int add_sensor(const char *file, void *context)
{
	struct listing *listing = context;
	const char *end = strrchr(file, '_');
	size_t kind;
	int length;

	if (!end || (strcmp(end, "_input") && strcmp(end, "_average")))
		return 0;
	kind = sensor_kind(file, (size_t)(end - file));
	if (kind == NR_SENSORS || listing->nr == listing->max)
		return 0;
	memset(&listing->found[listing->nr], 0, sizeof(listing->found[0]));
	length = snprintf(listing->found[listing->nr].name, DAQ_NAME_MAX, "%s/%.*s",
			  listing->entry, (int)(end - file), file);
	if (length >= DAQ_NAME_MAX || (listing->nr && !strcmp(listing->found[listing->nr].name,
							      listing->found[listing->nr - 1].name)))
		return 0;
	listing->found[listing->nr++].unit = sensors[kind].unit;
	return 0;
}

static int add_chip(const char *entry, void *context)
{
	struct listing *listing = context;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", listing->root, entry);
	listing->entry = entry;
	daq_sysfs_list(path, add_sensor, listing);
	return 0;
}

static int hwmon_discover(const struct daq_setup *setup, struct daq_channel *found, size_t max,
			  struct daq_error *err)
{
	struct listing listing = { .found = found, .max = max };
	char root[PATH_MAX];

	snprintf(root, sizeof(root), "%s/class/hwmon", setup->sysfs);
	listing.root = root;
	if (daq_sysfs_list(root, add_chip, &listing) < 0)
		return daq_fail(err, ENODEV, "%s: this machine has no hwmon sensors", root);
	return (int)listing.nr;
}

const struct daq_source_ops daq_source_hwmon = {
	.name = "hwmon",
	.help = "hardware sensors of the kernel; channels: CHIP/powerN, CHIP/currN, CHIP/inN, CHIP/energyN, CHIP/tempN, with CHIP a name or hwmonN",
	.discover = hwmon_discover,
	.open = hwmon_open,
	.start = daq_polled_start,
	.read = daq_polled_read,
	.stop = daq_polled_stop,
	.close = daq_polled_close,
};
