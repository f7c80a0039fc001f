// SPDX-License-Identifier: GPL-2.0
/*
 * Back end bio: submit_bio(), as file systems do. Works on every block device.
 *
 * submit_bio() may wait for a request, or for a frozen queue to thaw. A worker that polls must not
 * wait while any I/O of its own is outstanding: nobody else polls for that I/O, and it may be what
 * the wait is for. With nothing outstanding it does wait, so that a bio that has to be split,
 * which can't be submitted with REQ_NOWAIT, gets through.
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
	return spek_target_requests(part->target, part->offset, part->bytes, buffer_offset(part),
				    part->slot->inflight->shape->chunk_bytes) - 1;
}

static int send_bio(struct spek_part *part)
{
	/*
	 * The block layer only looks at GD_DEAD while it waits for a frozen queue. That of a SCSI
	 * disk thaws after the disk is gone, and an open partition stays, with its size. A disk
	 * that goes between this check and submit_bio() is the block layer's business.
	 */
	if (unlikely(spek_compat_bdev_is_gone(&part->target->handle))) {
		bio_io_error(&part->bio);
		return 0;
	}
	submit_bio(&part->bio);
	if (unlikely(part->bytes >> SECTOR_SHIFT >
		     queue_max_sectors(bdev_get_queue(part->target->handle.bdev))))
		return count_cuts(part);
	return 0;
}

/**
 * spek_bio_submit() - the submit function of back end bio without polling, for calls without a
 * pointer
 * @part: armed
 *
 * Return: see struct spek_backend_ops.
 */
int spek_bio_submit(struct spek_part *part)
{
	return send_bio(part);
}

static bool others_are_out(const struct spek_part *part)
{
	const struct spek_slot *slot = part->slot;
	u32 unsent = slot->nr_parts - (part - slot->part);

	return slot->inflight->outstanding > 1 ||
	       (slot->nr_parts > 1 && atomic_read(&slot->parts_left) > unsent);
}

/* Arm the part again, since the block layer has changed its bio. */
static void arm_again(struct spek_part *part, u16 ioprio)
{
	u32 hint = spek_compat_bio_write_hint(&part->bio);
	const struct spek_slot *slot = part->slot;

	spek_part_arm(part, buffer_offset(part), slot->inflight->shape->chunk_bytes,
		      spek_target_opf(part->target, slot->op.write));
	part->bio.bi_ioprio = ioprio;
	spek_compat_bio_set_write_hint(&part->bio, hint);
}

static void end_io_polled(struct bio *bio)
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

static int submit_polled(struct spek_part *part)
{
	struct spek_inflight *inflight = part->slot->inflight;
	struct bio *bio = &part->bio;
	u16 ioprio = bio->bi_ioprio;
	int cuts;

	if (!others_are_out(part))
		return send_bio(part);
	bio->bi_opf |= REQ_NOWAIT;
	inflight->nowait_bio = bio;
	cuts = send_bio(part);
	if (inflight->nowait_bio) {
		inflight->nowait_bio = NULL;
		return cuts;
	}
	arm_again(part, ioprio);
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

const struct spek_backend_ops spek_backend_bio_polled = {
	.id = SPEK_BACKEND_BIO,
	.cgroup = true,
	.why_unsupported = why_unsupported,
	.uses_cached_rqs = uses_cached_rqs,
	.submit = submit_polled,
	.end_io = end_io_polled,
};

/**
 * spek_backend_bio_of() - find the back end that sends bios to a target
 * @target: open; its @polled is set
 *
 * Return: the polling or the interrupt-driven bio back end.
 */
const struct spek_backend_ops *spek_backend_bio_of(const struct spek_target *target)
{
	return target->polled ? &spek_backend_bio_polled : &spek_backend_bio;
}
