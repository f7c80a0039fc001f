// SPDX-License-Identifier: GPL-2.0
/*
 * What the core of the cache that lets disks sleep costs.
 *
 *	augment chains BLOCKS PATTERN	fill the map, and print how many entries are looked at to find
 *					a block that is there (mean) and that is not (mean), and the
 *					longest chain
 *	augment hit|own|miss|write|flush DEPTH BLOCKS COUNT
 *					COUNT bios of BLOCKS blocks, DEPTH at a time, for a profiler;
 *					own: reads that hit, which the caller does itself
 *	augment recover BLOCKS RECORDS LENGTH
 *					recover an SSD of BLOCKS with RECORDS of LENGTH blocks in
 *					its log and a mirror's, until it serves, for a profiler
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

#define CACHED_BLOCKS	100000
#define RAID_BITS	36
#define RUN_BLOCKS	16
#define STRIDE_BLOCKS	1024

static struct spek_augment machine;
static u32 crc[SPEK_AUGMENT_BIO_BLOCKS];

static void fail(const char *why)
{
	fprintf(stderr, "%s\n", why);
	exit(1);
}

/* The machine with an empty map, before it is started. */
static void begin(u32 log_blocks, u32 copies)
{
	struct spek_augment_super supers[4];
	u32 found[2] = { 3, 3 }, i;
	struct spek_augment_config config = {
		.raid_blocks = 1ULL << RAID_BITS,
		.log_blocks = log_blocks,
		.ssd_blocks = SPEK_AUGMENT_LOG_START + log_blocks + copies,
		.nr_members = 1,
		.copy = SPEK_AUGMENT_COPY_NEVER,
		.stripe_blocks = 64,
		.sequential_blocks = ~0U,
		.high_blocks = log_blocks - 64,
		.low_blocks = log_blocks / 2,
		.quiet_ns = SPEK_AUGMENT_NEVER,
		.retry_ns = 1,
	};
	struct spek_augment_scan scan;
	struct spek_refusal refusal;
	void *memory;

	if (spek_augment_check(&config, &refusal))
		fail(refusal.text);
	memory = malloc(spek_augment_bytes(&config));
	if (!memory)
		fail("There is not enough memory.");
	for (i = 0; i < 4; i++)
		spek_augment_format(&config, i / 2, &supers[i]);
	if (spek_augment_choose(&config, supers, found, &scan, &refusal))
		fail(refusal.text);
	spek_augment_init(&machine, &config, memory);
	spek_augment_recover(&machine, &scan);
}

/* A permutation of the blocks of the RAID that looks random: steps that can be undone. */
static u64 scattered(u64 i)
{
	const u64 mask = (1ULL << RAID_BITS) - 1;
	u32 round;

	for (round = 0; round < 3; round++) {
		i = (i * 0xd1342543de82ef95ULL + 0x632be5ab) & mask;
		i ^= i >> (RAID_BITS / 2);
	}
	return i;
}

static u64 block_of(const char *pattern, u64 i)
{
	if (!strcmp(pattern, "random"))
		return scattered(i);
	if (!strcmp(pattern, "sequential"))
		return i;
	if (!strcmp(pattern, "runs"))
		return scattered(i / RUN_BLOCKS) / RUN_BLOCKS * RUN_BLOCKS + i % RUN_BLOCKS;
	if (!strcmp(pattern, "strided"))
		return i * STRIDE_BLOCKS;
	fail("A pattern is random, sequential, runs or strided.");
	return 0;
}

static void insert(u32 entry, u64 block)
{
	struct spek_augment_entry *e = &machine.entries[entry];

	if (spek_augment_map_find(&machine, block) != SPEK_AUGMENT_NONE)
		return;
	e->low = block;
	e->high = block >> 32;
	e->state = SPEK_AUGMENT_CLEAN;
	spek_augment_map_insert(&machine, entry);
}

static void print_chains(void)
{
	u64 heads = 1ULL << (64 - machine.hash_shift), blocks = 0, steps = 0, longest = 0, i;

	for (i = 0; i < heads; i++) {
		u32 entry = machine.heads[i];
		u64 length = 0;

		for (; entry != SPEK_AUGMENT_NONE; entry = machine.entries[entry].next)
			length++;
		blocks += length;
		steps += length * (length + 1) / 2;
		if (length > longest)
			longest = length;
	}
	/* In thousandths: the core's flags have no floating point. */
	printf("blocks %llu hit %llu miss %llu longest %llu bytes %llu\n",
	       (unsigned long long)blocks, (unsigned long long)(1000 * steps / blocks),
	       (unsigned long long)(1000 * blocks / heads), (unsigned long long)longest,
	       (unsigned long long)spek_augment_bytes(&machine.config));
}

static void chains(u32 blocks, const char *pattern)
{
	const u32 log_blocks = 256;
	u32 i;

	begin(log_blocks, blocks);
	for (i = 0; i < blocks; i++)
		insert(log_blocks + i, block_of(pattern, i));
	print_chains();
}

/* Complete what is in flight, in the order of issue, until all bios are answered. */
static void complete_all(u32 bios)
{
	struct spek_augment_answer answer;
	struct spek_augment_io io;
	u32 tags[SPEK_AUGMENT_IOS], nr, i;
	u8 header[SPEK_AUGMENT_BLOCK_BYTES] = { 0 };

	for (;;) {
		for (nr = 0; spek_augment_next_io(&machine, &io); nr++) {
			tags[nr] = io.tag;
			/* Once for the devices of a record. */
			if (io.encoded && (io.record == SPEK_AUGMENT_NONE ||
					   io.device == SPEK_AUGMENT_SSD))
				spek_augment_encode(&machine, io.tag, header);
		}
		for (i = 0; i < nr; i++)
			spek_augment_complete(&machine, 1, tags[i], 0);
		while (spek_augment_next_answer(&machine, &answer)) {
			if (answer.error)
				fail("A bio failed.");
			bios--;
		}
		if (!bios && !nr)
			return;
		if (!nr)
			fail("A bio hangs.");
	}
}

static void submit(u32 op, u64 block, u32 blocks)
{
	const struct spek_augment_bio bio = { .block = block, .blocks = blocks, .op = op, .crc = crc };

	if (spek_augment_submit(&machine, 1, &bio))
		fail("A bio was refused.");
}

static void hit(u32 depth, u64 first, u32 slots, u32 blocks)
{
	struct spek_augment_hit hits[SPEK_AUGMENT_BIOS];
	u32 k;

	for (k = 0; k < depth; k++)
		if (!spek_augment_begin_hit(&machine, scattered(first + k) % slots * blocks, blocks,
					    &hits[k]))
			fail("A read does not hit.");
	for (k = 0; k < depth; k++)
		spek_augment_end_hit(&machine, &hits[k], 0);
}

static void loop(const char *what, u32 depth, u32 blocks, u32 count)
{
	u32 op = !strcmp(what, "write") ? SPEK_AUGMENT_WRITE :
		 !strcmp(what, "flush") ? SPEK_AUGMENT_FLUSH :
					  SPEK_AUGMENT_READ;
	/* Blocks of a miss are beyond those that are there. */
	bool is_own = !strcmp(what, "own"), is_hit = is_own || !strcmp(what, "hit");
	u64 first = is_hit ? 0 : CACHED_BLOCKS;
	u32 slots = CACHED_BLOCKS / blocks, i, k;

	for (i = 0; i < count; i += depth) {
		if (is_own) {
			hit(depth, i, slots, blocks);
			continue;
		}
		for (k = 0; k < depth; k++)
			submit(op, op == SPEK_AUGMENT_FLUSH ?
				       0 : first + scattered(i + k) % slots * blocks,
			       op == SPEK_AUGMENT_FLUSH ? 0 : blocks);
		complete_all(depth);
	}
	if (is_hit ? machine.stats.misses : machine.stats.hits)
		fail("Hits and misses are not what they were to be.");
}

static void loops(const char *what, u32 depth, u32 blocks, u32 count)
{
	const u32 log_blocks = 1 << 17;
	u32 i;

	begin(log_blocks, CACHED_BLOCKS);
	spek_augment_start(&machine, 1);
	complete_all(0);
	for (i = 0; i < CACHED_BLOCKS; i++)
		insert(log_blocks + i, i);
	loop(what, depth, blocks, count);
}

/* What a caller does with what it reads, without the checksums of data. */
static void recover(u32 ssd_blocks, u32 records, u32 blocks)
{
	const u32 log_blocks = 256 + records * (1 + blocks);
	struct spek_augment_header header = { .generation = 1, .blocks = blocks };
	u8 encoded[SPEK_AUGMENT_BLOCK_BYTES] = { 0 };
	u32 i, device, dirty;

	begin(log_blocks, ssd_blocks - log_blocks - SPEK_AUGMENT_LOG_START);
	for (i = 0; i < records; i++) {
		header.seq = i + 1;
		header.block = scattered(i) / SPEK_AUGMENT_RECORD_BLOCKS *
			       SPEK_AUGMENT_RECORD_BLOCKS;
		spek_augment_header_encode(&header, encoded);
		for (device = 0; device < 2; device++)
			if (!spek_augment_header_decode(encoded, &header) ||
			    !spek_augment_expects(&machine, &header))
				fail("A record does not count.");
		spek_augment_adopt(&machine, &header, 3, NULL);
	}
	dirty = machine.dirty;
	spek_augment_start(&machine, 0);
	complete_all(0);
	if (machine.mode != SPEK_AUGMENT_NORMAL || machine.dirty != dirty)
		fail("Recovery did not leave the log as it was.");
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "chains"))
		chains(strtoul(argv[2], NULL, 0), argv[3]);
	else if (argc == 5 && !strcmp(argv[1], "recover"))
		recover(strtoul(argv[2], NULL, 0), strtoul(argv[3], NULL, 0),
			strtoul(argv[4], NULL, 0));
	else if (argc == 5)
		loops(argv[1], strtoul(argv[2], NULL, 0), strtoul(argv[3], NULL, 0),
		      strtoul(argv[4], NULL, 0));
	else
		return 2;
	return 0;
}
