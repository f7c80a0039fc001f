// SPDX-License-Identifier: GPL-2.0
/* See stream.h. */
#include "powersensor3/stream.h"

#include <errno.h>
#include <string.h>

#define IS_FIRST	0x80
#define MARKER		0x40
#define STAMP_SENSOR	7

struct sink {
	ps3_set_fn give;
	void *context;
};

void ps3_stream_start(struct ps3_stream *stream)
{
	uint64_t damaged = stream->damaged, losses = stream->losses;

	memset(stream, 0, sizeof(*stream));
	stream->damaged = damaged;
	stream->losses = losses;
	stream->first = -1;
	stream->next = -1;
}

/* The words of a set that will not be complete. */
static void discard_set(struct ps3_stream *stream)
{
	if (stream->next >= 0)
		stream->damaged += 2 * (1 + (uint64_t)stream->next);
	stream->next = -1;
}

/* Return: 0, or -EPROTO. */
static int measure_spacing(struct ps3_stream *stream, uint32_t passed_us)
{
	uint32_t i = stream->nr_spacings++;

	for (; i && stream->spacing[i - 1] > passed_us; i--)
		stream->spacing[i] = stream->spacing[i - 1];
	stream->spacing[i] = passed_us;
	if (stream->nr_spacings < PS3_SPACINGS)
		return 0;
	stream->spacing_us = stream->spacing[PS3_SPACINGS / 2];
	if (stream->spacing_us < PS3_MIN_SPACING_US || stream->spacing_us > PS3_MAX_SPACING_US)
		return -EPROTO;
	return 0;
}

static void give_set(struct ps3_stream *stream, uint32_t passed_us, const struct sink *sink)
{
	struct ps3_set *set = &stream->set;

	set->before_us = stream->at_us;
	set->after_loss = stream->has_origin && passed_us > stream->spacing_us * 3 / 2;
	if (stream->has_origin)
		stream->at_us += passed_us;
	stream->losses += set->after_loss;
	stream->has_origin = true;
	set->at_us = stream->at_us;
	sink->give(sink->context, set);
}

static int end_set(struct ps3_stream *stream, const struct sink *sink)
{
	uint32_t passed_us = (uint32_t)(stream->stamp - stream->before) % PS3_WRAP_US;
	bool had_before = stream->has_before;
	int error = 0;

	stream->next = -1;
	stream->before = stream->stamp;
	stream->has_before = true;
	if (stream->spacing_us)
		give_set(stream, passed_us, sink);
	else if (had_before)
		error = measure_spacing(stream, passed_us);
	return error;
}

static int take_word(struct ps3_stream *stream, uint8_t first, uint8_t second,
		     const struct sink *sink)
{
	int sensor = (first >> 4) & 7;
	uint16_t level = (uint16_t)((first & 0xf) << 6 | (second & 0x3f));
	bool is_marked = second & MARKER;

	if (sensor == STAMP_SENSOR && is_marked) {
		discard_set(stream);
		stream->stamp = level;
		stream->next = 0;
		return 0;
	}
	if (sensor != stream->next || (is_marked && sensor)) {
		discard_set(stream);
		stream->damaged += 2;
		return 0;
	}
	stream->set.level[stream->next++] = level;
	return stream->next == PS3_SENSORS ? end_set(stream, sink) : 0;
}

int ps3_stream_feed(struct ps3_stream *stream, const uint8_t *bytes, size_t length, ps3_set_fn give,
		    void *context)
{
	const struct sink sink = { .give = give, .context = context };

	for (size_t i = 0; i < length; i++) {
		int first = stream->first, error = 0;
		bool is_first = bytes[i] & IS_FIRST, had_first = first >= 0;

		stream->first = is_first ? bytes[i] : -1;
		if (is_first == had_first) {
			/* A word without its end, or the end of one without its start. */
			stream->damaged++;
			discard_set(stream);
		} else if (had_first) {
			error = take_word(stream, (uint8_t)first, bytes[i], &sink);
		}
		if (error)
			return error;
	}
	return 0;
}
