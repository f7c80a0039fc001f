// SPDX-License-Identifier: GPL-2.0
/*
 * Back end bio: submit_bio(), as file systems do. Works on every block device.
 *
 * submit_bio() may wait for a request, or for a frozen queue to thaw. Two kinds of workers must not
 * wait:
 * - One that polls, while any I/O of its own is outstanding: nobody else polls for that I/O, and it
 *   may be what the wait is for. With nothing outstanding it does wait, so that a bio that has to
 *   be split, which can't be submitted with REQ_NOWAIT, gets through.
 * - One that has several targets: the others would wait, too. Its bios have REQ_NOWAIT where the
 *   block layer takes that. If limits have shrunk, the worker cuts them again. Commands without
 *   data may have to be split, and wait. So do all bios on bio-based devices, of which some can't
 *   tell a bio that would have waited from one that has failed, and on zoned ones, where the block
 *   layer would take the zone for broken.
 */
#include <linux/bio.h>
#include "slot.h"
#include "submit.h"
#include "target.h"

static const char *why_unsupported(const struct spek_target *target)
{
	return NULL;
}

static bool uses_cached_rqs(const struct spek_target *target)
{
	return true;
}

/* Offset of the data of a part in the slot's buffer. */
static u32 buffer_offset(const struct spek_part *part)
{
	const struct spek_part *before;
	u32 bytes = 0;

	for (before = part->slot->part; before < part; before++)
		bytes += before->bytes;
	return bytes;
}

/* Requests that the block layer makes of a part with data. */
static u32 nr_requests(const struct spek_part *part)
{
	return spek_target_requests(part->target, part->offset, part->bytes, buffer_offset(part),
				    part->slot->inflight->shape->chunk_bytes);
}

/*
 * Return: true if a bio was split after its submission. It may have completed by now: a whole bio
 * has a count of 1; the last piece of a split one takes the count to 0 and clears the flag only
 * then.
 */
static bool was_split(struct bio *bio)
{
	if (bio_flagged(bio, BIO_CHAIN))
		return true;
	smp_rmb();	/* see above */
	return !atomic_read(&bio->__bi_remaining);
}

/*
 * The block layer splits bios by the limits at the time at which they enter the queue. Since v6.11
 * a change of limits waits for bios in the queue. Before, limits may have changed after the split,
 * while this thread slept for a request.
 * Return: requests beyond the expected one
 */
static noinline int count_cuts(struct spek_part *part)
{
	/* Discards and write-zeroes have limits of their own: one counts as one request. */
	if (bio_op(&part->bio) == REQ_OP_DISCARD || bio_op(&part->bio) == REQ_OP_WRITE_ZEROES ||
	    !was_split(&part->bio))
		return 0;
	return nr_requests(part) - 1;
}

/**
 * spek_bio_submit() - the submit function of back end bio where it may wait, for calls without a
 * pointer
 * @part: armed
 *
 * Return: see struct spek_backend_ops.
 */
int spek_bio_submit(struct spek_part *part)
{
	/*
	 * The block layer only looks at GD_DEAD while it waits for a frozen queue. That of a SCSI
	 * disk thaws after the disk is gone, and an open partition stays, with its size. A disk
	 * that goes between this check and submit_bio() is the block layer's business.
	 */
	if (unlikely(spek_compat_bdev_is_gone(&part->target->handle))) {
		bio_io_error(&part->bio);
		return -EIO;
	}
	submit_bio(&part->bio);
	if (unlikely(part->bytes >> SECTOR_SHIFT >
		     queue_max_sectors(bdev_get_queue(part->target->handle.bdev))))
		return count_cuts(part);
	return 0;
}

static bool others_are_out(const struct spek_part *part)
{
	const struct spek_slot *slot = part->slot;
	u32 unsent = slot->nr_parts - (part - slot->part);

	/* Those that were not sent wait in lines (worker_line.c): nobody has to poll for them. */
	return slot->inflight->outstanding - slot->inflight->unsent > 1 ||
	       (slot->nr_parts > 1 && atomic_read(&slot->parts_left) > unsent);
}

/* Only plain reads and writes are polled for. */
static bool may_wait(const struct spek_part *part)
{
	if (part->target->nowait)
		return !spek_op_has_data(&part->slot->op);
	return !others_are_out(part);
}

/* Arm a part with data again, since the block layer has changed its bio. */
static void arm_again(struct spek_part *part, blk_opf_t opf, u16 ioprio)
{
	u32 hint = spek_compat_bio_write_hint(&part->bio);
	const struct spek_slot *slot = part->slot;

	spek_part_arm(part, buffer_offset(part), slot->inflight->shape->chunk_bytes, opf);
	part->bio.bi_ioprio = ioprio;
	spek_compat_bio_set_write_hint(&part->bio, hint);
}

static void end_io_nowait(struct bio *bio)
{
	struct spek_inflight *inflight = container_of(bio, struct spek_part, bio)->slot->inflight;

	/* Called within submit_bio(), which would have had to wait. */
	if (unlikely(bio->bi_status == BLK_STS_AGAIN) && current == inflight->task &&
	    inflight->nowait_bio == bio) {
		inflight->nowait_bio = NULL;
		return;
	}
	spek_part_end_io(bio);
}

static int submit_nowait(struct spek_part *part)
{
	struct spek_inflight *inflight = part->slot->inflight;
	struct bio *bio = &part->bio;
	blk_opf_t opf = bio->bi_opf;
	u16 ioprio = bio->bi_ioprio;
	int cuts;

	if (may_wait(part))
		return spek_bio_submit(part);
	bio->bi_opf |= REQ_NOWAIT;
	inflight->nowait_bio = bio;
	cuts = spek_bio_submit(part);
	if (inflight->nowait_bio) {
		inflight->nowait_bio = NULL;
		return cuts;
	}
	arm_again(part, opf, ioprio);
	/* It may have been refused because it would have to be split; here it never waits. */
	if (part->target->nowait &&
	    (spek_target_limits_changed(part->target) || nr_requests(part) > 1))
		return -E2BIG;
	return -EAGAIN;
}

const struct spek_backend_ops spek_backend_bio = {
	.id = SPEK_BACKEND_BIO,
	.cgroup = true,
	.why_unsupported = why_unsupported,
	.uses_cached_rqs = uses_cached_rqs,
	.submit = spek_bio_submit,
	.end_io = spek_part_end_io,
};

const struct spek_backend_ops spek_backend_bio_nowait = {
	.id = SPEK_BACKEND_BIO,
	.cgroup = true,
	.why_unsupported = why_unsupported,
	.uses_cached_rqs = uses_cached_rqs,
	.submit = submit_nowait,
	.end_io = end_io_nowait,
};

/**
 * spek_backend_bio_of() - find the back end that sends bios to a target
 * @target: open; its @polled and @nowait are set
 *
 * Return: the bio back end that waits for requests, or the one that does not.
 */
const struct spek_backend_ops *spek_backend_bio_of(const struct spek_target *target)
{
	return target->polled || target->nowait ? &spek_backend_bio_nowait : &spek_backend_bio;
}
