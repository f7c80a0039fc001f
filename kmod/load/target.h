/* SPDX-License-Identifier: GPL-2.0 */
/* Targets: claimed block devices, their limits and the back end chosen for them. */
#ifndef SPEK_TARGET_H
#define SPEK_TARGET_H

#include <linux/blkdev.h>
#include "../compat/compat.h"

struct spek_backend_ops;
struct spek_refusal;

/**
 * struct spek_seen_limits - limits of a queue from which those of a target were derived
 * @max_sectors: sectors of a request
 * @max_segments: segments of a request
 * @max_segment_size: bytes of a segment
 * @chunk_sectors: sectors whose multiples a request doesn't cross; 0: any
 * @boundary: mask of the addresses that a segment doesn't cross
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
 * @handle: open claim; closed when the run is done. A copy where it is lent: the device's holder is
 *	the original
 * @is_lent: the handle belongs to a claim, which outlives the run
 * @name: name that the kernel prints
 * @dev: device number
 * @diskseq: sequence number of the disk
 * @start_sector: first sector of a partition on its disk; 0 for a disk
 * @bytes: capacity
 * @logical_block: bytes of a logical block
 * @physical_block: bytes of a physical block; cuts lie on multiples of it where possible
 * @max_part_bytes: largest piece that is sent as one request
 * @chunk_sectors: pieces don't cross multiples of this on the disk; 0: no such limit
 * @only_segment: where a request has one segment: pieces don't cross multiples of this in the
 *	buffer, a power of two; else 0
 * @seen: limits of the queue from which the four above were derived
 * @own_read_queues: reads have hardware queues of their own
 * @polled: poll for completions
 * @nowait: bios with data must not wait for requests: the worker has other targets
 * @pools: hardware queues for the target's I/O that have requests of their own; U32_MAX: it is not
 *	request-based
 * @backend: how I/O reaches it
 * @backend_reason: why this one, a sentence
 *
 * The queue's limits may change meanwhile: each worker has a copy, which it keeps up to date.
 */
struct spek_target {
	struct spek_compat_bdev handle;
	bool is_lent;
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
	bool nowait;
	u32 pools;
	const struct spek_backend_ops *backend;
	const char *backend_reason;
};

/**
 * enum spek_count - what requests are counted as, as the block layer does
 * @SPEK_COUNT_READ: reads
 * @SPEK_COUNT_WRITE: writes, also of zeroes, appends, and commands on zones
 * @SPEK_COUNT_DISCARD: discards
 * @SPEK_COUNT_FLUSH: flushes
 * @SPEK_COUNT_ZONE_APPEND: appends to zones, counted as writes as well, as are the next four
 * @SPEK_COUNT_ZONE_RESET: resets of zones
 * @SPEK_COUNT_ZONE_FINISH: finished zones
 * @SPEK_COUNT_ZONE_OPEN: opened zones
 * @SPEK_COUNT_ZONE_CLOSE: closed zones
 * @SPEK_COUNT_ZONE_MISPLACED: appends that are not where they were expected
 * @SPEK_COUNT_NR: number of these
 */
enum spek_count {
	SPEK_COUNT_READ = 0,
	SPEK_COUNT_WRITE = 1,
	SPEK_COUNT_DISCARD,
	SPEK_COUNT_FLUSH,
	SPEK_COUNT_ZONE_APPEND,
	SPEK_COUNT_ZONE_RESET,
	SPEK_COUNT_ZONE_FINISH,
	SPEK_COUNT_ZONE_OPEN,
	SPEK_COUNT_ZONE_CLOSE,
	SPEK_COUNT_ZONE_MISPLACED,
	SPEK_COUNT_NR,
};

/**
 * struct spek_target_count - requests that one worker sent to a target
 * @ios: requests by enum spek_count
 * @bytes: bytes of them
 * @refused: times that the driver had no room
 * @tag_waits: parts that had to wait for a request
 *
 * Written by the worker; others read it with READ_ONCE().
 */
struct spek_target_count {
	u64 ios[SPEK_COUNT_NR];
	u64 bytes[SPEK_COUNT_NR];
	u64 refused;
	u64 tag_waits;
};

/**
 * struct spek_target_view - what netlink reports of a target
 * @target: target; only its const fields may be read
 * @opens: opens of the device and of what shares its data, the claim included; 0 if they can't be
 *	counted now, or the target is closed
 * @count: requests of all workers
 */
struct spek_target_view {
	const struct spek_target *target;
	u32 opens;
	struct spek_target_count count;
};

/**
 * struct spek_target_request - how to open a target
 * @dev: device number
 * @write: for writing
 * @lent: handle of a claim on the device, to be used instead of opening it; or NULL
 * @chunk_bytes: size of the contiguous pieces that buffers are made of
 * @holder: the run, for @ops
 * @ops: called when the device is removed, unless it is lent
 * @backend: enum spek_backend wanted
 * @polled: completions will be polled for
 * @shared: the run has other targets
 * @plain: the run only reads and writes
 * @choose: choose the back end of an open target; arguments as of spek_backend_choose()
 */
struct spek_target_request {
	dev_t dev;
	bool write;
	const struct spek_compat_bdev *lent;
	u32 chunk_bytes;
	void *holder;
	const struct spek_compat_holder_ops *ops;
	u32 backend;
	bool polled;
	bool shared;
	bool plain;
	int (*choose)(struct spek_target *target, u32 backend, bool polled, bool plain,
		      struct spek_refusal *refusal);
};

int spek_target_may_open(dev_t dev, bool write);
int spek_target_claim(struct spek_compat_bdev *handle, dev_t dev, bool write, void *holder,
		      const struct spek_compat_holder_ops *ops, struct spek_refusal *refusal);
int spek_target_open(struct spek_target *target, const struct spek_target_request *request,
		     struct spek_refusal *refusal);
void spek_target_read_limits(struct spek_target *target, u32 buffer_chunk_bytes);
u32 spek_target_requests(const struct spek_target *target, u64 offset, u32 bytes, u32 in_buffer,
			 u32 buffer_chunk_bytes);

void spek_target_close(struct spek_target *target);

bool spek_target_is_gone(const struct spek_target *target);

/**
 * spek_target_limits_changed() - check whether the queue's limits have changed
 * @target: open
 *
 * Context: any.
 * Return: true if they differ from those that @target was set up with.
 */
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

/**
 * spek_target_opf() - operation and flags of a bio
 * @target: open
 * @write: for a write, else for a read
 *
 * Return: value for bi_opf.
 */
static inline blk_opf_t spek_target_opf(const struct spek_target *target, bool write)
{
	blk_opf_t opf = REQ_NOMERGE | (write ? REQ_OP_WRITE | REQ_SYNC | REQ_IDLE : REQ_OP_READ);

	return target->polled ? opf | REQ_POLLED : opf;
}

/**
 * spek_target_part() - size of the next request of an I/O
 * @target: open
 * @offset: first byte on the target
 * @bytes: length of what remains of the I/O
 * @in_buffer: offset of its data in the slot's buffer
 *
 * Sectors are cut as get_max_io_size() of the block layer cuts them.
 *
 * Context: any.
 * Return: bytes, at most @bytes.
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
 * Chunks and segments may cut it all the same.
 *
 * Return: bytes.
 */
static inline u32 spek_target_whole_bytes(const struct spek_target *target)
{
	if (target->max_part_bytes < target->physical_block)
		return target->logical_block;
	return target->max_part_bytes - (target->physical_block - target->logical_block);
}

#endif
