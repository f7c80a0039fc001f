/* SPDX-License-Identifier: GPL-2.0 */
/* Targets: claimed block devices, their limits and the back end chosen for them. */
#ifndef SPEK_TARGET_H
#define SPEK_TARGET_H

#include <linux/blkdev.h>
#include "../compat/compat.h"

struct spek_backend_ops;
struct spek_refusal;
struct spek_run_config;

/**
 * struct spek_seen_limits - the queue's limits that a target's were made of
 */
struct spek_seen_limits {
	u32 max_sectors;
	u32 max_segments;
	u32 max_segment_size;
	u32 chunk_sectors;
	unsigned long boundary;
};

/**
 * struct spek_target - a claimed block device; const while workers run
 *
 * The queue's limits may change meanwhile: each worker has a copy, which it keeps up to date.
 *
 * @handle: open claim; closed when the run is done
 * @name: as the kernel prints it
 * @dev: device number
 * @diskseq: sequence number of the disk
 * @start_sector: of a partition on its disk
 * @bytes: capacity
 * @logical_block: bytes
 * @physical_block: bytes; pieces that are cut end at multiples of this on the disk, if they can
 * @max_part_bytes: largest piece that is sent as one request
 * @chunk_sectors: pieces don't cross multiples of this on the disk; 0: no such limit
 * @only_segment: where a request has one segment: pieces don't cross multiples of this in the
 *	buffer, a power of two; else 0
 * @seen: what the four above were made of
 * @own_read_queues: reads have hardware queues of their own
 * @polled: poll for completions
 * @backend: how I/O reaches it
 * @backend_reason: why this one, a sentence
 */
struct spek_target {
	struct spek_compat_bdev handle;
	char name[BDEVNAME_SIZE];
	dev_t dev;
	u64 diskseq;
	u64 start_sector;
	u64 bytes;
	u32 logical_block;
	u32 physical_block;
	u32 max_part_bytes;
	u32 chunk_sectors;
	u32 only_segment;
	struct spek_seen_limits seen;
	bool own_read_queues;
	bool polled;
	const struct spek_backend_ops *backend;
	const char *backend_reason;
};

/**
 * struct spek_target_count - requests sent to a target by one worker; its own, read with READ_ONCE
 */
struct spek_target_count {
	u64 ios[2];		/* read, write */
	u64 bytes[2];
	u64 refused;
	u64 tag_waits;		/* parts that had to wait for a request */
};

/**
 * struct spek_target_view - what netlink shows of a target
 */
struct spek_target_view {
	const struct spek_target *target;	/* const fields only */
	struct spek_target_count count;
};

int spek_target_may_open(dev_t dev, bool write);
int spek_target_open(struct spek_target *target, const struct spek_run_config *config, dev_t dev,
		     u32 chunk_bytes, void *holder, const struct spek_compat_holder_ops *ops,
		     struct spek_refusal *refusal);
void spek_target_read_limits(struct spek_target *target, u32 buffer_chunk_bytes);
u32 spek_target_requests(const struct spek_target *target, u64 offset, u32 bytes, u32 in_buffer,
			 u32 buffer_chunk_bytes);

/** spek_target_close() - give the claim back; a target that is not open is fine. */
void spek_target_close(struct spek_target *target);

/** spek_target_is_gone() - Return: true if the device was removed. Any context. */
bool spek_target_is_gone(const struct spek_target *target);

/** spek_target_limits_changed() - Return: true if the queue's limits are not those in @target. */
static inline bool spek_target_limits_changed(const struct spek_target *target)
{
	const struct queue_limits *now = &bdev_get_queue(target->handle.bdev)->limits;
	const struct spek_seen_limits *seen = &target->seen;

	return (READ_ONCE(now->max_sectors) ^ seen->max_sectors) |
	       (READ_ONCE(now->max_segments) ^ seen->max_segments) |
	       (READ_ONCE(now->max_segment_size) ^ seen->max_segment_size) |
	       (READ_ONCE(now->chunk_sectors) ^ seen->chunk_sectors) |
	       (READ_ONCE(now->seg_boundary_mask) ^ seen->boundary);
}

/** spek_target_opf() - Return: operation and flags of a read or of a write. */
static inline blk_opf_t spek_target_opf(const struct spek_target *target, bool write)
{
	blk_opf_t opf = REQ_NOMERGE | (write ? REQ_OP_WRITE | REQ_SYNC | REQ_IDLE : REQ_OP_READ);

	return target->polled ? opf | REQ_POLLED : opf;
}

/**
 * spek_target_part() - Return: how many of @bytes at @offset, whose data begin at @in_buffer, go
 * out as one request. Sectors are cut as get_max_io_size() of the block layer cuts them.
 */
static inline u32 spek_target_part(const struct spek_target *target, u64 offset, u32 bytes,
				   u32 in_buffer)
{
	u64 start = offset + (target->start_sector << SECTOR_SHIFT);
	u32 into_block = start & (target->physical_block - 1);
	u32 n = target->max_part_bytes, end;

	if (target->chunk_sectors) {
		u32 into;

		div_u64_rem(start >> SECTOR_SHIFT, target->chunk_sectors, &into);
		n = min_t(u64, n, (u64)(target->chunk_sectors - into) << SECTOR_SHIFT);
	}
	end = (into_block + n) & ~(target->physical_block - 1);
	if (end > into_block)
		n = end - into_block;
	n = min(n, bytes);
	if (target->only_segment)
		n = min(n, target->only_segment - (in_buffer & (target->only_segment - 1)));
	return n;
}

/**
 * spek_target_whole_bytes() - find the largest piece that is one request wherever it starts
 * @target: open
 *
 * Chunks and segments may cut it all the same. Return: bytes.
 */
static inline u32 spek_target_whole_bytes(const struct spek_target *target)
{
	if (target->max_part_bytes < target->physical_block)
		return target->logical_block;
	return target->max_part_bytes - (target->physical_block - target->logical_block);
}

#endif
