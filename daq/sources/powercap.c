// SPDX-License-Identifier: GPL-2.0
/*
 * Source powercap: energy counters of processors and memory (RAPL). A channel is the directory of a
 * zone (intel-rapl:0) or its name, if unique (package-0).
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sources/polled.h"
#include "sources/sysfs.h"

#define RAPL_ZONES "intel-rapl:" /* AMD uses the same name */
#define MAX_ZONE_W 1000

static int find_zone(const char *root, const char *zone, char found[NAME_MAX + 1],
		     struct daq_error *err)
{
	int nr = daq_sysfs_find(root, zone, strlen(zone), found);

	if (nr < 0)
		return daq_fail(err, ENODEV, "%s: this machine has no energy counters (RAPL)", root);
	if (!nr)
		return daq_fail(err, ENODEV, "powercap zone '%s' not found", zone);
	if (nr > 1)
		return daq_fail(err, EINVAL,
				"%d powercap zones are called '%s'; use the directory's name instead (the last is %s)",
				nr, zone, found);
	return 0;
}

static int read_range(const char *path, uint64_t *range, struct daq_error *err)
{
	int64_t found = 0;
	int fd = daq_sysfs_open(path);
	int error = fd < 0 ? fd : daq_sysfs_read(fd, &found);

	if (fd >= 0)
		close(fd);
	if (error || found <= 0)
		return daq_fail(err, ENODEV, "%s: cannot read the counter's range", path);
	*range = (uint64_t)found;
	return 0;
}

/* Two readings don't tell how often the counter has wrapped between them. */
static int check_interval(uint64_t interval_ns, uint64_t range_uj, const char *zone,
			  struct daq_error *err)
{
	uint64_t limit_ns = range_uj / MAX_ZONE_W * 1000;

	if (interval_ns <= limit_ns)
		return 0;
	return daq_fail(err, EINVAL,
			"the counter of powercap zone '%s' wraps after %llu J, for which %d W take %llu ms; the interval must not be longer",
			zone, (unsigned long long)(range_uj / 1000000), MAX_ZONE_W,
			(unsigned long long)(limit_ns / 1000000));
}

static int attach(struct daq_source *source, size_t index, const char *root,
		  struct daq_error *err)
{
	struct daq_polled *polled = source->private;
	char path[PATH_MAX], zone[NAME_MAX + 1];
	int error = find_zone(root, source->channel[index].name, zone, err);

	if (error)
		return error;
	snprintf(path, sizeof(path), "%s/%s/max_energy_range_uj", root, zone);
	error = read_range(path, &polled->counter[index].range_uj, err);
	polled->counter[index].max_w = MAX_ZONE_W;
	if (!error)
		error = check_interval(polled->interval_ns, polled->counter[index].range_uj, zone,
				       err);
	if (error)
		return error;
	snprintf(path, sizeof(path), "%s/%s/energy_uj", root, zone);
	error = daq_polled_attach(source, index, path, DAQ_UNIT_NJ, 1000, err);
	if (!error && !strcmp(zone, source->channel[index].name))
		error = daq_polled_pin(source, index, zone, err);
	return error;
}

static int powercap_open(struct daq_source *source, const struct daq_setup *setup,
			 struct daq_error *err)
{
	return daq_polled_open(source, setup, "powercap", attach, err);
}

struct listing {
	const char *root;
	struct daq_channel *found;
	size_t max;
	size_t nr;
};

/*
 * Return: whether a zone's energy may be added to that of others: packages, and memory, which is
 * listed below its package but not counted in it. Cores are part of their package, psys contains
 * packages, and intel-rapl-mmio counts them a second time. Other zones are unknown.
 */
static bool adds_up(const char *root, const char *zone)
{
	char path[PATH_MAX], name[NAME_MAX + 1];

	snprintf(path, sizeof(path), "%s/%s/name", root, zone);
	if (strncmp(zone, RAPL_ZONES, strlen(RAPL_ZONES)) ||
	    daq_sysfs_text(path, name, sizeof(name)))
		return false;
	if (strchr(zone + strlen(RAPL_ZONES), ':'))
		return !strcmp(name, "dram");
	return !strncmp(name, "package-", strlen("package-"));
}

static int add_zone(const char *entry, void *context)
{
	struct listing *listing = context;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s/energy_uj", listing->root, entry);
	if (access(path, F_OK) || listing->nr == listing->max || strlen(entry) >= DAQ_NAME_MAX ||
	    !adds_up(listing->root, entry))
		return 0;
	memset(&listing->found[listing->nr], 0, sizeof(listing->found[0]));
	strcpy(listing->found[listing->nr].name, entry);
	listing->found[listing->nr++].unit = DAQ_UNIT_NJ;
	return 0;
}

static int powercap_discover(const struct daq_setup *setup, struct daq_channel *found, size_t max,
			     struct daq_error *err)
{
	struct listing listing = { .found = found, .max = max };
	char root[PATH_MAX];

	snprintf(root, sizeof(root), "%s/class/powercap", setup->sysfs);
	listing.root = root;
	if (daq_sysfs_list(root, add_zone, &listing) < 0)
		return daq_fail(err, ENODEV, "%s: this machine has no energy counters (RAPL)", root);
	return (int)listing.nr;
}

const struct daq_source_ops daq_source_powercap = {
	.name = "powercap",
	.help = "energy counters of processors and memory (RAPL); channels: zones by directory (intel-rapl:0) or name (package-0); default: packages and DRAM, which add up",
	.discover = powercap_discover,
	.open = powercap_open,
	.start = daq_polled_start,
	.read = daq_polled_read,
	.stop = daq_polled_stop,
	.close = daq_polled_close,
};
