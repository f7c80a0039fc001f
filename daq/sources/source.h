/* SPDX-License-Identifier: GPL-2.0 */
/*
 * source.h - interface of the sources: devices, the kernel, a file or a formula
 *
 * A source is one file with one struct daq_source_ops, listed in list.c. The bridge (bridge.c)
 * passes it channels, reads blocks of scans and handles the rest: time, calibration, gaps,
 * delivery. A scan is one value of each channel.
 *
 * Life cycle: open -> start -> read... -> stop -> close. The main thread calls the first open and
 * start before the reader thread exists, and the last stop and close after it has ended; the reader
 * thread makes all calls in between. If read returns -ENODEV the device is gone: the bridge calls
 * stop and close, marks a gap and retries open and start until the device is back.
 */
#ifndef SPEK_DAQ_SOURCES_SOURCE_H
#define SPEK_DAQ_SOURCES_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "channel.h"
#include "error.h"

/* room for the channels that discover finds: a large server has some hundred sensors */
#define DAQ_MAX_FOUND 4096

/**
 * enum daq_clock_kind - origin of the scans' times
 * @DAQ_CLOCK_DEVICE: scan k was taken at k * period by the device's own clock, which the bridge
 *	maps to CLOCK_MONOTONIC using the arrival times of blocks (clock.h)
 * @DAQ_CLOCK_HOST: the source stamps each scan with CLOCK_MONOTONIC
 */
enum daq_clock_kind {
	DAQ_CLOCK_DEVICE,
	DAQ_CLOCK_HOST,
};

/**
 * enum daq_block_kind - kind of block that read returns
 * @DAQ_BLOCK_NONE: no data within the timeout
 * @DAQ_BLOCK_SCANS: scans
 * @DAQ_BLOCK_GAP: scans were lost between the previous block and the next
 * @DAQ_BLOCK_END: no more blocks follow (end of a replayed file)
 */
enum daq_block_kind {
	DAQ_BLOCK_NONE,
	DAQ_BLOCK_SCANS,
	DAQ_BLOCK_GAP,
	DAQ_BLOCK_END,
};

/**
 * struct daq_block - result of one read; the source owns its arrays, valid until the next call
 * @kind: kind of block
 * @first: DAQ_CLOCK_DEVICE: index of the first scan since start, including lost scans: a gap
 *	increases it by @lost
 * @nr_scans: number of scans in the block
 * @lost: DAQ_BLOCK_GAP: number of lost scans, 0 if unknown. With DAQ_CLOCK_DEVICE a gap of
 *	unknown length requires a restart (read returns -ESTALE)
 * @arrival_ns: DAQ_CLOCK_DEVICE: CLOCK_MONOTONIC at the arrival of the last scan
 * @at_ns: DAQ_CLOCK_HOST: @nr_scans times, in order
 * @value: @nr_scans * channels values, scan by scan, channels in the order passed to open;
 *	DAQ_ABSENT for a missing value
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
 * struct daq_source - an open source
 * @ops: operations
 * @channel: requested channels; the caller's array, which outlives the source
 * @nr_channels: length of @channel
 * @is_reopened: the source has been open before with these channels and settings
 * @clock: set by open
 * @period_num: DAQ_CLOCK_DEVICE, set by start: numerator of the exact scan interval in ns
 * @period_den: its denominator. (48 MHz clock, interval 48,000: 48,000 * 10^9 / 48,000,000)
 * @interval_ns: set by open: scan interval, rounded; 0: unknown
 * @uncertainty_ns: set by start: maximum error of a timestamp, without the residual of the mapping
 * @overflows: number of times the device lost scans because they were not read in time
 * @damaged: number of damaged packets or lines that were discarded
 * @private: private data of the source
 */
struct daq_source {
	const struct daq_source_ops *ops;
	struct daq_channel *channel;
	size_t nr_channels;
	bool is_reopened;
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
 * struct daq_source_ops - operations of one kind of source
 * @name: name for --source and the rails file
 * @help: one line for --help: description and channel names
 * @settings: one line for --help: its settings; NULL if none
 * @argument: the setting that the command line's argument gives; NULL: there is no argument
 * @can_wait: a late read loses nothing (a file)
 * @discover: list the available channels, at most @max; optional. Return: number, or -errno
 * @open: check settings and channels, find the device, fill in unit and clock; releases everything
 *	on failure. Return: 0; -EINVAL: invalid input; -ENODEV: no such device (worth waiting
 *	for); -EACCES: permission denied; -EBUSY: in use by another program
 * @start: start sampling; scan numbers start at 0
 * @read: wait at most @timeout_ms for a block. Return: 0 and block->kind; -ECANCELED: asked to end
 *	(stop.h), as of open and start; -ENODEV: the device is gone; -ESTALE: the stream must be restarted (the bridge calls stop and start, which resets
 *	scan numbers, and marks a gap of unknown length); -EIO and others: as -ENODEV
 * @stop: stop sampling; called after each successful start, even if the device is gone
 * @close: release everything
 */
struct daq_source_ops {
	const char *name;
	const char *help;
	const char *settings;
	const char *argument;
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

/* list.c: Return: the source called @name, or NULL */
const struct daq_source_ops *daq_source_find(const char *name);
/* list.c: all sources, terminated by NULL */
extern const struct daq_source_ops *const daq_sources[];

/* settings.c: after open. Return: 0, or -EINVAL and a sentence if a setting was never read. */
int daq_settings_check(const struct daq_setup *setup, const struct daq_source_ops *ops,
		       struct daq_error *err);

#endif
