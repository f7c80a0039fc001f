// SPDX-License-Identifier: GPL-2.0
/* The prober's rails: adjacent intervals add up, whatever was brought. */
#include <stdlib.h>

#include "rail.h"
#include "target.h"

#define CAPACITY (2 * SPEK_RAIL_BLOCK)

static void check_sum(const struct spek_rail_use *all, const struct spek_rail_use *first,
		      const struct spek_rail_use *second)
{
	__int128 sum = (__int128)first->energy.uj * SPEK_ENERGY_UNIT + first->energy.remainder +
		       (__int128)second->energy.uj * SPEK_ENERGY_UNIT + second->energy.remainder;

	FUZZ_REQUIRE(sum == (__int128)all->energy.uj * SPEK_ENERGY_UNIT + all->energy.remainder,
		     "energies of adjacent intervals add up");
	FUZZ_REQUIRE(all->known_ns == first->known_ns + second->known_ns, "known times add up");
	FUZZ_REQUIRE(all->samples == first->samples + second->samples, "samples add up");
}

static void ask(const struct spek_rail *rail, struct fuzz_input *in, u64 base_ns)
{
	u64 at[3];
	bool ended = fuzz_upto(in, 1);
	struct spek_rail_use use[3];
	int i;

	at[0] = base_ns + fuzz_bytes(in, 5);
	at[1] = at[0] + 1 + fuzz_bytes(in, 4);
	at[2] = at[1] + 1 + fuzz_bytes(in, 4);
	spek_rail_use(rail, at[0], at[1], ended, &use[0]);
	spek_rail_use(rail, at[1], at[2], ended, &use[1]);
	spek_rail_use(rail, at[0], at[2], ended, &use[2]);
	for (i = 0; i < 3; i++) {
		u64 length = i == 2 ? at[2] - at[0] : at[i + 1] - at[i];

		FUZZ_REQUIRE(use[i].known_ns + use[i].gap_ns + use[i].lost_ns + use[i].pending_ns ==
			     length, "what is known, unknown, lost and to come is the interval");
		FUZZ_REQUIRE(use[i].min_uw <= use[i].max_uw, "the least is not above the greatest");
		FUZZ_REQUIRE(use[i].energy.remainder < SPEK_ENERGY_UNIT, "a remainder is less than the unit");
	}
	check_sum(&use[2], &use[0], &use[1]);
}

void fuzz_rail(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	struct spek_rail_sample *samples = calloc(CAPACITY, sizeof(*samples));
	struct spek_rail_extremes *extremes = calloc(CAPACITY / SPEK_RAIL_BLOCK, sizeof(*extremes));
	u64 base_ns = fuzz_bytes(&in, 5), at_ns = base_ns;
	struct spek_rail rail;
	u64 stored = 0;

	spek_rail_init(&rail, samples, extremes, CAPACITY,
		       1 + fuzz_any64(&in) % SPEK_RAIL_MAX_STEP_NS);
	while (in.size) {
		u32 what = fuzz_upto(&in, 15);
		s64 power_uw = (s64)fuzz_any64(&in) % (SPEK_RAIL_MAX_UW + 1);

		if (what < 12) {
			at_ns = what ? at_ns + fuzz_any64(&in) % SPEK_RAIL_MAX_STEP_NS : base_ns;
			stored += spek_rail_push(&rail, at_ns, power_uw, what == 1);
		} else if (what == 12) {
			spek_rail_mark(&rail, at_ns + fuzz_bytes(&in, 4));
		} else {
			ask(&rail, &in, what == 13 ? base_ns : at_ns);
		}
		/* 2^62 ns are 146 years */
		if (at_ns >> 62)
			break;
	}
	FUZZ_REQUIRE(rail.stored == stored, "what was stored is counted");
	free(samples);
	free(extremes);
}
