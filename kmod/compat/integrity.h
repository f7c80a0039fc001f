/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Protection information of bios that become requests without submit_bio(): what
 * blk_mq_submit_bio() does about it on the way, of which the block layer exports a part.
 */
#ifndef SPEK_COMPAT_INTEGRITY_H
#define SPEK_COMPAT_INTEGRITY_H

#include <linux/bio.h>
#include <linux/blk-integrity.h>
#include <linux/blk-mq.h>
#include <xen/xen.h>

#include "spek_have.h"

/**
 * spek_compat_bio_protect() - attach protection information to a bio, if its disk has any
 * @bio: read or write, a whole number of blocks long; the caller holds the usage counter of its
 *	queue
 *
 * That of a write is generated here. That of a read is checked when the bio ends, in a work item:
 * bi_end_io is then called from there, with BLK_STS_PROTECTION if it does not match.
 *
 * Context: process, sleeps for memory.
 * Return: false if there is no memory: @bio has ended with BLK_STS_RESOURCE.
 */
static inline bool spek_compat_bio_protect(struct bio *bio)
{
#ifdef SPEK_HAVE_INTEGRITY_ACTION
	unsigned int action = bio_integrity_action(bio);

	if (action)
		bio_integrity_prep(bio, action);
	return true;
#else
	return bio_integrity_prep(bio);
#endif
}

/**
 * spek_compat_bio_unprotect() - undo spek_compat_bio_protect()
 * @bio: bio that was not sent
 *
 * Only ending a bio frees its protection information on all kernels; that of a failed bio is not
 * checked.
 */
static inline void spek_compat_bio_unprotect(struct bio *bio)
{
	bio_end_io_t *end_io = bio->bi_end_io;

	if (!bio_integrity(bio))
		return;
	bio->bi_end_io = NULL;
	bio->bi_status = BLK_STS_IOERR;
	bio_endio(bio);
	bio->bi_status = BLK_STS_OK;
	bio->bi_end_io = end_io;
}

#ifdef CONFIG_BLK_DEV_INTEGRITY
/*
 * As biovec_phys_mergeable() of the block layer, or false if that depends on functions that modules
 * cannot call. For the block layer, a driver that finds more segments than were counted is a bug.
 */
static inline bool spek_compat_vecs_merge(const struct queue_limits *lim,
					  const struct bio_vec *vec, const struct bio_vec *next)
{
	phys_addr_t start = page_to_phys(vec->bv_page) + vec->bv_offset;
	phys_addr_t joint = page_to_phys(next->bv_page) + next->bv_offset;

	/* Pages may not be adjacent in machine memory (Xen), nor their shadows (KMSAN). */
	if (xen_pv_domain() || IS_ENABLED(CONFIG_KMSAN))
		return false;
	return start + vec->bv_len == joint &&
	       (start | lim->seg_boundary_mask) ==
	       ((joint + next->bv_len - 1) | lim->seg_boundary_mask);
}

/* As blk_rq_count_integrity_sg(), which is exported by older kernels only. */
static inline u32 spek_compat_integrity_segments(const struct queue_limits *lim, struct bio *bio)
{
	struct bio_vec vec, last = {};
	u32 segments = 0, bytes = 0;
	struct bvec_iter iter;

	bio_for_each_integrity_vec(vec, bio, iter) {
		if (segments && bytes + vec.bv_len <= lim->max_segment_size &&
		    spek_compat_vecs_merge(lim, &last, &vec)) {
			bytes += vec.bv_len;
		} else {
			segments++;
			bytes = vec.bv_len;
		}
		last = vec;
	}
	return segments;
}
#endif

/**
 * spek_compat_request_protect() - set up a request for the protection information of its bio
 * @rq: allocated; gets the bio's flags from the caller
 * @bio: its bio, with protection information or without
 *
 * Return: false if it has more segments than the queue takes.
 */
static inline bool spek_compat_request_protect(struct request *rq, struct bio *bio)
{
#ifdef CONFIG_BLK_DEV_INTEGRITY
	u32 segments = bio_integrity(bio) ?
		       spek_compat_integrity_segments(&rq->q->limits, bio) : 0;

	if (segments > queue_max_integrity_segments(rq->q))
		return false;
	rq->nr_integrity_segments = segments;
#endif
	return true;
}

#endif
