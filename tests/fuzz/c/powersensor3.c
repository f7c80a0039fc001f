// SPDX-License-Identifier: GPL-2.0
/*
 * The PowerSensor3's decoders: u8 window, then reads, each as u16 length (little endian) and bytes.
 * The first read is also taken as the version, and as the configuration, in whose place a usual one
 * is used if it is wrong.
 */
#include <stdlib.h>
#include <string.h>

#include "powersensor3/arrival.h"
#include "powersensor3/average.h"
#include "target.h"

struct promise {
	struct ps3_config config;
	struct ps3_stream stream;
	struct ps3_average average;
	uint32_t length_us;
	bool is_averaging;
	bool has_window;
	uint64_t next_us;
	uint64_t number;
};

static void take_window(void *context, const struct ps3_window *window)
{
	struct promise *promise = context;
	int i;

	FUZZ_REQUIRE(!promise->has_window || window->number > promise->number,
		     "windows come in order");
	promise->has_window = true;
	promise->number = window->number;
	for (i = 0; i < PS3_PAIRS; i++) {
		struct ps3_range range = ps3_range_of(&promise->config.pair[i]);
		const struct ps3_mean *mean = &window->mean[i];

		if (!promise->config.pair[i].is_used)
			continue;
		FUZZ_REQUIRE(mean->current_ua >= range.low.current_ua &&
			     mean->current_ua <= range.high.current_ua, "a current has a range");
		FUZZ_REQUIRE(mean->voltage_uv >= range.low.voltage_uv &&
			     mean->voltage_uv <= range.high.voltage_uv, "a voltage has a range");
		FUZZ_REQUIRE(mean->power_nw >= range.low.power_nw &&
			     mean->power_nw <= range.high.power_nw, "a power has a range");
	}
}

static void take_set(void *context, const struct ps3_set *set)
{
	struct promise *promise = context;
	int i;

	if (!promise->is_averaging)
		ps3_average_start(&promise->average, &promise->config, promise->length_us,
				  promise->stream.spacing_us);
	promise->is_averaging = true;
	FUZZ_REQUIRE(set->at_us >= promise->next_us, "sets come in order");
	FUZZ_REQUIRE(set->at_us - set->before_us < PS3_WRAP_US, "time stamps have 10 bits");
	promise->next_us = set->at_us;
	for (i = 0; i < PS3_SENSORS; i++)
		FUZZ_REQUIRE(set->level[i] < PS3_LEVELS, "levels have 10 bits");
	ps3_average_add(&promise->average, set, take_window, promise);
}

/* vref 1.65, sensitivity 0.12, in use */
static void fill_usual(uint8_t sensor[PS3_SENSORS][PS3_SENSOR_BYTES])
{
	static const uint8_t usual[] = { 0x33, 0x33, 0xd3, 0x3f, 0x8f, 0xc2, 0xf5, 0x3d, 1 };
	int i;

	memset(sensor, 0, (size_t)PS3_SENSORS * PS3_SENSOR_BYTES);
	for (i = 0; i < PS3_SENSORS; i++)
		memcpy(&sensor[i][PS3_SENSOR_BYTES - sizeof(usual)], usual, sizeof(usual));
}

static void take_configuration(struct promise *promise, const uint8_t *bytes, size_t length)
{
	uint8_t sensor[PS3_SENSORS][PS3_SENSOR_BYTES];
	char version[PS3_VERSION_MAX] = "";
	struct daq_error err;

	memcpy(version, bytes, length < sizeof(version) - 1 ? length : sizeof(version) - 1);
	ps3_version_check(version, &err);
	fill_usual(sensor);
	memcpy(sensor, bytes, length < sizeof(sensor) ? length : sizeof(sensor));
	if (ps3_config_decode(&promise->config, sensor, &err)) {
		fill_usual(sensor);
		FUZZ_REQUIRE(!ps3_config_decode(&promise->config, sensor, &err),
			     "a usual configuration is fine");
	}
	ps3_pair_find(&promise->config, version, strlen(version));
}

void fuzz_powersensor3(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	struct promise *promise = calloc(1, sizeof(*promise));
	struct ps3_arrival arrival;
	uint64_t now_ns = 1000000000, total = 0, sets = 0;
	bool is_first = true;

	promise->length_us = 100 + 100 * (uint32_t)fuzz_bytes(&in, 1);
	ps3_stream_start(&promise->stream);
	ps3_arrival_start(&arrival, now_ns);
	while (in.size) {
		size_t length = fuzz_bytes(&in, 2);
		uint8_t *bytes;

		if (length > in.size)
			length = in.size;
		/* exactly as long as the read, so that a look past its end is seen */
		bytes = malloc(length ? length : 1);
		memcpy(bytes, in.data, length);
		in.data += length;
		in.size -= length;
		if (is_first)
			take_configuration(promise, bytes, length);
		is_first = false;
		total += length;
		sets = promise->next_us;
		if (ps3_stream_feed(&promise->stream, bytes, length, take_set, promise)) {
			ps3_stream_start(&promise->stream);
			promise->is_averaging = false;
			promise->has_window = false;
			promise->next_us = 0;
		}
		free(bytes);
		FUZZ_REQUIRE(promise->stream.damaged <= total, "a byte is discarded once");
		now_ns += 1000 * (length + 1);
		if (promise->next_us > sets)
			ps3_arrival_add(&arrival, promise->next_us, now_ns, length % 2);
	}
	ps3_arrival_take(&arrival);
	free(promise);
}
