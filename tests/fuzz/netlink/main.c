// SPDX-License-Identifier: GPL-2.0
/*
 * netlink-fuzz MESSAGES SEED THREADS FEED MAJOR PROTECTED_MINOR MINOR...
 *
 * Sends so many messages to all families from so many threads, FEED per cent of them to feed
 * traces, beside the usual ones; runs are on the block devices MAJOR:MINOR, and none writes to
 * MAJOR:PROTECTED_MINOR. Prints what was sent and answered as JSON. Exit code 1: an answer was
 * wrong, and which on stderr.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "netlink_tables.h"

static struct fuzz_shared shared;
static uint64_t messages_each;

static void *run_thread(void *context)
{
	fuzz_thread(context, messages_each);
	return NULL;
}

static void add(struct fuzz_counts *to, const struct fuzz_counts *from)
{
	const uint64_t *source = (const uint64_t *)from;
	uint64_t *target = (uint64_t *)to;
	size_t i;

	for (i = 0; i < sizeof(*to) / sizeof(uint64_t); i++)
		target[i] += source[i];
}

static void print_named(const char *title, uint64_t counts[FUZZ_FAMILIES][32])
{
	const char *comma = "";
	size_t i, j;

	printf(", \"%s\": {", title);
	for (i = 0; i < FUZZ_FAMILIES; i++)
		for (j = 0; j < fuzz_families[i].nr_ops; j++, comma = ", ")
			printf("%s\"%s\": %" PRIu64, comma, fuzz_families[i].ops[j].name,
			       counts[i][fuzz_families[i].ops[j].id]);
	printf("}");
}

static void print_counts(struct fuzz_counts *sum)
{
	const char *comma;
	size_t i, j;

	printf("{\"sent\": %" PRIu64 ", \"dumps\": %" PRIu64 ", \"batches\": %" PRIu64
	       ", \"sockets\": %" PRIu64 ", \"abandoned\": %" PRIu64 ", \"overruns\": %" PRIu64
	       ", \"checked\": %" PRIu64 ", \"fed\": %" PRIu64, sum->sent, sum->dumps, sum->batches,
	       sum->sockets, sum->abandoned, sum->overruns, sum->checked, sum->fed);
	print_named("asked", sum->asked);
	print_named("replies", sum->replies);
	print_named("us", sum->asked_us);
	for (i = 0; i < FUZZ_FAMILIES; i++) {
		printf(", \"%s errno\": {", fuzz_families[i].name);
		for (j = 0, comma = ""; j < ERRNOS; j++) {
			if (!sum->errors[i][j])
				continue;
			printf("%s\"%zu\": %" PRIu64, comma, j, sum->errors[i][j]);
			comma = ", ";
		}
		printf("}");
	}
	printf("}\n");
}

static uint64_t number(const char *text)
{
	return strtoull(text, NULL, 0);
}

int main(int argc, char **argv)
{
	struct fuzz_counts sum = { 0 };
	struct fuzz_state *states;
	pthread_t *threads;
	unsigned int nr, i;

	if (argc < 8 || argc > 7 + MAX_DISKS) {
		fprintf(stderr, "usage: %s MESSAGES SEED THREADS FEED MAJOR PROTECTED MINOR...\n",
			argv[0]);
		return 2;
	}
	nr = (unsigned int)number(argv[3]);
	messages_each = (number(argv[1]) + nr - 1) / nr;
	shared.feed_percent = (uint32_t)number(argv[4]);
	shared.major = (uint32_t)number(argv[5]);
	shared.protected_minor = (uint32_t)number(argv[6]);
	shared.nr_disks = (size_t)argc - 7;
	for (i = 0; i < shared.nr_disks; i++)
		shared.minor[i] = (uint32_t)number(argv[7 + i]);
	states = calloc(nr, sizeof(*states));
	threads = calloc(nr, sizeof(*threads));
	if (!states || !threads || !fuzz_resolve(&shared))
		return 2;
	for (i = 0; i < nr; i++) {
		states[i].shared = &shared;
		states[i].random[0] = number(argv[2]) * 0x9e3779b97f4a7c15ull + i + 1;
		states[i].random[1] = 0xbf58476d1ce4e5b9ull ^ ((uint64_t)i << 32);
		pthread_create(&threads[i], NULL, run_thread, &states[i]);
	}
	for (i = 0; i < nr; i++) {
		pthread_join(threads[i], NULL);
		add(&sum, &states[i].counts);
	}
	print_counts(&sum);
	free(states);
	free(threads);
	return atomic_load(&shared.failed);
}
