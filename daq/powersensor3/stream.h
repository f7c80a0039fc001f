/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decoder of a PowerSensor3's stream: bytes to sets of levels, on the device's clock.
 *
 * A word has two bytes: 1iiihhhh and 0mllllll, where i is the sensor, m a marker, and h and l are
 * the level's high and low bits. A set begins with a time stamp, which is a word of sensor 7 with
 * m, and has one word for each of the 8 sensors, in order, used or not. Only sensor 0's m is a
 * marker, which programs ask for. The time stamp is the device's clock in us, of which it has 10
 * bits: they wrap every 1024 us.
 *
 * The first bit of each byte shows where words begin, and the time stamp where sets begin. Bytes
 * that fit neither are discarded and counted, with their set.
 *
 * Sets come every 29 to 57 us, by model; the spacing is measured at the start. Where more time
 * passes between two time stamps, sets are lost. A loss of more than 1024 us is longer than it
 * looks, which only arrival.h can tell.
 *
 * Pure.
 */
#ifndef SPEK_DAQ_POWERSENSOR3_STREAM_H
#define SPEK_DAQ_POWERSENSOR3_STREAM_H

#include "powersensor3/config.h"

#define PS3_WRAP_US 1024
#define PS3_SET_BYTES (2 * (PS3_SENSORS + 1))
#define PS3_MIN_SPACING_US 20
#define PS3_MAX_SPACING_US 66
/* an odd number of distances, whose median is the spacing */
#define PS3_SPACINGS 21

/**
 * struct ps3_set - one complete set
 * @at_us: its time since the first one that was given out
 * @before_us: time of the set before it
 * @after_loss: sets are missing between the two
 * @level: the levels
 */
struct ps3_set {
	uint64_t at_us;
	uint64_t before_us;
	bool after_loss;
	uint16_t level[PS3_SENSORS];
};

typedef void (*ps3_set_fn)(void *context, const struct ps3_set *set);

/**
 * struct ps3_stream - state of the decoder
 * @spacing_us: time between sets; 0 until it is known
 * @spacing: distances seen so far
 * @nr_spacings: their number
 * @first: first byte of a word, or -1
 * @next: sensor of the next word of the set; -1: the set's time stamp is missing
 * @stamp: time stamp of the set in progress
 * @before: time stamp of the last complete set
 * @has_before: there is one
 * @at_us: time of the last set that was given out
 * @has_origin: a set was given out
 * @set: the set in progress
 * @damaged: bytes that were discarded
 * @losses: places where sets are missing
 */
struct ps3_stream {
	uint32_t spacing_us;
	uint32_t spacing[PS3_SPACINGS];
	uint32_t nr_spacings;
	int first;
	int next;
	uint16_t stamp;
	uint16_t before;
	bool has_before;
	uint64_t at_us;
	bool has_origin;
	struct ps3_set set;
	uint64_t damaged;
	uint64_t losses;
};

/** ps3_stream_start() - begin a new stream; keeps the counts of an old one. */
void ps3_stream_start(struct ps3_stream *stream);

/**
 * ps3_stream_feed() - decode bytes, cut anywhere
 * @give: called for each complete set, in order, once the spacing is known
 * @context: argument for @give
 * Return: 0, or -EPROTO: the spacing is none that a PowerSensor3 has.
 */
int ps3_stream_feed(struct ps3_stream *stream, const uint8_t *bytes, size_t length, ps3_set_fn give,
		    void *context);

#endif
