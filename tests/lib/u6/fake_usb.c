// SPDX-License-Identifier: GPL-2.0
/*
 * As much of libusb as the u6 source uses, without USB: each socket in the directory $U6_BUS is a
 * device, spoken to in USB/IP's protocol (usbip.py), as vhci_hcd would. Opening one claims it;
 * the other end may refuse a second program by closing the connection.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <libusb-1.0/libusb.h>

#include "u6/packet.h"

enum { CMD_SUBMIT = 1, CMD_UNLINK, RET_SUBMIT, RET_UNLINK };

struct header {
	uint32_t command, number, device, direction, endpoint;
	union {
		struct {
			uint32_t flags, length, frame, packets, interval;
			uint8_t setup[8];
		} submit;
		struct {
			int32_t status;
			uint32_t length;
		} done;
		uint32_t unlink;
	};
};

_Static_assert(sizeof(struct header) == 48, "as USB/IP has it");

struct libusb_device {
	char path[108];
	int references;
};

struct pending {
	struct pending *next;
	uint32_t number;
	uint32_t unlink; /* number of the request to cancel it, 0 without */
	struct libusb_transfer *transfer;
};

struct libusb_device_handle {
	int socket;
	uint32_t last_number;
	struct pending *pending;
	bool is_gone;
};

struct libusb_context {
	bool is_used;
};

/* The source has one open at a time, and its events are all there are. */
static libusb_device_handle *the_handle;

int libusb_init(libusb_context **context)
{
	*context = calloc(1, sizeof(**context));
	return 0;
}

void libusb_exit(libusb_context *context)
{
	free(context);
}

const char *libusb_strerror(int code)
{
	return code == LIBUSB_ERROR_PIPE ? "Pipe error" : "Other error";
}

/* ---- devices ---- */

ssize_t libusb_get_device_list(libusb_context *context, libusb_device ***list)
{
	const char *bus = getenv("U6_BUS");
	DIR *directory = opendir(bus);
	struct dirent *entry;
	ssize_t found = 0;

	(void)context;
	*list = calloc(16, sizeof(**list));
	while ((entry = readdir(directory)) && found < 15) {
		libusb_device *device;

		if (entry->d_name[0] == '.')
			continue;
		device = calloc(1, sizeof(*device));
		snprintf(device->path, sizeof(device->path), "%s/%.40s", bus, entry->d_name);
		device->references = 1;
		(*list)[found++] = device;
	}
	closedir(directory);
	return found;
}

void libusb_unref_device(libusb_device *device)
{
	if (--device->references == 0)
		free(device);
}

void libusb_free_device_list(libusb_device **list, int unref)
{
	for (libusb_device **at = list; *at && unref; at++)
		libusb_unref_device(*at);
	free(list);
}

int libusb_get_device_descriptor(libusb_device *device, struct libusb_device_descriptor *descriptor)
{
	/* Another device on the bus is none of ours. */
	bool is_u6 = !strncmp(strrchr(device->path, '/'), "/u6", 3);

	descriptor->idVendor = is_u6 ? U6_VENDOR : 0x1d6b;
	descriptor->idProduct = is_u6 ? U6_PRODUCT : 1;
	return 0;
}

uint8_t libusb_get_bus_number(libusb_device *device)
{
	(void)device;
	return 1;
}

uint8_t libusb_get_device_address(libusb_device *device)
{
	(void)device;
	return 2;
}

int libusb_open(libusb_device *device, libusb_device_handle **found)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	libusb_device_handle *handle;
	int link = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, device->path);
	if (connect(link, (struct sockaddr *)&address, sizeof(address))) {
		int error = errno;

		close(link);
		return error == EACCES ? LIBUSB_ERROR_ACCESS : LIBUSB_ERROR_NO_DEVICE;
	}
	handle = calloc(1, sizeof(*handle));
	handle->socket = link;
	the_handle = handle;
	*found = handle;
	return 0;
}

static void forget(libusb_device_handle *handle)
{
	while (handle->pending) {
		struct pending *next = handle->pending->next;

		free(handle->pending);
		handle->pending = next;
	}
}

void libusb_close(libusb_device_handle *handle)
{
	forget(handle);
	close(handle->socket);
	free(handle);
}

int libusb_claim_interface(libusb_device_handle *handle, int interface)
{
	char greeting;

	(void)interface;
	/* One byte says that nobody else has the device. */
	return read(handle->socket, &greeting, 1) == 1 ? 0 : LIBUSB_ERROR_BUSY;
}

int libusb_release_interface(libusb_device_handle *handle, int interface)
{
	(void)handle;
	(void)interface;
	return 0;
}

/* ---- requests ---- */

static bool put(libusb_device_handle *handle, const void *bytes, size_t length)
{
	return send(handle->socket, bytes, length, MSG_NOSIGNAL) == (ssize_t)length;
}

static bool get(libusb_device_handle *handle, void *bytes, size_t length)
{
	return length == 0 ||
	       recv(handle->socket, bytes, length, MSG_WAITALL) == (ssize_t)length;
}

struct libusb_transfer *libusb_alloc_transfer(int packets)
{
	(void)packets;
	return calloc(1, sizeof(struct libusb_transfer));
}

void libusb_free_transfer(struct libusb_transfer *transfer)
{
	free(transfer);
}

int libusb_submit_transfer(struct libusb_transfer *transfer)
{
	libusb_device_handle *handle = transfer->dev_handle;
	bool is_in = transfer->endpoint & LIBUSB_ENDPOINT_IN;
	struct header header = {
		.command = htonl(CMD_SUBMIT),
		.number = htonl(++handle->last_number),
		.direction = htonl(is_in),
		.endpoint = htonl(transfer->endpoint & 15),
		.submit.length = htonl((uint32_t)transfer->length),
	};
	struct pending *pending;

	if (handle->is_gone || !put(handle, &header, sizeof(header)) ||
	    (!is_in && !put(handle, transfer->buffer, (size_t)transfer->length)))
		return LIBUSB_ERROR_NO_DEVICE;
	pending = calloc(1, sizeof(*pending));
	pending->number = handle->last_number;
	pending->transfer = transfer;
	pending->next = handle->pending;
	handle->pending = pending;
	return 0;
}

int libusb_cancel_transfer(struct libusb_transfer *transfer)
{
	libusb_device_handle *handle = transfer->dev_handle;

	struct header header = { .command = htonl(CMD_UNLINK) };
	struct pending *at = handle->pending;

	while (at && at->transfer != transfer)
		at = at->next;
	if (!at)
		return LIBUSB_ERROR_NOT_FOUND;
	at->unlink = ++handle->last_number;
	header.number = htonl(at->unlink);
	header.unlink = htonl(at->number);
	return put(handle, &header, sizeof(header)) ? 0 : LIBUSB_ERROR_NO_DEVICE;
}

static void finish(libusb_device_handle *handle, uint32_t number,
		   enum libusb_transfer_status status, int length)
{
	for (struct pending **at = &handle->pending; *at; at = &(*at)->next) {
		struct pending *found = *at;

		if (found->number != number && found->unlink != number)
			continue;
		*at = found->next;
		found->transfer->status = status;
		found->transfer->actual_length = length;
		found->transfer->callback(found->transfer);
		free(found);
		return;
	}
}

static struct libusb_transfer *transfer_of(libusb_device_handle *handle, uint32_t number)
{
	for (struct pending *at = handle->pending; at; at = at->next)
		if (at->number == number)
			return at->transfer;
	return NULL;
}

/* All answers that were on their way have been read. */
static void lose(libusb_device_handle *handle)
{
	handle->is_gone = true;
	while (handle->pending)
		finish(handle, handle->pending->number, LIBUSB_TRANSFER_NO_DEVICE, 0);
}

static void take_answer(libusb_device_handle *handle)
{
	struct libusb_transfer *transfer;
	struct header header;
	uint32_t number;
	size_t length;

	if (!get(handle, &header, sizeof(header))) {
		lose(handle);
		return;
	}
	number = ntohl(header.number);
	if (ntohl(header.command) == RET_UNLINK) {
		/* Answered before, it isn't pending any more, whatever the status. */
		finish(handle, number, LIBUSB_TRANSFER_CANCELLED, 0);
		return;
	}
	length = ntohl(header.done.length);
	transfer = transfer_of(handle, number);
	if (!transfer)
		abort();
	if ((transfer->endpoint & LIBUSB_ENDPOINT_IN) && !get(handle, transfer->buffer, length))
		lose(handle);
	else
		finish(handle, number,
		       header.done.status ? LIBUSB_TRANSFER_STALL : LIBUSB_TRANSFER_COMPLETED,
		       (int)length);
}

int libusb_handle_events_timeout_completed(libusb_context *context, struct timeval *timeout,
					   int *completed)
{
	libusb_device_handle *handle = the_handle;
	struct pollfd input = { .fd = handle->socket, .events = POLLIN };
	int wait_ms = (int)(timeout->tv_sec * 1000 + timeout->tv_usec / 1000);

	(void)context;
	(void)completed;
	while (handle->pending && poll(&input, 1, wait_ms) > 0) {
		take_answer(handle);
		wait_ms = 0;
	}
	return 0;
}

static void on_sync_done(struct libusb_transfer *transfer)
{
	*(bool *)transfer->user_data = true;
}

int libusb_bulk_transfer(libusb_device_handle *handle, unsigned char endpoint, unsigned char *data,
			 int length, int *moved, unsigned int timeout_ms)
{
	struct libusb_transfer transfer = { 0 };
	bool is_done = false, was_cancelled = false;

	*moved = 0;
	libusb_fill_bulk_transfer(&transfer, handle, endpoint, data, length, on_sync_done, &is_done,
				  0);
	if (libusb_submit_transfer(&transfer))
		return LIBUSB_ERROR_NO_DEVICE;
	while (!is_done) {
		struct pollfd input = { .fd = handle->socket, .events = POLLIN };

		if (poll(&input, 1, (int)timeout_ms) > 0)
			take_answer(handle);
		else if (!was_cancelled)
			was_cancelled = libusb_cancel_transfer(&transfer) == 0;
	}
	*moved = transfer.actual_length;
	switch (transfer.status) {
	case LIBUSB_TRANSFER_COMPLETED:
		return 0;
	case LIBUSB_TRANSFER_CANCELLED:
		return LIBUSB_ERROR_TIMEOUT;
	case LIBUSB_TRANSFER_NO_DEVICE:
		return LIBUSB_ERROR_NO_DEVICE;
	default:
		return LIBUSB_ERROR_PIPE;
	}
}
