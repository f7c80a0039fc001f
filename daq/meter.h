/* SPDX-License-Identifier: GPL-2.0 */
/*
 * meter.h - values of channels in, samples of rails out
 *
 * A rail's power comes from one channel: as power; as current, times the rail's voltage; as a
 * transducer's output (calibrate.h); or as an energy counter, whose difference between
 * two readings is their mean power, sent as two samples so that nothing is smeared.
 * What is missing (a lost scan, an unplugged transducer, a value that can't be) becomes a gap:
 * the rail's next sample is flagged. Pure.
 */
#ifndef SPEK_DAQ_METER_H
#define SPEK_DAQ_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calibrate.h"
#include "channel.h"
#include "uapi/spek_prober.h"

#define DAQ_RAIL_NAME_MAX (SPEK_PROBER_MAX_NAME + 1)
/* an energy counter makes two of one value */
#define DAQ_SAMPLES_PER_VALUE 2

/**
 * struct daq_rail - one measured line
 * @name: unique
 * @channel: index of the channel that measures it
 * @voltage_channel: index of the one that measures its voltage, or -1
 * @cal: its constants
 * @gap: the next sample gets SPEK_PROBER_POWER_GAP
 * @is_unplugged: the last value can't come from a transducer with power
 * @last_ns: time of the last sample, which the next may not go before
 * @last_nj: reading of its energy counter at @last_ns, if @has_energy
 * @samples: made so far
 * @gaps: flagged ones
 * @implausible: values beyond SPEK_PROBER_MAX_POWER_UW
 */
struct daq_rail {
	char name[DAQ_RAIL_NAME_MAX];
	int channel;
	int voltage_channel;
	struct daq_calibration cal;
	bool gap;
	bool is_unplugged;
	bool has_energy;
	uint64_t last_ns;
	int64_t last_nj;
	uint64_t samples;
	uint64_t gaps;
	uint64_t implausible;
};

struct daq_meter {
	const struct daq_channel *channel;
	struct daq_rail rail[SPEK_PROBER_MAX_RAILS];
	size_t nr_rails;
};

/**
 * daq_meter_check() - whether the units that a source gave to its channels can be power
 * Return: 0, or -EINVAL and a sentence.
 */
int daq_meter_check(const struct daq_meter *meter, struct daq_error *err);

/**
 * daq_meter_scan() - one scan
 * @at_ns: when it began, by CLOCK_MONOTONIC
 * @value: one for each channel
 * @sample: room for DAQ_SAMPLES_PER_VALUE * nr_rails
 * Return: number of samples made, for each rail in order of time.
 */
size_t daq_meter_scan(struct daq_meter *meter, uint64_t at_ns, const int64_t *value,
		      struct spek_prober_power_sample *sample);

/**
 * daq_meter_gap() - what lies between the scan before and the one to come is unknown
 * @until_ns: no sample will be earlier than this; 0 if that isn't known
 */
void daq_meter_gap(struct daq_meter *meter, uint64_t until_ns);

/**
 * daq_meter_silent_until() - for feed-mark, which tells the prober not to wait for a silent rail
 * @at_ns: time of the last scan
 * Return: up to when all rails have come or have nothing; 0 if none is silent.
 */
uint64_t daq_meter_silent_until(const struct daq_meter *meter, uint64_t at_ns);

/**
 * daq_meter_max_step_ns() - what is polled may come late, and device clocks tell their gaps
 * @interval_ns: between scans; 0: not known
 * Return: samples further apart than this have a gap between them; 0: not known.
 */
uint64_t daq_meter_max_step_ns(uint64_t interval_ns);

/** daq_meter_lsb_nw() - Return: least step of a rail's power at nominal voltage, 0: not known. */
uint64_t daq_meter_lsb_nw(const struct daq_meter *meter, size_t number);

#endif
