// SPDX-License-Identifier: GPL-2.0
/*
 * One write per line, so that lines of different threads do not mix. What a program wrote may be
 * quoted in one, and could make a terminal do things.
 */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "say.h"

void daq_say(const char *format, ...)
{
	char line[600];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(line, sizeof(line) - 1, format, args);
	va_end(args);
	if (length >= (int)sizeof(line) - 1)
		length = sizeof(line) - 2;
	line[length] = '\0';
	for (char *at = line; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';
	fprintf(stderr, "spek-daq: %s\n", line);
}
