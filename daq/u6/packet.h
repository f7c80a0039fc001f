/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a LabJack U6 is told and what it answers, as bytes: no USB, no clock, no allocation.
 *
 * A command goes out on one endpoint, its reply comes in on another, stream data on a third.
 * Short commands and replies carry one check sum (8 bits), long ones two: 16 bits over what
 * follows the header, 8 bits over the header with the first inside. All numbers are little endian.
 */
#ifndef SPEK_DAQ_U6_PACKET_H
#define SPEK_DAQ_U6_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define U6_VENDOR		0x0cd5
#define U6_PRODUCT		6
#define U6_ENDPOINT_COMMAND	0x01
#define U6_ENDPOINT_REPLY	0x82
#define U6_ENDPOINT_STREAM	0x83

#define U6_INPUTS		14	/* AIN0..AIN13 */
#define U6_CHANNEL_DIGITAL	193	/* FIO in the low byte, EIO in the high one */
#define U6_GAINS		4	/* x1, x10, x100, x1000: +-10 V .. +-10 mV */
#define U6_MAX_CHANNELS		25	/* of one scan */
#define U6_MAX_PER_PACKET	25	/* samples in one packet of the stream */
/* From one channel of a scan to the next, at resolution index 1 and gain x1: 50,000 in a second. */
#define U6_SAMPLE_NS		20000
/* 65,535 ticks of the slowest clock */
#define U6_MAX_INTERVAL_NS	4194240000ull
#define U6_FIFO_MIN_SAMPLES	512	/* the device's buffer; up to 984, by the packets' size */
#define U6_BLOCK_BYTES		32	/* of its memory */
#define U6_PACKET_BYTES		64	/* no command, reply or packet of the stream is longer */

/* Bytes of a packet of the stream. */
#define U6_STREAM_BYTES(per_packet)	(14 + 2 * (per_packet))

/**
 * enum u6_error - error codes of the device that something is done about
 * @U6_OK: none
 * @U6_STREAM_ACTIVE: there is a stream already
 * @U6_STREAM_NOT_RUNNING: there is no stream to stop
 * @U6_STREAM_SCAN_OVERLAP: a scan was due before the one before was over
 * @U6_AUTORECOVERY: its buffer is full; what is in it is sent, new scans are dropped
 * @U6_RECOVERED: scans are kept again, and this packet says how many were dropped
 */
enum u6_error {
	U6_OK = 0,
	U6_STREAM_ACTIVE = 48,
	U6_STREAM_NOT_RUNNING = 52,
	U6_STREAM_SCAN_OVERLAP = 55,
	U6_AUTORECOVERY = 59,
	U6_RECOVERED = 60,
};

/**
 * struct u6_identity - what a U6 says of itself
 * @serial: number on the case
 * @firmware_major: version of the firmware, before the point
 * @firmware_minor: and after it, two digits
 * @local_id: number that its owner gave it
 * @is_pro: it has the converter of 24 bits (which streams don't use)
 */
struct u6_identity {
	uint32_t serial;
	uint8_t firmware_major;
	uint8_t firmware_minor;
	uint8_t local_id;
	bool is_pro;
};

/**
 * struct u6_rate - how often the device scans: exactly clock_hz / interval times in a second
 * @clock_hz: 48 MHz, 4 MHz or one of them divided by 256
 * @interval: ticks of it from scan to scan
 * @scan_config: the same clock as the device is told
 */
struct u6_rate {
	uint32_t clock_hz;
	uint16_t interval;
	uint8_t scan_config;
};

/**
 * struct u6_stream_config - what a stream consists of
 * @rate: of the scans
 * @channels: samples in one scan, 1..U6_MAX_CHANNELS
 * @per_packet: samples in one packet, 1..U6_MAX_PER_PACKET; a packet may end within a scan
 * @channel: inputs in the order of the scan
 * @gain: of each input, 0..U6_GAINS - 1
 */
struct u6_stream_config {
	struct u6_rate rate;
	uint8_t channels;
	uint8_t per_packet;
	uint8_t channel[U6_MAX_CHANNELS];
	uint8_t gain[U6_MAX_CHANNELS];
};

/**
 * u6_rate_choose() - the fastest clock that can make a rate
 * @rate: filled in; scans come at the wanted interval or a little sooner, as ticks are whole
 * @interval_ns: wanted time from scan to scan
 *
 * Return: 0 or -ERANGE: no clock can do that (U6_MAX_INTERVAL_NS is the longest).
 */
int u6_rate_choose(struct u6_rate *rate, uint64_t interval_ns);

/** u6_rate_time_ns() - Return: time of scan number @scan since scan 0, rounded down. */
uint64_t u6_rate_time_ns(const struct u6_rate *rate, uint64_t scan);

/** u6_checksum8() - Return: check sum of a whole short packet, or of the header of a long one. */
uint8_t u6_checksum8(const uint8_t *bytes, size_t length);

/** u6_checksum16() - Return: check sum of what follows the header of a long packet. */
uint16_t u6_checksum16(const uint8_t *bytes, size_t length);

/** u6_packet_is_sound() - Return: both check sums of a long packet are right. */
bool u6_packet_is_sound(const uint8_t *bytes, size_t length);

/*
 * Commands. Each encoder writes at most U6_PACKET_BYTES and returns how many it wrote.
 */
size_t u6_encode_identify(uint8_t *out);
size_t u6_encode_read_block(uint8_t *out, uint8_t block);
size_t u6_encode_stream_config(uint8_t *out, const struct u6_stream_config *config);
size_t u6_encode_stream_start(uint8_t *out);
size_t u6_encode_stream_stop(uint8_t *out);

/*
 * Replies. Return: 0, -EBADMSG (not this reply, its length or a check sum is wrong),
 * -EILSEQ (the device says that it got the command with a wrong check sum), or the
 * device's error code (> 0, enum u6_error).
 */
int u6_decode_identify(const uint8_t *bytes, size_t length, struct u6_identity *identity);
int u6_decode_read_block(const uint8_t *bytes, size_t length, uint8_t block[U6_BLOCK_BYTES]);
int u6_decode_stream_config(const uint8_t *bytes, size_t length);
int u6_decode_stream_start(const uint8_t *bytes, size_t length);
int u6_decode_stream_stop(const uint8_t *bytes, size_t length);

/** u6_error_text() - Return: what an error code of the device means, in words. */
const char *u6_error_text(int code);

#endif
