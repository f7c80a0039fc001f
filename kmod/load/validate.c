// SPDX-License-Identifier: GPL-2.0
/* Validate a configuration against itself, the machine and its devices. Nothing is changed. */
#include <linux/cpu.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include "config.h"
#include "core/replay.h"
#include "iolog.h"
#include "slot.h"
#include "stats.h"
#include "submit.h"
#include "target.h"
#include "validate.h"
#include "worker_phase.h"

/**
 * spek_validate_cpus() - check that the CPUs of the workers are online
 * @config: of the run
 * @refusal: filled in on failure
 *
 * Context: with the CPU hotplug lock, the answer stays true.
 * Return: 0 or -ERANGE.
 */
int spek_validate_cpus(const struct spek_run_config *config, struct spek_refusal *refusal)
{
	u32 i;

	for (i = 0; i < config->nr_workers; i++) {
		u32 cpu = config->worker[i].cpu;

		if (cpu >= nr_cpu_ids || !cpu_online(cpu))
			return spek_refuse(refusal, SPEK_REFUSAL_WORKER, i, -ERANGE,
					   "The CPU of a worker is not online.");
	}
	return 0;
}

/* A target that is opened read-only is not to be written. */
static int check_read_only(const struct spek_run_config *config, struct spek_refusal *refusal)
{
	const struct spek_workload *wl = &config->workload;
	u32 i, k;

	for (i = 0; i < wl->nr_streams; i++) {
		const struct spek_asu *asu = &wl->asu[wl->stream[i].asu];

		if (wl->stream[i].read_ppm == 1000000)
			continue;
		for (k = 0; k < asu->nr_extents; k++)
			if (!spek_config_may_write(config, asu->extent[k].target))
				return spek_refuse(refusal, SPEK_REFUSAL_STREAM, i, -EPERM,
						   "The stream can write, and a device of its address range may only be read.");
	}
	return 0;
}

/**
 * spek_validate_config() - validate what needs no device
 * @config: of the run
 * @refusal: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int spek_validate_config(const struct spek_run_config *config, struct spek_refusal *refusal)
{
	int err;

	err = spek_workload_check(&config->workload, config->nr_workers, refusal);
	if (err)
		return err;
	if (!config->may_write && spek_workload_writes(&config->workload))
		return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -EPERM,
				   "The workload writes, and the run was not allowed to write.");
	err = check_read_only(config, refusal);
	if (err)
		return err;
	if (config->max_outstanding < config->nr_workers)
		return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -EINVAL,
				   "The run has fewer outstanding I/Os than workers: each worker needs at least one.");
	return spek_validate_cpus(config, refusal);
}

/**
 * spek_asu_extent_bytes() - size of an asu on each of its targets
 * @asu: asu
 *
 * Return: bytes, whole stripe units if the asu is striped.
 */
u64 spek_asu_extent_bytes(const struct spek_asu *asu)
{
	u64 row = (u64)asu->stripe_bytes * asu->nr_extents;

	if (asu->nr_extents == 1)
		return asu->bytes;
	return DIV64_U64_ROUND_UP(asu->bytes, row) * asu->stripe_bytes;
}

static int check_asu(const struct spek_asu *asu, u32 index, const struct spek_target *targets,
		     u32 *block, struct spek_refusal *refusal)
{
	u64 bytes = spek_asu_extent_bytes(asu);
	u32 i;

	*block = SECTOR_SIZE;
	for (i = 0; i < asu->nr_extents; i++) {
		const struct spek_target *target = &targets[asu->extent[i].target];
		u64 start = asu->extent[i].start;

		if (start > target->bytes || bytes > target->bytes - start)
			return spek_refuse(refusal, SPEK_REFUSAL_ASU, index, -ERANGE,
					   "The address range reaches beyond the end of its device.");
		if (start & (target->logical_block - 1))
			return spek_refuse(refusal, SPEK_REFUSAL_ASU, index, -EINVAL,
					   "The address range does not start at a logical block of its device.");
		*block = max(*block, target->logical_block);
	}
	/* Requests bypass the block layer's check for whole blocks. */
	if (asu->nr_extents > 1 && asu->stripe_bytes & (*block - 1))
		return spek_refuse(refusal, SPEK_REFUSAL_ASU, index, -EINVAL,
				   "The stripe unit is smaller than a logical block of one of its devices.");
	return 0;
}

/* What is not a plain read or write. */
static int check_operation(const struct spek_stream *stream, const struct spek_asu *asu, u32 index,
			   const struct spek_target *targets, struct spek_refusal *refusal)
{
	struct block_device *bdev = targets[asu->extent[0].target].handle.bdev;

	if (stream->operation && asu->nr_extents > 1)
		return spek_refuse(refusal, SPEK_REFUSAL_STREAM, index, -EOPNOTSUPP,
				   "A striped address range has no flushes, discards and write-zeroes.");
	if (!spek_backend_is_bio(targets, asu))
		return spek_refuse(refusal, SPEK_REFUSAL_STREAM, index, -EOPNOTSUPP,
				   "Only back end bio has flushes, discards, write-zeroes, writes with FUA and write pointers of zones.");
	if (stream->operation == SPEK_OPERATION_DISCARD && !bdev_max_discard_sectors(bdev))
		return spek_refuse(refusal, SPEK_REFUSAL_STREAM, index, -EOPNOTSUPP,
				   "The device does not support discards.");
	if (stream->operation == SPEK_OPERATION_WRITE_ZEROES && !bdev_write_zeroes_sectors(bdev))
		return spek_refuse(refusal, SPEK_REFUSAL_STREAM, index, -EOPNOTSUPP,
				   "The device does not support write-zeroes.");
	/* The block layer would cut them, which nobody could count. */
	if (stream->operation == SPEK_OPERATION_WRITE_ZEROES &&
	    spek_stream_max_bytes(stream) >> SECTOR_SHIFT > bdev_write_zeroes_sectors(bdev))
		return spek_refuse(refusal, SPEK_REFUSAL_STREAM, index, -ERANGE,
				   "A block size is above what the device zeroes at once (write_zeroes_max_bytes).");
	return 0;
}

static int check_hints(const struct spek_stream *stream, const struct spek_asu *asu, u32 index,
		       const struct spek_target *targets, struct spek_refusal *refusal)
{
	u32 i;

	if (!stream->priority && !stream->write_hint)
		return 0;
	if (stream->write_hint && !spek_compat_has_write_hints())
		return spek_refuse(refusal, SPEK_REFUSAL_STREAM, index, -EOPNOTSUPP,
				   "This kernel has no write hints: Linux has them from 6.9 on.");
	for (i = 0; i < asu->nr_extents; i++)
		if (targets[asu->extent[i].target].backend->id == SPEK_BACKEND_SCSI)
			return spek_refuse(refusal, SPEK_REFUSAL_STREAM, index, -EOPNOTSUPP,
					   "Only back ends bio and mq have I/O priorities and write hints.");
	return 0;
}

/* Return: true if a write of a size, somewhere in an address range, would cross a chunk. */
static bool crosses_chunks(const struct spek_target *target, u64 on_disk, u32 bytes)
{
	u64 chunk = (u64)target->chunk_sectors << SECTOR_SHIFT;

	return chunk && (chunk | on_disk) & (bytes - 1);
}

static int check_atomic_size(const struct spek_target *target, u64 start, u32 bytes, u32 index,
			     struct spek_refusal *refusal)
{
	const struct request_queue *q = bdev_get_queue(target->handle.bdev);
	u64 on_disk = (target->start_sector << SECTOR_SHIFT) + start;

	if (bytes < spek_compat_atomic_unit_min(target->handle.bdev))
		return spek_refuse(refusal, SPEK_REFUSAL_STREAM, index, -ERANGE,
				   "A block size is below what the device writes atomically (atomic_write_unit_min_bytes).");
	if (!spek_compat_queue_takes_atomic(q, 0, bytes))
		return spek_refuse(refusal, SPEK_REFUSAL_STREAM, index, -ERANGE,
				   "A block size is above what the device writes atomically (atomic_write_unit_max_bytes).");
	if (!spek_compat_queue_takes_atomic(q, on_disk, bytes))
		return spek_refuse(refusal, SPEK_REFUSAL_STREAM, index, -ERANGE,
				   "The partition starts where atomic writes would cross a boundary of the device (atomic_write_boundary_bytes).");
	if (crosses_chunks(target, on_disk, bytes))
		return spek_refuse(refusal, SPEK_REFUSAL_STREAM, index, -ERANGE,
				   "Atomic writes would cross a chunk of the device (chunk_sectors): chunks and the start of the partition must be multiples of each block size.");
	if (spek_target_part(target, start, bytes, 0) < bytes)
		return spek_refuse(refusal, SPEK_REFUSAL_STREAM, index, -ERANGE,
				   "A block size is above what the device takes as one request (max_sectors_kb): an atomic write must not be cut.");
	return 0;
}

/*
 * The core has checked that sizes are powers of two and places within the address range multiples
 * of them. Here they have to be so on the device.
 */
static int check_atomic(const struct spek_stream *stream, const struct spek_asu *asu, u32 index,
			const struct spek_target *targets, struct spek_refusal *refusal)
{
	u32 i, k;
	int err;

	if (!spek_compat_has_atomic_writes())
		return spek_refuse(refusal, SPEK_REFUSAL_STREAM, index, -EOPNOTSUPP,
				   "This kernel has no atomic writes: Linux has them from 6.11 on.");
	for (i = 0; i < asu->nr_extents; i++) {
		const struct spek_target *target = &targets[asu->extent[i].target];
		u64 start = asu->extent[i].start;

		if (!spek_compat_atomic_unit_min(target->handle.bdev))
			return spek_refuse(refusal, SPEK_REFUSAL_STREAM, index, -EOPNOTSUPP,
					   "The device has no atomic writes (atomic_write_unit_max_bytes), or the partition is not aligned to them.");
		for (k = 0; k < stream->nr_sizes; k++) {
			u32 bytes = stream->size[k].bytes;

			if ((start | asu->stripe_bytes) & (bytes - 1))
				return spek_refuse(refusal, SPEK_REFUSAL_STREAM, index, -EINVAL,
						   "Atomic writes need an address range that starts at a multiple of each block size, and is striped by one.");
			err = check_atomic_size(target, start, bytes, index, refusal);
			if (err)
				return err;
		}
	}
	return 0;
}

/**
 * spek_validate_devices() - validate a workload against the devices
 * @wl: workload
 * @targets: open
 * @refusal: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int spek_validate_devices(const struct spek_workload *wl, const struct spek_target *targets,
			  struct spek_refusal *refusal)
{
	u32 block[SPEK_MAX_ASUS];
	u32 i, k;
	int err;

	for (i = 0; i < wl->nr_asus; i++) {
		err = check_asu(&wl->asu[i], i, targets, &block[i], refusal);
		if (err)
			return err;
	}
	for (i = 0; i < wl->nr_streams; i++) {
		const struct spek_stream *stream = &wl->stream[i];
		u32 mask = block[stream->asu] - 1;

		if (!spek_stream_is_plain(stream)) {
			err = check_operation(stream, &wl->asu[stream->asu], i, targets, refusal);
			if (err)
				return err;
		}
		if (spek_stream_has_hints(stream)) {
			err = check_hints(stream, &wl->asu[stream->asu], i, targets, refusal);
			if (err)
				return err;
		}
		if (stream->atomic) {
			err = check_atomic(stream, &wl->asu[stream->asu], i, targets, refusal);
			if (err)
				return err;
		}

		if (stream->align_bytes & mask || stream->range_start & mask)
			return spek_refuse(refusal, SPEK_REFUSAL_STREAM, i, -EINVAL,
					   "The addresses of a stream are not aligned to the logical block of its device.");
		if (stream->pattern == SPEK_PATTERN_STRIDED && stream->stride_bytes & mask)
			return spek_refuse(refusal, SPEK_REFUSAL_STREAM, i, -EINVAL,
					   "The stride is not a multiple of the logical block of the device.");
		for (k = 0; k < stream->nr_sizes; k++)
			if (stream->size[k].bytes & mask)
				return spek_refuse(refusal, SPEK_REFUSAL_STREAM, i, -EINVAL,
						   "A block size is not a multiple of the logical block of the device.");
	}
	return 0;
}

/* Return: upper bound of the requests that @bytes on @target take, at any start */
static u32 most_parts(const struct spek_target *target, u32 bytes)
{
	u32 parts = DIV_ROUND_UP(bytes, target->max_part_bytes), cuts = 0;

	if (target->chunk_sectors)
		cuts += DIV_ROUND_UP(bytes >> SECTOR_SHIFT, target->chunk_sectors);
	if (target->only_segment)
		cuts += DIV_ROUND_UP(bytes, target->only_segment);
	/* A start within a physical block shortens the first piece, and so on after each cut. */
	if (target->physical_block > target->logical_block)
		cuts += cuts;
	if (bytes > spek_target_whole_bytes(target))
		cuts++;
	if (target->max_part_bytes < target->physical_block)
		cuts += DIV_ROUND_UP(bytes, target->physical_block);
	return parts + cuts;
}

/**
 * spek_validate_max_parts() - count the parts that an operation needs at most
 * @wl: workload
 * @targets: open
 * @bytes: size of the operation
 *
 * Return: parts.
 */
u32 spek_validate_max_parts(const struct spek_workload *wl, const struct spek_target *targets,
			    u32 bytes)
{
	u32 parts = 1, i, k;

	for (i = 0; i < wl->nr_asus; i++) {
		const struct spek_asu *asu = &wl->asu[i];
		u32 pieces = 1, piece = bytes;

		if (asu->nr_extents > 1) {
			pieces = DIV_ROUND_UP(bytes, asu->stripe_bytes) + 1;
			piece = min(bytes, asu->stripe_bytes);
		}
		for (k = 0; k < asu->nr_extents; k++) {
			const struct spek_target *target = &targets[asu->extent[k].target];

			parts = max(parts, pieces * most_parts(target, piece));
		}
	}
	return parts;
}

/**
 * spek_validate_memory() - check that what grows with the configuration fits into memory
 * @config: of the run
 * @shape: of its slots
 *
 * Return: true if it fits.
 */
bool spek_validate_memory(const struct spek_run_config *config,
			  const struct spek_slot_shape *shape)
{
	u64 bytes = spek_slots_bytes(config->max_outstanding, shape) +
		    (u64)config->max_outstanding * sizeof(struct spek_age) +
		    (u64)config->nr_workers * spek_worker_nr_sets(config) *
			    spek_set_bytes(&config->workload) +
		    (u64)config->nr_workers * config->log_records * sizeof(struct spek_log_record) +
		    (u64)config->nr_workers * config->trace_records * sizeof(struct spek_recorded);
	u32 i;

	for (i = 0; i < config->nr_workers; i++) {
		size_t gen = spek_gen_size(&config->workload, i, config->nr_workers);

		if (check_add_overflow(bytes, (u64)gen, &bytes))
			return false;
	}
	return bytes >> PAGE_SHIFT < si_mem_available();
}
