// SPDX-License-Identifier: GPL-2.0
/*
 * source.c, with replies of QIS from here, on a clock that only replies advance.
 * usage: source_driver FILE... - one reply of rows per file, each a second after the one before,
 * then none. Prints of each block its kind, first row, number of rows or lost ones, and arrival.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pace.h"
#include "quarch/qis.h"
#include "say.h"
#include "sources/source.h"

#define SECOND_NS	UINT64_C(1000000000)

extern const struct daq_source_ops daq_source_quarch;

static char **reply_file;
static uint64_t now_ns = 1000 * SECOND_NS;

uint64_t daq_now_ns(void)
{
	return now_ns;
}

void daq_pace_begin(struct daq_pace *pace, uint64_t interval_ns)
{
	pace->interval_ns = interval_ns;
}

bool daq_pace_wait(struct daq_pace *pace, int timeout_ms)
{
	(void)pace;
	(void)timeout_ms;
	return true;
}

bool daq_sleep_until(uint64_t at_ns, int timeout_ms)
{
	(void)at_ns;
	(void)timeout_ms;
	return true;
}

void daq_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

int qis_open(struct qis *qis, const struct daq_setup *setup, struct daq_error *err)
{
	(void)setup;
	(void)err;
	strcpy(qis->module, "usb::QTL1847-01-016");
	return 0;
}

/* Return: text of the file, for free() */
static char *read_file(const char *path)
{
	FILE *file = fopen(path, "r");
	size_t room = 0;
	char *text = NULL;

	if (!file || getdelim(&text, &room, '\0', file) < 0)
		abort();
	fclose(file);
	return text;
}

int qis_ask(struct qis *qis, const char *command, struct daq_error *err)
{
	static bool streams;

	free(qis->reply);
	qis->reply = NULL;
	if (!strcmp(command, "stream text header")) {
		qis->reply = read_file(*reply_file++);
	} else if (!strcmp(command, "stream text all")) {
		if (!*reply_file)
			return daq_fail(err, ENODEV, "no reply");
		now_ns += SECOND_NS;
		qis->reply = read_file(*reply_file++);
	} else if (!strcmp(command, "stream?")) {
		qis->reply = strdup(streams ? "Running" : "Stopped: User");
	} else {
		if (!strncmp(command, "rec ", 4))
			streams = !strcmp(command, "rec stream");
		qis->reply = strdup("OK");
	}
	qis->length = strlen(qis->reply);
	return 0;
}

void qis_close(struct qis *qis)
{
	free(qis->reply);
}

static void print_block(const struct daq_block *block)
{
	if (block->kind == DAQ_BLOCK_GAP)
		printf("gap %" PRIu64 "\n", block->lost);
	else if (block->kind == DAQ_BLOCK_SCANS)
		printf("rows %" PRIu64 " %" PRIu32 " %" PRIu64 "\n", block->first, block->nr_scans,
		       block->arrival_ns - 1000 * SECOND_NS);
}

int main(int argc, char **argv)
{
	struct daq_setup setup = {};
	struct daq_channel channel = { .name = "5V" };
	struct daq_source source = { .channel = &channel, .nr_channels = 1 };
	struct daq_error err = {};
	struct daq_block block;

	if (argc < 2)
		return 2;
	reply_file = argv + 1;
	if (daq_source_quarch.open(&source, &setup, &err)) {
		printf("%s\n", err.text);
		return 1;
	}
	if (daq_source_quarch.start(&source, &err)) {
		printf("%s\n", err.text);
	} else {
		while (!daq_source_quarch.read(&source, 0, &block, &err))
			print_block(&block);
		printf("%s\n", err.text);
		daq_source_quarch.stop(&source);
	}
	daq_source_quarch.close(&source);
	return 0;
}
