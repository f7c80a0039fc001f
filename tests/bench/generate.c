// SPDX-License-Identifier: GPL-2.0
/*
 * How fast one CPU generates: a workload as spekcore_driver.c takes it, in slices, of which the
 * fastest counts, so that what else runs on the machine matters little.
 *
 * usage: generate WORKLOAD UNCOUNTED SLICE SLICES
 * Prints ps per operation of the fastest and of the median slice, and a checksum.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "gen.h"

static u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	const u64 *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

/* Closed loops complete at once. Return: something that depends on every operation. */
static u64 drive(struct spek_gen *gen, u64 count)
{
	struct spek_op op = { 0 };
	u64 sum = 0, i;

	for (i = 0; i < count && spek_gen_next_ns(gen) != SPEK_NEVER; i++) {
		spek_gen_next(gen, &op);
		spek_gen_complete(gen, op.arrival, op.at_ns);
		sum += op.addr;
	}
	return sum;
}

static struct spek_gen *make(const char *path, struct spek_workload *wl)
{
	FILE *file = fopen(path, "rb");
	struct spek_refusal refusal = { 0 };
	struct spek_gen *gen;
	size_t got;

	if (!file)
		return NULL;
	got = fread(wl, sizeof(*wl), 1, file);
	fclose(file);
	if (got != 1 || spek_workload_check(wl, 1, &refusal) ||
	    posix_memalign((void **)&gen, 64, spek_gen_size(wl, 0, 1)))
		return NULL;
	spek_gen_init(gen, wl, 1, 0, 1);
	spek_gen_start(gen, 0);
	return gen;
}

int main(int argc, char **argv)
{
	static struct spek_workload wl;
	u64 slice, slices, sum, i, *ns;
	struct spek_gen *gen;

	if (argc != 5)
		return 2;
	gen = make(argv[1], &wl);
	slice = strtoull(argv[3], NULL, 0);
	slices = strtoull(argv[4], NULL, 0);
	ns = calloc(slices, sizeof(*ns));
	if (!gen || !ns || !slice || !slices)
		return 2;
	sum = drive(gen, strtoull(argv[2], NULL, 0));
	for (i = 0; i < slices; i++) {
		u64 from = now_ns();

		sum += drive(gen, slice);
		ns[i] = now_ns() - from;
	}
	qsort(ns, slices, sizeof(*ns), compare);
	printf("%llu %llu %llx\n", (unsigned long long)(ns[0] * 1000 / slice),
	       (unsigned long long)(ns[slices / 2] * 1000 / slice), (unsigned long long)sum);
	free(ns);
	free(gen);
	return 0;
}
