/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sender.h - deliver the queue to the prober, across reloads of the prober
 *
 * Used by the main thread. While the prober is gone, samples remain in the queue (queue.h); the
 * feed is reopened as soon as it is back. A batch leaves the queue when the prober has accepted it.
 */
#ifndef SPEK_DAQ_SENDER_H
#define SPEK_DAQ_SENDER_H

#include "bridge.h"
#include "feeder.h"
#include "queue.h"

/**
 * struct daq_sender - set the first fields, then use daq_sender_*()
 * @bridge: source of the status to report
 * @queue: samples to deliver
 * @meter: the rails
 * @config: attributes of the feed but @uncertainty_ns and the rails
 * @feeder: where the samples go; started by the caller
 * @refused: number of batches the prober has refused; each becomes a gap
 */
struct daq_sender {
	struct daq_bridge *bridge;
	struct daq_queue *queue;
	const struct daq_meter *meter;
	struct daq_feed_config config;
	struct daq_feeder feeder;
	bool is_connected;
	bool gap[SPEK_PROBER_MAX_RAILS];
	uint64_t refused;
	uint64_t next_try_ns;
	uint64_t next_mark_ns;
	uint64_t marked_until_ns;
	struct daq_error last;
	struct spek_prober_power_sample batch[SPEK_PROBER_MAX_BATCH];
};

/** daq_sender_open() - Return: as daq_feeder_open(). */
int daq_sender_open(struct daq_sender *sender, struct daq_error *err);

/** daq_sender_work() - deliver queued samples and send a mark if one is due; call periodically. */
void daq_sender_work(struct daq_sender *sender);

/** daq_sender_close() - deliver the remaining samples, if connected, and close the feed. */
void daq_sender_close(struct daq_sender *sender);

#endif
