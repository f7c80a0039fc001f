/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A drive of flash: channels that read, program and erase at the same time, and a translation
 * layer that knows where each logical page is.
 *
 * Logical page n belongs to channel n modulo the number of channels. A write programs the next
 * page of the channel's open block; what the page held before is invalid from then on. A
 * write of a part of a page reads the remainder first. When a block is full and fewer than
 * @low_blocks are free, the channel first collects: it moves the valid pages of the block that has
 * least of them (read and program, on the chip) and erases that block. So writes are fast until
 * the spare blocks are used up, and then fall off a cliff, as deep as the drive is full. Trimming
 * (UNMAP) makes whole pages invalid and takes no time of the channels. A new drive is empty.
 *
 * Operations of a channel follow each other without a gap, in the order of the requests. The
 * plan of a channel holds so many of them; what does not fit in is planned once time has
 * passed.
 *
 * Planning a page takes 40 to 500 ns of CPU time, and a request with the collections before it may
 * cover a hundred thousand pages. A caller that must not be busy for so long limits the steps of
 * each call (spek_drive_allow()). Planning then resumes at the drive time at which it stopped, so
 * the limit changes no time of the model.
 *
 * Of the cache's rule (cache.h) flash has the write buffer and the bus: a write that is not FUA
 * ends at bus time once the buffer has room for it, and room comes back when its pages are
 * programmed. A flush ends when all of them are. Reads go to the pages, and pages that were never
 * written to the bus alone.
 */
#ifndef SPEK_DRIVE_FLASH_H
#define SPEK_DRIVE_FLASH_H

#include "cache.h"
#include "least.h"
#include "power.h"
#include "schedule.h"

#define SPEK_DRIVE_MAX_CHANNELS		32
#define SPEK_DRIVE_MAX_PAGE_SECTORS	256
#define SPEK_DRIVE_MAX_BLOCK_PAGES	32768
#define SPEK_DRIVE_MAX_FLASH_PAGES	(1U << 30)
#define SPEK_DRIVE_MAX_PLAN		64
/* The channels' planning of a step, a collection or a page, adds up to so many spans. */
#define SPEK_DRIVE_STEP_SPANS		4
#define SPEK_DRIVE_NO_PAGE		(~0U)
/* Steps of a page that is placed, of one that is only looked at, and of the end of a request. */
#define SPEK_DRIVE_PLACE_STEPS		16
#define SPEK_DRIVE_LOOK_STEPS		1
#define SPEK_DRIVE_END_STEPS		32

/**
 * struct spek_drive_flash_rule - size and speed of flash; all 0: the drive is a disk
 * @channels: number of channels
 * @page_sectors: sectors of a page
 * @block_pages: pages of a block
 * @blocks: blocks of a channel, spare ones included
 * @low_blocks: a channel collects while fewer of its blocks are free; at least 2
 * @sectors: capacity
 * @read_ns: time to read a page into the chip's register
 * @program_ns: time to program a page from there
 * @erase_ns: time to erase a block
 * @sector_ps: time of a sector between register and controller
 */
struct spek_drive_flash_rule {
	u32 channels;
	u32 page_sectors;
	u32 block_pages;
	u32 blocks;
	u32 low_blocks;
	u64 sectors;
	u64 read_ns;
	u64 program_ns;
	u64 erase_ns;
	u64 sector_ps;
};

/**
 * struct spek_drive_span - what a channel does for a time
 * @begin_ns: begin
 * @end_ns: end
 * @phase: SPEK_DRIVE_READ, SPEK_DRIVE_WRITE or SPEK_DRIVE_ERASE
 */
struct spek_drive_span {
	u64 begin_ns;
	u64 end_ns;
	enum spek_drive_phase phase;
};

/**
 * struct spek_drive_channel - a channel
 * @free_ns: end of its plan
 * @plan: ring of spans that have not ended at the time of the accounts
 * @first: index of the first of them
 * @length: number of them
 * @open_block: block that is being filled
 * @open_page: next page of it
 * @open_valid: valid pages of it
 * @nr_free: number of free blocks
 * @closed: valid pages of each block that is neither free nor open
 */
struct spek_drive_channel {
	u64 free_ns;
	struct spek_drive_span plan[SPEK_DRIVE_MAX_PLAN];
	u32 first;
	u32 length;
	u32 open_block;
	u32 open_page;
	u32 open_valid;
	u32 nr_free;
	struct spek_drive_least closed;
};

/**
 * struct spek_drive_flight - a request on its way through the channels
 * @request: see there
 * @start_ns: when the channels got it
 * @from_ns: when its data is in the drive, or the command of a read
 * @end_ns: when it ends
 */
struct spek_drive_flight {
	struct spek_drive_request request;
	u64 start_ns;
	u64 from_ns;
	u64 end_ns;
};

/**
 * struct spek_drive_buffer - writes in the buffer, in the order in which their room comes back
 * @end_ns: when that is
 * @sectors: sectors of each
 * @first: index of the first of them
 * @length: number of them
 * @held: sectors of all
 */
struct spek_drive_buffer {
	u64 end_ns[SPEK_DRIVE_MAX_QUEUE];
	u32 sectors[SPEK_DRIVE_MAX_QUEUE];
	u32 first;
	u32 length;
	u64 held;
};

/**
 * struct spek_drive_flash - state of flash
 * @rule: sizes and times
 * @cache: buffer and bus
 * @channels: see there
 * @flights: requests that have been planned
 * @nr_flights: number of them
 * @is_planning: @flight is planned in part
 * @flight: request whose pages are being planned
 * @next_page: first logical page of it that is not planned
 * @blocked: channel whose plan was full then
 * @allowed: steps that planning may still take
 * @is_short: planning stopped for want of them
 * @is_collecting: a channel is collecting for @next_page
 * @victim: block whose pages it moves
 * @victim_valid: valid pages that it had
 * @victim_page: next page of it
 * @buffer: see there
 * @map: page of its channel that holds a logical page, or SPEK_DRIVE_NO_PAGE
 * @owner: logical page that a page holds, or SPEK_DRIVE_NO_PAGE; by channel
 * @free: free blocks, a stack for each channel
 * @programmed: pages programmed for the host
 * @moved: pages moved by collections
 * @erased: blocks erased
 */
struct spek_drive_flash {
	const struct spek_drive_flash_rule *rule;
	const struct spek_drive_cache_rule *cache;
	struct spek_drive_channel channels[SPEK_DRIVE_MAX_CHANNELS];
	struct spek_drive_flight flights[SPEK_DRIVE_MAX_QUEUE];
	u32 nr_flights;
	bool is_planning;
	struct spek_drive_flight flight;
	u32 next_page;
	u32 blocked;
	u64 allowed;
	bool is_short;
	bool is_collecting;
	u32 victim;
	u32 victim_valid;
	u32 victim_page;
	struct spek_drive_buffer buffer;
	u32 *map;
	u32 *owner;
	u32 *free;
	u64 programmed;
	u64 moved;
	u64 erased;
};

int spek_drive_flash_check(const struct spek_drive_flash_rule *rule, struct spek_refusal *refusal);
u64 spek_drive_flash_bytes(const struct spek_drive_flash_rule *rule);
struct spek_drive_flash *spek_drive_flash_init(void *memory,
					       const struct spek_drive_flash_rule *rule,
					       const struct spek_drive_cache_rule *cache);
void spek_drive_flash_begin(struct spek_drive_flash *flash,
			    const struct spek_drive_request *request, u64 now_ns);
bool spek_drive_flash_plan(struct spek_drive_flash *flash, u64 now_ns);
const struct spek_drive_flight *spek_drive_flash_first(const struct spek_drive_flash *flash);
void spek_drive_flash_end(struct spek_drive_flash *flash, const struct spek_drive_flight *flight);
void spek_drive_flash_lose(struct spek_drive_flash *flash, u64 now_ns);
void spek_drive_flash_delay(struct spek_drive_flash *flash, u64 now_ns);
u64 spek_drive_flash_idle_ns(const struct spek_drive_flash *flash);
u64 spek_drive_flash_next_ns(const struct spek_drive_flash *flash, u64 now_ns);

#endif
