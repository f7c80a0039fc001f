// SPDX-License-Identifier: GPL-2.0
/*
 * Source sim: simulates a device that measures waveforms (waveform.h), with a drifting clock, bus
 * delays, noise, lost scans and optional transducers.
 *
 * Everything except the machine's own delays is determined by the seed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate.h"
#include "pace.h"
#include "sources/source.h"
#include "sources/waveform.h"

#define DEFAULT_INTERVAL_NS 1000000
#define BLOCK_NS 10000000
#define MIN_INTERVAL_NS 10000
#define MAX_BLOCK_SCANS (BLOCK_NS / MIN_INTERVAL_NS)
#define TRANSDUCER_LSB_UV 316	/* as the U6 has */

struct sim {
	struct daq_wave wave[DAQ_MAX_CHANNELS];
	uint64_t interval_ns;
	int64_t seed, noise_uw, drift_ppb, jitter_us;
	int64_t gap_every, gap_scans, unplugged;
	int64_t zero_error_uv, voltage_mv;
	bool is_transducer;
	bool has_host_clock;
	uint64_t random;
	uint64_t start_ns;
	uint64_t next_scan;
	uint64_t until_gap;
	uint64_t due_ns;	/* arrival of the pending block; 0: none */
	uint32_t block_scans;
	uint64_t at_ns[MAX_BLOCK_SCANS];
	int64_t value[MAX_BLOCK_SCANS * DAQ_MAX_CHANNELS];
};

/* splitmix64 */
static uint64_t next_random(struct sim *sim)
{
	uint64_t z = sim->random += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* From -limit to limit, mean 0. */
static int64_t noise(struct sim *sim, int64_t limit)
{
	if (!limit)
		return 0;
	return (int64_t)(next_random(sim) % (uint64_t)(2 * limit + 1)) - limit;
}

static int read_settings(struct sim *sim, const struct daq_setup *setup, struct daq_error *err)
{
	const char *clock = daq_setting_text(setup, "clock");
	int64_t year_s = 31536000;

	if (clock && strcmp(clock, "device") && strcmp(clock, "host"))
		return daq_fail(err, EINVAL, "setting 'clock' is '%s'; it must be device or host",
				clock);
	sim->has_host_clock = clock && !strcmp(clock, "host");
	sim->voltage_mv = 12000;
	sim->unplugged = -1;
	if (daq_setting_number(setup, "seed", 0, INT64_MAX, &sim->seed, err) ||
	    daq_setting_number(setup, "noise_uw", 0, 1000000000, &sim->noise_uw, err) ||
	    daq_setting_number(setup, "drift_ppb", -1000000, 1000000, &sim->drift_ppb, err) ||
	    daq_setting_number(setup, "jitter_us", 0, 1000000, &sim->jitter_us, err) ||
	    daq_setting_number(setup, "gap_every", 0, year_s, &sim->gap_every, err) ||
	    daq_setting_number(setup, "gap_scans", 0, year_s, &sim->gap_scans, err) ||
	    daq_setting_number(setup, "unplugged", -1, DAQ_MAX_CHANNELS - 1, &sim->unplugged, err) ||
	    daq_setting_bool(setup, "transducer", &sim->is_transducer, err) ||
	    daq_setting_number(setup, "zero_error_uv", -25000, 25000, &sim->zero_error_uv, err) ||
	    daq_setting_number(setup, "voltage_mv", 1, 1000000, &sim->voltage_mv, err))
		return -EINVAL;
	return 0;
}

static void sim_close(struct daq_source *source)
{
	free(source->private);
}

static int prepare(struct daq_source *source, const struct daq_setup *setup,
		   struct daq_error *err)
{
	struct sim *sim = source->private;
	size_t i;

	if (read_settings(sim, setup, err))
		return -EINVAL;
	for (i = 0; i < source->nr_channels; i++) {
		struct daq_channel *channel = &source->channel[i];

		if (daq_wave_parse(channel->name, &sim->wave[i], err))
			return -EINVAL;
		channel->unit = sim->is_transducer ? DAQ_UNIT_UV : DAQ_UNIT_NW;
		channel->lsb = sim->is_transducer ? TRANSDUCER_LSB_UV : 1;
	}
	sim->interval_ns = setup->interval_ns ? setup->interval_ns : DEFAULT_INTERVAL_NS;
	if (sim->interval_ns < MIN_INTERVAL_NS)
		return daq_fail(err, EINVAL, "source sim: the shortest interval is 10us");
	sim->block_scans = (uint32_t)(BLOCK_NS / sim->interval_ns);
	if (!sim->block_scans)
		sim->block_scans = 1;
	source->interval_ns = sim->interval_ns;
	source->clock = sim->has_host_clock ? DAQ_CLOCK_HOST : DAQ_CLOCK_DEVICE;
	return 0;
}

static int sim_open(struct daq_source *source, const struct daq_setup *setup,
		    struct daq_error *err)
{
	int error;

	source->private = calloc(1, sizeof(struct sim));
	if (!source->private)
		return daq_fail(err, ENOMEM, "out of memory");
	error = prepare(source, setup, err);
	if (error)
		sim_close(source);
	return error;
}

static int sim_start(struct daq_source *source, struct daq_error *err)
{
	struct sim *sim = source->private;

	(void)err;
	sim->random = (uint64_t)sim->seed;
	sim->start_ns = daq_now_ns();
	sim->next_scan = 0;
	sim->until_gap = (uint64_t)sim->gap_every;
	sim->due_ns = 0;
	source->period_num = sim->interval_ns;
	source->period_den = 1;
	source->uncertainty_ns = 0;
	return 0;
}

/* By the drifting clock. */
static uint64_t scan_ns(const struct sim *sim, uint64_t scan)
{
	__int128 elapsed = (__int128)scan * sim->interval_ns;

	return sim->start_ns + (uint64_t)(elapsed + elapsed * sim->drift_ppb / 1000000000);
}

static int64_t transducer_uv(const struct sim *sim, int64_t power_nw)
{
	int64_t ua = power_nw / sim->voltage_mv;
	int64_t uv = DAQ_ZERO_UV + sim->zero_error_uv + ua * DAQ_SENS_UV_PER_A / 1000000;

	return uv / TRANSDUCER_LSB_UV * TRANSDUCER_LSB_UV + TRANSDUCER_LSB_UV / 2;
}

static void make_scan(struct daq_source *source, uint64_t at_ns, int64_t *value)
{
	struct sim *sim = source->private;
	size_t i;

	for (i = 0; i < source->nr_channels; i++) {
		value[i] = daq_wave_power_nw(&sim->wave[i], at_ns) +
			   noise(sim, sim->noise_uw) * 1000;
		if (sim->is_transducer)
			value[i] = transducer_uv(sim, value[i]);
		if (sim->unplugged == (int64_t)i)
			value[i] = sim->is_transducer ? 0 : DAQ_ABSENT;
	}
}

static uint32_t scans_now(const struct sim *sim)
{
	if (sim->gap_every && sim->until_gap < sim->block_scans)
		return (uint32_t)sim->until_gap;
	return sim->block_scans;
}

static void make_block(struct daq_source *source, uint32_t nr_scans, struct daq_block *block)
{
	struct sim *sim = source->private;
	uint32_t i;

	for (i = 0; i < nr_scans; i++) {
		sim->at_ns[i] = scan_ns(sim, sim->next_scan + i);
		make_scan(source, sim->at_ns[i], sim->value + i * source->nr_channels);
	}
	*block = (struct daq_block){
		.kind = DAQ_BLOCK_SCANS,
		.first = sim->next_scan,
		.nr_scans = nr_scans,
		.arrival_ns = daq_now_ns(),
		.at_ns = sim->at_ns,
		.value = sim->value,
	};
	sim->next_scan += nr_scans;
	sim->until_gap -= nr_scans;
}

static void make_gap(struct daq_source *source, struct daq_block *block)
{
	struct sim *sim = source->private;

	block->kind = DAQ_BLOCK_GAP;
	block->lost = (uint64_t)sim->gap_scans;
	sim->next_scan += (uint64_t)sim->gap_scans;
	sim->until_gap = (uint64_t)sim->gap_every;
	source->overflows++;
}

static int sim_read(struct daq_source *source, int timeout_ms, struct daq_block *block,
		    struct daq_error *err)
{
	struct sim *sim = source->private;
	uint32_t nr_scans = scans_now(sim);

	(void)err;
	*block = (struct daq_block){ .kind = DAQ_BLOCK_NONE };
	if (!nr_scans) {
		make_gap(source, block);
		return 0;
	}
	if (!sim->due_ns) {
		sim->due_ns = scan_ns(sim, sim->next_scan + nr_scans - 1);
		if (sim->jitter_us)
			sim->due_ns += next_random(sim) % ((uint64_t)sim->jitter_us * 1000);
	}
	if (!daq_sleep_until(sim->due_ns, timeout_ms))
		return 0;
	sim->due_ns = 0;
	make_block(source, nr_scans, block);
	return 0;
}

static void sim_stop(struct daq_source *source)
{
	(void)source;
}

static int sim_discover(const struct daq_setup *setup, struct daq_channel *found, size_t max,
			struct daq_error *err)
{
	(void)setup;
	(void)max;
	(void)err;
	memset(found, 0, sizeof(*found));
	strcpy(found->name, "triangle:500:6000:2000");
	found->unit = DAQ_UNIT_NW;
	return 1;
}

const struct daq_source_ops daq_source_sim = {
	.name = "sim",
	.help = "waveforms; channels: const:MW, square:MW:MW:MS, triangle:MW:MW:MS, sine:MW:MW:MS, in phase with CLOCK_MONOTONIC",
	.settings = "seed, noise_uw, drift_ppb, jitter_us, gap_every and gap_scans (scans), clock (device or host), transducer (true: transducer outputs in uV), zero_error_uv, voltage_mv, unplugged (index of a channel)",
	.discover = sim_discover,
	.open = sim_open,
	.start = sim_start,
	.read = sim_read,
	.stop = sim_stop,
	.close = sim_close,
};
