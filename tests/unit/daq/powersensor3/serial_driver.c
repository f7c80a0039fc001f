// SPDX-License-Identifier: GPL-2.0
/*
 * serial_driver end|configuration STEP_NS - call serial.c with the line on standard input
 *
 * Its clock is not the host's: each look at it takes STEP_NS. Prints the error, and its sentence.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pace.h"
#include "powersensor3/serial.h"

static uint64_t now_ns, step_ns;

uint64_t daq_now_ns(void)
{
	now_ns += step_ns;
	return now_ns;
}

int main(int argc, char **argv)
{
	static struct ps3_config config;
	struct daq_error err = { "" };
	int error;

	if (argc != 3)
		return 2;
	step_ns = strtoull(argv[2], NULL, 10);
	if (!strcmp(argv[1], "end"))
		error = ps3_serial_end(STDIN_FILENO, &err);
	else
		error = ps3_serial_configuration(STDIN_FILENO, &config, &err);
	printf("%s\n", error ? err.text : "ok");
	return 0;
}
