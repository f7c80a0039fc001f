// SPDX-License-Identifier: GPL-2.0
/* CSV output. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "print.h"

#define ROOM_MS 100

static void print_names(const struct daq_print *print)
{
	static const char *const unit[] = {
		[DAQ_UNIT_UV] = "uV", [DAQ_UNIT_UA] = "uA", [DAQ_UNIT_NW] = "nW",
		[DAQ_UNIT_NJ] = "nJ", [DAQ_UNIT_PPM] = "ppm",
		[DAQ_UNIT_BITS] = "bits", [DAQ_UNIT_MC] = "mC",
	};
	size_t i;

	fprintf(print->file, "time_ns");
	for (i = 0; print->raw && i < print->nr_channels; i++)
		fprintf(print->file, ",%s.%s", print->meter->channel[i].name,
		       unit[print->meter->channel[i].unit]);
	for (i = 0; !print->raw && i < print->meter->nr_rails; i++)
		fprintf(print->file, ",%s.uW", print->meter->rail[i].name);
	fprintf(print->file, "\n");
}

int daq_print_check(const struct daq_print *print, struct daq_error *err)
{
	size_t nr = print->raw ? print->nr_channels : print->meter->nr_rails, i;

	for (i = 0; i < nr; i++) {
		const char *name = print->raw ? print->meter->channel[i].name :
						print->meter->rail[i].name;

		if (strpbrk(name, ",\r\n"))
			return daq_fail(err, EINVAL,
					"'%s' can't be the name of a CSV column: it has a comma or a line break",
					name);
	}
	return 0;
}

static void print_raw(const struct daq_print *print, uint64_t at_ns, const int64_t *value)
{
	size_t i;

	fprintf(print->file, "%" PRIu64, at_ns);
	for (i = 0; i < print->nr_channels; i++) {
		if (value[i] == DAQ_ABSENT)
			fprintf(print->file, ",");
		else
			fprintf(print->file, ",%" PRId64, value[i]);
	}
	fprintf(print->file, "\n");
}

static void print_rails(const struct daq_print *print, uint64_t at_ns,
			const struct spek_prober_power_sample *sample, size_t nr_samples)
{
	size_t i, next = 0;

	fprintf(print->file, "%" PRIu64, at_ns);
	for (i = 0; i < print->meter->nr_rails; i++) {
		const struct spek_prober_power_sample *found = NULL;

		/* The second of a rail's two samples if it has an energy counter. */
		while (next < nr_samples && sample[next].rail == i)
			found = &sample[next++];
		if (found)
			fprintf(print->file, ",%" PRId64, (int64_t)found->power_uw);
		else
			fprintf(print->file, ",");
	}
	fprintf(print->file, "\n");
}

/*
 * Return: whether scans were lost, so that no line has the gap. A rail that alone follows a gap was
 * absent from the last scan, whose line has an empty field for it.
 */
static bool all_follow_gap(const struct spek_prober_power_sample *sample, size_t nr_samples)
{
	size_t i;

	for (i = 0; i < nr_samples; i++)
		if (!(sample[i].flags & SPEK_PROBER_POWER_GAP))
			return false;
	return nr_samples > 0;
}

/* Readers take a line of empty fields for a gap of all rails. */
static void print_gap(const struct daq_print *print, uint64_t at_ns)
{
	size_t nr = print->raw ? print->nr_channels : print->meter->nr_rails;

	fprintf(print->file, "%" PRIu64, at_ns);
	while (nr--)
		fprintf(print->file, ",");
	fprintf(print->file, "\n");
}

static int flush(FILE *file, struct daq_error *err)
{
	if (!fflush(file) && !ferror(file))
		return 0;
	return daq_fail(err, EIO, "cannot write to %s: %s",
			file == stdout ? "standard output" : "the log", strerror(errno));
}

int daq_print_flush(struct daq_error *err)
{
	return flush(stdout, err);
}

/*
 * A pipe that nobody reads fills up, and writing to it would wait for ever, also for SIGTERM. A
 * scan is shorter than PIPE_BUF: if there is any room, there is enough.
 *
 * Return: 0, or -EAGAIN and a sentence if there was no room when the end was requested.
 */
static int wait_for_room(const struct daq_print *print, struct daq_error *err)
{
	struct pollfd output = { .fd = fileno(print->file), .events = POLLOUT };

	while (poll(&output, 1, ROOM_MS) <= 0)
		if (atomic_load(print->stop))
			return daq_fail(err, EAGAIN, "cannot write to standard output: nobody reads it");
	return 0;
}

int daq_print_scan(void *context, uint64_t at_ns, const int64_t *value,
		   const struct spek_prober_power_sample *sample, size_t nr_samples,
		   struct daq_error *err)
{
	struct daq_print *print = context;
	int error = print->stop ? wait_for_room(print, err) : 0;

	if (error)
		return error;
	if (!print->has_names)
		print_names(print);
	print->has_names = true;
	if (all_follow_gap(sample, nr_samples))
		print_gap(print, at_ns);
	if (print->raw)
		print_raw(print, at_ns, value);
	else
		print_rails(print, at_ns, sample, nr_samples);
	return flush(print->file, err);
}
