// SPDX-License-Identifier: GPL-2.0
/*
 * Back end mq: requests from the device's own tag set, straight to the driver, past
 * merging, elevator, write-back throttling and cgroup limits; the path that
 * dm-multipath takes to its members.
 */
#include <linux/bio.h>
#include <linux/blk-integrity.h>
#include <linux/blk-mq.h>
#include "slot.h"
#include "submit.h"
#include "worker.h"

static const char *unfit(const struct spek_target *target)
{
	struct request_queue *q = bdev_get_queue(target->handle.bdev);

	if (!queue_is_mq(q))
		return "the device takes bios, not requests";
	if (bdev_is_zoned(target->handle.bdev))
		return "the device is zoned: its write order is kept above the request path";
	if (blk_get_integrity(target->handle.bdev->bd_disk))
		return "the device carries integrity data, which is made above the request path";
	return NULL;
}

static int submit(struct spek_part *part)
{
	struct bio *bio = &part->bio;
	struct request_queue *q = bdev_get_queue(bio->bi_bdev);
	blk_status_t status;
	struct request *rq;

	/* submit_bio() sees a partition or disk that has shrunk since; requests go past that. */
	if (unlikely(bio_end_sector(bio) > bdev_nr_sectors(bio->bi_bdev))) {
		bio_io_error(bio);
		return 0;
	}
	rq = blk_mq_alloc_request(q, bio->bi_opf, BLK_MQ_REQ_NOWAIT);
	if (IS_ERR(rq)) {
		/* A queue that is being removed says the same as a full one, and for ever. */
		if ((PTR_ERR(rq) == -EWOULDBLOCK || PTR_ERR(rq) == -EBUSY) &&
		    !spek_target_is_gone(part->target))
			return -EAGAIN;
		bio_io_error(bio);
		return 0;
	}
	rq->__sector = bio->bi_iter.bi_sector + part->target->start_sector;
	rq->__data_len = bio->bi_iter.bi_size;
	spek_compat_request_set_ioprio(rq, bio->bi_ioprio);
	rq->bio = bio;
	rq->biotail = bio;

	status = blk_insert_cloned_request(rq);
	if (likely(status == BLK_STS_OK))
		return 0;

	/* Not sent: the bio stays ours. */
	rq->bio = NULL;
	rq->biotail = NULL;
	blk_mq_free_request(rq);
	if (spek_compat_status_is_busy(status)) {
		spek_worker_count_refused(part);
		return -EAGAIN;
	}
	bio->bi_status = status;
	bio_endio(bio);
	return 0;
}

const struct spek_backend_ops spek_backend_mq = {
	.id = SPEK_BACKEND_MQ,
	.cgroup = false,
	.unfit = unfit,
	.submit = submit,
};
