/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sources, each of which contributes a table to the rows.
 *
 * A source is one file with one struct spek_probe_source_ops, listed in probe.c. It lists
 * its entities (CPUs, tasks, disks...) when a probe starts and writes one cell for each
 * entity and column into every row. Ring, netlink and clients know tables only through this
 * description.
 */
#ifndef SPEK_PROBER_SOURCE_H
#define SPEK_PROBER_SOURCE_H

#include <linux/types.h>

struct spek_probe_config;
struct spek_probe_source;
struct spek_ring;

/* Cell without a value; an entity that has no other cells is left out of the row. */
#define SPEK_ABSENT U64_MAX

/**
 * struct spek_probe_column - description of a column
 * @name: as in the uapi enum of the table's columns, with its unit
 * @is_level: the value is a level, not a counter
 */
struct spek_probe_column {
	const char *name;
	bool is_level;
};

/**
 * struct spek_probe_source_ops - one source
 * @name: name of its table
 * @table: number of its table, enum spek_prober_table
 * @nr_columns: cells of each entity
 * @columns: descriptions, in order
 * @step_ns: get the step in which the kernel counts the time in a column, ns; 0 if it is
 *	exact or not a time; optional if that is so for all columns
 * @start: list the entities with spek_probe_source_set_entities() and acquire what sampling
 *	needs, in spek_probe_source.private. Process context. A source without anything to
 *	sample on this machine still starts; only a lack of memory is an error.
 * @ready: @cpu_up was called for all online CPUs and sampling is about to begin; optional.
 *	May sleep.
 * @stop: release what @start acquired, also after a failed @start; sampling and CPU callbacks
 *	have ended or never began. Entities stay.
 * @sample: write spek_probe_source.nr_entities * @nr_columns cells. The sampler thread,
 *	preemptible; must not sleep. Either this or @fill
 * @keep: get memory for the cells of all rows of the ring; if there is @fill. Process context,
 *	between @start and the first row
 * @release: release what @start and @keep acquired for @fill; optional. Process context, after the
 *	last reader, before the ring is freed
 * @fill: write the cells of row seq, which started at at_ns, into a reader's copy; optional. The
 *	ring has no room for the cells of such a source. Process context, from @keep to @release.
 * @ready_ns: get the CLOCK_MONOTONIC up to which @fill can complete rows; if there is @fill
 * @left_behind: a row is sent although it is not complete; if there is @fill
 * @cpu_up: a CPU has come online; optional. Called once for each online CPU before the first
 *	sample. Hotplug context: must not sleep long or take the CPU hotplug lock.
 * @cpu_down: a CPU is going offline; optional. Same context.
 */
struct spek_probe_source_ops {
	const char *name;
	u32 table;
	u32 nr_columns;
	const struct spek_probe_column *columns;
	u32 (*step_ns)(u32 column);
	int (*start)(struct spek_probe_source *source, const struct spek_probe_config *config);
	void (*ready)(struct spek_probe_source *source);
	void (*stop)(struct spek_probe_source *source);
	void (*sample)(struct spek_probe_source *source, u64 *cells);
	int (*keep)(struct spek_probe_source *source, const struct spek_ring *ring);
	void (*release)(struct spek_probe_source *source);
	void (*fill)(const struct spek_probe_source *source, u64 seq, u64 at_ns, u64 *cells);
	u64 (*ready_ns)(const struct spek_probe_source *source);
	void (*left_behind)(const struct spek_probe_source *source, u64 at_ns);
	void (*cpu_up)(struct spek_probe_source *source, unsigned int cpu);
	void (*cpu_down)(struct spek_probe_source *source, unsigned int cpu);
};

/**
 * struct spek_probe_source - a source of one probe
 * @ops: operations
 * @entities: numbers of the entities; const after start, freed with the probe
 * @names: names of the entities, SPEK_ENTITY_NAME bytes each, or NULL; as @entities
 * @nr_entities: number of entities
 * @left_out: number of entities without rows, because a description of their table does not fit
 *	into an answer; @nr_entities is 0 then, the source is stopped and released, and none of its
 *	operations is called; const after start
 * @first_cell: index of its first cell in a row
 * @private: state of the source, from start to stop, or to release if there is one
 */
struct spek_probe_source {
	const struct spek_probe_source_ops *ops;
	u32 *entities;
	char *names;
	u32 nr_entities;
	u32 left_out;
	u32 first_cell;
	void *private;
};

/* Room for "feed/rail". */
#define SPEK_ENTITY_NAME 64

#define SPEK_NR_SOURCES 7

/* source.c */
int spek_probe_source_set_entities(struct spek_probe_source *source, u32 nr);
int spek_probe_source_set_named(struct spek_probe_source *source, u32 nr);
int spek_probe_source_set_cpus(struct spek_probe_source *source);
void spek_probe_source_set_absent(const struct spek_probe_source *source, u64 *cells);
u32 spek_probe_source_cpu_index(const struct spek_probe_source *source, unsigned int cpu);

/* cpu.c */
extern const struct spek_probe_source_ops spek_probe_source_cpu;
/* switches.c */
extern const struct spek_probe_source_ops spek_probe_source_switches;
/* tasks.c */
extern const struct spek_probe_source_ops spek_probe_source_tasks;
/* memory.c */
extern const struct spek_probe_source_ops spek_probe_source_memory;
/* net.c */
extern const struct spek_probe_source_ops spek_probe_source_net;
/* disk.c */
extern const struct spek_probe_source_ops spek_probe_source_disk;
/* power.c */
extern const struct spek_probe_source_ops spek_probe_source_power;

/**
 * spek_probe_source_name() - get the buffer of an entity's name
 * @source: source with names
 * @index: index of the entity
 *
 * Return: SPEK_ENTITY_NAME bytes.
 */
static inline char *spek_probe_source_name(const struct spek_probe_source *source, u32 index)
{
	return source->names + (size_t)index * SPEK_ENTITY_NAME;
}

#endif
