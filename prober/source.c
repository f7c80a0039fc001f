// SPDX-License-Identifier: GPL-2.0
/* What the sources of a probe's tables share: entities, names, absent cells. */
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "source.h"
#include "uapi/spek_prober.h"

/**
 * spek_probe_source_set_entities() - allocate the numbers of a source's entities
 * @source: source that is being started
 * @nr: number of entities
 *
 * Return: 0 or -ENOMEM.
 */
int spek_probe_source_set_entities(struct spek_probe_source *source, u32 nr)
{
	source->nr_entities = nr;
	/* One more, so that 0 entities get memory as well. */
	source->entities = kvcalloc(nr + 1, sizeof(*source->entities), GFP_KERNEL);
	return source->entities ? 0 : -ENOMEM;
}

/**
 * spek_probe_source_set_named() - allocate numbers and names of a source's entities
 * @source: source that is being started
 * @nr: number of entities
 *
 * Return: 0 or -ENOMEM.
 */
int spek_probe_source_set_named(struct spek_probe_source *source, u32 nr)
{
	source->names = kvcalloc(nr + 1, SPEK_ENTITY_NAME, GFP_KERNEL);
	return source->names ? spek_probe_source_set_entities(source, nr) : -ENOMEM;
}

/**
 * spek_probe_source_set_absent() - mark all cells of a source as absent
 * @source: source
 * @cells: cells of the source
 */
void spek_probe_source_set_absent(const struct spek_probe_source *source, u64 *cells)
{
	memset64(cells, SPEK_ABSENT, (size_t)source->nr_entities * source->ops->nr_columns);
}

/**
 * spek_probe_source_set_cpus() - set the entities to all possible CPUs and the total
 * @source: source that is being started
 *
 * Return: 0 or -ENOMEM.
 */
int spek_probe_source_set_cpus(struct spek_probe_source *source)
{
	unsigned int cpu;
	u32 index = 0;
	int err;

	err = spek_probe_source_set_entities(source, num_possible_cpus() + 1);
	if (err)
		return err;

	for_each_possible_cpu(cpu)
		source->entities[index++] = cpu;
	source->entities[index] = SPEK_PROBER_TOTAL;
	return 0;
}

/**
 * spek_probe_source_cpu_index() - find the entity of a CPU
 * @source: source whose entities were set by spek_probe_source_set_cpus()
 * @cpu: possible CPU
 *
 * Return: index into the entities, which are in ascending order.
 */
u32 spek_probe_source_cpu_index(const struct spek_probe_source *source, unsigned int cpu)
{
	u32 low = 0, high = source->nr_entities - 1;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (source->entities[middle] < cpu)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
