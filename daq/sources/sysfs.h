/* SPDX-License-Identifier: GPL-2.0 */
/* sysfs.h - attributes of the kernel's that hold one number or one word */
#ifndef SPEK_DAQ_SOURCES_SYSFS_H
#define SPEK_DAQ_SOURCES_SYSFS_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

/** daq_sysfs_open() - Return: a file descriptor for daq_sysfs_read(), or -errno. */
int daq_sysfs_open(const char *path);

/**
 * daq_sysfs_read() - the whole number in an open attribute, as it is now
 * Return: 0; -ENODEV: the device behind it has gone; -EIO: it holds no number; else -errno.
 */
int daq_sysfs_read(int fd, int64_t *value);

/** daq_sysfs_text() - the first line of an attribute. Return: 0 or -errno. */
int daq_sysfs_text(const char *path, char *text, size_t room);

/**
 * daq_sysfs_list() - call @each for every entry of a directory, in alphabetical order
 * @each: returns 0 to go on; its other values end the list and are returned
 * Return: 0, that of @each, or -errno.
 */
int daq_sysfs_list(const char *path, int (*each)(const char *name, void *context), void *context);

/**
 * daq_sysfs_find() - the entry of a directory that is called so, or else those whose file "name"
 * says so
 * @wanted: @length characters
 * @found: the entry, the last of several
 * Return: how many there are, or -errno.
 */
int daq_sysfs_find(const char *path, const char *wanted, size_t length, char found[NAME_MAX + 1]);

#endif
