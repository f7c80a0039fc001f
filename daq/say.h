/* SPDX-License-Identifier: GPL-2.0 */
/* say.h - messages on standard error */
#ifndef SPEK_DAQ_SAY_H
#define SPEK_DAQ_SAY_H

/** daq_say() - print one line "spek-daq: ..."; any thread. */
void daq_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
