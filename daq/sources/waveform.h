/* SPDX-License-Identifier: GPL-2.0 */
/*
 * waveform.h - power as a formula of CLOCK_MONOTONIC, and its energy in closed form
 *
 * Time 0 is that of the clock, so the formula alone gives the energy of any interval. Pure.
 *
 *	const:P			P
 *	square:A:B:T		B in the first half of each period T, A in the second
 *	triangle:A:B:T		from A up to B in the first half, back in the second
 *	sine:A:B:T		between A and B, rising through the middle at the start of a period
 *
 * Powers in mW, T in ms, all with up to six decimals.
 */
#ifndef SPEK_DAQ_SOURCES_WAVEFORM_H
#define SPEK_DAQ_SOURCES_WAVEFORM_H

#include <stdint.h>

#include "error.h"

enum daq_wave_kind { DAQ_WAVE_CONST, DAQ_WAVE_SQUARE, DAQ_WAVE_TRIANGLE, DAQ_WAVE_SINE };

/**
 * struct daq_wave - a formula
 * @kind: shape
 * @low_nw: lowest power
 * @high_nw: highest power
 * @period_ns: period; even, because it is halved
 */
struct daq_wave {
	enum daq_wave_kind kind;
	int64_t low_nw;
	int64_t high_nw;
	int64_t period_ns;
};

/** daq_wave_parse() - Return: 0, or -EINVAL and a sentence. */
int daq_wave_parse(const char *text, struct daq_wave *wave, struct daq_error *err);

/** daq_wave_power_nw() - Return: power at @at_ns. */
int64_t daq_wave_power_nw(const struct daq_wave *wave, uint64_t at_ns);

/** daq_wave_energy_nj() - Return: energy from @from_ns to @to_ns, nJ, rounded down. */
int64_t daq_wave_energy_nj(const struct daq_wave *wave, uint64_t from_ns, uint64_t to_ns);

#endif
