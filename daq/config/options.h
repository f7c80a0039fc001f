/* SPDX-License-Identifier: GPL-2.0 */
/* options.h - the command line, combined with the rails file */
#ifndef SPEK_DAQ_CONFIG_OPTIONS_H
#define SPEK_DAQ_CONFIG_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "config/rails.h"
#include "sources/source.h"

/* exit codes, as in --help; the first six agree with spekctl's */
enum {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_PERMISSION = 3,
	EXIT_BUSY = 4,
	EXIT_NO_PROBER = 5,
	EXIT_NO_DEVICE = 6,
};

/** daq_exit_code() - Return: the exit code of an error (-errno). */
int daq_exit_code(int error);

enum daq_print_mode { DAQ_PRINT_NOT, DAQ_PRINT_RAILS, DAQ_PRINT_RAW };

/**
 * struct daq_options - the user's request
 * @ops: operations of the source
 * @name: name of the feed
 * @rails_path: path of the rails file, or NULL
 * @rails: contents of the rails file, or default rails
 * @setup: request to the source
 * @time_ns: duration; 0: unlimited
 * @max_step_ns: longest step between samples without a gap; 0: derived from the source
 * @history: samples the prober keeps per rail; 0: its default
 * @queue: capacity of the queue in samples
 * @print: CSV to print instead of feeding the prober
 * @log_path: file that gets the channels as CSV while the prober is fed, or NULL
 * @do_list: list channels and exit
 * @do_check: check rails and device and exit
 * @do_wait: wait for a missing device or prober
 */
struct daq_options {
	const struct daq_source_ops *ops;
	const char *name;
	const char *rails_path;
	struct daq_rails rails;
	struct daq_setup setup;
	uint64_t time_ns;
	uint64_t max_step_ns;
	int64_t history;
	int64_t queue;
	enum daq_print_mode print;
	const char *log_path;
	bool do_list;
	bool do_check;
	bool do_wait;
};

/**
 * daq_options_parse() - read command line and rails file
 * @stop: request to end; the rails of a source without a file take waits for its device
 * Return: 0, or -errno and a sentence. --help and --version end the program.
 */
int daq_options_parse(struct daq_options *options, int argc, char **argv,
		      const struct daq_stop *stop, struct daq_error *err);

#endif
