// SPDX-License-Identifier: GPL-2.0
/*
 * driver SEED CUTS [FROM [BLOCK]] - lives of the machine on modelled devices, each ended by a power
 * cut. From cut FROM on a trace is printed, of a block or of all.
 *
 * Bios, ends of I/O, states of disks and failures come in random order. One device at a time may
 * fail: refuse writes, flushes or reads, vanish, be missing after a cut, and come back with what it
 * had. Several may be missing together, if one is left that was in use, and the others all that was
 * flushed: devices that were lost before would serve what they had then, and cannot know better.
 * The RAID may fail single I/O. After a cut everything is read. One in eight sets lives short lives
 * in which nothing fails and little is written, so that the log has records of more generations than
 * superblocks list.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draws.h"
#include "invariants.h"
#include "rig.h"
#include "trace.h"

#define BUSY		48

static void submit_any(void)
{
	u32 kind = below(20);
	u32 blocks = rig.is_calm || below(12) ? 1 + below(4) : 1 + below(60);
	/* Half of them in a small part, so that blocks are replaced. */
	u32 block = below(below(2) ? RAID_BLOCKS : 24);

	if (block + blocks > RAID_BLOCKS)
		blocks = RAID_BLOCKS - block;
	if (kind < 2)
		rig_submit(SPEK_AUGMENT_FLUSH, 0, 0, false);
	else if (kind < 8)
		rig_submit(SPEK_AUGMENT_READ, block, blocks, false);
	else if (history_has_room(block, blocks))
		rig_submit(SPEK_AUGMENT_WRITE, block, blocks, false);
}

static void lose(u32 device)
{
	spek_augment_lose(&rig.machine, rig.now_ns, device);
	rig_take();
	check_invariants();
}

/* While the machine drains what the lost device had a copy of, all reads go on. */
static void lose_victim(void)
{
	u32 block;

	rig.faults.victim_is_gone = true;
	rig.counts.losses++;
	lose(rig.faults.victim);
	for (block = 0; block < RAID_BLOCKS; block += 40)
		rig_submit(SPEK_AUGMENT_READ, block, 40, false);
}

static void check_all(void)
{
	u32 block;

	rig_settle();
	for (block = 0; block < RAID_BLOCKS; block += 40)
		rig_submit(SPEK_AUGMENT_READ, block, 40, true);
	rig_settle();
	check_invariants();
}

static void pass_time(u64 ns)
{
	rig.now_ns += ns;
	spek_augment_tick(&rig.machine, rig.now_ns);
	rig_take();
}

static void destage_all(void)
{
	spek_augment_destage_all(&rig.machine, rig.now_ns);
	rig_take();
}

/* Without the machine, the RAID alone has everything. */
static void check_detached(void)
{
	u32 block, i, k;
	u64 number;

	for (i = 0; i < 1000 && rig.machine.dirty; i++) {
		destage_all();
		rig_settle();
		pass_time(rig.config.retry_ns);
		rig_settle();
	}
	if (rig.machine.dirty)
		rig_fail("destage does not end", rig.machine.dirty, 0);
	for (block = 0; block < RAID_BLOCKS; block++)
		for (k = 0; k < SECTORS; k++) {
			memcpy(&number,
			       device_read(&rig.devices[DEVICES], block) + SECTOR_BYTES * k, 8);
			if (!history_allows(block, k, number, ~0ULL))
				rig_fail("not on the RAID", block, number);
		}
	rig.counts.detached++;
}

static void any_event(void)
{
	struct faults *faults = &rig.faults;
	u32 kind = below(100);

	if (kind < 35 && rig.nr_bios < BUSY) {
		submit_any();
	} else if (kind < 90 && rig.nr_flights + rig.nr_hits) {
		u32 which = below(rig.nr_flights + rig.nr_hits);

		if (which < rig.nr_flights)
			rig_complete(which);
		else
			rig_end_hit(which - rig.nr_flights);
	} else if (kind < 94) {
		u32 member = below(rig.config.nr_members);

		spek_augment_set_awake(&rig.machine, rig.now_ns, member, !below(3));
		rig_take();
	} else if (kind < 98) {
		pass_time(below(20000));
	} else if (kind < 99 && !rig.is_calm) {
		destage_all();
	} else if (faults->victim < DEVICES && !faults->victim_is_gone) {
		lose_victim();
	}
}

static u32 any_device(void)
{
	return below(2) ? SPEK_AUGMENT_SSD : 1 + below(rig.config.nr_members);
}

static void choose_faults(void)
{
	struct faults *faults = &rig.faults;

	faults->victim = SPEK_AUGMENT_NONE;
	faults->victim_rate = 0;
	faults->victim_is_gone = false;
	faults->garble_rate = below(8) ? 0 : 1 + below(16);
	faults->has_lost = false;
	faults->raid_rate = rig.is_calm || below(6) ? 0 : 10 + below(100);
	faults->raid_failed = faults->raid_rate != 0;
	/* One failure at a time: what is missing is that failure. */
	if (!rig.is_calm && !faults->absent && !below(3)) {
		faults->victim = any_device();
		faults->victim_rate = below(2) ? 4 + below(60) : 0;
	}
}

/* One that was in use is left, and the SSD, or all members that had a part of the log. */
static bool is_survivable(u32 absent)
{
	const u32 ssd = 1U << SPEK_AUGMENT_SSD;
	u32 left = rig.in_use & ~absent;

	if ((rig.in_use & ssd) && !(left & ssd) && left != (rig.in_use & ~ssd))
		return false;
	return left && rig_can_attach(absent);
}

/*
 * The victim may be missing from now on, or intact devices vanish with the power: more often if
 * that has left a generation that only some devices know of.
 */
static void choose_absent(bool again)
{
	struct faults *faults = &rig.faults;
	u32 absent = 0;

	if (faults->victim < DEVICES)
		absent = again || below(2) ? 1U << faults->victim : 0;
	else if (!rig.is_calm && !below(6))
		absent = draw() & ((2U << rig.config.nr_members) - 1);
	else if (!rig.is_calm && !below(rig.was_recovering ? 2 : 8))
		absent = 1U << any_device();
	faults->absent = is_survivable(absent) ? absent : 0;
	rig.counts.several += (faults->absent & (faults->absent - 1)) != 0;
	faults->victim = SPEK_AUGMENT_NONE;
}

/* All copies of what is dirty vanish: the machine tells which blocks, and serves the others. */
static void check_total_loss(void)
{
	u32 dirty = rig.machine.dirty, cursor = 0, told = 0, errors, device, i;
	struct spek_augment_range range;

	rig.faults.raid_failed = true;
	rig.faults.absent = (1U << DEVICES) - 1;
	for (device = 0; device <= rig.config.nr_members; device++)
		lose(device);
	rig_settle();
	/* It may have paused after a destage that failed. */
	pass_time(rig.config.retry_ns);
	rig_settle();
	while (spek_augment_next_lost(&rig.machine, &cursor, &range)) {
		for (i = 0; i < range.blocks; i++)
			if (!history_is_written(range.block + i))
				rig_fail("a block was told that nobody wrote", range.block + i, 0);
		told += range.blocks;
	}
	if (rig.machine.mode != SPEK_AUGMENT_FAILED || told != dirty ||
	    spek_augment_lost(&rig.machine) != dirty)
		rig_fail("losses told", told, dirty);
	rig_submit(SPEK_AUGMENT_FLUSH, 0, 0, false);
	if (rig.nr_bios)
		rig_fail("a flush waits in a machine that has failed", rig.nr_bios, 0);
	errors = rig.counts.errors;
	for (i = 0; i < RAID_BLOCKS; i++) {
		rig_submit(SPEK_AUGMENT_READ, i, 1, false);
		rig_settle();
	}
	if (rig.counts.errors - errors != told)
		rig_fail("reads that fail", rig.counts.errors - errors, told);
	rig.counts.told++;
}

static void recover(u32 fate)
{
	/* A check does not accept the errors that the RAID may cause. */
	u32 rate = rig.faults.raid_rate;

	rig_attach();
	check_invariants();
	/* Some lives end before recovery has. */
	if (fate <= 3)
		return;
	rig.faults.raid_rate = 0;
	check_all();
	rig.counts.kept += rig.machine.dirty && !rig.machine.stats.destaged;
	rig.counts.whole += !rig.may_tear;
	rig.may_tear = rig.machine.mode != SPEK_AUGMENT_NORMAL;
	rig.is_half_recovered = false;
	rig.faults.raid_rate = rate;
}

static void run(u32 events)
{
	u32 i;

	while (events-- && rig.machine.mode != SPEK_AUGMENT_FAILED) {
		any_event();
		if (!below(300))
			check_invariants();
		if (rig.nr_flights)
			continue;
		for (i = 0; i <= DEVICES; i++)
			device_compact(&rig.devices[i]);
	}
}

/* The power fails while a generation is announced or begun. */
static void run_into_generation(void)
{
	u32 events = 400;

	while (events-- && rig.machine.destage.step < SPEK_AUGMENT_ANNOUNCE)
		run(1);
	run(below(12));
}

static bool may_lose_all(void)
{
	return !rig.faults.absent && rig.faults.victim >= DEVICES && rig.machine.dirty &&
	       rig.machine.destage.step == SPEK_AUGMENT_IDLE;
}

static void live(void)
{
	u32 events = 1 + (rig.is_calm ? below(20) : below(3) ? below(150) : below(1800));
	u32 fate = below(rig.is_calm ? 30 : 40);
	bool again;

	/* In rows, and without a device, so that some know of generations that others have not seen. */
	if (fate <= 2 || (rig.faults.absent ? !below(3) : rig.was_recovering && below(3))) {
		events = 1 + below(40);
		fate = 0;
	}
	choose_faults();
	recover(fate);
	if (!fate && !rig.is_calm && below(2))
		run_into_generation();
	else
		run(events);
	if (fate > 30) {
		rig.faults.raid_rate = 0;
		rig_settle();
		if (fate < 33 && may_lose_all()) {
			check_total_loss();
			rig_cut();
			rig_make_set();
			return;
		}
		if (fate > 36 && rig.machine.mode != SPEK_AUGMENT_FAILED)
			check_detached();
	}
	again = rig_failed_in_recovery();
	rig.counts.repeated += again;
	if (rig.machine.mode == SPEK_AUGMENT_FAILED && !again)
		rig_fail("gave up after one failure", 0, 0);
	rig_cut();
	choose_absent(again);
}

int main(int argc, char **argv)
{
	u64 cuts = argc > 2 ? strtoull(argv[2], NULL, 0) : 1000;
	const struct counts *counts = &rig.counts;
	u32 i;

	rig_init(argc > 1 ? strtoull(argv[1], NULL, 0) : 1);
	if (argc > 3)
		trace_begin(strtoull(argv[3], NULL, 0),
			    argc > 4 ? strtoul(argv[4], NULL, 0) : SPEK_AUGMENT_NONE);
	for (rig.cuts = 0; rig.cuts < cuts; rig.cuts++) {
		if (rig.cuts % CUTS_OF_A_SET == 0)
			rig_make_set();
		live();
		rig.counts.cuts++;
	}
	printf("cuts %u stale %u adopted %u errors %u losses %u detached %u repeated %u several %u told %u hits %u retried %u late %u torn %u whole %u\n",
	       counts->cuts, counts->stale, counts->adopted, counts->errors, counts->losses,
	       counts->detached, counts->repeated, counts->several, counts->told, counts->hits, counts->retried,
	       counts->late, counts->torn, counts->whole);
	printf("crashes %u mended %u garbled %u swapped %u crowded %u kept %u ", counts->crashes,
	       counts->mended, counts->garbled, counts->swapped, counts->crowded, counts->kept);
	printf("ahead %llu", (unsigned long long)counts->ahead);
	for (i = 0; i < SPEK_AUGMENT_CAUSES; i++)
		printf(" wakes%u %llu", i, (unsigned long long)counts->wakes[i]);
	printf("\n");
	return 0;
}
