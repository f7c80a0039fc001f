// SPDX-License-Identifier: GPL-2.0
/* Reading whole files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

#define MAX_FILE_BYTES ((size_t)1 << 30)

static int read_all(FILE *file, char **text, size_t *length)
{
	size_t room = 4096, used = 0;
	char *data = NULL;
	int error;

	do {
		char *larger = room > MAX_FILE_BYTES ? NULL : realloc(data, room);

		if (!larger) {
			free(data);
			return -ENOMEM;
		}
		data = larger;
		used += fread(data + used, 1, room - used, file);
		error = ferror(file) ? -errno : 0;
		room *= 2;
	} while (used == room / 2);
	if (error) {
		free(data);
		return error;
	}
	*text = data;
	*length = used;
	return 0;
}

int daq_file_read(const char *path, char **text, size_t *length, struct daq_error *err)
{
	FILE *file = fopen(path, "re");
	int error;

	if (!file)
		return daq_fail(err, errno == ENOENT ? EINVAL : errno, "%s: %s", path,
				strerror(errno));
	error = read_all(file, text, length);
	if (error)
		daq_error_set(err, "%s: %s", path, strerror(-error));
	fclose(file);
	return error;
}
