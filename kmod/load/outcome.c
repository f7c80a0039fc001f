// SPDX-License-Identifier: GPL-2.0
/*
 * How a run ends: the reason, and the failures on the way.
 *
 * Everything here may be called from completions, in interrupt context, and takes no lock. The
 * first caller of spek_outcome_end() decides on the reason and wakes the workers, whose tasks
 * are read under RCU: the unpublisher waits for a grace period before putting them.
 */
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>
#include "outcome.h"
#include "slot.h"
#include "target.h"

/**
 * spek_outcome_end() - end the run: no new I/O from now on
 * @outcome: of the run
 * @reason: enum spek_reason; kept if it is the first
 *
 * Context: any.
 */
void spek_outcome_end(struct spek_outcome *outcome, u32 reason)
{
	const struct spek_tasks *tasks;
	u32 i;

	/* Of the first caller, whose reason may come second. */
	atomic64_cmpxchg(&outcome->ended_ns, 0, ktime_get_ns());
	/* A full barrier: pairs with spek_outcome_ended_ns(). */
	if (atomic_cmpxchg(&outcome->reason, SPEK_REASON_NONE, reason) != SPEK_REASON_NONE)
		return;
	rcu_read_lock();
	tasks = rcu_dereference(outcome->tasks);
	for (i = 0; tasks && i < tasks->nr; i++)
		wake_up_process(tasks->task[i]);
	rcu_read_unlock();
}

/**
 * spek_outcome_wake() - wake a worker
 * @outcome: of the run
 * @worker: number of the worker; nothing happens if it is gone
 *
 * Context: any.
 */
void spek_outcome_wake(const struct spek_outcome *outcome, u32 worker)
{
	const struct spek_tasks *tasks;

	rcu_read_lock();
	tasks = rcu_dereference(outcome->tasks);
	if (tasks && worker < tasks->nr)
		wake_up_process(tasks->task[worker]);
	rcu_read_unlock();
}

static const char *name_of(const struct spek_op *op)
{
	switch (op->kind) {
	case SPEK_OP_FLUSH:
		return "flush";
	case SPEK_OP_DISCARD:
		return "discard";
	case SPEK_OP_WRITE_ZEROES:
		return "write-zeroes";
	case SPEK_OP_ZONE_APPEND:
		return "zone append";
	case SPEK_OP_ZONE_RESET:
		return "zone reset";
	case SPEK_OP_ZONE_FINISH:
		return "zone finish";
	case SPEK_OP_ZONE_OPEN:
		return "zone open";
	case SPEK_OP_ZONE_CLOSE:
		return "zone close";
	default:
		return op->write ? "write" : "read";
	}
}

/**
 * spek_outcome_report_failed() - record a failed request; the first one in words
 * @outcome: of the run
 * @part: the request
 * @status: not BLK_STS_OK
 *
 * Ends the run if the target is gone.
 *
 * Context: any.
 */
void spek_outcome_report_failed(struct spek_outcome *outcome, const struct spek_part *part,
				blk_status_t status)
{
	if (spek_target_is_gone(part->target))
		spek_outcome_end(outcome, SPEK_REASON_DEVICE_GONE);
	if (part->sense.present)
		spek_senses_add(&outcome->senses, &part->sense);
	if (atomic_cmpxchg(&outcome->first_error_state, 0, 1))
		return;
	snprintf(outcome->first_error, sizeof(outcome->first_error),
		 "%s of %u bytes at byte %llu of %s failed: errno %d",
		 name_of(&part->slot->op), part->bytes, part->offset,
		 part->target->name, -blk_status_to_errno(status));
	outcome->first_sense = part->sense;
	/* The text and the sense data are complete: pairs with spek_outcome_first_error(). */
	atomic_set_release(&outcome->first_error_state, 2);
}

/**
 * spek_outcome_count_failed() - count a failed I/O; ends the run at max_errors
 * @outcome: of the run
 *
 * Context: worker.
 */
void spek_outcome_count_failed(struct spek_outcome *outcome)
{
	u64 errors = atomic64_inc_return(&outcome->errors);

	if (outcome->max_errors && errors >= outcome->max_errors)
		spek_outcome_end(outcome, SPEK_REASON_ERRORS);
}

/**
 * spek_outcome_first_error() - copy the first failure
 * @outcome: of the run
 * @text: SPEK_RUN_ERROR_LEN bytes
 * @sense: sense data; present is false without any
 *
 * Context: any.
 * Return: false if nothing has failed so far.
 */
bool spek_outcome_first_error(const struct spek_outcome *outcome, char *text,
			      struct spek_sense *sense)
{
	/* Pairs with spek_outcome_report_failed(). */
	if (atomic_read_acquire(&outcome->first_error_state) != 2)
		return false;
	strscpy(text, outcome->first_error, SPEK_RUN_ERROR_LEN);
	*sense = outcome->first_sense;
	return true;
}
