// SPDX-License-Identifier: GPL-2.0
/* See qis.h. */
#include "quarch/qis.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pace.h"
#include "sources/tcp.h"

#define REPLY_NS 10000000000ull
/* for the reply in progress and the end of a stream, once asked to end */
#define LAST_NS 1000000000ull
/* how QIS ends a reply */
#define CURSOR "\r\n>"

/*
 * A module whose stream is not stopped is busy at the next start. So the request to end shortens
 * the wait for a reply, and does not end it.
 *
 * Return: as daq_stop_wait().
 */
static int await(struct qis *qis, uint64_t end_ns)
{
	uint64_t now_ns = daq_now_ns();
	int error;

	/* QIS may send byte by byte. */
	if (now_ns >= end_ns)
		return -ETIMEDOUT;
	if (!qis->last_ns) {
		error = daq_stop_wait(qis->stop, qis->fd, POLLIN, end_ns);
		if (error != -ECANCELED)
			return error;
		now_ns = daq_now_ns();
		qis->last_ns = now_ns + LAST_NS;
	}
	if (now_ns >= qis->last_ns || daq_stop_wait(NULL, qis->fd, POLLIN, qis->last_ns))
		return -ECANCELED;
	return 0;
}

static int say_stopped(struct daq_error *err)
{
	return daq_fail(err, ECANCELED, "stopped while QIS was asked");
}

static int receive(struct qis *qis, struct daq_error *err)
{
	uint64_t end_ns = daq_now_ns() + REPLY_NS;
	int error;

	qis->length = 0;
	while (!(error = await(qis, end_ns))) {
		ssize_t got = recv(qis->fd, qis->reply + qis->length, QIS_MAX_REPLY - qis->length,
				   0);

		if (got <= 0)
			return daq_fail(err, ENODEV, "QIS has closed the connection");
		qis->length += (size_t)got;
		if (qis->length >= strlen(CURSOR) &&
		    !memcmp(qis->reply + qis->length - strlen(CURSOR), CURSOR, strlen(CURSOR))) {
			qis->length -= strlen(CURSOR);
			qis->reply[qis->length] = '\0';
			qis->is_unanswered = false;
			return 0;
		}
		if (qis->length == QIS_MAX_REPLY)
			return daq_fail(err, ENODEV, "a reply of QIS is too long");
	}
	if (error == -ECANCELED)
		return say_stopped(err);
	if (error != -ETIMEDOUT)
		return daq_fail(err, EIO, "cannot wait for QIS: %s", strerror(-error));
	return daq_fail(err, ENODEV, "QIS does not answer within %llu s", REPLY_NS / 1000000000);
}

static int ask(struct qis *qis, const char *module, const char *command, struct daq_error *err)
{
	char line[200];
	int length = snprintf(line, sizeof(line), "%s%s%s\r\n", module, module[0] ? " " : "",
			      command);

	qis->is_unanswered = false;
	if (!qis->is_ending && daq_stop_is_asked(qis->stop))
		return say_stopped(err);
	qis->is_unanswered = true;
	if (send(qis->fd, line, (size_t)length, MSG_NOSIGNAL) != length)
		return daq_fail(err, ENODEV, "QIS has closed the connection");
	return receive(qis, err);
}

int qis_ask(struct qis *qis, const char *command, struct daq_error *err)
{
	return ask(qis, qis->module, command, err);
}

/* Lines such as "1) usb::QTL1847-01-016". */
static int find_module(struct qis *qis, struct daq_error *err)
{
	int error = ask(qis, "", "$list", err), nr = 0;
	char *rest = qis->reply, *line;

	if (error)
		return error;
	while ((line = strsep(&rest, "\r\n"))) {
		const char *name = strstr(line, ") ");

		if (!name || !strstr(name, "::") || strlen(name + 2) >= sizeof(qis->module))
			continue;
		strcpy(qis->module, name + 2);
		nr++;
	}
	if (!nr)
		return daq_fail(err, ENODEV, "QIS knows no module");
	if (nr > 1)
		return daq_fail(err, EINVAL,
				"QIS knows %d modules; name one with --set module=..., for example %s",
				nr, qis->module);
	return 0;
}

static int join(struct qis *qis, const char *host, int port, struct daq_error *err)
{
	int error;

	if (!daq_tcp_is_address(host))
		return daq_fail(err, EINVAL,
				"setting 'host' is '%s'; it must be an IPv4 or IPv6 address", host);
	qis->fd = daq_tcp_connect(host, (uint16_t)port, qis->stop, daq_now_ns() + REPLY_NS);
	if (qis->fd >= 0)
		return 0;
	error = -qis->fd;
	if (error == ECANCELED)
		return say_stopped(err);
	if (error == EAFNOSUPPORT)
		return daq_fail(err, EACCES,
				"this process may not use a network to reach QIS: %s",
				strerror(error));
	return daq_fail(err, error == EPERM || error == EACCES ? EACCES : ENODEV,
			"cannot reach QIS at %s port %d: %s", host, port, strerror(error));
}

int qis_open(struct qis *qis, const struct daq_setup *setup, struct daq_error *err)
{
	const char *host = daq_setting_text(setup, "host");
	const char *module = daq_setting_text(setup, "module");
	int64_t port = 9722;
	int error = daq_setting_number(setup, "port", 1, 65535, &port, err);

	qis->fd = -1;
	qis->stop = setup->stop;
	if (error)
		return error;
	if (module && (strlen(module) >= sizeof(qis->module) || strpbrk(module, " \r\n")))
		return daq_fail(err, EINVAL,
				"setting 'module' must have less than %d bytes and no spaces",
				DAQ_NAME_MAX);
	snprintf(qis->module, sizeof(qis->module), "%s", module ? module : "");
	qis->reply = malloc(QIS_MAX_REPLY + 1);
	if (!qis->reply)
		return daq_fail(err, ENOMEM, "out of memory");
	error = join(qis, host ? host : "127.0.0.1", (int)port, err);
	if (!error && !module)
		error = find_module(qis, err);
	if (error)
		qis_close(qis);
	return error;
}

void qis_close(struct qis *qis)
{
	if (qis->fd >= 0)
		close(qis->fd);
	qis->fd = -1;
	free(qis->reply);
	qis->reply = NULL;
}
