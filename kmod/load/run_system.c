// SPDX-License-Identifier: GPL-2.0
/*
 * Ending all runs: before the system suspends or goes down, and those of a CPU that goes offline.
 *
 * Locks: spek_table_lock protects is_suspending, and keeps a run from starting while all are ended.
 * The lock order is at the head of run.c.
 */
#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/wait.h>
#include "run.h"
#include "run_system.h"
#include "run_table.h"

/* Same as the default timeout of the freezer. */
#define SUSPEND_WAIT_MS	20000

static bool is_suspending;

static atomic_t nr_started;		/* runs that are started and not ended */
static DECLARE_WAIT_QUEUE_HEAD(all_ended);

/**
 * spek_run_starts_are_blocked() - check whether the system is about to suspend or to go down
 *
 * Context: with spek_table_lock.
 * Return: true if no run may start.
 */
bool spek_run_starts_are_blocked(void)
{
	lockdep_assert_held(&spek_table_lock);
	return is_suspending;
}

/**
 * spek_run_count_started() - count a run that starts
 *
 * Context: with spek_table_lock.
 */
void spek_run_count_started(void)
{
	atomic_inc(&nr_started);
}

/**
 * spek_run_count_ended() - count a started run whose last I/O has completed
 *
 * Context: process.
 */
void spek_run_count_ended(void)
{
	if (atomic_dec_and_test(&nr_started))
		wake_up_all(&all_ended);
}

/* End every run that has started, and prevent starts. Return: true if no I/O is left in time */
static bool end_all(enum spek_reason reason)
{
	struct spek_run *run;
	u32 id;

	mutex_lock(&spek_table_lock);
	is_suspending = true;
	for (id = 0; (run = spek_table_next(id)); id = run->id + 1) {
		mutex_lock(&run->lock);
		if (!spek_states[run->state].accepts_delete)
			spek_outcome_end(&run->outcome, reason);
		mutex_unlock(&run->lock);
	}
	mutex_unlock(&spek_table_lock);
	return wait_event_timeout(all_ended, !atomic_read(&nr_started),
				  msecs_to_jiffies(SUSPEND_WAIT_MS));
}

/**
 * spek_run_suspend_all() - end every run before the system suspends
 *
 * No run starts until spek_run_resume_all().
 *
 * Context: process, may sleep.
 * Return: 0, or -EBUSY if a device still holds I/O after SUSPEND_WAIT_MS; then runs may start
 * again.
 */
int spek_run_suspend_all(void)
{
	if (end_all(SPEK_REASON_SUSPENDED))
		return 0;
	spek_run_resume_all();
	return -EBUSY;
}

/**
 * spek_run_shutdown_all() - end every run before the system goes down
 *
 * Waits up to SUSPEND_WAIT_MS for I/O: a device that does not answer must not keep the system up.
 * No run starts any more.
 *
 * Context: process, may sleep.
 */
void spek_run_shutdown_all(void)
{
	end_all(SPEK_REASON_SHUTDOWN);
}

static bool has_worker_on(const struct spek_run_config *config, u32 cpu)
{
	u32 i;

	for (i = 0; i < config->nr_workers; i++)
		if (config->worker[i].cpu == cpu)
			return true;
	return false;
}

/**
 * spek_run_cpu_offline() - end every run with a worker on a CPU
 * @cpu: CPU that goes offline
 *
 * A run that is READY can't start any more: the thread has lost its CPU.
 *
 * Context: process, with the CPU hotplug lock. Doesn't wait for the ends.
 */
void spek_run_cpu_offline(u32 cpu)
{
	struct spek_run *run;
	u32 id;

	mutex_lock(&spek_table_lock);
	for (id = 0; (run = spek_table_next(id)); id = run->id + 1) {
		mutex_lock(&run->lock);
		if (!spek_states[run->state].has_ended && has_worker_on(run->config, cpu))
			spek_outcome_end(&run->outcome, SPEK_REASON_CPU_OFFLINE);
		mutex_unlock(&run->lock);
	}
	mutex_unlock(&spek_table_lock);
}

/**
 * spek_run_resume_all() - allow runs to start again
 *
 * Context: process.
 */
void spek_run_resume_all(void)
{
	mutex_lock(&spek_table_lock);
	is_suspending = false;
	mutex_unlock(&spek_table_lock);
}
