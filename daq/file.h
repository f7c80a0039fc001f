/* SPDX-License-Identifier: GPL-2.0 */
/* file.h - whole files */
#ifndef SPEK_DAQ_FILE_H
#define SPEK_DAQ_FILE_H

#include <stddef.h>

#include "error.h"
#include "stop.h"

/**
 * daq_file_read() - read a whole file, also a pipe or terminal that has its end some time
 * @stop: request that ends the wait for its contents; NULL: none does
 * @text: its contents, to be freed; not terminated
 * @length: bytes of @text
 * Return: 0; -EINVAL: it does not exist; -ECANCELED: asked to end; else -errno; each with a sentence.
 */
int daq_file_read(const char *path, const struct daq_stop *stop, char **text, size_t *length,
		  struct daq_error *err);

#endif
