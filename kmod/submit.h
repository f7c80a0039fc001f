/* SPDX-License-Identifier: GPL-2.0 */
/* Submission back ends: how a part reaches its device. */
#ifndef SPEK_SUBMIT_H
#define SPEK_SUBMIT_H

#include <linux/types.h>
#include "uapi/spek.h"

struct spek_part;
struct spek_target;

/**
 * struct spek_backend_ops - a back end
 * @id: enum spek_backend
 * @cgroup: its bios need a cgroup
 * @unfit: NULL if it can drive @target, else a sentence that says why not
 * @submit: send an armed part; the completion may come before this returns.
 *	Return: 0, or -EAGAIN if the driver has no room now: nothing was sent, try
 *	again after a completion or a short while. Every other failure comes as a
 *	completion with a status. Context: the worker's thread, under its plug.
 */
struct spek_backend_ops {
	u32 id;
	bool cgroup;
	const char *(*unfit)(const struct spek_target *target);
	int (*submit)(struct spek_part *part);
};

extern const struct spek_backend_ops spek_backend_bio;
extern const struct spek_backend_ops spek_backend_mq;

/**
 * spek_backend_choose() - find the back end for a target
 * @target: open
 * @wanted: enum spek_backend
 * @polled: completions will be polled for
 *
 * Sets backend, backend_reason and polled of @target.
 * Return: NULL, or a sentence that says why @wanted can't be had.
 */
const char *spek_backend_choose(struct spek_target *target, u32 wanted, bool polled);

#endif
