/* SPDX-License-Identifier: GPL-2.0 */
/* Polling for completions. */
#ifndef SPEK_POLL_H
#define SPEK_POLL_H

struct spek_worker;

void spek_poll_targets(struct spek_worker *w);

#endif
