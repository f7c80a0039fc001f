// SPDX-License-Identifier: GPL-2.0
/* Superblocks and headers of records as bytes. */
#include "format.h"

#define SUPER_MAGIC	0x5250555345524b53ULL
#define HEADER_MAGIC	0x4452434552474b53ULL
#define FORMAT_VERSION	3
/* Both begin with magic, version, and CRC-32C of the used bytes after it. */
#define AT_VERSION	8
#define AT_CRC		12
#define AT_UUID		16
#define AT_GENERATION	32
#define AT_ANNOUNCED	80
#define AT_NR_SPANS	88
#define AT_SPANS	96
#define UUID_BYTES	16
#define SPAN_BYTES	16
#define SUPER_BYTES	(AT_SPANS + SPAN_BYTES * SPEK_AUGMENT_SPANS)
/*
 * Behind what the first version of the module wrote, which leaves zeroes here: CRC-32C of the name
 * of the RAID, and the name. All of it is 0 without one.
 */
#define AT_RAID_CRC	SUPER_BYTES
#define AT_RAID		(AT_RAID_CRC + 4)
#define HEADER_BYTES	64
#define HEADER_MAX	(HEADER_BYTES + 4 * SPEK_AUGMENT_RECORD_BLOCKS)

/* Without a loop, of which GCC 12 makes a store for each byte. */
static void put32(u8 *to, u32 value)
{
	to[0] = value;
	to[1] = value >> 8;
	to[2] = value >> 16;
	to[3] = value >> 24;
}

static void put64(u8 *to, u64 value)
{
	put32(to, value);
	put32(to + 4, value >> 32);
}

static u32 get32(const u8 *from)
{
	return from[0] | from[1] << 8 | from[2] << 16 | (u32)from[3] << 24;
}

static u64 get64(const u8 *from)
{
	return get32(from) | (u64)get32(from + 4) << 32;
}

static void put_head(u8 *to, u64 magic, const u8 *uuid, u64 generation)
{
	put64(to, magic);
	put32(to + AT_VERSION, FORMAT_VERSION);
	spek_memcpy(to + AT_UUID, uuid, UUID_BYTES);
	put64(to + AT_GENERATION, generation);
}

static void put_crc(u8 *to, u32 used)
{
	put32(to + AT_CRC, spek_augment_crc32c(to + AT_UUID, used - AT_UUID));
}

static bool is_intact(const u8 *from, u64 magic, u32 used)
{
	return get64(from) == magic && get32(from + AT_VERSION) == FORMAT_VERSION &&
	       get32(from + AT_CRC) == spek_augment_crc32c(from + AT_UUID, used - AT_UUID);
}

static void put_raid(u8 *to, const char *raid)
{
	if (!raid[0])
		return;
	spek_memcpy(to + AT_RAID, raid, SPEK_AUGMENT_RAID_NAME);
	put32(to + AT_RAID_CRC, spek_augment_crc32c(to + AT_RAID, SPEK_AUGMENT_RAID_NAME));
}

/* Return: false if it was damaged, or torn: it may lie in another sector than what is before it. */
static bool get_raid(const u8 *from, char *raid)
{
	u32 used = get32(from + AT_RAID_CRC);
	u32 i;

	spek_memcpy(raid, from + AT_RAID, SPEK_AUGMENT_RAID_NAME);
	for (i = 0; i < SPEK_AUGMENT_RAID_NAME; i++)
		used |= from[AT_RAID + i];
	if (!used)
		return true;
	return raid[0] && !raid[SPEK_AUGMENT_RAID_NAME - 1] &&
	       get32(from + AT_RAID_CRC) ==
		       spek_augment_crc32c(from + AT_RAID, SPEK_AUGMENT_RAID_NAME);
}

/**
 * spek_augment_super_encode() - encode a superblock
 * @super: contents
 * @to: block of 4096 bytes
 */
void spek_augment_super_encode(const struct spek_augment_super *super, u8 *to)
{
	u32 i;

	spek_memset(to, 0, SPEK_AUGMENT_BLOCK_BYTES);
	put_head(to, SUPER_MAGIC, super->uuid, super->generation);
	put64(to + 40, super->version);
	put64(to + 48, super->tail_seq);
	put32(to + 56, super->tail);
	put32(to + 60, super->log_blocks);
	put32(to + 64, super->ssd_blocks);
	put32(to + 68, super->device);
	put32(to + 72, super->devices);
	put32(to + 76, super->nr_members);
	put64(to + AT_ANNOUNCED, super->announced);
	put32(to + AT_NR_SPANS, super->nr_spans);
	for (i = 0; i < super->nr_spans; i++) {
		put64(to + AT_SPANS + SPAN_BYTES * i, super->spans[i].generation);
		put64(to + AT_SPANS + SPAN_BYTES * i + 8, super->spans[i].first_seq);
	}
	put_crc(to, SUPER_BYTES);
	put_raid(to, super->raid);
}

/**
 * spek_augment_super_decode() - decode a superblock
 * @from: block of 4096 bytes
 * @super: filled in
 *
 * Return: false if there is none, or none that can be.
 */
bool spek_augment_super_decode(const u8 *from, struct spek_augment_super *super)
{
	u32 i;

	if (!is_intact(from, SUPER_MAGIC, SUPER_BYTES) || !get_raid(from, super->raid))
		return false;
	spek_memcpy(super->uuid, from + AT_UUID, UUID_BYTES);
	super->generation = get64(from + AT_GENERATION);
	super->version = get64(from + 40);
	super->tail_seq = get64(from + 48);
	super->tail = get32(from + 56);
	super->log_blocks = get32(from + 60);
	super->ssd_blocks = get32(from + 64);
	super->device = get32(from + 68);
	super->devices = get32(from + 72);
	super->nr_members = get32(from + 76);
	super->announced = get64(from + AT_ANNOUNCED);
	super->nr_spans = get32(from + AT_NR_SPANS);
	for (i = 0; i < SPEK_AUGMENT_SPANS; i++) {
		super->spans[i].generation = get64(from + AT_SPANS + SPAN_BYTES * i);
		super->spans[i].first_seq = get64(from + AT_SPANS + SPAN_BYTES * i + 8);
	}
	return super->generation && super->generation <= super->announced &&
	       super->announced < SPEK_AUGMENT_MAX_NUMBER &&
	       super->version < SPEK_AUGMENT_MAX_NUMBER && super->tail_seq &&
	       super->tail_seq < SPEK_AUGMENT_MAX_NUMBER && super->tail < super->log_blocks &&
	       super->nr_members && super->nr_members <= SPEK_AUGMENT_MEMBERS &&
	       super->device <= super->nr_members && super->nr_spans &&
	       super->nr_spans <= SPEK_AUGMENT_SPANS &&
	       super->spans[0].first_seq <= super->tail_seq;
}

/**
 * spek_augment_super_is_foreign() - check for a superblock of another version of the format
 * @from: block of 4096 bytes
 *
 * Return: true if there is one, intact or not.
 */
bool spek_augment_super_is_foreign(const u8 *from)
{
	return get64(from) == SUPER_MAGIC && get32(from + AT_VERSION) != FORMAT_VERSION;
}

/**
 * spek_augment_header_encode() - encode the header of a record
 * @header: contents
 * @to: block of 4096 bytes, of zeroes or with an earlier header
 */
void spek_augment_header_encode(const struct spek_augment_header *header, u8 *to)
{
	u32 i;

	spek_memset(to, 0, HEADER_MAX);
	put_head(to, HEADER_MAGIC, header->uuid, header->generation);
	put64(to + 40, header->seq);
	put64(to + 48, header->block);
	put32(to + 56, header->blocks);
	for (i = 0; i < header->blocks; i++)
		put32(to + HEADER_BYTES + 4 * i, header->crc[i]);
	put_crc(to, HEADER_BYTES + 4 * header->blocks);
}

/**
 * spek_augment_header_decode() - decode the header of a record
 * @from: block of 4096 bytes
 * @header: filled in
 *
 * Return: false if there is none, or none that can be.
 */
bool spek_augment_header_decode(const u8 *from, struct spek_augment_header *header)
{
	u32 i;

	header->blocks = get32(from + 56);
	if (header->blocks > SPEK_AUGMENT_RECORD_BLOCKS ||
	    !is_intact(from, HEADER_MAGIC, HEADER_BYTES + 4 * header->blocks))
		return false;
	spek_memcpy(header->uuid, from + AT_UUID, UUID_BYTES);
	header->generation = get64(from + AT_GENERATION);
	header->seq = get64(from + 40);
	header->block = get64(from + 48);
	for (i = 0; i < header->blocks; i++)
		header->crc[i] = get32(from + HEADER_BYTES + 4 * i);
	return header->block < SPEK_AUGMENT_MAX_BLOCK;
}
