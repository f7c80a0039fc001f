// SPDX-License-Identifier: GPL-2.0
/*
 * Generate operations from a dumped workload, outside of Python: for counting
 * instructions and for sanitizers.
 *
 * usage: driver WORKLOAD SEED WORKER NR_WORKERS OPS [UNCOUNTED]
 * WORKLOAD is a struct spek_workload as it is in memory. Prints the number of
 * operations, a checksum of them, and the backlog 1 us after the last. The first
 * UNCOUNTED operations are made before a counting of instructions begins. Streams with own data
 * write them, too.
 */
#include <stdio.h>
#include <stdlib.h>
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION
#endif

#include "backlog.h"
#include "contents.h"
#include "gen.h"
#include "hist.h"

static u64 mix(u64 sum, u64 value)
{
	return (sum ^ value) * 0x100000001b3ull;
}

/* Data of the streams that have own ones. */
static struct spek_contents contents[SPEK_MAX_STREAMS];

static void write_data(const struct spek_workload *wl, const struct spek_op *op)
{
	static u64 block[SPEK_CONTENTS_BLOCK / sizeof(u64)];
	u32 done;

	if (!wl->stream[op->stream].own_data || !op->write)
		return;
	for (done = 0; done < op->bytes; done += SPEK_CONTENTS_BLOCK)
		spek_contents_write(&contents[op->stream], block,
				    op->bytes - done < SPEK_CONTENTS_BLOCK ?
				    op->bytes - done : SPEK_CONTENTS_BLOCK);
}

/* Closed loops complete at once. */
static u64 drive(struct spek_gen *gen, const struct spek_workload *wl, u64 count, u64 *made,
		 u64 *last_ns)
{
	u64 sum = 0xcbf29ce484222325ull;
	struct spek_op op = { 0 };

	for (*made = 0; *made < count && spek_gen_next_ns(gen) != SPEK_NEVER; (*made)++) {
		spek_gen_next(gen, &op);
		spek_gen_place(gen, &op);
		write_data(wl, &op);
		spek_gen_complete(gen, op.arrival, op.at_ns);
		sum = mix(sum, op.at_ns);
		sum = mix(sum, op.addr);
		sum = mix(sum, (u64)op.bytes << 32 | op.replica);
		sum = mix(sum, (u64)op.stream << 32 | op.write);
	}
	*last_ns = op.at_ns;
	return sum;
}

static u64 backlog_at(const struct spek_gen *gen, struct spek_backlog *backlog, u64 now_ns)
{
	struct spek_gen_mark mark[SPEK_MAX_ARRIVALS];

	spek_gen_mark(gen, mark);
	struct spek_backlog_count count = { 0 };

	while (spek_backlog_step(backlog, &count, mark, now_ns, ~0u))
		;
	return count.sum;
}

static int read_workload(const char *path, struct spek_workload *wl)
{
	FILE *file = fopen(path, "rb");
	int err;

	if (!file)
		return -1;
	err = fread(wl, sizeof(*wl), 1, file) != 1;
	fclose(file);
	return err;
}

int main(int argc, char **argv)
{
	struct spek_workload *wl = malloc(sizeof(*wl));
	struct spek_refusal refusal;
	struct spek_backlog backlog;
	struct spek_gen *gen;
	u32 worker, nr_workers, i;
	u64 made, last_ns, sum;
	size_t bytes;

	if (argc < 6 || argc > 7 || !wl || read_workload(argv[1], wl))
		return 2;
	worker = (u32)strtoul(argv[3], NULL, 0);
	nr_workers = (u32)strtoul(argv[4], NULL, 0);
	if (spek_workload_check(wl, nr_workers, &refusal)) {
		fprintf(stderr, "%u.%u: %s\n", refusal.kind, refusal.index, refusal.text);
		free(wl);
		return 1;
	}
	bytes = spek_gen_size(wl, worker, nr_workers);
	/* Exactly as much as was asked for: a sanitizer sees the first byte too many. */
	if (posix_memalign((void **)&gen, 64, bytes))
		return 2;
	spek_gen_init(gen, wl, strtoull(argv[2], NULL, 0), worker, nr_workers);
	spek_gen_start(gen, 1000000000);
	spek_backlog_init(&backlog, wl, gen);
	for (i = 0; i < wl->nr_streams; i++)
		spek_contents_init(&contents[i], &wl->stream[i], i, strtoull(argv[2], NULL, 0),
				   worker, true);
	if (argc == 7)
		drive(gen, wl, strtoull(argv[6], NULL, 0), &made, &last_ns);
	CALLGRIND_START_INSTRUMENTATION;
	sum = drive(gen, wl, strtoull(argv[5], NULL, 0), &made, &last_ns);
	printf("%llu %016llx %llu\n", (unsigned long long)made, (unsigned long long)sum,
	       (unsigned long long)backlog_at(gen, &backlog, last_ns + 1000));
	free(gen);
	free(wl);
	return 0;
}
