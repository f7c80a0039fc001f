/* SPDX-License-Identifier: GPL-2.0 */
/* qis.h - connection to QIS, Quarch's instrument server: commands and their replies */
#ifndef SPEK_DAQ_QUARCH_QIS_H
#define SPEK_DAQ_QUARCH_QIS_H

#include <stddef.h>

#include "channel.h"
#include "error.h"
#include "stop.h"

/* The largest reply has 3072 rows. */
#define QIS_MAX_REPLY (4 << 20)

/**
 * struct qis - a connection
 * @fd: its socket, -1 if there is none
 * @module: name of the module, as in "usb::QTL1847-01-016"
 * @reply: text of the last reply, without its end
 * @length: its length
 * @is_unanswered: the last command was sent, and no whole reply to it has come
 * @stop: request to end; a command after it is not sent, and fails with -ECANCELED
 * @is_ending: commands are sent nevertheless, so that the module stops
 * @last_ns: after the request: when the last reply must have come; else 0
 */
struct qis {
	int fd;
	char module[DAQ_NAME_MAX];
	char *reply;
	size_t length;
	bool is_unanswered;
	const struct daq_stop *stop;
	bool is_ending;
	uint64_t last_ns;
};

/**
 * qis_open() - read the settings, connect, and find the module
 * Return: 0; -EINVAL: a wrong setting, or several modules; -ENODEV: no QIS, or no module; -EACCES:
 * permission denied; -ECANCELED: asked to end. Each with a sentence.
 */
int qis_open(struct qis *qis, const struct daq_setup *setup, struct daq_error *err);

/**
 * qis_ask() - send a command for the module and await its reply
 * Return: 0; -ENODEV: the connection is gone, or no reply comes; -ECANCELED: asked to end. Each with
 * a sentence.
 */
int qis_ask(struct qis *qis, const char *command, struct daq_error *err);

void qis_close(struct qis *qis);

#endif
