// SPDX-License-Identifier: GPL-2.0
/* The cumulative rate of a curve, and its inverse. */
#include "../../core/muldiv.h"
#include "curve.h"
#include "gen.h"

#define MIN_REPEAT_NS	1000000		/* the number of a pass has 32 bits */
#define NEWTON_STEPS	16

static struct spek_area product(u64 a, u64 b)
{
	struct spek_area area;

	area.high = spek_mul128(a, b, &area.low);
	return area;
}

static struct spek_area sum(struct spek_area a, struct spek_area b)
{
	struct spek_area area = { .low = a.low + b.low };

	area.high = a.high + b.high + (area.low < a.low);
	return area;
}

static struct spek_area difference(struct spek_area a, struct spek_area b)
{
	struct spek_area area = { .high = a.high - b.high - (a.low < b.low), .low = a.low - b.low };

	return area;
}

static bool is_less(struct spek_area a, struct spek_area b)
{
	return a.high < b.high || (a.high == b.high && a.low < b.low);
}

static struct spek_area number(u64 n)
{
	struct spek_area area = { .low = n };

	return area;
}

/**
 * spek_area_quotient() - divide an area
 * @area: dividend
 * @divisor: not 0
 *
 * Return: quotient, rounded down; at most 2^64 - 1.
 */
u64 spek_area_quotient(struct spek_area area, u64 divisor)
{
	if (area.high >= divisor)
		return ~(u64)0;
	return spek_div128(area.high, area.low, divisor, NULL);
}

/* How often @divisor, not 0, is in @area, which becomes the remainder; at most 2^64 - 1. */
static u64 quotient_by_area(struct spek_area *area, struct spek_area divisor)
{
	u64 found = 0;
	int bit;

	for (bit = 63; bit >= 0; bit--) {
		struct spek_area much = divisor;

		if (bit) {
			/* What is shifted out is more than any area. */
			if (much.high >> (64 - bit))
				continue;
			much.high = much.high << bit | much.low >> (64 - bit);
			much.low <<= bit;
		}
		if (is_less(*area, much))
			continue;
		*area = difference(*area, much);
		found |= 1ull << bit;
	}
	return found;
}

/*
 * struct segment - a segment of a curve
 *
 * @start_milli: rate at its start
 * @change_milli: how much the rate changes
 * @rises: it rises, or stays
 * @length_ns: its length
 */
struct segment {
	u64 start_milli;
	u64 change_milli;
	bool rises;
	u64 length_ns;
};

static struct segment segment_at(const struct spek_point *point)
{
	bool rises = point[1].rate_milli >= point[0].rate_milli;
	struct segment segment = {
		.start_milli = point[0].rate_milli,
		.change_milli = rises ? point[1].rate_milli - point[0].rate_milli :
					point[0].rate_milli - point[1].rate_milli,
		.rises = rises,
		.length_ns = point[1].at_ns - point[0].at_ns,
	};

	return segment;
}

static struct spek_area whole(const struct segment *segment)
{
	u64 end = segment->rises ? segment->start_milli + segment->change_milli :
				   segment->start_milli - segment->change_milli;

	return product(segment->start_milli + end, segment->length_ns);
}

/*
 * Area from the start of a segment to @x ns after it, rounded down: with the start rate a, the
 * change c and the length n it is 2 a x +- c x^2 / n, as an I/O has the area of two.
 * @rate: set to the rate there, rounded down
 */
static struct spek_area area_at(const struct segment *segment, u64 x, u64 *rate)
{
	struct spek_area area = product(2 * segment->start_milli, x), bend;
	u64 changed, rest, part;

	*rate = segment->start_milli;
	/* A jump has no length. */
	if (!segment->change_milli || !x)
		return area;
	changed = spek_muldiv64(segment->change_milli, x, segment->length_ns, &rest);
	/* c x^2 / n = x (changed + rest / n) */
	part = spek_muldiv64(x, rest, segment->length_ns, &rest);
	bend = sum(product(x, changed), number(part));
	if (segment->rises) {
		*rate += changed;
		return sum(area, bend);
	}
	*rate -= changed + (rest || part);
	return difference(area, sum(bend, number(!!rest)));
}

/* Sure to be no more than twice the rate within the last ns before @x. */
static u64 least_of_last_ns(const struct segment *segment, u64 rate)
{
	u64 steep = segment->rises && segment->change_milli ?
			spek_div64(segment->change_milli, segment->length_ns) + 1 : 0;

	return rate > steep ? 2 * (rate - steep) : 0;
}

/*
 * First ns of a segment at which its area reaches @target, which lies after @low ns and is not
 * beyond its end. Newton's steps, within what is known to be too little and enough.
 * @area: area at @low
 * @rate: rate at @low
 * @beyond: set to the area beyond @target there
 */
static u64 reach(const struct segment *segment, u64 low, struct spek_area area, u64 rate,
		 struct spek_area target, u64 *beyond)
{
	u64 high = segment->length_ns, x = low, steps;
	struct spek_area enough = whole(segment);

	for (steps = 0; high - low > 1; steps++) {
		u64 room = high - low, move;

		if (steps >= NEWTON_STEPS || !rate) {
			x = low + room / 2;
		} else if (is_less(area, target)) {
			move = spek_area_quotient(difference(target, area), 2 * rate);
			/* Rounded up. */
			x = move >= high - x - 1 ? high - 1 : x + move + 1;
		} else {
			move = spek_area_quotient(difference(area, target), 2 * rate);
			x = move >= x - low - 1 ? low + 1 : x - move - !move;
		}
		area = area_at(segment, x, &rate);
		if (is_less(area, target)) {
			low = x;
			continue;
		}
		high = x;
		enough = area;
		if (is_less(sum(difference(area, target), number(1)),
			    number(least_of_last_ns(segment, rate))))
			break;
	}
	*beyond = difference(enough, target).low;
	return high;
}

/* Area of a pass. */
static struct spek_area pass_area(const struct spek_point *point, u32 nr)
{
	struct spek_area area = {};
	u32 i;

	for (i = 0; i + 1 < nr; i++) {
		struct segment segment = segment_at(&point[i]);

		area = sum(area, whole(&segment));
	}
	return area;
}

static u64 period_ns(const struct spek_curve *curve)
{
	return curve->point[curve->nr - 1].at_ns;
}

static u64 segment_start_ns(const struct spek_curve *curve, const struct spek_curve_place *place)
{
	return curve->start_ns + place->pass * period_ns(curve) +
	       curve->point[place->segment].at_ns;
}

/* The last rate, for ever. */
static void advance_at_the_end(const struct spek_curve *curve, struct spek_curve_place *place,
			       u64 from_ns, struct spek_area target)
{
	u64 rate = 2 * curve->point[curve->nr - 1].rate_milli;
	u64 wait = rate ? spek_area_quotient(sum(target, number(rate - 1)), rate) : ~(u64)0;

	if (wait >= SPEK_NEVER - from_ns) {
		place->at_ns = SPEK_NEVER;
		return;
	}
	place->at_ns = from_ns + wait;
	place->beyond = difference(product(rate, wait), target).low;
}

/**
 * spek_curve_advance() - go to the next arrival
 * @curve: a checked curve
 * @place: an arrival, or the start of the curve; moved
 * @gap: area from its exact time to that of the next arrival
 */
void spek_curve_advance(const struct spek_curve *curve, struct spek_curve_place *place,
			struct spek_area gap)
{
	struct spek_area target, area;
	u64 into, rate, passes;
	struct segment segment;

	if (!is_less(number(place->beyond), gap)) {
		place->beyond -= gap.low;
		return;
	}
	gap = difference(gap, number(place->beyond));
	into = place->at_ns - segment_start_ns(curve, place);
	if (place->segment == curve->nr - 1) {
		advance_at_the_end(curve, place, place->at_ns, gap);
		return;
	}
	segment = segment_at(&curve->point[place->segment]);
	area = area_at(&segment, into, &rate);
	target = sum(area, gap);
	while (is_less(whole(&segment), target)) {
		target = difference(target, whole(&segment));
		into = 0;
		area = number(0);
		if (++place->segment < curve->nr - 1) {
			segment = segment_at(&curve->point[place->segment]);
			rate = segment.start_milli;
			continue;
		}
		if (!curve->repeats) {
			advance_at_the_end(curve, place, segment_start_ns(curve, place), target);
			return;
		}
		/* An arrival at the very end of a pass is of that pass. */
		target = difference(target, number(1));
		passes = 1 + quotient_by_area(&target, pass_area(curve->point, curve->nr));
		target = sum(target, number(1));
		place->segment = 0;
		if (passes > (u32)~place->pass) {
			place->at_ns = SPEK_NEVER;
			return;
		}
		place->pass += passes;
		segment = segment_at(curve->point);
		rate = segment.start_milli;
	}
	place->at_ns = segment_start_ns(curve, place) +
		       reach(&segment, into, area, rate, target, &place->beyond);
}

/* Area from the start of the curve to @ns after it. */
static struct spek_area area_until(const struct spek_curve *curve, u64 ns)
{
	const struct spek_point *last = &curve->point[curve->nr - 1];
	struct spek_area area = {};
	u64 rate;
	u32 i;

	if (curve->repeats) {
		struct spek_area each = pass_area(curve->point, curve->nr);
		u64 passes = spek_div64(ns, last->at_ns);

		ns -= passes * last->at_ns;
		area = product(each.low, passes);
		area.high += each.high * passes;
	}
	for (i = 0; i + 1 < curve->nr; i++) {
		struct segment segment = segment_at(&curve->point[i]);

		if (ns <= curve->point[i + 1].at_ns)
			return sum(area, area_at(&segment, ns - curve->point[i].at_ns, &rate));
		area = sum(area, whole(&segment));
	}
	return sum(area, product(2 * last->rate_milli, ns - last->at_ns));
}

/**
 * spek_curve_between() - area under a curve after an arrival
 * @curve: a checked curve
 * @place: the arrival
 * @until_ns: not before it
 *
 * Return: area from the exact time of the arrival to @until_ns.
 */
struct spek_area spek_curve_between(const struct spek_curve *curve,
				    const struct spek_curve_place *place, u64 until_ns)
{
	struct spek_area area = area_until(curve, until_ns - curve->start_ns);

	area = difference(area, area_until(curve, place->at_ns - curve->start_ns));
	return sum(area, number(place->beyond));
}

/**
 * spek_curve_check() - check the points of a curve
 * @point: points
 * @nr: number of points
 * @repeats: it repeats after the last point
 * @refusal: filled in on failure
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int spek_curve_check(const struct spek_point *point, u32 nr, bool repeats,
		     struct spek_refusal *refusal)
{
	u64 most = 0;
	u32 i;

	if (nr < 2 || nr > SPEK_MAX_POINTS)
		return spek_refuse_part(refusal, -ERANGE, "A rate curve needs 2 to 256 points.");
	if (point->at_ns)
		return spek_refuse_part(refusal, -EINVAL, "The first point of a rate curve must be at time 0.");
	for (i = 0; i < nr; i++) {
		if (i && point[i].at_ns < point[i - 1].at_ns)
			return spek_refuse_part(refusal, -EINVAL,
						"The points of a rate curve must be in the order of their times.");
		if (point[i].at_ns > SPEK_MAX_WAIT_NS)
			return spek_refuse_part(refusal, -ERANGE,
						"A rate curve is longer than 10^15 ns (11 days).");
		if (point[i].rate_milli > SPEK_MAX_RATE_MILLI)
			return spek_refuse_part(refusal, -ERANGE,
						"A rate curve has a rate above 10^9 I/Os per second.");
		if (point[i].rate_milli > most)
			most = point[i].rate_milli;
	}
	if (!most)
		return spek_refuse_part(refusal, -EINVAL,
					"All rates of a rate curve are 0: one must be above 0.");
	if (repeats && point[nr - 1].at_ns < MIN_REPEAT_NS)
		return spek_refuse_part(refusal, -ERANGE,
					"A rate curve that repeats must be 1 ms long or longer.");
	if (repeats && is_less(pass_area(point, nr), number(SPEK_CURVE_IO)))
		return spek_refuse_part(refusal, -ERANGE,
					"A rate curve that repeats must have at least one I/O per pass.");
	return 0;
}
