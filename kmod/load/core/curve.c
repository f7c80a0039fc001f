// SPDX-License-Identifier: GPL-2.0
/* The cumulative rate of a curve, and its inverse. */
#include "../../core/muldiv.h"
#include "curve.h"
#include "gen.h"

#define MIN_REPEAT_NS	1000000		/* the number of a pass has 32 bits */
#define NEWTON_STEPS	16
#define SERIES_PAUSE	16		/* arrivals without a series after one that was too short */
#define MIN_SERIES_SLOPE	(1ull << 14)	/* area per ns; an area of 1 is 2^-14 ns then */

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
	struct spek_area area = number(0);
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

/* Passes that end before the end of time. */
static u64 passes_of_time(const struct spek_curve *curve)
{
	return spek_div64(SPEK_NEVER - curve->start_ns, period_ns(curve));
}

/*
 * Go to the next arrival.
 * @place: an arrival, or the start of the curve; moved
 * @gap: area from its exact time to that of the next arrival
 */
static void step_exactly(const struct spek_curve *curve, struct spek_curve_place *place,
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
		if (passes > (u32)~place->pass || place->pass + passes >= passes_of_time(curve)) {
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

/* mantissa * 2^exponent; the mantissa has its top bit set. */
struct real {
	u64 mantissa;
	s32 exponent;
};

static struct real normal(u64 mantissa, s32 exponent)
{
	s32 up = __builtin_clzll(mantissa);
	struct real real = { .mantissa = mantissa << up, .exponent = exponent - up };

	return real;
}

static struct real real_product(struct real a, struct real b)
{
	return normal(spek_mulhi64(a.mantissa, b.mantissa), a.exponent + b.exponent + 64);
}

static struct real real_quotient(struct real a, struct real divisor)
{
	return normal(spek_div128(a.mantissa >> 1, 0, divisor.mantissa, NULL),
		      a.exponent - divisor.exponent - 63);
}

/* The last point begins a segment that has no end, of which only the rate matters. */
static struct segment segment_of(const struct spek_curve *curve, u32 number)
{
	struct segment last = {
		.start_milli = curve->point[curve->nr - 1].rate_milli,
		.rises = true,
	};

	return number == curve->nr - 1 ? last : segment_at(&curve->point[number]);
}

/* Area per ns, which is twice the rate, @x ns after the start of a segment; not 0. */
static struct real slope_at(const struct segment *segment, u64 x)
{
	u64 rest, changed = spek_muldiv64(segment->change_milli, x, segment->length_ns, &rest);
	u64 slope = 2 * (segment->rises ? segment->start_milli + changed :
					  segment->start_milli - changed);
	u32 up = (u32)__builtin_clzll(slope) - 1;
	u64 part = spek_muldiv64(rest, 2ull << up, segment->length_ns, NULL);

	slope <<= up;
	return normal(segment->rises ? slope + part : slope - part, -(s32)up);
}

/*
 * Terms of the time to an area after @x ns of a segment. With v area per ns there, h = area / v and
 * q = h v' / 2v, the time is h (1 - q + 2 q^2 - 5 q^3 + 14 q^4 ...), numbers of Catalan.
 * @term: set to the absolute values of the terms of area 1
 *
 * Return: q of area 1.
 */
static struct real expand(const struct segment *segment, u64 x, struct real *term)
{
	/* From term to term: 1, 2, 5 / 2 and 14 / 5. */
	static const struct real factor[SPEK_SERIES_TERMS] = {
		{ 1ull << 63, -63 }, { 1ull << 63, -62 },
		{ 0xa000000000000000ull, -62 }, { 0xb333333333333334ull, -62 },
	};
	struct real slope = slope_at(segment, x), bend;
	u32 i;

	bend = real_quotient(normal(segment->change_milli, 0), normal(segment->length_ns, 0));
	bend = real_quotient(real_quotient(bend, slope), slope);
	term[0] = real_quotient(normal(1, 0), slope);
	for (i = 0; i < SPEK_SERIES_TERMS; i++)
		term[i + 1] = real_product(real_product(term[i], bend), factor[i]);
	return bend;
}

/* Largest n at which @real * 2^(n * power), which is not 0, is below 2^@limit. */
static s32 bits_below(struct real real, s32 power, s32 limit)
{
	return (limit - 64 - real.exponent) / power;
}

static s32 smaller(s32 a, s32 b)
{
	return a < b ? a : b;
}

/*
 * Set the terms of the arrivals after @into ns of a segment.
 *
 * They are for areas below 2^bits. The first term left out is at most 2 units of 2^-16 ns there,
 * and q is below 2^-6, so that all terms left out are below 3. Rounding of the terms and of their
 * sum adds less than 10, that of the area at the base less than 5: together less than
 * SPEK_SERIES_ERROR.
 *
 * Return: bits, or less than 1 if there is no such area.
 */
static s32 set_terms(struct spek_curve_series *series, const struct segment *segment, u64 into)
{
	struct real term[SPEK_SERIES_TERMS + 1];
	struct real bend = expand(segment, into, term);
	s32 bits = 63, i;

	bits = smaller(bits, bits_below(term[0], 1, 58 - SPEK_SERIES_BITS));
	bits = smaller(bits, bits_below(bend, 1, -6));
	bits = smaller(bits, bits_below(term[SPEK_SERIES_TERMS], SPEK_SERIES_TERMS + 1,
					1 - SPEK_SERIES_BITS));
	if (bits < 1)
		return bits;
	for (i = 0; i < SPEK_SERIES_TERMS; i++) {
		s32 down = -(term[i].exponent + bits * (i + 1) + SPEK_SERIES_BITS);

		series->term[i] = down < 64 ? term[i].mantissa >> down : 0;
	}
	series->up = 64 - (u32)bits;
	series->rises = segment->rises;
	return bits;
}

/* Prepare the series of the arrivals after @series->from, if @gap is not too long for it. */
static void start_series(const struct spek_curve *curve, struct spek_curve_series *series,
			 struct spek_area gap)
{
	const struct spek_curve_place *from = &series->from;
	struct segment segment = segment_of(curve, from->segment);
	struct spek_area before, area, room;
	u64 into, rate, lead;
	s32 bits = 63;

	series->lead = 0;
	series->area = 0;
	series->limit = 0;
	if (from->at_ns == SPEK_NEVER)
		return;
	if (series->pause) {
		series->pause--;
		return;
	}
	into = from->at_ns - segment_start_ns(curve, from);
	if (!into)
		return;
	area = area_at(&segment, into, &rate);
	before = area_at(&segment, into - 1, &rate);
	lead = difference(area, before).low - from->beyond;
	if (!segment.change_milli) {
		series->up = 0;
		series->slope = 2 * rate;
		series->per_slope = spek_div64(~0ull, series->slope);
	} else {
		if (2 * rate < MIN_SERIES_SLOPE)
			return;
		bits = set_terms(series, &segment, into - 1);
		if (bits < 1 || !is_less(sum(number(lead), gap), number(1ull << bits))) {
			series->pause = SERIES_PAUSE;
			return;
		}
	}
	series->base_ns = from->at_ns - 1;
	series->lead = lead;
	series->area = lead;
	series->limit = 1ull << bits;
	if (from->segment < curve->nr - 1)
		room = difference(whole(&segment), before);
	else
		room = product(series->slope, SPEK_NEVER - from->at_ns);
	if (is_less(room, number(series->limit)))
		series->limit = room.low + 1;
}

/**
 * spek_curve_restart() - go to the next arrival by the exact inverse
 * @curve: a checked curve
 * @series: the last arrival, moved; its series begins there
 * @gap: area from its exact time to that of the next arrival
 * @at_ns: set to the time of the arrival; SPEK_NEVER if there is none
 */
void spek_curve_restart(const struct spek_curve *curve, struct spek_curve_series *series,
			struct spek_area gap, u64 *at_ns)
{
	step_exactly(curve, &series->from, sum(number(series->area - series->lead), gap));
	start_series(curve, series, gap);
	*at_ns = series->from.at_ns;
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
 * @series: the arrival
 * @until_ns: not before it
 *
 * Return: area from the exact time of the arrival to @until_ns.
 */
struct spek_area spek_curve_between(const struct spek_curve *curve,
				    const struct spek_curve_series *series, u64 until_ns)
{
	struct spek_area area = area_until(curve, until_ns - curve->start_ns);

	area = difference(area, area_until(curve, series->from.at_ns - curve->start_ns));
	area = sum(area, number(series->from.beyond));
	return difference(area, number(series->area - series->lead));
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
