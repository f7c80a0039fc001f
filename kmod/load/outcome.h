/* SPDX-License-Identifier: GPL-2.0 */
/* How a run ends: the reason, and the failures on the way. */
#ifndef SPEK_OUTCOME_H
#define SPEK_OUTCOME_H

#include <linux/atomic.h>
#include <linux/blk_types.h>
#include <linux/types.h>
#include "core/sense.h"
#include "senses.h"
#include "uapi/spek.h"

struct spek_part;
struct task_struct;

#define SPEK_RUN_ERROR_LEN	128

/**
 * struct spek_tasks - threads to wake when the run ends, published under RCU
 * @nr: entries of @task
 * @task: threads, referenced by the publisher
 */
struct spek_tasks {
	u32 nr;
	struct task_struct *task[];
};

/**
 * struct spek_outcome - how a run ends
 * @max_errors: failed I/Os after which the run ends; 0: never; const
 * @tasks: threads to wake; NULL before they exist and once they are gone
 * @ended_ns: CLOCK_MONOTONIC of the end, set once before @reason
 * @reason: enum spek_reason; set once by the first to end the run, read by workers
 * @errors: failed I/Os of all workers
 * @first_error_state: 0 none, 1 being written, 2 readable
 * @first_error: the first failure in words
 * @first_sense: sense data of the first failure, readable with it
 * @senses: sense data of all failures
 */
struct spek_outcome {
	u64 max_errors;
	struct spek_tasks __rcu *tasks;
	atomic64_t ended_ns;
	atomic_t reason;
	atomic64_t errors;
	atomic_t first_error_state;
	char first_error[SPEK_RUN_ERROR_LEN];
	struct spek_sense first_sense;
	struct spek_senses senses;
};

void spek_outcome_end(struct spek_outcome *outcome, u32 reason);
void spek_outcome_wake(const struct spek_outcome *outcome, u32 worker);
void spek_outcome_report_failed(struct spek_outcome *outcome, const struct spek_part *part,
				blk_status_t status);
void spek_outcome_count_failed(struct spek_outcome *outcome);
bool spek_outcome_first_error(const struct spek_outcome *outcome, char *text,
			      struct spek_sense *sense);

/**
 * spek_outcome_has_ended() - check whether a run issues no new I/O
 * @outcome: of the run
 *
 * Context: any.
 * Return: true once it issues none.
 */
static inline bool spek_outcome_has_ended(const struct spek_outcome *outcome)
{
	return atomic_read(&outcome->reason) != SPEK_REASON_NONE;
}

/**
 * spek_outcome_ended_ns() - time at which a run ended
 * @outcome: of a run that has ended
 *
 * Context: any.
 * Return: CLOCK_MONOTONIC, ns.
 */
static inline u64 spek_outcome_ended_ns(const struct spek_outcome *outcome)
{
	/* The reason was read before: pairs with spek_outcome_end(). */
	smp_rmb();
	return atomic64_read(&outcome->ended_ns);
}

#endif
