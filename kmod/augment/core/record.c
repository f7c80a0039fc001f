// SPDX-License-Identifier: GPL-2.0
/* Writes: records of the log, and when they count. */
#include "machine.h"

static struct spek_augment_record *record_of(struct spek_augment *m, u64 seq)
{
	return &m->records[seq % SPEK_AUGMENT_RECORDS];
}

/* Blocks of data of the next record; false: there is no room. */
static bool fit(const struct spek_augment *m, u32 wanted, u32 *blocks)
{
	u32 to_end = m->config.log_blocks - m->head;
	u32 room = m->config.log_blocks - 1 - spek_augment_used(m);

	*blocks = wanted < SPEK_AUGMENT_RECORD_BLOCKS ? wanted : SPEK_AUGMENT_RECORD_BLOCKS;
	if (*blocks > to_end - 1)
		*blocks = to_end - 1;
	if (room < (to_end == 1 ? 1 : 2))
		return false;
	if (*blocks > room - 1)
		*blocks = room - 1;
	return true;
}

/*
 * What was destaged from here has served reads until now. It serves no new ones, which could follow
 * each other without end.
 *
 * Return: true if those that it still serves have ended, too.
 */
static bool evict(struct spek_augment *m, u32 entry, u32 blocks)
{
	bool is_read = false;
	u32 i;

	for (i = 0; i < blocks; i++) {
		if (spek_augment_state(&m->entries[entry + i]) == SPEK_AUGMENT_CLEAN)
			spek_augment_map_retire(m, entry + i);
		if (m->entries[entry + i].member & SPEK_AUGMENT_PINS)
			is_read = true;
	}
	return !is_read;
}

static void write_to(struct spek_augment *m, struct spek_augment_record *record, u32 device)
{
	struct spek_augment_slot *slot;

	slot = spek_augment_io_new(m, SPEK_AUGMENT_FOR_RECORD, SPEK_AUGMENT_WRITE, device,
				   (u64)record->entry + SPEK_AUGMENT_LOG_START, 1 + record->blocks);
	slot->index = record->seq % SPEK_AUGMENT_RECORDS;
	slot->io.encoded = true;
	slot->io.record = slot->index;
	if (record->blocks) {
		slot->io.bio = record->bio;
		slot->io.bio_block = record->bio_block;
	}
	record->pending |= spek_augment_bit(device);
}

static void issue_record(struct spek_augment *m, u32 bio, u32 blocks)
{
	struct spek_augment_request *request = &m->requests[bio];
	struct spek_augment_record *record = record_of(m, ++m->issued_seq);
	u64 block = request->bio.block + request->issued;
	struct spek_augment_entry *entry = &m->entries[m->head];
	u32 i;

	spek_memset(record, 0, sizeof(*record));
	record->seq = m->issued_seq;
	record->entry = m->head;
	record->blocks = blocks;
	record->bio = bio;
	record->bio_block = request->issued;
	entry->state = SPEK_AUGMENT_HEADER;
	entry->low = blocks;
	for (i = 0; i < blocks; i++) {
		entry = &m->entries[m->head + 1 + i];
		entry->state = SPEK_AUGMENT_INFLIGHT;
		entry->low = block + i;
		entry->high = (block + i) >> 32;
		entry->member = m->mirror;
	}
	write_to(m, record, SPEK_AUGMENT_SSD);
	write_to(m, record, m->mirror);
	m->head += 1 + blocks;
	if (m->head == m->config.log_blocks)
		m->head = 0;
	if (m->mark_ns == SPEK_AUGMENT_NEVER)
		m->mark_ns = m->now_ns;
	m->stats.records++;
	if (!blocks)
		return;
	request->target = record->seq;
	request->issued += blocks;
	request->parts++;
}

static void pass(struct spek_augment *m, u32 bio)
{
	struct spek_augment_request *request = &m->requests[bio];
	u32 blocks = request->bio.blocks - request->issued;
	struct spek_augment_slot *slot;

	slot = spek_augment_io_new(m, SPEK_AUGMENT_FOR_PASS, SPEK_AUGMENT_WRITE, SPEK_AUGMENT_RAID,
				   request->bio.block + request->issued, blocks);
	slot->index = bio;
	slot->io.bio = bio;
	slot->io.bio_block = request->issued;
	slot->io.fua = request->bio.fua;
	slot->io.preflush = request->bio.preflush;
	request->issued += blocks;
	request->parts++;
}

/**
 * spek_augment_write_step() - issue what a write needs
 * @m: machine
 * @bio: number of the bio
 *
 * Return: true if all of it has been issued.
 */
bool spek_augment_write_step(struct spek_augment *m, u32 bio)
{
	struct spek_augment_request *request = &m->requests[bio];
	u32 blocks;

	while (request->issued < request->bio.blocks) {
		if (m->nr_free_ios < SPEK_AUGMENT_RESERVE)
			return false;
		if (m->mode == SPEK_AUGMENT_PASSING) {
			pass(m, bio);
			continue;
		}
		if (m->mode != SPEK_AUGMENT_NORMAL ||
		    m->issued_seq - m->done_seq == SPEK_AUGMENT_RECORDS ||
		    !spek_augment_has_mirror(m))
			return false;
		if (!fit(m, request->bio.blocks - request->issued, &blocks) ||
		    !evict(m, m->head, 1 + blocks))
			return false;
		issue_record(m, bio, blocks);
	}
	return true;
}

static bool is_newer(const struct spek_augment *m, u32 entry, u32 than)
{
	u32 distance;

	if (!spek_augment_in_log(m, entry))
		return false;
	distance = spek_augment_distance(m, entry);
	return distance < spek_augment_used(m) && distance > spek_augment_distance(m, than);
}

/* From now on reads see the record's blocks, except where a newer record was faster. */
static void publish(struct spek_augment *m, struct spek_augment_record *record, u32 good)
{
	u32 i;

	for (i = 0; i < record->blocks; i++) {
		u32 entry = record->entry + 1 + i;
		struct spek_augment_entry *written = &m->entries[entry];
		u32 old = spek_augment_map_find(m, spek_augment_block_of(written));

		if (!good || (old != SPEK_AUGMENT_NONE && is_newer(m, old, entry))) {
			written->state = SPEK_AUGMENT_DEAD;
			continue;
		}
		if (old != SPEK_AUGMENT_NONE)
			spek_augment_map_retire(m, old);
		written->state = SPEK_AUGMENT_DIRTY;
		if (!(good & spek_augment_bit(SPEK_AUGMENT_SSD)))
			written->state |= SPEK_AUGMENT_NO_SSD;
		if (!(good & spek_augment_bit(spek_augment_mirror_of(written))))
			written->state |= SPEK_AUGMENT_NO_MIRROR;
		m->dirty++;
		spek_augment_map_insert(m, entry);
	}
}

/**
 * spek_augment_record_end() - end a write of a record to one device
 * @m: machine
 * @slot: the I/O
 * @error: 0 or a negative errno
 */
void spek_augment_record_end(struct spek_augment *m, struct spek_augment_slot *slot, int error)
{
	struct spek_augment_record *record = &m->records[slot->index];
	struct spek_augment_request *request = &m->requests[record->bio];
	u32 bit = spek_augment_bit(slot->io.device);

	record->pending &= ~bit;
	if (error) {
		spek_augment_drop(m, slot->io.device);
	} else {
		record->good |= bit;
		m->unflushed |= bit;
	}
	if (record->pending)
		return;
	publish(m, record, record->good & m->live);
	while (m->done_seq < m->issued_seq && !record_of(m, m->done_seq + 1)->pending)
		m->done_seq++;
	m->again = true;
	if (!record->blocks)
		return;
	if (!(record->good & m->live))
		request->error = -EIO;
	request->parts--;
	spek_augment_request_end(m, record->bio);
}
