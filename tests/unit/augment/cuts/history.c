// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "devices.h"
#include "history.h"

static struct {
	struct past writes[HISTORY_WRITES];
	u32 nr;
	u64 base[SECTORS];	/* what was read after the last cut */
} history[HISTORY_BLOCKS];

/* Number 0 is in every sector. */
void history_clear(void)
{
	memset(history, 0, sizeof(history));
}

bool history_has_room(u32 block, u32 blocks)
{
	u32 i;

	for (i = 0; i < blocks; i++)
		if (history[block + i].nr == HISTORY_WRITES)
			return false;
	return true;
}

/* Whether the host has written to a block, now or before a cut. */
bool history_is_written(u32 block)
{
	u32 k;

	for (k = 0; k < SECTORS; k++)
		if (history[block].base[k])
			return true;
	return history[block].nr != 0;
}

const struct past *history_of(u32 block, u32 *nr)
{
	*nr = history[block].nr;
	return history[block].writes;
}

void history_begin(u32 block, u64 number, u64 step)
{
	struct past *w = &history[block].writes[history[block].nr++];

	memset(w, 0, sizeof(*w));
	w->number = number;
	w->began = step;
}

void history_end(u32 block, u32 blocks, u64 number, u64 step)
{
	u32 i, k;

	for (i = block; i < block + blocks; i++)
		for (k = 0; k < history[i].nr; k++)
			if (history[i].writes[k].number == number)
				history[i].writes[k].ended = history[i].writes[k].over = step;
}

static void mark(u64 before, u64 own)
{
	u32 block, i;

	for (block = 0; block < HISTORY_BLOCKS; block++)
		for (i = 0; i < history[block].nr; i++) {
			struct past *w = &history[block].writes[i];

			if ((w->ended && w->ended < before) || w->number == own)
				w->must_stay = true;
		}
}

/* A flush that @began at that step has ended. */
void history_flush(u64 began)
{
	mark(began, 0);
}

/* A write with FUA has ended. */
void history_fua(u64 number)
{
	mark(0, number);
}

void history_cut(u64 step)
{
	u32 block, i;

	for (block = 0; block < HISTORY_BLOCKS; block++)
		for (i = 0; i < history[block].nr; i++) {
			struct past *w = &history[block].writes[i];

			if (!w->over)
				w->over = step;
			/* A flush in the next life does not bring back what is gone. */
			if (!w->must_stay)
				w->ended = 0;
		}
}

static const struct past *past_of(u32 block, u64 number)
{
	u32 i;

	for (i = 0; i < history[block].nr; i++)
		if (history[block].writes[i].number == number)
			return &history[block].writes[i];
	return NULL;
}

/* What bound it is older than @shown, or NULL for what was there before all of them. */
static bool is_older(const struct past *shown, const struct past *bound)
{
	return bound != shown && (!shown || shown->before == bound->number ||
				  (shown->over && shown->over < bound->began));
}

static bool is_known(u32 block, u32 sector, u64 number)
{
	return past_of(block, number) || number == history[block].base[sector];
}

/* Whether a read that @began at that step may show write @number in a sector. */
bool history_allows(u32 block, u32 sector, u64 number, u64 began)
{
	const struct past *shown = past_of(block, number);
	u32 i;

	for (i = 0; i < history[block].nr; i++) {
		const struct past *w = &history[block].writes[i];

		if (w->ended && w->ended < began && is_older(shown, w))
			return false;
	}
	return is_known(block, sector, number);
}

/* Whether write @number may be in a sector after a cut. */
bool history_survives(u32 block, u32 sector, u64 number)
{
	const struct past *shown = past_of(block, number);
	u32 i;

	for (i = 0; i < history[block].nr; i++)
		if (history[block].writes[i].must_stay &&
		    is_older(shown, &history[block].writes[i]))
			return false;
	return is_known(block, sector, number);
}

/* Whether a block shows several writes, though what was read after the last cut did not. */
bool history_is_torn(u32 block, const u64 *numbers)
{
	u32 k;

	if (!memcmp(numbers, history[block].base, sizeof(history[block].base)))
		return false;
	for (k = 1; k < SECTORS; k++)
		if (numbers[k] != numbers[0])
			return true;
	return false;
}

/* Of writes at the same time either may be the last, but a read has shown which is. */
void history_shown(u32 block, u64 number, u64 began)
{
	u32 i;

	for (i = 0; i < history[block].nr; i++) {
		struct past *w = &history[block].writes[i];

		if (w->number != number && w->ended && w->ended < began)
			w->before = number;
	}
}

/* What was read after a cut: the only thing that may be there from now on. */
void history_settle(u32 block, const u64 *numbers)
{
	memcpy(history[block].base, numbers, sizeof(history[block].base));
	history[block].nr = 0;
}
