/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What stands on the SSD and in the members' spare areas, in blocks of 4 KiB, little-endian:
 *
 *	block 0, 1	superblock, written in turns, so that a torn write leaves the older copy
 *	block 2 on	log, of the same length on every device
 *	after it	copies of clean blocks; SSD only, of no meaning after a restart
 *
 * A record of the log is a header and up to 32 blocks of data. It has the same place on the SSD and
 * on the member that mirrors it, and never wraps at the end of the log. The header has the sequence
 * number, generation and a CRC-32C of each block, so that a record counts only if complete.
 *
 * A generation begins at each restart and loss of a device. The log may hold records of several
 * generations. The superblock lists the sequence number of the first record of each, and a record
 * is valid only if it has the generation that its sequence number belongs to: records that the last
 * restart did not find stay invalid, even if they are found later. No record of a device that the
 * newest generation does not use is valid.
 *
 * A generation is announced on all devices in use, then begun on all, and only then are bios served.
 * An announcement is the superblock that counted before, with the number of the generation to come:
 * what it says of the log still holds. Each superblock goes to the place of the device's older one,
 * so a cut that tears the first superblock of a generation leaves its announcement, and one that
 * tears an announcement leaves what was there before.
 *
 * So all devices in use know the number of a generation before any device has begun it, and devices
 * that begin the next one without the others give it a greater number. What counts is always what
 * bios were served from last, if a device is present that was in use then. Generations without a
 * log, those of the SSD alone or of members alone, have no records: that two of them have the same
 * number, if none of their devices has seen the other generation, makes no record valid.
 */
#ifndef SPEK_AUGMENT_FORMAT_H
#define SPEK_AUGMENT_FORMAT_H

#include "../../core/spek_host.h"
#include "crc32c.h"

#define SPEK_AUGMENT_BLOCK_BYTES	4096
#define SPEK_AUGMENT_RECORD_BLOCKS	32
#define SPEK_AUGMENT_LOG_START		2
#define SPEK_AUGMENT_MEMBERS		8
#define SPEK_AUGMENT_SPANS		16
/* Bytes of the name of the RAID, with its 0. */
#define SPEK_AUGMENT_RAID_NAME		252
#define SPEK_AUGMENT_MAX_BLOCK		(1ULL << 48)
/* Of generations, versions and sequence numbers on a device: those to come do not wrap. */
#define SPEK_AUGMENT_MAX_NUMBER		(1ULL << 62)
/* The SSD is device 0, member i is device 1 + i. */
#define SPEK_AUGMENT_SSD		0
#define SPEK_AUGMENT_MEMBER		1
#define SPEK_AUGMENT_RAID		(1 + SPEK_AUGMENT_MEMBERS)

/**
 * struct spek_augment_span - the records of a generation in the log
 * @generation: generation
 * @first_seq: sequence number of its first record; its last is before that of the next span
 */
struct spek_augment_span {
	u64 generation;
	u64 first_seq;
};

/**
 * struct spek_augment_super - contents of a superblock
 * @uuid: identity of the set of devices
 * @generation: generation of new records, from 1
 * @version: number of the superblock, which rises with each write to any device
 * @tail_seq: sequence number of the first record that counts
 * @tail: place of that record in the log in blocks
 * @log_blocks: length of the log
 * @ssd_blocks: length of the SSD
 * @device: number of the device that this superblock is on
 * @devices: bitmap of the devices in use in this generation
 * @nr_members: number of members of the RAID
 * @announced: highest generation that was announced; @generation: none since that
 * @nr_spans: number of spans, from 1
 * @spans: generations of the records in the log, oldest first
 * @raid: name of the RAID that the log is for, given by the caller; empty: not known
 */
struct spek_augment_super {
	u8 uuid[16];
	u64 generation;
	u64 version;
	u64 tail_seq;
	u32 tail;
	u32 log_blocks;
	u32 ssd_blocks;
	u32 device;
	u32 devices;
	u32 nr_members;
	u64 announced;
	u32 nr_spans;
	struct spek_augment_span spans[SPEK_AUGMENT_SPANS];
	char raid[SPEK_AUGMENT_RAID_NAME];
};

/**
 * struct spek_augment_header - contents of the header of a record
 * @uuid: identity of the set of devices
 * @generation: generation of the record
 * @seq: sequence number
 * @block: first block on the RAID
 * @blocks: number of blocks of data, 0 to 32
 * @crc: CRC-32C of each block of data
 */
struct spek_augment_header {
	u8 uuid[16];
	u64 generation;
	u64 seq;
	u64 block;
	u32 blocks;
	u32 crc[SPEK_AUGMENT_RECORD_BLOCKS];
};

void spek_augment_super_encode(const struct spek_augment_super *super, u8 *to);
bool spek_augment_super_decode(const u8 *from, struct spek_augment_super *super);
bool spek_augment_super_is_foreign(const u8 *from);
void spek_augment_header_encode(const struct spek_augment_header *header, u8 *to);
bool spek_augment_header_decode(const u8 *from, struct spek_augment_header *header);

#endif
