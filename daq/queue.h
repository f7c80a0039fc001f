/* SPDX-License-Identifier: GPL-2.0 */
/*
 * queue.h - bounded queue of samples between the reader thread and the main thread
 *
 * A full queue drops and counts new samples, and flags the next one of their rail as following a
 * gap: energy is never invented. Samples remain queued until daq_queue_drop(), so a failed delivery
 * loses nothing.
 *
 * One lock; both threads hold it for a copy of at most a batch.
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
 * @sample: ring of @room samples
 * @room: capacity in samples
 * @first: index of the oldest sample
 * @length: number of queued samples
 * @lost: number of samples dropped because the queue was full
 * @gap: per rail: samples were dropped since the last queued one
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
/** daq_queue_deinit() - free a queue; a zeroed, uninitialized one is fine. */
void daq_queue_deinit(struct daq_queue *queue);

/** daq_queue_put() - append samples, or drop them if full; see daq_queue_has_room(). */
void daq_queue_put(struct daq_queue *queue, const struct spek_prober_power_sample *sample,
		   size_t nr);

/** daq_queue_has_room() - Return: true if @nr more samples fit. */
bool daq_queue_has_room(struct daq_queue *queue, size_t nr);

/** daq_queue_peek() - copy the oldest samples, at most @max. Return: number copied. */
size_t daq_queue_peek(struct daq_queue *queue, struct spek_prober_power_sample *sample,
		      size_t max);

/** daq_queue_drop() - remove the oldest @nr samples; only for the caller of daq_queue_peek(). */
void daq_queue_drop(struct daq_queue *queue, size_t nr);

/** daq_queue_lost() - Return: number of samples dropped because the queue was full. */
uint64_t daq_queue_lost(struct daq_queue *queue);

#endif
