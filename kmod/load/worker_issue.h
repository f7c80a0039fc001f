/* SPDX-License-Identifier: GPL-2.0 */
/* Issuing operations. */
#ifndef SPEK_WORKER_ISSUE_H
#define SPEK_WORKER_ISSUE_H

#include <linux/types.h>

struct spek_worker;

void spek_worker_init_lanes(struct spek_worker *w);
bool spek_worker_issue(struct spek_worker *w, u64 now_ns);
void spek_worker_give_way(struct spek_worker *w);
void spek_worker_drop_stalled(struct spek_worker *w);

#endif
