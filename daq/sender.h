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
#include "push.h"
#include "queue.h"

/**
 * struct daq_sender - set the first three fields, then use daq_sender_*()
 * @bridge: source of the status to report
 * @queue: samples to deliver
 * @config: attributes of the feed
 * @refused: number of batches the prober has refused; each becomes a gap
 */
struct daq_sender {
	struct daq_bridge *bridge;
	struct daq_queue *queue;
	struct daq_feed_config config;
	struct daq_push push;
	bool is_connected;
	bool gap[SPEK_PROBER_MAX_RAILS];
	uint64_t refused;
	uint64_t next_try_ns;
	uint64_t next_mark_ns;
	uint64_t marked_until_ns;
	struct daq_error last;
	struct spek_prober_power_sample batch[SPEK_PROBER_MAX_BATCH];
};

/** daq_sender_open() - Return: as daq_push_open(). */
int daq_sender_open(struct daq_sender *sender, struct daq_error *err);

/** daq_sender_work() - deliver queued samples and send a mark if one is due; call periodically. */
void daq_sender_work(struct daq_sender *sender);

/** daq_sender_close() - deliver the remaining samples, if connected, and close the feed. */
void daq_sender_close(struct daq_sender *sender);

#endif
