// SPDX-License-Identifier: GPL-2.0
/*
 * LabJack U6 in stream mode: up to 14 voltages and the digital inputs.
 *
 * The device scans by its own clock, which has an exact rational period; the bridge maps it to
 * CLOCK_MONOTONIC. Within a scan, channels are sampled one after the other, analogue ones first.
 *
 * A transfer yields one or more runs of scans, usually one. Each read returns one run, or the gap
 * before it.
 *
 * If the device repeats or loses packets undetectably by their counter, does not report how many
 * scans it dropped, or sends nothing, its stream is restarted (-ESTALE). If it sends an invalid
 * reply, it is closed (-EIO), and the bridge reopens it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pace.h"
#include "sources/source.h"
#include "u6/calibration.h"
#include "u6/packet.h"
#include "u6/plausible.h"
#include "u6/stream.h"
#include "u6/usb.h"

#define DEFAULT_INTERVAL_NS	1000000
#define MAX_CHANNELS		(U6_INPUTS + 1)
/* Longest duration of a packet, and of a transfer, if the rate allows it. */
#define PACKET_NS		50000000ull
#define TRANSFER_NS		20000000ull
#define MAX_PACKETS		32 /* per transfer */
/* Data the kernel can buffer while this process is not scheduled. */
#define AHEAD_NS		1000000000ull
#define MIN_TRANSFERS		8
#define MAX_TRANSFERS		256
#define MIN_SILENCE_NS		2000000000ull
#define USB_FRAME_NS		1000000
/* Packets may be missing before each packet, and each may have a marker scan. */
#define MAX_RUNS		(2 * MAX_PACKETS + 1)
/* per transfer, plus a scan that began in the previous transfer */
#define MAX_VALUES		(MAX_PACKETS * U6_MAX_PER_PACKET + MAX_CHANNELS)
#define DIGITAL_NAME		"FIO"

/**
 * struct run - scans without a gap
 * @first: number of the first scan
 * @lost: number of scans missing before it
 * @nr_scans: number of scans
 * @value: index of the first value
 */
struct run {
	uint64_t first;
	uint64_t lost;
	uint32_t nr_scans;
	uint32_t value;
};

/**
 * struct u6_source - an open U6
 * @usb: the device
 * @calibration: its calibration constants
 * @config: configuration of the stream
 * @place: index in the caller's list for each channel of a scan
 * @packets: number of packets per transfer
 * @transfers: number of queued transfers
 * @silence_ns: a stream without data for this long is dead
 * @stream: decoder of the stream
 * @plausible: check of the scan numbers
 * @heard_ns: time of the last data, or of the start
 * @next: number after the last scan
 * @run: runs of the last transfer
 * @nr_runs: number of runs
 * @runs_given: number of runs read
 * @gap_given: the gap before the next run has been read
 * @nr_values: number of values in @value
 * @value: values of all runs
 * @arrival_ns: arrival of the last transfer
 * @failure: -errno that ended the stream in the last transfer, returned after its runs; or 0
 * @why: the sentence that belongs to @failure
 */
struct u6_source {
	struct u6_usb *usb;
	struct u6_calibration calibration;
	struct u6_stream_config config;
	uint8_t place[MAX_CHANNELS];
	unsigned int packets;
	unsigned int transfers;
	uint64_t silence_ns;
	struct u6_stream stream;
	struct u6_plausible plausible;
	uint64_t heard_ns;
	uint64_t next;
	struct run run[MAX_RUNS];
	uint32_t nr_runs;
	uint32_t runs_given;
	bool gap_given;
	uint32_t nr_values;
	int64_t value[MAX_VALUES];
	uint64_t arrival_ns;
	int failure;
	struct daq_error why;
};

/* ---- configuration ---- */

/* Return: number of the input called @name, or -1. */
static int input_of(const char *name)
{
	char expected[16];

	if (!strcmp(name, DIGITAL_NAME))
		return U6_CHANNEL_DIGITAL;
	for (int input = 0; input < U6_INPUTS; input++) {
		snprintf(expected, sizeof(expected), "AIN%d", input);
		if (!strcmp(name, expected))
			return input;
	}
	return -1;
}

static void add_channel(struct u6_source *u6, struct daq_source *source, size_t place, int input)
{
	struct u6_stream_config *config = &u6->config;
	struct daq_channel *channel = &source->channel[place];

	channel->unit = input == U6_CHANNEL_DIGITAL ? DAQ_UNIT_BITS : DAQ_UNIT_UV;
	channel->delay_ns = config->channels * U6_SAMPLE_NS;
	u6->place[config->channels] = (uint8_t)place;
	config->channel[config->channels] = (uint8_t)input;
	config->gain[config->channels] = 0;
	config->channels++;
}

/* Analogue channels first: they make the marker scan of an overflow unambiguous. */
static int choose_channels(struct u6_source *u6, struct daq_source *source, struct daq_error *err)
{
	for (size_t i = 0; i < source->nr_channels; i++) {
		int input = input_of(source->channel[i].name);

		if (input < 0)
			return daq_fail(err, EINVAL,
					"a U6 has no channel '%s'; use AIN0 to AIN%d, and " DIGITAL_NAME " for the digital inputs",
					source->channel[i].name, U6_INPUTS - 1);
		for (size_t j = 0; j < i; j++) {
			if (!strcmp(source->channel[i].name, source->channel[j].name))
				return daq_fail(err, EINVAL, "channel '%s' is listed twice",
						source->channel[i].name);
		}
		if (input != U6_CHANNEL_DIGITAL)
			add_channel(u6, source, i, input);
	}
	if (!u6->config.channels)
		return daq_fail(err, EINVAL, "a U6 needs at least one of AIN0 to AIN%d to stream",
				U6_INPUTS - 1);
	for (size_t i = 0; i < source->nr_channels; i++) {
		if (input_of(source->channel[i].name) == U6_CHANNEL_DIGITAL)
			add_channel(u6, source, i, U6_CHANNEL_DIGITAL);
	}
	return 0;
}

static uint64_t at_most(uint64_t value, uint64_t limit)
{
	return value < limit ? value : limit;
}

static uint64_t at_least(uint64_t value, uint64_t limit)
{
	return value > limit ? value : limit;
}

/* A packet that isn't full ends its transfer, which then has only this one. */
static void choose_sizes(struct u6_source *u6, uint64_t scan_ns)
{
	uint64_t sample_ns = at_least(scan_ns / u6->config.channels, 1);
	uint64_t samples = at_least(at_most(PACKET_NS / sample_ns, U6_MAX_PER_PACKET), 1);
	uint64_t packet_ns = sample_ns * samples;
	uint64_t packets = 1;

	if (samples == U6_MAX_PER_PACKET)
		packets = at_least(at_most(TRANSFER_NS / packet_ns, MAX_PACKETS), 1);
	u6->config.per_packet = (uint8_t)samples;
	u6->packets = (unsigned int)packets;
	u6->transfers = (unsigned int)at_most(
		at_least(AHEAD_NS / (packet_ns * packets), MIN_TRANSFERS), MAX_TRANSFERS);
	u6->silence_ns = at_least(3 * packet_ns * packets, MIN_SILENCE_NS);
}

static int choose_rate(struct u6_source *u6, struct daq_source *source,
		       const struct daq_setup *setup, struct daq_error *err)
{
	uint64_t wanted = setup->interval_ns ? setup->interval_ns : DEFAULT_INTERVAL_NS;
	uint64_t needed = (uint64_t)u6->config.channels * U6_SAMPLE_NS;
	struct u6_rate *rate = &u6->config.rate;

	if (u6_rate_choose(rate, wanted) || u6_rate_time_ns(rate, 1) < needed)
		return daq_fail(err, EINVAL,
				"a U6 can't scan %u channels every %llu ns; the interval must be from %llu to %llu ns",
				u6->config.channels, (unsigned long long)wanted,
				(unsigned long long)needed, (unsigned long long)U6_MAX_INTERVAL_NS);
	choose_sizes(u6, u6_rate_time_ns(rate, 1));
	source->period_num = rate->interval * 1000000000ull;
	source->period_den = rate->clock_hz;
	source->interval_ns = u6_rate_time_ns(rate, 1);
	/* Longest time from the first sample of a scan until its last one leaves the device. */
	source->uncertainty_ns = USB_FRAME_NS + needed;
	return 0;
}

/* ---- the device ---- */

static int read_calibration(struct u6_source *u6, struct daq_error *err)
{
	uint8_t blocks[U6_CALIBRATION_BLOCKS][U6_BLOCK_BYTES];
	uint8_t bytes[U6_PACKET_BYTES];
	size_t length;

	for (uint8_t i = 0; i < U6_CALIBRATION_BLOCKS; i++) {
		int error = u6_usb_command(u6->usb, bytes, u6_encode_read_block(bytes, i), bytes,
					   &length, err);

		if (error)
			return error;
		error = u6_decode_read_block(bytes, length, blocks[i]);
		if (error)
			return daq_fail(err, EIO, "cannot read the U6's calibration: %s",
					error > 0 ? u6_error_text(error) : "invalid reply");
	}
	if (u6_calibration_decode(&u6->calibration, blocks))
		return daq_fail(err, EIO,
				"the U6's calibration is implausible: its memory was erased or is worn out");
	return 0;
}

/* The converter's step, its first and its last; the one above the last marks scans that were lost. */
static void set_ranges(const struct u6_source *u6, struct daq_source *source)
{
	for (uint8_t i = 0; i < u6->config.channels; i++) {
		struct daq_channel *channel = &source->channel[u6->place[i]];

		if (u6->config.channel[i] == U6_CHANNEL_DIGITAL)
			continue;
		channel->low = u6_calibration_uv(&u6->calibration, u6->config.gain[i], 0);
		channel->high = u6_calibration_uv(&u6->calibration, u6->config.gain[i],
						  UINT16_MAX - 1);
		channel->lsb = u6_calibration_step_uv(&u6->calibration, u6->config.gain[i]);
	}
}

static int u6_open(struct daq_source *source, const struct daq_setup *setup, struct daq_error *err)
{
	struct u6_source *u6 = calloc(1, sizeof(*u6));
	struct u6_identity identity;
	int64_t serial = 0;
	int error;

	if (!u6)
		return daq_fail(err, ENOMEM, "out of memory");
	error = daq_setting_number(setup, "serial", 1, UINT32_MAX, &serial, err);
	if (!error)
		error = choose_channels(u6, source, err);
	if (!error)
		error = choose_rate(u6, source, setup, err);
	if (!error)
		error = u6_usb_open(&u6->usb, (uint32_t)serial, &identity, err);
	if (!error)
		error = read_calibration(u6, err);
	if (!error)
		set_ranges(u6, source);
	if (error) {
		u6_usb_close(u6->usb);
		free(u6);
		return error;
	}
	u6_stream_init(&u6->stream, u6->config.channels, u6->config.per_packet);
	source->clock = DAQ_CLOCK_DEVICE;
	source->private = u6;
	return 0;
}

static void u6_close(struct daq_source *source)
{
	struct u6_source *u6 = source->private;

	u6_usb_close(u6->usb);
	free(u6);
	source->private = NULL;
}

static int u6_discover(const struct daq_setup *setup, struct daq_channel *found, size_t max,
		       struct daq_error *err)
{
	int devices = u6_usb_count(err);
	size_t number = 0;

	(void)setup;
	if (devices <= 0)
		return devices;
	for (; number < MAX_CHANNELS && number < max; number++) {
		memset(&found[number], 0, sizeof(found[number]));
		if (number < U6_INPUTS)
			snprintf(found[number].name, DAQ_NAME_MAX, "AIN%zu", number);
		else
			snprintf(found[number].name, DAQ_NAME_MAX, DIGITAL_NAME);
		found[number].unit = number < U6_INPUTS ? DAQ_UNIT_UV : DAQ_UNIT_BITS;
	}
	return (int)number;
}

/* ---- start and stop ---- */

static int exchange(struct u6_source *u6, size_t (*encode)(uint8_t *),
		    int (*decode)(const uint8_t *, size_t), const char *doing,
		    struct daq_error *err)
{
	uint8_t bytes[U6_PACKET_BYTES];
	size_t length;
	int error;

	error = u6_usb_command(u6->usb, bytes, encode(bytes), bytes, &length, err);
	if (error)
		return error;
	error = decode(bytes, length);
	if (error > 0)
		return daq_fail(err, EIO, "the U6 refuses to %s: %s (error %d)", doing,
				u6_error_text(error), error);
	if (error)
		return daq_fail(err, EIO, "the U6 sent an invalid reply to the command to %s", doing);
	return 0;
}

static int configure(struct u6_source *u6, struct daq_error *err)
{
	uint8_t bytes[U6_PACKET_BYTES];
	size_t length;
	int error;

	error = u6_usb_command(u6->usb, bytes, u6_encode_stream_config(bytes, &u6->config), bytes,
			       &length, err);
	if (error)
		return error;
	error = u6_decode_stream_config(bytes, length);
	if (error > 0)
		return daq_fail(err, EIO, "the U6 refuses these channels at this rate: %s (error %d)",
				u6_error_text(error), error);
	if (error)
		return daq_fail(err, EIO, "the U6 sent an invalid reply to its stream configuration");
	return 0;
}

static int u6_start(struct daq_source *source, struct daq_error *err)
{
	struct u6_source *u6 = source->private;
	uint64_t packet_ns;
	int error;

	error = configure(u6, err);
	if (error)
		return error;
	error = u6_usb_stream_begin(u6->usb, u6->transfers,
				    u6->packets * U6_STREAM_BYTES((size_t)u6->config.per_packet),
				    err);
	if (error)
		return error;
	u6_stream_restart(&u6->stream);
	u6->next = 0;
	u6->nr_runs = 0;
	u6->runs_given = 0;
	u6->failure = 0;
	u6->heard_ns = daq_now_ns();
	packet_ns = u6_rate_time_ns(&u6->config.rate, u6->config.per_packet) / u6->config.channels;
	u6_plausible_start(&u6->plausible, u6->heard_ns, packet_ns);
	error = exchange(u6, u6_encode_stream_start, u6_decode_stream_start, "start its stream", err);
	if (error)
		u6_usb_stream_end(u6->usb);
	return error;
}

/* Errors are ignored: the next open stops an old stream anyway. */
static void u6_stop(struct daq_source *source)
{
	struct u6_source *u6 = source->private;

	u6_usb_stream_end(u6->usb);
	if (!exchange(u6, u6_encode_stream_stop, u6_decode_stream_stop, "stop its stream", NULL))
		u6_usb_stream_drain(u6->usb);
}

/* ---- reading ---- */

static void take_scan(void *context, const struct u6_scan *scan)
{
	struct u6_source *u6 = context;
	const struct u6_stream_config *config = &u6->config;
	int64_t *value = &u6->value[u6->nr_values];
	struct run *run;

	if (!u6->nr_runs || scan->after_gap) {
		run = &u6->run[u6->nr_runs++];
		run->first = scan->number;
		run->lost = scan->number - u6->next;
		run->nr_scans = 0;
		run->value = u6->nr_values;
	}
	run = &u6->run[u6->nr_runs - 1];
	run->nr_scans++;
	u6->next = scan->number + 1;
	for (uint8_t i = 0; i < config->channels; i++) {
		if (config->channel[i] == U6_CHANNEL_DIGITAL)
			value[u6->place[i]] = scan->samples[i];
		else
			value[u6->place[i]] = u6_calibration_uv(&u6->calibration, config->gain[i],
								scan->samples[i]);
	}
	u6->nr_values += config->channels;
}

static int restart(struct daq_error *err, const char *why)
{
	return daq_fail(err, ESTALE, "the U6's stream failed: %s", why);
}

/* The times of scans with wrong numbers are unknown; only their number counts. */
static void lose_runs(struct u6_source *u6)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < u6->nr_runs; i++)
		lost += u6->run[i].lost + u6->run[i].nr_scans;
	u6->run[0] = (struct run){ .first = u6->next, .lost = lost };
	u6->nr_runs = lost ? 1 : 0;
}

/* Return: 0, or -errno and a sentence; earlier scans are in u6->run in either case. */
static int take_chunk(struct daq_source *source, const struct u6_usb_chunk *chunk,
		      struct daq_error *err)
{
	struct u6_source *u6 = source->private;
	int error;

	u6->nr_runs = 0;
	u6->runs_given = 0;
	u6->gap_given = false;
	u6->nr_values = 0;
	u6->heard_ns = chunk->arrival_ns;
	u6->arrival_ns = chunk->arrival_ns;
	error = u6_stream_feed(&u6->stream, chunk->bytes, chunk->length, take_scan, u6);
	source->overflows = u6->stream.counts.overflows;
	source->damaged = u6->stream.counts.damaged;
	if (error == U6_STREAM_SCAN_OVERLAP)
		return restart(err, u6_error_text(error));
	if (error > 0)
		return daq_fail(err, ESTALE, "the U6's stream failed: %s (error %d)",
				u6_error_text(error), error);
	if (error)
		return restart(err, "the number of lost scans is unknown");
	if (u6->next && u6_plausible_check(&u6->plausible,
					   u6_rate_time_ns(&u6->config.rate, u6->next - 1),
					   chunk->arrival_ns)) {
		lose_runs(u6);
		return restart(err, "its packet numbers contradict the elapsed time");
	}
	return 0;
}

static void give_run(struct u6_source *u6, struct daq_block *block)
{
	const struct run *run = &u6->run[u6->runs_given];

	if (run->lost && !u6->gap_given) {
		u6->gap_given = true;
		block->kind = DAQ_BLOCK_GAP;
		block->first = run->first;
		block->lost = run->lost;
		u6->runs_given += !run->nr_scans;
		return;
	}
	block->kind = DAQ_BLOCK_SCANS;
	block->first = run->first;
	block->nr_scans = run->nr_scans;
	block->value = &u6->value[run->value];
	block->arrival_ns = u6->arrival_ns;
	u6->runs_given++;
	u6->gap_given = false;
}

static int u6_read(struct daq_source *source, int timeout_ms, struct daq_block *block,
		   struct daq_error *err)
{
	struct u6_source *u6 = source->private;
	struct u6_usb_chunk chunk;
	int error;

	memset(block, 0, sizeof(*block));
	if (u6->runs_given == u6->nr_runs) {
		if (u6->failure)
			return daq_fail(err, -u6->failure, "%s", u6->why.text);
		error = u6_usb_stream_next(u6->usb, timeout_ms, &chunk, err);
		if (error)
			return error;
		if (chunk.length)
			u6->failure = take_chunk(source, &chunk, &u6->why);
		else if (daq_now_ns() - u6->heard_ns > u6->silence_ns)
			error = restart(err, "no data arrived");
		if (error)
			return error;
	}
	if (u6->runs_given < u6->nr_runs)
		give_run(u6, block);
	return 0;
}

const struct daq_source_ops daq_source_u6 = {
	.name = "u6",
	.help = "LabJack U6 on USB, in stream mode; channels AIN0 to AIN13 (voltages of -10 to 10 V) and " DIGITAL_NAME " (digital inputs)",
	.settings = "serial (number of the device; required if several are connected)",
	.discover = u6_discover,
	.open = u6_open,
	.start = u6_start,
	.read = u6_read,
	.stop = u6_stop,
	.close = u6_close,
};
