// SPDX-License-Identifier: GPL-2.0
/*
 * CPU time, interrupts and softirqs of each CPU and in total.
 *
 * The values are those of /proc/stat, from the same sources. Idle and iowait come from the
 * tick code, which is exact between ticks as well; all other times come from kcpustat,
 * which is updated before it is read only for a CPU in full dynticks mode. Counts that the
 * kernel keeps in 32 bits are widened here: 2^32 interrupts can't happen within the longest
 * interval.
 *
 * Idle time may go backwards. The kernel splits it into idle and iowait by whether a task
 * waits *now*: when that changes, the whole current idle period moves from one to the other,
 * and one raw value falls. The cells then share the time that has passed (core/idle.h). After a
 * CPU was offline, its raw idle time may have restarted at 0 or may have been counted further:
 * the cell continues from its value at the offlining, and no column has the time offline. Before
 * v6.3 the tick code let readers race with the end of an idle period; after a value that was
 * read too high the cells wait until the raw values have caught up.
 */
#include <linux/cpumask.h>
#include <linux/interrupt.h>
#include <linux/jiffies.h>
#include <linux/kernel_stat.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/tick.h>

#include "../kmod/compat/irq.h"
#include "core/idle.h"
#include "source.h"
#include "uapi/spek_prober.h"

enum {
	COL_IDLE	= SPEK_PROBER_CPU_COLUMN_IDLE_NS,
	COL_IOWAIT	= SPEK_PROBER_CPU_COLUMN_IOWAIT_NS,
	COL_INTERRUPTS	= SPEK_PROBER_CPU_COLUMN_INTERRUPTS,
	COL_DEVICE	= SPEK_PROBER_CPU_COLUMN_DEVICE_INTERRUPTS,
	COL_SOFTIRQS	= SPEK_PROBER_CPU_COLUMN_SOFTIRQS,
	COL_SOFTIRQ	= SPEK_PROBER_CPU_COLUMN_SOFTIRQ_HI,
	NR_TIMES	= SPEK_PROBER_CPU_COLUMN_GUEST_NICE_NS + 1,
	NR_COLUMNS	= SPEK_PROBER_CPU_COLUMN_SOFTIRQ_RCU + 1,
};

/* Idle and iowait, which are read differently from the other times. */
enum { IDLE, IOWAIT, NR_IDLES };

/* Where the kernel keeps the times, in the order of our columns. */
static const enum cpu_usage_stat time_index[NR_TIMES] = {
	[SPEK_PROBER_CPU_COLUMN_USER_NS]	= CPUTIME_USER,
	[SPEK_PROBER_CPU_COLUMN_NICE_NS]	= CPUTIME_NICE,
	[SPEK_PROBER_CPU_COLUMN_SYSTEM_NS]	= CPUTIME_SYSTEM,
	[SPEK_PROBER_CPU_COLUMN_IDLE_NS]	= CPUTIME_IDLE,
	[SPEK_PROBER_CPU_COLUMN_IOWAIT_NS]	= CPUTIME_IOWAIT,
	[SPEK_PROBER_CPU_COLUMN_IRQ_NS]		= CPUTIME_IRQ,
	[SPEK_PROBER_CPU_COLUMN_SOFTIRQ_NS]	= CPUTIME_SOFTIRQ,
	[SPEK_PROBER_CPU_COLUMN_STEAL_NS]	= CPUTIME_STEAL,
	[SPEK_PROBER_CPU_COLUMN_GUEST_NS]	= CPUTIME_GUEST,
	[SPEK_PROBER_CPU_COLUMN_GUEST_NICE_NS]	= CPUTIME_GUEST_NICE,
};

static const struct spek_probe_column columns[NR_COLUMNS] = {
	[SPEK_PROBER_CPU_COLUMN_USER_NS]		= { "user-ns" },
	[SPEK_PROBER_CPU_COLUMN_NICE_NS]		= { "nice-ns" },
	[SPEK_PROBER_CPU_COLUMN_SYSTEM_NS]		= { "system-ns" },
	[SPEK_PROBER_CPU_COLUMN_IDLE_NS]		= { "idle-ns" },
	[SPEK_PROBER_CPU_COLUMN_IOWAIT_NS]		= { "iowait-ns" },
	[SPEK_PROBER_CPU_COLUMN_IRQ_NS]			= { "irq-ns" },
	[SPEK_PROBER_CPU_COLUMN_SOFTIRQ_NS]		= { "softirq-ns" },
	[SPEK_PROBER_CPU_COLUMN_STEAL_NS]		= { "steal-ns" },
	[SPEK_PROBER_CPU_COLUMN_GUEST_NS]		= { "guest-ns" },
	[SPEK_PROBER_CPU_COLUMN_GUEST_NICE_NS]		= { "guest-nice-ns" },
	[SPEK_PROBER_CPU_COLUMN_INTERRUPTS]		= { "interrupts" },
	[SPEK_PROBER_CPU_COLUMN_DEVICE_INTERRUPTS]	= { "device-interrupts" },
	[SPEK_PROBER_CPU_COLUMN_SOFTIRQS]		= { "softirqs" },
	[SPEK_PROBER_CPU_COLUMN_SOFTIRQ_HI]		= { "softirq-hi" },
	[SPEK_PROBER_CPU_COLUMN_SOFTIRQ_TIMER]		= { "softirq-timer" },
	[SPEK_PROBER_CPU_COLUMN_SOFTIRQ_NET_TX]		= { "softirq-net-tx" },
	[SPEK_PROBER_CPU_COLUMN_SOFTIRQ_NET_RX]		= { "softirq-net-rx" },
	[SPEK_PROBER_CPU_COLUMN_SOFTIRQ_BLOCK]		= { "softirq-block" },
	[SPEK_PROBER_CPU_COLUMN_SOFTIRQ_IRQ_POLL]	= { "softirq-irq-poll" },
	[SPEK_PROBER_CPU_COLUMN_SOFTIRQ_TASKLET]	= { "softirq-tasklet" },
	[SPEK_PROBER_CPU_COLUMN_SOFTIRQ_SCHED]		= { "softirq-sched" },
	[SPEK_PROBER_CPU_COLUMN_SOFTIRQ_HRTIMER]	= { "softirq-hrtimer" },
	[SPEK_PROBER_CPU_COLUMN_SOFTIRQ_RCU]		= { "softirq-rcu" },
};

/* The softirq columns are the kernel's vectors, in the kernel's order. */
static_assert(NR_COLUMNS - COL_SOFTIRQ == NR_SOFTIRQS);
static_assert(SPEK_PROBER_CPU_COLUMN_SOFTIRQ_BLOCK - COL_SOFTIRQ == BLOCK_SOFTIRQ);
static_assert(SPEK_PROBER_CPU_COLUMN_SOFTIRQ_RCU - COL_SOFTIRQ == RCU_SOFTIRQ);

/**
 * struct cpu_state - last values of a CPU; owned by the sampler except where noted
 * @cells: cells of the last row
 * @is_on: the CPU is online and @idle_base is valid; written by the CPU callbacks
 * @idle_base: offset of the cells from the raw idle times; written by the CPU callbacks
 * @idle_left: raw idle times at the last offlining; owned by the CPU callbacks
 * @local_interrupts: widened count of interrupts without a descriptor
 * @vectors: last raw count of interrupts without a descriptor
 * @softirqs: last raw counts of softirqs
 */
struct cpu_state {
	u64 cells[NR_COLUMNS];
	bool is_on;
	u64 idle_base[NR_IDLES];
	u64 idle_left[NR_IDLES];
	u64 local_interrupts;
	u32 vectors;
	u32 softirqs[NR_SOFTIRQS];
};

/**
 * struct cpu_states - state of the source
 * @is_sampling: rows are being taken; a CPU that comes online was offline before
 * @cpus: state of every possible CPU, by index of its entity
 */
struct cpu_states {
	bool is_sampling;
	struct cpu_state cpus[];
};

/* How often to read the two idle times if the CPU's state changes between them. */
#define IDLE_READS 3

/*
 * Read both times in one state of the CPU: if a task starts or stops waiting in between, both
 * or neither include the current idle period. Then a second reading of the idle time differs
 * from the first one by more than the time between them.
 */
static void read_tick_times(unsigned int cpu, u64 *idle_us, u64 *iowait_us)
{
	unsigned int reads = 0;
	u64 before_us, again_us, passed_us;

	do {
		before_us = ktime_to_us(ktime_get());
		*idle_us = get_cpu_idle_time_us(cpu, NULL);
		*iowait_us = get_cpu_iowait_time_us(cpu, NULL);
		again_us = get_cpu_idle_time_us(cpu, NULL);
		/* Rounding of the clock and of the idle time. */
		passed_us = ktime_to_us(ktime_get()) - before_us + 2;
	} while (again_us - *idle_us > passed_us && ++reads < IDLE_READS);
}

/* If the tick never stops, the tick code has no idle times, but those of kcpustat are complete. */
static void read_idle(unsigned int cpu, u64 idle_ns[NR_IDLES])
{
	u64 idle_us, iowait_us;

	read_tick_times(cpu, &idle_us, &iowait_us);
	idle_ns[IDLE] = idle_us != U64_MAX ? idle_us * NSEC_PER_USEC :
		READ_ONCE(kcpustat_cpu(cpu).cpustat[CPUTIME_IDLE]);
	idle_ns[IOWAIT] = iowait_us != U64_MAX ? iowait_us * NSEC_PER_USEC :
		READ_ONCE(kcpustat_cpu(cpu).cpustat[CPUTIME_IOWAIT]);
}

static void update_times(struct cpu_state *state, unsigned int cpu, bool is_on)
{
	struct kernel_cpustat stat;
	u64 idle_ns[NR_IDLES];
	unsigned int i;

	kcpustat_cpu_fetch(&stat, cpu);
	for (i = 0; i < NR_TIMES; i++)
		if (i != COL_IDLE && i != COL_IOWAIT)
			state->cells[i] = max(state->cells[i], stat.cpustat[time_index[i]]);

	if (!is_on)
		return;

	read_idle(cpu, idle_ns);
	spek_idle_read(&state->cells[COL_IDLE], &state->cells[COL_IOWAIT],
		       idle_ns[IDLE] + state->idle_base[IDLE],
		       idle_ns[IOWAIT] + state->idle_base[IOWAIT]);
}

static void update_counts(struct cpu_state *state, unsigned int cpu)
{
	u64 device = kstat_cpu_irqs_sum(cpu);
	u32 raw = spek_compat_local_interrupts(cpu);
	unsigned int i;

	state->local_interrupts += (u32)(raw - state->vectors);
	state->vectors = raw;
	state->cells[COL_DEVICE] = device;
	state->cells[COL_INTERRUPTS] = device + state->local_interrupts;

	for (i = 0; i < NR_SOFTIRQS; i++) {
		u32 delta;

		raw = kstat_softirqs_cpu(i, cpu);
		delta = raw - state->softirqs[i];
		state->softirqs[i] = raw;
		state->cells[COL_SOFTIRQ + i] += delta;
		state->cells[COL_SOFTIRQS] += delta;
	}
}

static u32 cpu_step_ns(u32 column)
{
	if (column >= NR_TIMES || IS_ENABLED(CONFIG_VIRT_CPU_ACCOUNTING_NATIVE))
		return 0;
	/* The tick code keeps exact idle times, unless the tick never stops. */
	if ((column == COL_IDLE || column == COL_IOWAIT) &&
	    get_cpu_idle_time_us(raw_smp_processor_id(), NULL) != U64_MAX)
		return 0;
	return TICK_NSEC;
}

static int cpu_start(struct spek_probe_source *source, const struct spek_probe_config *config)
{
	struct cpu_states *states;
	int err;

	err = spek_probe_source_set_cpus(source);
	if (err)
		return err;

	states = kvzalloc(struct_size(states, cpus, source->nr_entities - 1), GFP_KERNEL);
	source->private = states;
	return states ? 0 : -ENOMEM;
}

static void cpu_ready(struct spek_probe_source *source)
{
	struct cpu_states *states = source->private;

	WRITE_ONCE(states->is_sampling, true);
}

static void cpu_stop(struct spek_probe_source *source)
{
	kvfree(source->private);
	source->private = NULL;
}

/* CPUs online at the start continue from the kernel's values, later ones from their cells. */
static void cpu_up(struct spek_probe_source *source, unsigned int cpu)
{
	struct cpu_states *states = source->private;
	struct cpu_state *state = &states->cpus[spek_probe_source_cpu_index(source, cpu)];
	u64 idle_ns[NR_IDLES];
	unsigned int i;

	if (READ_ONCE(states->is_sampling)) {
		read_idle(cpu, idle_ns);
		for (i = 0; i < NR_IDLES; i++)
			state->idle_base[i] += state->idle_left[i] - idle_ns[i];
	}
	/* The base is valid before the sampler reads it; pairs with cpu_sample(). */
	smp_store_release(&state->is_on, true);
}

static void cpu_down(struct spek_probe_source *source, unsigned int cpu)
{
	struct cpu_states *states = source->private;
	struct cpu_state *state = &states->cpus[spek_probe_source_cpu_index(source, cpu)];

	if (READ_ONCE(states->is_sampling))
		read_idle(cpu, state->idle_left);
	WRITE_ONCE(state->is_on, false);
}

static void cpu_sample(struct spek_probe_source *source, u64 *cells)
{
	struct cpu_states *states = source->private;
	u32 nr_cpus = source->nr_entities - 1;
	u64 *total = cells + nr_cpus * NR_COLUMNS;
	u32 i, column;

	memset(total, 0, NR_COLUMNS * sizeof(*total));
	for (i = 0; i < nr_cpus; i++, cells += NR_COLUMNS) {
		unsigned int cpu = source->entities[i];
		struct cpu_state *state = &states->cpus[i];
		/* Pairs with cpu_up(). */
		bool is_on = smp_load_acquire(&state->is_on);

		update_times(state, cpu, is_on);
		update_counts(state, cpu);

		for (column = 0; column < NR_COLUMNS; column++)
			total[column] += state->cells[column];
		if (is_on)
			memcpy(cells, state->cells, sizeof(state->cells));
		else
			memset64(cells, SPEK_ABSENT, NR_COLUMNS);
	}
}

const struct spek_probe_source_ops spek_probe_source_cpu = {
	.name		= "cpu",
	.table		= SPEK_PROBER_TABLE_CPU,
	.nr_columns	= NR_COLUMNS,
	.columns	= columns,
	.step_ns	= cpu_step_ns,
	.start		= cpu_start,
	.ready		= cpu_ready,
	.stop		= cpu_stop,
	.sample		= cpu_sample,
	.cpu_up		= cpu_up,
	.cpu_down	= cpu_down,
};
