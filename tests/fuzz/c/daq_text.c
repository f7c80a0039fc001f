// SPDX-License-Identifier: GPL-2.0
/* What people and files write for spek-daq: numbers, waveforms, settings, CSV, rails files. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate.h"
#include "config/rails.h"
#include "meter.h"
#include "number.h"
#include "sources/csv.h"
#include "sources/energy_counter.h"
#include "sources/iio_scale.h"
#include "sources/lines.h"
#include "sources/source.h"
#include "sources/waveform.h"
#include "target.h"

static bool is_refusal(int error, const struct daq_error *err)
{
	return error == -EINVAL && err->text[0] && strlen(err->text) < sizeof(err->text);
}

static void try_numbers(const char *text)
{
	unsigned int decimals;
	int64_t fixed;
	uint64_t ns;
	int error;

	for (decimals = 0; decimals < 20; decimals += 3) {
		error = daq_parse_fixed(text, strlen(text), decimals, &fixed);
		FUZZ_REQUIRE(!error || error == -EINVAL || error == -ERANGE, "a number or none");
	}
	error = daq_parse_duration_ns(text, &ns);
	FUZZ_REQUIRE(error == -EINVAL || error == -ERANGE || (!error && !(ns >> 63)),
		     "a time or none");
}

static void try_waveform(struct fuzz_input *in, const char *text)
{
	struct daq_error err = { "" };
	struct daq_wave wave;
	uint64_t from_ns = fuzz_bytes(in, 7), to_ns = from_ns + fuzz_bytes(in, 6);
	int error = daq_wave_parse(text, &wave, &err);

	if (error) {
		FUZZ_REQUIRE(is_refusal(error, &err), "a refusal has a sentence");
		return;
	}
	daq_wave_power_nw(&wave, from_ns);
	daq_wave_energy_nj(&wave, from_ns, to_ns);
}

static void try_settings(const char *key, const char *text)
{
	struct daq_setting setting = { .used = false };
	struct daq_setup setup = { .setting = &setting, .nr_settings = 1 };
	struct daq_error err = { "" };
	int64_t number = 5;
	bool flag;

	strncpy(setting.key, key, sizeof(setting.key) - 1);
	strncpy(setting.value, text, sizeof(setting.value) - 1);
	if (!daq_setting_number(&setup, "seed", -7, 1000, &number, &err))
		FUZZ_REQUIRE(number >= -7 && number <= 1000, "a setting is within its limits");
	daq_setting_bool(&setup, "loop", &flag, &err);
}

void fuzz_daq_text(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	char *text = fuzz_text(&in, 255), *key = fuzz_text(&in, 63);
	struct daq_energy_counter counter = {
		.range_uj = fuzz_any64(&in) >> 1,
		.max_w = fuzz_any64(&in),
	};
	struct daq_iio_scale scale = { .factor = 1e3 };
	enum daq_unit unit;
	int64_t value;

	try_numbers(text);
	try_waveform(&in, text);
	try_settings(key, text);
	daq_name_is_good(text);
	if (daq_iio_unit(text, &unit, &scale.factor)) {
		scale.offset = atof(key);
		scale.scale = (double)(int64_t)fuzz_any64(&in);
		daq_iio_value(&scale, (double)(int64_t)fuzz_any64(&in));
	}
	while (in.size)
		daq_energy_counter_read(&counter, fuzz_any64(&in), fuzz_any64(&in) >> 1, &value);
	free(text);
	free(key);
}

void fuzz_daq_csv(const uint8_t *data, size_t size)
{
	struct daq_error err = { "" };
	struct daq_csv csv;
	size_t row;
	int error;
	char *text = malloc(size ? size : 1);

	memcpy(text, data, size);
	error = daq_csv_parse(text, size, &csv, &err);
	free(text);
	if (error) {
		FUZZ_REQUIRE(is_refusal(error, &err), "a refusal has a sentence");
		return;
	}
	FUZZ_REQUIRE(csv.nr_rows && csv.layout.nr_columns <= DAQ_MAX_CHANNELS, "there are rows");
	for (row = 1; row < csv.nr_rows; row++)
		FUZZ_REQUIRE(csv.at_ns[row] >= csv.at_ns[row - 1], "time goes forward");
	daq_csv_free(&csv);
}

/* The output of a program, which arrives in pieces of any length. */
void fuzz_daq_lines(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	struct daq_lines *lines = malloc(sizeof(*lines));
	int64_t value[DAQ_MAX_CHANNELS];
	uint64_t now_ns = fuzz_bytes(&in, 2), at_ns = 0, last_ns = now_ns, number = 0;
	struct daq_error err = { "" };
	size_t room, length;

	daq_lines_init(lines, now_ns);
	while (in.size) {
		int found = daq_lines_next(lines, now_ns, &at_ns, value, &err);
		char *to;

		FUZZ_REQUIRE(found >= 0 || is_refusal(found, &err), "a refusal has a sentence");
		if (found == DAQ_LINE_SCAN) {
			FUZZ_REQUIRE(lines->has_header, "values have columns");
			FUZZ_REQUIRE(at_ns >= last_ns && at_ns <= now_ns, "time goes forward, up to now");
			last_ns = at_ns;
		}
		if (found)
			FUZZ_REQUIRE(lines->number > number, "a line has a number");
		number = lines->number;
		if (found)
			continue;
		to = daq_lines_room(lines, &room);
		FUZZ_REQUIRE(room && to + room == lines->text + sizeof(lines->text), "there is room");
		length = 1 + fuzz_upto(&in, 255);
		length = length > room ? room : length;
		length = length > in.size ? in.size : length;
		memcpy(to, in.data, length);
		in.data += length;
		in.size -= length;
		daq_lines_added(lines, length);
		now_ns += length;
	}
	free(lines);
}

/* One scan of whatever the channels say, through the meter. */
static void measure(struct daq_meter *meter, struct daq_channel *channel, int nr,
		    const uint8_t *data, size_t size)
{
	struct spek_prober_power_sample sample[DAQ_SAMPLES_PER_VALUE * SPEK_PROBER_MAX_RAILS];
	struct fuzz_input in = { data, size };
	int64_t value[DAQ_MAX_CHANNELS];
	struct daq_error err;
	uint64_t at_ns = 0;
	size_t made, k;
	int i, scan;

	for (i = 0; i < nr; i++) {
		channel[i].unit = fuzz_upto(&in, DAQ_UNIT_BITS);
		if (fuzz_upto(&in, 3))
			continue;
		channel[i].low = -(int64_t)fuzz_bytes(&in, 4);
		channel[i].high = (int64_t)fuzz_bytes(&in, 4);
	}
	if (daq_meter_check(meter, &err))
		return;
	for (scan = 0; scan < 4; scan++) {
		for (i = 0; i < nr; i++)
			value[i] = (int64_t)fuzz_any64(&in);
		at_ns += fuzz_bytes(&in, 4);
		made = daq_meter_scan(meter, at_ns, value, sample);
		FUZZ_REQUIRE(made <= DAQ_SAMPLES_PER_VALUE * meter->nr_rails, "samples fit");
		for (k = 0; k < made; k++)
			FUZZ_REQUIRE(sample[k].rail < meter->nr_rails, "a sample is of a rail");
		if (fuzz_upto(&in, 3) == 3)
			daq_meter_gap(meter, at_ns);
		daq_meter_silent_until(meter, at_ns);
	}
	for (k = 0; k < meter->nr_rails; k++)
		daq_meter_lsb_nw(meter, k);
}

void fuzz_daq_rails(const uint8_t *data, size_t size)
{
	static struct daq_rails rails;
	static struct daq_meter meter;
	static struct daq_channel channel[DAQ_MAX_CHANNELS];
	struct daq_error err = { "" };
	int error = daq_rails_parse((const char *)data, size, &rails, &err);
	size_t i;

	if (error) {
		FUZZ_REQUIRE(is_refusal(error, &err), "a refusal has a sentence");
		return;
	}
	for (i = 0; i < rails.nr_rails; i++)
		if (daq_calibration_check(&rails.rail[i].cal, rails.rail[i].name,
					  rails.rail[i].voltage_channel[0], &err))
			return;
	error = daq_rails_resolve(&rails, &meter, channel, &err);
	FUZZ_REQUIRE(error >= 0 ? error <= DAQ_MAX_CHANNELS : is_refusal(error, &err),
		     "channels, or a refusal with a sentence");
	if (error > 0)
		measure(&meter, channel, error, data, size);
}
