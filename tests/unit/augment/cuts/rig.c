// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draws.h"
#include "garble.h"
#include "rig.h"
#include "trace.h"

struct rig rig;

static u32 memory[(MAX_BLOCKS * 16) / 4];
static u8 stages[SPEK_AUGMENT_STAGES][SPEK_AUGMENT_STAGE_BLOCKS][BYTES];

void rig_fail(const char *what, u64 a, u64 b)
{
	printf("seed %llu cut %llu step %llu: %s (%llu, %llu), mode %u victim %u\n",
	       (unsigned long long)rig.seed, (unsigned long long)rig.cuts,
	       (unsigned long long)rig.step, what, (unsigned long long)a, (unsigned long long)b,
	       rig.machine.mode, rig.faults.victim);
	trace_history();
	exit(1);
}

static struct device *device_of(u32 device)
{
	return &rig.devices[device == SPEK_AUGMENT_RAID ? DEVICES : device];
}

/* ---- data ---- */

static void fill_block(u8 *to, u64 number, u64 block)
{
	u32 i;

	for (i = 0; i < SECTORS; i++) {
		memcpy(to + SECTOR_BYTES * i, &number, 8);
		memcpy(to + SECTOR_BYTES * i + 8, &block, 8);
	}
}

static u32 crc_of(const u8 *data)
{
	u8 marks[SECTORS * 16];
	u32 i;

	for (i = 0; i < SECTORS; i++)
		memcpy(marks + 16 * i, data + SECTOR_BYTES * i, 16);
	return spek_augment_crc32c(marks, sizeof(marks));
}

static struct host_bio *bio_of(u32 number)
{
	return &rig.bios[rig.machine.requests[number].bio.cookie];
}

/* ---- I/O ---- */

static void read_blocks(const struct spek_augment_io *io)
{
	u32 i;

	for (i = 0; i < io->blocks; i++) {
		const u8 *from = device_read(device_of(io->device), io->block + i);

		if (io->bio != SPEK_AUGMENT_NONE)
			memcpy(bio_of(io->bio)->data[io->bio_block + i], from, BYTES);
		if (io->stage != SPEK_AUGMENT_NONE)
			memcpy(stages[io->stage][io->stage_block + i], from, BYTES);
	}
	if (io->stage != SPEK_AUGMENT_NONE)
		garble(io, stages[io->stage]);
}

static int check_copy(const struct spek_augment_io *io)
{
	u8 (*stage)[BYTES] = stages[io->stage];
	u32 crc[SPEK_AUGMENT_STAGE_BLOCKS];
	u32 i;
	int err;

	for (i = 0; i < io->blocks; i++)
		crc[i] = crc_of(stage[io->stage_block + i]);
	err = spek_augment_check_copy(&rig.machine, io->tag, stage[0], crc);
	if (!err != garble_is_intact(io, stage))
		rig_fail(err ? "an intact copy is refused" : "a wrong copy is taken",
			 io->block, io->blocks);
	return err;
}

/* A copy that is not sent: what it has of dirty blocks may be nowhere else. */
static void refuse_copy(const struct spek_augment_io *io, int err)
{
	u32 entry = io->block - SPEK_AUGMENT_LOG_START;
	u32 i;

	rig.counts.garbled++;
	spek_augment_complete(&rig.machine, rig.now_ns, io->tag, err);
	for (i = 0; i < io->blocks; i++)
		if (spek_augment_state(&rig.machine.entries[entry + i]) == SPEK_AUGMENT_DIRTY &&
		    spek_augment_source(&rig.machine, entry + i) == SPEK_AUGMENT_NONE)
			rig.faults.has_lost = true;
}

/* A record's header is encoded once, for the SSD, as the module does. */
static const u8 *head_of(const struct spek_augment_io *io)
{
	static u8 heads[SPEK_AUGMENT_RECORDS][BYTES], super[BYTES];
	u8 *head = io->record == SPEK_AUGMENT_NONE ? super : heads[io->record];

	if (io->record == SPEK_AUGMENT_NONE || io->device == SPEK_AUGMENT_SSD)
		spek_augment_encode(&rig.machine, io->tag, head);
	return head;
}

static const u8 *data_of(const struct spek_augment_io *io, u32 i)
{
	if (io->encoded && !i)
		return head_of(io);
	i -= io->encoded;
	if (io->bio != SPEK_AUGMENT_NONE)
		return bio_of(io->bio)->data[io->bio_block + i];
	return stages[io->stage][io->stage_block + i];
}

static void issue(const struct spek_augment_io *io)
{
	struct flight *f = &rig.flights[rig.nr_flights++];
	struct device *d = device_of(io->device);
	u32 i;

	if (io->device != SPEK_AUGMENT_RAID && io->device > rig.config.nr_members)
		rig_fail("I/O to a device that is not there", io->device, 0);
	if (io->op <= SPEK_AUGMENT_WRITE && (!io->blocks || io->block + io->blocks > d->blocks))
		rig_fail("I/O beyond the end of a device", io->block, io->blocks);
	if (rig.machine.slots[io->tag].purpose == SPEK_AUGMENT_FOR_DESTAGE_WRITE &&
	    rig.machine.destage.stuck && rig.now_ns < rig.machine.destage.retry_at_ns)
		rig_fail("destage in the pause after a failure", io->block, rig.now_ns);
	f->io = *io;
	f->issued = ++rig.step;
	f->early = below(2);
	trace_issue(f);
	if (io->op == SPEK_AUGMENT_READ && f->early)
		read_blocks(io);
	if (io->op != SPEK_AUGMENT_WRITE)
		return;
	f->first_write = d->nr_cached;
	for (i = 0; i < io->blocks; i++)
		device_begin(d, io->block + i, data_of(io, i));
}

static void take_answers(void);

/* A write that waits for nothing but reads of its place in the log keeps new ones away. */
static void check_waiting(const struct spek_augment *m)
{
	if (m->mode != SPEK_AUGMENT_NORMAL || m->writes.first == SPEK_AUGMENT_NONE ||
	    m->nr_free_ios < SPEK_AUGMENT_RESERVE ||
	    m->issued_seq - m->done_seq == SPEK_AUGMENT_RECORDS ||
	    m->config.log_blocks - spek_augment_used(m) < 3 ||
	    !m->mirror || !(m->live & m->awake & spek_augment_bit(m->mirror)))
		return;
	if (spek_augment_state(&m->entries[m->head]) == SPEK_AUGMENT_CLEAN)
		rig_fail("reads before a write", m->head, spek_augment_used(m));
}

/* Take what the machine has to say, and issue what it wants. */
void rig_take(void)
{
	struct spek_augment_io io;

	take_answers();
	rig.may_tear |= rig.machine.mode >= SPEK_AUGMENT_DRAINING;
	if (rig.machine.mode == SPEK_AUGMENT_NORMAL || rig.machine.mode == SPEK_AUGMENT_PASSING)
		rig.in_use = rig.machine.super.devices;
	while (spek_augment_next_io(&rig.machine, &io)) {
		int err = io.is_copy ? check_copy(&io) : 0;

		if (err)
			refuse_copy(&io, err);
		else
			issue(&io);
	}
	check_waiting(&rig.machine);
}

static int error_of(const struct spek_augment_io *io)
{
	struct faults *faults = &rig.faults;

	if (io->device == SPEK_AUGMENT_RAID) {
		if (faults->raid_rate && !below(faults->raid_rate)) {
			faults->raid_failed = true;
			return -EIO;
		}
		return 0;
	}
	if (io->device != faults->victim && !(faults->absent >> io->device & 1))
		return 0;
	if (faults->victim_is_gone || faults->absent >> io->device & 1)
		return -EIO;
	return faults->victim_rate && !below(faults->victim_rate) ? -EIO : 0;
}

static void end_write(const struct flight *f, int err)
{
	struct device *d = device_of(f->io.device);
	u32 i;

	if (!err && f->io.preflush)
		device_flush(d, f->issued);
	for (i = 0; i < f->io.blocks; i++) {
		if (err)
			device_fail(d, f->first_write + i, rig.step);
		else
			device_end(d, f->first_write + i, rig.step, f->io.fua);
	}
}

/* End the I/O in flight with this index. */
void rig_complete(u32 which)
{
	struct flight f = rig.flights[which];
	int err = error_of(&f.io);

	rig.step++;
	trace_complete(&f, err);
	rig.flights[which] = rig.flights[--rig.nr_flights];
	if (f.io.op == SPEK_AUGMENT_READ && !err && !f.early)
		read_blocks(&f.io);
	if (f.io.op == SPEK_AUGMENT_WRITE)
		end_write(&f, err);
	if (f.io.op == SPEK_AUGMENT_FLUSH && !err)
		device_flush(device_of(f.io.device), f.issued);
	rig.now_ns += below(1000);
	spek_augment_complete(&rig.machine, rig.now_ns, f.io.tag, err);
	rig_take();
}

/* ---- hits ---- */

static void read_hit(const struct hit_flight *h)
{
	u32 i;

	for (i = 0; i < h->hit.blocks; i++)
		memcpy(rig.bios[h->bio].data[i],
		       device_read(&rig.devices[SPEK_AUGMENT_SSD], h->hit.place + i), BYTES);
}

static bool begin_hit(const struct host_bio *b)
{
	struct hit_flight *h = &rig.hits[rig.nr_hits];

	if (rig.nr_hits == SPEK_AUGMENT_BIOS ||
	    !spek_augment_begin_hit(&rig.machine, b->bio.block, b->bio.blocks, &h->hit))
		return false;
	if (h->hit.blocks != b->bio.blocks ||
	    h->hit.place + h->hit.blocks > rig.devices[SPEK_AUGMENT_SSD].blocks)
		rig_fail("a hit beyond the end of the SSD", h->hit.place, h->hit.blocks);
	rig.nr_hits++;
	h->bio = b - rig.bios;
	h->early = below(2);
	h->is_over = false;
	trace_hit(b, &h->hit);
	if (h->early)
		read_hit(h);
	return true;
}

static void tell_hit(u32 which, int err)
{
	const struct spek_augment_hit hit = rig.hits[which].hit;

	rig.hits[which] = rig.hits[--rig.nr_hits];
	spek_augment_end_hit(&rig.machine, &hit, err);
}

static void end_bio(struct host_bio *b, int error);

static void submit(struct host_bio *b)
{
	if (spek_augment_submit(&rig.machine, rig.now_ns, &b->bio))
		rig_fail("refused", b->bio.op, b->bio.block);
}

/*
 * End a hit in flight, or tell the machine of one that is over: it may get to know late, but for a
 * hit that failed, and if something waits.
 */
void rig_end_hit(u32 which)
{
	const struct spek_augment_io io = { .device = SPEK_AUGMENT_SSD };
	struct hit_flight *h = &rig.hits[which];
	struct host_bio *b = &rig.bios[h->bio];
	int err = 0;

	rig.step++;
	if (!h->is_over) {
		err = error_of(&io);
		if (!h->early)
			read_hit(h);
		h->is_over = true;
		if (!err)
			end_bio(b, 0);
		if (!err && !spek_augment_waits(&rig.machine) && below(2)) {
			rig.counts.late++;
			return;
		}
	}
	tell_hit(which, err);
	if (err) {
		rig.counts.retried++;
		submit(b);
	}
	if (spek_augment_waits(&rig.machine))
		spek_augment_tick(&rig.machine, rig.now_ns);
	rig_take();
}

/* Tell the machine of all hits that are over. */
static void tell_hits(void)
{
	u32 i = rig.nr_hits;

	while (i--)
		if (rig.hits[i].is_over)
			tell_hit(i, 0);
}

/* Complete everything; more time passes when nothing is in flight. */
void rig_settle(void)
{
	u32 idle = 0;

	while (rig.nr_flights || rig.nr_bios || rig.nr_hits) {
		if (rig.nr_hits && (!rig.nr_flights || below(2))) {
			rig_end_hit(below(rig.nr_hits));
			continue;
		}
		if (rig.nr_flights) {
			rig_complete(below(rig.nr_flights));
			continue;
		}
		if (idle++ == 1000)
			rig_fail("bios hang", rig.nr_bios, 0);
		rig.now_ns += rig.config.retry_ns / 4;
		spek_augment_tick(&rig.machine, rig.now_ns);
		rig_take();
	}
}

/* ---- the host ---- */

/*
 * A record that no flush has covered may have survived a cut on one device only. If that device
 * fails before recovery has ended, recovery has to be repeated without it; if it has returned wrong
 * data of a block that nothing else has, with it.
 */
bool rig_failed_in_recovery(void)
{
	return rig.machine.mode == SPEK_AUGMENT_FAILED &&
	       rig.machine.generation == rig.first_generation &&
	       (rig.faults.victim < DEVICES || rig.faults.has_lost);
}

/*
 * Destage writes to the RAID what is in the log for sure, so a cut tears no block; but the log of a
 * device that was lost has not been flushed, and without a log it is as with any disk.
 */
static void check_whole(u32 block, const u64 *numbers)
{
	if (history_is_torn(block, numbers)) {
		rig.counts.torn++;
		if (!rig.may_tear)
			rig_fail("torn by a cut", block, numbers[0]);
	}
	history_settle(block, numbers);
}

static void check_block(const struct host_bio *b, u32 i)
{
	u32 block = b->bio.block + i;
	u64 numbers[SECTORS];
	u32 k;

	for (k = 0; k < SECTORS; k++) {
		u64 place;

		memcpy(&numbers[k], b->data[i] + SECTOR_BYTES * k, 8);
		memcpy(&place, b->data[i] + SECTOR_BYTES * k + 8, 8);
		if (place != block)
			rig_fail("data of another block", block, place);
		if (b->is_check && !history_survives(block, k, numbers[k]))
			rig_fail("lost after a cut", block, numbers[k]);
		if (!b->is_check && !history_allows(block, k, numbers[k], b->began))
			rig_fail("stale read", block, numbers[k]);
		if (!b->is_check && !k && !rig_failed_in_recovery())
			history_shown(block, numbers[k], b->began);
	}
	/* If recovery is repeated without a device, what that alone has is lost, though it was read. */
	if (b->is_check && !rig_failed_in_recovery())
		check_whole(block, numbers);
}

static void answered(const struct host_bio *b)
{
	u32 i;

	if (b->bio.op == SPEK_AUGMENT_READ)
		for (i = 0; i < b->bio.blocks; i++)
			check_block(b, i);
	if (b->bio.op == SPEK_AUGMENT_WRITE)
		history_end(b->bio.block, b->bio.blocks, b->number, rig.step);
	if (b->bio.op == SPEK_AUGMENT_FLUSH || b->bio.preflush)
		history_flush(b->began);
	if (b->bio.fua)
		history_fua(b->number);
}

static void end_bio(struct host_bio *b, int error)
{
	rig.step++;
	if (!b->used)
		rig_fail("answered twice", b - rig.bios, 0);
	b->used = false;
	rig.nr_bios--;
	trace_answer(b, error);
	if (!error) {
		answered(b);
		return;
	}
	if (!rig.faults.raid_failed && !rig_failed_in_recovery())
		rig_fail("error without a reason", b->bio.op, -error);
	rig.counts.errors++;
	if (b->is_check && !rig_failed_in_recovery())
		rig_fail("check failed", b->bio.block, 0);
}

static void take_answers(void)
{
	struct spek_augment_answer answer;

	while (spek_augment_next_answer(&rig.machine, &answer))
		end_bio(&rig.bios[answer.cookie], answer.error);
}

static void begin_write(struct host_bio *b)
{
	u32 i;

	b->bio.fua = !below(6);
	b->bio.preflush = !below(12);
	for (i = 0; i < b->bio.blocks; i++) {
		history_begin(b->bio.block + i, b->number, b->began);
		fill_block(b->data[i], b->number, b->bio.block + i);
		b->crc[i] = crc_of(b->data[i]);
	}
}

/* A write needs room in the history. */
void rig_submit(u32 op, u32 block, u32 blocks, bool is_check)
{
	struct host_bio *b = rig.bios;

	while (b->used)
		b++;
	memset(&b->bio, 0, sizeof(b->bio));
	b->used = true;
	b->is_check = is_check;
	b->began = ++rig.step;
	b->number = ++rig.numbers;
	b->bio.op = op;
	b->bio.block = block;
	b->bio.blocks = blocks;
	b->bio.cookie = b - rig.bios;
	b->bio.crc = b->crc;
	if (op == SPEK_AUGMENT_WRITE)
		begin_write(b);
	rig.nr_bios++;
	trace_bio(b);
	if (op == SPEK_AUGMENT_READ && below(2)) {
		/* What is over is told before another one begins. */
		tell_hits();
		if (begin_hit(b)) {
			rig.counts.hits++;
			return;
		}
	}
	submit(b);
	rig_take();
}

/* ---- power ---- */

static void look_at_data(u32 devices, struct spek_augment_next *next)
{
	u32 first = SPEK_AUGMENT_LOG_START + rig.machine.head + 1;
	u32 device, i;

	for (device = 0; device < DEVICES; device++)
		for (i = 0; (devices >> device & 1) && i < next->header.blocks; i++) {
			u32 crc = crc_of(device_read(&rig.devices[device], first + i));

			spek_augment_next_block(next, device, i, &crc);
		}
}

static bool adopt_next(u32 readable)
{
	u32 place = SPEK_AUGMENT_LOG_START + rig.machine.head;
	struct spek_augment_next next = { 0 };
	u32 device;

	for (device = 0; device < DEVICES; device++)
		if (readable >> device & 1)
			spek_augment_next_header(&rig.machine, &next, device,
						 device_read(&rig.devices[device], place));
	look_at_data(next.headers, &next);
	look_at_data(spek_augment_next_others(&next, readable), &next);
	if (spek_augment_next_holders(&next))
		trace_adopt(&next.header, spek_augment_next_holders(&next));
	return spek_augment_next_adopt(&rig.machine, &next, false);
}

static int choose(u32 absent, struct spek_augment_scan *scan, struct spek_refusal *refusal)
{
	struct spek_augment_super supers[2 * (1 + SPEK_AUGMENT_MEMBERS)];
	u32 found[1 + SPEK_AUGMENT_MEMBERS] = { 0 };
	u32 i;

	for (i = 0; i < 2 * DEVICES; i++)
		if (!(absent >> (i / 2) & 1) &&
		    spek_augment_super_decode(device_read(&rig.devices[i / 2], i % 2), &supers[i]))
			found[i / 2] |= 1U << i % 2;
	return spek_augment_choose(&rig.config, supers, found, scan, refusal);
}

/* Whether the set is not refused without these devices. */
bool rig_can_attach(u32 absent)
{
	struct spek_augment_scan scan;
	struct spek_refusal refusal;

	return !choose(absent, &scan, &refusal);
}

/* Start the machine on what is on the devices. */
void rig_attach(void)
{
	struct spek_augment_scan scan;
	struct spek_refusal refusal;

	if (choose(rig.faults.absent, &scan, &refusal))
		rig_fail(refusal.text, refusal.index, 0);
	spek_augment_init(&rig.machine, &rig.config, memory);
	spek_augment_recover(&rig.machine, &scan);
	rig.first_generation = rig.machine.generation;
	rig.may_tear |= rig.faults.absent && rig.is_half_recovered;
	trace_attach(scan.stale);
	rig.counts.stale += scan.stale != 0;
	while (adopt_next(scan.present & ~scan.stale))
		rig.counts.adopted++;
	rig.counts.mended += rig.machine.keeps_log &&
			     rig.machine.mend.first != SPEK_AUGMENT_NONE;
	rig.counts.crowded += !spek_augment_has_span(&rig.machine);
	if (spek_augment_is_short(&rig.machine))
		rig_fail("the log is short", rig.machine.issued_seq, 0);
	spek_augment_start(&rig.machine, rig.now_ns);
	rig_take();
}

/* The devices keep their caches; each block of what is in flight is written or not. */
static void crash(void)
{
	u32 i;

	for (i = 0; i < rig.nr_flights; i++)
		if (rig.flights[i].io.op == SPEK_AUGMENT_WRITE)
			end_write(&rig.flights[i], -EIO);
}

/* The power fails, or only the kernel. */
void rig_cut(void)
{
	bool is_crash = !below(6);
	u32 i;

	trace_cut();
	if (is_crash)
		crash();
	rig.counts.crashes += is_crash;
	rig.was_recovering = rig.machine.mode == SPEK_AUGMENT_RECOVERING;
	rig.is_half_recovered |= rig.was_recovering;
	rig.counts.ahead += rig.machine.stats.prefetch_hits;
	for (i = 0; i < SPEK_AUGMENT_CAUSES; i++)
		rig.counts.wakes[i] += rig.machine.stats.wakes[i];
	for (i = 0; !is_crash && i <= DEVICES; i++)
		device_cut(&rig.devices[i]);
	history_cut(++rig.step);
	for (i = 0; i < SPEK_AUGMENT_BIOS; i++)
		rig.bios[i].used = false;
	rig.nr_bios = 0;
	rig.nr_flights = 0;
	rig.nr_hits = 0;
}

/* ---- sets ---- */

static void choose_config(struct spek_augment_config *config)
{
	u32 i;

	memset(config, 0, sizeof(*config));
	for (i = 0; i < 16; i++)
		config->uuid[i] = draw();
	config->raid_blocks = RAID_BLOCKS;
	config->log_blocks = LOG_BLOCKS;
	config->ssd_blocks = SPEK_AUGMENT_LOG_START + LOG_BLOCKS + below(MAX_COPIES);
	/* With one member, its loss lets writes pass by the SSD. */
	config->nr_members = below(2) ? MEMBER_NR : 1 + below(2);
	config->copy = below(3);
	config->stripe_blocks = 1 + below(24);
	config->sequential_blocks = 20 + below(60);
	config->high_blocks = 20 + below(LOG_BLOCKS - 64 - 20);
	config->low_blocks = below(config->high_blocks);
	config->age_ns = below(2) ? 20000 + below(100000) : 0;
	config->quiet_ns = below(3) ? 10000 : SPEK_AUGMENT_NEVER;
	config->retry_ns = 5000;
	config->wake = below(2);
	config->prefetch_blocks = below(2) ? below(SPEK_AUGMENT_STAGE_BLOCKS + 1) : 0;
	rig.is_calm = rig.cuts / CUTS_OF_A_SET % CALM_SETS == CALM_SETS - 1;
	if (!rig.is_calm)
		return;
	config->high_blocks = LOG_BLOCKS - 64;
	config->age_ns = 0;
	config->quiet_ns = SPEK_AUGMENT_NEVER;
}

static void format(u32 device)
{
	struct spek_augment_super super;
	u8 block[BYTES];
	u32 copy;

	spek_augment_format(&rig.config, device, &super);
	spek_augment_super_encode(&super, block);
	for (copy = 0; copy < 2; copy++)
		device_put(&rig.devices[device], copy, block);
}

/* Begin with another set of devices, sizes and policy. */
void rig_make_set(void)
{
	struct spek_refusal refusal;
	u8 block[BYTES] = { 0 };
	u32 i;

	choose_config(&rig.config);
	if (spek_augment_check(&rig.config, &refusal))
		rig_fail(refusal.text, 0, 0);
	for (i = 0; i <= DEVICES; i++)
		device_cut(&rig.devices[i]);
	device_clear(&rig.devices[DEVICES], RAID_BLOCKS);
	for (i = 0; i < RAID_BLOCKS; i++) {
		fill_block(block, 0, i);
		device_put(&rig.devices[DEVICES], i, block);
	}
	for (i = 0; i < DEVICES; i++) {
		device_clear(&rig.devices[i], i ? SPEK_AUGMENT_LOG_START + LOG_BLOCKS :
						  rig.config.ssd_blocks);
		format(i);
	}
	history_clear();
	rig.faults.absent = 0;
	rig.may_tear = false;
	rig.is_half_recovered = false;
	rig.was_recovering = false;
	rig.in_use = (2U << rig.config.nr_members) - 1;
}

void rig_init(u64 seed)
{
	u32 i;

	rig.seed = seed;
	draws_seed(seed);
	for (i = 0; i <= DEVICES; i++)
		device_init(&rig.devices[i], MAX_BLOCKS, i < DEVICES);
	for (i = 0; i < SPEK_AUGMENT_BIOS; i++)
		rig.bios[i].data = calloc(SPEK_AUGMENT_BIO_BLOCKS, BYTES);
}
