// SPDX-License-Identifier: GPL-2.0
/*
 * The U6's decoders: u8 channels, u8 samples in a packet, then transfers, each as u16 length
 * (little endian) and bytes. Each transfer is also taken as each of the replies.
 */
#include <stdlib.h>
#include <string.h>

#include "target.h"
#include "u6/calibration.h"
#include "u6/packet.h"
#include "u6/stream.h"

struct promise {
	const struct u6_stream *stream;
	uint64_t next;
};

static void take_scan(void *context, const struct u6_scan *scan)
{
	struct promise *promise = context;
	uint32_t sum = 0;

	FUZZ_REQUIRE(scan->number >= promise->next, "scans come in order");
	FUZZ_REQUIRE(scan->after_gap == (scan->number != promise->next), "gaps are said");
	for (uint8_t i = 0; i < promise->stream->channels; i++)
		sum += scan->samples[i];
	/* all are there to be read */
	FUZZ_REQUIRE(sum <= UINT16_MAX * U6_MAX_CHANNELS, "samples have 16 bits");
	promise->next = scan->number + 1;
}

static void take_as_replies(const uint8_t *bytes, size_t length)
{
	uint8_t blocks[U6_CALIBRATION_BLOCKS][U6_BLOCK_BYTES] = { { 0 } };
	struct u6_calibration calibration;
	struct u6_identity identity;
	uint8_t gain;

	u6_decode_identify(bytes, length, &identity);
	u6_decode_stream_config(bytes, length);
	u6_decode_stream_start(bytes, length);
	u6_error_text(u6_decode_stream_stop(bytes, length));
	u6_decode_read_block(bytes, length, blocks[0]);
	memcpy(blocks, bytes, length < sizeof(blocks) ? length : sizeof(blocks));
	if (u6_calibration_decode(&calibration, blocks))
		u6_calibration_nominal(&calibration);
	for (gain = 0; gain < U6_GAINS; gain++)
		u6_calibration_uv(&calibration, gain, (uint16_t)(length * 8191));
}

/* Check sums that a fuzzer can't guess: right in most packets. */
static void seal(uint8_t *bytes, size_t length, uint8_t per_packet)
{
	size_t packet = (size_t)U6_STREAM_BYTES(per_packet);

	for (; length >= packet; bytes += packet, length -= packet) {
		uint16_t sum;

		if (bytes[0] & 1)
			continue;
		bytes[1] = 0xf9;
		bytes[2] = (uint8_t)(4 + per_packet);
		bytes[3] = 0xc0;
		sum = u6_checksum16(bytes, packet);
		bytes[4] = (uint8_t)sum;
		bytes[5] = (uint8_t)(sum >> 8);
		bytes[0] = u6_checksum8(bytes, 6);
	}
}

void fuzz_u6(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	uint8_t channels = (uint8_t)(1 + fuzz_upto(&in, U6_MAX_CHANNELS - 1));
	uint8_t per_packet = (uint8_t)(1 + fuzz_upto(&in, U6_MAX_PER_PACKET - 1));
	struct u6_stream stream;
	struct promise promise = { &stream, 0 };

	u6_stream_init(&stream, channels, per_packet);
	while (in.size) {
		size_t length = fuzz_bytes(&in, 2);
		bool is_sealed = !(length >> 15);
		uint8_t *bytes;

		length &= 0x7fff;
		if (length > in.size)
			length = in.size;
		/* exactly as long as the transfer, so that a look past its end is seen */
		bytes = malloc(length ? length : 1);
		memcpy(bytes, in.data, length);
		in.data += length;
		in.size -= length;
		take_as_replies(bytes, length);
		if (is_sealed)
			seal(bytes, length, per_packet);
		if (u6_stream_feed(&stream, bytes, length, take_scan, &promise)) {
			u6_stream_restart(&stream);
			promise.next = 0;
		}
		free(bytes);
	}
}
