// SPDX-License-Identifier: GPL-2.0
/*
 * Before the machine starts, the caller reads the superblocks of all devices, and then the log:
 *
 *	spek_augment_choose(config, supers, found, &scan, refusal);
 *	spek_augment_recover(m, &scan);
 *	do {
 *		spek_augment_next_begin(&next);
 *		spek_augment_next_header() of each device that is present and not stale: what is at
 *		m->head;
 *		spek_augment_next_block() of each device with the header, then of the devices of
 *		spek_augment_next_others(): what is behind it;
 *	} while (spek_augment_next_adopt(m, &next, gives_up));
 *	spek_augment_start(m, now_ns);
 *
 * Before it serves bios, the machine copies records that are on one device only: a bio could read
 * them, and the next failure lose them. Then it begins a generation, because devices may have later
 * records of the last generation that were not found.
 */
#include "machine.h"

/**
 * spek_augment_format() - contents of the first superblock of a device
 * @config: checked
 * @device: number of the device
 * @super: filled in; to be written to both places
 */
void spek_augment_format(const struct spek_augment_config *config, u32 device,
			 struct spek_augment_super *super)
{
	u32 i;

	spek_memset(super, 0, sizeof(*super));
	for (i = 0; i < 16; i++)
		super->uuid[i] = config->uuid[i];
	super->generation = 1;
	super->version = 1;
	super->tail_seq = 1;
	super->log_blocks = config->log_blocks;
	super->ssd_blocks = config->ssd_blocks;
	super->device = device;
	super->devices = (2U << config->nr_members) - 1;
	super->nr_members = config->nr_members;
	super->announced = 1;
	super->nr_spans = 1;
	super->spans[0].generation = 1;
	super->spans[0].first_seq = 1;
	spek_memcpy(super->raid, config->raid, sizeof(super->raid));
}

static int check_super(const struct spek_augment_config *config,
		       const struct spek_augment_super *super, u32 device,
		       struct spek_refusal *refusal)
{
	u32 i;

	for (i = 0; i < 16; i++)
		if (super->uuid[i] != config->uuid[i])
			return spek_refuse(refusal, 0, device, -EINVAL,
					   "The device belongs to another set.");
	if (super->device != device)
		return spek_refuse(refusal, 0, device, -EINVAL,
				   "The devices are in another order than when they were made.");
	if (super->log_blocks != config->log_blocks || super->ssd_blocks != config->ssd_blocks ||
	    super->nr_members != config->nr_members)
		return spek_refuse(refusal, 0, device, -EINVAL,
				   "The set was made with other sizes or another number of members.");
	return 0;
}

static bool is_later(const struct spek_augment_super *super, const struct spek_augment_super *than)
{
	if (super->generation != than->generation)
		return super->generation > than->generation;
	return super->version > than->version;
}

/* The one that counts of a device's two superblocks; NONE: there is none. */
static u32 newest_of(const struct spek_augment_super *supers, u32 found)
{
	u32 newest = SPEK_AUGMENT_NONE;
	u32 i;

	for (i = 0; i < 2; i++)
		if ((found >> i & 1) &&
		    (newest == SPEK_AUGMENT_NONE || is_later(&supers[i], &supers[newest])))
			newest = i;
	return newest;
}

/* Note the superblocks of a device, and generations that they announce. */
static int note_supers(const struct spek_augment_config *config,
		       const struct spek_augment_super *supers, u32 found, u32 device,
		       struct spek_augment_scan *scan, struct spek_refusal *refusal)
{
	u32 i;
	int err;

	for (i = 0; i < 2; i++) {
		if (!(found >> i & 1))
			continue;
		err = check_super(config, &supers[i], device, refusal);
		if (err)
			return err;
		scan->present |= spek_augment_bit(device);
		if (supers[i].announced > scan->generation)
			scan->generation = supers[i].announced;
		if (supers[i].version > scan->version)
			scan->version = supers[i].version;
	}
	return 0;
}

/**
 * spek_augment_is_unknown() - check whether a record may be where nobody could read it
 * @scan: what was chosen
 * @unread: bitmap of devices that could not be read there
 *
 * A record that was flushed is on the SSD and on a member. The SSD alone tells that there is none,
 * and so do all members together.
 *
 * Return: true if neither is known.
 */
bool spek_augment_is_unknown(const struct spek_augment_scan *scan, u32 unread)
{
	u32 unknown = scan->super.devices & (~scan->present | unread);

	return (unknown & spek_augment_bit(SPEK_AUGMENT_SSD)) && (unknown & (unknown - 1));
}

/**
 * spek_augment_choose() - find the superblock that counts
 * @config: checked
 * @supers: two superblocks for each device, as decoded
 * @found: for each device, which of its two are there: bits 0 and 1
 * @scan: filled in
 * @refusal: filled in on failure
 *
 * Return: 0 or a negative errno: the devices do not belong together, or too many are missing.
 */
int spek_augment_choose(const struct spek_augment_config *config,
			const struct spek_augment_super *supers, const u32 *found,
			struct spek_augment_scan *scan, struct spek_refusal *refusal)
{
	u32 device;
	int err;

	spek_memset(scan, 0, sizeof(*scan));
	for (device = 0; device <= config->nr_members; device++) {
		const struct spek_augment_super *own = &supers[2 * device];
		u32 which = newest_of(own, found[device]);

		err = note_supers(config, own, found[device], device, scan, refusal);
		if (err)
			return err;
		if (which == SPEK_AUGMENT_NONE)
			continue;
		/* The next write goes to the place of the older copy. */
		if (!which)
			scan->seen |= spek_augment_bit(device);
		if (is_later(&own[which], &scan->super))
			scan->super = own[which];
	}
	if (!scan->super.generation)
		return spek_refuse(refusal, 0, 0, -ENODEV, "No device has a superblock.");
	scan->stale = scan->present & ~scan->super.devices;
	if (spek_augment_is_unknown(scan, 0))
		return spek_refuse(refusal, 0, 0, -EIO,
				   "The SSD and a member are missing: what they held is unknown.");
	return 0;
}

/* A log needs the SSD and a member. */
static bool has_log(u32 devices)
{
	return (devices & spek_augment_bit(SPEK_AUGMENT_SSD)) &&
	       (devices & SPEK_AUGMENT_ALL_MEMBERS);
}

/**
 * spek_augment_recover() - begin with the log as the superblock has it
 * @m: initialised
 * @scan: what was chosen
 */
void spek_augment_recover(struct spek_augment *m, const struct spek_augment_scan *scan)
{
	u32 i;

	m->mode = SPEK_AUGMENT_RECOVERING;
	m->generation = scan->generation;
	m->super = scan->super;
	if (m->config.sets_raid)
		spek_memcpy(m->super.raid, m->config.raid, sizeof(m->super.raid));
	m->nr_spans = scan->super.nr_spans;
	for (i = 0; i < m->nr_spans; i++)
		m->spans[i] = scan->super.spans[i];
	m->version = scan->version;
	m->super_seen = scan->seen;
	m->live = scan->present;
	m->awake = scan->present;
	m->stirred = true;
	m->tail = scan->super.tail;
	m->head = m->tail;
	m->tail_seq = scan->super.tail_seq;
	m->issued_seq = m->tail_seq - 1;
	m->done_seq = m->issued_seq;
	m->flushed_seq = m->issued_seq;
	m->destage.scan = m->tail;
	m->keeps_log = has_log(m->live);
	m->has_passed = !has_log(scan->super.devices);
	m->mend.first = SPEK_AUGMENT_NONE;
	m->mend.last = SPEK_AUGMENT_NONE;
}

static bool is_next(const struct spek_augment *m, const struct spek_augment_header *header)
{
	u32 i;

	for (i = 0; i < 16; i++)
		if (header->uuid[i] != m->config.uuid[i])
			return false;
	return header->generation == spek_augment_generation_of(m, m->issued_seq + 1) &&
	       header->seq == m->issued_seq + 1 &&
	       header->blocks < m->config.log_blocks - m->head &&
	       spek_augment_used(m) + 1 + header->blocks < m->config.log_blocks;
}

static bool is_on_raid(const struct spek_augment *m, const struct spek_augment_header *header)
{
	return header->block + header->blocks <= m->config.raid_blocks;
}

/**
 * spek_augment_expects() - check whether a header is that of the next record
 * @m: recovering
 * @header: decoded
 *
 * Return: true if it is.
 */
bool spek_augment_expects(const struct spek_augment *m, const struct spek_augment_header *header)
{
	return is_next(m, header) && is_on_raid(m, header);
}

/**
 * spek_augment_is_beyond() - check whether the next record is beyond the end of the RAID
 * @m: recovering
 * @header: decoded
 *
 * Such a record was never written to this RAID, or it has shrunk: it cannot be recovered, and to
 * end the log before it would lose it.
 *
 * Return: true if it is.
 */
bool spek_augment_is_beyond(const struct spek_augment *m, const struct spek_augment_header *header)
{
	return is_next(m, header) && !is_on_raid(m, header);
}

static u32 first_member(u32 devices)
{
	u32 member = SPEK_AUGMENT_MEMBER;

	while (member < SPEK_AUGMENT_RAID && !(devices & spek_augment_bit(member)))
		member++;
	return member;
}

/* Note which devices have an entry of the log. */
static void note_holders(struct spek_augment_entry *entry, u32 state, u32 devices)
{
	u32 mirror = first_member(devices);

	if (!(devices & spek_augment_bit(SPEK_AUGMENT_SSD)))
		state |= SPEK_AUGMENT_NO_SSD;
	if (mirror == SPEK_AUGMENT_RAID)
		state |= SPEK_AUGMENT_NO_MIRROR;
	entry->state = state;
	entry->member = mirror;
}

/* @devices have all of the record. Return: its first entry, which is the header's */
static u32 adopt(struct spek_augment *m, const struct spek_augment_header *header, u32 devices)
{
	struct spek_augment_entry data;
	u32 first = m->head;
	u32 i, old;

	note_holders(&m->entries[first], SPEK_AUGMENT_HEADER, devices);
	m->entries[first].low = header->blocks;
	m->entries[first].high = m->issued_seq + 1;
	note_holders(&data, SPEK_AUGMENT_DIRTY, devices);
	for (i = 0; i < header->blocks; i++) {
		u32 entry = first + 1 + i;
		struct spek_augment_entry *adopted = &m->entries[entry];

		old = spek_augment_map_find(m, header->block + i);
		if (old != SPEK_AUGMENT_NONE)
			spek_augment_map_retire(m, old);
		adopted->low = header->block + i;
		adopted->high = (header->block + i) >> 32;
		adopted->state = data.state;
		adopted->member = data.member;
		m->dirty++;
		spek_augment_map_insert(m, entry);
	}
	m->head += 1 + header->blocks;
	if (m->head == m->config.log_blocks)
		m->head = 0;
	m->issued_seq++;
	m->done_seq = m->issued_seq;
	return first;
}

/* Note which devices have an entry besides those that have all of its record. */
static void note_others(struct spek_augment_entry *entry, u32 devices)
{
	u32 mirror = first_member(devices);

	if (devices & spek_augment_bit(SPEK_AUGMENT_SSD))
		entry->state &= ~SPEK_AUGMENT_NO_SSD;
	if ((entry->state & SPEK_AUGMENT_NO_MIRROR) && mirror != SPEK_AUGMENT_RAID) {
		entry->state &= ~SPEK_AUGMENT_NO_MIRROR;
		entry->member = mirror;
	}
}

/**
 * spek_augment_adopt() - take a record over
 * @m: recovering
 * @header: the record that it expects
 * @devices: bitmap of devices that have all of it; not 0
 * @blocks: for each block of data a bitmap of devices that have it, or NULL: only @devices have any
 *
 * If the SSD or the members have no whole record, it is copied to them. Until then, and if a device
 * fails meanwhile, what they have of it is a second copy.
 */
void spek_augment_adopt(struct spek_augment *m, const struct spek_augment_header *header,
			u32 devices, const u32 *blocks)
{
	u32 first = adopt(m, header, devices);
	u32 i;

	spek_augment_mend_note(m, first);
	for (i = 0; blocks && i < header->blocks; i++)
		note_others(&m->entries[first + 1 + i], blocks[i]);
}

/**
 * spek_augment_adopt_parts() - take a record over of which no device has all
 * @m: recovering
 * @header: the record that it expects
 * @devices: bitmap of devices that have its header; not 0
 * @blocks: for each block of data a bitmap of devices that have it; 0: it is lost
 *
 * The log is drained, as no device has a record that could be copied.
 */
void spek_augment_adopt_parts(struct spek_augment *m, const struct spek_augment_header *header,
			      u32 devices, const u32 *blocks)
{
	u32 first = adopt(m, header, devices);
	u32 i;

	for (i = 0; i < header->blocks; i++)
		note_holders(&m->entries[first + 1 + i], SPEK_AUGMENT_DIRTY, blocks[i]);
	m->keeps_log = false;
}

/**
 * spek_augment_is_short() - check whether the log ends before records it once had
 * @m: recovering, at the end of the log
 *
 * A generation begins after the records before it are flushed on all devices. Only damage ends the
 * log before the newest one.
 *
 * Return: true if it does.
 */
bool spek_augment_is_short(const struct spek_augment *m)
{
	return m->spans[m->nr_spans - 1].first_seq > m->issued_seq + 1;
}

/**
 * spek_augment_start() - make the adopted log safe, and then serve bios
 * @m: recovered
 * @now_ns: time
 */
void spek_augment_start(struct spek_augment *m, u64 now_ns)
{
	/*
	 * Of an empty log, too: after a crash of the kernel the newest superblocks may be only in
	 * the devices' caches, and the next ones go to the place of those that are on the media.
	 */
	m->wants_flush = true;
	spek_augment_tick(m, now_ns);
}
