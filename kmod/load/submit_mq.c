// SPDX-License-Identifier: GPL-2.0
/*
 * Back end mq: requests from the device's own tag set, straight to the driver, past
 * merging, elevator, write-back throttling and cgroup limits; the path that
 * dm-multipath takes to its members.
 */
#include <linux/bio.h>
#include <linux/blk-integrity.h>
#include <linux/blk-mq.h>
#include "../compat/compat.h"
#include "slot.h"
#include "submit.h"
#include "submit_request.h"
#include "target.h"

static const char *why_unsupported(const struct spek_target *target)
{
	struct request_queue *q = bdev_get_queue(target->handle.bdev);

	if (!queue_is_mq(q))
		return "The device takes bios, not requests.";
	if (!spek_compat_can_insert_requests())
		return "This kernel lets no module insert requests: CONFIG_BLK_MQ_STACKING is off.";
	if (bdev_is_zoned(target->handle.bdev))
		return "The device is zoned: its write order is kept above the request path.";
	if (blk_get_integrity(target->handle.bdev->bd_disk))
		return "The device carries integrity data, which is made above the request path.";
	return NULL;
}

/*
 * blk_mq_alloc_request() gives a read none of the tags fetched ahead where reads have no queues
 * of their own: it compares the kind of queue that reads would have with the kind of the queue
 * they share. A write's flags get them; the request has its own operation when it is sent.
 * An elevator limits reads and writes differently, so there it is told the truth, and
 * tags are fetched one by one.
 */
static bool uses_cached_rqs(const struct spek_target *target)
{
	return !bdev_get_queue(target->handle.bdev)->elevator && !target->own_read_queues;
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
	rq = blk_mq_alloc_request(q, uses_cached_rqs(part->target) ? bio->bi_opf | REQ_OP_WRITE :
				  bio->bi_opf, BLK_MQ_REQ_NOWAIT);
	if (IS_ERR(rq)) {
		if (spek_request_should_retry(part, PTR_ERR(rq)))
			return -EAGAIN;
		bio_io_error(bio);
		return 0;
	}
	/*
	 * The driver divides by the block that the device has now. Who changes it freezes the
	 * queue: while there is a request it stays.
	 */
	if (unlikely(queue_logical_block_size(q) != part->target->logical_block)) {
		blk_mq_free_request(rq);
		bio_io_error(bio);
		return 0;
	}
	rq->cmd_flags = bio->bi_opf;
	/* A tag that was fetched ahead may have waited. */
	if (rq->start_time_ns)
		rq->start_time_ns = max(rq->start_time_ns, part->slot->issue_ns);
	rq->__sector = bio->bi_iter.bi_sector + part->target->start_sector;
	rq->__data_len = bio->bi_iter.bi_size;
	spek_compat_request_set_ioprio(rq, bio->bi_ioprio);
	rq->bio = bio;
	rq->biotail = bio;

	status = spek_compat_insert_request(rq);
	if (likely(status == BLK_STS_OK))
		return 0;

	if (spek_request_undo(rq, status))
		return -EBUSY;
	bio->bi_status = status;
	bio_endio(bio);
	return 0;
}

const struct spek_backend_ops spek_backend_mq = {
	.id = SPEK_BACKEND_MQ,
	.cgroup = false,
	.why_unsupported = why_unsupported,
	.uses_cached_rqs = uses_cached_rqs,
	.submit = submit,
	.end_io = spek_part_end_io,
};
