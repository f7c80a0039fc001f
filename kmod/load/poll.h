/* SPDX-License-Identifier: GPL-2.0 */
/* Polling for completions. */
#ifndef SPEK_POLL_H
#define SPEK_POLL_H

struct spek_worker;

/**
 * spek_poll_targets() - look once for completions of what a worker has outstanding
 * @worker: its run polls
 *
 * Context: the worker's thread.
 */
void spek_poll_targets(struct spek_worker *worker);

#endif
