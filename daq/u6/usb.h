/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A LabJack U6 on USB: commands with replies, and a stream with read-ahead.
 *
 * The device's own buffer lasts 20 ms at full speed. The kernel therefore holds enough queued
 * transfers for a second: the host controller fills them one after the other, even while this
 * process is not scheduled.
 *
 * All calls, and libusb's callbacks, run in one thread.
 */
#ifndef SPEK_DAQ_U6_USB_H
#define SPEK_DAQ_U6_USB_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "u6/packet.h"

struct u6_usb;

/**
 * struct u6_usb_chunk - data of one completed transfer of the stream
 * @bytes: valid until the next call of u6_usb_stream_next() or u6_usb_stream_end()
 * @length: length of @bytes; 0: no data within the timeout
 * @arrival_ns: CLOCK_MONOTONIC in the completion callback
 */
struct u6_usb_chunk {
	const uint8_t *bytes;
	size_t length;
	uint64_t arrival_ns;
};

/**
 * u6_usb_open() - find and claim a device, and stop its old stream
 * @usb: set
 * @serial: serial number; 0: the only connected device
 * @identity: filled in
 *
 * Return: 0; -ENODEV: no such device; -EINVAL: several devices and no @serial; -EACCES: permission
 * denied; -EBUSY: in use by another program; -EIO: invalid replies. Each with a sentence.
 */
int u6_usb_open(struct u6_usb **usb, uint32_t serial, struct u6_identity *identity,
		struct daq_error *err);

/** u6_usb_close() - release the device; not during a stream. NULL is fine. */
void u6_usb_close(struct u6_usb *usb);

/** u6_usb_count() - Return: number of connected U6, or -EIO and a sentence. */
int u6_usb_count(struct daq_error *err);

/**
 * u6_usb_command() - send a command and wait for the reply
 * @usb: the device
 * @command: encoded command
 * @length: length of @command
 * @reply: filled in
 * @reply_length: length of the reply
 *
 * Return: 0; -ENODEV: the device is gone; -ETIMEDOUT or -EIO: no reply. Each with a sentence.
 */
int u6_usb_command(struct u6_usb *usb, const uint8_t *command, size_t length,
		   uint8_t reply[U6_PACKET_BYTES], size_t *reply_length, struct daq_error *err);

/**
 * u6_usb_stream_begin() - queue transfers, before the start command
 * @usb: the device
 * @transfers: number of transfers
 * @bytes: length of each: one stream packet, or several full ones
 *
 * Return: 0; -ENOMEM, -ENODEV or -EIO with a sentence: no transfer is queued.
 */
int u6_usb_stream_begin(struct u6_usb *usb, unsigned int transfers, size_t bytes,
			struct daq_error *err);

/**
 * u6_usb_stream_next() - wait for the next transfer, in order
 * Return: 0 and @chunk; -ENODEV: the device is gone; -EIO: the bus failed. Each with a sentence.
 */
int u6_usb_stream_next(struct u6_usb *usb, int timeout_ms, struct u6_usb_chunk *chunk,
		       struct daq_error *err);

/** u6_usb_stream_end() - cancel all transfers; fine without u6_usb_stream_begin(). */
void u6_usb_stream_end(struct u6_usb *usb);

/** u6_usb_stream_drain() - discard the data the device still has of a stopped stream. */
void u6_usb_stream_drain(struct u6_usb *usb);

#endif
