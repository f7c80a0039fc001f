/* SPDX-License-Identifier: GPL-2.0 */
/* Submission back ends: how a part reaches its device. */
#ifndef SPEK_SUBMIT_H
#define SPEK_SUBMIT_H

#include <linux/blk_types.h>
#include <linux/types.h>
#include "uapi/spek.h"

struct spek_asu;
struct spek_part;
struct spek_refusal;
struct spek_target;

/**
 * struct spek_backend_ops - a back end
 * @id: enum spek_backend
 * @cgroup: its bios need a cgroup
 * @plugs: @submit puts requests on the plug of the thread, which there must be
 * @uses_cached_rqs: it will use the tags that a plug fetches ahead of use, all at once, when it is
 *	told how many I/Os are coming (blk_plug.nr_ios); those not used are only given back
 * @why_unsupported: NULL if it can drive @target, else a sentence that says why not
 * @submit: send an armed part; the completion may come before this returns.
 *	Return: 0, or the requests beyond one that the block layer made of it, because limits have
 *	shrunk; -EAGAIN if there is no request for it now, -EBUSY if the driver has no room: nothing
 *	was sent, try again after a completion or a short while; -E2BIG if limits have shrunk:
 *	nothing was sent, cut it smaller; -EIO if it has failed before a driver could get it. That
 *	and every other failure comes as a completion with a status.
 *	Context: the worker's thread, under its plug.
 * @end_io: completion of the bio of a part
 */
struct spek_backend_ops {
	u32 id;
	bool cgroup;
	bool plugs;
	const char *(*why_unsupported)(const struct spek_target *target);
	bool (*uses_cached_rqs)(const struct spek_target *target);
	int (*submit)(struct spek_part *part);
	bio_end_io_t *end_io;
};

extern const struct spek_backend_ops spek_backend_bio;
extern const struct spek_backend_ops spek_backend_bio_nowait;
extern const struct spek_backend_ops spek_backend_mq;
extern const struct spek_backend_ops spek_backend_mq_protected;
extern const struct spek_backend_ops spek_backend_scsi;

int spek_bio_submit(struct spek_part *part);

const struct spek_backend_ops *spek_backend_bio_of(const struct spek_target *target);

int spek_backend_choose(struct spek_target *target, u32 wanted, bool polled, bool plain,
			struct spek_refusal *refusal);
bool spek_backend_is_bio(const struct spek_target *targets, const struct spek_asu *asu);

#endif
