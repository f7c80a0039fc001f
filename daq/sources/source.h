/* SPDX-License-Identifier: GPL-2.0 */
/*
 * source.h - what delivers samples: a device, the kernel, a file or a formula
 *
 * A source is one file with one struct daq_source_ops, listed in list.c. The bridge
 * (bridge.c) asks it for channels, reads blocks of scans and does everything else: time,
 * calibration, integration's gaps, delivery. A scan is one value of each channel.
 *
 * Life: open -> start -> read... -> stop -> close. The main thread makes the first open and start,
 * before there is a reader, and the last stop and close, when there is none any more; all calls in
 * between are the reader's. When read says -ENODEV the device is gone: the bridge calls stop and
 * close, marks a gap and tries open and start anew until the device is back.
 */
#ifndef SPEK_DAQ_SOURCES_SOURCE_H
#define SPEK_DAQ_SOURCES_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "channel.h"
#include "error.h"

/**
 * enum daq_clock_kind - who says when a scan was taken
 * @DAQ_CLOCK_DEVICE: nobody: scan k was taken at k * period on the device's own clock, and
 *	the bridge maps that to CLOCK_MONOTONIC from when blocks arrive (clock.h)
 * @DAQ_CLOCK_HOST: the source: each scan carries its CLOCK_MONOTONIC time
 */
enum daq_clock_kind {
	DAQ_CLOCK_DEVICE,
	DAQ_CLOCK_HOST,
};

/**
 * enum daq_block_kind - what read delivers
 * @DAQ_BLOCK_NONE: nothing within the timeout
 * @DAQ_BLOCK_SCANS: scans
 * @DAQ_BLOCK_GAP: scans are lost between the block before and the block after
 * @DAQ_BLOCK_END: there will be no more (the end of a replayed file)
 */
enum daq_block_kind {
	DAQ_BLOCK_NONE,
	DAQ_BLOCK_SCANS,
	DAQ_BLOCK_GAP,
	DAQ_BLOCK_END,
};

/**
 * struct daq_block - what one read delivers; its arrays are the source's, valid until the next call
 * @kind: what this is
 * @first: DAQ_CLOCK_DEVICE: index of the first scan since start; lost scans are counted in it, so
 *	after a gap it is larger by @lost
 * @nr_scans: scans in the block
 * @lost: gap: number of lost scans, 0 if the device can't tell. A gap of unknown length
 *	on the device's clock is only allowed with a restart (read returns -ESTALE)
 * @arrival_ns: DAQ_CLOCK_DEVICE: CLOCK_MONOTONIC as soon as the last scan's bytes were here
 * @at_ns: DAQ_CLOCK_HOST: @nr_scans times, in order
 * @value: @nr_scans * channels values, scan by scan, channels as in the list given to open;
 *	DAQ_ABSENT where there is none
 */
struct daq_block {
	enum daq_block_kind kind;
	uint64_t first;
	uint32_t nr_scans;
	uint64_t lost;
	uint64_t arrival_ns;
	const uint64_t *at_ns;
	const int64_t *value;
};

/**
 * struct daq_source - a source that is open
 * @ops: its functions
 * @channel: what was asked for; the caller's array, which outlives the source
 * @nr_channels: length of @channel
 * @clock: set by open
 * @period_num: DAQ_CLOCK_DEVICE, set by start: nanoseconds between scans ...
 * @period_den: ... divided by this; exact. (48 MHz clock, interval 48,000:
 *	48,000 * 10^9 / 48,000,000)
 * @interval_ns: set by open: time between scans, rounded; 0: not known
 * @uncertainty_ns: set by start: how far a time stamp may be off, before the mapping's own residual
 * @overflows: times the device lost scans because nobody fetched them
 * @damaged: packets or lines thrown away because they were damaged
 * @private: the source's own
 */
struct daq_source {
	const struct daq_source_ops *ops;
	struct daq_channel *channel;
	size_t nr_channels;
	enum daq_clock_kind clock;
	uint64_t period_num;
	uint64_t period_den;
	uint64_t interval_ns;
	uint64_t uncertainty_ns;
	uint64_t overflows;
	uint64_t damaged;
	void *private;
};

/**
 * struct daq_source_ops - one kind of source
 * @name: as the user writes it
 * @help: one line: what it is and what its channels are called
 * @settings: one line for each setting it knows, for --help; NULL if none
 * @can_wait: nothing is lost when it is read late: a file
 * @discover: list what there is, at most @max; optional. Return: number, or -errno
 * @open: check settings and channels, find the device, fill in unit and clock. Everything
 *	that open took is given back when it fails. -EINVAL: wrong input; -ENODEV: no such
 *	device (worth waiting for); -EACCES: not permitted; -EBUSY: somebody else has it
 * @start: begin sampling; the scans' index begins at 0
 * @read: wait at most @timeout_ms for a block. 0 and block->kind; -ENODEV: the device is gone;
 *	-ESTALE: the stream has to begin anew (the bridge calls stop and start, scan 0 again, and
 *	marks a gap of unknown length); -EIO and others: the same as -ENODEV
 * @stop: end sampling; after any start that succeeded, also when the device is gone
 * @close: give everything back
 */
struct daq_source_ops {
	const char *name;
	const char *help;
	const char *settings;
	bool can_wait;
	int (*discover)(const struct daq_setup *setup, struct daq_channel *found, size_t max,
			struct daq_error *err);
	int (*open)(struct daq_source *source, const struct daq_setup *setup,
		    struct daq_error *err);
	int (*start)(struct daq_source *source, struct daq_error *err);
	int (*read)(struct daq_source *source, int timeout_ms, struct daq_block *block,
		    struct daq_error *err);
	void (*stop)(struct daq_source *source);
	void (*close)(struct daq_source *source);
};

/* list.c: Return: the source of that name, or NULL */
const struct daq_source_ops *daq_source_find(const char *name);
/* ... and all of them; ends with NULL */
extern const struct daq_source_ops *const daq_sources[];

/* settings.c: after open. Return: 0; -EINVAL and a sentence if it has not asked for one of them. */
int daq_settings_check(const struct daq_setup *setup, const struct daq_source_ops *ops,
		       struct daq_error *err);

#endif
