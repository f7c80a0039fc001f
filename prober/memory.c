// SPDX-License-Identifier: GPL-2.0
/*
 * Memory usage and paging.
 *
 * Levels are those of /proc/meminfo, from the same counters. The kernel keeps these with an
 * error of some pages per CPU, so a level near 0 may read as 0.
 *
 * Paging is counted for each CPU. When a CPU goes offline, the kernel adds its counts to those of
 * another one and then clears them: a sum taken meanwhile may have them twice or not at all.
 * While a CPU comes or goes, the counters therefore keep their values, and the next row catches
 * up.
 */
#include <linux/cpu.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/swap.h>
#include <linux/vmstat.h>

#include "source.h"
#include "uapi/spek_prober.h"

enum { NR_COLUMNS = SPEK_PROBER_MEMORY_COLUMN_SWAPPED_OUT_BYTES + 1 };

/* Unit in which the kernel counts paging by bios. */
#define SECTOR_BYTES 512

#define LEVEL(column, name) [SPEK_PROBER_MEMORY_COLUMN_##column] = { name, true }
#define COUNTER(column, name) [SPEK_PROBER_MEMORY_COLUMN_##column] = { name }

static const struct spek_probe_column columns[NR_COLUMNS] = {
	LEVEL(TOTAL_BYTES, "total-bytes"),
	LEVEL(FREE_BYTES, "free-bytes"),
	LEVEL(AVAILABLE_BYTES, "available-bytes"),
	LEVEL(SHARED_BYTES, "shared-bytes"),
	LEVEL(BUFFERS_BYTES, "buffers-bytes"),
	LEVEL(CACHED_BYTES, "cached-bytes"),
	LEVEL(DIRTY_BYTES, "dirty-bytes"),
	LEVEL(WRITEBACK_BYTES, "writeback-bytes"),
	LEVEL(SLAB_BYTES, "slab-bytes"),
	LEVEL(SWAP_FREE_BYTES, "swap-free-bytes"),
	COUNTER(PAGED_IN_BYTES, "paged-in-bytes"),
	COUNTER(PAGED_OUT_BYTES, "paged-out-bytes"),
	COUNTER(SWAPPED_IN_BYTES, "swapped-in-bytes"),
	COUNTER(SWAPPED_OUT_BYTES, "swapped-out-bytes"),
};

/* The counters, which follow the levels. */
enum {
	FIRST_EVENT	= SPEK_PROBER_MEMORY_COLUMN_PAGED_IN_BYTES,
	PAGED_IN	= 0,
	PAGED_OUT	= SPEK_PROBER_MEMORY_COLUMN_PAGED_OUT_BYTES - FIRST_EVENT,
	SWAPPED_IN	= SPEK_PROBER_MEMORY_COLUMN_SWAPPED_IN_BYTES - FIRST_EVENT,
	SWAPPED_OUT	= SPEK_PROBER_MEMORY_COLUMN_SWAPPED_OUT_BYTES - FIRST_EVENT,
	NR_EVENTS	= NR_COLUMNS - FIRST_EVENT,
};

/**
 * struct memory - state of the source
 * @has_events: @events was read; written before sampling begins
 * @events: last values of the counters; sampler-owned once sampling has begun
 */
struct memory {
	bool has_events;
	u64 events[NR_EVENTS];
};

static int memory_start(struct spek_probe_source *source, const struct spek_probe_config *config)
{
	int err = spek_probe_source_set_entities(source, 1);
	struct memory *memory;

	if (err)
		return err;
	source->entities[0] = SPEK_PROBER_TOTAL;
	memory = kzalloc(sizeof(*memory), GFP_KERNEL);
	source->private = memory;
	return memory ? 0 : -ENOMEM;
}

static void memory_stop(struct spek_probe_source *source)
{
	kfree(source->private);
	source->private = NULL;
}

static u64 page_bytes(long count)
{
	return count > 0 ? (u64)count << PAGE_SHIFT : 0;
}

static void sample_levels(u64 *cells)
{
	struct sysinfo info;
	long cached;

	si_meminfo(&info);
	/* Includes the swap cache, which is small while nothing is swapped. */
	cached = global_node_page_state(NR_FILE_PAGES) - info.bufferram;

	cells[SPEK_PROBER_MEMORY_COLUMN_TOTAL_BYTES] = page_bytes(info.totalram);
	cells[SPEK_PROBER_MEMORY_COLUMN_FREE_BYTES] = page_bytes(info.freeram);
	cells[SPEK_PROBER_MEMORY_COLUMN_AVAILABLE_BYTES] = page_bytes(si_mem_available());
	cells[SPEK_PROBER_MEMORY_COLUMN_SHARED_BYTES] = page_bytes(info.sharedram);
	cells[SPEK_PROBER_MEMORY_COLUMN_BUFFERS_BYTES] = page_bytes(info.bufferram);
	cells[SPEK_PROBER_MEMORY_COLUMN_CACHED_BYTES] = page_bytes(cached);
	cells[SPEK_PROBER_MEMORY_COLUMN_DIRTY_BYTES] =
		page_bytes(global_node_page_state(NR_FILE_DIRTY));
	cells[SPEK_PROBER_MEMORY_COLUMN_WRITEBACK_BYTES] =
		page_bytes(global_node_page_state(NR_WRITEBACK));
	cells[SPEK_PROBER_MEMORY_COLUMN_SLAB_BYTES] =
		page_bytes(global_node_page_state_pages(NR_SLAB_RECLAIMABLE_B) +
			   global_node_page_state_pages(NR_SLAB_UNRECLAIMABLE_B));
	cells[SPEK_PROBER_MEMORY_COLUMN_SWAP_FREE_BYTES] = page_bytes(get_nr_swap_pages());
}

#ifdef CONFIG_VM_EVENT_COUNTERS
/* The counts of offline CPUs are in those of others. Needs the CPU hotplug lock. */
static u64 sum_events(enum vm_event_item item)
{
	unsigned int cpu;
	u64 sum = 0;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(vm_event_states, cpu).event[item]);
	return sum;
}

static u64 swap_events(bool out)
{
#ifdef CONFIG_SWAP
	return sum_events(out ? PSWPOUT : PSWPIN) << PAGE_SHIFT;
#else
	return 0;
#endif
}

static void read_events(u64 events[NR_EVENTS])
{
	events[PAGED_IN] = sum_events(PGPGIN) * SECTOR_BYTES;
	events[PAGED_OUT] = sum_events(PGPGOUT) * SECTOR_BYTES;
	events[SWAPPED_IN] = swap_events(false);
	events[SWAPPED_OUT] = swap_events(true);
}
#else
static void read_events(u64 events[NR_EVENTS])
{
	memset64(events, SPEK_ABSENT, NR_EVENTS);
}
#endif

/* The kernel calls this first for the CPUs that are online, while none of them can go. */
static void memory_cpu_up(struct spek_probe_source *source, unsigned int cpu)
{
	struct memory *memory = source->private;

	if (memory->has_events)
		return;
	read_events(memory->events);
	memory->has_events = true;
}

static void memory_sample(struct spek_probe_source *source, u64 *cells)
{
	struct memory *memory = source->private;

	sample_levels(cells);
	/* Waiting for the lock would make the row late. */
	if (cpus_read_trylock()) {
		read_events(memory->events);
		cpus_read_unlock();
	}
	memcpy(cells + FIRST_EVENT, memory->events, sizeof(memory->events));
}

const struct spek_probe_source_ops spek_probe_source_memory = {
	.name		= "memory",
	.table		= SPEK_PROBER_TABLE_MEMORY,
	.nr_columns	= NR_COLUMNS,
	.columns	= columns,
	.start		= memory_start,
	.stop		= memory_stop,
	.sample		= memory_sample,
	.cpu_up		= memory_cpu_up,
};
