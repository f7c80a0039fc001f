/* SPDX-License-Identifier: GPL-2.0 */
/* session.h - from opening the source to closing it: sample, and print or feed the prober */
#ifndef SPEK_DAQ_SESSION_H
#define SPEK_DAQ_SESSION_H

#include "config/options.h"
#include "error.h"

/**
 * daq_session_run() - run until the source ends, the time is over or SIGINT or SIGTERM arrives
 * @options: what to measure and where the samples go; with do_check the source is only opened
 * Return: 0, or -errno and a sentence.
 */
int daq_session_run(const struct daq_options *options, struct daq_error *err);

#endif
