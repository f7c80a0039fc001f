/* SPDX-License-Identifier: GPL-2.0 */
/* What back ends that allocate requests share. */
#ifndef SPEK_SUBMIT_REQUEST_H
#define SPEK_SUBMIT_REQUEST_H

#include <linux/blk_types.h>
#include <linux/types.h>

struct request;
struct spek_part;

bool spek_request_should_retry(struct spek_part *part, int err);
bool spek_request_undo(struct request *rq, blk_status_t status);

#endif
