// SPDX-License-Identifier: GPL-2.0
/*
 * Context switches of each CPU and in total.
 *
 * Modules can't read the scheduler's own counts, so this source counts at the tracepoint
 * sched_switch while a probe runs: one addition to a per-CPU counter per switch. CPU hotplug
 * needs no action, except that the cell of an offline CPU is absent.
 *
 * A perf event on each CPU would count the same switches, but creating or releasing one flips
 * a static key, which takes the CPU hotplug lock: with CPUs going on- and offline all the
 * time, a start or stop would wait once per CPU.
 */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>

#ifndef CONFIG_TRACEPOINTS
#error "context switches are counted at a tracepoint, CONFIG_TRACEPOINTS"
#endif

#include "source.h"
#include "uapi/spek_prober.h"

static const struct spek_probe_column columns[] = {
	[SPEK_PROBER_SWITCH_COLUMN_SWITCHES] = { "switches" },
};

/**
 * struct switches - state of the source
 * @tracepoint: sched_switch with our callback registered, or NULL
 * @counts: switches of each CPU since the start, each written by its CPU only
 * @is_online: state of each CPU, by index of its entity; written by the CPU callbacks
 */
struct switches {
	struct tracepoint *tracepoint;
	u64 __percpu *counts;
	bool is_online[];
};

/* Called by the scheduler on the CPU that switches, interrupts off. */
static void count_switch(void *data, bool preempt, struct task_struct *prev,
			 struct task_struct *next, unsigned int prev_state)
{
	const struct switches *switches = data;

	__this_cpu_inc(*switches->counts);
}

static void find_tracepoint(struct tracepoint *tracepoint, void *found)
{
	if (!strcmp(tracepoint->name, "sched_switch"))
		*(struct tracepoint **)found = tracepoint;
}

/* The tracepoint is not exported to modules, but the iterator over all tracepoints is. */
static int watch_switches(struct switches *switches)
{
	struct tracepoint *tracepoint = NULL;
	int err;

	check_trace_callback_type_sched_switch(count_switch);
	for_each_kernel_tracepoint(find_tracepoint, &tracepoint);
	if (!tracepoint)
		return -ENOENT;

	err = tracepoint_probe_register(tracepoint, count_switch, switches);
	if (!err)
		switches->tracepoint = tracepoint;
	return err;
}

static int switches_start(struct spek_probe_source *source, const struct spek_probe_config *config)
{
	struct switches *switches;
	int err;

	err = spek_probe_source_set_cpus(source);
	if (err)
		return err;

	switches = kvzalloc(struct_size(switches, is_online, source->nr_entities - 1), GFP_KERNEL);
	if (!switches)
		return -ENOMEM;
	source->private = switches;
	switches->counts = alloc_percpu(u64);
	if (!switches->counts)
		return -ENOMEM;
	err = watch_switches(switches);

	/* Without the tracepoint only the cells of this source are absent. */
	return err == -ENOENT ? 0 : err;
}

static void switches_stop(struct spek_probe_source *source)
{
	struct switches *switches = source->private;

	if (!switches)
		return;

	if (switches->tracepoint) {
		tracepoint_probe_unregister(switches->tracepoint, count_switch, switches);
		/* Wait for CPUs inside count_switch(). */
		tracepoint_synchronize_unregister();
	}
	free_percpu(switches->counts);
	kvfree(switches);
	source->private = NULL;
}

static void switches_cpu_up(struct spek_probe_source *source, unsigned int cpu)
{
	struct switches *switches = source->private;

	WRITE_ONCE(switches->is_online[spek_probe_source_cpu_index(source, cpu)], true);
}

static void switches_cpu_down(struct spek_probe_source *source, unsigned int cpu)
{
	struct switches *switches = source->private;

	WRITE_ONCE(switches->is_online[spek_probe_source_cpu_index(source, cpu)], false);
}

static void switches_sample(struct spek_probe_source *source, u64 *cells)
{
	const struct switches *switches = source->private;
	u32 nr_cpus = source->nr_entities - 1;
	u64 total = 0;
	u32 i;

	if (!switches->tracepoint) {
		spek_probe_source_set_absent(source, cells);
		return;
	}
	for (i = 0; i < nr_cpus; i++) {
		u64 count = READ_ONCE(*per_cpu_ptr(switches->counts, source->entities[i]));

		cells[i] = READ_ONCE(switches->is_online[i]) ? count : SPEK_ABSENT;
		total += count;
	}
	cells[nr_cpus] = total;
}

const struct spek_probe_source_ops spek_probe_source_switches = {
	.name		= "switches",
	.table		= SPEK_PROBER_TABLE_SWITCHES,
	.nr_columns	= ARRAY_SIZE(columns),
	.columns	= columns,
	.start		= switches_start,
	.stop		= switches_stop,
	.sample		= switches_sample,
	.cpu_up		= switches_cpu_up,
	.cpu_down	= switches_cpu_down,
};
