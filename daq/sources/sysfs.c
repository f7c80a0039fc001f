// SPDX-License-Identifier: GPL-2.0
/* Reading attributes of sysfs. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "number.h"
#include "sources/sysfs.h"

int daq_sysfs_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int read_line(int fd, char *text, size_t room)
{
	ssize_t got = pread(fd, text, room - 1, 0);

	if (got < 0)
		return -errno;
	text[got] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return 0;
}

int daq_sysfs_read(int fd, int64_t *value)
{
	char text[64];
	int error = read_line(fd, text, sizeof(text));

	if (error)
		return error;
	/* A removed attribute reads as empty if it is a plain file (in tests). */
	if (!text[0])
		return -ENODEV;
	return daq_parse_fixed(text, strlen(text), 0, value) ? -EIO : 0;
}

bool daq_sysfs_is_there(int fd)
{
	char text[2];

	return !read_line(fd, text, sizeof(text)) && text[0];
}

int daq_sysfs_text(const char *path, char *text, size_t room)
{
	int fd = daq_sysfs_open(path);
	int error;

	if (fd < 0)
		return fd;
	error = read_line(fd, text, room);
	close(fd);
	return error;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

int daq_sysfs_list(const char *path, int (*each)(const char *name, void *context), void *context)
{
	struct dirent **entry = NULL;
	int nr = scandir(path, &entry, is_visible, versionsort);
	int found = 0, i;

	if (nr < 0)
		return -errno;
	for (i = 0; i < nr; i++) {
		if (!found)
			found = each(entry[i]->d_name, context);
		free(entry[i]);
	}
	free(entry);
	return found;
}

struct search {
	const char *path;
	const char *wanted;
	size_t length;
	char *found;
	int nr;
};

static bool is_wanted(const struct search *search, const char *text)
{
	return strlen(text) == search->length && !strncmp(text, search->wanted, search->length);
}

static int match(const char *entry, void *context)
{
	struct search *search = context;
	char path[PATH_MAX], name[NAME_MAX + 1];
	bool is_entry = is_wanted(search, entry);

	snprintf(path, sizeof(path), "%s/%s/name", search->path, entry);
	if (!is_entry && (daq_sysfs_text(path, name, sizeof(name)) || !is_wanted(search, name)))
		return 0;
	snprintf(search->found, NAME_MAX + 1, "%s", entry);
	search->nr = is_entry ? 1 : search->nr + 1;
	return is_entry;
}

int daq_sysfs_find(const char *path, const char *wanted, size_t length, char found[NAME_MAX + 1])
{
	struct search search = { .path = path, .wanted = wanted, .length = length, .found = found };
	int error = daq_sysfs_list(path, match, &search);

	return error < 0 ? error : search.nr;
}
