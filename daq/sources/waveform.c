// SPDX-License-Identifier: GPL-2.0
/* Waveforms and their integrals. */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "number.h"
#include "sources/waveform.h"

#define MAX_NW 1000000000000000LL	/* 1 MW */
#define MAX_PERIOD_NS 3600000000000LL

static const struct {
	const char *name;
	int numbers;
} kinds[] = {
	[DAQ_WAVE_CONST] = { "const", 1 },
	[DAQ_WAVE_SQUARE] = { "square", 3 },
	[DAQ_WAVE_TRIANGLE] = { "triangle", 3 },
	[DAQ_WAVE_SINE] = { "sine", 3 },
};

static int parse_numbers(const char *text, int64_t *number, int wanted)
{
	int i;

	for (i = 0; i < wanted; i++) {
		size_t length;

		if (*text != ':')
			return -EINVAL;
		text++;
		length = strcspn(text, ":");
		if (daq_parse_fixed(text, length, 6, &number[i]))
			return -EINVAL;
		text += length;
	}
	return *text ? -EINVAL : 0;
}

int daq_wave_parse(const char *text, struct daq_wave *wave, struct daq_error *err)
{
	size_t length = strcspn(text, ":");
	int64_t number[3] = { 0, 0, 2 };
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strlen(kinds[i].name) == length && !strncmp(kinds[i].name, text, length))
			break;
	if (i == sizeof(kinds) / sizeof(kinds[0]) ||
	    parse_numbers(text + length, number, kinds[i].numbers))
		return daq_fail(err, EINVAL,
				"'%s' is not a waveform; use const:MW, square:MW:MW:MS, triangle:MW:MW:MS or sine:MW:MW:MS",
				text);
	if (kinds[i].numbers == 1)
		number[1] = number[0];
	wave->kind = (enum daq_wave_kind)i;
	wave->low_nw = number[0];
	wave->high_nw = number[1];
	wave->period_ns = number[2];
	if (wave->low_nw > MAX_NW || wave->low_nw < -MAX_NW || wave->high_nw > MAX_NW ||
	    wave->high_nw < -MAX_NW)
		return daq_fail(err, EINVAL, "waveform '%s': power must be between -1 MW and 1 MW", text);
	if (wave->period_ns < 2 || wave->period_ns % 2 || wave->period_ns > MAX_PERIOD_NS)
		return daq_fail(err, EINVAL,
				"waveform '%s': the period must be an even number of ns, at most an hour",
				text);
	return 0;
}

static double sine_angle(const struct daq_wave *wave, int64_t phase)
{
	return 2 * M_PI * (double)phase / (double)wave->period_ns;
}

int64_t daq_wave_power_nw(const struct daq_wave *wave, uint64_t at_ns)
{
	int64_t phase = (int64_t)(at_ns % (uint64_t)wave->period_ns);
	int64_t half = wave->period_ns / 2;
	int64_t rise = wave->high_nw - wave->low_nw;

	switch (wave->kind) {
	case DAQ_WAVE_SQUARE:
		return phase < half ? wave->high_nw : wave->low_nw;
	case DAQ_WAVE_TRIANGLE:
		phase = phase < half ? phase : wave->period_ns - phase;
		return wave->low_nw + (int64_t)((__int128)rise * phase / half);
	case DAQ_WAVE_SINE:
		return llround((double)(wave->low_nw + wave->high_nw) / 2 +
			       (double)rise / 2 * sin(sine_angle(wave, phase)));
	case DAQ_WAVE_CONST:
		break;
	}
	return wave->low_nw;
}

/* Twice the energy since the start of the period, in nW ns: doubled to avoid halves. */
static __int128 twice_part(const struct daq_wave *wave, int64_t phase)
{
	__int128 rise = wave->high_nw - wave->low_nw;
	__int128 base = (__int128)2 * wave->low_nw * phase;
	int64_t half = wave->period_ns / 2;
	int64_t left = wave->period_ns - phase;
	double swing;

	switch (wave->kind) {
	case DAQ_WAVE_SQUARE:
		return base + 2 * rise * (phase < half ? phase : half);
	case DAQ_WAVE_TRIANGLE:
		if (phase < half)
			return base + rise * phase * phase / half;
		return base + rise * wave->period_ns - rise * left * left / half;
	case DAQ_WAVE_SINE:
		swing = (double)rise * (double)wave->period_ns / (2 * M_PI) *
			(1 - cos(sine_angle(wave, phase)));
		return base + rise * phase + (__int128)llround(swing);
	case DAQ_WAVE_CONST:
		break;
	}
	return base;
}

static __int128 twice_until(const struct daq_wave *wave, uint64_t at_ns)
{
	__int128 whole = at_ns / (uint64_t)wave->period_ns;
	int64_t phase = (int64_t)(at_ns % (uint64_t)wave->period_ns);
	__int128 each = (__int128)(wave->low_nw + wave->high_nw) * wave->period_ns;

	return whole * each + twice_part(wave, phase);
}

int64_t daq_wave_energy_nj(const struct daq_wave *wave, uint64_t from_ns, uint64_t to_ns)
{
	__int128 twice = twice_until(wave, to_ns) - twice_until(wave, from_ns);
	__int128 unit = 2000000000;

	return (int64_t)(twice < 0 ? -((-twice + unit - 1) / unit) : twice / unit);
}
