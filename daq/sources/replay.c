// SPDX-License-Identifier: GPL-2.0
/*
 * Source replay: a file of samples (csv.h), replayed in real time. Its first line is replayed
 * immediately; with absolute set, its times are CLOCK_MONOTONIC and past lines are delivered at
 * once. Each line is a scan; an empty field makes a gap.
 */
#include <errno.h>
#include <stdlib.h>

#include "file.h"
#include "pace.h"
#include "sources/columns.h"
#include "sources/csv.h"
#include "sources/source.h"

#define BLOCK_SCANS 256
#define MAX_SLEEP_NS 1000000

struct replay {
	struct daq_csv csv;
	bool is_absolute;
	bool has_loop;
	size_t column[DAQ_MAX_CHANNELS];	/* per channel */
	size_t next;
	uint64_t shift_ns;	/* CLOCK_MONOTONIC minus the file's time */
	uint64_t at_ns[BLOCK_SCANS];
	int64_t value[BLOCK_SCANS * DAQ_MAX_CHANNELS];
};

static int load(const struct daq_setup *setup, struct daq_csv *csv, struct daq_error *err)
{
	const char *path = daq_setting_text(setup, "file");
	struct daq_error inner;
	size_t length = 0;
	char *text = NULL;
	int error;

	if (!path)
		return daq_fail(err, EINVAL, "source replay needs a file: --set file=PATH");
	error = daq_file_read(path, setup->stop, &text, &length, err);
	if (error)
		return error;
	error = daq_csv_parse(text, length, csv, &inner);
	free(text);
	return error ? daq_fail(err, -error, "%s: %s", path, inner.text) : 0;
}

static void replay_close(struct daq_source *source)
{
	struct replay *replay = source->private;

	daq_csv_free(&replay->csv);
	free(replay);
}

static int prepare(struct daq_source *source, const struct daq_setup *setup,
		   struct daq_error *err)
{
	struct replay *replay = source->private;
	int error;

	if (daq_setting_bool(setup, "absolute", &replay->is_absolute, err) ||
	    daq_setting_bool(setup, "loop", &replay->has_loop, err))
		return -EINVAL;
	if (replay->is_absolute && replay->has_loop)
		return daq_fail(err, EINVAL, "absolute times can't be replayed in a loop");
	error = load(setup, &replay->csv, err);
	if (error)
		return error;
	if (replay->has_loop &&
	    replay->csv.at_ns[0] == replay->csv.at_ns[replay->csv.nr_rows - 1])
		return daq_fail(err, EINVAL, "a file whose samples all have the same time can't be replayed in a loop");
	error = daq_source_columns(source, &replay->csv.layout, "file", replay->column, err);
	if (error)
		return error;
	source->clock = DAQ_CLOCK_HOST;
	return 0;
}

static int replay_open(struct daq_source *source, const struct daq_setup *setup,
		       struct daq_error *err)
{
	int error;

	source->private = calloc(1, sizeof(struct replay));
	if (!source->private)
		return daq_fail(err, ENOMEM, "out of memory");
	error = prepare(source, setup, err);
	if (error)
		replay_close(source);
	return error;
}

static int replay_start(struct daq_source *source, struct daq_error *err)
{
	struct replay *replay = source->private;

	(void)err;
	replay->next = 0;
	replay->shift_ns = replay->is_absolute ? 0 : daq_now_ns() - replay->csv.at_ns[0];
	return 0;
}

static void copy_row(struct daq_source *source, uint32_t scan)
{
	struct replay *replay = source->private;
	const struct daq_csv *csv = &replay->csv;
	const int64_t *row = csv->value + replay->next * csv->layout.nr_columns;
	size_t i;

	replay->at_ns[scan] = csv->at_ns[replay->next] + replay->shift_ns;
	for (i = 0; i < source->nr_channels; i++)
		replay->value[scan * source->nr_channels + i] = row[replay->column[i]];
	replay->next++;
	if (replay->next == csv->nr_rows && replay->has_loop) {
		/* The last line coincides with the first of the next round. */
		replay->shift_ns += csv->at_ns[csv->nr_rows - 1] - csv->at_ns[0];
		replay->next = 0;
	}
}

static int replay_read(struct daq_source *source, int timeout_ms, struct daq_block *block,
		       struct daq_error *err)
{
	struct replay *replay = source->private;
	const struct daq_csv *csv = &replay->csv;
	uint64_t due_ns, now_ns;
	uint32_t nr = 0;

	(void)err;
	*block = (struct daq_block){ .kind = DAQ_BLOCK_NONE };
	if (replay->next == csv->nr_rows) {
		block->kind = DAQ_BLOCK_END;
		return 0;
	}
	due_ns = csv->at_ns[replay->next] + replay->shift_ns;
	if (!daq_sleep_until(due_ns, timeout_ms))
		return 0;
	/* Deliver the lines of about 1 ms together, but without a pause if they are late. */
	if (!replay->is_absolute)
		daq_sleep_until(due_ns + MAX_SLEEP_NS, 1);
	now_ns = daq_now_ns();
	while (nr < BLOCK_SCANS && replay->next < csv->nr_rows &&
	       csv->at_ns[replay->next] + replay->shift_ns <= now_ns)
		copy_row(source, nr++);
	block->kind = DAQ_BLOCK_SCANS;
	block->nr_scans = nr;
	block->at_ns = replay->at_ns;
	block->value = replay->value;
	return 0;
}

static void replay_stop(struct daq_source *source)
{
	(void)source;
}

static int replay_discover(const struct daq_setup *setup, struct daq_channel *found, size_t max,
			   struct daq_error *err)
{
	struct daq_csv csv;
	int error = load(setup, &csv, err);
	size_t i;

	if (error)
		return error;
	for (i = 0; i < csv.layout.nr_columns && i < max; i++)
		found[i] = csv.layout.column[i];
	daq_csv_free(&csv);
	return (int)i;
}

const struct daq_source_ops daq_source_replay = {
	.name = "replay",
	.help = "a CSV file: time_ns|us|ms|s, then columns NAME.UNIT (W, V, A, J, with m, u, n); channels: the names of the columns",
	.settings = "file, loop (true: repeat forever), absolute (true: times are CLOCK_MONOTONIC)",
	.can_wait = true,
	.discover = replay_discover,
	.open = replay_open,
	.start = replay_start,
	.read = replay_read,
	.stop = replay_stop,
	.close = replay_close,
};
