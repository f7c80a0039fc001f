/* SPDX-License-Identifier: GPL-2.0 */
/*
 * line.h - connection to a Modbus meter: RTU on a serial line, or TCP
 *
 * A reply on a serial line does not name its registers. After a late or damaged reply the line is
 * kept silent and drained, so that no reply is taken for the answer to another request.
 */
#ifndef SPEK_DAQ_MODBUS_LINE_H
#define SPEK_DAQ_MODBUS_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "channel.h"
#include "modbus/map.h"
#include "stop.h"

/**
 * struct modbus_line - a connection
 * @context: context of libmodbus
 * @unit: number of the meter
 * @is_serial: RTU
 * @timeout_ms: how long a reply may take
 * @requests: number of requests; in TCP, replies repeat its lower 16 bits
 * @stop: request to end, which ends the waits for the meter
 * @place: its name for messages
 */
struct modbus_line {
	void *context;
	int unit;
	bool is_serial;
	int timeout_ms;
	uint16_t requests;
	const struct daq_stop *stop;
	char place[300];
};

/**
 * modbus_line_open() - read the settings and connect
 * Return: 0; -EINVAL: a wrong setting; -ENODEV: nothing is there; -EACCES: permission denied;
 * -EBUSY: in use by another program; -ECANCELED: asked to end. Each with a sentence.
 */
int modbus_line_open(struct modbus_line *line, const struct daq_setup *setup,
		     struct daq_error *err);

/**
 * modbus_line_read() - read one quantity
 * @word: room for MODBUS_MAX_WORDS
 * Return: 0; -ENXIO: the meter refuses the register; -EIO: no reply, a damaged one, or that of
 * a gateway which does not reach the meter; -ENODEV: the connection is gone; -ECANCELED: asked to
 * end. Each with a sentence.
 */
int modbus_line_read(struct modbus_line *line, const struct modbus_register *reg, uint16_t *word,
		     struct daq_error *err);

void modbus_line_close(struct modbus_line *line);

#endif
