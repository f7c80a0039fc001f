/* SPDX-License-Identifier: GPL-2.0 */
/* say.h - sentences on standard error */
#ifndef SPEK_DAQ_SAY_H
#define SPEK_DAQ_SAY_H

/** daq_say() - "spek-daq: ..." as one line; any thread. */
void daq_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
