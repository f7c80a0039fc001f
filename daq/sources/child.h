/* SPDX-License-Identifier: GPL-2.0 */
/*
 * child.h - a program that is run by a source: its start, its end, and what it says
 *
 * It has no capabilities and cannot gain any, no file of spek-daq but three pipes, and a
 * process group of its own: a key pressed in a terminal does not reach it. It gets SIGTERM if
 * spek-daq dies.
 */
#ifndef SPEK_DAQ_SOURCES_CHILD_H
#define SPEK_DAQ_SOURCES_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "error.h"

/**
 * struct daq_child - a program; zero, or started by daq_child_start()
 * @pid: leader of its process group, or 0
 * @out: its standard output; not blocking
 * @errors: its standard error; -1 once the program has closed it
 * @said_length: bytes in @said
 * @said: unfinished line of its standard error
 */
struct daq_child {
	pid_t pid;
	int out;
	int errors;
	size_t said_length;
	char said[400];
};

/** daq_child_start() - run @command by the shell. Return: 0, or -errno and a sentence. */
int daq_child_start(struct daq_child *child, const char *command, struct daq_error *err);

/**
 * daq_child_wait() - wait until the program writes to its standard output, or closes it
 *
 * Meanwhile, prints what it writes to its standard error.
 *
 * Return: whether there is something to read, or the end; false after @timeout_ms.
 */
bool daq_child_wait(struct daq_child *child, int timeout_ms);

/**
 * daq_child_stop() - end the program and its process group, with SIGTERM, then SIGKILL
 * @grace_ms: time to end by itself before that
 * @status: as of waitpid(), if the program has ended by itself; may be NULL
 * Return: whether the program has ended by itself.
 */
bool daq_child_stop(struct daq_child *child, int grace_ms, int *status);

#endif
