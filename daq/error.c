// SPDX-License-Identifier: GPL-2.0
/* Formatting of error sentences. */
#include <stdarg.h>
#include <stdio.h>

#include "error.h"

void daq_error_set(struct daq_error *err, const char *format, ...)
{
	va_list args;

	if (!err)
		return;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
}
