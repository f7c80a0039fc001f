// SPDX-License-Identifier: GPL-2.0
/* Commands and replies of a LabJack U6; see packet.h. */
#include "u6/packet.h"

#include <errno.h>
#include <string.h>

#define LONG_COMMAND	0xf8
#define HEADER_BYTES	6

enum extended {
	EXT_IDENTIFY = 0x08,
	EXT_STREAM_CONFIG = 0x11,
	EXT_READ_BLOCK = 0x2d,
};

enum simple {
	STREAM_START = 0xa8,
	STREAM_STOP = 0xb0,
	BAD_CHECKSUM = 0xb8,
};

#define CLOCK_IS_48MHZ	(1u << 3)
#define CLOCK_IS_DIVIDED	(1u << 1)	/* by 256 */
#define VERSION_IS_PRO	(1u << 3)

/* ---- numbers and checksums ---- */

static uint16_t get16(const uint8_t *at)
{
	return (uint16_t)(at[0] | at[1] << 8);
}

static uint32_t get32(const uint8_t *at)
{
	return get16(at) | (uint32_t)get16(at + 2) << 16;
}

static void put16(uint8_t *at, uint16_t value)
{
	at[0] = (uint8_t)value;
	at[1] = (uint8_t)(value >> 8);
}

/* Sum of bytes 1.., with the carries added to the low byte until it fits. */
uint8_t u6_checksum8(const uint8_t *bytes, size_t length)
{
	uint32_t sum = 0;

	for (size_t i = 1; i < length; i++)
		sum += bytes[i];
	sum = (sum & 0xff) + (sum >> 8);
	sum = (sum & 0xff) + (sum >> 8);
	return (uint8_t)sum;
}

uint16_t u6_checksum16(const uint8_t *bytes, size_t length)
{
	uint32_t sum = 0;

	for (size_t i = HEADER_BYTES; i < length; i++)
		sum += bytes[i];
	return (uint16_t)sum;
}

bool u6_packet_is_sound(const uint8_t *bytes, size_t length)
{
	return length > HEADER_BYTES && get16(bytes + 4) == u6_checksum16(bytes, length) &&
	       bytes[0] == u6_checksum8(bytes, HEADER_BYTES);
}

/* ---- rates ---- */

int u6_rate_choose(struct u6_rate *rate, uint64_t interval_ns)
{
	static const struct {
		uint32_t hz;
		uint8_t config;
	} clocks[] = {
		{ 48000000, CLOCK_IS_48MHZ },
		{ 4000000, 0 },
		{ 187500, CLOCK_IS_48MHZ | CLOCK_IS_DIVIDED },
		{ 15625, CLOCK_IS_DIVIDED },
	};

	if (interval_ns > U6_MAX_INTERVAL_NS)
		return -ERANGE;
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		uint64_t ticks = clocks[i].hz * interval_ns / 1000000000;

		if (ticks == 0)
			break;
		if (ticks > UINT16_MAX)
			continue;
		rate->clock_hz = clocks[i].hz;
		rate->scan_config = clocks[i].config;
		rate->interval = (uint16_t)ticks;
		return 0;
	}
	return -ERANGE;
}

uint64_t u6_rate_time_ns(const struct u6_rate *rate, uint64_t scan)
{
	__extension__ typedef unsigned __int128 wide;

	return (uint64_t)((wide)scan * rate->interval * 1000000000u / rate->clock_hz);
}

/* ---- commands ---- */

/* Start a long command of @length bytes: a header, then zeros; finish() adds the checksums. */
static void begin(uint8_t *out, enum extended command, size_t length)
{
	memset(out, 0, length);
	out[1] = LONG_COMMAND;
	out[2] = (uint8_t)((length - HEADER_BYTES) / 2);
	out[3] = (uint8_t)command;
}

static size_t finish(uint8_t *out, size_t length)
{
	put16(out + 4, u6_checksum16(out, length));
	out[0] = u6_checksum8(out, HEADER_BYTES);
	return length;
}

static size_t encode_simple(uint8_t *out, enum simple command)
{
	out[1] = (uint8_t)command;
	out[0] = u6_checksum8(out, 2);
	return 2;
}

size_t u6_encode_identify(uint8_t *out)
{
	begin(out, EXT_IDENTIFY, 26);
	return finish(out, 26);
}

size_t u6_encode_read_block(uint8_t *out, uint8_t block)
{
	begin(out, EXT_READ_BLOCK, 8);
	out[7] = block;
	return finish(out, 8);
}

size_t u6_encode_stream_config(uint8_t *out, const struct u6_stream_config *config)
{
	size_t length = 14 + 2 * (size_t)config->channels;

	begin(out, EXT_STREAM_CONFIG, length);
	out[6] = config->channels;
	out[7] = 1; /* resolution index: the fastest, one sample in U6_SAMPLE_NS */
	out[8] = config->per_packet;
	out[11] = config->rate.scan_config;
	put16(out + 12, config->rate.interval);
	for (uint8_t i = 0; i < config->channels; i++) {
		out[14 + 2 * i] = config->channel[i];
		out[15 + 2 * i] = (uint8_t)(config->gain[i] << 4);
	}
	return finish(out, length);
}

size_t u6_encode_stream_start(uint8_t *out)
{
	return encode_simple(out, STREAM_START);
}

size_t u6_encode_stream_stop(uint8_t *out)
{
	return encode_simple(out, STREAM_STOP);
}

/* ---- replies ---- */

static bool is_bad_checksum_report(const uint8_t *bytes, size_t length)
{
	return length == 2 && bytes[0] == BAD_CHECKSUM && bytes[1] == BAD_CHECKSUM;
}

/* Checks common to all long replies; byte 6 is the error code. */
static int check_long(const uint8_t *bytes, size_t length, enum extended command, size_t expected)
{
	if (is_bad_checksum_report(bytes, length))
		return -EILSEQ;
	if (length != expected || !u6_packet_is_sound(bytes, length))
		return -EBADMSG;
	if (bytes[1] != LONG_COMMAND || bytes[2] != (expected - HEADER_BYTES) / 2 ||
	    bytes[3] != command)
		return -EBADMSG;
	return bytes[6];
}

static int check_simple(const uint8_t *bytes, size_t length, enum simple command)
{
	if (is_bad_checksum_report(bytes, length))
		return -EILSEQ;
	if (length != 4 || bytes[0] != u6_checksum8(bytes, 4))
		return -EBADMSG;
	/* A reply has the number of its command plus one. */
	if (bytes[1] != (uint8_t)(command + 1) || bytes[3])
		return -EBADMSG;
	return bytes[2];
}

int u6_decode_identify(const uint8_t *bytes, size_t length, struct u6_identity *identity)
{
	int error = check_long(bytes, length, EXT_IDENTIFY, 38);

	if (error)
		return error;
	identity->firmware_minor = bytes[9];
	identity->firmware_major = bytes[10];
	identity->serial = get32(bytes + 15);
	identity->local_id = bytes[21];
	identity->is_pro = bytes[37] & VERSION_IS_PRO;
	return get16(bytes + 19) == U6_PRODUCT ? 0 : -EBADMSG;
}

int u6_decode_read_block(const uint8_t *bytes, size_t length, uint8_t block[U6_BLOCK_BYTES])
{
	int error = check_long(bytes, length, EXT_READ_BLOCK, 8 + U6_BLOCK_BYTES);

	if (!error)
		memcpy(block, bytes + 8, U6_BLOCK_BYTES);
	return error;
}

int u6_decode_stream_config(const uint8_t *bytes, size_t length)
{
	return check_long(bytes, length, EXT_STREAM_CONFIG, 8);
}

int u6_decode_stream_start(const uint8_t *bytes, size_t length)
{
	return check_simple(bytes, length, STREAM_START);
}

int u6_decode_stream_stop(const uint8_t *bytes, size_t length)
{
	return check_simple(bytes, length, STREAM_STOP);
}

const char *u6_error_text(int code)
{
	switch (code) {
	case U6_OK:
		return "no error";
	case U6_STREAM_ACTIVE:
		return "a stream is already running";
	case 49:
		return "the list of channels is not valid";
	case 50:
		return "the stream's settings are not valid";
	case U6_STREAM_NOT_RUNNING:
		return "no stream is running";
	case 53:
		return "the stream's trigger is not valid";
	case 54:
		return "the converter's buffer has overflowed";
	case U6_STREAM_SCAN_OVERLAP:
		return "a scan was due before the last one was over: too many channels for this rate";
	case 56:
		return "the number of samples in a packet is not valid";
	case 57:
		return "the gain is not valid";
	case 58:
		return "the scan rate is not valid";
	case U6_AUTORECOVERY:
		return "the buffer is full, scans are being dropped";
	case U6_RECOVERED:
		return "scans were dropped";
	case 63:
		return "more scans were dropped than can be counted";
	default:
		return "unknown error";
	}
}
