// SPDX-License-Identifier: GPL-2.0
/* Grains of a verified device. */
#include "grain.h"

#define GRAIN_HOLDERS	0xffffull
#define GRAIN_WRITER	0xffffull
#define GRAIN_WAITED	(1ull << 16)
#define GRAIN_UNCERTAIN	(1ull << 17)
#define GRAIN_SHIFT	18

/*
 * The power of two that divides all numbers is the lowest bit that any of them has. Ends and
 * lengths of ranges and runs need not be multiples: patterns go no further than whole I/Os fit.
 */
static u64 bits_of_stream(const struct spek_stream *stream)
{
	u64 bits = stream->align_bytes | stream->range_start | stream->stride_bytes |
		   stream->run_align_bytes;
	u32 i;

	for (i = 0; i < stream->nr_sizes; i++)
		bits |= stream->size[i].bytes;
	return bits;
}

u32 spek_grain_bytes(const struct spek_workload *wl)
{
	u64 bits = SPEK_GRAIN_MAX;
	u32 i, k;

	for (i = 0; i < wl->nr_asus; i++) {
		const struct spek_asu *asu = &wl->asu[i];

		bits |= asu->stripe_bytes;
		for (k = 0; k < asu->nr_extents; k++)
			bits |= asu->extent[k].start;
	}
	for (i = 0; i < wl->nr_streams; i++)
		bits |= bits_of_stream(&wl->stream[i]);
	return (u32)(bits & -bits);
}

bool spek_grain_acquire(u64 *state, bool write)
{
	u64 holders = *state & GRAIN_HOLDERS;

	if (!write) {
		if (*state & GRAIN_WAITED || holders >= SPEK_GRAIN_MAX_READERS)
			return false;
		*state += 1;
		return true;
	}
	if (holders) {
		*state |= GRAIN_WAITED;
		return false;
	}
	*state &= ~GRAIN_WAITED;
	*state |= GRAIN_WRITER;
	return true;
}

u64 spek_grain_give_up(u64 state, bool write, bool again)
{
	if (write)
		return (state & ~GRAIN_HOLDERS) | (again ? GRAIN_WAITED : 0);
	return state - 1;
}

u64 spek_grain_stop_waiting(u64 state)
{
	/* Another one that waits says so again at its next try. */
	return state & ~GRAIN_WAITED;
}

u64 spek_grain_read(u64 state)
{
	return state - 1;
}

u64 spek_grain_written(u64 state, bool failed)
{
	state &= ~(GRAIN_HOLDERS | GRAIN_UNCERTAIN);
	state += 1ull << GRAIN_SHIFT;
	return failed ? state | GRAIN_UNCERTAIN : state;
}

u64 spek_grain_generation(u64 state)
{
	return state >> GRAIN_SHIFT;
}

bool spek_grain_uncertain(u64 state)
{
	return state & GRAIN_UNCERTAIN;
}

u64 spek_grain_save(u64 state)
{
	return state >> (GRAIN_SHIFT - 1);
}

bool spek_grain_restore(u64 saved, u64 *state)
{
	/* Nothing can be uncertain before the first write. */
	if (saved >> (64 - GRAIN_SHIFT + 1) || saved == 1)
		return false;
	*state = saved << (GRAIN_SHIFT - 1);
	return true;
}
