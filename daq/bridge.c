// SPDX-License-Identifier: GPL-2.0
/* Reading, timestamping, metering, and recovering from errors. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bridge.h"
#include "pace.h"
#include "say.h"

#define READ_TIMEOUT_MS 100
#define RETRY_NS 500000000
#define CLOCK_WINDOW_NS 60000000000
#define CLOCK_SETTLE_NS 500000000
#define CLOCK_MAX_PPM 200
/* A load that clips at each of its peaks is said at this interval. */
#define OVER_NS 10000000000

static void set_present(struct daq_bridge *bridge, bool is_present)
{
	pthread_mutex_lock(&bridge->lock);
	bridge->status.is_present = is_present;
	pthread_mutex_unlock(&bridge->lock);
	if (is_present)
		bridge->said.text[0] = '\0';
}

static int start_source(struct daq_bridge *bridge, struct daq_error *err)
{
	struct daq_source *source = &bridge->source;
	int error = source->ops->start(source, err);

	if (error || source->clock == DAQ_CLOCK_HOST)
		return error;
	error = daq_clock_init(&bridge->clock, &(struct daq_clock_config){
		.period_num = source->period_num,
		.period_den = source->period_den,
		.window_ns = CLOCK_WINDOW_NS,
		.settle_ns = CLOCK_SETTLE_NS,
		.max_ppm = CLOCK_MAX_PPM,
	}, err);
	if (error)
		source->ops->stop(source);
	return error;
}

static int open_source(struct daq_bridge *bridge, struct daq_error *err)
{
	struct daq_source *source = &bridge->source;
	int error;

	bridge->tried_ns = daq_now_ns();
	*source = (struct daq_source){
		.ops = bridge->ops,
		.channel = bridge->channel,
		.nr_channels = bridge->nr_channels,
		.is_reopened = bridge->was_open,
	};
	error = source->ops->open(source, bridge->setup, err);
	if (error)
		return error;
	error = daq_settings_check(bridge->setup, source->ops, err);
	if (!error)
		error = daq_meter_check(bridge->meter, err);
	if (!error)
		error = start_source(bridge, err);
	if (error)
		source->ops->close(source);
	bridge->is_open = !error;
	bridge->was_open = bridge->was_open || !error;
	return error;
}

static void close_source(struct daq_bridge *bridge)
{
	if (!bridge->is_open)
		return;
	bridge->source.ops->stop(&bridge->source);
	bridge->source.ops->close(&bridge->source);
	bridge->overflows_before += bridge->source.overflows;
	bridge->is_open = false;
}

int daq_bridge_open(struct daq_bridge *bridge, struct daq_error *err)
{
	int error = open_source(bridge, err);

	set_present(bridge, !error);
	return error;
}

void daq_bridge_close(struct daq_bridge *bridge)
{
	close_source(bridge);
	free(bridge->held);
	free(bridge->held_value);
}

struct daq_status daq_bridge_status(struct daq_bridge *bridge)
{
	struct daq_status status;

	pthread_mutex_lock(&bridge->lock);
	status = bridge->status;
	pthread_mutex_unlock(&bridge->lock);
	return status;
}

static void report_unplugged(struct daq_bridge *bridge)
{
	size_t i;

	for (i = 0; i < bridge->meter->nr_rails; i++) {
		const struct daq_rail *rail = &bridge->meter->rail[i];

		if (rail->is_unplugged == bridge->was_unplugged[i])
			continue;
		bridge->was_unplugged[i] = rail->is_unplugged;
		if (rail->is_unplugged)
			daq_say("rail '%s': the transducer on %s is unplugged or has no supply (its output is below 0.4 V); the rail's energy is unknown",
				rail->name, bridge->channel[rail->channel].name);
		else
			daq_say("rail '%s': the transducer on %s is back", rail->name,
				bridge->channel[rail->channel].name);
	}
}

static void report_over(struct daq_bridge *bridge, uint64_t at_ns)
{
	size_t i;

	for (i = 0; i < bridge->meter->nr_rails; i++) {
		const struct daq_rail *rail = &bridge->meter->rail[i];
		uint64_t said_ns = bridge->said_over_ns[i];

		if (!rail->is_over || (said_ns && at_ns < said_ns + OVER_NS))
			continue;
		bridge->said_over_ns[i] = at_ns;
		daq_say("rail '%s': its current, voltage or power is beyond the range that can be measured (%llu values so far); the rail's energy is unknown then",
			rail->name, (unsigned long long)rail->over);
	}
}

static void deliver(struct daq_bridge *bridge, uint64_t at_ns, const int64_t *value)
{
	struct spek_prober_power_sample sample[DAQ_SAMPLES_PER_VALUE * SPEK_PROBER_MAX_RAILS];
	size_t nr;

	if (bridge->error)
		return;
	nr = daq_meter_scan(bridge->meter, at_ns, value, sample);
	bridge->last_at_ns = at_ns;
	report_unplugged(bridge);
	report_over(bridge, at_ns);
	bridge->error = bridge->sink.scan(bridge->sink.context, at_ns, value, sample, nr,
					  &bridge->err);
	if (bridge->error)
		atomic_store(&bridge->stop, true);
}

static bool hold(struct daq_bridge *bridge, uint64_t scan, const int64_t *value)
{
	size_t nr_channels = bridge->nr_channels;

	if (bridge->nr_held == bridge->room_held) {
		size_t room = bridge->room_held ? bridge->room_held * 2 : 1024;
		struct daq_held *held = reallocarray(bridge->held, room, sizeof(*held));
		int64_t *values;

		if (!held)
			return false;
		bridge->held = held;
		values = reallocarray(bridge->held_value, room * nr_channels, sizeof(*values));
		if (!values)
			return false;
		bridge->held_value = values;
		bridge->room_held = room;
	}
	bridge->held[bridge->nr_held] = (struct daq_held){ scan, bridge->gap_before };
	bridge->gap_before = false;
	memcpy(bridge->held_value + bridge->nr_held * nr_channels, value,
	       nr_channels * sizeof(*value));
	bridge->nr_held++;
	return true;
}

static void deliver_held(struct daq_bridge *bridge)
{
	size_t i;

	for (i = 0; i < bridge->nr_held; i++) {
		if (bridge->held[i].has_gap)
			daq_meter_gap(bridge->meter, 0);
		deliver(bridge, daq_clock_at(&bridge->clock, bridge->held[i].scan, 0),
			bridge->held_value + i * bridge->nr_channels);
	}
	bridge->nr_held = 0;
}

static void count_lost(struct daq_bridge *bridge, uint64_t scans)
{
	pthread_mutex_lock(&bridge->lock);
	bridge->status.lost += scans * bridge->meter->nr_rails;
	pthread_mutex_unlock(&bridge->lock);
}

static void take_gap(struct daq_bridge *bridge, uint64_t lost_scans)
{
	count_lost(bridge, lost_scans);
	if (bridge->source.clock == DAQ_CLOCK_DEVICE)
		bridge->gap_before = true;
	else
		daq_meter_gap(bridge->meter, 0);
}

/* Scans on the device's clock are held until the clock has settled. */
static void take_device_scans(struct daq_bridge *bridge, const struct daq_block *block)
{
	const int64_t *value = block->value;
	uint32_t i;

	if (daq_clock_arrival(&bridge->clock, block->first + block->nr_scans - 1,
			      block->arrival_ns))
		bridge->source.damaged++;
	for (i = 0; i < block->nr_scans; i++, value += bridge->nr_channels)
		if (!hold(bridge, block->first + i, value))
			take_gap(bridge, 1);
	if (daq_clock_is_settled(&bridge->clock))
		deliver_held(bridge);
}

static void take_host_scans(struct daq_bridge *bridge, const struct daq_block *block)
{
	const int64_t *value = block->value;
	uint32_t i;

	for (i = 0; i < block->nr_scans; i++, value += bridge->nr_channels)
		deliver(bridge, block->at_ns[i], value);
}

static void update_status(struct daq_bridge *bridge)
{
	struct daq_source *source = &bridge->source;
	int64_t drift_ppb = 0;
	uint64_t residual_ns = 0;

	if (source->clock == DAQ_CLOCK_DEVICE) {
		drift_ppb = daq_clock_drift_ppb(&bridge->clock);
		residual_ns = daq_clock_residual_ns(&bridge->clock);
	}
	pthread_mutex_lock(&bridge->lock);
	bridge->status.drift_ppb = drift_ppb;
	bridge->status.residual_ns = residual_ns;
	bridge->status.uncertainty_ns = source->uncertainty_ns + residual_ns;
	bridge->status.overflows = bridge->overflows_before + source->overflows;
	bridge->status.silent_until_ns = daq_meter_silent_until(bridge->meter, bridge->last_at_ns);
	pthread_mutex_unlock(&bridge->lock);
	if (bridge->status.is_present)
		return;
	set_present(bridge, true);
	daq_say("the device is back");
}

/* Return: as the source's read; -ENODATA at its end. */
static int read_block(struct daq_bridge *bridge, struct daq_error *err)
{
	struct daq_block block = { 0 };
	int error = bridge->source.ops->read(&bridge->source, READ_TIMEOUT_MS, &block, err);

	if (error)
		return error;
	switch (block.kind) {
	case DAQ_BLOCK_NONE:
		return 0;
	case DAQ_BLOCK_END:
		return -ENODATA;
	case DAQ_BLOCK_GAP:
		take_gap(bridge, block.lost);
		break;
	case DAQ_BLOCK_SCANS:
		if (bridge->source.clock == DAQ_CLOCK_DEVICE)
			take_device_scans(bridge, &block);
		else
			take_host_scans(bridge, &block);
		break;
	}
	update_status(bridge);
	return 0;
}

/* Power is unknown until the next scan; the prober must not wait for it. */
static void begin_silence(struct daq_bridge *bridge)
{
	uint64_t now_ns = daq_now_ns();

	/* Held scans have no time: the clock has not settled. */
	count_lost(bridge, bridge->nr_held);
	bridge->nr_held = 0;
	bridge->gap_before = false;
	daq_meter_gap(bridge->meter, now_ns);
	pthread_mutex_lock(&bridge->lock);
	bridge->status.silent_until_ns = now_ns;
	pthread_mutex_unlock(&bridge->lock);
}

/* The reason may change, for example from missing to busy. */
static void report_if_new(struct daq_bridge *bridge, const struct daq_error *err, const char *doing)
{
	if (strcmp(err->text, bridge->said.text))
		daq_say("%s; %s", err->text, doing);
	bridge->said = *err;
}

/*
 * Waiting does not fix invalid input or missing permissions. If the source has been open before,
 * both were fine: udev may set the permissions some time after the device reappears.
 */
static bool is_hopeless(const struct daq_bridge *bridge, int error)
{
	return !bridge->was_open && (error == -EINVAL || error == -EACCES || error == -EPERM);
}

static bool open_again(struct daq_bridge *bridge)
{
	while (!atomic_load(&bridge->stop)) {
		struct daq_error err;
		int error;

		begin_silence(bridge);
		/* A source that opens but cannot be read gets here immediately. */
		if (!daq_sleep_until(bridge->tried_ns + RETRY_NS, RETRY_NS / 1000000))
			continue;
		error = open_source(bridge, &err);
		if (!error)
			return true;
		if (error == -ECANCELED)
			return false;
		if (is_hopeless(bridge, error)) {
			bridge->error = error;
			bridge->err = err;
			return false;
		}
		report_if_new(bridge, &err, "retrying");
	}
	return false;
}

static bool recover(struct daq_bridge *bridge, int error, const struct daq_error *err)
{
	if (error == -ESTALE) {
		struct daq_error inner;

		begin_silence(bridge);
		bridge->source.ops->stop(&bridge->source);
		error = start_source(bridge, &inner);
		if (!error) {
			daq_say("%s; sampling restarted", err->text);
			return true;
		}
		bridge->source.ops->close(&bridge->source);
		bridge->overflows_before += bridge->source.overflows;
		bridge->is_open = false;
		if (error == -ECANCELED)
			return false;
	}
	report_if_new(bridge, err, "waiting for the device");
	close_source(bridge);
	set_present(bridge, false);
	return open_again(bridge);
}

void *daq_bridge_run(void *context)
{
	struct daq_bridge *bridge = context;

	if (!bridge->is_open && open_again(bridge))
		set_present(bridge, true);
	while (bridge->is_open && !atomic_load(&bridge->stop)) {
		struct daq_error err = { "the source failed" };
		int error = read_block(bridge, &err);

		if (error == -ENODATA || error == -ECANCELED)
			break;
		if (error && !recover(bridge, error, &err))
			break;
	}
	/* No more arrivals will settle the clock. */
	deliver_held(bridge);
	pthread_mutex_lock(&bridge->lock);
	bridge->status.has_ended = true;
	pthread_mutex_unlock(&bridge->lock);
	return NULL;
}
