// SPDX-License-Identifier: GPL-2.0
/*
 * See usb.h.
 *
 * A transfer is owned by libusb (in_flight counts these), is in the queue of completed transfers,
 * or is held by the caller until the next call resubmits it. u6_usb_stream_end() cancels all
 * transfers and waits until none is in flight, as libusb owns their memory until then. If the
 * kernel has not returned a transfer after 5 s it never will: the memory and everything it points
 * to are leaked.
 */
#include "u6/usb.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include <libusb-1.0/libusb.h>

#include "pace.h"

#define INTERFACE	0
#define REPLY_MS	1000
#define DRAIN_MS	20
#define DRAIN_PACKETS	2000	/* more than all buffers on the way hold */
#define CANCEL_MS	100
#define CANCEL_NS	5000000000ull

struct transfer {
	struct u6_usb *usb;
	struct libusb_transfer *libusb;
	struct transfer *next_done;
	uint64_t arrival_ns;
};

struct u6_usb {
	libusb_context *context;
	libusb_device_handle *handle;
	struct transfer *transfers;
	uint8_t *buffer; /* data of all transfers */
	unsigned int nr_transfers;
	unsigned int in_flight;
	struct transfer *done, **done_tail;
	struct transfer *held; /* by the caller */
	bool is_stuck; /* transfers were not returned */
};

/* ---- errors ---- */

static int fail_usb(struct daq_error *err, int code, const char *doing)
{
	switch (code) {
	case LIBUSB_ERROR_NO_DEVICE:
		return daq_fail(err, ENODEV, "the U6 was unplugged");
	case LIBUSB_ERROR_TIMEOUT:
		return daq_fail(err, ETIMEDOUT, "the U6 doesn't answer: %s timed out", doing);
	case LIBUSB_ERROR_NO_MEM:
		return daq_fail(err, ENOMEM, "%s: out of memory", doing);
	case LIBUSB_ERROR_ACCESS:
		return daq_fail(err, EACCES, "%s is not permitted", doing);
	default:
		return daq_fail(err, EIO, "%s failed: %s", doing, libusb_strerror(code));
	}
}

static int init_libusb(libusb_context **context, struct daq_error *err)
{
	int code = libusb_init(context);

	return code ? fail_usb(err, code, "starting libusb") : 0;
}

/* ---- commands ---- */

int u6_usb_command(struct u6_usb *usb, const uint8_t *command, size_t length,
		   uint8_t reply[U6_PACKET_BYTES], size_t *reply_length, struct daq_error *err)
{
	uint8_t bytes[U6_PACKET_BYTES];
	int moved = 0;
	int code;

	memcpy(bytes, command, length);
	code = libusb_bulk_transfer(usb->handle, U6_ENDPOINT_COMMAND, bytes, (int)length, &moved,
				    REPLY_MS);
	if (code)
		return fail_usb(err, code, "sending a command");
	if ((size_t)moved != length)
		return daq_fail(err, EIO, "the U6 accepted only %d of a command's %zu bytes", moved,
				length);
	code = libusb_bulk_transfer(usb->handle, U6_ENDPOINT_REPLY, reply, U6_PACKET_BYTES, &moved,
				    REPLY_MS);
	if (code)
		return fail_usb(err, code, "reading a reply");
	*reply_length = (size_t)moved;
	return 0;
}

static void drain(struct u6_usb *usb, uint8_t endpoint)
{
	uint8_t bytes[U6_PACKET_BYTES];
	int moved;

	for (int i = 0; i < DRAIN_PACKETS; i++) {
		if (libusb_bulk_transfer(usb->handle, endpoint, bytes, sizeof(bytes), &moved,
					 DRAIN_MS))
			break;
	}
}

void u6_usb_stream_drain(struct u6_usb *usb)
{
	drain(usb, U6_ENDPOINT_STREAM);
}

/* A killed program leaves its stream running, and perhaps an unread reply. */
static int end_old_stream(struct u6_usb *usb, struct daq_error *err)
{
	uint8_t bytes[U6_PACKET_BYTES];
	size_t length;
	int error;

	drain(usb, U6_ENDPOINT_REPLY);
	error = u6_usb_command(usb, bytes, u6_encode_stream_stop(bytes), bytes, &length, err);
	if (error)
		return error;
	error = u6_decode_stream_stop(bytes, length);
	if (error && error != U6_STREAM_NOT_RUNNING)
		return daq_fail(err, EIO, "the U6 does not stop its old stream: %s",
				error > 0 ? u6_error_text(error) : "invalid reply");
	drain(usb, U6_ENDPOINT_STREAM);
	return 0;
}

static int identify(struct u6_usb *usb, struct u6_identity *identity, struct daq_error *err)
{
	uint8_t bytes[U6_PACKET_BYTES];
	size_t length;
	int error;

	error = u6_usb_command(usb, bytes, u6_encode_identify(bytes), bytes, &length, err);
	if (error)
		return error;
	error = u6_decode_identify(bytes, length, identity);
	if (error)
		return daq_fail(err, EIO, "cannot identify the U6: %s",
				error > 0 ? u6_error_text(error) : "invalid reply");
	return 0;
}

/* ---- finding and claiming ---- */

static bool is_u6(libusb_device *device)
{
	struct libusb_device_descriptor descriptor;

	return libusb_get_device_descriptor(device, &descriptor) == 0 &&
	       descriptor.idVendor == U6_VENDOR && descriptor.idProduct == U6_PRODUCT;
}

/* Return: number of U6 in *list, each with a reference, or a negative libusb code. */
static ssize_t list_u6(libusb_context *context, libusb_device ***list)
{
	ssize_t number = libusb_get_device_list(context, list);
	ssize_t found = 0;

	for (ssize_t i = 0; i < number; i++) {
		if (is_u6((*list)[i]))
			(*list)[found++] = (*list)[i];
		else
			libusb_unref_device((*list)[i]);
	}
	if (number >= 0)
		(*list)[found] = NULL;
	return number < 0 ? number : found;
}

int u6_usb_count(struct daq_error *err)
{
	libusb_context *context;
	libusb_device **list;
	ssize_t number;
	int error;

	error = init_libusb(&context, err);
	if (error)
		return error;
	number = list_u6(context, &list);
	if (number >= 0)
		libusb_free_device_list(list, 1);
	libusb_exit(context);
	return number < 0 ? fail_usb(err, (int)number, "listing USB devices") : (int)number;
}

static void release(struct u6_usb *usb)
{
	libusb_release_interface(usb->handle, INTERFACE);
	libusb_close(usb->handle);
	usb->handle = NULL;
}

static int take(struct u6_usb *usb, libusb_device *device, struct u6_identity *identity,
		struct daq_error *err)
{
	int bus = libusb_get_bus_number(device);
	int address = libusb_get_device_address(device);
	int code, error;

	code = libusb_open(device, &usb->handle);
	if (code == LIBUSB_ERROR_ACCESS)
		return daq_fail(err, EACCES,
				"no permission to open the U6 at /dev/bus/usb/%03d/%03d: run as root or add a udev rule",
				bus, address);
	if (code)
		return fail_usb(err, code, "opening the U6");
	code = libusb_claim_interface(usb->handle, INTERFACE);
	if (code) {
		libusb_close(usb->handle);
		usb->handle = NULL;
		if (code == LIBUSB_ERROR_BUSY)
			return daq_fail(err, EBUSY,
					"the U6 at /dev/bus/usb/%03d/%03d is in use by another program",
					bus, address);
		return fail_usb(err, code, "claiming the U6");
	}
	error = end_old_stream(usb, err);
	if (!error)
		error = identify(usb, identity, err);
	if (error)
		release(usb);
	return error;
}

/*
 * Claim the device with a serial number. No descriptor has the number, so each device is asked for
 * it; a device that fails does not hide the others.
 */
static int take_by_serial(struct u6_usb *usb, libusb_device **list, uint32_t serial,
			  struct u6_identity *identity, struct daq_error *err)
{
	int failure = 0;

	for (; *list; list++) {
		int error = take(usb, *list, identity, err);

		if (!error && identity->serial == serial)
			return 0;
		if (!error)
			release(usb);
		else
			failure = error;
	}
	return failure ? failure :
			 daq_fail(err, ENODEV, "no LabJack U6 with serial number %u is connected", serial);
}

static int find_and_take(struct u6_usb *usb, uint32_t serial, struct u6_identity *identity,
			 struct daq_error *err)
{
	libusb_device **list;
	ssize_t number = list_u6(usb->context, &list);
	int error;

	if (number < 0)
		return fail_usb(err, (int)number, "listing USB devices");
	if (number == 0)
		error = daq_fail(err, ENODEV, "no LabJack U6 is connected");
	else if (serial)
		error = take_by_serial(usb, list, serial, identity, err);
	else if (number > 1)
		error = daq_fail(err, EINVAL,
				 "%zd LabJack U6 are connected; select one with the setting 'serial'",
				 number);
	else
		error = take(usb, list[0], identity, err);
	libusb_free_device_list(list, 1);
	return error;
}

int u6_usb_open(struct u6_usb **found, uint32_t serial, struct u6_identity *identity,
		struct daq_error *err)
{
	struct u6_usb *usb = calloc(1, sizeof(*usb));
	int error;

	if (!usb)
		return daq_fail(err, ENOMEM, "out of memory");
	usb->done_tail = &usb->done;
	/* A new context each time, so that its list of devices is current even without udev. */
	error = init_libusb(&usb->context, err);
	if (error)
		goto err_free;
	error = find_and_take(usb, serial, identity, err);
	if (error)
		goto err_exit;
	*found = usb;
	return 0;

err_exit:
	libusb_exit(usb->context);
err_free:
	free(usb);
	return error;
}

void u6_usb_close(struct u6_usb *usb)
{
	if (!usb || usb->is_stuck)
		return;
	release(usb);
	libusb_exit(usb->context);
	free(usb);
}

/* ---- the stream ---- */

static void LIBUSB_CALL on_done(struct libusb_transfer *libusb)
{
	struct transfer *transfer = libusb->user_data;
	struct u6_usb *usb = transfer->usb;

	transfer->arrival_ns = daq_now_ns();
	transfer->next_done = NULL;
	*usb->done_tail = transfer;
	usb->done_tail = &transfer->next_done;
	usb->in_flight--;
}

static int submit(struct transfer *transfer)
{
	int code = libusb_submit_transfer(transfer->libusb);

	if (code == 0)
		transfer->usb->in_flight++;
	return code;
}

static struct transfer *pop_done(struct u6_usb *usb)
{
	struct transfer *transfer = usb->done;

	if (!transfer)
		return NULL;
	usb->done = transfer->next_done;
	if (!usb->done)
		usb->done_tail = &usb->done;
	return transfer;
}

static void handle_events(struct u6_usb *usb, int timeout_ms)
{
	struct timeval timeout = {
		.tv_sec = timeout_ms / 1000,
		.tv_usec = timeout_ms % 1000 * 1000,
	};

	libusb_handle_events_timeout_completed(usb->context, &timeout, NULL);
}

int u6_usb_stream_begin(struct u6_usb *usb, unsigned int transfers, size_t bytes,
			struct daq_error *err)
{
	int code = LIBUSB_ERROR_NO_MEM;

	if (usb->is_stuck)
		return daq_fail(err, EIO, "the kernel has not released the U6's last transfers");
	usb->transfers = calloc(transfers, sizeof(*usb->transfers));
	usb->buffer = malloc(transfers * bytes);
	if (!usb->transfers || !usb->buffer)
		goto err_end;
	for (unsigned int i = 0; i < transfers; i++) {
		struct transfer *transfer = &usb->transfers[i];

		transfer->usb = usb;
		transfer->libusb = libusb_alloc_transfer(0);
		if (!transfer->libusb)
			goto err_end;
		usb->nr_transfers++;
		libusb_fill_bulk_transfer(transfer->libusb, usb->handle, U6_ENDPOINT_STREAM,
					  usb->buffer + i * bytes, (int)bytes, on_done, transfer, 0);
		code = submit(transfer);
		if (code)
			goto err_end;
	}
	return 0;

err_end:
	u6_usb_stream_end(usb);
	return fail_usb(err, code, "queueing transfers");
}

int u6_usb_stream_next(struct u6_usb *usb, int timeout_ms, struct u6_usb_chunk *chunk,
		       struct daq_error *err)
{
	struct transfer *transfer;

	if (usb->held) {
		int code = submit(usb->held);

		usb->held = NULL;
		if (code)
			return fail_usb(err, code, "queueing a transfer");
	}
	if (!usb->done)
		handle_events(usb, timeout_ms);
	chunk->length = 0;
	transfer = pop_done(usb);
	if (!transfer)
		return 0;
	switch (transfer->libusb->status) {
	case LIBUSB_TRANSFER_COMPLETED:
		break;
	case LIBUSB_TRANSFER_NO_DEVICE:
		return fail_usb(err, LIBUSB_ERROR_NO_DEVICE, "");
	case LIBUSB_TRANSFER_OVERFLOW:
		return daq_fail(err, EIO, "the U6 sent more than a packet can hold");
	case LIBUSB_TRANSFER_STALL:
		return daq_fail(err, EIO, "the U6 refuses to send its stream");
	default:
		return daq_fail(err, EIO, "the USB bus failed while the U6 was sending");
	}
	usb->held = transfer;
	chunk->bytes = transfer->libusb->buffer;
	chunk->length = (size_t)transfer->libusb->actual_length;
	chunk->arrival_ns = transfer->arrival_ns;
	return 0;
}

/* In reverse order: after cancelling the first, the host would start to fill the second. */
static void cancel_all(struct u6_usb *usb)
{
	uint64_t end_ns = daq_now_ns() + CANCEL_NS;

	for (unsigned int i = usb->nr_transfers; i-- > 0;)
		libusb_cancel_transfer(usb->transfers[i].libusb);
	while (usb->in_flight && daq_now_ns() < end_ns)
		handle_events(usb, CANCEL_MS);
	usb->is_stuck = usb->in_flight != 0;
}

void u6_usb_stream_end(struct u6_usb *usb)
{
	cancel_all(usb);
	if (usb->is_stuck)
		return;
	for (unsigned int i = 0; i < usb->nr_transfers; i++)
		libusb_free_transfer(usb->transfers[i].libusb);
	free(usb->transfers);
	free(usb->buffer);
	usb->transfers = NULL;
	usb->buffer = NULL;
	usb->nr_transfers = 0;
	usb->held = NULL;
	usb->done = NULL;
	usb->done_tail = &usb->done;
}
