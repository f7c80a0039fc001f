/* SPDX-License-Identifier: GPL-2.0 */
/* A PowerSensor3 on its serial line: finding it, commands and their replies. */
#ifndef SPEK_DAQ_POWERSENSOR3_SERIAL_H
#define SPEK_DAQ_POWERSENSOR3_SERIAL_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "powersensor3/config.h"

/**
 * ps3_serial_find() - find the only serial line with the USB identity of a PowerSensor3
 * @sysfs: mount point of sysfs
 * @path: filled in, for example "/dev/ttyACM0"
 * Return: 0; -ENODEV: there is none; -EINVAL: there are several. Each with a sentence.
 */
int ps3_serial_find(const char *sysfs, char path[PATH_MAX], struct daq_error *err);

/**
 * ps3_serial_open() - open a serial line, raw, lock it, and stop an old stream
 * Return: a file descriptor; -ENODEV: it does not exist; -EACCES: permission denied; -EBUSY: in use
 * by another program; -EINVAL: it is no serial line; -EIO: no PowerSensor3 answers. Each with a
 * sentence.
 */
int ps3_serial_open(const char *path, struct daq_error *err);

/**
 * ps3_serial_read() - wait for bytes, and take all that are there
 * Return: number of bytes; 0: none within the timeout; -ENODEV and a sentence: the device is gone.
 */
int ps3_serial_read(int fd, uint8_t *bytes, size_t room, int timeout_ms, struct daq_error *err);

/** ps3_serial_begin() - start streaming. Return: 0, or -ENODEV and a sentence. */
int ps3_serial_begin(int fd, struct daq_error *err);

/**
 * ps3_serial_end() - stop streaming, and discard what is left of it
 * Return: 0; -ENODEV: the device is gone; -EIO: it does not answer. Each with a sentence.
 */
int ps3_serial_end(int fd, struct daq_error *err);

/**
 * ps3_serial_configuration() - check the version and read the configuration; not while streaming
 * Return: 0; -ENODEV: the device is gone; -EIO: a wrong version, an impossible configuration, or no
 * reply. Each with a sentence.
 */
int ps3_serial_configuration(int fd, struct ps3_config *config, struct daq_error *err);

#endif
