/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One LabJack U6 on USB: commands with their replies, and a stream that is fetched ahead of time.
 *
 * The device's own buffer lasts 20 ms at full speed. So many transfers are queued in the kernel
 * that a whole second may pass before this process looks at them: the host's controller
 * fills them one after the other without its help.
 *
 * All calls are made by one thread, which is also the one that libusb's callbacks run in.
 */
#ifndef SPEK_DAQ_U6_USB_H
#define SPEK_DAQ_U6_USB_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "u6/packet.h"

struct u6_usb;

/**
 * struct u6_usb_chunk - what one transfer of the stream has brought
 * @bytes: valid until the next call of u6_usb_stream_next() or u6_usb_stream_end()
 * @length: of it; 0: nothing came within the timeout
 * @arrival_ns: CLOCK_MONOTONIC when it was noticed
 */
struct u6_usb_chunk {
	const uint8_t *bytes;
	size_t length;
	uint64_t arrival_ns;
};

/**
 * u6_usb_open() - find a device, take it, and end what it was doing
 * @usb: set
 * @serial: its number; 0: the only one there is
 * @identity: filled in
 *
 * Return: 0; -ENODEV there is none, or not this one; -EINVAL there are several and @serial doesn't
 * say which; -EACCES not permitted; -EBUSY another program has it; -EIO it doesn't answer as a
 * U6 does. With a sentence.
 */
int u6_usb_open(struct u6_usb **usb, uint32_t serial, struct u6_identity *identity,
		struct daq_error *err);

/** u6_usb_close() - give the device back; not while a stream is on. NULL is fine. */
void u6_usb_close(struct u6_usb *usb);

/** u6_usb_count() - Return: how many U6 are connected, or -EIO with a sentence. */
int u6_usb_count(struct daq_error *err);

/**
 * u6_usb_command() - say something, wait for the reply
 * @usb: the device
 * @command: bytes
 * @length: of @command
 * @reply: what came
 * @reply_length: of @reply
 *
 * Return: 0; -ENODEV the device is gone; -ETIMEDOUT or -EIO it doesn't answer. With a sentence.
 */
int u6_usb_command(struct u6_usb *usb, const uint8_t *command, size_t length,
		   uint8_t reply[U6_PACKET_BYTES], size_t *reply_length, struct daq_error *err);

/**
 * u6_usb_stream_begin() - queue transfers, before the device is told to start
 * @usb: the device
 * @transfers: so many
 * @bytes: of each; a packet of the stream, or several that fill USB packets to the brim
 *
 * Return: 0, -ENOMEM, -ENODEV or -EIO, with a sentence; nothing is queued then.
 */
int u6_usb_stream_begin(struct u6_usb *usb, unsigned int transfers, size_t bytes,
			struct daq_error *err);

/**
 * u6_usb_stream_next() - the next transfer, in order
 * Return: 0 and @chunk; -ENODEV the device is gone, -EIO the bus failed: with a sentence.
 */
int u6_usb_stream_next(struct u6_usb *usb, int timeout_ms, struct u6_usb_chunk *chunk,
		       struct daq_error *err);

/** u6_usb_stream_end() - take back all transfers; fine without u6_usb_stream_begin(). */
void u6_usb_stream_end(struct u6_usb *usb);

/** u6_usb_stream_drain() - throw away what the device still has of a stream that was stopped. */
void u6_usb_stream_drain(struct u6_usb *usb);

#endif
