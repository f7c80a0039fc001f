// SPDX-License-Identifier: GPL-2.0
/*
 * PowerSensor3: current and voltage of up to four lines, at about 20 kHz, over a USB serial line.
 *
 * A scan is a window of the device's clock (average.h) of the requested length. Its time is the
 * window's middle, half a spacing earlier, as a time stamp is taken at the end of its set. The
 * bridge maps the device's clock to CLOCK_MONOTONIC, with the best arrival of a set in each block
 * of windows (arrival.h).
 *
 * A stream is restarted (-ESTALE) when the length of a loss is uncertain, or no complete set comes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pace.h"
#include "powersensor3/arrival.h"
#include "powersensor3/average.h"
#include "powersensor3/config.h"
#include "powersensor3/serial.h"
#include "powersensor3/stream.h"
#include "say.h"
#include "sources/source.h"

#define DEFAULT_LENGTH_US	1000
/* Each window has a set: 1.5 * PS3_MAX_SPACING_US is less. */
#define MIN_LENGTH_US		100
#define MAX_LENGTH_US		1000000
#define READ_BYTES		65536
#define MAX_WINDOWS		(READ_BYTES / PS3_SET_BYTES + 1)
#define START_NS		1000000000ull
#define SILENCE_NS		1000000000ull
#define STEP_MS			50
#define USB_FRAME_NS		1000000
/* Repeated damage is reported at this interval. */
#define DAMAGE_NS		10000000000ull

_Static_assert(MIN_LENGTH_US * 2 > PS3_MAX_SPACING_US * 3, "each window has a set");

enum quantity { POWER, CURRENT, VOLTAGE };

static const struct {
	const char *suffix;
	enum daq_unit unit;
} quantities[] = {
	[POWER] = { "", DAQ_UNIT_NW },
	[CURRENT] = { "/current", DAQ_UNIT_UA },
	[VOLTAGE] = { "/voltage", DAQ_UNIT_UV },
};

#define NR_QUANTITIES (sizeof(quantities) / sizeof(quantities[0]))

/**
 * struct ps3_source - an open PowerSensor3
 * @fd: its serial line
 * @config: its configuration
 * @length_us: length of a window
 * @pair: pair of each channel
 * @quantity: quantity of each channel
 * @nr_channels: number of channels
 * @stream: decoder of the stream
 * @average: state of the averaging
 * @is_averaging: the averaging has started
 * @arrival: check of the times
 * @last_us: time of the last set
 * @has_loss: a set of the last bytes followed a loss
 * @has_set: the last bytes completed a set
 * @heard_ns: arrival of the last complete set, or the start
 * @said_ns: time of the last report of damage; 0: none yet
 * @said: amount of damage in that report
 * @next: number after the last window given
 * @nr_windows: windows of the last bytes
 * @given: how many of them were read
 * @late_ns: smallest lateness of a set among them
 * @number: numbers of the windows
 * @value: their values
 * @bytes: the last bytes
 */
struct ps3_source {
	int fd;
	struct ps3_config config;
	uint32_t length_us;
	int pair[DAQ_MAX_CHANNELS];
	enum quantity quantity[DAQ_MAX_CHANNELS];
	size_t nr_channels;
	struct ps3_stream stream;
	struct ps3_average average;
	bool is_averaging;
	struct ps3_arrival arrival;
	uint64_t last_us;
	bool has_loss;
	bool has_set;
	uint64_t heard_ns;
	uint64_t said_ns;
	uint64_t said;
	uint64_t next;
	size_t nr_windows;
	size_t given;
	int64_t late_ns;
	uint64_t number[MAX_WINDOWS];
	int64_t value[MAX_WINDOWS * DAQ_MAX_CHANNELS];
	uint8_t bytes[READ_BYTES];
};

/* ---- channels ---- */

static size_t channels_of(const struct ps3_config *config, struct daq_channel *channel, size_t max)
{
	size_t nr = 0;

	for (int i = 0; i < PS3_PAIRS; i++) {
		for (size_t j = 0; j < NR_QUANTITIES && nr < max && config->pair[i].is_used; j++) {
			memset(&channel[nr], 0, sizeof(channel[nr]));
			snprintf(channel[nr].name, DAQ_NAME_MAX, "%s%s", config->pair[i].name,
				 quantities[j].suffix);
			channel[nr++].unit = quantities[j].unit;
		}
	}
	return nr;
}

static int say_no_channel(const struct ps3_config *config, const char *name, struct daq_error *err)
{
	char list[PS3_PAIRS * (PS3_NAME_MAX + 2)] = "";

	for (int i = 0; i < PS3_PAIRS; i++) {
		if (!config->pair[i].is_used)
			continue;
		strcat(list, list[0] ? ", " : "");
		strcat(list, config->pair[i].name);
	}
	if (!list[0])
		return daq_fail(err, EINVAL,
				"the PowerSensor3 has no channel '%s': none of its pairs of sensors is in use; psconfig sets them up",
				name);
	return daq_fail(err, EINVAL,
			"the PowerSensor3 has no channel '%s'; it has %s, and NAME/current and NAME/voltage of each",
			name, list);
}

static void set_range(struct daq_channel *channel, const struct ps3_pair *pair, enum quantity what)
{
	struct ps3_range range = ps3_range_of(pair);

	switch (what) {
	case POWER:
		/* Its step is the current's step times the present voltage: unknown. */
		channel->low = range.low.power_nw;
		channel->high = range.high.power_nw;
		return;
	case CURRENT:
		channel->low = range.low.current_ua;
		channel->high = range.high.current_ua;
		channel->lsb = (uint32_t)llabs(pair->current_ua[1] - pair->current_ua[0]);
		return;
	case VOLTAGE:
		channel->low = range.low.voltage_uv;
		channel->high = range.high.voltage_uv;
		channel->lsb = (uint32_t)llabs(pair->voltage_uv[1] - pair->voltage_uv[0]);
		return;
	}
}

static int choose_channels(struct ps3_source *ps3, struct daq_source *source, struct daq_error *err)
{
	ps3->nr_channels = source->nr_channels;
	for (size_t i = 0; i < source->nr_channels; i++) {
		struct daq_channel *channel = &source->channel[i];
		size_t length = strcspn(channel->name, "/"), what = 0;
		int pair = ps3_pair_find(&ps3->config, channel->name, length);

		while (what < NR_QUANTITIES &&
		       strcmp(channel->name + length, quantities[what].suffix))
			what++;
		if (pair < 0 || what == NR_QUANTITIES)
			return say_no_channel(&ps3->config, channel->name, err);
		channel->unit = quantities[what].unit;
		ps3->pair[i] = pair;
		ps3->quantity[i] = (enum quantity)what;
		set_range(channel, &ps3->config.pair[pair], ps3->quantity[i]);
	}
	return 0;
}

static int choose_length(struct ps3_source *ps3, struct daq_source *source,
			 const struct daq_setup *setup, struct daq_error *err)
{
	uint64_t ns = setup->interval_ns ? setup->interval_ns : DEFAULT_LENGTH_US * 1000ull;

	if (ns % 1000 || ns < MIN_LENGTH_US * 1000ull || ns > MAX_LENGTH_US * 1000ull)
		return daq_fail(err, EINVAL,
				"a PowerSensor3 can't measure every %llu ns; the interval must be whole microseconds from %d us to %d s",
				(unsigned long long)ns, MIN_LENGTH_US, MAX_LENGTH_US / 1000000);
	ps3->length_us = (uint32_t)(ns / 1000);
	source->interval_ns = ns;
	source->period_num = ns;
	source->period_den = 1;
	return 0;
}

/* ---- opening ---- */

/* Return: a file descriptor, or -errno and a sentence. */
static int open_device(const struct daq_setup *setup, struct ps3_config *config,
		       struct daq_error *err)
{
	const char *path = daq_setting_text(setup, "device");
	char found[PATH_MAX];
	int error = 0, fd;

	if (!path) {
		error = ps3_serial_find(setup->sysfs, found, err);
		path = found;
	}
	if (error)
		return error;
	fd = ps3_serial_open(path, err);
	if (fd < 0)
		return fd;
	error = ps3_serial_configuration(fd, config, err);
	if (!error)
		return fd;
	close(fd);
	return error;
}

static int ps3_discover(const struct daq_setup *setup, struct daq_channel *found, size_t max,
			struct daq_error *err)
{
	struct ps3_config *config = calloc(1, sizeof(*config));
	int fd, nr;

	if (!config)
		return daq_fail(err, ENOMEM, "out of memory");
	fd = open_device(setup, config, err);
	nr = fd < 0 ? fd : (int)channels_of(config, found, max);
	if (fd >= 0)
		close(fd);
	free(config);
	return nr;
}

static void say_half_used(const struct ps3_config *config)
{
	for (int i = 0; i < PS3_PAIRS; i++) {
		if (config->pair[i].is_half_used)
			daq_say("pair %d of the PowerSensor3 is not measured: only one of its two sensors is in use",
				i);
	}
}

static int ps3_open(struct daq_source *source, const struct daq_setup *setup, struct daq_error *err)
{
	struct ps3_source *ps3 = calloc(1, sizeof(*ps3));
	int error;

	if (!ps3)
		return daq_fail(err, ENOMEM, "out of memory");
	error = choose_length(ps3, source, setup, err);
	if (!error) {
		ps3->fd = open_device(setup, &ps3->config, err);
		error = ps3->fd < 0 ? ps3->fd : choose_channels(ps3, source, err);
		if (error && ps3->fd >= 0)
			close(ps3->fd);
	}
	if (error) {
		free(ps3);
		return error;
	}
	if (!source->is_reopened)
		say_half_used(&ps3->config);
	source->clock = DAQ_CLOCK_DEVICE;
	source->private = ps3;
	return 0;
}

static void ps3_close(struct daq_source *source)
{
	struct ps3_source *ps3 = source->private;

	close(ps3->fd);
	free(ps3);
	source->private = NULL;
}

/* ---- bytes to windows ---- */

static int64_t value_of(const struct ps3_mean *mean, enum quantity what)
{
	switch (what) {
	case CURRENT:
		return mean->current_ua;
	case VOLTAGE:
		return mean->voltage_uv;
	case POWER:
		break;
	}
	return mean->power_nw;
}

static void take_window(void *context, const struct ps3_window *window)
{
	struct ps3_source *ps3 = context;
	int64_t *value = &ps3->value[ps3->nr_windows * ps3->nr_channels];

	for (size_t i = 0; i < ps3->nr_channels; i++)
		value[i] = value_of(&window->mean[ps3->pair[i]], ps3->quantity[i]);
	ps3->number[ps3->nr_windows++] = window->number;
}

static void take_set(void *context, const struct ps3_set *set)
{
	struct ps3_source *ps3 = context;

	if (!ps3->is_averaging)
		ps3_average_start(&ps3->average, &ps3->config, ps3->length_us,
				  ps3->stream.spacing_us);
	ps3->is_averaging = true;
	ps3->has_set = true;
	ps3->has_loss = ps3->has_loss || set->after_loss;
	ps3->last_us = set->at_us;
	ps3_average_add(&ps3->average, set, take_window, ps3);
}

static int restart(struct daq_error *err, const char *why)
{
	return daq_fail(err, ESTALE, "the PowerSensor3's stream failed: %s", why);
}

static void say_damage(struct ps3_source *ps3, uint64_t now_ns)
{
	uint64_t damage = ps3->stream.damaged + ps3->stream.losses;

	if (damage == ps3->said || (ps3->said_ns && now_ns < ps3->said_ns + DAMAGE_NS))
		return;
	ps3->said = damage;
	ps3->said_ns = now_ns;
	daq_say("the PowerSensor3's stream is incomplete: %llu bytes discarded, %llu losses so far; the power is unknown there",
		(unsigned long long)ps3->stream.damaged, (unsigned long long)ps3->stream.losses);
}

/* Read and decode once. Return: 0, or -errno and a sentence; windows are there in either case. */
static int take_bytes(struct daq_source *source, int timeout_ms, struct daq_error *err)
{
	struct ps3_source *ps3 = source->private;
	int length = ps3_serial_read(ps3->fd, ps3->bytes, READ_BYTES, timeout_ms, err);
	uint64_t now_ns = daq_now_ns();
	int error;

	ps3->nr_windows = 0;
	ps3->given = 0;
	if (length < 0)
		return length;
	ps3->has_set = false;
	ps3->has_loss = false;
	error = ps3_stream_feed(&ps3->stream, ps3->bytes, (size_t)length, take_set, ps3);
	source->damaged = ps3->stream.damaged;
	source->overflows = ps3->stream.losses;
	say_damage(ps3, now_ns);
	if (error)
		return daq_fail(err, EIO,
				"the device sends values every %u us; a PowerSensor3 sends them every %u to %u us",
				ps3->stream.spacing_us, PS3_MIN_SPACING_US, PS3_MAX_SPACING_US);
	if (!ps3->has_set && ps3->stream.spacing_us && now_ns - ps3->heard_ns > SILENCE_NS)
		return restart(err, "no data arrived");
	if (!ps3->has_set)
		return 0;
	ps3->heard_ns = now_ns;
	error = ps3_arrival_add(&ps3->arrival, ps3->last_us, now_ns, ps3->has_loss);
	if (ps3->nr_windows)
		ps3->late_ns = ps3_arrival_take(&ps3->arrival);
	return error ? restart(err, "so much was lost that the device's times are uncertain") : 0;
}

/* ---- start and stop ---- */

static int await_spacing(struct daq_source *source, struct daq_error *err)
{
	struct ps3_source *ps3 = source->private;
	uint64_t end_ns = daq_now_ns() + START_NS;
	int error = 0;

	while (!error && !ps3->stream.spacing_us) {
		error = take_bytes(source, STEP_MS, err);
		if (!error && !ps3->stream.spacing_us && daq_now_ns() >= end_ns)
			error = daq_fail(err, EIO, "the PowerSensor3 sends no values");
	}
	ps3->heard_ns = daq_now_ns();
	return error;
}

static int ps3_start(struct daq_source *source, struct daq_error *err)
{
	struct ps3_source *ps3 = source->private;
	int error;

	ps3_stream_start(&ps3->stream);
	ps3->is_averaging = false;
	ps3->next = 0;
	ps3->heard_ns = daq_now_ns();
	ps3_arrival_start(&ps3->arrival, ps3->heard_ns);
	error = ps3_serial_begin(ps3->fd, err);
	if (error)
		return error;
	error = await_spacing(source, err);
	if (error) {
		ps3_serial_end(ps3->fd, NULL);
		return error;
	}
	for (size_t i = 0; i < source->nr_channels; i++)
		source->channel[i].delay_ns = (ps3->length_us - ps3->stream.spacing_us) * 500;
	source->uncertainty_ns = USB_FRAME_NS + ps3->stream.spacing_us * 1000ull;
	return 0;
}

/* Errors are ignored: the next open stops an old stream anyway. */
static void ps3_stop(struct daq_source *source)
{
	struct ps3_source *ps3 = source->private;

	ps3_serial_end(ps3->fd, NULL);
}

/* ---- reading ---- */

/* The next windows without a gap, or the gap before them. */
static void give_windows(struct ps3_source *ps3, struct daq_block *block)
{
	size_t from = ps3->given, to = from + 1;
	uint64_t last;

	if (ps3->number[from] != ps3->next) {
		block->kind = DAQ_BLOCK_GAP;
		block->lost = ps3->number[from] - ps3->next;
		ps3->next = ps3->number[from];
		return;
	}
	while (to < ps3->nr_windows && ps3->number[to] == ps3->number[to - 1] + 1)
		to++;
	last = ps3->number[to - 1];
	block->kind = DAQ_BLOCK_SCANS;
	block->first = ps3->number[from];
	block->nr_scans = (uint32_t)(to - from);
	block->value = &ps3->value[from * ps3->nr_channels];
	block->arrival_ns = (uint64_t)ps3->late_ns + last * ps3->length_us * 1000;
	ps3->given = to;
	ps3->next = last + 1;
}

static int ps3_read(struct daq_source *source, int timeout_ms, struct daq_block *block,
		    struct daq_error *err)
{
	struct ps3_source *ps3 = source->private;

	memset(block, 0, sizeof(*block));
	if (ps3->given == ps3->nr_windows) {
		int error = take_bytes(source, timeout_ms, err);

		/* If times are uncertain after these bytes, so are those of their windows. */
		if (error)
			return error;
	}
	if (ps3->given < ps3->nr_windows)
		give_windows(ps3, block);
	return 0;
}

const struct daq_source_ops daq_source_powersensor3 = {
	.name = "powersensor3",
	.help = "PowerSensor3 on USB, averaged over the interval (100us to 1s, default 1ms); channels: the power of each pair of sensors, by its name or as pair0 to pair3, and NAME/current and NAME/voltage",
	.settings = "device (its serial line, for example /dev/ttyACM0; required if several lines have its USB identity)",
	.discover = ps3_discover,
	.open = ps3_open,
	.start = ps3_start,
	.read = ps3_read,
	.stop = ps3_stop,
	.close = ps3_close,
};
