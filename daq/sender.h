/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sender.h - from the queue to the prober, whatever becomes of the prober
 *
 * The main thread's. When the prober goes, samples wait in the queue (queue.h) and the feed is
 * opened anew as soon as it is back. A batch leaves the queue when the prober has it.
 */
#ifndef SPEK_DAQ_SENDER_H
#define SPEK_DAQ_SENDER_H

#include "bridge.h"
#include "push.h"
#include "queue.h"

/**
 * struct daq_sender - set the first three, then use daq_sender_*()
 * @refused: batches that the prober has refused; what they held is a gap
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

/** daq_sender_work() - deliver what there is, mark if it is time. Call it every now and then. */
void daq_sender_work(struct daq_sender *sender);

/** daq_sender_close() - deliver the rest, if the prober is there, and end the feed. */
void daq_sender_close(struct daq_sender *sender);

#endif
