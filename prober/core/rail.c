// SPDX-License-Identifier: GPL-2.0
/* One measured power line: samples in, energy out; see rail.h. */
#include "../../kmod/core/muldiv.h"
#include "rail.h"

/* ---- arithmetic ---- */

static u64 magnitude(s64 value)
{
	return value < 0 ? -(u64)value : (u64)value;
}

/* Add @a * @b halves of a femtojoule, or take them away. */
static void add_product(struct spek_energy *energy, bool negative, u64 a, u64 b)
{
	u64 remainder, uj = spek_muldiv64(a, b, SPEK_ENERGY_UNIT, &remainder);

	if (negative) {
		energy->uj -= (s64)uj;
		if (remainder > energy->remainder) {
			energy->uj--;
			energy->remainder += SPEK_ENERGY_UNIT;
		}
		energy->remainder -= (u32)remainder;
	} else {
		energy->uj += (s64)uj;
		/* Both are below the unit, their sum is below 2^32. */
		energy->remainder += (u32)remainder;
		if (energy->remainder >= SPEK_ENERGY_UNIT) {
			energy->uj++;
			energy->remainder -= SPEK_ENERGY_UNIT;
		}
	}
}

static struct spek_energy difference(struct spek_energy to, struct spek_energy from)
{
	bool borrow = to.remainder < from.remainder;

	return (struct spek_energy){
		.uj = to.uj - from.uj - borrow,
		.remainder = to.remainder + (borrow ? SPEK_ENERGY_UNIT : 0) - from.remainder,
	};
}

static struct spek_energy energy_at(const struct spek_rail_sample *sample)
{
	return (struct spek_energy){
		.uj = sample->energy_uj,
		.remainder = sample->energy_remainder,
	};
}

/* Add the energy from @a to @at_ns, which lies between @a and @b. */
static void add_part(struct spek_energy *energy, const struct spek_rail_sample *a,
		     const struct spek_rail_sample *b, u64 at_ns)
{
	s64 change = b->power_uw - a->power_uw;
	u64 x = at_ns - a->at_ns, span = b->at_ns - a->at_ns;
	u64 slope, left;

	add_product(energy, a->power_uw < 0, 2 * magnitude(a->power_uw), x);
	/* change * x^2 / span; the first quotient and its remainder are exact. */
	slope = spek_muldiv64(magnitude(change), x, span, &left);
	add_product(energy, change < 0, slope, x);
	add_product(energy, change < 0, spek_muldiv64(left, x, span, NULL), 1);
}

static s64 power_at(const struct spek_rail_sample *a, const struct spek_rail_sample *b, u64 at_ns)
{
	s64 change = b->power_uw - a->power_uw;
	s64 part = (s64)spek_muldiv64(magnitude(change), at_ns - a->at_ns, b->at_ns - a->at_ns,
				      NULL);

	return a->power_uw + (change < 0 ? -part : part);
}

/* ---- samples ---- */

/**
 * spek_rail_init() - make a rail without samples
 * @rail: filled in
 * @samples: array of @capacity samples; must outlive @rail, like @extremes
 * @extremes: array of @capacity / SPEK_RAIL_BLOCK extremes
 * @capacity: number of samples to keep, a multiple of SPEK_RAIL_BLOCK, not 0
 * @max_step_ns: longest segment that is not a gap, at most SPEK_RAIL_MAX_STEP_NS
 */
void spek_rail_init(struct spek_rail *rail, struct spek_rail_sample *samples,
		    struct spek_rail_extremes *extremes, u32 capacity, u64 max_step_ns)
{
	*rail = (struct spek_rail){
		.samples = samples,
		.extremes = extremes,
		.capacity = capacity,
		.max_step_ns = max_step_ns,
	};
}

/**
 * spek_rail_overwritten() - count the samples that are no longer kept
 * @rail: rail
 *
 * Return: the count.
 */
u64 spek_rail_overwritten(const struct spek_rail *rail)
{
	return rail->stored > rail->capacity ? rail->stored - rail->capacity : 0;
}

static u32 nr_kept(const struct spek_rail *rail)
{
	return (u32)(rail->stored - spek_rail_overwritten(rail));
}

/* The slot of the sample with @index, counted from the oldest that is kept. */
static u32 slot_of(const struct spek_rail *rail, u32 index)
{
	u32 first = rail->stored > rail->capacity ? rail->slot : 0;
	u32 before_wrap = rail->capacity - first;

	return index < before_wrap ? first + index : index - before_wrap;
}

static const struct spek_rail_sample *sample_at(const struct spek_rail *rail, u32 index)
{
	return &rail->samples[slot_of(rail, index)];
}

/**
 * spek_rail_last() - get the last sample
 * @rail: rail
 *
 * Return: the sample, or NULL before there is one.
 */
const struct spek_rail_sample *spek_rail_last(const struct spek_rail *rail)
{
	return rail->stored ? sample_at(rail, nr_kept(rail) - 1) : NULL;
}

/**
 * spek_rail_oldest() - get the oldest sample that is kept
 * @rail: rail
 *
 * Return: the sample, or NULL before there is one.
 */
const struct spek_rail_sample *spek_rail_oldest(const struct spek_rail *rail)
{
	return rail->stored ? sample_at(rail, 0) : NULL;
}

static void note_extremes(struct spek_rail *rail, s64 power_uw)
{
	struct spek_rail_extremes *extremes = &rail->extremes[rail->slot / SPEK_RAIL_BLOCK];

	if (rail->slot % SPEK_RAIL_BLOCK == 0) {
		extremes->min_uw = power_uw;
		extremes->max_uw = power_uw;
		return;
	}
	if (power_uw < extremes->min_uw)
		extremes->min_uw = power_uw;
	if (power_uw > extremes->max_uw)
		extremes->max_uw = power_uw;
}

static void extend(struct spek_rail *rail, const struct spek_rail_sample *last,
		   struct spek_rail_sample *sample, bool gap)
{
	struct spek_energy energy = energy_at(last);
	u64 span_ns = sample->at_ns - last->at_ns;
	s64 sum_uw = last->power_uw + sample->power_uw;

	/* A mark lies between the two, or they are too far apart. */
	gap |= rail->horizon_ns > last->at_ns || span_ns > rail->max_step_ns;
	/* A segment without length is never a gap. */
	gap &= span_ns > 0;

	sample->is_gap = gap;
	sample->gap_ns = last->gap_ns + (gap ? span_ns : 0);
	rail->gaps += gap;
	if (!gap)
		add_product(&energy, sum_uw < 0, magnitude(sum_uw), span_ns);
	sample->energy_uj = energy.uj;
	sample->energy_remainder = energy.remainder;
}

/**
 * spek_rail_push() - store a sample
 * @rail: rail
 * @at_ns: CLOCK_MONOTONIC of the sample; may be that of the last sample, for a step
 * @power_uw: power, -SPEK_RAIL_MAX_UW to SPEK_RAIL_MAX_UW
 * @gap: the power between the last sample and this one is unknown
 *
 * Return: false if the sample came too late: it is counted but not stored.
 */
bool spek_rail_push(struct spek_rail *rail, u64 at_ns, s64 power_uw, bool gap)
{
	const struct spek_rail_sample *last = spek_rail_last(rail);
	struct spek_rail_sample sample = { .at_ns = at_ns, .power_uw = power_uw };

	if (at_ns < rail->horizon_ns) {
		rail->late++;
		return false;
	}
	if (last)
		extend(rail, last, &sample, gap);
	else
		rail->first_ns = at_ns;

	rail->samples[rail->slot] = sample;
	note_extremes(rail, power_uw);
	rail->slot = rail->slot + 1 == rail->capacity ? 0 : rail->slot + 1;
	rail->stored++;
	rail->horizon_ns = at_ns;
	return true;
}

/**
 * spek_rail_mark() - record that no sample will come before a time
 * @rail: rail
 * @until_ns: that time; ignored if it lies before the last sample
 */
void spek_rail_mark(struct spek_rail *rail, u64 until_ns)
{
	if (until_ns > rail->horizon_ns)
		rail->horizon_ns = until_ns;
}

/* ---- queries ---- */

/**
 * spek_rail_outlasts() - check whether the next sample leaves the total up to a time
 * @rail: rail
 * @at_ns: that time
 *
 * Return: false if it is overwritten by the next sample, or was before.
 */
bool spek_rail_outlasts(const struct spek_rail *rail, u64 at_ns)
{
	return rail->stored < rail->capacity || at_ns >= sample_at(rail, 1)->at_ns ||
	       at_ns < rail->first_ns;
}

/* Count the kept samples before @at_ns, with @or_at also those at @at_ns. */
static u32 count_before(const struct spek_rail *rail, u64 at_ns, bool or_at)
{
	u32 low = 0, high = nr_kept(rail);

	while (low < high) {
		u32 middle = low + (high - low) / 2;
		u64 middle_ns = sample_at(rail, middle)->at_ns;

		if (middle_ns < at_ns || (or_at && middle_ns == at_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* @at_ns is neither before the oldest kept sample nor after the last one. */
static struct spek_rail_total total_within(const struct spek_rail *rail, u64 at_ns)
{
	u32 index = count_before(rail, at_ns, true) - 1;
	const struct spek_rail_sample *a = sample_at(rail, index), *b;
	struct spek_rail_total total = { .energy = energy_at(a), .gap_ns = a->gap_ns };

	if (a->at_ns < at_ns) {
		b = sample_at(rail, index + 1);
		if (b->is_gap)
			total.gap_ns += at_ns - a->at_ns;
		else
			add_part(&total.energy, a, b, at_ns);
	}
	total.known_ns = at_ns - rail->first_ns - total.gap_ns;
	return total;
}

/**
 * spek_rail_total() - integrate from the first sample up to a time
 * @rail: rail
 * @at_ns: end of the integral
 * @ended: no more samples will come
 * @total: filled in
 *
 * Return: 0, -EAGAIN if samples may still come for that time, -ESTALE if they were
 *	overwritten, -ENOENT if it is before the first sample.
 */
int spek_rail_total(const struct spek_rail *rail, u64 at_ns, bool ended,
		    struct spek_rail_total *total)
{
	const struct spek_rail_sample *last = spek_rail_last(rail);

	if (!last)
		return ended || at_ns < rail->horizon_ns ? -ENOENT : -EAGAIN;
	if (at_ns < rail->first_ns)
		return -ENOENT;
	if (at_ns < spek_rail_oldest(rail)->at_ns)
		return -ESTALE;
	if (!ended && at_ns > rail->horizon_ns)
		return -EAGAIN;

	*total = total_within(rail, at_ns < last->at_ns ? at_ns : last->at_ns);
	if (at_ns > last->at_ns)
		total->gap_ns += at_ns - last->at_ns;
	return 0;
}

static void note_power(struct spek_rail_use *use, bool *found, s64 min_uw, s64 max_uw)
{
	if (!*found || min_uw < use->min_uw)
		use->min_uw = min_uw;
	if (!*found || max_uw > use->max_uw)
		use->max_uw = max_uw;
	*found = true;
}

/* Extremes of the kept samples from index @first up to @end, exclusive. */
static void note_samples(const struct spek_rail *rail, struct spek_rail_use *use, bool *found,
			 u32 first, u32 end)
{
	while (first < end) {
		u32 slot = slot_of(rail, first);
		const struct spek_rail_extremes *block = &rail->extremes[slot / SPEK_RAIL_BLOCK];
		s64 power_uw = rail->samples[slot].power_uw;

		if (slot % SPEK_RAIL_BLOCK == 0 && end - first >= SPEK_RAIL_BLOCK) {
			note_power(use, found, block->min_uw, block->max_uw);
			first += SPEK_RAIL_BLOCK;
		} else {
			note_power(use, found, power_uw, power_uw);
			first++;
		}
	}
}

/* @from_ns is before @to_ns, and both lie within the kept samples. */
static void find_extremes(const struct spek_rail *rail, struct spek_rail_use *use, u64 from_ns,
			  u64 to_ns)
{
	u32 before = count_before(rail, from_ns, true) - 1;
	u32 after = count_before(rail, to_ns, false);
	bool found = false;
	s64 power_uw;

	if (!sample_at(rail, before + 1)->is_gap) {
		power_uw = power_at(sample_at(rail, before), sample_at(rail, before + 1), from_ns);
		note_power(use, &found, power_uw, power_uw);
	}
	note_samples(rail, use, &found, before + 1, after);
	if (!sample_at(rail, after)->is_gap) {
		power_uw = power_at(sample_at(rail, after - 1), sample_at(rail, after), to_ns);
		note_power(use, &found, power_uw, power_uw);
	}
}

/* Length of the part of @from_ns..@to_ns that lies between @low_ns and @high_ns. */
static u64 overlap(u64 from_ns, u64 to_ns, u64 low_ns, u64 high_ns)
{
	u64 low = from_ns > low_ns ? from_ns : low_ns;
	u64 high = to_ns < high_ns ? to_ns : high_ns;

	return high > low ? high - low : 0;
}

static void use_samples(const struct spek_rail *rail, struct spek_rail_use *use, u64 from_ns,
			u64 to_ns)
{
	struct spek_rail_total from = total_within(rail, from_ns);
	struct spek_rail_total to = total_within(rail, to_ns);

	use->energy = difference(to.energy, from.energy);
	use->known_ns = to.known_ns - from.known_ns;
	use->gap_ns += to.gap_ns - from.gap_ns;
	if (use->known_ns)
		find_extremes(rail, use, from_ns, to_ns);
}

/**
 * spek_rail_use() - integrate over an interval
 * @rail: rail
 * @from_ns: start of the interval
 * @to_ns: end of the interval, after @from_ns
 * @ended: no more samples will come
 * @use: filled in
 */
void spek_rail_use(const struct spek_rail *rail, u64 from_ns, u64 to_ns, bool ended,
		   struct spek_rail_use *use)
{
	const struct spek_rail_sample *last = spek_rail_last(rail);
	u64 first_ns = last ? rail->first_ns : rail->horizon_ns;
	u64 oldest_ns = last ? spek_rail_oldest(rail)->at_ns : first_ns;
	u64 last_ns = last ? last->at_ns : first_ns;
	u64 after_ns = overlap(from_ns, to_ns, rail->horizon_ns, to_ns);
	u64 low = from_ns > oldest_ns ? from_ns : oldest_ns;
	u64 high = to_ns < last_ns ? to_ns : last_ns;

	*use = (struct spek_rail_use){
		.gap_ns = overlap(from_ns, to_ns, 0, first_ns) +
			  overlap(from_ns, to_ns, last_ns, rail->horizon_ns),
		.lost_ns = overlap(from_ns, to_ns, first_ns, oldest_ns),
		.samples = count_before(rail, to_ns, false) - count_before(rail, from_ns, false),
	};
	if (ended)
		use->gap_ns += after_ns;
	else
		use->pending_ns = after_ns;
	if (last && low < high)
		use_samples(rail, use, low, high);
}
