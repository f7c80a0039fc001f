/* SPDX-License-Identifier: GPL-2.0 */
/*
 * stop.h - the request to end, and waits that it ends
 *
 * SIGINT and SIGTERM are blocked and stay pending, so that every thread sees them however late it
 * looks. The main thread asks by itself when its time is over or what it feeds has ended.
 */
#ifndef SPEK_DAQ_STOP_H
#define SPEK_DAQ_STOP_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"

/**
 * struct daq_stop - the request; const for all threads but the main one
 * @signals: readable while a signal is pending
 * @asked: readable after daq_stop_ask()
 */
struct daq_stop {
	int signals;
	int asked;
};

/**
 * daq_stop_init() - block the signals of this thread and of those that it creates
 * Return: 0, or -errno and a sentence.
 */
int daq_stop_init(struct daq_stop *stop, struct daq_error *err);

/** daq_stop_ask() - end all waits. */
void daq_stop_ask(const struct daq_stop *stop);

/** daq_stop_is_asked() - Return: whether to end; false if @stop is NULL. */
bool daq_stop_is_asked(const struct daq_stop *stop);

/**
 * daq_stop_wait() - wait for a file
 * @stop: request that ends the wait; NULL: none does
 * @fd: the file; -1: wait for the time only
 * @events: as of poll()
 * @end_ns: CLOCK_MONOTONIC
 * Return: 0: the file is ready; -ECANCELED: the request has come; -ETIMEDOUT; other -errno: poll()
 * fails, and would again.
 */
int daq_stop_wait(const struct daq_stop *stop, int fd, short events, uint64_t end_ns);

/** daq_stop_deinit() - of a request that daq_stop_init() has refused, too. */
void daq_stop_deinit(struct daq_stop *stop);

#endif
