// SPDX-License-Identifier: GPL-2.0
/*
 * Reads commands as bytes from stdin and drives a rail with them: what a fuzzer
 * wants, and what runs under sanitizers. Prints the number of commands; exits with
 * 1 if a rail contradicts itself.
 */
#include <stdio.h>

#include "rail.h"

struct command {
	u8 kind;
	u8 flags;
	s64 power_uw;
	u64 step_ns;
	u64 from_ns;
	u64 to_ns;
} __attribute__((packed));

static struct spek_rail_sample samples[128];
static struct spek_rail_extremes extremes[128 / SPEK_RAIL_BLOCK];

static bool is_sound(const struct spek_rail *rail, u64 from_ns, u64 to_ns, bool ended)
{
	struct spek_rail_total total;
	struct spek_rail_use use;

	if (from_ns >= to_ns)
		return true;
	spek_rail_use(rail, from_ns, to_ns, ended, &use);
	spek_rail_total(rail, to_ns, ended, &total);

	return use.known_ns + use.gap_ns + use.lost_ns + use.pending_ns == to_ns - from_ns &&
	       use.energy.remainder < SPEK_ENERGY_UNIT && use.min_uw <= use.max_uw;
}

int main(void)
{
	struct spek_rail rail;
	struct command command;
	u64 at_ns = 0;
	long count = 0;

	spek_rail_init(&rail, samples, extremes, 128, SPEK_RAIL_MAX_STEP_NS);
	while (fread(&command, sizeof(command), 1, stdin) == 1) {
		/* most steps small, so that not all is gaps; time must not come round */
		u64 step_ns = command.step_ns >> (command.flags & 63);

		count++;
		step_ns %= 2 * SPEK_RAIL_MAX_STEP_NS;
		if (at_ns > 1ULL << 62)
			break;
		switch (command.kind % 4) {
		case 0:
		case 1:
			at_ns += step_ns;
			spek_rail_push(&rail, at_ns, command.power_uw % (SPEK_RAIL_MAX_UW + 1),
				       command.flags & 64);
			break;
		case 2:
			spek_rail_mark(&rail, at_ns + step_ns);
			break;
		default:
			if (!is_sound(&rail, command.from_ns, command.to_ns, command.flags & 1) ||
			    !is_sound(&rail, at_ns - (step_ns < at_ns ? step_ns : at_ns),
				      at_ns + 1, command.flags & 1))
				return 1;
		}
	}
	printf("%ld\n", count);

	return 0;
}
