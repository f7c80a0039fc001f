// SPDX-License-Identifier: GPL-2.0
/* Channels of flash and the translation layer. */
#include "flash.h"

/* So much is filled between two chances for others to run. */
#define FILL_BYTES	(1u << 20)

static u64 logical_pages(const struct spek_drive_flash_rule *rule)
{
	return spek_div64(rule->sectors + rule->page_sectors - 1, rule->page_sectors);
}

/* The most logical pages that a channel has. */
static u64 channel_share(const struct spek_drive_flash_rule *rule)
{
	return spek_div64(logical_pages(rule) + rule->channels - 1, rule->channels);
}

/**
 * spek_drive_flash_check() - check the description of flash
 * @rule: description
 * @refusal: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int spek_drive_flash_check(const struct spek_drive_flash_rule *rule, struct spek_refusal *refusal)
{
	u64 blocks;

	if (!rule->channels || rule->channels > SPEK_DRIVE_MAX_CHANNELS)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_WHOLE, 0, -ERANGE,
				   "Flash has 1 to 32 channels.");
	if (!rule->page_sectors || rule->page_sectors > SPEK_DRIVE_MAX_PAGE_SECTORS ||
	    !rule->block_pages || rule->block_pages > SPEK_DRIVE_MAX_BLOCK_PAGES)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_WHOLE, 0, -ERANGE,
				   "Pages have 1 to 256 sectors, blocks 1 to 32768 pages.");
	if (rule->low_blocks < 2)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_WHOLE, 0, -ERANGE,
				   "A channel of flash keeps at least 2 blocks free.");
	if (!rule->sectors ||
	    rule->sectors > (u64)SPEK_DRIVE_MAX_FLASH_PAGES * rule->page_sectors ||
	    rule->blocks > SPEK_DRIVE_MAX_FLASH_PAGES / rule->block_pages / rule->channels)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_WHOLE, 0, -ERANGE,
				   "Flash has 1 to 2^30 pages.");
	/* So that a collection always finds an invalid page, and room for the valid ones. */
	blocks = spek_div64(channel_share(rule) + rule->block_pages - 1, rule->block_pages);
	if (rule->blocks < blocks + rule->low_blocks + 2)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_WHOLE, 0, -ERANGE,
				   "A channel needs blocks for its pages, free ones, and two more.");
	if (!rule->read_ns || rule->read_ns > SPEK_DRIVE_MAX_OVERHEAD_NS ||
	    !rule->program_ns || rule->program_ns > SPEK_DRIVE_MAX_OVERHEAD_NS ||
	    !rule->erase_ns || rule->erase_ns > SPEK_DRIVE_MAX_OVERHEAD_NS ||
	    rule->sector_ps > SPEK_DRIVE_MAX_SECTOR_PS)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_WHOLE, 0, -ERANGE,
				   "Flash reads, programs and erases in 1 ns to 1 s.");
	return 0;
}

/**
 * spek_drive_flash_bytes() - size the state of flash
 * @rule: checked description
 *
 * Return: bytes.
 */
u64 spek_drive_flash_bytes(const struct spek_drive_flash_rule *rule)
{
	u64 blocks = (u64)rule->blocks * rule->channels;

	return sizeof(struct spek_drive_flash) + logical_pages(rule) * sizeof(u32) +
	       blocks * rule->block_pages * sizeof(u32) + blocks * sizeof(u32) +
	       rule->channels * spek_drive_least_entries(rule->blocks) * sizeof(u16);
}

/* Of tables of up to some GiB. */
static void fill(void *memory, int value, u64 bytes)
{
	u8 *at = memory;

	while (bytes) {
		size_t part = bytes < FILL_BYTES ? (size_t)bytes : FILL_BYTES;

		spek_memset(at, value, part);
		spek_yield();
		at += part;
		bytes -= part;
	}
}

/**
 * spek_drive_flash_init() - make empty flash
 * @memory: of spek_drive_flash_bytes(), aligned to 8 bytes; its owner frees it after the drive
 * @rule: checked; outlives the flash
 * @cache: buffer and bus; outlives the flash
 *
 * Context: may sleep.
 * Return: the flash, at the begin of the memory.
 */
struct spek_drive_flash *spek_drive_flash_init(void *memory,
					       const struct spek_drive_flash_rule *rule,
					       const struct spek_drive_cache_rule *cache)
{
	u64 blocks = (u64)rule->blocks * rule->channels;
	u64 pages = blocks * rule->block_pages, logical = logical_pages(rule);
	u64 entries = spek_drive_least_entries(rule->blocks);
	struct spek_drive_flash *flash = memory;
	u32 channel, i;
	u16 *closed;

	spek_memset(flash, 0, sizeof(*flash));
	flash->rule = rule;
	flash->cache = cache;
	flash->allowed = ~0ULL;
	flash->map = (u32 *)(flash + 1);
	flash->owner = flash->map + logical;
	flash->free = flash->owner + pages;
	closed = (u16 *)(flash->free + blocks);
	/* No page, no owner, and no block that is in use. */
	fill(flash->map, 0xff, (logical + pages) * sizeof(u32));
	fill(closed, 0xff, rule->channels * entries * sizeof(u16));
	for (channel = 0; channel < rule->channels; channel++) {
		struct spek_drive_channel *one = &flash->channels[channel];
		u32 *stack = &flash->free[(size_t)channel * rule->blocks];

		/* Block 0 is on top. */
		for (i = 0; i < rule->blocks; i++) {
			stack[i] = rule->blocks - 1 - i;
			spek_yield_at(i);
		}
		one->nr_free = rule->blocks - 1;
		one->open_block = 0;
		spek_drive_least_init(&one->closed, closed + channel * entries, rule->blocks);
	}
	return flash;
}

/* Let a channel do something for @ns as soon as it can from @from_ns on. Return: its end. */
static u64 occupy(struct spek_drive_channel *channel, enum spek_drive_phase phase, u64 from_ns,
		  u64 ns)
{
	u64 begin_ns = channel->free_ns > from_ns ? channel->free_ns : from_ns;
	struct spek_drive_span *last;

	channel->free_ns = begin_ns + ns;
	last = &channel->plan[(channel->first + channel->length - 1) % SPEK_DRIVE_MAX_PLAN];
	if (channel->length && last->phase == phase && last->end_ns == begin_ns) {
		last->end_ns = channel->free_ns;
	} else {
		last = &channel->plan[(channel->first + channel->length++) % SPEK_DRIVE_MAX_PLAN];
		last->phase = phase;
		last->begin_ns = begin_ns;
		last->end_ns = channel->free_ns;
	}
	return channel->free_ns;
}

static u64 first_owner(const struct spek_drive_flash *flash, u32 channel)
{
	return (u64)channel * flash->rule->blocks * flash->rule->block_pages;
}

static void invalidate(struct spek_drive_flash *flash, u32 page, u32 channel)
{
	struct spek_drive_channel *one = &flash->channels[channel];
	u32 old = flash->map[page], block;

	if (old == SPEK_DRIVE_NO_PAGE)
		return;
	flash->map[page] = SPEK_DRIVE_NO_PAGE;
	flash->owner[first_owner(flash, channel) + old] = SPEK_DRIVE_NO_PAGE;
	block = old / flash->rule->block_pages;
	if (block == one->open_block)
		one->open_valid--;
	else
		spek_drive_least_set(&one->closed, block, one->closed.level[0][block] - 1);
}

/* Give a logical page the next page of the open block, or the first one of a free block. */
static void place_page(struct spek_drive_flash *flash, u32 page, u32 channel)
{
	const struct spek_drive_flash_rule *rule = flash->rule;
	struct spek_drive_channel *one = &flash->channels[channel];
	u32 new;

	if (one->open_page == rule->block_pages) {
		spek_drive_least_set(&one->closed, one->open_block, (u16)one->open_valid);
		one->open_block = flash->free[(u64)channel * rule->blocks + --one->nr_free];
		one->open_page = 0;
		one->open_valid = 0;
	}
	invalidate(flash, page, channel);
	new = one->open_block * rule->block_pages + one->open_page++;
	flash->map[page] = new;
	flash->owner[first_owner(flash, channel) + new] = page;
	one->open_valid++;
}

/* Return: false if no steps are left. */
static bool spend(struct spek_drive_flash *flash, u32 steps)
{
	if (!flash->allowed) {
		flash->is_short = true;
		return false;
	}
	flash->allowed -= steps < flash->allowed ? steps : flash->allowed;
	return true;
}

/* Move the valid pages of the victim. Return: false if steps ran out. */
static bool move_pages(struct spek_drive_flash *flash, u32 channel)
{
	const struct spek_drive_flash_rule *rule = flash->rule;
	const u32 *owner = &flash->owner[first_owner(flash, channel) +
					 (u64)flash->victim * rule->block_pages];

	while (flash->victim_page < rule->block_pages) {
		u32 page = owner[flash->victim_page];

		if (!spend(flash, page == SPEK_DRIVE_NO_PAGE ? SPEK_DRIVE_LOOK_STEPS :
							       SPEK_DRIVE_PLACE_STEPS))
			return false;
		flash->victim_page++;
		if (page != SPEK_DRIVE_NO_PAGE)
			place_page(flash, page, channel);
	}
	return true;
}

/*
 * Move the valid pages of the block with least of them, and erase it. Return: false if steps ran
 * out: to be called again, before anything else is planned.
 */
static bool collect(struct spek_drive_flash *flash, u32 channel, u64 from_ns)
{
	const struct spek_drive_flash_rule *rule = flash->rule;
	struct spek_drive_channel *one = &flash->channels[channel];
	u32 moved;

	if (!flash->is_collecting) {
		flash->is_collecting = true;
		flash->victim = spek_drive_least_first(&one->closed);
		flash->victim_valid = one->closed.level[0][flash->victim];
		flash->victim_page = 0;
	}
	if (!move_pages(flash, channel))
		return false;
	flash->is_collecting = false;
	moved = flash->victim_valid;
	if (moved) {
		occupy(one, SPEK_DRIVE_READ, from_ns, moved * rule->read_ns);
		occupy(one, SPEK_DRIVE_WRITE, from_ns, moved * rule->program_ns);
	}
	occupy(one, SPEK_DRIVE_ERASE, from_ns, rule->erase_ns);
	spek_drive_least_set(&one->closed, flash->victim, SPEK_DRIVE_LEAST_NONE);
	flash->free[(u64)channel * rule->blocks + one->nr_free++] = flash->victim;
	flash->moved += moved;
	flash->erased++;
	return true;
}

/* What of a logical page a request covers, in sectors. */
static u32 covered(const struct spek_drive_flash *flash, const struct spek_drive_request *request,
		   u32 page)
{
	u64 first = (u64)page * flash->rule->page_sectors;
	u64 end = first + flash->rule->page_sectors, request_end = request->lba + request->sectors;

	if (end > flash->rule->sectors)
		end = flash->rule->sectors;
	if (first < request->lba)
		first = request->lba;
	return (u32)((request_end < end ? request_end : end) - first);
}

/* Whether a request covers all that a page has of the capacity. */
static bool is_whole(const struct spek_drive_flash *flash,
		     const struct spek_drive_request *request, u32 page)
{
	u64 first = (u64)page * flash->rule->page_sectors;
	u64 left = flash->rule->sectors - first;

	return covered(flash, request, page) ==
	       (left < flash->rule->page_sectors ? left : flash->rule->page_sectors);
}

static bool is_mapped(const struct spek_drive_flash *flash, u32 page)
{
	return flash->map[page] != SPEK_DRIVE_NO_PAGE;
}

static void plan_page(struct spek_drive_flash *flash, u32 page, u32 channel)
{
	const struct spek_drive_flash_rule *rule = flash->rule;
	struct spek_drive_flight *flight = &flash->flight;
	const struct spek_drive_request *request = &flight->request;
	struct spek_drive_channel *one = &flash->channels[channel];
	u64 bus_ns = covered(flash, request, page) * rule->sector_ps / 1000, end_ns;

	if (request->write) {
		if (is_mapped(flash, page) && !is_whole(flash, request, page))
			occupy(one, SPEK_DRIVE_READ, flight->from_ns, rule->read_ns);
		end_ns = occupy(one, SPEK_DRIVE_WRITE, flight->from_ns,
				bus_ns + rule->program_ns);
		place_page(flash, page, channel);
		flash->programmed++;
	} else if (is_mapped(flash, page)) {
		end_ns = occupy(one, SPEK_DRIVE_READ, flight->from_ns, rule->read_ns + bus_ns);
	} else {
		return;
	}
	if (end_ns > flight->end_ns)
		flight->end_ns = end_ns;
}

static void release_first(struct spek_drive_buffer *buffer)
{
	buffer->held -= buffer->sectors[buffer->first];
	buffer->first = (buffer->first + 1) % SPEK_DRIVE_MAX_QUEUE;
	buffer->length--;
}

/* When the buffer has room for a write, from @now_ns on. */
static u64 room_ns(struct spek_drive_buffer *buffer, u64 room, u32 sectors, u64 now_ns)
{
	u64 at_ns = now_ns;

	while (buffer->length && (buffer->end_ns[buffer->first] <= now_ns ||
				  buffer->held + sectors > room ||
				  buffer->length == SPEK_DRIVE_MAX_QUEUE)) {
		if (buffer->end_ns[buffer->first] > at_ns)
			at_ns = buffer->end_ns[buffer->first];
		release_first(buffer);
	}
	return at_ns;
}

static bool is_buffered(const struct spek_drive_flash *flash,
			const struct spek_drive_request *request)
{
	return request->write && !request->fua &&
	       request->sectors <= flash->cache->write_sectors;
}

/**
 * spek_drive_flash_begin() - begin to plan a request
 * @flash: initialised, and not planning
 * @request: within the capacity; copied
 * @now_ns: time
 */
void spek_drive_flash_begin(struct spek_drive_flash *flash,
			    const struct spek_drive_request *request, u64 now_ns)
{
	u64 bus_ns = spek_drive_hit_ns(flash->cache, request->write ? request->sectors : 0);
	struct spek_drive_flight *flight = &flash->flight;
	struct spek_drive_buffer *buffer = &flash->buffer;

	flight->request = *request;
	flight->start_ns = now_ns;
	if (is_buffered(flash, request))
		now_ns = room_ns(buffer, flash->cache->write_sectors, request->sectors, now_ns);
	flight->from_ns = now_ns + bus_ns;
	flight->end_ns = flight->from_ns;
	flash->next_page = request->flush ? 0 :
			   (u32)spek_div64(request->lba, flash->rule->page_sectors);
	flash->is_planning = true;
}

/*
 * Unlike an overwrite a trim leaves alone what it covers in part. Return: false if steps ran out.
 */
static bool trim(struct spek_drive_flash *flash, u32 last_page)
{
	while (flash->next_page <= last_page) {
		u32 page = flash->next_page;

		if (!spend(flash, is_mapped(flash, page) ? SPEK_DRIVE_PLACE_STEPS :
							   SPEK_DRIVE_LOOK_STEPS))
			return false;
		if (is_whole(flash, &flash->flight.request, page))
			invalidate(flash, page, page % flash->rule->channels);
		flash->next_page++;
	}
	return true;
}

/* Plan pages until a channel's plan is full or steps run out. Return: true if all are planned. */
static bool plan_pages(struct spek_drive_flash *flash, u32 last_page)
{
	const struct spek_drive_flash_rule *rule = flash->rule;

	while (flash->next_page <= last_page) {
		u32 page = flash->next_page, channel = page % rule->channels;
		struct spek_drive_channel *one = &flash->channels[channel];

		if (one->length > SPEK_DRIVE_MAX_PLAN - SPEK_DRIVE_STEP_SPANS) {
			flash->blocked = channel;
			return false;
		}
		if (flash->is_collecting ||
		    (flash->flight.request.write && one->open_page == rule->block_pages &&
		     one->nr_free < rule->low_blocks)) {
			if (!collect(flash, channel, flash->flight.from_ns))
				return false;
			continue;
		}
		if (!spend(flash, flash->flight.request.write || is_mapped(flash, page) ?
				  SPEK_DRIVE_PLACE_STEPS : SPEK_DRIVE_LOOK_STEPS))
			return false;
		plan_page(flash, page, channel);
		flash->next_page++;
	}
	return true;
}

/* All that the buffer holds is programmed. */
static u64 buffer_end_ns(const struct spek_drive_buffer *buffer)
{
	u32 last = (buffer->first + buffer->length - 1) % SPEK_DRIVE_MAX_QUEUE;

	return buffer->length ? buffer->end_ns[last] : 0;
}

static void buffer_write(struct spek_drive_flash *flash)
{
	struct spek_drive_flight *flight = &flash->flight;
	struct spek_drive_buffer *buffer = &flash->buffer;
	u64 last_ns = buffer_end_ns(buffer);
	u32 index = (buffer->first + buffer->length++) % SPEK_DRIVE_MAX_QUEUE;

	buffer->end_ns[index] = flight->end_ns > last_ns ? flight->end_ns : last_ns;
	buffer->sectors[index] = flight->request.sectors;
	buffer->held += flight->request.sectors;
	flight->end_ns = flight->from_ns;
}

/**
 * spek_drive_flash_plan() - go on with planning
 * @flash: planning
 * @now_ns: time; nothing is planned for the past
 *
 * Return: true if the request is planned and in flight; false if a channel's plan is full, or if
 * steps ran out: then to be called with the same time.
 */
bool spek_drive_flash_plan(struct spek_drive_flash *flash, u64 now_ns)
{
	struct spek_drive_flight *flight = &flash->flight;
	const struct spek_drive_request *request = &flight->request;
	u32 last_page;

	flash->is_short = false;
	if (flight->from_ns < now_ns)
		flight->from_ns = now_ns;
	if (flight->end_ns < flight->from_ns)
		flight->end_ns = flight->from_ns;
	if (request->flush) {
		if (buffer_end_ns(&flash->buffer) > flight->end_ns)
			flight->end_ns = buffer_end_ns(&flash->buffer);
	} else {
		last_page = (u32)spek_div64(request->lba + request->sectors - 1,
					    flash->rule->page_sectors);
		if (!(request->trim ? trim(flash, last_page) : plan_pages(flash, last_page)))
			return false;
		if (is_buffered(flash, request))
			buffer_write(flash);
		else if (!request->write && !request->trim)
			flight->end_ns += request->sectors * flash->cache->sector_ps / 1000;
	}
	flash->flights[flash->nr_flights++] = *flight;
	flash->is_planning = false;
	return true;
}

/**
 * spek_drive_flash_first() - find the next end of a flight
 * @flash: flash
 *
 * Return: the flight that ends first, of several the one that came first; NULL if there is none.
 */
const struct spek_drive_flight *spek_drive_flash_first(const struct spek_drive_flash *flash)
{
	const struct spek_drive_flight *first = NULL;
	u32 i;

	for (i = 0; i < flash->nr_flights; i++)
		if (!first || flash->flights[i].end_ns < first->end_ns)
			first = &flash->flights[i];
	return first;
}

/**
 * spek_drive_flash_end() - remove a flight
 * @flash: flash
 * @flight: flight; those after it keep their order
 */
void spek_drive_flash_end(struct spek_drive_flash *flash, const struct spek_drive_flight *flight)
{
	u32 i;

	flash->allowed -= flash->allowed < SPEK_DRIVE_END_STEPS ? flash->allowed :
								  SPEK_DRIVE_END_STEPS;
	flash->nr_flights--;
	for (i = (u32)(flight - flash->flights); i < flash->nr_flights; i++)
		flash->flights[i] = flash->flights[i + 1];
}

/**
 * spek_drive_flash_lose() - drop all requests and plans, and empty the buffer
 * @flash: flash whose drive loses its power
 * @now_ns: time
 *
 * Pages stay where requests that were planned have placed them.
 */
void spek_drive_flash_lose(struct spek_drive_flash *flash, u64 now_ns)
{
	u64 allowed = flash->allowed;
	u32 i;

	/* It ends, however many steps that takes: it may have no room to begin again. */
	flash->allowed = ~0ULL;
	if (flash->is_collecting)
		collect(flash, flash->next_page % flash->rule->channels, now_ns);
	flash->allowed = allowed;
	flash->is_planning = false;
	flash->is_short = false;
	flash->nr_flights = 0;
	flash->buffer.first = 0;
	flash->buffer.length = 0;
	flash->buffer.held = 0;
	for (i = 0; i < flash->rule->channels; i++) {
		flash->channels[i].free_ns = now_ns;
		flash->channels[i].first = 0;
		flash->channels[i].length = 0;
	}
}

/**
 * spek_drive_flash_delay() - let no flight end before a time
 * @flash: flash
 * @now_ns: the time
 */
void spek_drive_flash_delay(struct spek_drive_flash *flash, u64 now_ns)
{
	u32 i;

	for (i = 0; i < flash->nr_flights; i++)
		if (flash->flights[i].end_ns < now_ns)
			flash->flights[i].end_ns = now_ns;
}

/**
 * spek_drive_flash_idle_ns() - find out when flash becomes idle
 * @flash: flash
 *
 * Return: end of all that is planned.
 */
u64 spek_drive_flash_idle_ns(const struct spek_drive_flash *flash)
{
	u64 ns = 0;
	u32 i;

	for (i = 0; i < flash->rule->channels; i++)
		if (flash->channels[i].free_ns > ns)
			ns = flash->channels[i].free_ns;
	return ns;
}

/**
 * spek_drive_flash_next_ns() - time of the next event
 * @flash: initialised
 * @now_ns: time of the accounts
 *
 * A request ends, a plan has room again, or nothing is left to do.
 *
 * Return: time in ns, all ones if there is none.
 */
u64 spek_drive_flash_next_ns(const struct spek_drive_flash *flash, u64 now_ns)
{
	const struct spek_drive_flight *first = spek_drive_flash_first(flash);
	u64 idle_ns = spek_drive_flash_idle_ns(flash), ns = first ? first->end_ns : ~0ULL;

	if (flash->is_planning) {
		const struct spek_drive_channel *one = &flash->channels[flash->blocked];

		if (flash->is_short || !one->length)
			ns = now_ns;
		else if (one->plan[one->first].end_ns < ns)
			ns = one->plan[one->first].end_ns;
	}
	return idle_ns > now_ns && idle_ns < ns ? idle_ns : ns;
}
