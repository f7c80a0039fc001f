// SPDX-License-Identifier: GPL-2.0
/*
 * recording_driver INTERVAL_NS CHANNEL... - read the source powersensor3 from a recording
 *
 * Standard input has the configuration, CLOCK_MONOTONIC in ns at the start, and then what arrived:
 * CLOCK_MONOTONIC, the number of bytes, and the bytes. No other clock is read. Prints "scan NUMBER VALUE...", "gap SCANS", then
 * "uncertainty NS" and, by the clock of the end, "at NUMBER NS" of every scan.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "pace.h"
#include "powersensor3/serial.h"
#include "sources/source.h"

#define MAX_CHANNELS 8

extern const struct daq_source_ops daq_source_powersensor3;

static uint64_t now_ns, next_scan;
static bool is_over;

/* ---- what the source uses of a device and its host ---- */

uint64_t daq_now_ns(void)
{
	return now_ns;
}

const char *daq_setting_text(const struct daq_setup *setup, const char *key)
{
	(void)setup;
	return key;
}

int ps3_serial_find(const char *sysfs, char path[PATH_MAX], struct daq_error *err)
{
	(void)sysfs;
	(void)path;
	return daq_fail(err, EINVAL, "the line was given");
}

int ps3_serial_open(const char *path, struct daq_error *err)
{
	(void)path;
	(void)err;
	return dup(STDIN_FILENO);
}

int ps3_serial_configuration(int fd, struct ps3_config *config, struct daq_error *err)
{
	uint8_t sensor[PS3_SENSORS][PS3_SENSOR_BYTES];

	(void)fd;
	if (fread(sensor, sizeof(sensor), 1, stdin) != 1 ||
	    fread(&now_ns, sizeof(now_ns), 1, stdin) != 1)
		return daq_fail(err, EIO, "the recording has no configuration");
	return ps3_config_decode(config, sensor, err);
}

int ps3_serial_begin(int fd, struct daq_error *err)
{
	(void)fd;
	(void)err;
	return 0;
}

int ps3_serial_end(int fd, struct daq_error *err)
{
	(void)fd;
	(void)err;
	return 0;
}

int ps3_serial_read(int fd, uint8_t *bytes, size_t room, int timeout_ms, struct daq_error *err)
{
	struct {
		uint64_t at_ns;
		uint64_t length;
	} head;

	(void)fd;
	(void)timeout_ms;
	is_over = fread(&head, sizeof(head), 1, stdin) != 1;
	if (is_over)
		return 0;
	if (head.length > room || fread(bytes, 1, head.length, stdin) != head.length)
		return daq_fail(err, EIO, "the recording is damaged");
	now_ns = head.at_ns;
	return (int)head.length;
}

/* ---- reading ---- */

static int take(struct daq_source *source, struct daq_clock *clock, const struct daq_block *block)
{
	const int64_t *value = block->value;

	if (block->kind == DAQ_BLOCK_GAP)
		printf("gap %" PRIu64 "\n", block->lost);
	if (block->kind != DAQ_BLOCK_SCANS)
		return 0;
	for (uint32_t i = 0; i < block->nr_scans; i++) {
		printf("scan %" PRIu64, block->first + i);
		for (size_t j = 0; j < source->nr_channels; j++)
			printf(" %" PRId64, *value++);
		putchar('\n');
	}
	next_scan = block->first + block->nr_scans;
	return daq_clock_arrival(clock, next_scan - 1, block->arrival_ns);
}

static int read_all(struct daq_source *source, struct daq_clock *clock, struct daq_error *err)
{
	struct daq_block block;
	int error = 0;

	while (!error && !is_over) {
		error = source->ops->read(source, 100, &block, err);
		if (!error)
			error = take(source, clock, &block);
	}
	return error;
}

int main(int argc, char **argv)
{
	static struct daq_channel channel[MAX_CHANNELS];
	static struct daq_clock clock;
	struct daq_setup setup = { 0 };
	struct daq_source source = { .ops = &daq_source_powersensor3, .channel = channel };
	struct daq_error err = { "" };
	int error;

	if (argc < 3 || argc > 2 + MAX_CHANNELS)
		return 2;
	setup.interval_ns = strtoull(argv[1], NULL, 10);
	source.nr_channels = (size_t)argc - 2;
	for (int i = 2; i < argc; i++)
		snprintf(channel[i - 2].name, sizeof(channel->name), "%s", argv[i]);
	error = source.ops->open(&source, &setup, &err);
	if (!error)
		error = source.ops->start(&source, &err);
	if (!error)
		error = daq_clock_init(&clock, &(struct daq_clock_config){
			.period_num = source.period_num,
			.period_den = source.period_den,
			.window_ns = 60000000000,
			.max_ppm = 200,
		}, &err);
	if (!error)
		error = read_all(&source, &clock, &err);
	if (error) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	printf("uncertainty %" PRIu64 "\n", source.uncertainty_ns + daq_clock_residual_ns(&clock));
	for (uint64_t scan = 0; scan < next_scan; scan++)
		printf("at %" PRIu64 " %" PRIu64 "\n", scan, daq_clock_at(&clock, scan, 0));
	source.ops->stop(&source);
	source.ops->close(&source);
	return 0;
}
