// SPDX-License-Identifier: GPL-2.0
/* Set-up of tables; see table.h. */
#include "../../core/muldiv.h"
#include "alias.h"
#include "pattern.h"
#include "table.h"

static int check(const struct spek_stream *stream, u64 parts, struct spek_refusal *refusal)
{
	if (spek_stream_slots(stream) > SPEK_TABLE_MAX_SLOTS)
		return spek_refuse_part(refusal, -ERANGE,
					"The range of a stream with a table is too large: it has more than 2^40 addresses.");
	if (stream->spread && spek_stream_slots(stream) > SPEK_SPREAD_MAX_SLOTS)
		return spek_refuse_part(refusal, -ERANGE,
					"The range of a table that is spread is too large: it has more than 2^32 addresses.");
	return 0;
}

/* Columns, and for the set-up the start and the alias of each. */
static void memory(struct spek_source_memory *memory, const struct spek_stream *stream)
{
	memory->shared_bytes = stream->nr_parts * (sizeof(struct spek_column) + sizeof(u64) +
						   sizeof(struct spek_alias));
}

/* Return: 2^64 * @a / @b, rounded down; the largest number if that is too large. */
static u64 fraction_of(u64 a, u64 b)
{
	u64 half, rest;

	if (a >= b)
		return ~0ull;
	half = spek_muldiv64(a, 1ull << 63, b, &rest);
	return 2 * half + (rest >= b - rest);
}

/* The addresses of a part, over the share @width / 2^64 of a column; 0: all of it. */
static u64 scale_of(u64 slots, u64 width)
{
	return width ? fraction_of(slots, width) : slots;
}

static void fill_columns(struct spek_column *column, const struct spek_section *part, u32 nr)
{
	u64 *start = (u64 *)(column + nr);
	struct spek_alias *alias = (struct spek_alias *)(start + nr);
	u64 slots = 0;
	u32 i;

	for (i = 0; i < nr; i++)
		start[i] = part[i].weight;
	spek_alias_init(alias, start, nr);
	for (i = 0; i < nr; i++) {
		start[i] = slots;
		slots += part[i].slots;
	}
	for (i = 0; i < nr; i++) {
		u64 threshold = (u64)alias[i].threshold << 32;
		u32 other = alias[i].other;

		column[i].threshold = threshold;
		column[i].piece[0].first = start[i];
		/* Without a share of the column it is never used. */
		column[i].piece[0].scale = threshold ? scale_of(part[i].slots, threshold) : 0;
		column[i].piece[1].first = start[other];
		column[i].piece[1].scale = scale_of(part[other].slots, -threshold);
	}
}

static bool is_coprime(u64 a, u64 b)
{
	while (b) {
		u64 rest = a - spek_div64(a, b) * b;

		a = b;
		b = rest;
	}
	return a == 1;
}

/* About 0.618 of @slots, the golden section. */
static u64 choose_factor(u64 slots)
{
	u64 factor = spek_muldiv64(slots, 618033989, 1000000000, NULL);

	/* 1 is coprime to all numbers. */
	while (factor > 1 && !is_coprime(slots, factor))
		factor--;
	return slots > 1 ? (factor ? factor : 1) : 0;
}

static void init(struct spek_source *source, const struct spek_stream *stream,
		 const struct spek_share *share, struct spek_rng *rng, void *states, void *shared)
{
	struct spek_table *table = &source->table;

	fill_columns(shared, share->part, stream->nr_parts);
	table->column = shared;
	table->nr = stream->nr_parts;
	table->slots = spek_stream_slots(stream);
	/* One more than rounded down: with @slots = 1 no multiple of 0 can be too large. */
	table->factor = fraction_of(choose_factor(table->slots), table->slots) + 1;
	/* Of a power of two it is exact. 2^32 such errors and another one would be too much. */
	table->offset = fraction_of(spek_mulhi64(share->key, table->slots), table->slots) +
			!spek_is_power_of_two(table->slots);
}

static enum spek_kind kind(const struct spek_stream *stream, bool write)
{
	return stream->spread ? SPEK_KIND_SPREAD : SPEK_KIND_TABLE;
}

const struct spek_pattern_ops spek_pattern_table = {
	.check = check,
	.memory = memory,
	.init = init,
	.kind = kind,
};
