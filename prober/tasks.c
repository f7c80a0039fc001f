// SPDX-License-Identifier: GPL-2.0
/*
 * CPU time and context switches of watched tasks.
 *
 * A reference keeps the task_struct from start to stop, so a reused thread id is not mistaken
 * for the task, and its counts can be read after its end. The reference keeps neither the task
 * running nor the module of a kernel thread loaded.
 */
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/cputime.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "probe.h"
#include "source.h"
#include "uapi/spek_prober.h"

enum { NR_COLUMNS = SPEK_PROBER_TASK_COLUMN_ENDED + 1 };

static const struct spek_probe_column columns[NR_COLUMNS] = {
	[SPEK_PROBER_TASK_COLUMN_RUNTIME_NS]	= { "runtime-ns" },
	[SPEK_PROBER_TASK_COLUMN_USER_NS]	= { "user-ns" },
	[SPEK_PROBER_TASK_COLUMN_SYSTEM_NS]	= { "system-ns" },
	[SPEK_PROBER_TASK_COLUMN_VOLUNTARY]	= { "voluntary" },
	[SPEK_PROBER_TASK_COLUMN_INVOLUNTARY]	= { "involuntary" },
	[SPEK_PROBER_TASK_COLUMN_ENDED]		= { "ended" },
};

/* The scheduler updates a running task's time at its ticks. */
static u32 tasks_step_ns(u32 column)
{
	return column <= SPEK_PROBER_TASK_COLUMN_SYSTEM_NS ? TICK_NSEC : 0;
}

static int tasks_start(struct spek_probe_source *source, const struct spek_probe_config *config)
{
	struct task_struct **tasks;
	u32 i;
	int err;

	err = spek_probe_source_set_entities(source, config->nr_tasks);
	if (err)
		return err;

	tasks = kvcalloc(config->nr_tasks + 1, sizeof(*tasks), GFP_KERNEL);
	if (!tasks)
		return -ENOMEM;

	for (i = 0; i < config->nr_tasks; i++) {
		source->entities[i] = config->request.task[i].pid;
		tasks[i] = get_task_struct(config->tasks[i]);
	}
	source->private = tasks;
	return 0;
}

static void tasks_stop(struct spek_probe_source *source)
{
	struct task_struct **tasks = source->private;
	u32 i;

	if (!tasks)
		return;

	for (i = 0; i < source->nr_entities; i++)
		put_task_struct(tasks[i]);
	kvfree(tasks);
	source->private = NULL;
}

static void tasks_sample(struct spek_probe_source *source, u64 *cells)
{
	struct task_struct **tasks = source->private;
	u32 i;

	for (i = 0; i < source->nr_entities; i++, cells += NR_COLUMNS) {
		struct task_struct *task = tasks[i];
		u64 user_ns, system_ns;

		/* Splits the runtime by ticks, so that both always add up to it. */
		task_cputime_adjusted(task, &user_ns, &system_ns);

		cells[SPEK_PROBER_TASK_COLUMN_RUNTIME_NS] = user_ns + system_ns;
		cells[SPEK_PROBER_TASK_COLUMN_USER_NS] = user_ns;
		cells[SPEK_PROBER_TASK_COLUMN_SYSTEM_NS] = system_ns;
		cells[SPEK_PROBER_TASK_COLUMN_VOLUNTARY] = READ_ONCE(task->nvcsw);
		cells[SPEK_PROBER_TASK_COLUMN_INVOLUNTARY] = READ_ONCE(task->nivcsw);
		cells[SPEK_PROBER_TASK_COLUMN_ENDED] = !!READ_ONCE(task->exit_state);
	}
}

const struct spek_probe_source_ops spek_probe_source_tasks = {
	.name		= "task",
	.table		= SPEK_PROBER_TABLE_TASK,
	.nr_columns	= NR_COLUMNS,
	.columns	= columns,
	.step_ns	= tasks_step_ns,
	.start		= tasks_start,
	.stop		= tasks_stop,
	.sample		= tasks_sample,
};
