/* SPDX-License-Identifier: GPL-2.0 */
/* sysfs.h - attributes of sysfs that hold one number or one word */
#ifndef SPEK_DAQ_SOURCES_SYSFS_H
#define SPEK_DAQ_SOURCES_SYSFS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

/** daq_sysfs_open() - Return: a file descriptor for daq_sysfs_read(), or -errno. */
int daq_sysfs_open(const char *path);

/**
 * daq_sysfs_read() - read the current whole number from an open attribute
 * Return: 0; -ENODEV: the device is gone; -EIO: not a whole number; else -errno.
 */
int daq_sysfs_read(int fd, int64_t *value);

/** daq_sysfs_is_there() - Return: false if the device of an open attribute is gone. */
bool daq_sysfs_is_there(int fd);

/** daq_sysfs_text() - read the first line of an attribute. Return: 0 or -errno. */
int daq_sysfs_text(const char *path, char *text, size_t room);

/**
 * daq_sysfs_list() - call @each for every entry of a directory, in alphabetical order
 * @each: returns 0 to continue; any other value ends the iteration
 * Return: the last value of @each, or -errno.
 */
int daq_sysfs_list(const char *path, int (*each)(const char *name, void *context), void *context);

/**
 * daq_sysfs_find() - find the entry of a directory with a given name, or else the entries whose
 * file "name" contains it
 * @wanted: the name, @length characters
 * @found: the last entry found
 * Return: number of entries found, or -errno.
 */
int daq_sysfs_find(const char *path, const char *wanted, size_t length, char found[NAME_MAX + 1]);

#endif
