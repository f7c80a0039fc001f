// SPDX-License-Identifier: GPL-2.0
/*
 * Back end scsi: builds READ(16), WRITE(16) and WRITE ATOMIC(16) commands and passes them to the
 * SCSI layer with a tag of the device's set. sd, merging and the elevator are bypassed. A command
 * is tried once: its result, with the device's sense data, is reported. Only if the device, target
 * or host has no room is it sent again, as with mq.
 *
 * spek.ko must load where there is no SCSI, so it must not depend on scsi_mod:
 * - struct scsi_device and struct scsi_cmnd come from headers. Whether a disk is a SCSI disk
 *   follows from its parent, see sdev_of().
 * - scsi_alloc_request() of the SCSI layer initialises the command. The symbol is looked up when a
 *   target is opened. An open disk pins its driver, which is linked to scsi_mod, so the function
 *   stays loaded as long as a target may call it.
 * - blk_insert_cloned_request() passes the request to scsi_queue_rq(). Unlike
 *   blk_execute_rq_nowait(), it bypasses the elevator on all kernels (a plug of v6.1 gives such
 *   requests to it), and reports a lack of room.
 *
 * A disk that needs a boundary in WRITE ATOMIC(16) fails the command with an invalid field: only sd
 * knows the boundary.
 *
 * A disk that keeps protection information which its host adapter doesn't transfer (DIF without
 * DIX) generates and checks it by itself: RDPROTECT and WRPROTECT are 0. One whose adapter does
 * (DIX) is refused. Only sd can set what the adapter does with the information
 * (scsi_cmnd.prot_op: pass, insert or strip): scsi_prepare_cmd() sets it to SCSI_PROT_NORMAL for
 * all commands, and passed-through commands cannot change it afterwards. With SCSI_PROT_NORMAL and
 * RDPROTECT or WRPROTECT of 1, the disk transfers 8 more bytes for each block, for which there is
 * no buffer; with 0, scsi_debug does not update the information of a block that is written.
 *
 * The back end owns a request from its allocation to blk_insert_cloned_request(), and again in its
 * end_io. In between, the block layer ends the slot's bio, which has no bi_end_io: the sense data
 * are available only in the request, after that.
 */
#include <linux/bio.h>
#include <linux/blk-integrity.h>
#include <linux/blk-mq.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <scsi/scsi.h>
#include <scsi/scsi_cmnd.h>
#include <scsi/scsi_device.h>
#include "../compat/compat.h"
#include "slot.h"
#include "submit.h"
#include "submit_request.h"
#include "target.h"

#define CDB_BYTES	16
/* WRITE_ATOMIC_16 of scsi_proto.h, which kernels before v6.11 don't have. */
#define ATOMIC_16	0x9c

/* Looked up by why_unsupported() for each target; always the same. */
static typeof(scsi_alloc_request) *alloc_request;

/* Return: the SCSI device of an open disk, NULL if it has none. */
static struct scsi_device *sdev_of(struct block_device *bdev)
{
	struct device *parent = disk_to_dev(bdev->bd_disk)->parent;

	/* Bus names are unique, and only the SCSI layer adds devices to its bus. */
	if (!parent || !parent->bus || strcmp(parent->bus->name, "scsi") ||
	    !parent->type || strcmp(parent->type->name, "scsi_device"))
		return NULL;
	/* Requests of this queue are commands to this device. */
	if (bdev_get_queue(bdev)->queuedata != to_scsi_device(parent))
		return NULL;
	return to_scsi_device(parent);
}

static const char *find_symbol(void)
{
	typeof(scsi_alloc_request) *found = symbol_get(scsi_alloc_request);

	if (!found)
		return "This kernel's SCSI layer doesn't offer requests to other modules.";
	WRITE_ONCE(alloc_request, found);
	symbol_put(scsi_alloc_request);
	return NULL;
}

static const char *why_unsupported(const struct spek_target *target)
{
	struct block_device *bdev = target->handle.bdev;
	struct scsi_device *sdev = sdev_of(bdev);

	if (!sdev)
		return "The device is not a SCSI disk.";
	if (!spek_compat_can_insert_requests())
		return "Modules can't insert requests: this kernel has no CONFIG_BLK_MQ_STACKING.";
	if (bdev_is_zoned(bdev))
		return "The device is zoned: writes are ordered above the SCSI layer.";
	if (sdev->type != TYPE_DISK)
		return "The SCSI device is not a disk and may not support READ(16).";
	if (blk_get_integrity(bdev->bd_disk))
		return "Passed-through commands can't carry the device's protection information.";
	if (sdev->sector_size != target->logical_block)
		return "The SCSI device and its disk don't agree on the logical block size.";
	if ((target->start_sector << SECTOR_SHIFT) & (target->logical_block - 1))
		return "The partition doesn't start at a logical block of the disk.";
	return find_symbol();
}

/* Fail a part that was not sent, or that the driver did not take. Return: see spek_backend_ops */
static int fail_part(struct spek_part *part, blk_status_t status)
{
	memset(&part->sense, 0, sizeof(part->sense));
	part->bio.bi_status = status;
	spek_part_end_io(&part->bio);
	return -EIO;
}

/* Find the status of a command that did not simply succeed. */
static blk_status_t look_closer(struct scsi_cmnd *cmd, blk_status_t status,
				struct spek_sense *sense)
{
	/* Without sense data of this command, the buffer may hold those of an earlier one. */
	spek_sense_parse(sense, cmd->sense_buffer, cmd->sense_len);
	if (status)
		return host_byte(cmd->result) == DID_TIME_OUT ? BLK_STS_TIMEOUT : status;
	/*
	 * The SCSI layer leaves these to the submitter of the command: a deferred error, of an
	 * earlier command, for which this one was not executed; and less data than requested.
	 */
	if (sense->deferred || cmd->resid_len)
		return BLK_STS_IOERR;
	return BLK_STS_OK;
}

static SPEK_COMPAT_END_IO(end_io, rq, status)
{
	struct spek_part *part = rq->end_io_data;
	struct scsi_cmnd *cmd = blk_mq_rq_to_pdu(rq);

	if (unlikely(status || cmd->result || cmd->resid_len))
		status = look_closer(cmd, status, &part->sense);
	/* Free the tag before the worker may need it for its next command. */
	blk_mq_free_request(rq);
	part->bio.bi_status = status;
	spek_part_end_io(&part->bio);
	return RQ_END_IO_NONE;
}

static void set_command(struct scsi_cmnd *cmd, const struct spek_part *part, bool is_atomic)
{
	const struct spek_target *target = part->target;
	const u32 shift = ilog2(target->logical_block);
	u64 byte = (target->start_sector << SECTOR_SHIFT) + part->offset;
	__be64 address = cpu_to_be64(byte >> shift);
	__be32 length = cpu_to_be32(part->bytes >> shift);

	cmd->cmnd[0] = part->slot->op.write ? WRITE_16 : READ_16;
	memcpy(&cmd->cmnd[2], &address, sizeof(address));
	/* WRITE ATOMIC has a length of 2 bytes, after a boundary; 0: no boundary. */
	if (is_atomic)
		cmd->cmnd[0] = ATOMIC_16;
	memcpy(&cmd->cmnd[10], &length, sizeof(length));
	cmd->cmd_len = CDB_BYTES;
	cmd->allowed = 0;
}

static bool uses_cached_rqs(const struct spek_target *target)
{
	return true;
}

static int submit_command(struct spek_part *part)
{
	struct bio *bio = &part->bio;
	struct request_queue *q = bdev_get_queue(bio->bi_bdev);
	blk_status_t status;
	struct request *rq;
	bool is_atomic;

	bio->bi_opf &= ~(__force blk_opf_t)REQ_OP_MASK;
	bio->bi_opf |= part->slot->op.write ? REQ_OP_DRV_OUT : REQ_OP_DRV_IN;
	bio->bi_end_io = NULL;
	/* Keep the flag in the bio: a part without a request is submitted again. */
	is_atomic = bio->bi_opf & SPEK_COMPAT_REQ_ATOMIC;
	rq = alloc_request(q, bio->bi_opf & ~SPEK_COMPAT_REQ_ATOMIC, BLK_MQ_REQ_NOWAIT);
	if (IS_ERR(rq)) {
		if (spek_request_should_retry(part, PTR_ERR(rq)))
			return -EAGAIN;
		return fail_part(part, BLK_STS_IOERR);
	}
	/* submit_bio() would notice that a partition or disk has shrunk; commands don't. */
	if (unlikely(spek_request_is_late(bio->bi_bdev)) ||
	    unlikely(bio_end_sector(bio) > bdev_nr_sectors(bio->bi_bdev))) {
		blk_mq_free_request(rq);
		return fail_part(part, BLK_STS_IOERR);
	}
	/* Addresses are in blocks. Changing their size freezes the queue: not while @rq exists. */
	if (unlikely(queue_logical_block_size(q) != part->target->logical_block)) {
		blk_mq_free_request(rq);
		return fail_part(part, BLK_STS_IOERR);
	}
	if (unlikely(bio_sectors(bio) > queue_max_sectors(q))) {
		blk_mq_free_request(rq);
		return -E2BIG;
	}
	if (is_atomic && unlikely(!spek_request_takes_atomic(q, part, part->target))) {
		blk_mq_free_request(rq);
		return fail_part(part, BLK_STS_NOTSUPP);
	}
	rq->__data_len = bio->bi_iter.bi_size;
	rq->bio = bio;
	rq->biotail = bio;
	rq->end_io = end_io;
	rq->end_io_data = part;
	set_command(blk_mq_rq_to_pdu(rq), part, is_atomic);

	/* Recounts the segments, which then match the driver's scatter list. */
	status = spek_compat_insert_request(rq);
	if (likely(status == BLK_STS_OK))
		return 0;

	/*
	 * Before v6.15, 54bebe46871d ("scsi: core: Clear flags for scsi_cmnd that did not
	 * complete"), the next command with this tag would take over the allocation time of this
	 * one.
	 */
	((struct scsi_cmnd *)blk_mq_rq_to_pdu(rq))->flags = 0;
	if (spek_request_undo(rq, status))
		return -EBUSY;
	return fail_part(part, status);
}

const struct spek_backend_ops spek_backend_scsi = {
	.id = SPEK_BACKEND_SCSI,
	.cgroup = false,
	.why_unsupported = why_unsupported,
	.uses_cached_rqs = uses_cached_rqs,
	.submit = submit_command,
	.end_io = spek_part_end_io,
};
