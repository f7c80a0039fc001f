// SPDX-License-Identifier: GPL-2.0
/*
 * cuts_driver SEED CUTS - the machine on modelled devices whose power is cut.
 *
 * A device has a volatile cache: a write that no flush covers is lost or kept at a cut, each sector
 * by itself. One device at a time may fail: refuse writes, flushes or reads, vanish, be missing
 * after a cut, and come back with what it had. The RAID may fail single I/O.
 *
 * Every write has a number, which stands in each sector that it wrote. A sector may show a write
 * only if none that must be there began after that write had ended.
 */
#include <stdio.h>
#include <stdlib.h>

#include "machine.h"

#define RAID_BLOCKS	160
#define LOG_BLOCKS	256
#define MAX_COPIES	48
#define MEMBER_NR	3
#define DEVICES		(1 + MEMBER_NR)
#define MAX_BLOCKS	(SPEK_AUGMENT_LOG_START + LOG_BLOCKS + MAX_COPIES)
#define BYTES		SPEK_AUGMENT_BLOCK_BYTES
#define SECTORS		8
#define HISTORY		400
#define CACHED		40000
#define BUSY		48

struct sector_write {
	u64 number;
	u64 began;
	u64 ended;	/* 0: not acknowledged */
	u64 before;	/* number of a write that a read has shown to be later */
	u64 over;	/* end, or the cut that ended it; 0: in flight */
	bool must_stay;
};

static struct {
	struct sector_write writes[HISTORY];
	u32 nr;
	u64 base[SECTORS];
} history[RAID_BLOCKS];

struct cached {
	u32 block;
	u64 done;	/* step of its end, 0: in flight */
	u8 *data;
};

static struct device {
	u8 (*stable)[BYTES];
	u8 (*view)[BYTES];
	struct cached cached[CACHED];
	u32 nr_cached;
	u32 blocks;
} devices[DEVICES + 1];

struct flight {
	struct spek_augment_io io;
	u64 issued;
	u32 first_cached;
	bool early;	/* a read that sees what was there when it began */
	u64 sequence;
};

struct host_bio {
	struct spek_augment_bio bio;
	u64 began;
	u64 number;
	u32 crc[SPEK_AUGMENT_BIO_BLOCKS];
	u8 (*data)[BYTES];
	bool used;
	bool is_check;
};

static struct spek_augment machine;
static struct spek_augment_config config;
static u32 memory[(MAX_BLOCKS * 16) / 4];
static u8 stages[SPEK_AUGMENT_STAGES][SPEK_AUGMENT_STAGE_BLOCKS][BYTES];
static struct flight flights[SPEK_AUGMENT_IOS];
static u32 nr_flights;
static struct host_bio bios[SPEK_AUGMENT_BIOS];
static u32 nr_bios;
static u64 step, now_ns, numbers, random_state, seed_given, cuts_so_far;
static u32 victim, victim_rate, raid_rate, absent;
static bool victim_is_gone, raid_failed;
static u64 first_generation;
static u32 outcomes[8];

static void fail(const char *what, u64 a, u64 b)
{
	printf("seed %llu cut %llu step %llu: %s (%llu, %llu), mode %u victim %u\n",
	       (unsigned long long)seed_given, (unsigned long long)cuts_so_far,
	       (unsigned long long)step, what, (unsigned long long)a, (unsigned long long)b,
	       machine.mode, victim);
	exit(1);
}

static u64 draw(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state * 0x2545f4914f6cdd1dULL >> 11;
}

static u32 below(u32 n)
{
	return draw() % n;
}

static u32 index_of(u32 device)
{
	return device == SPEK_AUGMENT_RAID ? DEVICES : device;
}

/* ---- data ---- */

static void fill_block(u8 *to, u64 number, u64 block)
{
	u32 i;

	for (i = 0; i < SECTORS; i++) {
		memcpy(to + 512 * i, &number, 8);
		memcpy(to + 512 * i + 8, &block, 8);
	}
}

static u32 crc_of(const u8 *data)
{
	u8 marks[SECTORS * 16];
	u32 i;

	for (i = 0; i < SECTORS; i++)
		memcpy(marks + 16 * i, data + 512 * i, 16);
	return spek_augment_crc32c(marks, sizeof(marks));
}

/* ---- devices ---- */

/* Entry @i reaches the media: what was written to the block before it cannot come after it. */
static void harden(struct device *d, u32 i)
{
	u32 block = d->cached[i].block;
	u32 k;

	memcpy(d->stable[block], d->cached[i].data, BYTES);
	for (k = 0; k <= i; k++)
		if (d->cached[k].data && d->cached[k].done && d->cached[k].block == block) {
			free(d->cached[k].data);
			d->cached[k].data = NULL;
		}
}

static void compact(struct device *d)
{
	u32 i, kept = 0;

	if (nr_flights)
		return;
	for (i = 0; i < d->nr_cached; i++)
		if (d->cached[i].data)
			d->cached[kept++] = d->cached[i];
	d->nr_cached = kept;
}

static void flush_device(struct device *d, u64 before)
{
	u32 i;

	for (i = 0; i < d->nr_cached; i++)
		if (d->cached[i].data && d->cached[i].done && d->cached[i].done < before)
			harden(d, i);
}

static void cut_device(struct device *d)
{
	u32 mood = below(4);
	u32 i, k;

	for (i = 0; i < d->nr_cached; i++) {
		struct cached *c = &d->cached[i];
		/* all, none, whole blocks, sectors */
		u32 kept = mood == 0 ? 0xff : mood == 1 ? 0 : below(2) ? 0xff : 0;

		if (!c->data)
			continue;
		if (mood == 3 && below(3) == 0)
			kept = below(256);
		for (k = 0; k < SECTORS; k++)
			if (kept >> k & 1)
				memcpy(d->stable[c->block] + 512 * k, c->data + 512 * k, 512);
		/* The power failed in the middle of a sector. */
		if (d != &devices[DEVICES] && !c->done && !below(4))
			memset(d->stable[c->block] + 512 * below(SECTORS) + below(64), below(256),
			       100);
		free(c->data);
	}
	for (i = 0; i < d->nr_cached; i++)
		memcpy(d->view[d->cached[i].block], d->stable[d->cached[i].block], BYTES);
	d->nr_cached = 0;
}

/* ---- I/O ---- */

static void read_blocks(struct flight *f)
{
	const struct spek_augment_io *io = &f->io;
	struct device *d = &devices[index_of(io->device)];
	u32 i;

	for (i = 0; i < io->blocks; i++) {
		const u8 *from = d->view[io->block + i];

		if (io->bio != SPEK_AUGMENT_NONE) {
			struct host_bio *b = &bios[machine.requests[io->bio].bio.cookie];

			memcpy(b->data[io->bio_block + i], from, BYTES);
		}
		if (io->stage != SPEK_AUGMENT_NONE)
			memcpy(stages[io->stage][io->stage_block + i], from, BYTES);
	}
}

static const u8 *data_of(const struct spek_augment_io *io, u32 i, u8 *encoded)
{
	if (io->encoded && !i) {
		spek_augment_encode(&machine, io->tag, encoded);
		return encoded;
	}
	i -= io->encoded;
	if (io->bio != SPEK_AUGMENT_NONE)
		return bios[machine.requests[io->bio].bio.cookie].data[io->bio_block + i];
	return stages[io->stage][io->stage_block + i];
}

static void issue(const struct spek_augment_io *io)
{
	struct device *d = &devices[index_of(io->device)];
	struct flight *f = &flights[nr_flights++];
	u8 encoded[BYTES];
	u32 i;

	if (io->device != SPEK_AUGMENT_RAID && io->device >= DEVICES)
		fail("I/O to a device that is not there", io->device, 0);
	if (io->op <= SPEK_AUGMENT_WRITE && (!io->blocks || io->block + io->blocks > d->blocks))
		fail("I/O beyond the end of a device", io->block, io->blocks);
	f->io = *io;
	f->issued = ++step;
	f->early = below(2);
	if (io->op == SPEK_AUGMENT_READ && f->early)
		read_blocks(f);
	if (io->op != SPEK_AUGMENT_WRITE)
		return;
	f->first_cached = d->nr_cached;
	for (i = 0; i < io->blocks; i++) {
		struct cached *c = &d->cached[d->nr_cached++];

		if (d->nr_cached == CACHED)
			fail("cache of the model is full", 0, 0);
		c->block = io->block + i;
		c->done = 0;
		c->data = malloc(BYTES);
		memcpy(c->data, data_of(io, i, encoded), BYTES);
	}
}

static void end_write(struct flight *f)
{
	struct device *d = &devices[index_of(f->io.device)];
	u32 i;

	for (i = 0; i < f->io.blocks; i++) {
		struct cached *begun = &d->cached[f->first_cached + i];
		struct cached *c = &d->cached[d->nr_cached++];

		if (d->nr_cached == CACHED)
			fail("cache of the model is full", 0, 0);
		/* Writes reach the cache in the order in which they end. */
		*c = *begun;
		begun->data = NULL;
		memcpy(d->view[c->block], c->data, BYTES);
		c->done = step;
		if (f->io.fua)
			harden(d, d->nr_cached - 1);
	}
}

/* A write that failed may have changed some blocks. */
static void drop_write(struct flight *f)
{
	struct device *d = &devices[index_of(f->io.device)];
	u32 i;

	for (i = 0; i < f->io.blocks; i++) {
		struct cached *c = &d->cached[f->first_cached + i];

		if (below(2)) {
			memcpy(d->view[c->block], c->data, BYTES);
			memcpy(d->stable[c->block], c->data, BYTES);
		}
		free(c->data);
		c->data = NULL;
	}
}

static void answers(void);

static void take_ios(void)
{
	struct spek_augment_io io;

	answers();
	while (spek_augment_next_io(&machine, &io))
		issue(&io);
}

static int error_of(const struct spek_augment_io *io)
{
	if (io->device == SPEK_AUGMENT_RAID) {
		if (raid_rate && !below(raid_rate)) {
			raid_failed = true;
			return -EIO;
		}
		return 0;
	}
	if (io->device != victim && !(absent >> io->device & 1))
		return 0;
	if (victim_is_gone || absent >> io->device & 1)
		return -EIO;
	return victim_rate && !below(victim_rate) ? -EIO : 0;
}

static void complete(u32 which)
{
	struct flight f = flights[which];
	int err = error_of(&f.io);

	step++;
	flights[which] = flights[--nr_flights];
	if (f.io.op == SPEK_AUGMENT_READ && !err && !f.early)
		read_blocks(&f);
	if (f.io.op == SPEK_AUGMENT_WRITE && !err) {
		if (f.io.preflush)
			flush_device(&devices[index_of(f.io.device)], f.issued);
		end_write(&f);
	}
	if (f.io.op == SPEK_AUGMENT_WRITE && err)
		drop_write(&f);
	if (f.io.op == SPEK_AUGMENT_FLUSH && !err)
		flush_device(&devices[index_of(f.io.device)], f.issued);
	now_ns += below(1000);
	spek_augment_complete(&machine, now_ns, f.io.tag, err);
	take_ios();
}

/* ---- the host ---- */

/*
 * A record that no flush has covered may have survived a cut on one device only. If that device
 * fails before recovery has ended, recovery has to be repeated without it.
 */
static bool has_failed_in_recovery(void)
{
	return machine.mode == SPEK_AUGMENT_FAILED && machine.generation == first_generation &&
	       victim < DEVICES;
}

static bool is_allowed(u32 block, u32 sector, u64 number, u64 before, bool after_cut)
{
	const struct sector_write *shown = NULL;
	u32 i;

	for (i = 0; i < history[block].nr; i++)
		if (history[block].writes[i].number == number)
			shown = &history[block].writes[i];
	if (!shown && number != history[block].base[sector])
		return false;
	for (i = 0; i < history[block].nr; i++) {
		const struct sector_write *w = &history[block].writes[i];
		bool binds = after_cut ? w->must_stay : w->ended && w->ended < before;

		if (binds && w != shown && (!shown || shown->before == w->number ||
					   (shown->over && shown->over < w->began)))
			return false;
	}
	return true;
}

/* Of writes at the same time either may be the last, but a read has shown which is. */
static void note_order(u32 block, u64 number, u64 before)
{
	u32 i;

	for (i = 0; i < history[block].nr; i++) {
		struct sector_write *w = &history[block].writes[i];

		if (w->number != number && w->ended && w->ended < before)
			w->before = number;
	}
}

static void check_read(const struct host_bio *b, bool after_cut)
{
	u32 i, k;

	for (i = 0; i < b->bio.blocks; i++) {
		u32 block = b->bio.block + i;

		for (k = 0; k < SECTORS; k++) {
			u64 number, place;

			memcpy(&number, b->data[i] + 512 * k, 8);
			memcpy(&place, b->data[i] + 512 * k + 8, 8);
			if (place != block)
				fail("data of another block", block, place);
			if (!is_allowed(block, k, number, b->began, after_cut))
				fail(after_cut ? "lost after a cut" : "stale read", block, number);
			if (after_cut)
				history[block].base[k] = number;
			else if (!k)
				note_order(block, number, b->began);
		}
		if (after_cut)
			history[block].nr = 0;
	}
}

static void mark_flushed(u64 before, u64 own)
{
	u32 block, i;

	for (block = 0; block < RAID_BLOCKS; block++)
		for (i = 0; i < history[block].nr; i++) {
			struct sector_write *w = &history[block].writes[i];

			if ((w->ended && w->ended < before) || w->number == own)
				w->must_stay = true;
		}
}

static void mark_ended(const struct host_bio *b)
{
	u32 i, k;

	for (i = 0; i < b->bio.blocks; i++)
		for (k = 0; k < history[b->bio.block + i].nr; k++)
			if (history[b->bio.block + i].writes[k].number == b->number)
				history[b->bio.block + i].writes[k].ended =
					history[b->bio.block + i].writes[k].over = step;
}

static void answers(void)
{
	struct spek_augment_answer answer;

	while (spek_augment_next_answer(&machine, &answer)) {
		struct host_bio *b = &bios[answer.cookie];

		step++;
		if (!b->used)
			fail("answered twice", answer.cookie, 0);
		b->used = false;
		nr_bios--;
		if (answer.error) {
			if (!raid_failed && !has_failed_in_recovery())
				fail("error without a reason", b->bio.op, -answer.error);
			outcomes[3]++;
			if (b->is_check && !has_failed_in_recovery())
				fail("check failed", b->bio.block, 0);
			continue;
		}
		if (b->bio.op == SPEK_AUGMENT_READ)
			check_read(b, b->is_check);
		if (b->bio.op == SPEK_AUGMENT_WRITE)
			mark_ended(b);
		if (b->bio.op == SPEK_AUGMENT_FLUSH || b->bio.preflush)
			mark_flushed(b->began, 0);
		if (b->bio.fua)
			mark_flushed(0, b->number);
	}
}

static void submit(u32 op, u32 block, u32 blocks, bool is_check)
{
	struct host_bio *b = bios;
	u32 i;

	while (b->used)
		b++;
	memset(&b->bio, 0, sizeof(b->bio));
	b->used = true;
	b->is_check = is_check;
	b->began = ++step;
	b->bio.op = op;
	b->bio.block = block;
	b->bio.blocks = blocks;
	b->bio.cookie = b - bios;
	b->bio.crc = b->crc;
	b->number = ++numbers;
	if (op == SPEK_AUGMENT_WRITE) {
		b->bio.fua = !below(6);
		b->bio.preflush = !below(12);
		for (i = 0; i < blocks; i++) {
			struct sector_write *w;

			w = &history[block + i].writes[history[block + i].nr++];
			w->number = b->number;
			w->began = step;
			w->ended = 0;
			w->over = 0;
			w->before = 0;
			w->must_stay = false;
			fill_block(b->data[i], b->number, block + i);
			b->crc[i] = crc_of(b->data[i]);
		}
	}
	nr_bios++;
	if (spek_augment_submit(&machine, now_ns, &b->bio))
		fail("refused", op, block);
	take_ios();
}

static void submit_any(void)
{
	u32 kind = below(20);
	u32 blocks = below(12) ? 1 + below(4) : 1 + below(60);
	/* Half of them in a small part, so that blocks are replaced. */
	u32 block = below(below(2) ? RAID_BLOCKS : 24);
	u32 i;

	if (block + blocks > RAID_BLOCKS)
		blocks = RAID_BLOCKS - block;
	if (kind < 2) {
		submit(SPEK_AUGMENT_FLUSH, 0, 0, false);
	} else if (kind < 8) {
		submit(SPEK_AUGMENT_READ, block, blocks, false);
	} else {
		for (i = 0; i < blocks; i++)
			if (history[block + i].nr == HISTORY)
				return;
		submit(SPEK_AUGMENT_WRITE, block, blocks, false);
	}
}

/* ---- lives ---- */

static bool is_intact(u32 device, const struct spek_augment_header *header)
{
	u32 i;

	for (i = 0; i < header->blocks; i++)
		if (crc_of(devices[device].view[SPEK_AUGMENT_LOG_START + machine.head + 1 + i]) !=
		    header->crc[i])
			return false;
	return true;
}

static bool adopt_next(u32 readable)
{
	struct spek_augment_header header, good;
	u32 device, holders = 0;

	for (device = 0; device < DEVICES; device++) {
		if (!(readable >> device & 1) ||
		    !spek_augment_header_decode(
			    devices[device].view[SPEK_AUGMENT_LOG_START + machine.head], &header) ||
		    !spek_augment_expects(&machine, &header) || !is_intact(device, &header))
			continue;
		good = header;
		holders |= 1U << device;
	}
	if (holders)
		spek_augment_adopt(&machine, &good, holders);
	return holders != 0;
}

static void attach(void)
{
	struct spek_augment_super supers[2 * (1 + SPEK_AUGMENT_MEMBERS)];
	u32 found[1 + SPEK_AUGMENT_MEMBERS] = { 0 };
	struct spek_augment_scan scan;
	struct spek_refusal refusal;
	u32 i;

	for (i = 0; i < 2 * DEVICES; i++)
		if (!(absent >> (i / 2) & 1) &&
		    spek_augment_super_decode(devices[i / 2].view[i % 2], &supers[i]))
			found[i / 2] |= 1U << i % 2;
	if (spek_augment_choose(&config, supers, found, &scan, &refusal))
		fail(refusal.text, refusal.index, 0);
	spek_augment_init(&machine, &config, memory);
	spek_augment_recover(&machine, &scan);
	first_generation = machine.generation;
	outcomes[1] += scan.stale != 0;
	while (adopt_next(scan.present & ~scan.stale))
		outcomes[2]++;
	spek_augment_start(&machine, now_ns);
	take_ios();
}

static void cut(void)
{
	u32 i;

	for (i = 0; i <= DEVICES; i++)
		cut_device(&devices[i]);
	step++;
	for (i = 0; i < RAID_BLOCKS; i++) {
		u32 k;

		for (k = 0; k < history[i].nr; k++) {
			struct sector_write *w = &history[i].writes[k];

			if (!w->over)
				w->over = step;
			/* A flush in the next life does not bring back what is gone. */
			if (!w->must_stay)
				w->ended = 0;
		}
	}
	for (i = 0; i < SPEK_AUGMENT_BIOS; i++)
		bios[i].used = false;
	nr_bios = 0;
	nr_flights = 0;
}

static void check_counts(void)
{
	u32 dirty = 0;
	u32 i;

	for (i = 0; i < machine.nr_entries; i++) {
		const struct spek_augment_entry *e = &machine.entries[i];

		dirty += spek_augment_state(e) == SPEK_AUGMENT_DIRTY;
		if (spek_augment_state(e) == SPEK_AUGMENT_DIRTY &&
		    (!spek_augment_in_log(&machine, i) ||
		     spek_augment_distance(&machine, i) >= spek_augment_used(&machine)))
			fail("dirty block outside the log", i, 0);
		if ((spek_augment_state(e) == SPEK_AUGMENT_DIRTY ||
		     spek_augment_state(e) == SPEK_AUGMENT_CLEAN) &&
		    spek_augment_map_find(&machine, spek_augment_block_of(e)) != i)
			fail("block not in the map", i, 0);
	}
	if (dirty != machine.dirty)
		fail("count of dirty blocks", dirty, machine.dirty);
}

/* Complete everything; more time passes when nothing is in flight. */
static void settle(void)
{
	u32 idle = 0;

	while (nr_flights || nr_bios) {
		if (nr_flights) {
			complete(below(nr_flights));
			continue;
		}
		if (idle++ == 1000)
			fail("bios hang", nr_bios, 0);
		now_ns += config.retry_ns / 4;
		spek_augment_tick(&machine, now_ns);
		take_ios();
	}
}

static void check_all(void)
{
	u32 block;

	settle();
	for (block = 0; block < RAID_BLOCKS; block += 40)
		submit(SPEK_AUGMENT_READ, block, 40, true);
	settle();
	check_counts();
}

/* Without the machine, the RAID alone has everything. */
static void check_detached(void)
{
	u32 block, i, k;
	u64 number;

	for (i = 0; i < 1000 && machine.dirty; i++) {
		spek_augment_destage_all(&machine, now_ns);
		take_ios();
		settle();
		now_ns += config.retry_ns;
		spek_augment_tick(&machine, now_ns);
		take_ios();
		settle();
	}
	if (machine.dirty)
		fail("destage does not end", machine.dirty, 0);
	for (block = 0; block < RAID_BLOCKS; block++)
		for (k = 0; k < SECTORS; k++) {
			memcpy(&number, devices[DEVICES].view[block] + 512 * k, 8);
			if (!is_allowed(block, k, number, ~0ULL, false))
				fail("not on the RAID", block, number);
		}
	outcomes[5]++;
}

static void make_set(void)
{
	struct spek_augment_super super;
	struct spek_refusal refusal;
	u32 i, k;

	memset(&config, 0, sizeof(config));
	for (i = 0; i < 16; i++)
		config.uuid[i] = draw();
	config.raid_blocks = RAID_BLOCKS;
	config.log_blocks = LOG_BLOCKS;
	config.ssd_blocks = SPEK_AUGMENT_LOG_START + LOG_BLOCKS + below(MAX_COPIES);
	config.nr_members = MEMBER_NR;
	config.copy = below(3);
	config.stripe_blocks = 1 + below(24);
	config.sequential_blocks = 20 + below(60);
	config.high_blocks = 20 + below(LOG_BLOCKS - 64 - 20);
	config.low_blocks = below(config.high_blocks);
	config.age_ns = below(2) ? 20000 + below(100000) : 0;
	config.quiet_ns = below(3) ? 10000 : SPEK_AUGMENT_NEVER;
	config.retry_ns = 5000;
	if (spek_augment_check(&config, &refusal))
		fail(refusal.text, 0, 0);
	for (i = 0; i <= DEVICES; i++) {
		struct device *d = &devices[i];

		cut_device(d);
		d->blocks = i == DEVICES ? RAID_BLOCKS : i ? SPEK_AUGMENT_LOG_START + LOG_BLOCKS :
							     config.ssd_blocks;
		memset(d->stable, 0, (size_t)MAX_BLOCKS * BYTES);
		if (i == DEVICES) {
			for (k = 0; k < RAID_BLOCKS; k++)
				fill_block(d->stable[k], 0, k);
		} else {
			spek_augment_format(&config, i, &super);
			spek_augment_super_encode(&super, d->stable[0]);
			spek_augment_super_encode(&super, d->stable[1]);
		}
		memcpy(d->view, d->stable, (size_t)MAX_BLOCKS * BYTES);
	}
	memset(history, 0, sizeof(history));
	absent = 0;
}

static void any_event(void)
{
	u32 kind = below(100);

	if (kind < 35 && nr_bios < BUSY) {
		submit_any();
	} else if (kind < 90 && nr_flights) {
		complete(below(nr_flights));
	} else if (kind < 94) {
		spek_augment_set_awake(&machine, now_ns, below(MEMBER_NR), !below(3));
		take_ios();
	} else if (kind < 98) {
		now_ns += below(20000);
		spek_augment_tick(&machine, now_ns);
		take_ios();
	} else if (kind < 99) {
		spek_augment_destage_all(&machine, now_ns);
		take_ios();
	} else if (victim < DEVICES && !victim_is_gone && !below(4)) {
		victim_is_gone = true;
		outcomes[4]++;
		spek_augment_lose(&machine, now_ns, victim);
		take_ios();
	}
}

static void choose_faults(void)
{
	victim = SPEK_AUGMENT_NONE;
	victim_rate = 0;
	victim_is_gone = false;
	raid_rate = below(6) ? 0 : 10 + below(100);
	raid_failed = raid_rate != 0;
	/* One failure at a time: what is missing is that failure. */
	if (!absent && !below(3)) {
		victim = below(2) ? SPEK_AUGMENT_SSD : 1 + below(MEMBER_NR);
		victim_rate = below(2) ? 4 + below(60) : 0;
	}
}

/* All copies of what is dirty vanish: the machine tells which blocks, and serves nothing more. */
static void check_total_loss(void)
{
	u32 dirty = machine.dirty, cursor = 0, told = 0, device;
	u64 block;

	raid_failed = true;
	absent = (1U << DEVICES) - 1;
	for (device = 0; device < DEVICES; device++) {
		spek_augment_lose(&machine, now_ns, device);
		take_ios();
	}
	settle();
	while (spek_augment_next_lost(&machine, &cursor, &block)) {
		if (!history[block].nr)
			fail("a block was told that nobody wrote", block, 0);
		told++;
	}
	if (machine.mode != SPEK_AUGMENT_FAILED || told != dirty)
		fail("losses told", told, dirty);
	submit(SPEK_AUGMENT_READ, 0, 1, false);
	submit(SPEK_AUGMENT_FLUSH, 0, 0, false);
	if (nr_bios)
		fail("bios wait in a machine that has failed", nr_bios, 0);
	outcomes[7]++;
	cut();
	make_set();
}

static void live(void)
{
	u32 steps = 1 + (below(3) ? below(150) : below(1500));
	u32 fate = below(40);
	bool again;

	choose_faults();
	attach();
	/* Some lives end before recovery has. */
	if (fate > 3) {
		/* A check does not accept the errors that the RAID may cause. */
		u32 rate = raid_rate;

		raid_rate = 0;
		check_all();
		raid_rate = rate;
	}
	while (steps-- && machine.mode != SPEK_AUGMENT_FAILED) {
		any_event();
		if (!below(300))
			check_counts();
		/* Positions in the cache stay valid while I/O is in flight. */
		if (!nr_flights) {
			u32 i;

			for (i = 0; i <= DEVICES; i++)
				compact(&devices[i]);
		}
	}
	if (fate > 30) {
		raid_rate = 0;
		settle();
		if (fate < 33 && !absent && victim >= DEVICES && machine.dirty &&
		    machine.destage.step == SPEK_AUGMENT_IDLE) {
			check_total_loss();
			return;
		}
		if (fate > 36 && machine.mode != SPEK_AUGMENT_FAILED)
			check_detached();
	}
	again = has_failed_in_recovery();
	outcomes[6] += again;
	if (machine.mode == SPEK_AUGMENT_FAILED && !again)
		fail("gave up after one failure", 0, 0);
	cut();
	/* The victim may be missing from now on, or an intact device vanish with the power. */
	absent = 0;
	if (victim < DEVICES)
		absent = again || below(2) ? 1U << victim : 0;
	else if (!below(8))
		absent = 1U << below(DEVICES);
	victim = SPEK_AUGMENT_NONE;
}

int main(int argc, char **argv)
{
	u64 cuts = argc > 2 ? strtoull(argv[2], NULL, 0) : 1000;
	u32 i;

	seed_given = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	random_state = seed_given * 0x9e3779b97f4a7c15ULL + 1;
	for (i = 0; i <= DEVICES; i++) {
		devices[i].stable = calloc(MAX_BLOCKS, BYTES);
		devices[i].view = calloc(MAX_BLOCKS, BYTES);
	}
	for (i = 0; i < SPEK_AUGMENT_BIOS; i++)
		bios[i].data = calloc(SPEK_AUGMENT_BIO_BLOCKS, BYTES);
	for (cuts_so_far = 0; cuts_so_far < cuts; cuts_so_far++) {
		if (cuts_so_far % 50 == 0)
			make_set();
		live();
		outcomes[0]++;
	}
	printf("cuts %u stale %u adopted %u errors %u losses %u detached %u repeated %u told %u\n", outcomes[0],
	       outcomes[1], outcomes[2], outcomes[3], outcomes[4], outcomes[5],
	       outcomes[6], outcomes[7]);
	return 0;
}
