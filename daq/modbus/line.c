// SPDX-License-Identifier: GPL-2.0
/* See line.h. */
#include "modbus/line.h"

#include <errno.h>
#include <modbus/modbus.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>

#include "pace.h"
#include "sources/tcp.h"

#define DEFAULT_TIMEOUT_MS 500
#define EXCEPTION 0x80

/* ---- what is wrong ---- */

static int say_why_not(const struct modbus_line *line, int reason, struct daq_error *err)
{
	if (reason == ECANCELED)
		return daq_fail(err, ECANCELED, "stopped while the meter, %s, was asked",
				line->place);
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
	int64_t port = 502;
	int fd;
	int error = daq_setting_number(setup, "port", 1, 65535, &port, err);

	if (error)
		return error;
	if (!daq_tcp_is_address(host))
		return daq_fail(err, EINVAL,
				"setting 'host' is '%s'; it must be an IPv4 or IPv6 address", host);
	snprintf(line->place, sizeof(line->place), "unit %d at %s port %d", line->unit, host,
		 (int)port);
	line->context = modbus_new_tcp(NULL, (int)port);
	if (!line->context)
		return daq_fail(err, ENOMEM, "out of memory");
	fd = daq_tcp_connect(host, (uint16_t)port, line->stop,
			     daq_now_ns() + (uint64_t)line->timeout_ms * 1000000);
	if (fd < 0)
		return say_why_not(line, -fd, err);
	modbus_set_socket(line->context, fd);
	return 0;
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
	line->stop = setup->stop;
	if (!device == !host)
		return daq_fail(err, EINVAL,
				"source modbus needs either setting 'device', a serial line, or setting 'host', an address");
	return device ? take_serial(line, setup, device, err) :
			take_network(line, setup, host, err);
}

/* ---- opening ---- */

int modbus_line_open(struct modbus_line *line, const struct daq_setup *setup,
		     struct daq_error *err)
{
	int error = take_settings(line, setup, err);

	if (error) {
		modbus_line_close(line);
		return error;
	}
	modbus_set_slave(line->context, line->unit);
	modbus_set_response_timeout(line->context, (uint32_t)line->timeout_ms / 1000,
				    (uint32_t)line->timeout_ms % 1000 * 1000);
	if (line->is_serial && (modbus_connect(line->context) ||
				flock(modbus_get_socket(line->context), LOCK_EX | LOCK_NB))) {
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

/* Wait until a late reply must have arrived. Return: whether the request to end has come. */
static bool empty_line(struct modbus_line *line)
{
	int error = daq_stop_wait(line->stop, -1, 0,
				  daq_now_ns() + (uint64_t)line->timeout_ms * 1000000);

	modbus_flush(line->context);
	return error == -ECANCELED;
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

/*
 * libmodbus waits for a reply in select(), which no signal ends, so the wait is here, between a raw
 * request and its confirmation. On TCP, the library would number all raw requests 0.
 *
 * Return: 0, or -1 and errno.
 */
static int send_request(struct modbus_line *line, const struct modbus_register *reg)
{
	const uint8_t request[] = {
		(uint8_t)(line->requests >> 8), (uint8_t)line->requests, 0, 0, 0, 6,
		(uint8_t)line->unit,
		reg->is_input ? MODBUS_FC_READ_INPUT_REGISTERS : MODBUS_FC_READ_HOLDING_REGISTERS,
		(uint8_t)(reg->address >> 8), (uint8_t)reg->address,
		0, (uint8_t)modbus_words(reg->type),
	};

	if (line->is_serial)
		return modbus_send_raw_request(line->context, request + 6, 6) < 0 ? -1 : 0;
	return send(modbus_get_socket(line->context), request, sizeof(request), MSG_NOSIGNAL) ==
	       sizeof(request) ? 0 : -1;
}

/* Return: 0, or a reason as errno has it after calls of libmodbus. */
static int take_reply(struct modbus_line *line, const struct modbus_register *reg,
		      const uint8_t *reply, int length, uint16_t *word)
{
	int head = modbus_get_header_length(line->context);
	int words = (int)modbus_words(reg->type);
	int function = reg->is_input ? MODBUS_FC_READ_INPUT_REGISTERS :
				       MODBUS_FC_READ_HOLDING_REGISTERS;
	const uint8_t *data = reply + head + 2;

	/*
	 * The library has checked length and checksum; of another unit's reply it returns nothing.
	 * On TCP some meters do not repeat the unit.
	 */
	if (!length)
		return EMBBADSLAVE;
	if (!line->is_serial && (reply[0] << 8 | reply[1]) != line->requests)
		return EMBBADDATA;
	if (reply[head] == (function | EXCEPTION))
		return reply[head + 1] < MODBUS_EXCEPTION_MAX ? MODBUS_ENOBASE + reply[head + 1] :
								EMBBADEXC;
	if (reply[head] != function || reply[head + 1] != 2 * words)
		return EMBBADDATA;
	for (int i = 0; i < words; i++)
		word[i] = (uint16_t)(data[2 * i] << 8 | data[2 * i + 1]);
	return 0;
}

/* Return: 0, or a reason. */
static int exchange(struct modbus_line *line, const struct modbus_register *reg, uint16_t *word)
{
	uint8_t reply[MODBUS_MAX_ADU_LENGTH];
	int error, length;

	line->requests++;
	if (send_request(line, reg))
		return errno;
	error = daq_stop_wait(line->stop, modbus_get_socket(line->context), POLLIN,
			      daq_now_ns() + (uint64_t)line->timeout_ms * 1000000);
	if (error)
		return -error;
	length = modbus_receive_confirmation(line->context, reply);
	return length < 0 ? errno : take_reply(line, reg, reply, length, word);
}

int modbus_line_read(struct modbus_line *line, const struct modbus_register *reg, uint16_t *word,
		     struct daq_error *err)
{
	int reason = exchange(line, reg, word);

	if (!reason)
		return 0;
	if (reason == ECANCELED)
		return say_why_not(line, reason, err);
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
	if (empty_line(line))
		return say_why_not(line, ECANCELED, err);
	if (reason == ETIMEDOUT)
		return daq_fail(err, EIO, "the meter, %s, does not answer within %d ms",
				line->place, line->timeout_ms);
	return daq_fail(err, EIO, "the meter, %s, gave a damaged reply: %s", line->place,
			modbus_strerror(reason));
}
