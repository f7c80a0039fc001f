/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From packets of a U6's stream to scans that have numbers.
 *
 * A scan's number is its place in time: scan k was taken k periods after scan 0, whatever was
 * lost in between. Three things lose scans, and each says how many:
 *   - a packet that is missing or damaged: the next one's counter tells, and a packet has a fixed
 *     number of samples;
 *   - the device's buffer runs over: the packets that empty it carry U6_AUTORECOVERY, the first
 *     one after it carries U6_RECOVERED with the number of scans dropped, and the gap's place is
 *     marked in the samples by one scan of nothing but 0xffff, which counts as dropped;
 *   - both at once, or so many packets that an overflow from its beginning to its end may be among
 *     them: the place is lost, and the decoder says so instead of guessing. The stream must then
 *     be started anew. (256 packets are not noticed here, see plausible.h.)
 *
 * Packets don't end where scans end, and the marking scan may straddle two packets.
 */
#ifndef SPEK_DAQ_U6_STREAM_H
#define SPEK_DAQ_U6_STREAM_H

#include "u6/packet.h"

/**
 * struct u6_stream_counts - what has happened since u6_stream_init()
 * @packets: sound packets
 * @scans: scans given out
 * @damaged: packets with a wrong check sum, header or length
 * @lost: packets that their successor's counter says are missing, damaged ones included
 * @gaps: runs of scans that were not given out
 * @missing: scans in them
 * @overflows: times that the device's buffer ran over
 * @dropped: scans that the device dropped then, which are also among @missing
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
 * struct u6_scan - one scan that is whole
 * @number: since the start of the stream
 * @after_gap: the scan before it (by number) was not given out
 * @samples: one for each channel; valid during the call
 */
struct u6_scan {
	uint64_t number;
	bool after_gap;
	const uint16_t *samples;
};

typedef void (*u6_scan_fn)(void *context, const struct u6_scan *scan);

/**
 * enum u6_recovery - how far the device is with an overflow
 * @U6_STEADY: nothing was dropped
 * @U6_EMPTYING: scans are being dropped, their number comes later
 * @U6_MARKING: the number is known, the marking scan is not over yet
 */
enum u6_recovery {
	U6_STEADY,
	U6_EMPTYING,
	U6_MARKING,
};

/**
 * struct u6_stream - place in a stream
 * @channels: samples of a scan
 * @per_packet: samples of a packet
 * @scan: number of the scan that is being filled
 * @filled: samples of it that have passed
 * @is_whole: none of them was lost
 * @next_given: number that would continue what was given out
 * @counter: that the next packet should have
 * @recovery: of the device's buffer
 * @mark: number of the marking scan
 * @to_skip: scans that it stands for
 * @samples: of the scan that is being filled
 * @counts: events
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
 * u6_stream_init() - get ready for a stream that is going to start
 * @stream: caller's memory
 * @channels: 1..U6_MAX_CHANNELS. At least one of them must be analogue: those never read 0xffff,
 *            which is how the marking scan is known
 * @per_packet: 1..U6_MAX_PER_PACKET
 */
void u6_stream_init(struct u6_stream *stream, uint8_t channels, uint8_t per_packet);

/** u6_stream_restart() - the stream starts anew: numbers from 0 again; counts go on. */
void u6_stream_restart(struct u6_stream *stream);

/**
 * u6_stream_feed() - take what one USB transfer has brought
 * @stream: place
 * @bytes: packets; the last one may be cut short, as a transfer always ends where a packet does
 * @length: of @bytes, 0 allowed
 * @give: called for each whole scan, in order
 * @context: for it
 *
 * Return: 0; -ESTALE if it is no longer known where in time the stream is; or the device's error
 * code (> 0) if that says that the stream is over. After an error nothing more may be fed
 * before u6_stream_restart().
 */
int u6_stream_feed(struct u6_stream *stream, const uint8_t *bytes, size_t length, u6_scan_fn give,
		   void *context);

#endif
