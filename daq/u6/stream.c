// SPDX-License-Identifier: GPL-2.0
/* See stream.h. */
#include "u6/stream.h"

#include <errno.h>
#include <string.h>

#define STREAM_TYPE		0xf9
#define STREAM_COMMAND		0xc0
#define AT_DROPPED		6
#define AT_COUNTER		10
#define AT_ERROR		11
#define AT_SAMPLES		12
#define MARK			0xffff
/* The device's count of dropped scans saturates here, at least in some firmware versions. */
#define DROPPED_SATURATED	0xffff

struct sink {
	u6_scan_fn give;
	void *context;
};

void u6_stream_restart(struct u6_stream *stream)
{
	stream->scan = 0;
	stream->filled = 0;
	stream->is_whole = true;
	stream->next_given = 0;
	stream->counter = 0;
	stream->recovery = U6_STEADY;
}

void u6_stream_init(struct u6_stream *stream, uint8_t channels, uint8_t per_packet)
{
	memset(stream, 0, sizeof(*stream));
	stream->channels = channels;
	stream->per_packet = per_packet;
	u6_stream_restart(stream);
}

static bool is_mark(const struct u6_stream *stream)
{
	for (uint8_t i = 0; i < stream->channels; i++) {
		if (stream->samples[i] != MARK)
			return false;
	}
	return true;
}

static void give_scan(struct u6_stream *stream, const struct sink *sink)
{
	struct u6_scan scan = {
		.number = stream->scan,
		.after_gap = stream->scan != stream->next_given,
		.samples = stream->samples,
	};

	if (scan.after_gap) {
		stream->counts.gaps++;
		stream->counts.missing += scan.number - stream->next_given;
	}
	stream->next_given = scan.number + 1;
	stream->counts.scans++;
	sink->give(sink->context, &scan);
}

/* The last sample of the current scan has passed. Return: 0 or -ESTALE. */
static int end_scan(struct u6_stream *stream, const struct sink *sink)
{
	bool is_whole = stream->is_whole;

	stream->filled = 0;
	stream->is_whole = true;
	if (stream->recovery == U6_MARKING && stream->scan == stream->mark) {
		if (!is_mark(stream))
			return -ESTALE;
		stream->scan += stream->to_skip;
		stream->recovery = U6_STEADY;
		return 0;
	}
	if (is_whole)
		give_scan(stream, sink);
	stream->scan++;
	return 0;
}

static int take_samples(struct u6_stream *stream, const uint8_t *at, const struct sink *sink)
{
	int error = 0;

	for (uint8_t i = 0; i < stream->per_packet && !error; i++, at += 2) {
		stream->samples[stream->filled] = (uint16_t)(at[0] | at[1] << 8);
		if (++stream->filled == stream->channels)
			error = end_scan(stream, sink);
	}
	return error;
}

/* Advance by the samples of missing or damaged packets. */
static void skip_packets(struct u6_stream *stream, uint8_t packets)
{
	uint32_t position = stream->filled + (uint32_t)packets * stream->per_packet;

	stream->counts.lost += packets;
	stream->scan += position / stream->channels;
	stream->filled = (uint8_t)(position % stream->channels);
	/* A scan that lost its start is unusable. */
	stream->is_whole = stream->filled == 0;
}

/*
 * The marker scan begins in the packet with the report, at an unspecified position. Without it, the
 * samples before the gap cannot be told from those after it. If the packet cuts it off, end_scan()
 * checks the complete scan.
 */
static bool find_mark(struct u6_stream *stream, const uint8_t *samples)
{
	uint32_t start = stream->filled ? stream->channels - stream->filled : 0;
	uint64_t scan = stream->scan + (stream->filled != 0);

	for (; start < stream->per_packet; start += stream->channels, scan++) {
		uint32_t end = start + stream->channels;
		uint32_t i = start;

		while (i < end && i < stream->per_packet && samples[2 * i] == 0xff &&
		       samples[2 * i + 1] == 0xff)
			i++;
		if (i == end || i == stream->per_packet) {
			stream->mark = scan;
			return true;
		}
	}
	return false;
}

/* Return: 0 or -ESTALE. */
static int take_report(struct u6_stream *stream, const uint8_t *packet)
{
	uint32_t dropped = 0;

	for (int i = 3; i >= 0; i--)
		dropped = dropped << 8 | packet[AT_DROPPED + i];
	if (dropped == 0 || dropped == DROPPED_SATURATED || !find_mark(stream, packet + AT_SAMPLES))
		return -ESTALE;
	if (stream->recovery == U6_STEADY) /* no packet reported its beginning */
		stream->counts.overflows++;
	stream->recovery = U6_MARKING;
	stream->to_skip = dropped;
	stream->counts.dropped += dropped;
	return 0;
}

static int take_error(struct u6_stream *stream, const uint8_t *packet)
{
	switch (packet[AT_ERROR]) {
	case U6_OK:
		/* A recovery must end with a report of the dropped scans. */
		return stream->recovery == U6_EMPTYING ? -ESTALE : 0;
	case U6_AUTORECOVERY:
		if (stream->recovery == U6_STEADY)
			stream->counts.overflows++;
		if (stream->recovery == U6_MARKING)
			return -ESTALE;
		stream->recovery = U6_EMPTYING;
		return 0;
	case U6_RECOVERED:
		return stream->recovery == U6_MARKING ? -ESTALE : take_report(stream, packet);
	default:
		return packet[AT_ERROR];
	}
}

/* A recovery sends a whole buffer of packets, and the packet after them has the report. */
static bool may_hide_overflow(const struct u6_stream *stream, uint8_t packets)
{
	return (packets + 1u) * stream->per_packet >= U6_FIFO_MIN_SAMPLES;
}

static int take_packet(struct u6_stream *stream, const uint8_t *packet, const struct sink *sink)
{
	uint8_t missing = (uint8_t)(packet[AT_COUNTER] - stream->counter);
	int error;

	if (missing) {
		if (stream->recovery != U6_STEADY || may_hide_overflow(stream, missing))
			return -ESTALE;
		skip_packets(stream, missing);
	}
	stream->counter = (uint8_t)(packet[AT_COUNTER] + 1);
	error = take_error(stream, packet);
	if (error)
		return error;
	stream->counts.packets++;
	return take_samples(stream, packet + AT_SAMPLES, sink);
}

static bool is_stream_packet(const struct u6_stream *stream, const uint8_t *bytes, size_t length)
{
	return length == U6_STREAM_BYTES((size_t)stream->per_packet) && bytes[1] == STREAM_TYPE &&
	       bytes[2] == 4 + stream->per_packet && bytes[3] == STREAM_COMMAND &&
	       u6_packet_is_sound(bytes, length);
}

int u6_stream_feed(struct u6_stream *stream, const uint8_t *bytes, size_t length, u6_scan_fn give,
		   void *context)
{
	const struct sink sink = { .give = give, .context = context };
	const size_t whole = U6_STREAM_BYTES((size_t)stream->per_packet);

	while (length) {
		size_t here = length < whole ? length : whole;
		int error;

		if (is_stream_packet(stream, bytes, here)) {
			error = take_packet(stream, bytes, &sink);
			if (error)
				return error;
		} else {
			stream->counts.damaged++;
		}
		bytes += here;
		length -= here;
	}
	return 0;
}
