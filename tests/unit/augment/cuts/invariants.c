// SPDX-License-Identifier: GPL-2.0
/* What is true of the machine between any two calls. */
#include "invariants.h"
#include "rig.h"

static u32 check_entries(const struct spek_augment *m)
{
	u32 dirty = 0;
	u32 i;

	for (i = 0; i < m->nr_entries; i++) {
		const struct spek_augment_entry *e = &m->entries[i];
		u32 state = spek_augment_state(e);

		dirty += state == SPEK_AUGMENT_DIRTY;
		if ((state == SPEK_AUGMENT_DIRTY || state == SPEK_AUGMENT_INFLIGHT) &&
		    (!spek_augment_in_log(m, i) ||
		     spek_augment_distance(m, i) >= spek_augment_used(m)))
			rig_fail("dirty block outside the log", i, state);
		if ((state == SPEK_AUGMENT_DIRTY || state == SPEK_AUGMENT_CLEAN ||
		     state == SPEK_AUGMENT_FILLING) &&
		    spek_augment_map_find(m, spek_augment_block_of(e)) != i)
			rig_fail("block not in the map", i, state);
	}
	return dirty;
}

/* From tail to head there are records, one after the other, with all numbers. */
static void check_log(const struct spek_augment *m)
{
	u32 place = m->tail;
	u64 seq = m->tail_seq;

	while (place != m->head) {
		const struct spek_augment_entry *e = &m->entries[place];

		if (spek_augment_state(e) != SPEK_AUGMENT_HEADER || seq > m->issued_seq)
			rig_fail("no record in the log", place, seq);
		place += 1 + e->low;
		if (place > m->config.log_blocks)
			rig_fail("a record beyond the end of the log", place, seq);
		if (place == m->config.log_blocks)
			place = 0;
		seq++;
	}
	if (seq != m->issued_seq + 1)
		rig_fail("records in the log", seq, m->issued_seq);
	if (m->flushed_seq > m->done_seq || m->done_seq > m->issued_seq ||
	    m->issued_seq - m->done_seq > SPEK_AUGMENT_RECORDS)
		rig_fail("order of records", m->flushed_seq, m->done_seq);
}

/* What is in use outside is in use inside. */
static void check_resources(const struct spek_augment *m)
{
	u32 pins = 0, reads = 0, free_stages = 0, i;

	for (i = 0; i < m->nr_entries; i++)
		pins += m->entries[i].member >> 4;
	for (i = 0; i < rig.nr_flights; i++) {
		const struct spek_augment_slot *slot = &m->slots[rig.flights[i].io.tag];

		reads += slot->purpose == SPEK_AUGMENT_FOR_HIT ? slot->io.blocks : 0;
		reads += slot->purpose == SPEK_AUGMENT_FOR_COPY;
		if ((slot->purpose != SPEK_AUGMENT_FOR_MISS &&
		     slot->purpose != SPEK_AUGMENT_FOR_PREFETCH) ||
		    slot->io.stage == SPEK_AUGMENT_NONE)
			continue;
		/* Room for copies is pinned while the RAID is read for them. */
		for (u32 k = 0; k < slot->io.blocks; k++)
			reads += m->stage_entries[slot->io.stage][k] != SPEK_AUGMENT_NONE;
	}
	for (i = 0; i < rig.nr_hits; i++)
		reads += rig.hits[i].hit.blocks;
	for (i = 0; i < SPEK_AUGMENT_STAGES; i++)
		free_stages += !m->stage_uses[i];
	if (pins != reads)
		rig_fail("entries held for reads", pins, reads);
	if (free_stages != m->free_stages)
		rig_fail("free buffers", free_stages, m->free_stages);
	if (m->nr_free_ios + rig.nr_flights != SPEK_AUGMENT_IOS)
		rig_fail("free I/O", m->nr_free_ios, rig.nr_flights);
}

void check_invariants(void)
{
	const struct spek_augment *m = &rig.machine;
	u32 dirty = check_entries(m);

	if (dirty != m->dirty)
		rig_fail("count of dirty blocks", dirty, m->dirty);
	check_log(m);
	check_resources(m);
}
