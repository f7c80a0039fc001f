// SPDX-License-Identifier: GPL-2.0
/*
 * Source modbus: an AC meter, on a serial line (RTU) or a network (TCP), through libmodbus.
 *
 * Each scan reads the registers one after the other. The time of a scan is its middle, and the
 * uncertainty is half of its length; the meter's own averaging and refresh, which no meter reports,
 * come on top of that.
 *
 * A register that the meter refuses has no value in that scan, and a scan with a late or damaged
 * reply is lost. After several lost scans in a row, the meter is gone, and the bridge reconnects.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "modbus/line.h"
#include "pace.h"
#include "say.h"
#include "sources/energy_counter.h"
#include "sources/source.h"

/* Most meters update their registers about once a second. */
#define DEFAULT_INTERVAL_NS	1000000000
#define MIN_INTERVAL_NS		20000000
#define MAX_FAILURES		3
/* A repeated failure is reported again after this time. */
#define SAID_NS			10000000000ull

/**
 * struct modbus_source - an open meter
 * @line: the connection
 * @map: its registers
 * @reg: register of each channel
 * @counter: per channel: an energy's counter
 * @is_refused: per channel: the last scan had an exception, which was reported
 * @pace: schedule of the scans
 * @failures: scans in a row that were lost
 * @said: the last reported failure
 * @said_ns: time of its report
 * @at_ns: time of the last scan
 * @value: its values
 */
struct modbus_source {
	struct modbus_line line;
	struct modbus_map map;
	const struct modbus_register *reg[DAQ_MAX_CHANNELS];
	struct daq_energy_counter counter[DAQ_MAX_CHANNELS];
	bool is_refused[DAQ_MAX_CHANNELS];
	struct daq_pace pace;
	int failures;
	struct daq_error said;
	uint64_t said_ns;
	uint64_t at_ns;
	int64_t value[DAQ_MAX_CHANNELS];
};

/* ---- channels ---- */

static int take_map(struct modbus_map *map, const struct daq_setup *setup, struct daq_error *err)
{
	const char *model = daq_setting_text(setup, "model");
	const char *text = daq_setting_text(setup, "map");

	if (!model == !text)
		return daq_fail(err, EINVAL,
				"source modbus needs either setting 'model' or setting 'map'");
	return model ? modbus_map_model(map, model, err) : modbus_map_parse(map, text, err);
}

static int modbus_discover(const struct daq_setup *setup, struct daq_channel *found, size_t max,
			   struct daq_error *err)
{
	struct modbus_map map;
	bool has_power = false;
	size_t i;
	int error = take_map(&map, setup, err);

	if (error)
		return error;
	for (i = 0; i < map.nr; i++)
		has_power = has_power || map.reg[i].unit == DAQ_UNIT_NW;
	for (i = 0; i < map.nr && i < max; i++) {
		memset(&found[i], 0, sizeof(found[i]));
		strcpy(found[i].name, map.reg[i].name);
		found[i].unit = map.reg[i].unit;
		/* Its steps are 10 to 100 Wh. */
		found[i].is_part = map.reg[i].is_part ||
				   (has_power && found[i].unit == DAQ_UNIT_NJ);
	}
	return (int)i;
}

static int choose_channels(struct modbus_source *modbus, struct daq_source *source,
			   struct daq_error *err)
{
	for (size_t i = 0; i < source->nr_channels; i++) {
		struct daq_channel *channel = &source->channel[i];
		const struct modbus_register *reg = modbus_map_find(&modbus->map, channel->name);
		int64_t end;

		if (!reg)
			return daq_fail(err, EINVAL,
					"the meter has no channel '%s'; --list shows those it has",
					channel->name);
		end = reg->unit == DAQ_UNIT_NJ ? 0 : modbus_range(&modbus->map, reg);
		channel->unit = reg->unit;
		channel->low = -end;
		channel->high = end;
		modbus->reg[i] = reg;
	}
	return 0;
}

/* ---- opening ---- */

/* At first all registers must answer: the user may have named another model. */
static int try_registers(struct modbus_source *modbus, size_t nr, struct daq_error *err)
{
	uint16_t word[MODBUS_MAX_WORDS];
	int error = 0;

	for (size_t i = 0; i < nr && !error; i++)
		error = modbus_line_read(&modbus->line, modbus->reg[i], word, err);
	if (error == -ENXIO)
		return -EINVAL;
	return error == -EIO ? -ENODEV : error;
}

static int modbus_open(struct daq_source *source, const struct daq_setup *setup,
		       struct daq_error *err)
{
	struct modbus_source *modbus;
	int error;

	if (setup->interval_ns && setup->interval_ns < MIN_INTERVAL_NS)
		return daq_fail(err, EINVAL, "the shortest interval of this source is %d ms",
				MIN_INTERVAL_NS / 1000000);
	modbus = calloc(1, sizeof(*modbus));
	if (!modbus)
		return daq_fail(err, ENOMEM, "out of memory");
	error = take_map(&modbus->map, setup, err);
	if (!error)
		error = choose_channels(modbus, source, err);
	if (!error)
		error = modbus_line_open(&modbus->line, setup, err);
	if (!error)
		error = try_registers(modbus, source->is_reopened ? 1 : source->nr_channels, err);
	if (error) {
		modbus_line_close(&modbus->line);
		free(modbus);
		return error;
	}
	source->clock = DAQ_CLOCK_HOST;
	source->interval_ns = setup->interval_ns ? setup->interval_ns : DEFAULT_INTERVAL_NS;
	source->private = modbus;
	return 0;
}

static int modbus_start(struct daq_source *source, struct daq_error *err)
{
	struct modbus_source *modbus = source->private;

	(void)err;
	source->uncertainty_ns = 0;
	daq_pace_begin(&modbus->pace, source->interval_ns);
	return 0;
}

static void modbus_stop(struct daq_source *source)
{
	(void)source;
}

static void modbus_close_source(struct daq_source *source)
{
	struct modbus_source *modbus = source->private;

	modbus_line_close(&modbus->line);
	free(modbus);
	source->private = NULL;
}

/* ---- reading ---- */

static int64_t value_of(struct modbus_source *modbus, size_t i, const uint16_t *word)
{
	enum modbus_value kind;
	int64_t value = 0;

	kind = modbus_decode(&modbus->map, modbus->reg[i], word, &value);
	if (modbus->reg[i]->unit != DAQ_UNIT_NJ)
		return kind == MODBUS_NONE ? DAQ_ABSENT : value;
	if (kind != MODBUS_VALUE || value < 0) {
		modbus->counter[i].has_begun = false;
		return DAQ_ABSENT;
	}
	return daq_energy_counter_read(&modbus->counter[i], daq_now_ns(), (uint64_t)value,
				       &value) ? value : DAQ_ABSENT;
}

static void note_refusal(struct modbus_source *modbus, size_t i, bool is_refused,
			 const struct daq_error *why)
{
	if (is_refused && !modbus->is_refused[i])
		daq_say("%s; its power is unknown then, the other channels continue", why->text);
	if (!is_refused && modbus->is_refused[i])
		daq_say("channel '%s' is back", modbus->reg[i]->name);
	modbus->is_refused[i] = is_refused;
}

/* Return: 0, or -EIO or -ENODEV and a sentence: the scan is lost. */
static int read_scan(struct daq_source *source, struct daq_error *err)
{
	struct modbus_source *modbus = source->private;

	for (size_t i = 0; i < source->nr_channels; i++) {
		uint16_t word[MODBUS_MAX_WORDS];
		struct daq_error why = { "" };
		int error = modbus_line_read(&modbus->line, modbus->reg[i], word, &why);

		if (error && error != -ENXIO) {
			*err = why;
			return error;
		}
		note_refusal(modbus, i, error, &why);
		modbus->value[i] = error ? DAQ_ABSENT : value_of(modbus, i, word);
	}
	return 0;
}

static int lose_scan(struct daq_source *source, struct daq_block *block, struct daq_error *err)
{
	struct modbus_source *modbus = source->private;

	source->damaged++;
	if (++modbus->failures >= MAX_FAILURES)
		return -ENODEV;
	if (strcmp(modbus->said.text, err->text) || daq_now_ns() >= modbus->said_ns + SAID_NS) {
		daq_say("%s; the power is unknown until the next reply", err->text);
		modbus->said = *err;
		modbus->said_ns = daq_now_ns();
	}
	block->kind = DAQ_BLOCK_GAP;
	block->lost = 1;
	return 0;
}

static int modbus_read(struct daq_source *source, int timeout_ms, struct daq_block *block,
		       struct daq_error *err)
{
	struct modbus_source *modbus = source->private;
	uint64_t from_ns, length_ns;
	int error;

	memset(block, 0, sizeof(*block));
	if (!daq_pace_wait(&modbus->pace, timeout_ms))
		return 0;
	from_ns = daq_now_ns();
	error = read_scan(source, err);
	length_ns = daq_now_ns() - from_ns;
	if (error == -EIO)
		return lose_scan(source, block, err);
	if (error)
		return error;
	modbus->failures = 0;
	modbus->at_ns = from_ns + length_ns / 2;
	if (length_ns / 2 > source->uncertainty_ns)
		source->uncertainty_ns = length_ns / 2;
	block->kind = DAQ_BLOCK_SCANS;
	block->nr_scans = 1;
	block->at_ns = &modbus->at_ns;
	block->value = modbus->value;
	return 0;
}

const struct daq_source_ops daq_source_modbus = {
	.name = "modbus",
	.help = "an AC meter on a serial line or a network, every second by default; channels: power, voltage, current, pf (power factor) and energy, with a number behind it for each phase, or those of the map",
	.settings = "model (sdm120, sdm230, sdm630, em111, em112, b21, b23) or map (NAME=TABLE:ADDRESS:TYPE:UNIT:SCALE,...; TABLE input or holding, TYPE u16 to s64 or f32, -low: low word first, UNIT V, A, W, kWh or pf); device (serial line), baud (9600), parity (none, even, odd), stop_bits (1) or host (address), port (502); unit (1), timeout_ms (500)",
	.discover = modbus_discover,
	.open = modbus_open,
	.start = modbus_start,
	.read = modbus_read,
	.stop = modbus_stop,
	.close = modbus_close_source,
};
