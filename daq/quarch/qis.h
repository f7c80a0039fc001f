/* SPDX-License-Identifier: GPL-2.0 */
/* qis.h - connection to QIS, Quarch's instrument server: commands and their replies */
#ifndef SPEK_DAQ_QUARCH_QIS_H
#define SPEK_DAQ_QUARCH_QIS_H

#include <stddef.h>

#include "channel.h"
#include "error.h"

/* The largest reply has 3072 rows. */
#define QIS_MAX_REPLY (4 << 20)

/**
 * struct qis - a connection
 * @fd: its socket, -1 if there is none
 * @module: name of the module, as in "usb::QTL1847-01-016"
 * @reply: text of the last reply, without its end
 * @length: its length
 */
struct qis {
	int fd;
	char module[DAQ_NAME_MAX];
	char *reply;
	size_t length;
};

/**
 * qis_open() - read the settings, connect, and find the module
 * Return: 0; -EINVAL: a wrong setting, or several modules; -ENODEV: no QIS, or no module; -EACCES:
 * permission denied. Each with a sentence.
 */
int qis_open(struct qis *qis, const struct daq_setup *setup, struct daq_error *err);

/**
 * qis_ask() - send a command for the module and await its reply
 * Return: 0; -ENODEV and a sentence: the connection is gone, or no reply comes.
 */
int qis_ask(struct qis *qis, const char *command, struct daq_error *err);

void qis_close(struct qis *qis);

#endif
