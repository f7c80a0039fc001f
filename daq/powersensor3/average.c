// SPDX-License-Identifier: GPL-2.0
/* See average.h. */
#include "powersensor3/average.h"

#include <string.h>

#define LAST (PS3_LEVELS - 1)

static int64_t round_div(__int128 sum, int64_t count)
{
	return (int64_t)((sum < 0 ? sum - count / 2 : sum + count / 2) / count);
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* For a voltage, level 0 is not an end of the range: no mean lies below it. */
struct ps3_range ps3_range_of(const struct ps3_pair *pair)
{
	int64_t first_uv = pair->voltage_uv[0], last_uv = pair->voltage_uv[LAST];
	struct ps3_range range;
	int64_t ua, uv;

	range.low.current_ua = least(pair->current_ua[0], pair->current_ua[LAST]);
	range.high.current_ua = most(pair->current_ua[0], pair->current_ua[LAST]);
	range.low.voltage_uv = first_uv < last_uv ? first_uv - 1 : last_uv;
	range.high.voltage_uv = first_uv < last_uv ? last_uv : first_uv + 1;
	ua = most(-range.low.current_ua, range.high.current_ua);
	uv = most(-range.low.voltage_uv, range.high.voltage_uv);
	range.high.power_nw = round_div((__int128)ua * uv, 1000) + 1;
	range.low.power_nw = -range.high.power_nw;
	return range;
}

static void begin(struct ps3_average *average, uint64_t number)
{
	average->number = number;
	average->sets = 0;
	average->is_lost = false;
	memset(average->sum, 0, sizeof(average->sum));
}

void ps3_average_start(struct ps3_average *average, const struct ps3_config *config,
		       uint32_t length_us, uint32_t spacing_us)
{
	average->config = config;
	average->length_us = length_us;
	average->spacing_us = spacing_us;
	begin(average, 0);
}

static struct ps3_mean mean_of(const struct ps3_pair *pair, const struct ps3_sum *sum, uint32_t sets)
{
	struct ps3_range range = ps3_range_of(pair);
	struct ps3_mean mean = {
		.power_nw = round_div(sum->power_pw, (int64_t)sets * 1000),
		.current_ua = round_div(sum->current_ua, sets),
		.voltage_uv = round_div(sum->voltage_uv, sets),
	};

	if (sum->is_current_clipped)
		mean.current_ua = mean.current_ua < 0 ? range.low.current_ua :
							range.high.current_ua;
	/* A voltage clips at its last level only. */
	if (sum->is_voltage_clipped)
		mean.voltage_uv = pair->voltage_uv[LAST];
	if (sum->is_current_clipped || sum->is_voltage_clipped)
		mean.power_nw = mean.power_nw < 0 ? range.low.power_nw : range.high.power_nw;
	return mean;
}

static void give_window(const struct ps3_average *average, ps3_window_fn give, void *context)
{
	struct ps3_window window = { .number = average->number };

	for (int i = 0; i < PS3_PAIRS; i++) {
		const struct ps3_pair *pair = &average->config->pair[i];

		if (pair->is_used)
			window.mean[i] = mean_of(pair, &average->sum[i], average->sets);
	}
	give(context, &window);
}

static void add_levels(struct ps3_average *average, const uint16_t *level)
{
	for (int i = 0; i < PS3_PAIRS; i++) {
		const struct ps3_pair *pair = &average->config->pair[i];
		uint16_t current = level[2 * i], voltage = level[2 * i + 1];
		struct ps3_sum *sum = &average->sum[i];

		if (!pair->is_used)
			continue;
		sum->current_ua += pair->current_ua[current];
		sum->voltage_uv += pair->voltage_uv[voltage];
		sum->power_pw += (__int128)pair->current_ua[current] * pair->voltage_uv[voltage];
		if (current == 0 || current == LAST)
			sum->is_current_clipped = true;
		if (voltage == LAST)
			sum->is_voltage_clipped = true;
	}
	average->sets++;
}

void ps3_average_add(struct ps3_average *average, const struct ps3_set *set, ps3_window_fn give,
		     void *context)
{
	uint64_t number = set->at_us / average->length_us;
	uint64_t first_lost = 0, last_lost = 0;

	if (set->after_loss) {
		/* Half a spacing off the sets beside it: their times jitter. */
		first_lost = (set->before_us + average->spacing_us / 2) / average->length_us;
		last_lost = (set->at_us - average->spacing_us / 2) / average->length_us;
		if (first_lost == average->number)
			average->is_lost = true;
	}
	if (number != average->number) {
		if (average->sets && !average->is_lost)
			give_window(average, give, context);
		begin(average, number);
		average->is_lost = set->after_loss && last_lost == number;
	}
	add_levels(average, set->level);
}
