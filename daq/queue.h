/* SPDX-License-Identifier: GPL-2.0 */
/*
 * queue.h - samples between the thread that reads and the thread that delivers
 *
 * Bounded. When it is full, samples that come are lost, counted, and the rail's next one that
 * finds room is flagged as following a gap: energy is never invented. What is taken stays in
 * the queue until it is confirmed, so a delivery that fails loses nothing.
 *
 * One lock; both sides hold it for a copy of at most a batch.
 */
#ifndef SPEK_DAQ_QUEUE_H
#define SPEK_DAQ_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/spek_prober.h"

/**
 * struct daq_queue - use daq_queue_*()
 * @lock: protects all fields
 * @room: samples it can hold
 * @first: where the oldest is
 * @length: how many there are
 * @lost: how many found no room
 * @gap: rails that have lost some since their last sample
 */
struct daq_queue {
	pthread_mutex_t lock;
	struct spek_prober_power_sample *sample;
	size_t room;
	size_t first;
	size_t length;
	uint64_t lost;
	bool gap[SPEK_PROBER_MAX_RAILS];
};

/** daq_queue_init() - Return: 0, or -ENOMEM. */
int daq_queue_init(struct daq_queue *queue, size_t room);
/** daq_queue_deinit() - also of one that was never made, if its memory is zero. */
void daq_queue_deinit(struct daq_queue *queue);

/** daq_queue_put() - add samples. What finds no room is lost: who can wait asks for it first. */
void daq_queue_put(struct daq_queue *queue, const struct spek_prober_power_sample *sample,
		   size_t nr);

/** daq_queue_has_room() - Return: whether @nr more find room. */
bool daq_queue_has_room(struct daq_queue *queue, size_t nr);

/** daq_queue_peek() - copy the oldest, at most @max. Return: how many. */
size_t daq_queue_peek(struct daq_queue *queue, struct spek_prober_power_sample *sample,
		      size_t max);

/** daq_queue_drop() - the oldest @nr were delivered; only the one who peeked calls this. */
void daq_queue_drop(struct daq_queue *queue, size_t nr);

/** daq_queue_lost() - Return: samples that found no room so far. */
uint64_t daq_queue_lost(struct daq_queue *queue);

#endif
