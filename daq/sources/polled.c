// SPDX-License-Identifier: GPL-2.0
/* Polling of sysfs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sources/identity.h"
#include "sources/polled.h"
#include "sources/sysfs.h"

#define MIN_INTERVAL_NS 100000
#define RETRY_NS 500000000

static int create(struct daq_source *source, const struct daq_setup *setup, struct daq_error *err)
{
	struct daq_polled *polled;
	size_t i;

	if (setup->interval_ns && setup->interval_ns < MIN_INTERVAL_NS)
		return daq_fail(err, EINVAL, "the shortest interval of this source is 100us");
	polled = calloc(1, sizeof(*polled));
	if (!polled)
		return daq_fail(err, ENOMEM, "out of memory");
	for (i = 0; i < DAQ_MAX_CHANNELS; i++)
		polled->fd[i] = -1;
	polled->interval_ns = setup->interval_ns ? setup->interval_ns : DAQ_POLLED_INTERVAL_NS;
	source->clock = DAQ_CLOCK_HOST;
	source->interval_ns = polled->interval_ns;
	source->private = polled;
	return 0;
}

static int attach_channel(struct daq_source *source, size_t index, struct daq_error *err)
{
	struct daq_polled *polled = source->private;

	return polled->attach(source, index, polled->root, err);
}

int daq_polled_open(struct daq_source *source, const struct daq_setup *setup, const char *class,
		    daq_polled_attach_fn *attach, struct daq_error *err)
{
	struct daq_polled *polled;
	int error = create(source, setup, err);

	if (error)
		return error;
	polled = source->private;
	polled->attach = attach;
	snprintf(polled->root, sizeof(polled->root), "%s/class/%s", setup->sysfs, class);
	polled->tried_ns = daq_now_ns();
	error = daq_outages_find(&polled->outages, source, attach_channel, err);
	if (error >= 0)
		return 0;
	daq_polled_close(source);
	return error;
}

int daq_polled_attach(struct daq_source *source, size_t index, const char *path,
		      enum daq_unit unit, int64_t scale, struct daq_error *err)
{
	struct daq_polled *polled = source->private;
	int fd = daq_sysfs_open(path);

	if (fd == -EACCES || fd == -EPERM)
		return daq_fail(err, EACCES, "%s: only root may read it", path);
	if (fd < 0)
		return daq_fail(err, fd == -ENOENT ? ENODEV : -fd, "%s: %s", path, strerror(-fd));
	polled->fd[index] = fd;
	polled->scale[index] = scale;
	source->channel[index].unit = unit;
	source->channel[index].lsb = (uint32_t)scale;
	return 0;
}

/* After the file is open: if the device goes, the open file cannot be read any more. */
int daq_polled_pin(struct daq_source *source, size_t index, const char *entry,
		   struct daq_error *err)
{
	struct daq_polled *polled = source->private;
	char path[PATH_MAX];
	int error;

	snprintf(path, sizeof(path), "%s/%s", polled->root, entry);
	error = daq_identity_pin(&source->channel[index], path, err);
	if (error) {
		close(polled->fd[index]);
		polled->fd[index] = -1;
	}
	return error;
}

int daq_polled_start(struct daq_source *source, struct daq_error *err)
{
	struct daq_polled *polled = source->private;
	size_t i;

	(void)err;
	for (i = 0; i < source->nr_channels; i++)
		polled->counter[i].has_begun = false;
	source->uncertainty_ns = 0;
	daq_pace_begin(&polled->pace, polled->interval_ns);
	return 0;
}

static int read_channel(struct daq_source *source, size_t i, int64_t *value)
{
	struct daq_polled *polled = source->private;
	int64_t number;
	int error = daq_sysfs_read(polled->fd[i], &number);

	/* A busy or sleeping sensor has no value at the moment. */
	if (error == -EAGAIN || error == -EBUSY || error == -ENODATA) {
		*value = DAQ_ABSENT;
		polled->counter[i].has_begun = false;
		return 0;
	}
	if (error)
		return error;
	if (source->channel[i].unit != DAQ_UNIT_NJ) {
		if (__builtin_mul_overflow(number, polled->scale[i], value))
			*value = DAQ_ABSENT;
		return 0;
	}
	if (number < 0)
		return -EIO;
	/* After a reset, a missing value makes the gap. */
	if (!daq_energy_counter_read(&polled->counter[i], daq_now_ns(), (uint64_t)number,
				     value))
		*value = DAQ_ABSENT;
	return 0;
}

static void find_missing(struct daq_source *source)
{
	struct daq_polled *polled = source->private;
	size_t i;

	if (daq_now_ns() < polled->tried_ns + RETRY_NS)
		return;
	polled->tried_ns = daq_now_ns();
	for (i = 0; i < source->nr_channels; i++) {
		struct daq_error why;

		if (polled->fd[i] < 0 && attach_channel(source, i, &why))
			daq_outage_note(&polled->outages, i, &why);
	}
}

static void read_channels(struct daq_source *source, int error[DAQ_MAX_CHANNELS])
{
	struct daq_polled *polled = source->private;
	size_t i;

	for (i = 0; i < source->nr_channels; i++) {
		error[i] = DAQ_STILL_MISSING;
		if (polled->fd[i] >= 0)
			error[i] = read_channel(source, i, &polled->value[i]);
		if (error[i])
			polled->value[i] = DAQ_ABSENT;
	}
}

static void lose_channels(struct daq_source *source, const int error[DAQ_MAX_CHANNELS])
{
	struct daq_polled *polled = source->private;
	size_t i;

	for (i = 0; i < source->nr_channels; i++) {
		if (error[i] >= 0)
			continue;
		close(polled->fd[i]);
		polled->fd[i] = -1;
		polled->counter[i].has_begun = false;
	}
}

int daq_polled_read(struct daq_source *source, int timeout_ms, struct daq_block *block,
		    struct daq_error *err)
{
	struct daq_polled *polled = source->private;
	int error[DAQ_MAX_CHANNELS];
	uint64_t from_ns, length_ns;

	*block = (struct daq_block){ .kind = DAQ_BLOCK_NONE };
	if (!daq_pace_wait(&polled->pace, timeout_ms))
		return 0;
	find_missing(source);
	from_ns = daq_now_ns();
	read_channels(source, error);
	length_ns = daq_now_ns() - from_ns;
	if (daq_outages_scan(&polled->outages, source, error, err))
		return -ENODEV;
	lose_channels(source, error);
	polled->at_ns = from_ns + length_ns / 2;
	if (length_ns / 2 > source->uncertainty_ns)
		source->uncertainty_ns = length_ns / 2;
	block->kind = DAQ_BLOCK_SCANS;
	block->nr_scans = 1;
	block->at_ns = &polled->at_ns;
	block->value = polled->value;
	return 0;
}

void daq_polled_stop(struct daq_source *source)
{
	(void)source;
}

void daq_polled_close(struct daq_source *source)
{
	struct daq_polled *polled = source->private;
	size_t i;

	for (i = 0; i < DAQ_MAX_CHANNELS; i++)
		if (polled->fd[i] >= 0)
			close(polled->fd[i]);
	free(polled);
}
