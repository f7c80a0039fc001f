/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bridge.h - from a source to samples on CLOCK_MONOTONIC
 *
 * The reader's thread owns source, clock and meter, hands samples to a sink, and opens the source
 * anew when its device has gone and come back. What others may know of it is in struct daq_status,
 * a copy of which anybody gets.
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
 * @scan: one scan: channels' values and what the meter made of them; the reader's thread.
 *	Return: 0, or -errno and a sentence, which end the bridge
 */
struct daq_sink {
	int (*scan)(void *context, uint64_t at_ns, const int64_t *value,
		    const struct spek_prober_power_sample *sample, size_t nr_samples,
		    struct daq_error *err);
	void *context;
};

/**
 * struct daq_status - how the source is doing
 * @uncertainty_ns: of time stamps, all in all
 * @drift_ppb: of the device's clock
 * @residual_ns: how well that is known
 * @overflows: times the device lost scans
 * @lost: samples that are known to be lost
 * @silent_until_ns: tell the prober that nothing more comes before this; 0: nothing to tell.
 *	Set after the samples up to then were handed to the sink.
 * @is_present: the device is there
 * @has_ended: no more will come
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

/* a scan that waits for the clock to settle */
struct daq_held {
	uint64_t scan;
	bool has_gap;
};

/**
 * struct daq_bridge - set the first fields, then use daq_bridge_*()
 * @ops: the source's
 * @setup: what the user wants of it
 * @channel: channels that the rails need
 * @meter: rails, resolved
 * @sink: where scans go
 * @stop: set it, and the reader's thread ends
 * @error: when that has ended: 0, or -errno of what ended it
 * @err: the sentence
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
	bool was_open;		/* so what the user wants is right */
	uint64_t tried_ns;	/* to open the source */
	struct daq_error said;	/* why the device is not there */
	struct daq_clock clock;
	struct daq_held *held;
	int64_t *held_value;
	size_t nr_held, room_held;
	bool gap_before;
	uint64_t last_at_ns;
	uint64_t overflows_before;
	bool was_unplugged[SPEK_PROBER_MAX_RAILS];

	pthread_mutex_t lock;	/* the caller's to make; protects status */
	struct daq_status status;
};

/** daq_bridge_open() - open and start the source. Return: 0, or -errno and a sentence. */
int daq_bridge_open(struct daq_bridge *bridge, struct daq_error *err);

/** daq_bridge_run() - read until told to stop or the source ends; a thread's function. */
void *daq_bridge_run(void *bridge);

/** daq_bridge_status() - Return: a copy. */
struct daq_status daq_bridge_status(struct daq_bridge *bridge);

/** daq_bridge_close() - after the thread has ended. */
void daq_bridge_close(struct daq_bridge *bridge);

#endif
