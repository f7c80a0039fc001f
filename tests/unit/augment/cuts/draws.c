// SPDX-License-Identifier: GPL-2.0
#include "draws.h"

static u64 state = 1;

void draws_seed(u64 seed)
{
	state = seed * 0x9e3779b97f4a7c15ULL + 1;
}

u64 draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 0x2545f4914f6cdd1dULL >> 11;
}

u32 below(u32 n)
{
	return draw() % n;
}
