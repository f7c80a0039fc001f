// SPDX-License-Identifier: GPL-2.0
/* A device is known by its name, its parent's name (a memory zone's package), and its place. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sources/identity.h"
#include "sources/sysfs.h"

static void read_name(const char *folder, char name[NAME_MAX + 1])
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/name", folder);
	if (daq_sysfs_text(path, name, NAME_MAX + 1))
		name[0] = '\0';
}

/* A HID device (BUS:VENDOR:PRODUCT.NUMBER) gets a new number whenever it is plugged in. */
static void drop_hid_numbers(char *place)
{
	char *part;

	for (part = strchr(place, '/'); part; part = strchr(part + 1, '/')) {
		int number = 0, end = 0;

		if (sscanf(part, "/%*4x:%*4x:%*4x%n.%*4x%n", &number, &end) != EOF && end &&
		    (!part[end] || part[end] == '/'))
			memmove(part + number, part + end, strlen(part + end) + 1);
	}
}

static void describe(const char *path, char device[DAQ_DEVICE_MAX])
{
	char place[PATH_MAX], name[NAME_MAX + 1], parent[NAME_MAX + 1];
	char *slash;

	if (!realpath(path, place))
		snprintf(place, sizeof(place), "%s", path);
	read_name(place, name);
	/* The last part of the path is the number. */
	slash = strrchr(place, '/');
	if (slash)
		*slash = '\0';
	read_name(place, parent);
	drop_hid_numbers(place);
	snprintf(device, DAQ_DEVICE_MAX, "%s%s%s at %s", name[0] ? name : "a device without a name",
		 parent[0] ? " of " : "", parent, place);
}

int daq_identity_pin(struct daq_channel *channel, const char *path, struct daq_error *err)
{
	char device[DAQ_DEVICE_MAX];

	describe(path, device);
	if (!channel->device[0])
		memcpy(channel->device, device, sizeof(device));
	if (!strcmp(channel->device, device))
		return 0;
	return daq_fail(err, ENODEV, "channel '%s' is another device now: %s; it was %s",
			channel->name, device, channel->device);
}
