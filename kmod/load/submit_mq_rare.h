/* SPDX-License-Identifier: GPL-2.0 */
/* Back end mq: what happens seldom, and what it shares with submit_mq.h. See submit_mq_rare.c. */
#ifndef SPEK_SUBMIT_MQ_RARE_H
#define SPEK_SUBMIT_MQ_RARE_H

#include <linux/bio.h>
#include <linux/blk-mq.h>
#include "../compat/plug.h"
#include "slot.h"
#include "target.h"

const char *spek_mq_why_unsupported(const struct spek_target *target);
void spek_mq_flush_plug(const struct spek_part *part, struct blk_plug *plug);
int spek_mq_count_segments(const struct spek_part *part, const struct queue_limits *lim);
int spek_mq_turn_away(struct spek_part *part, int verdict);
int spek_mq_submit_nothing(struct spek_part *part, int err);
int spek_mq_submit_checked(struct spek_part *part, struct request *rq, struct blk_plug *plug,
			   int verdict);

/**
 * spek_mq_add_to_plug() - fill in a request, and put it on the plug
 * @part: armed
 * @target: of the part
 * @rq: its request
 * @plug: the thread's, not full
 * @nr_segments: segments of the data
 */
static __always_inline void spek_mq_add_to_plug(struct spek_part *part,
						const struct spek_target *target,
						struct request *rq, struct blk_plug *plug,
						u32 nr_segments)
{
	struct bio *bio = &part->bio;

	rq->__sector = bio->bi_iter.bi_sector + target->start_sector;
	rq->cmd_flags = bio->bi_opf;
	rq->__data_len = bio->bi_iter.bi_size;
	rq->nr_phys_segments = nr_segments;
	rq->bio = bio;
	rq->biotail = bio;
	spek_compat_request_init_hints(rq, bio);
	spek_compat_request_count_start(rq, plug, bio->bi_bdev, part->slot->issue_ns);
	spek_compat_plug_add(plug, rq);
}

#endif
