/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A RAID 5 of modelled disks, alone or behind an SSD, in simulated time. Only the disks and the
 * cache of spek are its own code, unchanged: kmod/drive/core and kmod/augment/core. Nothing here
 * holds data; places and times are enough.
 *
 *	sim.c		requests of the host, the clock, results
 *	device.c	a modelled drive with a queue of the host before it
 *	raid.c		md's RAID 5: chunks, parity, reads before writes
 *	ours.c		the core of spek-augment
 *	stock.c		what is documented of dm-cache, dm-writecache and bcache
 *	track.c		whether every acknowledged write is on the RAID, or known to be missing there
 *
 * Places are in blocks of 4 KiB.
 */
#ifndef PAPER004_SIM_H
#define PAPER004_SIM_H

#include <stdio.h>
#include <stdlib.h>

#include "account.h"
#include "drive.h"

#define BLOCK_SECTORS	8
#define MAX_MEMBERS	8
#define MAX_DEVICES	(MAX_MEMBERS + 1)
#define NEVER		SPEK_DRIVE_NEVER
#define NONE		0xffffffffU

enum sim_op {
	OP_READ,
	OP_WRITE,
	OP_FLUSH,
};

/* What woke a disk. */
enum sim_cause {
	CAUSE_READ,
	CAUSE_WRITE,
	CAUSE_FLUSH,
	CAUSE_WRITE_BACK,
	CAUSE_NR,
};

enum sim_system {
	SYSTEM_PLAIN,
	SYSTEM_OURS,
	SYSTEM_STOCK,
};

/**
 * struct sim_config - what is simulated; fields of 8 bytes only, which Python lays out alike
 * @system: enum sim_system
 * @members: disks of the RAID
 * @chunk_blocks: length of a chunk
 * @most_outstanding: requests that the host sends before it waits for an answer, up to 64
 * @until_ns: end of the simulation; 0: the last answer
 * @look_ns: time between looks at the states of the disks
 * @rest_ns: time without I/O after which a disk is put into standby; 0: none is
 * @bin_ns: time between lines of the course; 0: none
 * @seed: of what is drawn
 * @ssd_blocks: blocks of the SSD in use
 * @log_blocks: ours: the log
 * @copy: when a read is copied to the SSD: 0 never, 1 at first touch, 2 at second touch
 * @prefetch_blocks: ours
 * @sequential_blocks: reads, in a stock cache writes too, of sequences of this length bypass the SSD
 * @high_blocks: write-back to the RAID begins with so many
 * @low_blocks: and ends with so many
 * @age_ns: ours: age at which a block is written back
 * @quiet_ns: ours: time without reads from the RAID before write-back
 * @unit_blocks: stock: what is cached as a whole
 * @allocate: stock: a write that misses goes to the SSD
 * @idle_ns: stock: time without requests after which everything is written back; 0: never
 * @trickle_blocks: stock: written back in each second all the same
 * @delay_ns: stock: age from which that holds
 * @pause_ns: stock: no write-back so long after a read from the RAID
 */
struct sim_config {
	u64 system;
	u64 members;
	u64 chunk_blocks;
	u64 most_outstanding;
	u64 until_ns;
	u64 look_ns;
	u64 rest_ns;
	u64 bin_ns;
	u64 seed;
	u64 ssd_blocks;
	u64 log_blocks;
	u64 copy;
	u64 prefetch_blocks;
	u64 sequential_blocks;
	u64 high_blocks;
	u64 low_blocks;
	u64 age_ns;
	u64 quiet_ns;
	u64 unit_blocks;
	u64 allocate;
	u64 idle_ns;
	u64 trickle_blocks;
	u64 delay_ns;
	u64 pause_ns;
};

/**
 * struct sim_request - a request of the host
 * @arrival_ns: when the host wants to send it; does not fall
 * @block: first block
 * @blocks: length, 1 to 256; 0 for a flush
 * @op: enum sim_op
 */
struct sim_request {
	u64 arrival_ns;
	u64 block;
	u32 blocks;
	u32 op;
};

/**
 * struct sim_device_result - what a device has done and used
 * @nj: energy by rail
 * @condition_ns: time in each power condition
 * @phase_ns: time in each phase
 * @starts: number of times that the spindle was started
 * @served: accesses
 */
struct sim_device_result {
	u64 nj[SPEK_DRIVE_RAIL_NR];
	u64 condition_ns[SPEK_DRIVE_CONDITION_NR];
	u64 phase_ns[SPEK_DRIVE_PHASE_NR];
	u64 starts;
	u64 served;
};

/**
 * struct sim_result - results
 * @devices: disks, then the SSD
 * @end_ns: end of the simulation
 * @answered: requests that were answered
 * @wakes: disks woken, by enum sim_cause
 * @hits: blocks read from the SSD
 * @misses: blocks read from the RAID for the host
 * @copies: blocks copied to the SSD
 * @prefetched: blocks among these that were read ahead
 * @prefetch_hits: blocks among these that were read afterwards
 * @destaged: blocks written back to the RAID
 * @waiting: blocks that the RAID lacks at the end
 * @written: distinct blocks whose write was acknowledged
 * @lost: of these, those that neither the RAID nor the cache has
 * @courses: lines of the course
 */
struct sim_result {
	struct sim_device_result devices[MAX_DEVICES];
	u64 end_ns;
	u64 answered;
	u64 wakes[CAUSE_NR];
	u64 hits;
	u64 misses;
	u64 copies;
	u64 prefetched;
	u64 prefetch_hits;
	u64 destaged;
	u64 waiting;
	u64 written;
	u64 lost;
	u64 courses;
};

/**
 * struct sim_course - sums of all devices from the start to the end of a bin
 * @nj: energy
 * @asleep_ns: time of disks in standby
 * @starts: of spindles
 */
struct sim_course {
	u64 nj;
	u64 asleep_ns;
	u64 starts;
};

struct sim;

/**
 * struct join - what is done when several I/O have ended
 * @pending: I/O under way, and 1 while more are added
 * @done: called at the end
 * @arg: for it
 */
struct join {
	u32 pending;
	void (*done)(struct sim *sim, void *arg);
	void *arg;
};

/**
 * struct slot - an I/O of a device
 * @join: what waits for it
 * @request: of the drive
 * @next: next of the device that waits outside of the drive, or next free slot
 */
struct slot {
	struct join *join;
	struct spek_drive_request request;
	u32 next;
};

/**
 * struct device - a drive and what waits before it
 * @model: of the drive
 * @drive: the drive
 * @flash: its memory
 * @next_ns: next event of the drive
 * @used_ns: time of the last I/O
 * @under_way: I/O in the drive and before it
 * @first: first slot that waits; NONE: none does
 * @last: last one
 * @is_touched: something may start
 * @is_waking: the I/O that wakes it has come
 */
struct device {
	struct spek_drive_model model;
	struct spek_drive drive;
	void *flash;
	u64 next_ns;
	u64 used_ns;
	u32 under_way;
	u32 first;
	u32 last;
	bool is_touched;
	bool is_waking;
};

struct raid;
struct ours;
struct stock;
struct track;

struct sim {
	struct sim_config config;
	struct device *devices;
	u32 nr_devices;
	u32 ssd;
	u64 disk_blocks;
	u64 raid_blocks;
	u64 now_ns;
	u64 state;
	struct slot *slots;
	u32 nr_slots;
	u32 free_slot;
	struct raid *raid;
	struct ours *ours;
	struct stock *stock;
	struct track *track;
	const struct sim_request *requests;
	u64 nr_requests;
	u64 sent;
	u64 answered;
	u64 host_ns;
	u64 *sent_ns;
	u64 *response_ns;
	struct sim_result *result;
};

/* sim.c */
struct join *join_begin(void (*done)(struct sim *sim, void *arg), void *arg);
void join_end(struct sim *sim, struct join *join);
u64 draw(struct sim *sim);
void answer(struct sim *sim, u64 number);
u64 sim_raid_blocks(u64 sectors, u64 members, u64 chunk_blocks, u64 log_blocks);

/* device.c */
int device_init(struct device *d, void *description, u64 bytes, char *sentence);
void device_free(struct device *d);
void device_submit(struct sim *sim, u32 number, enum sim_op op, u64 block, u32 blocks, bool fua,
		   enum sim_cause cause, struct join *join);
void device_advance(struct sim *sim, struct device *d, u64 now_ns);
void device_pump(struct sim *sim, struct device *d);
bool device_is_awake(const struct device *d);
bool device_rest(struct sim *sim, struct device *d);

/* raid.c */
void raid_place(u32 members, u32 chunk_blocks, u64 block, u32 *disk, u32 *parity, u64 *at);
u32 raid_reads(u32 members, u32 written, bool *is_modify);
void raid_init(struct sim *sim);
void raid_free(struct sim *sim);
void raid_read(struct sim *sim, u64 block, u32 blocks, enum sim_cause cause, struct join *join);
void raid_write(struct sim *sim, u64 block, u32 blocks, bool fua, enum sim_cause cause,
		struct join *join);
void raid_flush(struct sim *sim, struct join *join);

/* ours.c */
int ours_init(struct sim *sim, char *sentence);
void ours_free(struct sim *sim);
void ours_submit(struct sim *sim, u64 number);
void ours_look(struct sim *sim);
void ours_tick(struct sim *sim);
u64 ours_next_ns(const struct sim *sim);
bool ours_lacks(const struct sim *sim, u64 block);
void ours_result(struct sim *sim);

/* stock.c */
void stock_init(struct sim *sim);
void stock_free(struct sim *sim);
void stock_submit(struct sim *sim, u64 number);
void stock_tick(struct sim *sim);
u64 stock_next_ns(const struct sim *sim);
bool stock_lacks(const struct sim *sim, u64 block);

/* track.c */
void track_init(struct sim *sim);
void track_free(struct sim *sim);
void track_accept(struct sim *sim, u64 block, u32 blocks);
void track_direct(struct sim *sim, u64 block, u32 blocks);
void track_begin(struct sim *sim, u64 block, u32 blocks);
void track_end(struct sim *sim, u64 block, u32 blocks);
void track_result(struct sim *sim);

#endif
