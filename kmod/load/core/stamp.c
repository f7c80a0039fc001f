// SPDX-License-Identifier: GPL-2.0
/* Stamping and checking of blocks. */
#include "../../core/rng.h"
#include "stamp.h"

#define WORD_BYTES	((u32)sizeof(u64))
#define HEADER_WORDS	((u32)(sizeof(struct spek_stamp) / sizeof(u64)))
#define CHECKSUM_WORD	(HEADER_WORDS - 1)
#define TARGET_WORD	(HEADER_WORDS - 2)

static u64 payload_key(u64 seed, u64 id, u64 sector, u32 target, u64 generation)
{
	u64 key = spek_mix64(seed + SPEK_GOLDEN64);

	key = spek_mix64((key ^ id) + SPEK_GOLDEN64);
	key = spek_mix64((key ^ sector) + SPEK_GOLDEN64);
	key = spek_mix64((key ^ target) + SPEK_GOLDEN64);
	return spek_mix64((key ^ generation) + SPEK_GOLDEN64);
}

static inline u64 payload_word(u64 key, u32 index)
{
	return spek_mix64(key + index * SPEK_GOLDEN64);
}

/* Each step is one to one in the sum and in the word, so a change of one word always shows. */
static u64 checksum_of(const u64 *word, u32 words)
{
	u64 sum = SPEK_STAMP_MAGIC;
	u32 i;

	for (i = 0; i < words; i++) {
		u64 value = i == CHECKSUM_WORD ? 0 : word[i];

		sum = spek_rotl64((sum ^ value) * 0xff51afd7ed558ccdull, 31);
	}
	return spek_mix64(sum);
}

/**
 * spek_stamp_write() - stamp a block and fill the remainder
 * @block: @bytes of memory, 8-byte aligned
 * @bytes: size of the block, a multiple of 512
 * @stamp: header; magic and checksum are ignored
 */
void spek_stamp_write(void *block, u32 bytes, const struct spek_stamp *stamp)
{
	struct spek_stamp *header = block;
	u32 words = bytes / WORD_BYTES, i;
	u64 *word = block;
	u64 key = payload_key(stamp->seed, stamp->id, stamp->sector, stamp->target,
			      stamp->generation);

	*header = *stamp;
	header->magic = SPEK_STAMP_MAGIC;
	for (i = HEADER_WORDS; i < words; i++)
		word[i] = payload_word(key, i);
	header->checksum = checksum_of(word, words);
}

static bool is_ours(const struct spek_stamp *found, const struct spek_expect *expect)
{
	return found->magic == SPEK_STAMP_MAGIC && found->seed == expect->seed &&
	       found->id == expect->id;
}

static bool is_here(const struct spek_stamp *found, const struct spek_expect *expect)
{
	return found->sector == expect->sector && found->target == expect->target;
}

static bool is_expected(const u64 *word, u32 words, const struct spek_expect *expect)
{
	const struct spek_stamp *header = (const struct spek_stamp *)word;
	u64 key, differ = 0;
	u32 i;

	if (!is_ours(header, expect) || !is_here(header, expect) ||
	    header->generation != expect->generation)
		return false;
	key = payload_key(expect->seed, expect->id, expect->sector, expect->target,
			  expect->generation);
	for (i = HEADER_WORDS; i < words; i++)
		differ |= word[i] ^ payload_word(key, i);
	return !differ && header->checksum == checksum_of(word, words);
}

static bool is_zero(const u64 *word, u32 words)
{
	u64 any = 0;
	u32 i;

	for (i = 0; i < words; i++)
		any |= word[i];
	return !any;
}

static u32 count_bits(u64 x)
{
	u32 n = 0;

	for (; x; x &= x - 1)
		n++;
	return n;
}

/*
 * struct comparison - a block beside its expected content
 *
 * @bits, @first: see struct spek_finding
 * @differ: number of unexpected words
 * @equal: number of expected words of payload
 * @long_runs, @short_runs: sequences of unexpected words of payload, by SPEK_TORN_WORDS
 */
struct comparison {
	u32 bits;
	u32 first;
	u32 differ;
	u32 equal;
	u32 long_runs;
	u32 short_runs;
};

static const struct spek_stamp target_only = { .target = ~0u };

/* Unexpected bits of word @i; worker, stream and checksum are not known in advance. */
static u64 difference(const u64 *word, u32 i, u64 key, const struct spek_stamp *expected)
{
	const u64 *header = (const u64 *)expected;

	if (i >= HEADER_WORDS)
		return word[i] ^ payload_word(key, i);
	if (i == CHECKSUM_WORD)
		return 0;
	if (i == TARGET_WORD)
		return (word[i] ^ header[i]) & ((const u64 *)&target_only)[i];
	return word[i] ^ header[i];
}

/* The first byte in memory of two words that differ. */
static u32 first_byte(u64 differs)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return __builtin_clzll(differs) / 8;
#else
	return __builtin_ctzll(differs) / 8;
#endif
}

static void end_run(struct comparison *c, u32 *run)
{
	if (*run >= SPEK_TORN_WORDS)
		c->long_runs++;
	else if (*run)
		c->short_runs++;
	*run = 0;
}

static void compare(struct comparison *c, const u64 *word, u32 words,
		    const struct spek_expect *expect)
{
	struct spek_stamp expected;
	u64 key = payload_key(expect->seed, expect->id, expect->sector, expect->target,
			      expect->generation);
	bool zeroes = expect->content == SPEK_CONTENT_ZEROES;
	u32 i, run = 0;

	spek_memset(c, 0, sizeof(*c));
	spek_memset(&expected, 0, sizeof(expected));
	expected.magic = SPEK_STAMP_MAGIC;
	expected.seed = expect->seed;
	expected.id = expect->id;
	expected.generation = expect->generation;
	expected.sector = expect->sector;
	expected.target = expect->target;
	for (i = 0; i < words; i++) {
		u64 differs = zeroes ? word[i] : difference(word, i, key, &expected);

		if (differs && !c->bits)
			c->first = i * WORD_BYTES + first_byte(differs);
		c->bits += count_bits(differs);
		c->differ += !!differs;
		if (i < HEADER_WORDS)
			continue;
		if (differs) {
			run++;
			continue;
		}
		c->equal++;
		end_run(c, &run);
	}
	end_run(c, &run);
	/* Only fields that are not known in advance: the checksum detects it but not where. */
	if (!c->bits)
		c->first = TARGET_WORD * WORD_BYTES;
}

/* Judge by the stamp alone: it is intact, or the block gives no other clue. */
static u32 verdict_of_stamp(const struct spek_stamp *found, const struct spek_expect *expect)
{
	/* Zeroes are newer than the last version. */
	u64 newer = expect->generation + (expect->content == SPEK_CONTENT_ZEROES);

	if (!is_ours(found, expect))
		return SPEK_MISMATCH_FOREIGN;
	if (!is_here(found, expect))
		return SPEK_MISMATCH_MISDIRECTED;
	return found->generation < newer ? SPEK_MISMATCH_STALE : SPEK_MISMATCH_UNWRITTEN;
}

/* Judge a block whose last write, of a stamp or of zeroes, was acknowledged. */
static u32 judge_written(const struct spek_finding *finding, const struct comparison *c,
			 const struct spek_expect *expect)
{
	const struct spek_stamp *found = &finding->found;
	bool claims = expect->content == SPEK_CONTENT_STAMPED && is_ours(found, expect) &&
		      is_here(found, expect) && found->generation == expect->generation;

	if (finding->intact)
		return claims ? SPEK_MISMATCH_CORRUPT : verdict_of_stamp(found, expect);
	if (finding->zeroes)
		return SPEK_MISMATCH_UNSTAMPED;
	/* In words of unrelated data every other bit differs. */
	if (c->bits <= c->differ * (WORD_BYTES * 8 / 4))
		return SPEK_MISMATCH_CORRUPT;
	if (c->equal)
		return c->long_runs && !c->short_runs ? SPEK_MISMATCH_TORN : SPEK_MISMATCH_CORRUPT;
	if (!finding->stamped)
		return SPEK_MISMATCH_UNSTAMPED;
	return claims ? SPEK_MISMATCH_TORN : verdict_of_stamp(found, expect);
}

/* Judge a block with unknown or uncertain content: only stamps of this run tell anything. */
static u32 judge_unknown(const struct spek_finding *finding, const struct spek_expect *expect)
{
	const struct spek_stamp *found = &finding->found;

	if (!is_ours(found, expect))
		return SPEK_MISMATCH_NONE;
	if (expect->content != SPEK_CONTENT_UNCERTAIN)
		return verdict_of_stamp(found, expect);
	/* Parts of an old version and of a failed write are not an error of the device. */
	if (!finding->intact)
		return SPEK_MISMATCH_NONE;
	if (is_here(found, expect) && found->generation <= expect->generation)
		return SPEK_MISMATCH_NONE;
	return verdict_of_stamp(found, expect);
}

static spek_cold spek_noinline u32 judge(const u64 *word, u32 words,
					 const struct spek_expect *expect,
					 struct spek_finding *finding)
{
	struct comparison c;

	spek_memset(finding, 0, sizeof(*finding));
	finding->stamped = word[0] == SPEK_STAMP_MAGIC;
	if (finding->stamped) {
		finding->found = *(const struct spek_stamp *)word;
		finding->intact = finding->found.checksum == checksum_of(word, words);
	}
	if (expect->content == SPEK_CONTENT_UNCERTAIN ||
	    (expect->content == SPEK_CONTENT_STAMPED && !expect->generation)) {
		finding->verdict = judge_unknown(finding, expect);
		return finding->verdict;
	}
	finding->zeroes = is_zero(word, words);
	compare(&c, word, words, expect);
	finding->first = c.first;
	finding->bits = c.bits;
	finding->verdict = judge_written(finding, &c, expect);
	return finding->verdict;
}

/* A block stamped as a later version has to be that version as a whole: a mixture is torn. */
static void expect_newer(struct spek_expect *expect, const u64 *word)
{
	const struct spek_stamp *stamp = (const struct spek_stamp *)word;

	if (!is_ours(stamp, expect) || !is_here(stamp, expect) ||
	    stamp->generation <= expect->generation)
		return;
	expect->generation = stamp->generation;
	if (expect->content == SPEK_CONTENT_ZEROES)
		expect->content = SPEK_CONTENT_STAMPED;
}

static u32 check_block(const u64 *word, u32 words, const struct spek_expect *expect,
		       struct spek_finding *finding)
{
	bool right;

	switch (expect->content) {
	case SPEK_CONTENT_DISCARDED:
		return SPEK_MISMATCH_NONE;
	case SPEK_CONTENT_ZEROES:
		right = is_zero(word, words);
		break;
	default:
		right = expect->generation && is_expected(word, words, expect);
	}
	if (spek_likely(right))
		return SPEK_MISMATCH_NONE;
	return judge(word, words, expect, finding);
}

/**
 * spek_stamp_version() - find which write to its place a block holds
 * @block: @bytes of memory, 8-byte aligned
 * @bytes: size of the block, a multiple of 512
 * @expect: seed, id, target and sector
 *
 * Return: generation; 0 if it was not stamped for this place; SPEK_STAMP_DAMAGED if it was, but is
 * not complete.
 */
u64 spek_stamp_version(const void *block, u32 bytes, const struct spek_expect *expect)
{
	const struct spek_stamp *stamp = block;

	if (!is_ours(stamp, expect) || !is_here(stamp, expect))
		return 0;
	return stamp->checksum == checksum_of(block, bytes / WORD_BYTES) ? stamp->generation :
									   SPEK_STAMP_DAMAGED;
}

/**
 * spek_stamp_check() - compare a block with its expected content
 * @block: @bytes of memory, 8-byte aligned
 * @bytes: size of the block, a multiple of 512
 * @expect: expected content
 * @finding: filled in unless the block is correct
 *
 * Return: SPEK_MISMATCH_NONE or another enum spek_mismatch.
 */
u32 spek_stamp_check(const void *block, u32 bytes, const struct spek_expect *expect,
		     struct spek_finding *finding)
{
	struct spek_expect later;

	if (expect->newer) {
		later = *expect;
		expect_newer(&later, block);
		expect = &later;
	}
	return check_block(block, bytes / WORD_BYTES, expect, finding);
}
