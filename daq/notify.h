/* SPDX-License-Identifier: GPL-2.0 */
/* notify.h - state changes for the service manager */
#ifndef SPEK_DAQ_NOTIFY_H
#define SPEK_DAQ_NOTIFY_H

/**
 * daq_notify() - send a state to the service manager, if there is one
 * @state: "READY=1", "STOPPING=1"...
 */
void daq_notify(const char *state);

#endif
