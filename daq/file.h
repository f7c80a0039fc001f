/* SPDX-License-Identifier: GPL-2.0 */
/* file.h - whole files */
#ifndef SPEK_DAQ_FILE_H
#define SPEK_DAQ_FILE_H

#include <stddef.h>

#include "error.h"

/**
 * daq_file_read() - read a whole file
 * @text: its contents, to be freed; not terminated
 * @length: bytes of @text
 * Return: 0; -EINVAL: it does not exist; else -errno; each with a sentence.
 */
int daq_file_read(const char *path, char **text, size_t *length, struct daq_error *err);

#endif
