// SPDX-License-Identifier: GPL-2.0
/*
 * What happened, from a cut on, as lines on stdout: bios, I/O and adopted records, those that
 * concern a block of the RAID, and all flushes, superblocks, cuts and attaches. Nothing is drawn for
 * it, so that the lives are those without it.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "trace.h"

#define EVERY_BLOCK	SPEK_AUGMENT_NONE

typedef unsigned long long ull;

static const char *const purposes[] = {
	[SPEK_AUGMENT_FOR_HIT] = "hit",
	[SPEK_AUGMENT_FOR_MISS] = "miss",
	[SPEK_AUGMENT_FOR_PREFETCH] = "prefetch",
	[SPEK_AUGMENT_FOR_COPY] = "copy",
	[SPEK_AUGMENT_FOR_RECORD] = "record",
	[SPEK_AUGMENT_FOR_FLUSH] = "flush",
	[SPEK_AUGMENT_FOR_DESTAGE_READ] = "destage-read",
	[SPEK_AUGMENT_FOR_DESTAGE_WRITE] = "destage-write",
	[SPEK_AUGMENT_FOR_DESTAGE_FLUSH] = "destage-flush",
	[SPEK_AUGMENT_FOR_SUPER] = "superblock",
	[SPEK_AUGMENT_FOR_WAKE] = "wake",
	[SPEK_AUGMENT_FOR_PASS] = "pass",
	[SPEK_AUGMENT_FOR_MEND] = "mend",
};
static const char *const ops[] = { "read", "write", "flush", "wake" };
static const char *const modes[] = { "recovering", "normal", "draining", "passing", "failed" };

static u64 first_cut = ~0ULL;
static u32 wanted = EVERY_BLOCK;

/* From @cut on; of one block, or of SPEK_AUGMENT_NONE for all. */
void trace_begin(u64 cut, u32 block)
{
	first_cut = cut;
	wanted = block;
}

static bool is_on(void)
{
	return rig.cuts >= first_cut;
}

static bool is_wanted(u64 block, u32 blocks)
{
	return wanted == EVERY_BLOCK || !blocks || (block <= wanted && wanted < block + blocks);
}

static void line(const char *format, ...)
{
	va_list values;

	printf("%llu/%llu ", (ull)rig.cuts, (ull)rig.step);
	va_start(values, format);
	vprintf(format, values);
	va_end(values);
	putchar('\n');
}

void trace_bio(const struct host_bio *b)
{
	if (is_on() && is_wanted(b->bio.block, b->bio.blocks))
		line("submit %llu %s %llu+%u%s%s", (ull)b->number, ops[b->bio.op],
		     (ull)b->bio.block, b->bio.blocks, b->bio.fua ? " fua" : "",
		     b->bio.preflush ? " preflush" : "");
}

void trace_answer(const struct host_bio *b, int error)
{
	u64 first = b->bio.block, shown;

	if (!is_on() || !is_wanted(first, b->bio.blocks))
		return;
	line("answer %llu error %d", (ull)b->number, error);
	if (b->bio.op == SPEK_AUGMENT_READ && wanted != EVERY_BLOCK && !error) {
		memcpy(&shown, b->data[wanted - first], sizeof(shown));
		line("block %u shows %llu", wanted, (ull)shown);
	}
}

void trace_hit(const struct host_bio *b, const struct spek_augment_hit *hit)
{
	if (is_on() && is_wanted(b->bio.block, b->bio.blocks))
		line("hit %llu place %u+%u", (ull)b->number, hit->place, hit->blocks);
}

/* Blocks of the RAID that an I/O is about; none: it concerns all of them. */
static void range_of(const struct spek_augment_slot *slot, u64 *block, u32 *blocks)
{
	const struct spek_augment *m = &rig.machine;
	const struct spek_augment_record *record = &m->records[slot->index];

	*block = slot->io.block;
	*blocks = slot->io.blocks;
	switch (slot->purpose) {
	case SPEK_AUGMENT_FOR_RECORD:
		*blocks = record->blocks;
		if (record->blocks)
			*block = m->requests[record->bio].bio.block + record->bio_block;
		break;
	case SPEK_AUGMENT_FOR_HIT:
	case SPEK_AUGMENT_FOR_COPY:
	case SPEK_AUGMENT_FOR_DESTAGE_READ:
		*block = spek_augment_block_of(&m->entries[slot->entry]);
		break;
	case SPEK_AUGMENT_FOR_SUPER:
	case SPEK_AUGMENT_FOR_MEND:
		*blocks = 0;
		break;
	default:
		break;
	}
}

static void trace_io(const char *what, const struct flight *f, int err)
{
	const struct spek_augment *m = &rig.machine;
	const struct spek_augment_slot *slot = &m->slots[f->io.tag];
	u64 block;
	u32 blocks;

	if (!is_on())
		return;
	range_of(slot, &block, &blocks);
	if (!is_wanted(block, blocks))
		return;
	line("%s %s tag %u device %u place %llu+%u%s raid %llu+%u error %d", what,
	     purposes[slot->purpose], f->io.tag, f->io.device, (ull)f->io.block, f->io.blocks,
	     f->io.fua ? " fua" : "", (ull)block, blocks, err);
	if (slot->purpose == SPEK_AUGMENT_FOR_RECORD)
		line("record %llu", (ull)m->records[slot->index].seq);
	if (slot->purpose == SPEK_AUGMENT_FOR_SUPER)
		line("superblock version %llu generation %llu announced %llu tail %u sequence %llu",
		     (ull)m->super.version, (ull)m->super.generation,
		     (ull)m->super.announced, m->super.tail, (ull)m->super.tail_seq);
}

void trace_issue(const struct flight *f)
{
	trace_io("issue", f, 0);
}

/* Before the machine is told. */
void trace_complete(const struct flight *f, int err)
{
	trace_io("complete", f, err);
}

void trace_adopt(const struct spek_augment_header *header, u32 devices)
{
	if (is_on() && is_wanted(header->block, header->blocks))
		line("adopt record %llu place %u raid %llu+%u devices %#x", (ull)header->seq,
		     rig.machine.head, (ull)header->block, header->blocks, devices);
}

static void trace_machine(const char *what)
{
	const struct spek_augment *m = &rig.machine;

	line("%s %s generation %llu live %#x tail %u sequence %llu head %u issued %llu done %llu flushed %llu",
	     what, modes[m->mode], (ull)m->generation, m->live, m->tail, (ull)m->tail_seq, m->head,
	     (ull)m->issued_seq, (ull)m->done_seq, (ull)m->flushed_seq);
}

void trace_attach(u32 stale)
{
	if (!is_on())
		return;
	trace_machine("attach");
	line("absent %#x stale %#x", rig.faults.absent, stale);
}

void trace_cut(void)
{
	if (!is_on())
		return;
	trace_machine("cut");
	trace_history();
}

/* What the proof knows of the block. */
void trace_history(void)
{
	const struct past *writes;
	u32 nr, i;

	if (!is_on() || wanted == EVERY_BLOCK)
		return;
	writes = history_of(wanted, &nr);
	for (i = 0; i < nr; i++)
		line("write %llu began %llu ended %llu over %llu before %llu%s",
		     (ull)writes[i].number, (ull)writes[i].began, (ull)writes[i].ended,
		     (ull)writes[i].over, (ull)writes[i].before,
		     writes[i].must_stay ? " flushed" : "");
}
