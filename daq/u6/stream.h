/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decoder of a U6's stream: packets to numbered scans.
 *
 * A scan's number gives its time: scan k was taken k periods after scan 0, regardless of losses.
 * Scans are lost in three ways:
 *   - a packet is missing or damaged: the next packet's counter shows it, and a packet has a fixed
 *     number of samples;
 *   - the device's buffer overflows: the packets that empty it carry U6_AUTORECOVERY, and the first
 *     one after them carries U6_RECOVERED with the number of dropped scans; in the samples, a
 *     marker scan of all 0xffff, which counts as dropped, shows the place of the gap;
 *   - both at once, or so many packets are missing that they may include a whole overflow: the
 *     position is unknown, and the decoder reports that instead of guessing. The stream must then
 *     be restarted. (256 missing packets go unnoticed here, see plausible.h.)
 *
 * Scans may straddle packets, and so may the marker scan.
 */
#ifndef SPEK_DAQ_U6_STREAM_H
#define SPEK_DAQ_U6_STREAM_H

#include "u6/packet.h"

/**
 * struct u6_stream_counts - event counts since u6_stream_init()
 * @packets: intact packets
 * @scans: delivered scans
 * @damaged: packets with a wrong checksum, header or length
 * @lost: packets missing according to the packet counter, including damaged ones
 * @gaps: runs of undelivered scans
 * @missing: scans in these runs
 * @overflows: overflows of the device's buffer
 * @dropped: scans the device dropped in overflows, also counted in @missing
 */
struct u6_stream_counts {
	uint64_t packets;
	uint64_t scans;
	uint64_t damaged;
	uint64_t lost;
	uint64_t gaps;
	uint64_t missing;
	uint64_t overflows;
	uint64_t dropped;
};

/**
 * struct u6_scan - one complete scan
 * @number: number since the start of the stream
 * @after_gap: the previous scan (by number) was not delivered
 * @samples: one sample per channel; valid during the call
 */
struct u6_scan {
	uint64_t number;
	bool after_gap;
	const uint16_t *samples;
};

typedef void (*u6_scan_fn)(void *context, const struct u6_scan *scan);

/**
 * enum u6_recovery - progress of the recovery from an overflow
 * @U6_STEADY: no overflow
 * @U6_EMPTYING: the device is dropping scans; their number is still unknown
 * @U6_MARKING: the number is known; the marker scan is incomplete
 */
enum u6_recovery {
	U6_STEADY,
	U6_EMPTYING,
	U6_MARKING,
};

/**
 * struct u6_stream - state of the decoder
 * @channels: samples per scan
 * @per_packet: samples per packet
 * @scan: number of the current scan
 * @filled: samples of the current scan that have passed
 * @is_whole: no sample of the current scan was lost
 * @next_given: number after the last delivered scan
 * @counter: expected counter of the next packet
 * @recovery: progress of the recovery from an overflow
 * @mark: number of the marker scan
 * @to_skip: number of dropped scans that the marker scan represents
 * @samples: samples of the current scan
 * @counts: event counts
 */
struct u6_stream {
	uint8_t channels;
	uint8_t per_packet;
	uint64_t scan;
	uint8_t filled;
	bool is_whole;
	uint64_t next_given;
	uint8_t counter;
	enum u6_recovery recovery;
	uint64_t mark;
	uint32_t to_skip;
	uint16_t samples[U6_MAX_CHANNELS];
	struct u6_stream_counts counts;
};

/**
 * u6_stream_init() - initialize the decoder of a stream
 * @stream: caller's memory
 * @channels: 1..U6_MAX_CHANNELS, at least one of them analogue: those never read 0xffff, so the
 *            marker scan is unambiguous
 * @per_packet: 1..U6_MAX_PER_PACKET
 */
void u6_stream_init(struct u6_stream *stream, uint8_t channels, uint8_t per_packet);

/** u6_stream_restart() - restart scan numbers at 0 for a new stream; keeps the counts. */
void u6_stream_restart(struct u6_stream *stream);

/**
 * u6_stream_feed() - decode the data of one USB transfer
 * @stream: decoder
 * @bytes: packets; a truncated last one counts as damaged, as transfers end at packet boundaries
 * @length: length of @bytes, may be 0
 * @give: called for each complete scan, in order
 * @context: argument for @give
 *
 * Return: 0; -ESTALE: the position in the stream is unknown; or the device's error code (> 0) if it
 * ended the stream. After an error, u6_stream_restart() must precede the next call.
 */
int u6_stream_feed(struct u6_stream *stream, const uint8_t *bytes, size_t length, u6_scan_fn give,
		   void *context);

#endif
