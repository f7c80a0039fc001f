// SPDX-License-Identifier: GPL-2.0
/* A ring of samples. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "queue.h"

int daq_queue_init(struct daq_queue *queue, size_t room)
{
	memset(queue, 0, sizeof(*queue));
	queue->sample = calloc(room, sizeof(*queue->sample));
	if (!queue->sample)
		return -ENOMEM;
	queue->room = room;
	pthread_mutex_init(&queue->lock, NULL);
	return 0;
}

void daq_queue_deinit(struct daq_queue *queue)
{
	if (!queue->sample)
		return;
	free(queue->sample);
	pthread_mutex_destroy(&queue->lock);
}

void daq_queue_put(struct daq_queue *queue, const struct spek_prober_power_sample *sample,
		   size_t nr)
{
	size_t i;

	pthread_mutex_lock(&queue->lock);
	for (i = 0; i < nr; i++) {
		struct spek_prober_power_sample *to;

		if (queue->length == queue->room) {
			queue->gap[sample[i].rail] = true;
			queue->lost++;
			continue;
		}
		to = &queue->sample[(queue->first + queue->length++) % queue->room];
		*to = sample[i];
		if (queue->gap[to->rail])
			to->flags |= SPEK_PROBER_POWER_GAP;
		queue->gap[to->rail] = false;
	}
	pthread_mutex_unlock(&queue->lock);
}

bool daq_queue_has_room(struct daq_queue *queue, size_t nr)
{
	bool has_room;

	pthread_mutex_lock(&queue->lock);
	has_room = queue->room - queue->length >= nr;
	pthread_mutex_unlock(&queue->lock);
	return has_room;
}

size_t daq_queue_peek(struct daq_queue *queue, struct spek_prober_power_sample *sample,
		      size_t max)
{
	size_t nr, i;

	pthread_mutex_lock(&queue->lock);
	nr = queue->length < max ? queue->length : max;
	for (i = 0; i < nr; i++)
		sample[i] = queue->sample[(queue->first + i) % queue->room];
	pthread_mutex_unlock(&queue->lock);
	return nr;
}

void daq_queue_drop(struct daq_queue *queue, size_t nr)
{
	pthread_mutex_lock(&queue->lock);
	queue->first = (queue->first + nr) % queue->room;
	queue->length -= nr;
	pthread_mutex_unlock(&queue->lock);
}

uint64_t daq_queue_lost(struct daq_queue *queue)
{
	uint64_t lost;

	pthread_mutex_lock(&queue->lock);
	lost = queue->lost;
	pthread_mutex_unlock(&queue->lock);
	return lost;
}
