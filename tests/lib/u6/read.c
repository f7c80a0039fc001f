// SPDX-License-Identifier: GPL-2.0
/*
 * Reads spek-daq's u6 source as the bridge does and says what comes, one JSON object a line.
 *
 *   u6_read INTERVAL_NS CHANNEL... [serial=N]
 *
 * Ends when stdin does. A source that can't be opened at first ends it with status 1.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sources/source.h"

#define READ_MS 100

extern const struct daq_source_ops daq_source_u6;
static const struct daq_source_ops *const ops = &daq_source_u6;

static bool is_over(int timeout_ms)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&input, 1, timeout_ms) > 0;
}

static void say(const char *event, const struct daq_error *err)
{
	printf("{\"event\": \"%s\", \"why\": \"%s\"}\n", event, err ? err->text : "");
	fflush(stdout);
}

static void say_open(const struct daq_source *source)
{
	printf("{\"event\": \"open\", \"lsb\": [");
	for (size_t i = 0; i < source->nr_channels; i++)
		printf("%s%" PRIu32, i ? "," : "", source->channel[i].lsb);
	printf("]}\n");
	fflush(stdout);
}

static void say_scans(const struct daq_source *source, const struct daq_block *block)
{
	printf("{\"event\": \"scans\", \"first\": %" PRIu64 ", \"arrival\": %" PRIu64
	       ", \"values\": [", block->first, block->arrival_ns);
	for (size_t i = 0; i < block->nr_scans * source->nr_channels; i++)
		printf("%s%" PRId64, i ? "," : "", block->value[i]);
	printf("], \"overflows\": %" PRIu64 ", \"damaged\": %" PRIu64 "}\n", source->overflows,
	       source->damaged);
	fflush(stdout);
}

static void say_block(const struct daq_source *source, const struct daq_block *block)
{
	if (block->kind == DAQ_BLOCK_SCANS)
		say_scans(source, block);
	else if (block->kind == DAQ_BLOCK_GAP)
		printf("{\"event\": \"gap\", \"first\": %" PRIu64 ", \"lost\": %" PRIu64 "}\n",
		       block->first, block->lost);
}

/* Return: 0 at the end of input, or why the stream ended. */
static int read_stream(struct daq_source *source, struct daq_error *err)
{
	struct daq_block block;
	int error = 0;

	while (!error && !is_over(0)) {
		error = ops->read(source, READ_MS, &block, err);
		if (!error)
			say_block(source, &block);
	}
	return error;
}

/* Start anew as long as that is all it takes. Return: 0 at the end of input, or an error. */
static int run_source(struct daq_source *source, struct daq_error *err)
{
	int error;

	do {
		error = ops->start(source, err);
		if (error)
			return error;
		say("started", NULL);
		error = read_stream(source, err);
		ops->stop(source);
		if (error == -ESTALE)
			say("restart", err);
	} while (error == -ESTALE);
	return error;
}

int main(int argc, char **argv)
{
	struct daq_setting serial = { .key = "serial" };
	struct daq_setup setup = { .sysfs = "/sys", .setting = &serial };
	static struct daq_channel channels[DAQ_MAX_CHANNELS];
	bool was_open = false;
	size_t nr_channels = 0;
	struct daq_error err;

	for (int i = 1; i < argc; i++) {
		if (i == 1)
			setup.interval_ns = strtoull(argv[i], NULL, 10);
		else if (!strncmp(argv[i], "serial=", 7) && (setup.nr_settings = 1))
			snprintf(serial.value, sizeof(serial.value), "%s", argv[i] + 7);
		else
			snprintf(channels[nr_channels++].name, DAQ_NAME_MAX, "%s", argv[i]);
	}
	do {
		struct daq_source source = {
			.ops = ops,
			.channel = channels,
			.nr_channels = nr_channels,
		};
		int error = ops->open(&source, &setup, &err);

		if (!error) {
			was_open = true;
			say_open(&source);
			error = run_source(&source, &err);
			ops->close(&source);
		}
		if (!error)
			return 0;
		say(error == -ENODEV ? "gone" : "failed", &err);
	} while (was_open && !is_over(READ_MS));
	return was_open ? 0 : 1;
}
