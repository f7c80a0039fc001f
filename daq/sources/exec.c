// SPDX-License-Identifier: GPL-2.0
/*
 * Source exec: a program that writes samples to its standard output, as lines.h has them.
 *
 * The program is started by open, whose first call waits for the header: it says which channels
 * there are. Later, read waits for it, for as long. When the program ends with status 0 after its
 * header, so does the source; any other end is a device that is gone, and the bridge starts the
 * program again. A damaged line is a gap.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pace.h"
#include "say.h"
#include "sources/child.h"
#include "sources/columns.h"
#include "sources/lines.h"
#include "sources/source.h"

#define HEADER_NS 10000000000ull
#define STEP_MS 50
#define BLOCK_SCANS 256
/* So many lines without a time that arrive together were kept back by the program. */
#define MANY_AT_ONCE 16
/* how long a program may take from the end of its output to its own */
#define END_MS 1000
#define MIN_SILENCE_NS 2000000000ull
#define SILENCE_INTERVALS 10
#define NOT_FOUND 127
#define NOT_EXECUTABLE 126
/* what is known of the times of lines that have none: pipes and the scheduler delay them */
#define ARRIVAL_NS 1000000

/**
 * struct exec - a program
 * @child: the program
 * @lines: its output
 * @column: per channel: its column
 * @silence_ns: a program that writes nothing for this long is stopped; 0: it may be silent
 * @heard_ns: arrival of the last bytes, or the start
 * @has_gap: a line was lost before the next scan
 * @was_bad: the last line was damaged
 * @has_warned: the program was said to keep lines back
 * @value: values of one line, in the order of its columns
 */
struct exec {
	struct daq_child child;
	struct daq_lines lines;
	size_t column[DAQ_MAX_CHANNELS];
	uint64_t silence_ns;
	uint64_t heard_ns;
	bool has_gap;
	bool was_bad;
	bool has_warned;
	uint64_t at_ns[BLOCK_SCANS];
	int64_t block[BLOCK_SCANS * DAQ_MAX_CHANNELS];
	int64_t value[DAQ_MAX_CHANNELS];
};

/* ---- its end ---- */

static int say_end(int status, struct daq_error *err)
{
	if (WIFSIGNALED(status))
		return daq_fail(err, ENODEV, "the program was ended by signal %d (%s)",
				WTERMSIG(status), strsignal(WTERMSIG(status)));
	return daq_fail(err, ENODEV, "the program ended with status %d", WEXITSTATUS(status));
}

/* Return: 0: it has ended as it should; or -errno and a sentence. */
static int end_program(struct exec *exec, struct daq_error *err)
{
	int status = 0;

	if (!daq_child_stop(&exec->child, END_MS, &status))
		return daq_fail(err, ENODEV,
				"the program closed its standard output but did not end");
	return status ? say_end(status, err) : 0;
}

/* ---- its output ---- */

/* Return: number of bytes; 0: none within the time; -ENODATA: the output has ended. */
static int take_bytes(struct exec *exec, int timeout_ms)
{
	size_t room;
	char *to;
	ssize_t length;

	if (!daq_child_wait(&exec->child, timeout_ms))
		return 0;
	to = daq_lines_room(&exec->lines, &room);
	length = read(exec->child.out, to, room);
	if (length < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (length <= 0)
		return -ENODATA;
	daq_lines_added(&exec->lines, (size_t)length);
	exec->heard_ns = daq_now_ns();
	return (int)length;
}

static int find_columns(struct daq_source *source, struct daq_error *err)
{
	struct exec *exec = source->private;

	source->uncertainty_ns = exec->lines.layout.has_time ? 0 : ARRIVAL_NS;
	return daq_source_columns(source, &exec->lines.layout, "program", exec->column, err);
}

static int say_no_header(struct daq_error *err)
{
	return daq_fail(err, ENODEV, "the program has written no header line within %llu s",
			HEADER_NS / 1000000000);
}

static int end_without_header(struct exec *exec, struct daq_error *err)
{
	struct daq_error why;
	int status = 0;

	if (!daq_child_stop(&exec->child, END_MS, &status))
		return daq_fail(err, EINVAL, "the program closed its standard output before its header line");
	if (WIFEXITED(status) && (WEXITSTATUS(status) == NOT_FOUND ||
				  WEXITSTATUS(status) == NOT_EXECUTABLE))
		return daq_fail(err, EINVAL, "the command cannot be run (status %d of /bin/sh)",
				WEXITSTATUS(status));
	say_end(status, &why);
	return daq_fail(err, ENODEV, "%s, before its header line", why.text);
}

/* Wait for the header. Lines behind it remain. */
static int await_header(struct exec *exec, const struct daq_stop *stop, struct daq_error *err)
{
	uint64_t end_ns = exec->lines.start_ns + HEADER_NS;
	uint64_t at_ns;

	for (;;) {
		int found = daq_lines_next(&exec->lines, exec->heard_ns, &at_ns, exec->value, err);

		if (found)
			return found < 0 ? found : 0;
		found = take_bytes(exec, STEP_MS);
		if (found < 0)
			return end_without_header(exec, err);
		if (daq_stop_is_asked(stop))
			return daq_fail(err, ECANCELED, "stopped before the program's header line");
		if (daq_now_ns() >= end_ns)
			return say_no_header(err);
	}
}

/* ---- life ---- */

static int start_program(struct exec *exec, const struct daq_setup *setup, struct daq_error *err)
{
	const char *command = daq_setting_text(setup, "command");

	if (!command || !command[0])
		return daq_fail(err, EINVAL,
				"source exec needs a command: --source exec COMMAND");
	daq_lines_init(&exec->lines, daq_now_ns());
	exec->heard_ns = exec->lines.start_ns;
	return daq_child_start(&exec->child, command, err);
}

static void exec_close(struct daq_source *source)
{
	struct exec *exec = source->private;

	daq_child_stop(&exec->child, 0, NULL);
	free(exec);
	source->private = NULL;
}

static int exec_open(struct daq_source *source, const struct daq_setup *setup,
		     struct daq_error *err)
{
	struct exec *exec = calloc(1, sizeof(*exec));
	int error;

	if (!exec)
		return daq_fail(err, ENOMEM, "out of memory");
	source->private = exec;
	source->clock = DAQ_CLOCK_HOST;
	source->interval_ns = setup->interval_ns;
	if (setup->interval_ns)
		exec->silence_ns = setup->interval_ns > MIN_SILENCE_NS / SILENCE_INTERVALS ?
					   setup->interval_ns * SILENCE_INTERVALS :
					   MIN_SILENCE_NS;
	error = start_program(exec, setup, err);
	if (!error && !source->is_reopened)
		error = await_header(exec, setup->stop, err);
	if (!error && !source->is_reopened)
		error = find_columns(source, err);
	if (error)
		exec_close(source);
	return error;
}

static int exec_start(struct daq_source *source, struct daq_error *err)
{
	(void)source;
	(void)err;
	return 0;
}

static void exec_stop(struct daq_source *source)
{
	(void)source;
}

static int exec_discover(const struct daq_setup *setup, struct daq_channel *found, size_t max,
			 struct daq_error *err)
{
	struct exec *exec = calloc(1, sizeof(*exec));
	size_t i = 0;
	int error;

	if (!exec)
		return daq_fail(err, ENOMEM, "out of memory");
	error = start_program(exec, setup, err);
	if (!error)
		error = await_header(exec, setup->stop, err);
	for (; !error && i < exec->lines.layout.nr_columns && i < max; i++)
		found[i] = exec->lines.layout.column[i];
	daq_child_stop(&exec->child, 0, NULL);
	free(exec);
	return error ? error : (int)i;
}

/* ---- reading ---- */

static void lose_line(struct daq_source *source, const struct daq_error *why)
{
	struct exec *exec = source->private;

	source->damaged++;
	exec->has_gap = true;
	/* The first of several in a row tells what is wrong. */
	if (!exec->was_bad)
		daq_say("the program's %s; the line is lost", why->text);
	exec->was_bad = true;
}

static void copy_scan(struct daq_source *source, uint32_t scan, uint64_t at_ns)
{
	struct exec *exec = source->private;
	size_t i;

	exec->at_ns[scan] = at_ns;
	for (i = 0; i < source->nr_channels; i++)
		exec->block[scan * source->nr_channels + i] = exec->value[exec->column[i]];
	exec->was_bad = false;
}

static void warn_of_many(struct exec *exec, uint32_t scans)
{
	if (exec->lines.layout.has_time || exec->has_warned || scans < MANY_AT_ONCE)
		return;
	exec->has_warned = true;
	daq_say("%u lines without a time have arrived at once, so their times are wrong: the program must write each line when it measures, or write a column with the time",
		scans);
}

/* Take whole lines up to a damaged one. Return: number of scans, or -errno and a sentence. */
static int take_scans(struct daq_source *source, struct daq_error *err)
{
	struct exec *exec = source->private;
	uint64_t at_ns;
	int nr = 0;

	while (nr < BLOCK_SCANS && !exec->has_gap) {
		struct daq_error why;
		int found = daq_lines_next(&exec->lines, exec->heard_ns, &at_ns, exec->value, &why);

		if (found == DAQ_LINE_NONE)
			break;
		if (found < 0 && !exec->lines.has_header)
			return daq_fail(err, -found, "the program's %s", why.text);
		if (found < 0) {
			lose_line(source, &why);
		} else if (found == DAQ_LINE_HEADER) {
			found = find_columns(source, err);
			if (found)
				return found;
		} else {
			copy_scan(source, (uint32_t)nr++, at_ns);
		}
	}
	warn_of_many(exec, (uint32_t)nr);
	return nr;
}

/* A reopened source does not wait for the header in open: read does, without blocking. */
static int check_silence(const struct exec *exec, struct daq_error *err)
{
	uint64_t now_ns = daq_now_ns();

	if (exec->silence_ns && now_ns - exec->heard_ns > exec->silence_ns)
		return daq_fail(err, EIO, "the program has written nothing for %llu ms",
				(unsigned long long)exec->silence_ns / 1000000);
	if (!exec->lines.has_header && now_ns - exec->lines.start_ns >= HEADER_NS)
		return say_no_header(err);
	return 0;
}

/* The output has ended. */
static int finish(struct daq_source *source, struct daq_block *block, struct daq_error *err)
{
	struct exec *exec = source->private;
	int error;

	/* It has measured nothing: at first spek-daq fails, later it starts the program again. */
	if (!exec->lines.has_header)
		return end_without_header(exec, err);
	if (daq_lines_is_cut(&exec->lines)) {
		source->damaged++;
		daq_say("the program's last line has no end; it is lost");
	}
	error = end_program(exec, err);
	if (!error)
		block->kind = DAQ_BLOCK_END;
	return error;
}

static int exec_read(struct daq_source *source, int timeout_ms, struct daq_block *block,
		     struct daq_error *err)
{
	struct exec *exec = source->private;
	int found;

	memset(block, 0, sizeof(*block));
	if (exec->has_gap) {
		exec->has_gap = false;
		block->kind = DAQ_BLOCK_GAP;
		block->lost = 1;
		return 0;
	}
	found = take_scans(source, err);
	if (!found && !exec->has_gap) {
		found = take_bytes(exec, timeout_ms);
		if (found == -ENODATA)
			return finish(source, block, err);
		found = take_scans(source, err);
		if (!found)
			found = check_silence(exec, err);
	}
	if (found <= 0)
		return found;
	block->kind = DAQ_BLOCK_SCANS;
	block->nr_scans = (uint32_t)found;
	block->at_ns = exec->at_ns;
	block->value = exec->block;
	return 0;
}

const struct daq_source_ops daq_source_exec = {
	.name = "exec",
	.help = "a program, run by the shell without capabilities, that writes lines as replay reads them; channels: the names of its columns",
	.settings = "command (as the argument COMMAND; its first line must name the columns; the time, CLOCK_MONOTONIC, may be left out, then it is that of the arrival)",
	.argument = "command",
	.discover = exec_discover,
	.open = exec_open,
	.start = exec_start,
	.read = exec_read,
	.stop = exec_stop,
	.close = exec_close,
};
