// SPDX-License-Identifier: GPL-2.0
/* Batches, marks, and reconnecting. */
#include <errno.h>
#include <string.h>

#include "pace.h"
#include "say.h"
#include "sender.h"

#define RETRY_NS 500000000
#define MARK_NS 1000000000

static void describe_rails(struct daq_feed_config *config, const struct daq_meter *meter)
{
	size_t i;

	config->nr_rails = (uint32_t)meter->nr_rails;
	for (i = 0; i < meter->nr_rails; i++) {
		memcpy(config->rail[i].name, meter->rail[i].name, sizeof(config->rail[i].name));
		config->rail[i].lsb_nw = daq_meter_lsb_nw(meter, i);
	}
}

int daq_sender_open(struct daq_sender *sender, struct daq_error *err)
{
	int error;

	sender->config.uncertainty_ns = daq_bridge_status(sender->bridge).uncertainty_ns;
	describe_rails(&sender->config, sender->meter);
	error = daq_feeder_open(&sender->feeder, &sender->config, err);
	sender->is_connected = !error;
	sender->next_mark_ns = 0;
	sender->marked_until_ns = 0;
	return error;
}

static void lose_connection(struct daq_sender *sender, const struct daq_error *err)
{
	daq_say("%s; queueing samples until the prober is back", err->text);
	daq_feeder_abandon(&sender->feeder);
	sender->is_connected = false;
	sender->last = *err;
	sender->next_try_ns = daq_now_ns() + RETRY_NS;
}

static void connect_again(struct daq_sender *sender)
{
	struct daq_error err;

	if (daq_now_ns() < sender->next_try_ns)
		return;
	sender->next_try_ns = daq_now_ns() + RETRY_NS;
	if (!daq_sender_open(sender, &err)) {
		daq_say("connected to the prober; feed '%s' is open", sender->config.name);
		return;
	}
	if (strcmp(err.text, sender->last.text))
		daq_say("%s; retrying", err.text);
	sender->last = err;
}

/* Here or in the prober, memory is short: the connection is fine. */
static bool is_passing(int error)
{
	return error == -EAGAIN || error == -ENOMEM || error == -ENOBUFS;
}

/* A refused batch becomes a gap for each of its rails, flagged in the next accepted sample. */
static void refuse_batch(struct daq_sender *sender, size_t nr, const struct daq_error *err)
{
	size_t i;

	if (!sender->refused++)
		daq_say("%s; this batch becomes a gap", err->text);
	for (i = 0; i < nr; i++)
		sender->gap[sender->batch[i].rail] = true;
	daq_queue_drop(sender->queue, nr);
}

static void flag_gaps(struct daq_sender *sender, size_t nr)
{
	bool gap[SPEK_PROBER_MAX_RAILS];
	size_t i;

	memcpy(gap, sender->gap, sizeof(gap));
	for (i = 0; i < nr; i++) {
		if (gap[sender->batch[i].rail])
			sender->batch[i].flags |= SPEK_PROBER_POWER_GAP;
		gap[sender->batch[i].rail] = false;
	}
}

/* Return: 1: more samples may be queued; 0: the queue is empty; -EAGAIN: try again later. */
static int deliver_batch(struct daq_sender *sender)
{
	size_t nr = daq_queue_peek(sender->queue, sender->batch, SPEK_PROBER_MAX_BATCH);
	struct daq_error err;
	size_t i;
	int error;

	if (!nr)
		return 0;
	flag_gaps(sender, nr);
	error = daq_feeder_samples(&sender->feeder, sender->batch, nr, &err);
	if (is_passing(error))
		return -EAGAIN;
	if (error == -EINVAL || error == -ERANGE) {
		refuse_batch(sender, nr, &err);
		return 1;
	}
	if (error) {
		lose_connection(sender, &err);
		return -EAGAIN;
	}
	for (i = 0; i < nr; i++)
		sender->gap[sender->batch[i].rail] = false;
	daq_queue_drop(sender->queue, nr);
	return 1;
}

static void mark(struct daq_sender *sender, struct daq_status *status)
{
	bool is_news = status->silent_until_ns > sender->marked_until_ns;
	struct daq_error err;
	int error;

	if (!is_news && daq_now_ns() < sender->next_mark_ns)
		return;
	if (!is_news)
		status->silent_until_ns = 0;
	status->lost += daq_queue_lost(sender->queue);
	sender->next_mark_ns = daq_now_ns() + MARK_NS;
	error = daq_feeder_mark(&sender->feeder, status, &err);
	if (error && !is_passing(error) && error != -EINVAL && error != -ERANGE)
		lose_connection(sender, &err);
	else if (!error && is_news)
		sender->marked_until_ns = status->silent_until_ns;
}

void daq_sender_work(struct daq_sender *sender)
{
	/* Read before the queue is emptied: samples queued afterwards are later than this. */
	struct daq_status status = daq_bridge_status(sender->bridge);
	/* At most one queue full: a file may fill the queue as fast as it is emptied. */
	size_t batches = sender->queue->room / SPEK_PROBER_MAX_BATCH + 1;
	int outcome = 0;

	if (!sender->is_connected)
		connect_again(sender);
	while (sender->is_connected && batches-- && (outcome = deliver_batch(sender)) > 0)
		;
	if (sender->is_connected && outcome >= 0)
		mark(sender, &status);
}

void daq_sender_close(struct daq_sender *sender)
{
	/* So that a final mark is sent. */
	sender->next_mark_ns = 0;
	if (sender->is_connected)
		daq_sender_work(sender);
	daq_feeder_close(&sender->feeder);
	sender->is_connected = false;
}
