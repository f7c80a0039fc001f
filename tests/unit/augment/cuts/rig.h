/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The machine between a host and modelled devices: bios are submitted and their answers checked,
 * I/O is issued and completed, the power is cut and the machine attached again.
 */
#ifndef RIG_H
#define RIG_H

#include "devices.h"
#include "history.h"
#include "machine.h"

#define RAID_BLOCKS	HISTORY_BLOCKS
#define LOG_BLOCKS	256
#define MAX_COPIES	48
#define MEMBER_NR	3
#define CUTS_OF_A_SET	50
#define CALM_SETS	8	/* one of this number is calm */
#define DEVICES		(1 + MEMBER_NR)
#define MAX_BLOCKS	(SPEK_AUGMENT_LOG_START + LOG_BLOCKS + MAX_COPIES)

struct flight {
	struct spek_augment_io io;
	u64 issued;
	u32 first_write;
	bool early;	/* a read that sees what was there when it began */
};

/* A read that the host's side does itself. */
struct hit_flight {
	struct spek_augment_hit hit;
	u32 bio;
	bool early;
	bool is_over;	/* answered; the machine is still to be told */
};

struct host_bio {
	struct spek_augment_bio bio;
	u64 began;
	u64 number;
	u32 crc[SPEK_AUGMENT_BIO_BLOCKS];
	u8 (*data)[BYTES];
	bool used;
	bool is_check;	/* the first read after a cut */
};

/* One device at a time may fail; the RAID may fail single I/O. */
struct faults {
	u32 victim;	/* device that fails; NONE: none does */
	u32 victim_rate;	/* one I/O of this number fails; 0: none */
	bool victim_is_gone;
	u32 garble_rate;	/* one read for a copy of a record of this number is wrong; 0: none */
	bool has_lost;	/* a copy was refused, and nothing else has a dirty block of it */
	u32 raid_rate;
	bool raid_failed;	/* the RAID has an excuse for errors */
	u32 absent;	/* bitmap of devices that were not there at attach */
};

struct counts {
	u32 cuts;
	u32 crashes;	/* cuts that left the devices their power */
	u32 stale;
	u32 adopted;
	u32 mended;	/* attaches that found records on one device only */
	u32 garbled;	/* copies of records refused */
	u32 swapped;	/* reads for copies that got another record */
	u32 crowded;	/* with no room for another generation in the superblocks */
	u32 kept;	/* recoveries that left blocks dirty */
	u32 errors;
	u32 losses;
	u32 detached;
	u32 repeated;
	u32 several;	/* attaches without several devices */
	u32 told;
	u64 ahead;	/* blocks that were read ahead and used */
	u64 wakes[SPEK_AUGMENT_CAUSES];
	u32 hits;
	u32 retried;
	u32 late;
	u32 torn;
	u32 whole;	/* checks of all blocks of which none could be torn */
};

struct rig {
	struct spek_augment machine;
	struct spek_augment_config config;
	struct device devices[DEVICES + 1];	/* the last is the RAID */
	struct flight flights[SPEK_AUGMENT_IOS];
	u32 nr_flights;
	struct hit_flight hits[SPEK_AUGMENT_BIOS];
	u32 nr_hits;
	struct host_bio bios[SPEK_AUGMENT_BIOS];
	u32 nr_bios;
	struct faults faults;
	struct counts counts;
	u64 first_generation;
	bool is_calm;	/* nothing fails, lives are short, and only a full log is destaged */
	/* Since the last check of all blocks: */
	bool may_tear;	/* blocks were written that were not in the log for sure */
	bool is_half_recovered;	/* blocks were written of which only one device may have a record */
	bool was_recovering;	/* at the last cut */
	u32 in_use;	/* bitmap of the devices that bios were served from last */
	u64 step;	/* counts events, as time does */
	u64 now_ns;
	u64 numbers;	/* of writes */
	u64 seed;
	u64 cuts;
};

extern struct rig rig;

void rig_init(u64 seed);
void rig_make_set(void);
bool rig_can_attach(u32 absent);
void rig_attach(void);
void rig_cut(void);
void rig_submit(u32 op, u32 block, u32 blocks, bool is_check);
void rig_take(void);
void rig_complete(u32 which);
void rig_end_hit(u32 which);
void rig_settle(void);
bool rig_failed_in_recovery(void);
void rig_fail(const char *what, u64 a, u64 b) __attribute__((noreturn));

#endif
