// SPDX-License-Identifier: GPL-2.0
/* See serial.h. */
#include "powersensor3/serial.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <termios.h>
#include <unistd.h>

#include "pace.h"
#include "powersensor3/stream.h"
#include "sources/sysfs.h"

/* A virtual serial line of STMicroelectronics, as the firmware's USB library has it. */
#define VENDOR		"0483"
#define PRODUCT		"5740"
#define REPLY_NS	1000000000ull
/* The end of a stream comes 100 ms after the request, after the data still buffered. */
#define END_NS		2000000000ull
/* One more set follows the end, after the device has redrawn its display. */
#define LAST_SET_MS	500
#define SILENT_MS	20
#define STEP_MS		50

/* ---- finding ---- */

struct search {
	const char *sysfs;
	char name[NAME_MAX + 1];
	int nr;
};

static int look_at(const char *entry, void *context)
{
	struct search *search = context;
	char path[PATH_MAX], vendor[16], product[16];

	if (strncmp(entry, "ttyACM", strlen("ttyACM")))
		return 0;
	/* The line belongs to an interface of the device. */
	snprintf(path, sizeof(path), "%s/class/tty/%s/device/../idVendor", search->sysfs, entry);
	if (daq_sysfs_text(path, vendor, sizeof(vendor)) || strcmp(vendor, VENDOR))
		return 0;
	snprintf(path, sizeof(path), "%s/class/tty/%s/device/../idProduct", search->sysfs, entry);
	if (daq_sysfs_text(path, product, sizeof(product)) || strcmp(product, PRODUCT))
		return 0;
	snprintf(search->name, sizeof(search->name), "%s", entry);
	search->nr++;
	return 0;
}

int ps3_serial_find(const char *sysfs, char path[PATH_MAX], struct daq_error *err)
{
	struct search search = { .sysfs = sysfs };
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), "%s/class/tty", sysfs);
	daq_sysfs_list(folder, look_at, &search);
	if (!search.nr)
		return daq_fail(err, ENODEV,
				"no PowerSensor3 is connected (no ttyACM with the USB identity " VENDOR ":" PRODUCT ")");
	if (search.nr > 1)
		return daq_fail(err, EINVAL,
				"%d devices may be a PowerSensor3; name its serial line with --set device=/dev/...",
				search.nr);
	snprintf(path, PATH_MAX, "/dev/%s", search.name);
	return 0;
}

/* ---- bytes ---- */

static int say_gone(struct daq_error *err)
{
	return daq_fail(err, ENODEV, "the PowerSensor3 is gone");
}

int ps3_serial_read(int fd, uint8_t *bytes, size_t room, int timeout_ms, struct daq_error *err)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	size_t length = 0;

	if (poll(&wait, 1, timeout_ms) <= 0)
		return 0;
	while (length < room) {
		ssize_t got = read(fd, bytes + length, room - length);

		if (got < 0 && errno == EINTR)
			continue;
		/* Deliver the bytes before the end; the next call finds the end again. */
		if (got <= 0 && length)
			break;
		if (got < 0 && errno == EAGAIN)
			return 0;
		if (got <= 0)
			return say_gone(err);
		length += (size_t)got;
	}
	return (int)length;
}

/* Return: 0, or -ENODEV or -EIO and a sentence. */
static int send_command(int fd, char command, struct daq_error *err)
{
	ssize_t sent = write(fd, &command, 1);

	if (sent == 1)
		return 0;
	if (sent < 0 && errno == EAGAIN)
		return daq_fail(err, EIO, "the PowerSensor3 takes no commands");
	return say_gone(err);
}

/* Until @end_ns. Return: 0, or -ENODEV or -EIO and a sentence. */
static int receive(int fd, uint8_t *bytes, size_t length, uint64_t end_ns, struct daq_error *err)
{
	while (length) {
		int got;

		if (daq_now_ns() >= end_ns)
			return daq_fail(err, EIO,
					"the device does not answer as a PowerSensor3: a reply is missing or too short");
		got = ps3_serial_read(fd, bytes, length, STEP_MS, err);
		if (got < 0)
			return got;
		bytes += got;
		length -= (size_t)got;
	}
	return 0;
}

/* ---- commands ---- */

int ps3_serial_begin(int fd, struct daq_error *err)
{
	return send_command(fd, 'S', err);
}

/**
 * struct ending - the end of a stream, as it comes in
 * @last: the last bytes up to the mark
 * @nr: number of bytes up to the mark
 * @has_mark: the mark that confirms the end has come
 * @was_streaming: other bytes came before it, so that one more set follows it
 * @nr_after: number of bytes after the mark
 */
struct ending {
	uint8_t last[4];
	size_t nr;
	bool has_mark;
	bool was_streaming;
	size_t nr_after;
};

static void take_byte(struct ending *ending, uint8_t byte)
{
	/*
	 * The same word twice. Sensor 7 at its last level looks like it, but a time stamp follows
	 * that.
	 */
	static const uint8_t mark[sizeof(ending->last)] = { 0xff, 0x3f, 0xff, 0x3f };

	if (ending->has_mark) {
		ending->nr_after++;
		return;
	}
	memmove(ending->last, ending->last + 1, sizeof(ending->last) - 1);
	ending->last[sizeof(ending->last) - 1] = byte;
	ending->nr++;
	ending->has_mark = !memcmp(ending->last, mark, sizeof(mark));
	ending->was_streaming = ending->nr > sizeof(mark);
}

/* How long the line must be silent. */
static int silence_ms(const struct ending *ending)
{
	if (!ending->has_mark)
		return STEP_MS;
	return ending->was_streaming && ending->nr_after < PS3_SET_BYTES ? LAST_SET_MS : SILENT_MS;
}

int ps3_serial_end(int fd, struct daq_error *err)
{
	struct ending ending = { 0 };
	uint64_t end_ns = daq_now_ns() + END_NS;
	int error = send_command(fd, 'X', err);

	while (!error) {
		uint8_t bytes[512];
		int got = ps3_serial_read(fd, bytes, sizeof(bytes), silence_ms(&ending), err);

		if (got < 0)
			return got;
		if (!got && ending.has_mark)
			return 0;
		for (int i = 0; i < got; i++)
			take_byte(&ending, bytes[i]);
		if (daq_now_ns() >= end_ns)
			return daq_fail(err, EIO,
					"the device does not answer as a PowerSensor3: %s",
					ending.has_mark ? "it still sends after the end of its stream" :
							  "it does not confirm the end of its stream");
	}
	return error;
}

static int check_version(int fd, struct daq_error *err)
{
	char text[PS3_VERSION_MAX] = "";
	size_t length = 0;
	/* For the whole line, however slowly it arrives. */
	uint64_t end_ns = daq_now_ns() + REPLY_NS;
	int error = send_command(fd, 'V', err);

	/* Longer or unprintable text is not a version; the message quotes it up to there. */
	for (size_t i = 0; !error && i < sizeof(text) - 1; i++) {
		uint8_t byte;

		error = receive(fd, &byte, 1, end_ns, err);
		if (error || (byte != '\r' && (byte < ' ' || byte > '~')))
			break;
		if (byte != '\r')
			text[length++] = (char)byte;
	}
	return error ? error : ps3_version_check(text, err);
}

int ps3_serial_configuration(int fd, struct ps3_config *config, struct daq_error *err)
{
	uint8_t sensor[PS3_SENSORS][PS3_SENSOR_BYTES], end;
	int error = check_version(fd, err);

	if (!error)
		error = send_command(fd, 'R', err);
	/* Any byte requests the next sensor, and the end. */
	for (int i = 0; i < PS3_SENSORS && !error; i++) {
		error = receive(fd, sensor[i], PS3_SENSOR_BYTES, daq_now_ns() + REPLY_NS,
				err);
		if (!error)
			error = send_command(fd, 's', err);
	}
	if (!error)
		error = receive(fd, &end, 1, daq_now_ns() + REPLY_NS, err);
	if (!error && end != 'D')
		error = daq_fail(err, EIO,
				 "the PowerSensor3's configuration does not end where it should");
	return error ? error : ps3_config_decode(config, sensor, err);
}

/* ---- opening ---- */

static int say_why_not(const char *path, int reason, struct daq_error *err)
{
	if (reason == EACCES || reason == EPERM)
		return daq_fail(err, EACCES,
				"no permission to use the PowerSensor3 at %s; its group, usually dialout, may",
				path);
	if (reason == EBUSY || reason == EWOULDBLOCK)
		return daq_fail(err, EBUSY, "the PowerSensor3 at %s is in use by another program",
				path);
	if (reason == ENOENT || reason == ENXIO || reason == ENODEV || reason == EIO)
		return daq_fail(err, ENODEV, "there is no PowerSensor3 at %s", path);
	if (reason == ENOTTY || reason == EISDIR)
		return daq_fail(err, EINVAL, "%s is not a serial line", path);
	return daq_fail(err, reason, "%s: %s", path, strerror(reason));
}

static int make_raw(int fd)
{
	struct termios line;

	if (tcgetattr(fd, &line))
		return -errno;
	cfmakeraw(&line);
	line.c_cflag |= CLOCAL | CREAD;
	line.c_cc[VMIN] = 1;
	line.c_cc[VTIME] = 0;
	if (tcsetattr(fd, TCSANOW, &line) || tcflush(fd, TCIFLUSH))
		return -errno;
	return 0;
}

int ps3_serial_open(const char *path, struct daq_error *err)
{
	int fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	int error = 0;

	if (fd < 0)
		return say_why_not(path, errno, err);
	/* The lock of the device's own tools. */
	if (!isatty(fd))
		error = say_why_not(path, ENOTTY, err);
	else if (flock(fd, LOCK_EX | LOCK_NB))
		error = say_why_not(path, errno, err);
	if (!error)
		error = make_raw(fd);
	if (error && error != -EINVAL && error != -EBUSY)
		error = say_why_not(path, -error, err);
	if (!error)
		error = ps3_serial_end(fd, err);
	if (!error)
		return fd;
	close(fd);
	return error;
}
