/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of the machine share. */
#ifndef SPEK_AUGMENT_MACHINE_H
#define SPEK_AUGMENT_MACHINE_H

#include "augment.h"

/* States of an entry, in the low 3 bits. */
#define SPEK_AUGMENT_FREE	0
#define SPEK_AUGMENT_HEADER	1
#define SPEK_AUGMENT_INFLIGHT	2
#define SPEK_AUGMENT_DIRTY	3
#define SPEK_AUGMENT_CLEAN	4
#define SPEK_AUGMENT_DEAD	5
#define SPEK_AUGMENT_FILLING	6
#define SPEK_AUGMENT_STATE	7
/* Used since the clock's hand passed. */
#define SPEK_AUGMENT_USED	0x08
/* The SSD has not got it. */
#define SPEK_AUGMENT_NO_SSD	0x10
#define SPEK_AUGMENT_DESTAGING	0x20
#define SPEK_AUGMENT_NO_MIRROR	0x40
/* Read ahead, and not asked for yet. */
#define SPEK_AUGMENT_AHEAD	0x80

#define SPEK_AUGMENT_PIN	0x10
#define SPEK_AUGMENT_PINS	0xf0

/* I/O that reads and writes of bios leave to destage, flushes and superblocks. */
#define SPEK_AUGMENT_RESERVE	64
/* I/O that destage and copies of records leave to flushes and superblocks. */
#define SPEK_AUGMENT_KEPT_IOS	24
/*
 * I/O that what belongs to no bio, or may outlive its bio, leaves: before it ends, all bios may be
 * flushes that go to the RAID and take one each. It takes one of these itself.
 */
#define SPEK_AUGMENT_BIO_IOS	(SPEK_AUGMENT_BIOS + 1)

enum spek_augment_purpose {
	SPEK_AUGMENT_FOR_HIT,
	SPEK_AUGMENT_FOR_MISS,
	SPEK_AUGMENT_FOR_PREFETCH,
	SPEK_AUGMENT_FOR_COPY,
	SPEK_AUGMENT_FOR_RECORD,
	SPEK_AUGMENT_FOR_FLUSH,
	SPEK_AUGMENT_FOR_DESTAGE_READ,
	SPEK_AUGMENT_FOR_DESTAGE_WRITE,
	SPEK_AUGMENT_FOR_DESTAGE_FLUSH,
	SPEK_AUGMENT_FOR_SUPER,
	SPEK_AUGMENT_FOR_WAKE,
	SPEK_AUGMENT_FOR_PASS,
	SPEK_AUGMENT_FOR_MEND,
};

enum spek_augment_step {
	SPEK_AUGMENT_IDLE,
	SPEK_AUGMENT_MOVE,
	SPEK_AUGMENT_SETTLE,
	SPEK_AUGMENT_BARRIER,
	SPEK_AUGMENT_RETAIL,
	SPEK_AUGMENT_ANNOUNCE,
	SPEK_AUGMENT_BEGIN,
};

#define SPEK_AUGMENT_ALL_MEMBERS \
	(((1U << SPEK_AUGMENT_MEMBERS) - 1) << SPEK_AUGMENT_MEMBER)

static inline u32 spek_augment_bit(u32 device)
{
	return 1U << device;
}

static inline u32 spek_augment_state(const struct spek_augment_entry *entry)
{
	return entry->state & SPEK_AUGMENT_STATE;
}

static inline u32 spek_augment_mirror_of(const struct spek_augment_entry *entry)
{
	return entry->member & 0x0f;
}

static inline u64 spek_augment_block_of(const struct spek_augment_entry *entry)
{
	return (u64)entry->high << 32 | entry->low;
}

static inline bool spek_augment_in_log(const struct spek_augment *m, u32 entry)
{
	return entry < m->config.log_blocks;
}

/* Distance from the tail: the order of places in the log. */
static inline u32 spek_augment_distance(const struct spek_augment *m, u32 entry)
{
	return entry >= m->tail ? entry - m->tail : entry + m->config.log_blocks - m->tail;
}

static inline u32 spek_augment_used(const struct spek_augment *m)
{
	return spek_augment_distance(m, m->head);
}

/* map.c */
void spek_augment_map_init(struct spek_augment *m);
u32 spek_augment_map_find(const struct spek_augment *m, u64 block);
void spek_augment_map_insert(struct spek_augment *m, u32 entry);
void spek_augment_map_remove(struct spek_augment *m, u32 entry);
void spek_augment_map_retire(struct spek_augment *m, u32 entry);
u32 spek_augment_map_take_copy(struct spek_augment *m, u64 block);
u32 spek_augment_source(const struct spek_augment *m, u32 entry);

/* policy.c */
bool spek_augment_wants_copy(struct spek_augment *m, u64 block);
bool spek_augment_is_sequential(struct spek_augment *m, const struct spek_augment_bio *bio);

/* io.c */
void spek_augment_io_init(struct spek_augment *m);
struct spek_augment_slot *spek_augment_io_new(struct spek_augment *m, u32 purpose, u32 op,
					      u32 device, u64 block, u32 blocks);
void spek_augment_io_repeat(struct spek_augment *m, struct spek_augment_slot *slot, u32 device);
void spek_augment_io_free(struct spek_augment *m, u32 tag);
u32 spek_augment_stage_take(struct spek_augment *m);
void spek_augment_stage_put(struct spek_augment *m, u32 stage);
void spek_augment_push(struct spek_augment *m, struct spek_augment_list *list, u32 bio);
u32 spek_augment_pop(struct spek_augment *m, struct spek_augment_list *list);

/* request.c */
bool spek_augment_is_stuck(const struct spek_augment *m);
void spek_augment_request_end(struct spek_augment *m, u32 bio);

/* read.c */
bool spek_augment_read_step(struct spek_augment *m, u32 bio);
bool spek_augment_read_end(struct spek_augment *m, struct spek_augment_slot *slot, int error);
void spek_augment_prefetch_end(struct spek_augment *m, struct spek_augment_slot *slot, int error);
void spek_augment_copy_end(struct spek_augment *m, struct spek_augment_slot *slot, int error);

/* record.c */
bool spek_augment_write_step(struct spek_augment *m, u32 bio);
void spek_augment_record_end(struct spek_augment *m, struct spek_augment_slot *slot, int error);

/* flush.c */
void spek_augment_flush_all(struct spek_augment *m);
void spek_augment_flush_step(struct spek_augment *m);
void spek_augment_flush_end(struct spek_augment *m, struct spek_augment_slot *slot, int error);

/* destage.c */
void spek_augment_destage_step(struct spek_augment *m);
void spek_augment_destage_end(struct spek_augment *m, struct spek_augment_slot *slot, int error);

/* wake.c */
bool spek_augment_has_mirror(struct spek_augment *m);
u32 spek_augment_any_mirror(const struct spek_augment *m);
void spek_augment_wake_set(struct spek_augment *m, u32 member, bool is_awake);
void spek_augment_wake_note(struct spek_augment *m, const struct spek_augment_slot *slot);
void spek_augment_wake_end(struct spek_augment *m, struct spek_augment_slot *slot, int error);

/* device.c */
void spek_augment_read_failed(struct spek_augment *m, u32 entry, u32 device);
u32 spek_augment_other(const struct spek_augment *m, u32 entry, u32 device);
void spek_augment_drain(struct spek_augment *m);
void spek_augment_drop(struct spek_augment *m, u32 device);
void spek_augment_pause(struct spek_augment *m);
void spek_augment_fail(struct spek_augment *m);
void spek_augment_resume(struct spek_augment *m);

/* lost.c */
void spek_augment_forget_step(struct spek_augment *m);

/* super.c */
u64 spek_augment_generation_of(const struct spek_augment *m, u64 seq);
bool spek_augment_has_span(const struct spek_augment *m);
void spek_augment_begin_generation(struct spek_augment *m, u64 tail_seq);
void spek_augment_super_announce(struct spek_augment *m);
void spek_augment_super_write(struct spek_augment *m, u32 devices, u32 tail, u64 tail_seq);

/* mend.c */
void spek_augment_mend_note(struct spek_augment *m, u32 header);
bool spek_augment_mend_step(struct spek_augment *m);
void spek_augment_mend_end(struct spek_augment *m, struct spek_augment_slot *slot, int error);

#endif
