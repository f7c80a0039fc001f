// SPDX-License-Identifier: GPL-2.0
/* Grains of a verified device. */
#include "grain.h"

#define GRAIN_HOLDERS	0xffffull
#define GRAIN_WRITER	0xffffull
#define GRAIN_WAITED	(1ull << 16)
#define CONTENT_SHIFT	17
#define CONTENT_MASK	(3ull << CONTENT_SHIFT)
#define GRAIN_SHIFT	19

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

/* Flushes have no address, and what is done to a zone is done to all of it. */
static bool is_command(const struct spek_stream *stream)
{
	return stream->operation == SPEK_OPERATION_FLUSH ||
	       stream->operation >= SPEK_OPERATION_ZONE_RESET;
}

/**
 * spek_grain_bytes() - compute the grain of a workload
 * @wl: checked workload that fits its devices
 *
 * Return: bytes, a power of two, 512 to SPEK_GRAIN_MAX.
 */
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
		if (!is_command(&wl->stream[i]))
			bits |= bits_of_stream(&wl->stream[i]);
	return (u32)(bits & -bits);
}

/**
 * spek_grain_acquire() - begin an operation on a grain
 * @state: state of the grain, updated
 * @write: true for a write
 *
 * Return: true if the operation holds the grain; false if it must wait for others, and a writer
 * that waits is then recorded in @state.
 */
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

/**
 * spek_grain_give_up() - end an operation that was not sent after all
 * @state: state of a grain that the operation holds
 * @write: true for a write
 * @again: the operation will be tried again, so a write counts as waiting
 *
 * Return: new state.
 */
u64 spek_grain_give_up(u64 state, bool write, bool again)
{
	if (write)
		return (state & ~GRAIN_HOLDERS) | (again ? GRAIN_WAITED : 0);
	return state - 1;
}

/**
 * spek_grain_stop_waiting() - withdraw a write that waits
 * @state: state of the grain
 *
 * Return: new state.
 */
u64 spek_grain_stop_waiting(u64 state)
{
	/* Another waiting writer sets it again at its next try. */
	return state & ~GRAIN_WAITED;
}

/**
 * spek_grain_read() - end a read
 * @state: state of the grain
 *
 * Return: new state.
 */
u64 spek_grain_read(u64 state)
{
	return state - 1;
}

/**
 * spek_grain_written() - end a write, or another operation that changes the content
 * @state: state of the grain
 * @left: what the operation leaves; STAMPED for a write of data
 * @failed: the operation failed, so it may or may not have changed something
 *
 * Return: new state; after a write of data with the next generation.
 */
u64 spek_grain_written(u64 state, enum spek_content left, bool failed)
{
	if (left == SPEK_CONTENT_STAMPED)
		state += 1ull << GRAIN_SHIFT;
	/* Discarded content stays unknown until a write succeeds. */
	if (failed && left != SPEK_CONTENT_DISCARDED)
		left = spek_grain_content(state) == SPEK_CONTENT_DISCARDED ?
		       SPEK_CONTENT_DISCARDED : SPEK_CONTENT_UNCERTAIN;
	state &= ~(GRAIN_HOLDERS | CONTENT_MASK);
	return state | (u64)left << CONTENT_SHIFT;
}

/**
 * spek_grain_generation() - number of the last completed write
 * @state: state of the grain
 *
 * Return: generation, 0 before the first write.
 */
u64 spek_grain_generation(u64 state)
{
	return state >> GRAIN_SHIFT;
}

/**
 * spek_grain_content() - what the last operation has left
 * @state: state of the grain
 *
 * Return: enum spek_content.
 */
enum spek_content spek_grain_content(u64 state)
{
	return (enum spek_content)((state & CONTENT_MASK) >> CONTENT_SHIFT);
}

/**
 * spek_grain_save() - convert an idle state for storage
 * @state: state of a grain without holders
 *
 * Return: 4 * generation + enum spek_content.
 */
u64 spek_grain_save(u64 state)
{
	return state >> CONTENT_SHIFT;
}

/**
 * spek_grain_restore() - convert a stored state back
 * @saved: value from spek_grain_save(), or from anywhere
 * @state: set on success
 *
 * Return: 0, -EINVAL if @saved is not a valid state, or -ERANGE if its generation exceeds
 * SPEK_GRAIN_MAX_RESTORED.
 */
int spek_grain_restore(u64 saved, u64 *state)
{
	if (saved >> (64 - CONTENT_SHIFT))
		return -EINVAL;
	if (spek_grain_generation(saved << CONTENT_SHIFT) > SPEK_GRAIN_MAX_RESTORED)
		return -ERANGE;
	*state = saved << CONTENT_SHIFT;
	return 0;
}
