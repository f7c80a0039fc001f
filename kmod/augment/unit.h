/* SPDX-License-Identifier: GPL-2.0 */
/* A target of device mapper: the machine, its devices, and what is under way. */
#ifndef SPEK_AUGMENT_UNIT_H
#define SPEK_AUGMENT_UNIT_H

#include <linux/bio.h>
#include <linux/device-mapper.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include "core/machine.h"

/* Blocks of the longest bio that device mapper passes: the buffers hold so much for each. */
#define SPEK_AUGMENT_UNIT_BLOCKS	64
#define SPEK_AUGMENT_SECTORS		8
/* Reads that go to the SSD without the worker at a time; more take the worker's way. */
#define SPEK_AUGMENT_HOLDS		1024
/* SSD and members. */
#define SPEK_AUGMENT_DEVICES		(1 + SPEK_AUGMENT_MEMBERS)
#define SPEK_AUGMENT_STAGE_PAGES	(SPEK_AUGMENT_STAGES * SPEK_AUGMENT_STAGE_BLOCKS)

/**
 * struct spek_augment_place - room in the machine for a bio of device mapper
 * @bio: the bio
 * @crc: CRC-32C of each block of a write
 * @data: copies of the blocks of a write
 */
struct spek_augment_place {
	struct bio *bio;
	u32 crc[SPEK_AUGMENT_UNIT_BLOCKS];
	u8 *data[SPEK_AUGMENT_UNIT_BLOCKS];
};

/**
 * struct spek_augment_part - an I/O to a device, by the machine's tag
 * @unit: the unit
 * @vecs: blocks of @bio, unless it has those of a bio of device mapper
 * @node: in the list of I/O to be sent, or of those that have ended
 * @io: what the machine wants
 * @place: place of the bio whose data it reads or writes, or NULL
 * @head: block of memory for a superblock, or what a wake-up reads
 * @status: of the end
 * @bio: sent to the device
 */
struct spek_augment_part {
	struct spek_augment_unit *unit;
	struct bio_vec vecs[SPEK_AUGMENT_UNIT_BLOCKS + 1];
	struct list_head node;
	struct spek_augment_io io;
	struct spek_augment_place *place;
	u8 *head;
	blk_status_t status;
	struct bio bio;
};

/**
 * struct spek_augment_hold - a read that goes to the SSD without the worker
 * @node: in the list of those that are over, or that are free
 * @hit: what the machine holds for it
 * @error: of its end
 */
struct spek_augment_hold {
	struct llist_node node;
	struct spek_augment_hit hit;
	int error;
};

/**
 * struct spek_augment_unit - a target
 * @ti: device mapper's
 * @node: in the list of all targets
 * @config: sizes and policy
 * @raid: the RAID
 * @devices: SSD and members; NULL: missing
 * @wants_format: superblocks are to be written before the first start
 * @ends_unread: the log may end at a block that nobody could read
 * @memory: the machine's
 * @stages: blocks of the machine's buffers
 * @heads: headers of records, by number, each for both devices
 * @places: by cookie
 * @parts: by tag
 * @queue: runs @work
 * @work: serves; at the time that the machine wants, and when something has arrived
 * @lock: protects @machine, once it is started, and the next 11 fields
 * @machine: the machine
 * @is_started: the machine has recovered
 * @is_stopped: nothing more is sent
 * @in_flight: I/O that was sent and has not been reported to the machine; changed by @work
 * @gone: bitmap of devices that were lost by a message: what they answer is an error
 * @told_mode: mode that was last told to those who wait for an event
 * @told_live: bitmap of devices in use that was last logged
 * @told_place: place in the log up to which lost blocks were logged
 * @told_ranges: number of ranges of these that were logged
 * @free_holds: those that no read has
 * @wants_ends: a bio waits in the machine, perhaps for the end of a read of the SSD
 * @over: holds whose reads have ended; without a lock
 * @holds: all of them
 * @idle: for @in_flight to become 0
 * @arrived_lock: protects the next 3 fields; taken in interrupts
 * @is_kicked: the worker will run for what has arrived
 * @arrived: bios that the worker has not seen
 * @ended: parts that have ended
 * @waiting: bios that wait for a place; the worker's
 * @free_places: bitmap of places without a bio; the worker's
 */
struct spek_augment_unit {
	struct dm_target *ti;
	struct list_head node;
	struct spek_augment_config config;
	struct dm_dev *raid;
	struct dm_dev *devices[SPEK_AUGMENT_DEVICES];
	bool wants_format;
	bool ends_unread;
	void *memory;
	u8 *stages[SPEK_AUGMENT_STAGE_PAGES];
	u8 *heads[SPEK_AUGMENT_RECORDS];
	struct spek_augment_place places[SPEK_AUGMENT_BIOS];
	struct spek_augment_part *parts[SPEK_AUGMENT_IOS];
	struct workqueue_struct *queue;
	struct delayed_work work;
	struct mutex lock;
	struct spek_augment machine;
	bool is_started;
	bool is_stopped;
	u32 in_flight;
	u32 gone;
	u32 told_mode;
	u32 told_live;
	u32 told_place;
	u32 told_ranges;
	struct llist_node *free_holds;
	bool wants_ends;
	struct llist_head over;
	struct spek_augment_hold holds[SPEK_AUGMENT_HOLDS];
	wait_queue_head_t idle;
	spinlock_t arrived_lock;
	bool is_kicked;
	struct bio_list arrived;
	struct list_head ended;
	struct bio_list waiting;
	u64 free_places;
};

/**
 * spek_augment_unit_bdev() - find a device
 * @unit: unit
 * @device: number of the device
 *
 * Return: the device, or NULL if it is missing.
 */
static inline struct block_device *spek_augment_unit_bdev(const struct spek_augment_unit *unit,
							  u32 device)
{
	const struct dm_dev *dev = device == SPEK_AUGMENT_RAID ? unit->raid :
								 unit->devices[device];

	return dev ? dev->bdev : NULL;
}

#endif
