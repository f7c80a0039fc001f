/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a read may show, and what may be there after a power cut.
 *
 * Every write has a number, which stands in each sector that it wrote. A sector may show a write
 * only if no write that binds it began after that write had ended. Before a cut, each write that
 * ended before the read began binds it; after a cut, each that a flush or FUA has covered.
 */
#ifndef HISTORY_H
#define HISTORY_H

#include "spek_host.h"

#define HISTORY_BLOCKS	160
#define HISTORY_WRITES	400

/* A write to a block. */
struct past {
	u64 number;
	u64 began;
	u64 ended;	/* 0: not acknowledged */
	u64 before;	/* number of a write that a read has shown to be later */
	u64 over;	/* end, or the cut that ended it; 0: in flight */
	bool must_stay;
};

void history_clear(void);
bool history_has_room(u32 block, u32 blocks);
bool history_is_written(u32 block);
const struct past *history_of(u32 block, u32 *nr);
void history_begin(u32 block, u64 number, u64 step);
void history_end(u32 block, u32 blocks, u64 number, u64 step);
void history_flush(u64 began);
void history_fua(u64 number);
void history_cut(u64 step);
bool history_allows(u32 block, u32 sector, u64 number, u64 began);
bool history_survives(u32 block, u32 sector, u64 number);
bool history_is_torn(u32 block, const u64 *numbers);
void history_shown(u32 block, u64 number, u64 began);
void history_settle(u32 block, const u64 *numbers);

#endif
