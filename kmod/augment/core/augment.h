/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cache as a machine that does no I/O itself. Its caller reports bios, ends of I/O, states of
 * disks and the time, and then takes I/O to issue and answers for bios until there are no more.
 *
 * An I/O is returned only when it may be issued: whatever has to be complete before it is. The
 * caller may issue all that it is given at once and complete it in any order.
 *
 *	write	a record of the log, to the SSD and to the spare area of a member that is awake,
 *		the mirror, at the same place; acknowledged when both have it
 *	flush	waits until all records issued so far are complete, since a record behind a gap does
 *		not survive, then flushes each device that holds unflushed records; FUA and
 *		preflush likewise after the write
 *	read	from the SSD what is there, else from the RAID, with a copy to the SSD by policy
 *
 * Destage flushes the log, so that no cut leaves a block torn, reads dirty blocks, oldest first,
 * each with the dirty blocks of its stripe, writes them to the RAID in order, and flushes it. Then
 * the tail of the log may pass them: not before the records that replaced others are flushed, and
 * its space is not written before superblocks on both devices hold the new tail. Until then and
 * until it is written, the space serves reads.
 *
 * Loss of a device, or a failed write or flush on it, stops writes until all dirty blocks are on
 * the RAID and superblocks of a new generation say that the log is empty. Then writes go on with
 * another member as mirror, or straight to the RAID if the SSD or all members are lost. If a dirty
 * block has no readable copy left, the machine has failed once all others are on the RAID: it serves
 * reads of these, and all other bios end with an error. spek_augment_next_lost() lists the blocks,
 * and spek_augment_forget() gives them up.
 *
 * Recovery after a restart keeps the log. It copies records that are on one device only, flushes
 * all devices and begins a generation, and then bios are served. If the SSD or all members are
 * missing, or a device is lost meanwhile, it drains the log as above before it serves bios.
 *
 * The caller serialises all calls. Data of a write must not change until its answer, as @crc must
 * not: a record whose data differ from its checksums ends the log after a restart, and what was
 * flushed after it is lost with it. A caller that cannot be sure of that writes copies.
 */
#ifndef SPEK_AUGMENT_H
#define SPEK_AUGMENT_H

#include "format.h"
#include "../../core/refusal.h"

#define SPEK_AUGMENT_BIOS		64
#define SPEK_AUGMENT_BIO_BLOCKS		256
#define SPEK_AUGMENT_IOS		256
#define SPEK_AUGMENT_RECORDS		32
#define SPEK_AUGMENT_STAGES		32
#define SPEK_AUGMENT_STAGE_BLOCKS	16
#define SPEK_AUGMENT_BATCH		64
#define SPEK_AUGMENT_STREAMS		8
#define SPEK_AUGMENT_MISSES		4096
#define SPEK_AUGMENT_NONE		0xffffffffU
#define SPEK_AUGMENT_NEVER		(~0ULL)
/*
 * Ends of an I/O that is not sent because it is a copy of something else, or because what was read
 * in place of the record's header is no header. No device ends one so.
 */
#define SPEK_AUGMENT_DAMAGED		(-EBADMSG)
#define SPEK_AUGMENT_HEADLESS		(-EUCLEAN)

enum spek_augment_op {
	SPEK_AUGMENT_READ,
	SPEK_AUGMENT_WRITE,
	SPEK_AUGMENT_FLUSH,
	SPEK_AUGMENT_WAKE,
};

/* When a block that was read from the RAID is copied to the SSD. */
enum spek_augment_copy {
	SPEK_AUGMENT_COPY_NEVER,
	SPEK_AUGMENT_COPY_FIRST,
	SPEK_AUGMENT_COPY_SECOND,
};

/* Which member is woken for a write when all are asleep. */
enum spek_augment_wake {
	SPEK_AUGMENT_WAKE_TURN,
	SPEK_AUGMENT_WAKE_LAST,
};

/* What woke a member. OTHER: not this machine. */
enum spek_augment_cause {
	SPEK_AUGMENT_CAUSE_OTHER,
	SPEK_AUGMENT_CAUSE_WRITE,
	SPEK_AUGMENT_CAUSE_READ,
	SPEK_AUGMENT_CAUSE_FLUSH,
	SPEK_AUGMENT_CAUSE_DESTAGE,
	SPEK_AUGMENT_CAUSES,
};

enum spek_augment_mode {
	SPEK_AUGMENT_RECOVERING,
	SPEK_AUGMENT_NORMAL,
	SPEK_AUGMENT_DRAINING,
	SPEK_AUGMENT_PASSING,
	SPEK_AUGMENT_FAILED,
};

/**
 * struct spek_augment_config - sizes and policy
 * @uuid: identity of the set of devices
 * @raid_blocks: size of the RAID
 * @ssd_blocks: blocks of the SSD in use
 * @log_blocks: length of the log; each member's spare area has 2 blocks more
 * @nr_members: number of members, 1 to 8
 * @copy: enum spek_augment_copy
 * @wake: enum spek_augment_wake
 * @prefetch_blocks: blocks behind a copied miss that are read and copied as well, 0 to 16
 * @stripe_blocks: data blocks of a stripe of the RAID, 1 to 1024
 * @sequential_blocks: sequential reads of this length and more are not copied
 * @high_blocks: destage begins when the log holds this much
 * @low_blocks: and ends when it holds this much
 * @age_ns: time until a written block is destaged; 0: no limit
 * @quiet_ns: time without reads from the RAID before destage to members that are all awake anyway,
 *	once for each time that they were read or woke
 * @retry_ns: pause after a destage that failed
 * @sets_raid: superblocks get @raid; false: they keep the name that they have
 * @raid: name of the RAID, empty for none
 */
struct spek_augment_config {
	u8 uuid[16];
	u64 raid_blocks;
	u32 ssd_blocks;
	u32 log_blocks;
	u32 nr_members;
	u32 copy;
	u32 wake;
	u32 prefetch_blocks;
	u32 stripe_blocks;
	u32 sequential_blocks;
	u32 high_blocks;
	u32 low_blocks;
	u64 age_ns;
	u64 quiet_ns;
	u64 retry_ns;
	bool sets_raid;
	char raid[SPEK_AUGMENT_RAID_NAME];
};

/**
 * struct spek_augment_bio - a request of the block layer
 * @block: first block
 * @blocks: length, up to 256; 0 for a flush
 * @op: read, write or flush
 * @fua: a write is on stable media when it ends
 * @preflush: all writes that ended before are on stable media when this write ends
 * @crc: CRC-32C of each block of a write; must stay until the answer
 * @cookie: caller's own
 */
struct spek_augment_bio {
	u64 block;
	u32 blocks;
	u32 op;
	bool fua;
	bool preflush;
	const u32 *crc;
	u64 cookie;
};

/**
 * struct spek_augment_io - I/O to issue
 * @op: read, write, flush, or wake for a member
 * @device: 0 the SSD, 1 + i member i's spare area, SPEK_AUGMENT_RAID
 * @fua: forced unit access
 * @preflush: flush the device first
 * @encoded: the first block is what spek_augment_encode() makes; the bio's data follow
 * @is_copy: a write of what was read: to be sent only after spek_augment_check_copy()
 * @record: number of the record with that header, below SPEK_AUGMENT_RECORDS; the same for the
 *	SSD, which comes first, and for the mirror, until both writes have ended;
 *	SPEK_AUGMENT_NONE: none
 * @block: first block on the device
 * @blocks: length
 * @bio: number of the bio that has the data; SPEK_AUGMENT_NONE: none
 * @bio_block: first block of these in the bio
 * @stage: number of the caller's buffer of 16 blocks that has the data, or gets a copy of
 *	what was read for a bio; SPEK_AUGMENT_NONE: none
 * @stage_block: first block of these in the buffer
 * @tag: to be given to spek_augment_complete()
 */
struct spek_augment_io {
	u32 op;
	u32 device;
	bool fua;
	bool preflush;
	bool encoded;
	bool is_copy;
	u32 record;
	u64 block;
	u32 blocks;
	u32 bio;
	u32 bio_block;
	u32 stage;
	u32 stage_block;
	u32 tag;
};

/**
 * struct spek_augment_answer - end of a bio
 * @cookie: of the bio
 * @error: 0 or a negative errno
 */
struct spek_augment_answer {
	u64 cookie;
	int error;
};

/**
 * struct spek_augment_hit - a read of the SSD that is the caller's own
 * @place: first block on the SSD
 * @blocks: length
 */
struct spek_augment_hit {
	u32 place;
	u32 blocks;
};

/**
 * struct spek_augment_stats - counters
 * @hits: blocks read from the SSD or a mirror
 * @misses: blocks read from the RAID
 * @copies: blocks copied to the SSD
 * @prefetched: blocks among them that were read ahead
 * @prefetch_hits: blocks among these that were read afterwards
 * @records: records written
 * @destaged: blocks destaged
 * @wakes: members that woke up, by enum spek_augment_cause
 * @flushes: rounds of flushes
 * @errors: failed I/O
 */
struct spek_augment_stats {
	u64 hits;
	u64 misses;
	u64 copies;
	u64 prefetched;
	u64 prefetch_hits;
	u64 records;
	u64 destaged;
	u64 wakes[SPEK_AUGMENT_CAUSES];
	u64 flushes;
	u64 errors;
};

/**
 * struct spek_augment_entry - a block of the SSD; the number of the entry tells which
 * @next: next entry with the same hash
 * @low: lower half of the number of the block on the RAID; of a header, its blocks of data
 * @high: upper part; of the header of a record that was adopted, the low 16 bits of its sequence
 *	number, by which its copy is checked
 * @state: state and flags
 * @member: mirror in the low 4 bits, reads in flight in the high 4
 */
struct spek_augment_entry {
	u32 next;
	u32 low;
	u16 high;
	u8 state;
	u8 member;
};

_Static_assert(sizeof(struct spek_augment_entry) == 12, "with the hash 16 bytes a block");

/**
 * struct spek_augment_list - queue of bios
 * @first: oldest
 * @last: newest
 */
struct spek_augment_list {
	u32 first;
	u32 last;
};

/**
 * struct spek_augment_request - a bio in the machine
 * @bio: the bio
 * @issued: blocks that have I/O
 * @parts: I/O or records in flight
 * @error: first error
 * @next: next in the list
 * @target: sequence number that has to be flushed before the answer
 * @retry: read again, from another copy
 * @is_single: each hit is an I/O of its own, since one of more has failed
 * @is_sequential: a read that passes by
 */
struct spek_augment_request {
	struct spek_augment_bio bio;
	u32 issued;
	u32 parts;
	int error;
	u32 next;
	u64 target;
	bool retry;
	bool is_single;
	bool is_sequential;
};

/**
 * struct spek_augment_slot - an I/O in the machine
 * @io: the I/O
 * @next: next in the queue or the free list
 * @purpose: whose it is
 * @entry: first entry that it reads or fills
 * @index: number of the record, run or bio
 * @is_repeat: a read that has failed once, on this device or on the other one that has a copy
 */
struct spek_augment_slot {
	struct spek_augment_io io;
	u32 next;
	u32 purpose;
	u32 entry;
	u32 index;
	bool is_repeat;
};

/**
 * struct spek_augment_record - a record being written
 * @seq: sequence number
 * @entry: place of the header in the log
 * @blocks: blocks of data
 * @bio: bio of the data
 * @bio_block: first of these blocks in the bio
 * @pending: bitmap of devices still writing
 * @good: bitmap of devices that have it
 */
struct spek_augment_record {
	u64 seq;
	u32 entry;
	u32 blocks;
	u32 bio;
	u32 bio_block;
	u32 pending;
	u32 good;
};

/**
 * struct spek_augment_item - a dirty block being destaged
 * @block: place on the RAID
 * @entry: its entry
 */
struct spek_augment_item {
	u64 block;
	u32 entry;
};

/**
 * struct spek_augment_run - items that continue each other, destaged by one write
 * @first: first item
 * @items: number of items
 * @stage: buffer
 * @reads: reads in flight
 * @is_void: a block of it has no copy left and is not needed: it is not written
 */
struct spek_augment_run {
	u32 first;
	u32 items;
	u32 stage;
	u32 reads;
	bool is_void;
};

/**
 * struct spek_augment_destage - batch being destaged
 * @step: what it does now
 * @items: blocks in order of the RAID
 * @nr_items: number of items
 * @next_item: first item without a run
 * @runs: runs
 * @nr_runs: number of runs
 * @pending: runs, or superblocks, in flight
 * @devices: bitmap of devices that the last superblocks were written to
 * @failed: an I/O failed
 * @to_seq: records before this one are to be destaged
 * @tail: tail to be
 * @tail_seq: its sequence number
 * @barrier: sequence number that has to be flushed before the tail and the blocks move
 * @is_over: a batch has ended since the tail moved
 * @retry_at_ns: end of the pause after a failure
 * @stuck: the last batch, or flush of the RAID in recovery, failed
 * @shrinking: the log was over its high limit and is not at its low limit yet
 * @scan: place in the log where the search for dirty blocks continues
 */
struct spek_augment_destage {
	u32 step;
	struct spek_augment_item items[SPEK_AUGMENT_BATCH];
	u32 nr_items;
	u32 next_item;
	struct spek_augment_run runs[SPEK_AUGMENT_BATCH];
	u32 nr_runs;
	u32 pending;
	u32 devices;
	bool failed;
	u64 to_seq;
	u32 tail;
	u64 tail_seq;
	u64 barrier;
	bool is_over;
	u64 retry_at_ns;
	bool stuck;
	bool shrinking;
	u32 scan;
};

/**
 * struct spek_augment_mend_part - a part of a record in a buffer, on its way to a second device
 * @header: header entry of the record
 * @first: first entry of the part; @header: the part has the header
 * @blocks: number of entries
 * @end: entry after the last that is to be copied
 * @from: device that it is read from
 * @to: device that it is written to
 * @reads: reads in flight
 * @is_repeat: something has failed: the part is one block, and the blocks after it follow
 * @lacks_header: the header of the record could not be read, apart from the part
 * @lacks_data: the part could not be read
 */
struct spek_augment_mend_part {
	u32 header;
	u32 first;
	u32 blocks;
	u32 end;
	u32 from;
	u32 to;
	u32 reads;
	bool is_repeat;
	bool lacks_header;
	bool lacks_data;
};

/**
 * struct spek_augment_mend - records that have to be copied to a second device
 * @first: header entry of the first record; the entries of headers are linked
 * @last: header entry of the last record
 * @begun: blocks of the first record, header included, whose copy has begun
 * @from: device from which the first record is copied
 * @to: device to which it is copied
 * @pending: parts in flight
 * @parts: these, by their buffer
 */
struct spek_augment_mend {
	u32 first;
	u32 last;
	u32 begun;
	u32 from;
	u32 to;
	u32 pending;
	struct spek_augment_mend_part parts[SPEK_AUGMENT_STAGES];
};

/**
 * struct spek_augment_stream - a sequence of reads
 * @next: block after the last
 * @blocks: length so far
 */
struct spek_augment_stream {
	u64 next;
	u64 blocks;
};

/**
 * struct spek_augment - the machine
 * @config: sizes and policy
 * @mode: enum spek_augment_mode
 * @generation: generation of new records
 * @spans: generations of the records in the log, oldest first
 * @nr_spans: number of spans
 * @live: bitmap of devices in use
 * @awake: bitmap of devices that are awake, those of members
 * @unflushed: bitmap of devices with records that no flush has covered
 * @mirror: device of the current mirror; 0: none
 * @waking: a member is being woken
 * @woken: device that was woken last
 * @causes: what the first I/O to each sleeping member was for, enum spek_augment_cause
 * @entries: one for each block of log and copies
 * @heads: first entry of each hash
 * @hash_shift: 64 less the bits of the hash
 * @nr_entries: number of entries
 * @head: place of the next record in the log
 * @tail: place of the first record that counts
 * @tail_seq: its sequence number
 * @issued_seq: last sequence number given
 * @done_seq: all records up to this one are complete
 * @flushed_seq: all records up to this one are flushed
 * @dirty: number of dirty blocks
 * @hand: hand of the clock
 * @version: of superblocks
 * @super_seen: bitmap of devices whose next superblock is the second one
 * @super: contents of the newest superblocks, in flight or on devices
 * @keeps_log: recovery keeps the log and does not drain it
 * @wants_flush: recovery has to flush all devices before it writes superblocks
 * @has_passed: writes went straight to the RAID before the restart
 * @mend: records without a second copy
 * @forgets: lost blocks are being given up
 * @forgotten: place in the log up to which they were
 * @flushing: flushes of the round in flight
 * @flush_seq: what the round covers
 * @flush_failed: a flush of the round failed
 * @raid_reads: foreground reads of the RAID in flight
 * @raid_read_ns: time of the last one, or of the end of recovery or of a drain, if that is later
 * @stirred: there was one, or a member woke, since destage to a quiet RAID
 * @mark_ns: lower bound of the time of the oldest dirty block, or the end of recovery, which cannot
 *	know when blocks were written; NEVER: there is none
 * @now_ns: time of the last call
 * @again: something has changed that others wait for
 * @requests: bios
 * @slots: I/O
 * @records: records, by sequence number
 * @destage: see there
 * @stage_uses: number of uses of each buffer
 * @stage_entries: entries that a buffer's blocks are copied to
 * @free_stages: number of buffers that nothing uses
 * @streams: recent sequences of reads
 * @next_stream: stream to be replaced next
 * @misses: blocks that missed, by hash
 * @free_bios: list
 * @reads: list of reads that wait
 * @writes: list of writes that wait
 * @flushes: list of bios that wait for a flush
 * @answers: list of bios to be answered
 * @free_io: first free slot
 * @nr_free_ios: number of free slots
 * @first_io: first slot to be issued
 * @last_io: last slot to be issued
 * @stats: counters
 */
struct spek_augment {
	struct spek_augment_config config;
	u32 mode;
	u64 generation;
	struct spek_augment_span spans[SPEK_AUGMENT_SPANS];
	u32 nr_spans;
	u32 live;
	u32 awake;
	u32 unflushed;
	u32 mirror;
	bool waking;
	u32 woken;
	u8 causes[SPEK_AUGMENT_MEMBERS];
	struct spek_augment_entry *entries;
	u32 *heads;
	u32 hash_shift;
	u32 nr_entries;
	u32 head;
	u32 tail;
	u64 tail_seq;
	u64 issued_seq;
	u64 done_seq;
	u64 flushed_seq;
	u32 dirty;
	u32 hand;
	u64 version;
	u32 super_seen;
	struct spek_augment_super super;
	bool keeps_log;
	bool wants_flush;
	bool has_passed;
	struct spek_augment_mend mend;
	bool forgets;
	u32 forgotten;
	u32 flushing;
	u64 flush_seq;
	bool flush_failed;
	u32 raid_reads;
	u64 raid_read_ns;
	bool stirred;
	u64 mark_ns;
	u64 now_ns;
	bool again;
	struct spek_augment_request requests[SPEK_AUGMENT_BIOS];
	struct spek_augment_slot slots[SPEK_AUGMENT_IOS];
	struct spek_augment_record records[SPEK_AUGMENT_RECORDS];
	struct spek_augment_destage destage;
	u8 stage_uses[SPEK_AUGMENT_STAGES];
	u32 stage_entries[SPEK_AUGMENT_STAGES][SPEK_AUGMENT_STAGE_BLOCKS];
	u32 free_stages;
	struct spek_augment_stream streams[SPEK_AUGMENT_STREAMS];
	u32 next_stream;
	u32 misses[SPEK_AUGMENT_MISSES];
	struct spek_augment_list free_bios;
	struct spek_augment_list reads;
	struct spek_augment_list writes;
	struct spek_augment_list flushes;
	struct spek_augment_list answers;
	u32 free_io;
	u32 nr_free_ios;
	u32 first_io;
	u32 last_io;
	struct spek_augment_stats stats;
};

/**
 * struct spek_augment_scan - state of the devices before recovery
 * @super: newest superblock
 * @generation: highest generation that a device knows of, begun or announced
 * @version: highest version of a superblock
 * @present: bitmap of devices that have a superblock of the set
 * @stale: bitmap of devices that the newest generation does not use
 * @seen: bitmap of devices whose next superblock is the second one
 */
struct spek_augment_scan {
	struct spek_augment_super super;
	u64 generation;
	u64 version;
	u32 present;
	u32 stale;
	u32 seen;
};

/**
 * struct spek_augment_range - blocks of the RAID that continue each other
 * @block: first
 * @blocks: length
 */
struct spek_augment_range {
	u64 block;
	u32 blocks;
};

/**
 * struct spek_augment_next - what the devices have of the next record of the log
 * @header: its header
 * @headers: bitmap of devices that have the header
 * @unread: bitmap of devices that may have the record, but could not be read
 * @blocks: for each block of data a bitmap of devices that have it
 * @unread_data: bitmap of blocks of data that a device with the header could not read
 * @is_beyond: a record is beyond the end of the RAID
 */
struct spek_augment_next {
	struct spek_augment_header header;
	u32 headers;
	u32 unread;
	u32 blocks[SPEK_AUGMENT_RECORD_BLOCKS];
	u32 unread_data;
	bool is_beyond;
};

int spek_augment_check(const struct spek_augment_config *config, struct spek_refusal *refusal);
size_t spek_augment_bytes(const struct spek_augment_config *config);
void spek_augment_init(struct spek_augment *m, const struct spek_augment_config *config,
		       void *memory);
int spek_augment_submit(struct spek_augment *m, u64 now_ns, const struct spek_augment_bio *bio);
bool spek_augment_begin_hit(struct spek_augment *m, u64 block, u32 blocks,
			    struct spek_augment_hit *hit);
void spek_augment_end_hit(struct spek_augment *m, const struct spek_augment_hit *hit, int error);
bool spek_augment_waits(const struct spek_augment *m);
void spek_augment_complete(struct spek_augment *m, u64 now_ns, u32 tag, int error);
void spek_augment_set_awake(struct spek_augment *m, u64 now_ns, u32 member, bool is_awake);
void spek_augment_lose(struct spek_augment *m, u64 now_ns, u32 device);
void spek_augment_tick(struct spek_augment *m, u64 now_ns);
u64 spek_augment_next_ns(const struct spek_augment *m);
void spek_augment_destage_all(struct spek_augment *m, u64 now_ns);
bool spek_augment_next_io(struct spek_augment *m, struct spek_augment_io *io);
bool spek_augment_next_answer(struct spek_augment *m, struct spek_augment_answer *answer);
void spek_augment_encode(const struct spek_augment *m, u32 tag, u8 *to);
int spek_augment_check_copy(const struct spek_augment *m, u32 tag, const u8 *block, const u32 *crc);
u32 spek_augment_lost(const struct spek_augment *m);
bool spek_augment_next_lost(const struct spek_augment *m, u32 *cursor,
			    struct spek_augment_range *range);
int spek_augment_forget(struct spek_augment *m);

void spek_augment_format(const struct spek_augment_config *config, u32 device,
			 struct spek_augment_super *super);
int spek_augment_choose(const struct spek_augment_config *config,
			const struct spek_augment_super *supers, const u32 *found,
			struct spek_augment_scan *scan, struct spek_refusal *refusal);
bool spek_augment_is_unknown(const struct spek_augment_scan *scan, u32 unread);
void spek_augment_recover(struct spek_augment *m, const struct spek_augment_scan *scan);
bool spek_augment_expects(const struct spek_augment *m, const struct spek_augment_header *header);
bool spek_augment_is_beyond(const struct spek_augment *m, const struct spek_augment_header *header);
void spek_augment_adopt(struct spek_augment *m, const struct spek_augment_header *header,
			u32 devices, const u32 *blocks);
void spek_augment_adopt_parts(struct spek_augment *m, const struct spek_augment_header *header,
			      u32 devices, const u32 *blocks);
void spek_augment_next_begin(struct spek_augment_next *next);
void spek_augment_next_header(const struct spek_augment *m, struct spek_augment_next *next,
			      u32 device, const u8 *block);
void spek_augment_next_block(struct spek_augment_next *next, u32 device, u32 i, const u32 *crc);
u32 spek_augment_next_holders(const struct spek_augment_next *next);
u32 spek_augment_next_others(const struct spek_augment_next *next, u32 readable);
bool spek_augment_next_adopt(struct spek_augment *m, const struct spek_augment_next *next,
			     bool gives_up);
bool spek_augment_is_short(const struct spek_augment *m);
void spek_augment_start(struct spek_augment *m, u64 now_ns);

#endif
