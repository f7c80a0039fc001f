// SPDX-License-Identifier: GPL-2.0
/*
 * The generator inside the kernel makes the recorded sequences.
 *
 * vectors.h is made from tests/unit/core/vectors when this module is built: workloads as the words of
 * struct spek_workload that are not zero, and for each sequence a checksum of the bytes whose SHA-256
 * is the recorded one.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "core/gen.h"
#include "suites.h"

#define PIECE	1000u

struct vector_word {
	u32 at;
	u64 value;
};

struct vector {
	const char *name;
	const struct vector_word *words;
	u32 nr_words;
	u32 worker;
	u32 nr_workers;
	u32 made;
	u64 fnv;
};

#include "vectors.h"

/* FNV-1a, by 64-bit words */
static u64 checksum(u64 sum, const struct spek_op *ops, u32 nr)
{
	const u64 *word = (const u64 *)ops;
	const u64 *end = (const u64 *)(ops + nr);

	for (; word < end; word++)
		sum = (sum ^ *word) * 0x100000001b3ull;
	return sum;
}

static void fill_workload(struct spek_workload *wl, const struct vector *vector)
{
	u32 i;

	memset(wl, 0, sizeof(*wl));
	for (i = 0; i < vector->nr_words; i++)
		memcpy((u8 *)wl + vector->words[i].at, &vector->words[i].value,
		       min_t(size_t, sizeof(u64), sizeof(*wl) - vector->words[i].at));
}

static void make_sequence(struct kunit *test, const struct vector *vector, struct spek_gen *gen)
{
	struct spek_op *ops = kunit_kmalloc_array(test, PIECE, sizeof(*ops), GFP_KERNEL);
	u64 sum = 0xcbf29ce484222325ull;
	u32 made = 0, nr;

	KUNIT_ASSERT_NOT_NULL(test, ops);
	do {
		nr = spek_gen_preview(gen, ops, PIECE);
		sum = checksum(sum, ops, nr);
		made += nr;
		cond_resched();
	} while (nr == PIECE && made < SPEK_KUNIT_OPS);
	KUNIT_EXPECT_EQ_MSG(test, made, vector->made, "%s", vector->name);
	KUNIT_EXPECT_EQ_MSG(test, sum, vector->fnv, "%s", vector->name);
}

static void sequence_is_the_recorded_one(struct kunit *test)
{
	const struct vector *vector = test->param_value;
	struct spek_workload *wl = kunit_kmalloc(test, sizeof(*wl), GFP_KERNEL);
	struct spek_refusal refusal = {};
	struct spek_gen *gen;
	size_t bytes;

	BUILD_BUG_ON(sizeof(struct spek_workload) != SPEK_KUNIT_WORKLOAD_BYTES);
	KUNIT_ASSERT_NOT_NULL(test, wl);
	fill_workload(wl, vector);
	KUNIT_ASSERT_EQ(test, spek_workload_check(wl, vector->nr_workers, &refusal), 0);
	bytes = spek_gen_size(wl, vector->worker, vector->nr_workers);
	KUNIT_ASSERT_NE(test, bytes, (size_t)SIZE_MAX);
	gen = vzalloc(bytes);
	KUNIT_ASSERT_NOT_NULL(test, gen);
	spek_gen_init(gen, wl, 42, vector->worker, vector->nr_workers);
	spek_gen_start(gen, 0);
	make_sequence(test, vector, gen);
	vfree(gen);
}

static void name_of_vector(const struct vector *vector, char *name)
{
	strscpy(name, vector->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(vectors, vectors, name_of_vector);

static void a_workload_that_is_wrong_is_refused(struct kunit *test)
{
	struct spek_workload *wl = kunit_kmalloc(test, sizeof(*wl), GFP_KERNEL);
	struct spek_refusal refusal = {};

	KUNIT_ASSERT_NOT_NULL(test, wl);
	fill_workload(wl, &vectors[0]);
	KUNIT_ASSERT_EQ(test, spek_workload_check(wl, 1, &refusal), 0);
	wl->stream[0].asu = wl->nr_asus;
	KUNIT_EXPECT_LT(test, spek_workload_check(wl, 1, &refusal), 0);
	KUNIT_EXPECT_EQ(test, refusal.kind, SPEK_REFUSAL_STREAM);
	KUNIT_EXPECT_EQ(test, refusal.index, 0u);
	KUNIT_EXPECT_NOT_NULL(test, refusal.text);
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(sequence_is_the_recorded_one, vectors_gen_params),
	KUNIT_CASE(a_workload_that_is_wrong_is_refused),
	{}
};

struct kunit_suite spek_gen_suite = {
	.name = "spek_gen",
	.test_cases = cases,
};
