// SPDX-License-Identifier: GPL-2.0
/*
 * Source quarch: power modules of Quarch (PPM, PAM), through their instrument server QIS.
 *
 * QIS reports a module's channels only while it streams or after that, so open starts and stops a
 * stream to get its header. Rows have the time of the device's clock, which the bridge maps to
 * CLOCK_MONOTONIC; their spacing is that of the first two. QIS does not say to which moment of its
 * spacing a row's time refers: the uncertainty is the whole spacing, and the time between two
 * requests.
 *
 * A stream that has overrun or stopped is restarted (-ESTALE).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pace.h"
#include "quarch/qis.h"
#include "quarch/text.h"
#include "say.h"
#include "sources/source.h"

#define POLL_NS		50000000
#define START_NS	5000000000ull
#define STEP_NS		50000000ull
#define STEP_MS		50
#define MAX_ROWS	4096	/* parsed at once */
#define MAX_INTERVAL_NS	10000000000ull

/**
 * struct quarch_source - an open module
 * @qis: the connection
 * @header: the module's channels
 * @column: column of each channel
 * @pace: schedule of the requests
 * @is_streaming: it has been told to stream, did not refuse, and has not been told to stop
 * @first_at: time of the stream's first row, in ticks
 * @spacing: between rows, in ticks
 * @next: number after the last row given
 * @rest: part of the last reply that is not parsed yet, in @qis; NULL: nothing
 * @nr_rows: rows that are parsed
 * @given: how many of them were read
 * @number: numbers of the rows
 * @value: their values
 * @has_misfit: one of them is not evenly spaced
 * @last: number of the last row of the last reply, parsed or not
 * @heard_ns: arrival of the last reply
 */
struct quarch_source {
	struct qis qis;
	struct quarch_header header;
	size_t column[DAQ_MAX_CHANNELS];
	struct daq_pace pace;
	bool is_streaming;
	uint64_t first_at;
	uint64_t spacing;
	uint64_t next;
	char *rest;
	size_t nr_rows;
	size_t given;
	uint64_t number[MAX_ROWS];
	int64_t value[MAX_ROWS * DAQ_MAX_CHANNELS];
	bool has_misfit;
	uint64_t last;
	uint64_t heard_ns;
};

/* ---- streams ---- */

static bool has_word(const struct qis *qis, const char *word)
{
	return strcasestr(qis->reply, word);
}

/* Return: 0, or -errno and a sentence: the module refuses. */
static int command(struct qis *qis, const char *text, struct daq_error *err)
{
	int error = qis_ask(qis, text, err);

	if (!error && !strstr(qis->reply, "OK"))
		return daq_fail(err, ENODEV, "the module %s refuses '%s': %.100s", qis->module,
				text, qis->reply);
	return error;
}

static int stop_stream(struct quarch_source *quarch, struct daq_error *err)
{
	struct qis *qis = &quarch->qis;
	uint64_t end_ns = daq_now_ns() + START_NS;
	int error;

	quarch->is_streaming = false;
	qis->is_ending = true;
	error = qis_ask(qis, "rec stop", err);
	while (!error) {
		error = qis_ask(qis, "stream?", err);
		if (error || has_word(qis, "stopped"))
			break;
		if (daq_now_ns() >= (qis->last_ns ? qis->last_ns : end_ns))
			error = daq_fail(err, ENODEV, "the module's stream does not stop");
		else
			daq_sleep_until(daq_now_ns() + STEP_NS, STEP_MS);
	}
	qis->is_ending = false;
	return error;
}

static int start_stream(struct quarch_source *quarch, struct daq_error *err)
{
	int error = command(&quarch->qis, "rec stream", err);

	/* QIS obeys a command whose reply nobody awaits any more. */
	quarch->is_streaming = !error || quarch->qis.is_unanswered;
	return error;
}

static int read_header(struct quarch_source *quarch, struct daq_error *err)
{
	uint64_t end_ns = daq_now_ns() + START_NS;
	int error;

	for (;;) {
		error = qis_ask(&quarch->qis, "stream text header", err);
		if (error || !has_word(&quarch->qis, "Header Not Available"))
			break;
		if (daq_now_ns() >= end_ns)
			return daq_fail(err, ENODEV, "the module's stream has no header");
		daq_sleep_until(daq_now_ns() + STEP_NS, STEP_MS);
	}
	return error ? error : quarch_header_parse(&quarch->header, quarch->qis.reply, err);
}

static int set_up(struct quarch_source *quarch, const struct daq_setup *setup,
		  struct daq_error *err)
{
	char text[64];
	int error = qis_ask(&quarch->qis, "stream?", err);

	if (!error && has_word(&quarch->qis, "running"))
		return daq_fail(err, EBUSY, "the module %s is streaming to another program",
				quarch->qis.module);
	if (!error)
		error = command(&quarch->qis, "stream mode header v3", err);
	/* Modules that cannot compute power refuse; they have current and voltage. */
	if (!error)
		error = qis_ask(&quarch->qis, "stream mode power enable", err);
	if (!error && setup->interval_ns) {
		snprintf(text, sizeof(text), "stream mode resample %lluus",
			 (unsigned long long)setup->interval_ns / 1000);
		error = command(&quarch->qis, text, err);
	}
	return error;
}

static int open_module(struct quarch_source *quarch, const struct daq_setup *setup,
		       struct daq_error *err)
{
	int error;

	if (setup->interval_ns % 1000 || setup->interval_ns > MAX_INTERVAL_NS)
		return daq_fail(err, EINVAL,
				"the interval of this source must be whole microseconds, at most 10 s");
	error = qis_open(&quarch->qis, setup, err);
	if (error)
		return error;
	error = set_up(quarch, setup, err);
	if (!error)
		error = start_stream(quarch, err);
	if (!error)
		error = read_header(quarch, err);
	if (quarch->is_streaming && !error)
		error = stop_stream(quarch, err);
	else if (quarch->is_streaming)
		stop_stream(quarch, NULL);
	if (error)
		qis_close(&quarch->qis);
	return error;
}

/* ---- channels ---- */

static int quarch_discover(const struct daq_setup *setup, struct daq_channel *found, size_t max,
			   struct daq_error *err)
{
	struct quarch_source *quarch = calloc(1, sizeof(*quarch));
	size_t nr = 0, powers = 0;
	int error;

	if (!quarch)
		return daq_fail(err, ENOMEM, "out of memory");
	error = open_module(quarch, setup, err);
	for (size_t i = 0; !error && i < quarch->header.nr && nr < max; i++) {
		const struct quarch_column *column = &quarch->header.column[i];

		if (!column->is_measured)
			continue;
		memset(&found[nr], 0, sizeof(found[nr]));
		strcpy(found[nr].name, column->name);
		powers += column->unit == DAQ_UNIT_NW;
		found[nr++].unit = column->unit;
	}
	/* the sum of the others */
	for (size_t i = 0; i < nr; i++)
		found[i].is_part = powers > 1 && !strcmp(found[i].name, "Tot");
	if (!error)
		qis_close(&quarch->qis);
	free(quarch);
	return error ? error : (int)nr;
}

static int choose_channels(struct quarch_source *quarch, struct daq_source *source,
			   struct daq_error *err)
{
	for (size_t i = 0; i < source->nr_channels; i++) {
		struct daq_channel *channel = &source->channel[i];
		const struct quarch_column *column = quarch->header.column;
		size_t j = 0;

		while (j < quarch->header.nr && strcmp(column[j].name, channel->name))
			j++;
		if (j == quarch->header.nr)
			return daq_fail(err, EINVAL,
					"the module has no channel '%s'; --list shows those it has",
					channel->name);
		channel->unit = column[j].unit;
		channel->lsb = (uint32_t)column[j].scale;
		channel->high = column[j].end;
		channel->low = -column[j].end;
		quarch->column[i] = j;
	}
	return 0;
}

static int quarch_open(struct daq_source *source, const struct daq_setup *setup,
		       struct daq_error *err)
{
	struct quarch_source *quarch = calloc(1, sizeof(*quarch));
	int error;

	if (!quarch)
		return daq_fail(err, ENOMEM, "out of memory");
	error = open_module(quarch, setup, err);
	if (error) {
		free(quarch);
		return error;
	}
	source->private = quarch;
	source->clock = DAQ_CLOCK_DEVICE;
	source->interval_ns = setup->interval_ns;
	error = choose_channels(quarch, source, err);
	if (error) {
		qis_close(&quarch->qis);
		free(quarch);
	}
	return error;
}

static void quarch_close(struct daq_source *source)
{
	struct quarch_source *quarch = source->private;

	qis_close(&quarch->qis);
	free(quarch);
	source->private = NULL;
}

/* ---- rows ---- */

/* Return: false if the time is that of no row: before the first one, or between two. */
static bool find_number(const struct quarch_source *quarch, uint64_t at, uint64_t *number)
{
	uint64_t passed = at - quarch->first_at;

	if (at < quarch->first_at || passed % quarch->spacing)
		return false;
	*number = passed / quarch->spacing;
	return true;
}

static void take_row(struct daq_source *source, uint64_t at, const int64_t *value)
{
	struct quarch_source *quarch = source->private;
	int64_t *to = &quarch->value[quarch->nr_rows * source->nr_channels];
	size_t nr = quarch->nr_rows;
	uint64_t number;

	if (!find_number(quarch, at, &number) ||
	    number < (nr ? quarch->number[nr - 1] + 1 : quarch->next)) {
		source->damaged++;
		quarch->has_misfit = true;
		return;
	}
	for (size_t i = 0; i < source->nr_channels; i++)
		to[i] = value[quarch->column[i]];
	quarch->number[quarch->nr_rows++] = number;
}

/* The spacing is known with the second row; the third is the first that is given. */
static void take_start(struct quarch_source *quarch, uint64_t at)
{
	if (quarch->first_at != UINT64_MAX && at > quarch->first_at)
		quarch->spacing = at - quarch->first_at;
	quarch->first_at = at + quarch->spacing;
}

/* Parse the rest of the last reply, or as much of it as there is room for. */
static void take_rest(struct daq_source *source)
{
	struct quarch_source *quarch = source->private;
	int64_t value[QUARCH_MAX_COLUMNS];
	uint64_t at;
	char *line;

	quarch->nr_rows = 0;
	quarch->given = 0;
	quarch->has_misfit = false;
	while (quarch->nr_rows < MAX_ROWS && (line = strsep(&quarch->rest, "\r\n"))) {
		if (!line[0] || !strcmp(line, "eof"))
			continue;
		if (quarch_row_parse(&quarch->header, line, strlen(line), &at, value)) {
			if (!source->damaged++)
				daq_say("a row of QIS is damaged: %.60s", line);
			continue;
		}
		if (!quarch->spacing)
			take_start(quarch, at);
		else
			take_row(source, at, value);
	}
}

/* Find the last row that the rest of a reply has; without one it is the last that is parsed. */
static void find_last(struct quarch_source *quarch)
{
	int64_t value[QUARCH_MAX_COLUMNS];
	const char *line, *end;
	uint64_t at;

	quarch->last = quarch->nr_rows ? quarch->number[quarch->nr_rows - 1] : 0;
	if (!quarch->rest)
		return;
	for (end = quarch->rest + strlen(quarch->rest);; end = line - 1) {
		for (line = end; line > quarch->rest && !strchr("\r\n", line[-1]); line--)
			;
		if (!quarch_row_parse(&quarch->header, line, (size_t)(end - line), &at, value) &&
		    find_number(quarch, at, &quarch->last))
			return;
		if (line == quarch->rest)
			return;
	}
}

static int take_rows(struct daq_source *source, struct daq_error *err)
{
	struct quarch_source *quarch = source->private;
	int error;

	/* QIS keeps what comes while spek-daq does not ask, so a reply may have any number of rows. */
	quarch->rest = NULL;
	error = qis_ask(&quarch->qis, "stream text all", err);
	if (!error) {
		quarch->heard_ns = daq_now_ns();
		quarch->rest = quarch->qis.reply;
	}
	take_rest(source);
	find_last(quarch);
	return error;
}

/* Without rows: whether more will come. */
static int check_stream(struct daq_source *source, struct daq_error *err)
{
	struct quarch_source *quarch = source->private;
	int error = qis_ask(&quarch->qis, "stream?", err);

	if (error || has_word(&quarch->qis, "running"))
		return error;
	if (has_word(&quarch->qis, "overrun") || has_word(&quarch->qis, "out of buffer")) {
		source->overflows++;
		return daq_fail(err, ESTALE, "the module's buffer has overrun");
	}
	return daq_fail(err, ESTALE, "the module's stream has stopped");
}

/* ---- start, stop, read ---- */

static int quarch_start(struct daq_source *source, struct daq_error *err)
{
	struct quarch_source *quarch = source->private;
	uint64_t end_ns;
	int error;

	quarch->spacing = 0;
	quarch->first_at = UINT64_MAX;
	quarch->next = 0;
	error = start_stream(quarch, err);
	end_ns = daq_now_ns() + START_NS + 2 * source->interval_ns;
	while (!error && !quarch->spacing) {
		error = take_rows(source, err);
		if (!error && !quarch->spacing && daq_now_ns() >= end_ns)
			error = daq_fail(err, ENODEV, "the module's stream has no rows");
		if (!error && !quarch->spacing)
			daq_sleep_until(daq_now_ns() + STEP_NS, STEP_MS);
	}
	if (!error && quarch->spacing * quarch->header.tick_ns > MAX_INTERVAL_NS)
		error = daq_fail(err, ENODEV, "the rows of QIS are more than 10 s apart");
	if (error) {
		if (quarch->is_streaming)
			stop_stream(quarch, NULL);
		return error;
	}
	source->period_num = quarch->spacing * quarch->header.tick_ns;
	source->period_den = 1;
	source->interval_ns = source->period_num;
	source->uncertainty_ns = source->period_num + POLL_NS;
	daq_pace_begin(&quarch->pace, POLL_NS);
	return 0;
}

static void quarch_stop(struct daq_source *source)
{
	struct quarch_source *quarch = source->private;

	if (quarch->is_streaming)
		stop_stream(quarch, NULL);
}

/* The next rows without a gap, or the gap before them. */
static void give_rows(struct daq_source *source, struct daq_block *block)
{
	struct quarch_source *quarch = source->private;
	size_t from = quarch->given, to = from + 1;
	uint64_t last;

	if (quarch->number[from] != quarch->next) {
		block->kind = DAQ_BLOCK_GAP;
		block->lost = quarch->number[from] - quarch->next;
		quarch->next = quarch->number[from];
		return;
	}
	while (to < quarch->nr_rows && quarch->number[to] == quarch->number[to - 1] + 1)
		to++;
	block->kind = DAQ_BLOCK_SCANS;
	block->first = quarch->number[from];
	block->nr_scans = (uint32_t)(to - from);
	block->value = &quarch->value[from * source->nr_channels];
	/*
	 * Rows before a gap, or with a part of the reply left, arrived no later than they were due
	 * before the reply's last row.
	 */
	last = quarch->last;
	if (last < quarch->number[quarch->nr_rows - 1])
		last = quarch->number[quarch->nr_rows - 1];
	block->arrival_ns = quarch->heard_ns -
			    (last - quarch->number[to - 1]) * source->period_num;
	quarch->given = to;
	quarch->next = quarch->number[to - 1] + 1;
}

static int quarch_read(struct daq_source *source, int timeout_ms, struct daq_block *block,
		       struct daq_error *err)
{
	struct quarch_source *quarch = source->private;
	int error = 0;

	memset(block, 0, sizeof(*block));
	if (quarch->given == quarch->nr_rows) {
		bool is_asking = !quarch->rest;

		if (is_asking && !daq_pace_wait(&quarch->pace, timeout_ms))
			return 0;
		if (is_asking)
			error = take_rows(source, err);
		else
			take_rest(source);
		if (!error && quarch->has_misfit)
			error = daq_fail(err, ESTALE, "the rows of QIS are not evenly spaced");
		if (!error && is_asking && !quarch->nr_rows)
			error = check_stream(source, err);
		if (error)
			return error;
	}
	if (quarch->given < quarch->nr_rows)
		give_rows(source, block);
	return 0;
}

const struct daq_source_ops daq_source_quarch = {
	.name = "quarch",
	.help = "a power module of Quarch, through its server QIS; channels: the power of each line by its name, and NAME/current and NAME/voltage",
	.settings = "host (address of QIS, 127.0.0.1), port (9722), module (for example usb::QTL1847-01-016; required if QIS knows several)",
	.discover = quarch_discover,
	.open = quarch_open,
	.start = quarch_start,
	.read = quarch_read,
	.stop = quarch_stop,
	.close = quarch_close,
};
