// SPDX-License-Identifier: GPL-2.0
/* Reading whole files. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"

#define MAX_FILE_BYTES ((size_t)1 << 30)

/*
 * A pipe is not at its end before its first writer has come: poll() knows that, read() does not.
 *
 * Return: bytes read, 0 at the end, or -errno.
 */
static ssize_t read_part(int fd, const struct daq_stop *stop, char *data, size_t room)
{
	ssize_t got;
	int error;

	do {
		error = daq_stop_wait(stop, fd, POLLIN, UINT64_MAX);
		if (error)
			return error;
		got = read(fd, data, room);
	} while (got < 0 && (errno == EAGAIN || errno == EINTR));
	return got < 0 ? -errno : got;
}

static int read_all(int fd, const struct daq_stop *stop, char **text, size_t *length)
{
	size_t room = 4096, used = 0;
	char *data = NULL;
	ssize_t got;

	do {
		char *larger = room > MAX_FILE_BYTES ? NULL : realloc(data, room);

		if (!larger) {
			free(data);
			return -ENOMEM;
		}
		data = larger;
		do {
			got = read_part(fd, stop, data + used, room - used);
			used += got > 0 ? (size_t)got : 0;
		} while (got > 0 && used < room);
		room *= 2;
	} while (got > 0);
	if (got < 0) {
		free(data);
		return (int)got;
	}
	*text = data;
	*length = used;
	return 0;
}

int daq_file_read(const char *path, const struct daq_stop *stop, char **text, size_t *length,
		  struct daq_error *err)
{
	/* Opening a pipe would else wait for its writer. */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int error;

	if (fd < 0)
		return daq_fail(err, errno == ENOENT ? EINVAL : errno, "%s: %s", path,
				strerror(errno));
	error = read_all(fd, stop, text, length);
	if (error == -ECANCELED)
		daq_error_set(err, "stopped while %s was read", path);
	else if (error)
		daq_error_set(err, "%s: %s", path, strerror(-error));
	close(fd);
	return error;
}
