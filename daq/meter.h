/* SPDX-License-Identifier: GPL-2.0 */
/*
 * meter.h - convert values of channels to samples of rails
 *
 * A rail's power comes from one channel: as power; as current, times the rail's voltage; as a
 * transducer's output (calibrate.h); or as an energy counter, whose increase between
 * two readings gives the mean power, sent as two samples so that no energy is smeared.
 * Missing data (a lost scan, an unplugged transducer, a value at the end of its range, an
 * implausible value) becomes a gap:
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
/* an energy counter makes two samples of one value */
#define DAQ_SAMPLES_PER_VALUE 2

/**
 * struct daq_rail - one measured line
 * @name: unique
 * @channel: index of the channel that measures it
 * @voltage_channel: index of the channel that measures its voltage, or -1
 * @cal: calibration constants
 * @gap: the next sample gets SPEK_PROBER_POWER_GAP
 * @is_unplugged: the last value is below any powered transducer's output
 * @is_over: the last value is at an end of its channel's range, or its transducer is saturated
 * @has_energy: @last_nj is valid
 * @last_ns: time of the last sample; the next one must not precede it
 * @last_nj: reading of the energy counter at @last_ns
 * @rest_fj: energy up to @last_nj that is in no sample yet, as a sample has whole microwatts; less
 *	than 1 uW for the time between the last two readings
 * @samples: number of samples made
 * @gaps: number of samples flagged as following a gap
 * @over: number of values for which @is_over was true
 * @implausible: number of values beyond SPEK_PROBER_MAX_POWER_UW
 */
struct daq_rail {
	char name[DAQ_RAIL_NAME_MAX];
	int channel;
	int voltage_channel;
	struct daq_calibration cal;
	bool gap;
	bool is_unplugged;
	bool is_over;
	bool has_energy;
	uint64_t last_ns;
	int64_t last_nj;
	uint64_t rest_fj;
	uint64_t samples;
	uint64_t gaps;
	uint64_t over;
	uint64_t implausible;
};

struct daq_meter {
	const struct daq_channel *channel;
	struct daq_rail rail[SPEK_PROBER_MAX_RAILS];
	size_t nr_rails;
};

/**
 * daq_meter_check() - check that each rail's channels can be converted to power
 * Return: 0, or -EINVAL and a sentence.
 */
int daq_meter_check(const struct daq_meter *meter, struct daq_error *err);

/**
 * daq_meter_scan() - convert one scan
 * @at_ns: start of the scan, CLOCK_MONOTONIC
 * @value: one value per channel
 * @sample: room for DAQ_SAMPLES_PER_VALUE * nr_rails
 * Return: number of samples made; those of one rail are in order of time.
 */
size_t daq_meter_scan(struct daq_meter *meter, uint64_t at_ns, const int64_t *value,
		      struct spek_prober_power_sample *sample);

/**
 * daq_meter_gap() - note a gap between the previous scan and the next one
 * @until_ns: no later sample precedes this time; 0: unknown
 */
void daq_meter_gap(struct daq_meter *meter, uint64_t until_ns);

/**
 * daq_meter_silent_until() - time for feed-mark, so that the prober does not wait for silent rails
 * @at_ns: time of the last scan
 * Return: time up to which every rail has its samples or a gap; 0 if no rail is silent.
 */
uint64_t daq_meter_silent_until(const struct daq_meter *meter, uint64_t at_ns);

/**
 * daq_meter_max_step_ns() - longest step between samples without a gap
 * @interval_ns: scan interval; 0: unknown
 *
 * Generous: polled scans may be late, and sources with a device clock report gaps explicitly.
 *
 * Return: the step; 0: unknown.
 */
uint64_t daq_meter_max_step_ns(uint64_t interval_ns);

/** daq_meter_lsb_nw() - Return: resolution of a rail's power at nominal voltage; 0: unknown. */
uint64_t daq_meter_lsb_nw(const struct daq_meter *meter, size_t number);

#endif
