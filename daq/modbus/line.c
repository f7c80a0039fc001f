// SPDX-License-Identifier: GPL-2.0
/* See line.h. */
#include "modbus/line.h"

#include <arpa/inet.h>
#include <errno.h>
#include <modbus/modbus.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

#include "pace.h"

#define DEFAULT_TIMEOUT_MS 500

/* ---- settings ---- */

static int take_serial(struct modbus_line *line, const struct daq_setup *setup, const char *device,
		       struct daq_error *err)
{
	const char *parity = daq_setting_text(setup, "parity");
	int64_t baud = 9600, stop_bits = 1;
	int error = daq_setting_number(setup, "baud", 300, 921600, &baud, err);

	if (!error)
		error = daq_setting_number(setup, "stop_bits", 1, 2, &stop_bits, err);
	if (error)
		return error;
	if (parity && strcmp(parity, "none") && strcmp(parity, "even") && strcmp(parity, "odd"))
		return daq_fail(err, EINVAL,
				"setting 'parity' is '%s'; it must be none, even or odd", parity);
	line->is_serial = true;
	snprintf(line->place, sizeof(line->place), "unit %d at %s", line->unit, device);
	line->context = modbus_new_rtu(device, (int)baud,
				       !parity || parity[0] == 'n' ? 'N' :
				       parity[0] == 'e'		   ? 'E' :
								     'O',
				       8, (int)stop_bits);
	return line->context ? 0 : daq_fail(err, ENOMEM, "out of memory");
}

static int take_network(struct modbus_line *line, const struct daq_setup *setup, const char *host,
			struct daq_error *err)
{
	unsigned char address[sizeof(struct in6_addr)];
	int64_t port = 502;
	char service[8];
	int error = daq_setting_number(setup, "port", 1, 65535, &port, err);

	if (error)
		return error;
	if (inet_pton(AF_INET, host, address) != 1 && inet_pton(AF_INET6, host, address) != 1)
		return daq_fail(err, EINVAL,
				"setting 'host' is '%s'; it must be an IPv4 or IPv6 address", host);
	snprintf(service, sizeof(service), "%d", (int)port);
	snprintf(line->place, sizeof(line->place), "unit %d at %s port %d", line->unit, host,
		 (int)port);
	line->context = modbus_new_tcp_pi(host, service);
	return line->context ? 0 : daq_fail(err, ENOMEM, "out of memory");
}

static int take_settings(struct modbus_line *line, const struct daq_setup *setup,
			 struct daq_error *err)
{
	const char *device = daq_setting_text(setup, "device");
	const char *host = daq_setting_text(setup, "host");
	int64_t unit = 1, timeout_ms = DEFAULT_TIMEOUT_MS;
	int error = daq_setting_number(setup, "unit", 1, 247, &unit, err);

	if (!error)
		error = daq_setting_number(setup, "timeout_ms", 20, 5000, &timeout_ms, err);
	if (error)
		return error;
	line->unit = (int)unit;
	line->timeout_ms = (int)timeout_ms;
	if (!device == !host)
		return daq_fail(err, EINVAL,
				"source modbus needs either setting 'device', a serial line, or setting 'host', an address");
	return device ? take_serial(line, setup, device, err) :
			take_network(line, setup, host, err);
}

/* ---- opening ---- */

static int say_why_not(const struct modbus_line *line, int reason, struct daq_error *err)
{
	if (reason == EACCES || reason == EPERM)
		return daq_fail(err, EACCES,
				line->is_serial ?
					"no permission to use the meter, %s; the line's group, usually dialout, may" :
					"no permission to reach the meter, %s; the systemd unit allows no network by default",
				line->place);
	if (reason == EAFNOSUPPORT)
		return daq_fail(err, EACCES,
				"this process may not use a network to reach the meter, %s; the systemd unit allows none by default",
				line->place);
	if (reason == EBUSY || reason == EWOULDBLOCK)
		return daq_fail(err, EBUSY, "the meter, %s, is in use by another program",
				line->place);
	if (reason == ENOTTY)
		return daq_fail(err, EINVAL, "the meter, %s, is not on a serial line", line->place);
	return daq_fail(err, ENODEV, "cannot reach the meter, %s: %s", line->place,
			modbus_strerror(reason));
}

int modbus_line_open(struct modbus_line *line, const struct daq_setup *setup,
		     struct daq_error *err)
{
	int error = take_settings(line, setup, err);

	if (error)
		return error;
	modbus_set_slave(line->context, line->unit);
	modbus_set_response_timeout(line->context, (uint32_t)line->timeout_ms / 1000,
				    (uint32_t)line->timeout_ms % 1000 * 1000);
	if (modbus_connect(line->context)) {
		error = say_why_not(line, errno, err);
		modbus_free(line->context);
		line->context = NULL;
		return error;
	}
	if (line->is_serial && flock(modbus_get_socket(line->context), LOCK_EX | LOCK_NB)) {
		error = say_why_not(line, errno, err);
		modbus_line_close(line);
		return error;
	}
	modbus_flush(line->context);
	return 0;
}

void modbus_line_close(struct modbus_line *line)
{
	if (!line->context)
		return;
	modbus_close(line->context);
	modbus_free(line->context);
	line->context = NULL;
}

/* ---- reading ---- */

/* Time after which a late reply must have arrived. */
static void empty_line(struct modbus_line *line)
{
	daq_sleep_until(daq_now_ns() + (uint64_t)line->timeout_ms * 1000000, line->timeout_ms);
	modbus_flush(line->context);
}

static bool is_refusal(int reason)
{
	return reason >= EMBXILFUN && reason < EMBXGPATH;
}

/* A gateway answers for a meter that it cannot reach. */
static bool is_of_gateway(int reason)
{
	return reason == EMBXGPATH || reason == EMBXGTAR;
}

int modbus_line_read(struct modbus_line *line, const struct modbus_register *reg, uint16_t *word,
		     struct daq_error *err)
{
	int words = (int)modbus_words(reg->type), reason;

	if ((reg->is_input ? modbus_read_input_registers(line->context, reg->address, words, word) :
			     modbus_read_registers(line->context, reg->address, words, word)) ==
	    words)
		return 0;
	reason = errno;
	if (is_refusal(reason))
		return daq_fail(err, ENXIO,
				"the meter, %s, refuses register 0x%04x of channel '%s': %s (exception %d)",
				line->place, reg->address, reg->name, modbus_strerror(reason),
				reason - MODBUS_ENOBASE);
	if (is_of_gateway(reason))
		return daq_fail(err, EIO, "the gateway does not reach the meter, %s: %s (exception %d)",
				line->place, modbus_strerror(reason), reason - MODBUS_ENOBASE);
	if (reason != ETIMEDOUT && reason < MODBUS_ENOBASE)
		return daq_fail(err, ENODEV, "the meter, %s, is gone: %s", line->place,
				modbus_strerror(reason));
	empty_line(line);
	if (reason == ETIMEDOUT)
		return daq_fail(err, EIO, "the meter, %s, does not answer within %d ms",
				line->place, line->timeout_ms);
	return daq_fail(err, EIO, "the meter, %s, gave a damaged reply: %s", line->place,
			modbus_strerror(reason));
}
