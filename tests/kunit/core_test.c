// SPDX-License-Identifier: GPL-2.0
/* The core as the kernel compiles it: random numbers, histogram, sense data, walk, states. */
#include "../../kmod/core/hist.h"
#include "../../kmod/core/muldiv.h"
#include "../../kmod/core/rng.h"
#include "core/sense.h"
#include "core/share.h"
#include "core/state.h"
#include "core/walk.h"
#include "suites.h"

/* ---- random numbers ---- */

static void splitmix_is_the_published_one(struct kunit *test)
{
	/* first numbers of SplitMix64 from 1234567, as its authors' program prints them */
	static const u64 wanted[] = {
		6457827717110365317ull, 3203168211198807973ull, 9817491932198370423ull,
	};
	u64 state = 1234567;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(wanted); i++)
		KUNIT_EXPECT_EQ(test, spek_splitmix64(&state), wanted[i]);
}

static void xoshiro_is_the_published_one(struct kunit *test)
{
	/* xoshiro256** from the state 1, 2, 3, 4 */
	static const u64 wanted[] = {
		11520ull, 0ull, 1509978240ull, 1215971899390074240ull,
	};
	struct spek_rng rng = { .s = { 1, 2, 3, 4 } };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(wanted); i++)
		KUNIT_EXPECT_EQ(test, spek_rng_next(&rng), wanted[i]);
}

static void sequences_of_different_purposes_differ(struct kunit *test)
{
	struct spek_rng times, operations, other;

	spek_rng_init(&times, 1, 0, 0, SPEK_RNG_TIMES);
	spek_rng_init(&operations, 1, 0, 0, SPEK_RNG_OPERATIONS);
	spek_rng_init(&other, 1, 1, 0, SPEK_RNG_TIMES);
	KUNIT_EXPECT_NE(test, spek_rng_next(&times), spek_rng_next(&operations));
	KUNIT_EXPECT_NE(test, spek_rng_next(&times), spek_rng_next(&other));
}

static void numbers_stay_below_their_bound(struct kunit *test)
{
	static const u64 bounds[] = { 0, 1, 2, 3, 1000003, 1ull << 40, ~0ull };
	struct spek_rng rng;
	u32 i, k;

	spek_rng_seed(&rng, 42);
	for (i = 0; i < ARRAY_SIZE(bounds); i++)
		for (k = 0; k < 1000; k++)
			KUNIT_ASSERT_LE(test, spek_rng_below(&rng, bounds[i]),
					bounds[i] ? bounds[i] - 1 : 0);
}

/* ---- histogram ---- */

static void buckets_tile_the_range(struct kunit *test)
{
	u32 i;

	KUNIT_EXPECT_EQ(test, spek_hist_low(0), 0ull);
	for (i = 1; i < SPEK_HIST_BUCKETS; i++) {
		u64 low = spek_hist_low(i);

		KUNIT_ASSERT_EQ(test, spek_hist_index(low), i);
		KUNIT_ASSERT_EQ(test, spek_hist_index(low - 1), i - 1);
	}
	KUNIT_EXPECT_EQ(test, spek_hist_index(~0ull), SPEK_HIST_BUCKETS - 1u);
}

static void a_bucket_is_within_one_part_in_128(struct kunit *test)
{
	struct spek_rng rng;
	u32 i;

	spek_rng_seed(&rng, 7);
	for (i = 0; i < 10000; i++) {
		u64 ns = spek_rng_next(&rng) >> (24 + i % 40);
		u64 value = spek_hist_value(spek_hist_index(ns));
		u64 off = value > ns ? value - ns : ns - value;

		KUNIT_ASSERT_LE(test, off * 128, ns);
	}
}

static void percentiles_are_nearest_ranks(struct kunit *test)
{
	u64 *counts = kunit_kcalloc(test, SPEK_HIST_BUCKETS, sizeof(*counts), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, counts);
	for (i = 1; i <= 100; i++)
		counts[spek_hist_index(i)]++;
	KUNIT_EXPECT_EQ(test, spek_hist_percentile(counts, 100, 500000, 100), 50ull);
	KUNIT_EXPECT_EQ(test, spek_hist_percentile(counts, 100, 990000, 100), 99ull);
	KUNIT_EXPECT_EQ(test, spek_hist_percentile(counts, 100, 1000000, 100), 100ull);
	KUNIT_EXPECT_EQ(test, spek_hist_percentile(counts, 0, 500000, 0), 0ull);
}

/* ---- sense data ---- */

static void sense_of_both_formats_is_understood(struct kunit *test)
{
	static const u8 fixed[] = { 0xf0, 0, 0xe3, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x11, 4 };
	static const u8 descriptor[] = { 0x73, 4, 0x44, 1 };
	struct spek_sense sense;

	spek_sense_parse(&sense, fixed, sizeof(fixed));
	KUNIT_EXPECT_TRUE(test, sense.present && !sense.deferred);
	KUNIT_EXPECT_EQ(test, sense.key, (u8)3);
	KUNIT_EXPECT_EQ(test, sense.asc, (u8)0x11);
	KUNIT_EXPECT_EQ(test, sense.ascq, (u8)4);
	spek_sense_parse(&sense, descriptor, sizeof(descriptor));
	KUNIT_EXPECT_TRUE(test, sense.present && sense.deferred);
	KUNIT_EXPECT_EQ(test, sense.key, (u8)4);
	KUNIT_EXPECT_EQ(test, sense.asc, (u8)0x44);
	KUNIT_EXPECT_EQ(test, sense.ascq, (u8)1);
}

/* The bytes lie at the end of an allocation: KASAN sees one that is read too many. */
static void sense_that_is_cut_off_is_read_to_its_end(struct kunit *test)
{
	static const u8 whole[] = { 0x70, 0, 5, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x24, 9 };
	u32 bytes;

	for (bytes = 0; bytes <= sizeof(whole); bytes++) {
		struct spek_sense sense;
		u8 *data = kmemdup(whole, max(bytes, 1u), GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, data);
		spek_sense_parse(&sense, data, bytes);
		kfree(data);
		KUNIT_EXPECT_EQ(test, sense.present, bytes > 0);
		KUNIT_EXPECT_EQ(test, sense.key, (u8)(bytes > 2 ? 5 : 0));
		KUNIT_EXPECT_EQ(test, sense.asc, (u8)(bytes > 12 ? 0x24 : 0));
		KUNIT_EXPECT_EQ(test, sense.ascq, (u8)(bytes > 13 ? 9 : 0));
	}
}

/* ---- walk ---- */

static void walk_climbs_as_far_as_its_bits_say(struct kunit *test)
{
	struct spek_source source = { .walk = { .min_level = 7, .levels = 20 } };
	u32 i;

	KUNIT_EXPECT_EQ(test, spek_walk_level(&source, U32_MAX), 7u);
	KUNIT_EXPECT_EQ(test, spek_walk_level(&source, 0), 20u);
	KUNIT_EXPECT_EQ(test, spek_walk_climb[SPEK_WALK_CLIMBS], 0u);
	for (i = 0; i < 13; i++) {
		u32 threshold = spek_walk_climb[i];

		KUNIT_EXPECT_EQ(test, spek_walk_level(&source, threshold), 7 + i);
		KUNIT_EXPECT_EQ(test, spek_walk_level(&source, threshold - 1), 8 + i);
	}
}

static void walk_stays_in_its_window(struct kunit *test)
{
	struct spek_rng rng;
	u32 level, i;

	spek_rng_seed(&rng, 3);
	for (level = 3; level <= 31; level++) {
		for (i = 0; i < 100; i++) {
			u64 bits = spek_rng_next(&rng);
			u32 leaf = (u32)bits, place = (u32)(bits >> 32);

			KUNIT_ASSERT_EQ(test, spek_walk_leaf(leaf, level, place, false) >> level,
					leaf >> level);
			KUNIT_ASSERT_EQ(test, spek_walk_leaf(leaf, level, place, true) % 8, 0u);
		}
	}
}

/* ---- states ---- */

static void states_follow_their_table(struct kunit *test)
{
	/* What a run goes through from its making to its end; tests/unit has the whole table. */
	static const struct {
		enum spek_event event;
		int next;
	} steps[] = {
		{ SPEK_EVENT_START, -EBUSY },
		{ SPEK_EVENT_OPENED, SPEK_STATE_READY },
		{ SPEK_EVENT_DRAINED, -EBUSY },
		{ SPEK_EVENT_ARM, SPEK_STATE_ARMED },
		{ SPEK_EVENT_DELETE, -EBUSY },
		{ SPEK_EVENT_START, SPEK_STATE_RUNNING },
		{ SPEK_EVENT_DELETE, -EBUSY },
		{ SPEK_EVENT_END, SPEK_STATE_DRAINING },
		{ SPEK_EVENT_END, SPEK_STATE_DRAINING },
		{ SPEK_EVENT_DRAINED, SPEK_STATE_DONE },
		{ SPEK_EVENT_START, -EBUSY },
		{ SPEK_EVENT_DELETE, SPEK_STATE_CLOSING },
		{ SPEK_EVENT_GONE, SPEK_STATE_GONE },
		{ SPEK_EVENT_END, -EBUSY },
	};
	enum spek_state state = SPEK_STATE_OPENING;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		int next = spek_state_next(state, steps[i].event);

		KUNIT_EXPECT_EQ_MSG(test, next, steps[i].next, "step %u", i);
		if (next >= 0)
			state = next;
	}
	KUNIT_EXPECT_EQ(test, spek_state_next(SPEK_STATE_NR, SPEK_EVENT_END), -EINVAL);
	KUNIT_EXPECT_EQ(test, spek_state_next(SPEK_STATE_READY, SPEK_EVENT_NR), -EINVAL);
}

static void products_have_128_bits(struct kunit *test)
{
	u64 low = ~0ull;

	KUNIT_EXPECT_EQ(test, spek_mulhi64(~0ull, ~0ull), ~0ull - 1);
	KUNIT_EXPECT_EQ(test, spek_mulhi64(1ull << 32, 1ull << 32), 1ull);
	KUNIT_EXPECT_EQ(test, spek_muladd128(&low, 1, 1), 1ull);
	KUNIT_EXPECT_EQ(test, low, 0ull);
	KUNIT_EXPECT_EQ(test, spek_muldiv64(~0ull, 1000, 1001, NULL), 18428315757951600014ull);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(splitmix_is_the_published_one),
	KUNIT_CASE(xoshiro_is_the_published_one),
	KUNIT_CASE(sequences_of_different_purposes_differ),
	KUNIT_CASE(numbers_stay_below_their_bound),
	KUNIT_CASE(buckets_tile_the_range),
	KUNIT_CASE(a_bucket_is_within_one_part_in_128),
	KUNIT_CASE(percentiles_are_nearest_ranks),
	KUNIT_CASE(sense_of_both_formats_is_understood),
	KUNIT_CASE(sense_that_is_cut_off_is_read_to_its_end),
	KUNIT_CASE(walk_climbs_as_far_as_its_bits_say),
	KUNIT_CASE(walk_stays_in_its_window),
	KUNIT_CASE(states_follow_their_table),
	KUNIT_CASE(products_have_128_bits),
	{}
};

struct kunit_suite spek_core_suite = {
	.name = "spek_core",
	.test_cases = cases,
};
