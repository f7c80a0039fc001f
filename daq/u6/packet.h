/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Encoding of commands for a LabJack U6 and decoding of its replies. Pure: no USB, no clock, no
 * allocation.
 *
 * Commands, replies and stream data use separate endpoints. Short commands and replies have one
 * 8-bit checksum. Long ones have two: 16 bits over the bytes after the header, and 8 bits over the
 * header including the former. All numbers are little endian.
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
#define U6_MAX_CHANNELS		25	/* per scan */
#define U6_MAX_PER_PACKET	25	/* samples per stream packet */
/* Time per channel within a scan at resolution index 1 and gain x1: 50,000 samples per second. */
#define U6_SAMPLE_NS		20000
/* 65,535 ticks of the slowest clock */
#define U6_MAX_INTERVAL_NS	4194240000ull
#define U6_FIFO_MIN_SAMPLES	512	/* device's buffer; up to 984, by packet size */
#define U6_BLOCK_BYTES		32	/* per block of its memory */
#define U6_PACKET_BYTES		64	/* longest command, reply or stream packet */

/* Length of a stream packet. */
#define U6_STREAM_BYTES(per_packet)	(14 + 2 * (per_packet))

/**
 * enum u6_error - error codes of the device that get special handling
 * @U6_OK: no error
 * @U6_STREAM_ACTIVE: a stream is already running
 * @U6_STREAM_NOT_RUNNING: no stream is running
 * @U6_STREAM_SCAN_OVERLAP: a scan was due before the previous one had finished
 * @U6_AUTORECOVERY: the buffer is full: the device sends its contents and drops new scans
 * @U6_RECOVERED: the device stores scans again; this packet has the number of dropped ones
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
 * struct u6_identity - identification of a U6
 * @serial: serial number, printed on the case
 * @firmware_major: major version of the firmware
 * @firmware_minor: minor version of the firmware, two digits
 * @local_id: number assigned by the user
 * @is_pro: U6-Pro, with a 24-bit converter (not used by streams)
 */
struct u6_identity {
	uint32_t serial;
	uint8_t firmware_major;
	uint8_t firmware_minor;
	uint8_t local_id;
	bool is_pro;
};

/**
 * struct u6_rate - scan rate: exactly clock_hz / interval scans per second
 * @clock_hz: scan clock: 48 MHz, 4 MHz or either divided by 256
 * @interval: scan interval in ticks of that clock
 * @scan_config: encoding of that clock in the stream configuration
 */
struct u6_rate {
	uint32_t clock_hz;
	uint16_t interval;
	uint8_t scan_config;
};

/**
 * struct u6_stream_config - configuration of a stream
 * @rate: scan rate
 * @channels: samples per scan, 1..U6_MAX_CHANNELS
 * @per_packet: samples per packet, 1..U6_MAX_PER_PACKET; a packet may end within a scan
 * @channel: inputs in the order of the scan
 * @gain: gain index per input, 0..U6_GAINS - 1
 */
struct u6_stream_config {
	struct u6_rate rate;
	uint8_t channels;
	uint8_t per_packet;
	uint8_t channel[U6_MAX_CHANNELS];
	uint8_t gain[U6_MAX_CHANNELS];
};

/**
 * u6_rate_choose() - select the fastest clock for a scan interval
 * @rate: filled in; its interval is @interval_ns, rounded down to ticks
 * @interval_ns: requested scan interval
 *
 * Return: 0, or -ERANGE: no clock fits (U6_MAX_INTERVAL_NS is the longest interval).
 */
int u6_rate_choose(struct u6_rate *rate, uint64_t interval_ns);

/** u6_rate_time_ns() - Return: time from scan 0 to scan @scan, rounded down. */
uint64_t u6_rate_time_ns(const struct u6_rate *rate, uint64_t scan);

/** u6_checksum8() - Return: checksum of a short packet, or of the header of a long one. */
uint8_t u6_checksum8(const uint8_t *bytes, size_t length);

/** u6_checksum16() - Return: checksum of the bytes after a long packet's header. */
uint16_t u6_checksum16(const uint8_t *bytes, size_t length);

/** u6_packet_is_sound() - Return: true if both checksums of a long packet are correct. */
bool u6_packet_is_sound(const uint8_t *bytes, size_t length);

/*
 * Commands. Each encoder writes at most U6_PACKET_BYTES and returns the number of bytes written.
 */
size_t u6_encode_identify(uint8_t *out);
size_t u6_encode_read_block(uint8_t *out, uint8_t block);
size_t u6_encode_stream_config(uint8_t *out, const struct u6_stream_config *config);
size_t u6_encode_stream_start(uint8_t *out);
size_t u6_encode_stream_stop(uint8_t *out);

/*
 * Replies. Return: 0; -EBADMSG: another reply, or wrong length or checksum; -EILSEQ: the device
 * received the command with a wrong checksum; or the device's error code (> 0, enum u6_error).
 */
int u6_decode_identify(const uint8_t *bytes, size_t length, struct u6_identity *identity);
int u6_decode_read_block(const uint8_t *bytes, size_t length, uint8_t block[U6_BLOCK_BYTES]);
int u6_decode_stream_config(const uint8_t *bytes, size_t length);
int u6_decode_stream_start(const uint8_t *bytes, size_t length);
int u6_decode_stream_stop(const uint8_t *bytes, size_t length);

/** u6_error_text() - Return: description of an error code of the device. */
const char *u6_error_text(int code);

#endif
