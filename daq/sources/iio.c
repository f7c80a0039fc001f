// SPDX-License-Identifier: GPL-2.0
/*
 * Source iio: converters of the kernel's industrial I/O subsystem, through libiio. A channel is
 * DEVICE/CHANNEL, with DEVICE a name or iio:deviceN and CHANNEL an id (voltage0) or a label.
 *
 * If all channels belong to one device that has a buffer with timestamps, scans are read from the
 * buffer, timestamped by the kernel in CLOCK_MONOTONIC. Otherwise attributes are polled.
 */
#include <errno.h>
#include <iio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pace.h"
#include "sources/identity.h"
#include "sources/iio_interval.h"
#include "sources/iio_scale.h"
#include "sources/outage.h"
#include "sources/source.h"
#include "sources/sysfs.h"
#include "uapi/spek_prober.h"

#define DEFAULT_INTERVAL_NS 10000000
#define BLOCK_NS 20000000
#define MAX_BLOCK_SCANS 1024
#define RETRY_NS 500000000
#define DEVICES "/sys/bus/iio/devices" /* as in libiio */
/* kernel buffers of one scan each: scans kept while this process is not scheduled */
#define UNPACED_BLOCKS 64

struct iio {
	struct iio_context *context;
	struct iio_device *device;	/* of the first channel found */
	struct iio_channel *channel[DAQ_MAX_CHANNELS];	/* NULL: missing */
	int name_fd[DAQ_MAX_CHANNELS];	/* "name" of the device; cannot be read once it is gone */
	struct daq_iio_scale scale[DAQ_MAX_CHANNELS];
	bool has_raw[DAQ_MAX_CHANNELS];
	struct iio_channel *timestamp;
	struct iio_buffer *buffer;
	bool is_buffered;
	uint64_t interval_ns;	/* 0: not yet known */
	struct daq_iio_interval seen;
	uint64_t last_ns;
	struct daq_pace pace;
	uint64_t tried_ns;	/* last search for polled channels */
	struct daq_outages outages;	/* of polled channels */
	/* An empty scan precedes each scan after a loss. */
	uint64_t at_ns[2 * MAX_BLOCK_SCANS];
	int64_t value[2 * MAX_BLOCK_SCANS * DAQ_MAX_CHANNELS];
};

static int make_context(struct iio *iio, struct daq_error *err)
{
	iio->context = iio_create_local_context();
	if (!iio->context || !iio_context_get_devices_count(iio->context))
		return daq_fail(err, ENODEV, "this machine has no IIO devices");
	return 0;
}

static void lose_channel(struct iio *iio, size_t i)
{
	if (iio->name_fd[i] >= 0)
		close(iio->name_fd[i]);
	iio->name_fd[i] = -1;
	iio->channel[i] = NULL;
}

/*
 * Its name is opened before the device is compared: if it can be read after a value, the value is
 * of the same device.
 */
static int pin_device(struct daq_source *source, size_t i, const struct iio_device *device,
		      bool is_number, struct daq_error *err)
{
	struct iio *iio = source->private;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), DEVICES "/%s/name", iio_device_get_id(device));
	iio->name_fd[i] = daq_sysfs_open(path);
	if (!is_number)
		return 0;
	*strrchr(path, '/') = '\0';
	return daq_identity_pin(&source->channel[i], path, err);
}

static void read_scale(struct iio *iio, size_t i)
{
	struct daq_iio_scale *scale = &iio->scale[i];

	if (iio_channel_attr_read_double(iio->channel[i], "scale", &scale->scale))
		scale->scale = 1;
	if (iio_channel_attr_read_double(iio->channel[i], "offset", &scale->offset))
		scale->offset = 0;
	iio->has_raw[i] = iio_channel_find_attr(iio->channel[i], "raw");
	if (!iio->has_raw[i] && !iio->is_buffered) {
		scale->scale = 1;
		scale->offset = 0;
	}
}

static int find_channel(struct daq_source *source, size_t i, struct daq_error *err)
{
	struct iio *iio = source->private;
	struct daq_channel *channel = &source->channel[i];
	const char *slash = strrchr(channel->name, '/');
	char device_name[DAQ_NAME_MAX];
	struct iio_device *device;
	struct iio_channel *found;
	int error;

	if (!slash || slash == channel->name)
		return daq_fail(err, EINVAL, "'%s' is not an IIO channel; use DEVICE/CHANNEL",
				channel->name);
	memset(device_name, 0, sizeof(device_name));
	memcpy(device_name, channel->name, (size_t)(slash - channel->name));
	device = iio_context_find_device(iio->context, device_name);
	if (!device)
		return daq_fail(err, ENODEV, "IIO device '%s' not found", device_name);
	found = iio_device_find_channel(device, slash + 1, false);
	if (!found)
		return daq_fail(err, EINVAL, "IIO device '%s' has no input '%s'", device_name,
				slash + 1);
	if (!daq_iio_unit(iio_channel_get_id(found), &channel->unit, &iio->scale[i].factor))
		return daq_fail(err, EINVAL,
				"'%s' does not measure voltage, current, power or energy",
				channel->name);
	lose_channel(iio, i);
	error = pin_device(source, i, device, !strcmp(device_name, iio_device_get_id(device)), err);
	if (error) {
		lose_channel(iio, i);
		return error;
	}
	iio->channel[i] = found;
	if (!iio->device)
		iio->device = device;
	if (device != iio->device || !iio_channel_is_scan_element(found))
		iio->is_buffered = false;
	return 0;
}

static int choose_mode(struct iio *iio, const struct daq_setup *setup, struct daq_error *err)
{
	const char *mode = daq_setting_text(setup, "mode");

	iio->timestamp = iio_device_find_channel(iio->device, "timestamp", false);
	if (!iio->timestamp || !iio_channel_is_scan_element(iio->timestamp))
		iio->is_buffered = false;
	if (!mode)
		return 0;
	if (strcmp(mode, "buffer") && strcmp(mode, "sysfs"))
		return daq_fail(err, EINVAL, "setting 'mode' is '%s'; it must be buffer or sysfs",
				mode);
	if (!strcmp(mode, "buffer") && !iio->is_buffered)
		return daq_fail(err, EINVAL,
				"these channels do not share a buffer with timestamps; use mode sysfs");
	iio->is_buffered = !strcmp(mode, "buffer");
	return 0;
}

/*
 * Return: the device whose attribute sets the scan rate: the trigger, if it has a clock, or the
 * device. Looked up by name: libiio takes in_sampling_frequency for a channel's attribute.
 */
static const struct iio_device *find_rate(const struct iio *iio, const char **attribute,
					  double *rate)
{
	static const char *const names[] = { "sampling_frequency", "in_sampling_frequency" };
	const struct iio_device *by[2] = { NULL, iio->device };
	size_t i, j;

	if (iio_device_get_trigger(iio->device, &by[0]))
		by[0] = NULL;
	for (i = 0; i < 2; i++)
		for (j = 0; by[i] && j < 2; j++) {
			*attribute = names[j];
			if (!iio_device_attr_read_double(by[i], names[j], rate))
				return by[i];
		}
	return NULL;
}

static int set_rate(struct iio *iio, const struct daq_setup *setup, struct daq_error *err)
{
	const char *attribute = NULL;
	double rate = 0;
	const struct iio_device *by = find_rate(iio, &attribute, &rate);

	if (setup->interval_ns && !by)
		return daq_fail(err, EINVAL,
				"cannot set the interval of IIO device '%s': it has no sampling_frequency",
				iio_device_get_id(iio->device));
	if (setup->interval_ns &&
	    (iio_device_attr_write_double(by, attribute, 1e9 / (double)setup->interval_ns) ||
	     iio_device_attr_read_double(by, attribute, &rate)))
		return daq_fail(err, EINVAL, "IIO device '%s' rejects this interval as its %s",
				iio_device_get_id(by), attribute);
	if (by && rate > 0)
		iio->interval_ns = (uint64_t)(1e9 / rate);
	return 0;
}

static int set_trigger(struct iio *iio, const struct daq_setup *setup, struct daq_error *err)
{
	const char *name = daq_setting_text(setup, "trigger");
	struct iio_device *trigger;

	if (!name)
		return 0;
	trigger = iio_context_find_device(iio->context, name);
	if (!trigger || !iio_device_is_trigger(trigger))
		return daq_fail(err, EINVAL, "IIO trigger '%s' not found", name);
	if (iio_device_set_trigger(iio->device, trigger))
		return daq_fail(err, EINVAL, "the IIO device rejects the trigger '%s'", name);
	return 0;
}

static void read_scales(struct daq_source *source)
{
	struct iio *iio = source->private;
	size_t i;

	for (i = 0; i < source->nr_channels; i++) {
		struct daq_channel *channel = &source->channel[i];
		const struct iio_data_format *format;
		double lsb;

		if (!iio->channel[i])
			continue;
		read_scale(iio, i);
		format = iio_channel_get_data_format(iio->channel[i]);
		daq_iio_range(&iio->scale[i], format->bits, format->is_signed, &channel->low,
			      &channel->high);
		lsb = iio->scale[i].scale * iio->scale[i].factor;
		source->channel[i].lsb = lsb > 0 && lsb < UINT32_MAX ? (uint32_t)lsb : 0;
	}
}

static int prepare(struct daq_source *source, const struct daq_setup *setup,
		   struct daq_error *err)
{
	struct iio *iio = source->private;
	int error = make_context(iio, err);

	iio->is_buffered = true;
	iio->tried_ns = daq_now_ns();
	if (!error)
		error = daq_outages_find(&iio->outages, source, find_channel, err);
	if (error > 0) {
		/* Of several devices: channels of one would all be missing. */
		iio->is_buffered = false;
		error = 0;
	}
	if (!error)
		error = choose_mode(iio, setup, err);
	if (!error && iio->is_buffered)
		error = set_trigger(iio, setup, err);
	if (!error && iio->is_buffered)
		error = set_rate(iio, setup, err);
	if (error)
		return error;
	read_scales(source);
	if (!iio->is_buffered)
		iio->interval_ns = setup->interval_ns ? setup->interval_ns : DEFAULT_INTERVAL_NS;
	source->interval_ns = iio->interval_ns;
	source->clock = DAQ_CLOCK_HOST;
	return 0;
}

static void iio_close(struct daq_source *source)
{
	struct iio *iio = source->private;
	size_t i;

	for (i = 0; i < DAQ_MAX_CHANNELS; i++)
		lose_channel(iio, i);
	if (iio->context)
		iio_context_destroy(iio->context);
	free(iio);
}

static int iio_open(struct daq_source *source, const struct daq_setup *setup,
		    struct daq_error *err)
{
	struct iio *iio = calloc(1, sizeof(*iio));
	size_t i;
	int error;

	if (!iio)
		return daq_fail(err, ENOMEM, "out of memory");
	for (i = 0; i < DAQ_MAX_CHANNELS; i++)
		iio->name_fd[i] = -1;
	source->private = iio;
	error = prepare(source, setup, err);
	if (error)
		iio_close(source);
	return error;
}

static int start_buffer(struct daq_source *source, struct daq_error *err)
{
	struct iio *iio = source->private;
	uint64_t scans = iio->interval_ns ? BLOCK_NS / iio->interval_ns : 1;
	size_t i;

	if (iio_device_attr_write(iio->device, "current_timestamp_clock", "monotonic") < 0)
		return daq_fail(err, EINVAL,
				"the IIO device has no timestamps in CLOCK_MONOTONIC; use mode sysfs");
	for (i = 0; i < source->nr_channels; i++)
		iio_channel_enable(iio->channel[i]);
	iio_channel_enable(iio->timestamp);
	scans = scans < 1 ? 1 : scans;
	scans = scans > MAX_BLOCK_SCANS ? MAX_BLOCK_SCANS : scans;
	if (!iio->interval_ns)
		iio_device_set_kernel_buffers_count(iio->device, UNPACED_BLOCKS);
	iio->buffer = iio_device_create_buffer(iio->device, scans, false);
	if (!iio->buffer) {
		int error = errno;

		return daq_fail(err, error == EPERM ? EACCES : error, "the IIO device does not start sampling: %s%s",
				strerror(error), error == EINVAL ? " (does it need a trigger?)" : "");
	}
	return 0;
}

static int iio_start(struct daq_source *source, struct daq_error *err)
{
	struct iio *iio = source->private;

	source->uncertainty_ns = 0;
	iio->last_ns = 0;
	if (iio->is_buffered)
		return start_buffer(source, err);
	daq_pace_begin(&iio->pace, iio->interval_ns);
	return 0;
}

/* Values in a buffer have 8 to 64 bits; iio_channel_convert() writes only these. */
static int64_t raw_value(const struct iio_channel *channel, const void *from)
{
	const struct iio_data_format *format = iio_channel_get_data_format(channel);
	union {
		int64_t s64;
		uint64_t u64;
	} raw = { 0 };

	iio_channel_convert(channel, &raw, from);
	if (format->is_signed && format->length < 64) {
		unsigned int shift = 64 - format->length;

		raw.u64 <<= shift;
		raw.s64 >>= shift;
	}
	return raw.s64;
}

static const void *scan_of(const struct iio *iio, const struct iio_channel *channel, size_t scan)
{
	return (const char *)iio_buffer_first(iio->buffer, channel) +
	       (ptrdiff_t)scan * iio_buffer_step(iio->buffer);
}

/*
 * The kernel drops scans silently when its buffer is full; only their times show it. One lost scan
 * makes a step of two intervals, a late one a step of less than one and a half.
 */
static bool has_lost_before(const struct iio *iio, uint64_t at_ns)
{
	return iio->last_ns && iio->interval_ns &&
	       at_ns > iio->last_ns + iio->interval_ns + iio->interval_ns / 2;
}

/* The prober refuses such a time, and no later sample of the rail may precede it. */
static bool has_wrong_time(const struct iio *iio, size_t nr_scans)
{
	uint64_t latest_ns = daq_now_ns() + SPEK_PROBER_MAX_AHEAD_NS;
	size_t scan;

	for (scan = 0; scan < nr_scans; scan++)
		if ((uint64_t)raw_value(iio->timestamp, scan_of(iio, iio->timestamp, scan)) > latest_ns)
			return true;
	return false;
}

static void learn_interval(struct iio *iio, uint64_t at_ns)
{
	if (!iio->interval_ns && iio->last_ns && at_ns > iio->last_ns)
		iio->interval_ns = daq_iio_interval_add(&iio->seen, at_ns - iio->last_ns);
}

static uint32_t copy_scans(struct daq_source *source, size_t nr_scans)
{
	struct iio *iio = source->private;
	uint32_t made = 0;
	size_t scan, i;

	for (scan = 0; scan < nr_scans; scan++) {
		int64_t at_ns = raw_value(iio->timestamp, scan_of(iio, iio->timestamp, scan));
		int64_t *value;

		if (has_lost_before(iio, (uint64_t)at_ns)) {
			source->overflows++;
			iio->at_ns[made] = (uint64_t)at_ns;
			for (i = 0; i < source->nr_channels; i++)
				iio->value[made * source->nr_channels + i] = DAQ_ABSENT;
			made++;
		}
		value = iio->value + made * source->nr_channels;
		for (i = 0; i < source->nr_channels; i++) {
			const void *from = scan_of(iio, iio->channel[i], scan);

			value[i] = daq_iio_value(&iio->scale[i],
						 (double)raw_value(iio->channel[i], from));
		}
		iio->at_ns[made++] = (uint64_t)at_ns;
		learn_interval(iio, (uint64_t)at_ns);
		iio->last_ns = (uint64_t)at_ns;
	}
	return made;
}

static int read_buffer(struct daq_source *source, int timeout_ms, struct daq_block *block,
		       struct daq_error *err)
{
	struct iio *iio = source->private;
	size_t nr_scans;
	ssize_t got;

	if (iio_context_set_timeout(iio->context, (unsigned int)timeout_ms))
		return daq_fail(err, EIO, "libiio rejects the timeout");
	got = iio_buffer_refill(iio->buffer);
	if (got == -ETIMEDOUT || got == -EAGAIN || got == -EINTR)
		return 0;
	if (got < 0)
		return daq_fail(err, ENODEV, "cannot read the IIO device: %s", strerror((int)-got));
	nr_scans = (size_t)(got / iio_buffer_step(iio->buffer));
	if (has_wrong_time(iio, nr_scans))
		return daq_fail(err, EIO,
				"IIO device '%s' sent a timestamp that is negative or more than 1 s in the future",
				iio_device_get_id(iio->device));
	block->kind = DAQ_BLOCK_SCANS;
	block->nr_scans = copy_scans(source, nr_scans);
	return 0;
}

/* Return: 0, also if a busy converter has no value at the moment; or -errno. */
static int read_attribute(struct iio *iio, size_t i)
{
	const char *attribute = iio->has_raw[i] ? "raw" : "input";
	double number;
	int error = iio_channel_attr_read_double(iio->channel[i], attribute, &number);

	if (error == -EBUSY || error == -EAGAIN)
		error = 0;
	else if (!error)
		iio->value[i] = daq_iio_value(&iio->scale[i], number);
	/* libiio opens attributes by path each time, perhaps those of the device's successor. */
	if (!error && iio->name_fd[i] >= 0 && !daq_sysfs_is_there(iio->name_fd[i]))
		error = -ENODEV;
	if (error)
		iio->value[i] = DAQ_ABSENT;
	return error;
}

/* A context knows the devices of the time it was made at. */
static void find_missing(struct daq_source *source)
{
	struct iio *iio = source->private;
	struct iio_context *old = iio->context;
	size_t nr_missing = 0, i;
	struct daq_error why;

	for (i = 0; i < source->nr_channels; i++)
		nr_missing += !iio->channel[i];
	if (!nr_missing || daq_now_ns() < iio->tried_ns + RETRY_NS)
		return;
	iio->tried_ns = daq_now_ns();
	if (make_context(iio, &why)) {
		if (iio->context)
			iio_context_destroy(iio->context);
		iio->context = old;
		return;
	}
	iio->device = NULL;
	for (i = 0; i < source->nr_channels; i++)
		if (find_channel(source, i, &why)) {
			lose_channel(iio, i);
			daq_outage_note(&iio->outages, i, &why);
		}
	read_scales(source);
	iio_context_destroy(old);
}

static int poll_attributes(struct daq_source *source, int timeout_ms, struct daq_block *block,
			   struct daq_error *err)
{
	struct iio *iio = source->private;
	int error[DAQ_MAX_CHANNELS] = { 0 };
	uint64_t from_ns, length_ns;
	size_t i;

	if (!daq_pace_wait(&iio->pace, timeout_ms))
		return 0;
	find_missing(source);
	from_ns = daq_now_ns();
	for (i = 0; i < source->nr_channels; i++) {
		iio->value[i] = DAQ_ABSENT;
		error[i] = iio->channel[i] ? read_attribute(iio, i) : DAQ_STILL_MISSING;
	}
	length_ns = daq_now_ns() - from_ns;
	if (daq_outages_scan(&iio->outages, source, error, err))
		return -ENODEV;
	for (i = 0; i < source->nr_channels; i++)
		if (error[i] < 0)
			lose_channel(iio, i);
	iio->at_ns[0] = from_ns + length_ns / 2;
	if (length_ns / 2 > source->uncertainty_ns)
		source->uncertainty_ns = length_ns / 2;
	block->kind = DAQ_BLOCK_SCANS;
	block->nr_scans = 1;
	return 0;
}

static int iio_read(struct daq_source *source, int timeout_ms, struct daq_block *block,
		    struct daq_error *err)
{
	struct iio *iio = source->private;

	*block = (struct daq_block){
		.kind = DAQ_BLOCK_NONE,
		.at_ns = iio->at_ns,
		.value = iio->value,
	};
	if (iio->is_buffered)
		return read_buffer(source, timeout_ms, block, err);
	return poll_attributes(source, timeout_ms, block, err);
}

static void iio_stop(struct daq_source *source)
{
	struct iio *iio = source->private;

	if (iio->buffer)
		iio_buffer_destroy(iio->buffer);
	iio->buffer = NULL;
}

static int iio_discover(const struct daq_setup *setup, struct daq_channel *found, size_t max,
			struct daq_error *err)
{
	struct iio *iio = calloc(1, sizeof(*iio));
	unsigned int i, j;
	size_t nr = 0;
	int error;

	(void)setup;
	if (!iio)
		return daq_fail(err, ENOMEM, "out of memory");
	error = make_context(iio, err);
	for (i = 0; !error && i < iio_context_get_devices_count(iio->context); i++) {
		struct iio_device *device = iio_context_get_device(iio->context, i);

		for (j = 0; j < iio_device_get_channels_count(device) && nr < max; j++) {
			struct iio_channel *channel = iio_device_get_channel(device, j);
			double factor;
			int length;

			memset(&found[nr], 0, sizeof(found[nr]));
			length = snprintf(found[nr].name, DAQ_NAME_MAX, "%s/%s",
					  iio_device_get_id(device), iio_channel_get_id(channel));
			if (length < DAQ_NAME_MAX && !iio_channel_is_output(channel) &&
			    daq_iio_unit(iio_channel_get_id(channel), &found[nr].unit, &factor))
				nr++;
		}
	}
	if (iio->context)
		iio_context_destroy(iio->context);
	free(iio);
	return error ? error : (int)nr;
}

const struct daq_source_ops daq_source_iio = {
	.name = "iio",
	.help = "industrial I/O converters; channels: DEVICE/CHANNEL, e.g. ina226/power0",
	.settings = "mode (buffer or sysfs; default: buffer if there is one), trigger (name)",
	.discover = iio_discover,
	.open = iio_open,
	.start = iio_start,
	.read = iio_read,
	.stop = iio_stop,
	.close = iio_close,
};
