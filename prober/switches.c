// SPDX-License-Identifier: GPL-2.0
/*
 * switches.c - context switches of each CPU and in total
 *
 * nr_context_switches() is closed to modules; a counting perf software event on
 * each CPU sees the same switches. Nothing is sampled and nothing overflows, so
 * an event costs one addition per switch, and its count can be read from any CPU
 * without the cross call that perf_event_read_value() makes.
 *
 * CPUs that come and go: perf takes its events off a CPU that goes and doesn't put
 * them back, and events can neither be made nor released in a hotplug callback
 * (both flip a static key, which takes the CPU hotplug lock). So the callbacks
 * only note what happened, and a work item makes and releases the events.
 *
 * Locks: events_lock guards the fields that the sampler reads too; it is held for
 * a few instructions, by the sampler, the work and the callbacks. The work is the
 * only one to make and release events (and stop, after it has ended).
 */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#ifndef CONFIG_PERF_EVENTS
#error "context switches are counted by perf events, CONFIG_PERF_EVENTS"
#endif

#include "source.h"
#include "uapi/spek_prober.h"

static const struct spek_probe_column columns[] = {
	[SPEK_PROBER_SWITCH_COLUMN_SWITCHES] = { "switches", "count" },
};

/**
 * struct cpu_switches - one CPU
 * @event: counts since it was made; NULL while there is none
 * @counted: by events that were released
 * @is_up: events can be made
 * @is_stale: the CPU went away since @event was made
 * @failed: the CPU is up and would not give us an event
 */
struct cpu_switches {
	struct perf_event *event;
	u64 counted;
	bool is_up;
	bool is_stale;
	bool failed;
};

/**
 * struct switches - state of the source
 * @source: back pointer; const
 * @sync_work: brings the events in line with @cpus
 * @events_lock: protects @cpus
 * @cpus: indexed like the entities
 */
struct switches {
	struct spek_probe_source *source;
	struct work_struct sync_work;
	spinlock_t events_lock;	/* protects the next field */
	struct cpu_switches cpus[];
};

static struct perf_event *create_event(unsigned int cpu)
{
	struct perf_event_attr attr = {
		.type	= PERF_TYPE_SOFTWARE,
		.config	= PERF_COUNT_SW_CONTEXT_SWITCHES,
		.size	= sizeof(attr),
	};

	return perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
}

static u64 count_of(const struct cpu_switches *cpu)
{
	return cpu->counted + (cpu->event ? local64_read(&cpu->event->count) : 0);
}

/* Take @cpu's event away if it no longer counts; the caller releases it. */
static struct perf_event *take_stale(struct switches *switches, struct cpu_switches *cpu)
{
	struct perf_event *event = NULL;

	spin_lock(&switches->events_lock);
	if (cpu->is_stale) {
		event = cpu->event;
		cpu->counted = count_of(cpu);
		cpu->event = NULL;
		cpu->is_stale = false;
	}
	spin_unlock(&switches->events_lock);

	return event;
}

static void sync_cpu(struct switches *switches, u32 index)
{
	struct cpu_switches *cpu = &switches->cpus[index];
	struct perf_event *event;
	bool wanted;

	event = take_stale(switches, cpu);
	if (event)
		perf_event_release_kernel(event);

	spin_lock(&switches->events_lock);
	wanted = cpu->is_up && !cpu->event;
	spin_unlock(&switches->events_lock);
	if (!wanted)
		return;

	event = create_event(switches->source->entities[index]);

	/* went away meanwhile: it is stale already, and the work runs once more */
	spin_lock(&switches->events_lock);
	cpu->event = IS_ERR(event) ? NULL : event;
	cpu->failed = IS_ERR(event) && cpu->is_up;
	spin_unlock(&switches->events_lock);
}

static void sync_events(struct work_struct *work)
{
	struct switches *switches = container_of(work, struct switches, sync_work);
	u32 i;

	for (i = 0; i < switches->source->nr_entities - 1; i++)
		sync_cpu(switches, i);
}

static int switches_start(struct spek_probe_source *source, const struct spek_probe_config *config)
{
	struct switches *switches;
	int err;

	err = spek_probe_source_set_cpus(source);
	if (err)
		return err;

	switches = kvzalloc(struct_size(switches, cpus, source->nr_entities - 1), GFP_KERNEL);
	if (!switches)
		return -ENOMEM;
	switches->source = source;
	spin_lock_init(&switches->events_lock);
	INIT_WORK(&switches->sync_work, sync_events);
	source->private = switches;

	return 0;
}

/* The CPU callbacks have asked for the first events; the first row needs them. */
static void switches_ready(struct spek_probe_source *source)
{
	struct switches *switches = source->private;

	flush_work(&switches->sync_work);
}

static void switches_stop(struct spek_probe_source *source)
{
	struct switches *switches = source->private;
	u32 i;

	if (!switches)
		return;

	cancel_work_sync(&switches->sync_work);
	for (i = 0; i < source->nr_entities - 1; i++)
		if (switches->cpus[i].event)
			perf_event_release_kernel(switches->cpus[i].event);
	kvfree(switches);
	source->private = NULL;
}

static void note_cpu(struct spek_probe_source *source, unsigned int cpu, bool is_up)
{
	struct switches *switches = source->private;
	struct cpu_switches *state = &switches->cpus[spek_probe_source_cpu_index(source, cpu)];

	spin_lock(&switches->events_lock);
	state->is_up = is_up;
	state->failed = false;
	if (!is_up)
		state->is_stale = true;
	spin_unlock(&switches->events_lock);

	schedule_work(&switches->sync_work);
}

static void switches_cpu_up(struct spek_probe_source *source, unsigned int cpu)
{
	note_cpu(source, cpu, true);
}

static void switches_cpu_down(struct spek_probe_source *source, unsigned int cpu)
{
	note_cpu(source, cpu, false);
}

static void switches_sample(struct spek_probe_source *source, u64 *cells)
{
	struct switches *switches = source->private;
	u32 nr_cpus = source->nr_entities - 1;
	bool failed = false;
	u64 total = 0;
	u32 i;

	spin_lock(&switches->events_lock);
	for (i = 0; i < nr_cpus; i++) {
		const struct cpu_switches *cpu = &switches->cpus[i];
		u64 count = count_of(cpu);

		cells[i] = cpu->is_up && cpu->event && !cpu->is_stale ? count : SPEK_ABSENT;
		total += count;
		failed |= cpu->failed;
	}
	spin_unlock(&switches->events_lock);

	/* a sum that leaves out a CPU at work would pass for a small one */
	cells[nr_cpus] = failed ? SPEK_ABSENT : total;
}

const struct spek_probe_source_ops spek_probe_source_switches = {
	.name		= "switches",
	.table		= SPEK_PROBER_TABLE_SWITCHES,
	.nr_columns	= ARRAY_SIZE(columns),
	.columns	= columns,
	.start		= switches_start,
	.ready		= switches_ready,
	.stop		= switches_stop,
	.sample		= switches_sample,
	.cpu_up		= switches_cpu_up,
	.cpu_down	= switches_cpu_down,
};
