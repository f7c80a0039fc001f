// SPDX-License-Identifier: GPL-2.0
/* Chooses the target; see target.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static const struct {
	const char *name;
	void (*run)(const uint8_t *data, size_t size);
} targets[] = {
	{ "core_workload", fuzz_core_workload },
	{ "core_numbers", fuzz_core_numbers },
	{ "core_sense", fuzz_core_sense },
	{ "drive_scsi", fuzz_drive_scsi },
	{ "rail", fuzz_rail },
	{ "u6", fuzz_u6 },
	{ "modbus", fuzz_modbus },
	{ "powersensor3", fuzz_powersensor3 },
	{ "quarch", fuzz_quarch },
	{ "daq_text", fuzz_daq_text },
	{ "daq_csv", fuzz_daq_csv },
	{ "daq_lines", fuzz_daq_lines },
	{ "daq_rails", fuzz_daq_rails },
	{ "daq_sysfs", fuzz_daq_sysfs },
	{ "daq_clock", fuzz_daq_clock },
	{ "daq_push", fuzz_daq_push },
};

static void (*run)(const uint8_t *data, size_t size);

void fuzz_broken(const char *what)
{
	fprintf(stderr, "broken: %s\n", what);
	abort();
}

uint64_t fuzz_bytes(struct fuzz_input *in, unsigned int bytes)
{
	uint64_t value = 0;
	unsigned int i;

	for (i = 0; i < bytes && in->size; i++, in->data++, in->size--)
		value |= (uint64_t)*in->data << (8 * i);
	return value;
}

uint64_t fuzz_any64(struct fuzz_input *in)
{
	uint64_t kind = fuzz_bytes(in, 1);

	if (kind < 64)
		return 1ull << kind;
	if (kind < 128)
		return (1ull << (kind - 64)) - 1;
	if (kind < 160)
		return fuzz_bytes(in, 1);
	if (kind < 192)
		return fuzz_bytes(in, 1) << 9;
	if (kind < 224)
		return fuzz_bytes(in, 4);
	return kind == 255 ? UINT64_MAX - fuzz_bytes(in, 1) : fuzz_bytes(in, 8);
}

uint64_t fuzz_or(struct fuzz_input *in, uint64_t usual)
{
	return fuzz_bytes(in, 1) < 0xe0 ? usual : fuzz_any64(in);
}

uint32_t fuzz_upto(struct fuzz_input *in, uint32_t most)
{
	return (uint32_t)fuzz_bytes(in, most > 255 ? 4 : 1) % (most + 1);
}

char *fuzz_text(struct fuzz_input *in, size_t most)
{
	size_t length = fuzz_upto(in, (uint32_t)most);
	char *text;

	if (length > in->size)
		length = in->size;
	text = malloc(length + 1);
	if (!text)
		abort();
	memcpy(text, in->data, length);
	text[length] = '\0';
	in->data += length;
	in->size -= length;
	return text;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *name = getenv("FUZZ_TARGET");
	size_t i;

	(void)argc;
	(void)argv;
	for (i = 0; name && i < sizeof(targets) / sizeof(targets[0]); i++)
		if (!strcmp(targets[i].name, name))
			run = targets[i].run;
	if (run)
		return 0;
	fprintf(stderr, "FUZZ_TARGET has to be one of:");
	for (i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
		fprintf(stderr, " %s", targets[i].name);
	fprintf(stderr, "\n");
	exit(2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	run(data, size);
	return 0;
}
