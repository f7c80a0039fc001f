// SPDX-License-Identifier: GPL-2.0
/*
 * Sources that read text of the kernel's: hwmon and powercap, on a tree of files whose contents
 * are the input's. The files live in memory (/dev/shm), in the working directory: its name, which
 * is another one each time, is in nothing that is read.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "say.h"
#include "sources/source.h"
#include "target.h"

static const char *const files[] = {
	"class/hwmon/hwmon0/name", "class/hwmon/hwmon0/power1_input",
	"class/hwmon/hwmon0/power2_average", "class/hwmon/hwmon0/curr1_input",
	"class/hwmon/hwmon0/energy3_input", "class/hwmon/hwmon1/name",
	"class/hwmon/hwmon1/in0_input", "class/powercap/intel-rapl:0/name",
	"class/powercap/intel-rapl:0/energy_uj", "class/powercap/intel-rapl:0/max_energy_range_uj",
	"class/powercap/intel-rapl:1/name", "class/powercap/intel-rapl:1/energy_uj",
	"class/powercap/intel-rapl:1/max_energy_range_uj",
};

#define FILES (sizeof(files) / sizeof(files[0]))
#define LOOK_NS 60000

extern const struct daq_source_ops daq_source_hwmon, daq_source_powercap;

static char root[64];

/* when the input under way is at; each look at the clock takes a while */
static uint64_t now_ns;

/*
 * What pace.c calls in place of clock_gettime() (c_build.py): an input gets the same times on
 * every run, and all of them have passed, so nothing sleeps.
 */
int fuzz_clock_gettime(clockid_t clock, struct timespec *now);
int fuzz_clock_gettime(clockid_t clock, struct timespec *now)
{
	(void)clock;
	now_ns += LOOK_NS;
	now->tv_sec = (time_t)(now_ns / 1000000000);
	now->tv_nsec = (long)(now_ns % 1000000000);
	return 0;
}

/* Messages about missing channels would only fill the output of the fuzzer. */
void daq_say(const char *format, ...)
{
	(void)format;
}

static void make_directories(const char *path)
{
	char made[PATH_MAX];
	char *slash;

	snprintf(made, sizeof(made), "%s", path);
	for (slash = strchr(made, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(made, 0700);
		*slash = '/';
	}
}

static void remove_all(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	if (system(command))
		fprintf(stderr, "%s stays\n", root);
}

static void begin(void)
{
	size_t i;

	strcpy(root, "/dev/shm/spek-fuzz-XXXXXX");
	if (!mkdtemp(root) || chdir(root))
		abort();
	atexit(remove_all);
	for (i = 0; i < FILES; i++)
		make_directories(files[i]);
}

static void fill(struct fuzz_input *in)
{
	size_t i;

	for (i = 0; i < FILES; i++) {
		char *text = fuzz_text(in, 100);
		ssize_t done;
		int fd;

		fd = open(files[i], O_WRONLY | O_CREAT | O_TRUNC, 0600);
		done = write(fd, text, strlen(text));
		close(fd);
		if (!done)
			unlink(files[i]);
		free(text);
	}
}

static void read_source(const struct daq_source_ops *ops, const struct daq_setup *setup,
			struct daq_channel *channel, size_t nr, bool is_reopened)
{
	struct daq_source source = { .ops = ops, .channel = channel, .nr_channels = nr,
				     .is_reopened = is_reopened };
	struct daq_error err = { "" };
	struct daq_block block;
	int error = ops->open(&source, setup, &err), i;

	if (error) {
		FUZZ_REQUIRE(error < 0 && err.text[0], "a refusal has a sentence");
		return;
	}
	if (!ops->start(&source, &err)) {
		for (i = 0; i < 2; i++)
			if (ops->read(&source, 1, &block, &err))
				break;
		ops->stop(&source);
	}
	ops->close(&source);
}

void fuzz_daq_sysfs(const uint8_t *data, size_t size)
{
	static const struct daq_source_ops *const sources[] = {
		&daq_source_hwmon, &daq_source_powercap,
	};
	struct fuzz_input in = { data, size };
	struct daq_channel found[DAQ_MAX_CHANNELS];
	struct daq_setup setup = { .sysfs = ".", .interval_ns = 100000 };
	struct daq_error err = { "" };
	char *name;
	size_t i;

	if (!root[0])
		begin();
	now_ns = 0;
	name = fuzz_text(&in, DAQ_NAME_MAX - 1);
	fill(&in);
	for (i = 0; i < 2; i++) {
		int nr = sources[i]->discover(&setup, found, 3, &err);

		FUZZ_REQUIRE(nr <= 3, "no more than there is room for");
		if (nr > 0)
			read_source(sources[i], &setup, found, (size_t)nr, false);
		/* with one that is missing, as a rule */
		memset(found, 0, sizeof(found[0]));
		strcpy(found[0].name, name);
		read_source(sources[i], &setup, found, 1, false);
		read_source(sources[i], &setup, found, nr > 0 ? (size_t)nr : 1, true);
	}
	free(name);
}
