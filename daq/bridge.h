/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bridge.h - from a source to samples on CLOCK_MONOTONIC
 *
 * The reader thread owns the source, the clock and the meter, hands samples to a sink, and reopens
 * the source when its device returns. Other threads read a copy of struct daq_status.
 */
#ifndef SPEK_DAQ_BRIDGE_H
#define SPEK_DAQ_BRIDGE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "clock.h"
#include "meter.h"
#include "sources/source.h"

/**
 * struct daq_sink - where scans go
 * @scan: takes one scan: the values of the channels and the samples the meter made of them. Called
 *	by the reader thread. Return: 0, or -errno and a sentence, which end the bridge
 * @context: argument for @scan
 */
struct daq_sink {
	int (*scan)(void *context, uint64_t at_ns, const int64_t *value,
		    const struct spek_prober_power_sample *sample, size_t nr_samples,
		    struct daq_error *err);
	void *context;
};

/**
 * struct daq_status - state of the source
 * @uncertainty_ns: total uncertainty of the timestamps
 * @drift_ppb: drift of the device's clock against CLOCK_MONOTONIC
 * @residual_ns: residual of the clock's fit (daq_clock_residual_ns())
 * @overflows: number of times the device lost scans
 * @lost: number of samples known to be lost
 * @silent_until_ns: no more samples precede this time, which the prober should know; 0: nothing
 *	to report. Set after the sink got all samples up to then
 * @is_present: the device is connected
 * @has_ended: no more samples will follow
 */
struct daq_status {
	uint64_t uncertainty_ns;
	int64_t drift_ppb;
	uint64_t residual_ns;
	uint64_t overflows;
	uint64_t lost;
	uint64_t silent_until_ns;
	bool is_present;
	bool has_ended;
};

/* a scan held back until the clock has settled */
struct daq_held {
	uint64_t scan;
	bool has_gap;
};

/**
 * struct daq_bridge - set the first fields, then use daq_bridge_*()
 * @ops: operations of the source
 * @setup: interval and settings for the source
 * @channel: channels that the rails use
 * @nr_channels: length of @channel
 * @meter: resolved rails
 * @sink: destination of the scans
 * @stop: request to the reader thread to end
 * @error: valid after the reader thread has ended: 0, or the -errno that ended it
 * @err: the sentence that belongs to @error
 */
struct daq_bridge {
	const struct daq_source_ops *ops;
	const struct daq_setup *setup;
	struct daq_channel *channel;
	size_t nr_channels;
	struct daq_meter *meter;
	struct daq_sink sink;
	atomic_bool stop;
	int error;
	struct daq_error err;

	struct daq_source source;
	bool is_open;
	bool was_open;		/* so rails and settings are valid */
	uint64_t tried_ns;	/* last attempt to open the source */
	struct daq_error said;	/* last reported reason for the missing device */
	struct daq_clock clock;
	struct daq_held *held;
	int64_t *held_value;
	size_t nr_held, room_held;
	bool gap_before;
	uint64_t last_at_ns;
	uint64_t overflows_before;
	bool was_unplugged[SPEK_PROBER_MAX_RAILS];
	uint64_t said_over_ns[SPEK_PROBER_MAX_RAILS]; /* 0: never */

	pthread_mutex_t lock;	/* initialized by the caller; protects status */
	struct daq_status status;
};

/** daq_bridge_open() - open and start the source. Return: 0, or -errno and a sentence. */
int daq_bridge_open(struct daq_bridge *bridge, struct daq_error *err);

/** daq_bridge_run() - thread function: read until @stop is set or the source ends. */
void *daq_bridge_run(void *bridge);

/** daq_bridge_status() - Return: a copy of the status; any thread. */
struct daq_status daq_bridge_status(struct daq_bridge *bridge);

/** daq_bridge_close() - close the source and free the buffers; after the thread has ended. */
void daq_bridge_close(struct daq_bridge *bridge);

#endif
