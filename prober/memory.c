// SPDX-License-Identifier: GPL-2.0
/*
 * memory.c - memory usage and paging
 *
 * Levels are those of /proc/meminfo, from the same counters. The kernel keeps these with an
 * error of some pages per CPU, so a level near 0 may read as 0.
 */
#include <linux/mm.h>
#include <linux/swap.h>
#include <linux/vmstat.h>

#include "source.h"
#include "uapi/spek_prober.h"

enum { NR_COLUMNS = SPEK_PROBER_MEMORY_COLUMN_SWAPPED_OUT_BYTES + 1 };

/* unit in which the kernel counts paging by bios */
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

static int memory_start(struct spek_probe_source *source, const struct spek_probe_config *config)
{
	int err = spek_probe_source_set_entities(source, 1);

	if (!err)
		source->entities[0] = SPEK_PROBER_TOTAL;

	return err;
}

static void memory_stop(struct spek_probe_source *source)
{
}

static u64 pages(long count)
{
	return count > 0 ? (u64)count << PAGE_SHIFT : 0;
}

static void sample_levels(u64 *cells)
{
	struct sysinfo info;
	long cached;

	si_meminfo(&info);
	/* includes the swap cache, which is small while nothing is swapped */
	cached = global_node_page_state(NR_FILE_PAGES) - info.bufferram;

	cells[SPEK_PROBER_MEMORY_COLUMN_TOTAL_BYTES] = pages(info.totalram);
	cells[SPEK_PROBER_MEMORY_COLUMN_FREE_BYTES] = pages(info.freeram);
	cells[SPEK_PROBER_MEMORY_COLUMN_AVAILABLE_BYTES] = pages(si_mem_available());
	cells[SPEK_PROBER_MEMORY_COLUMN_SHARED_BYTES] = pages(info.sharedram);
	cells[SPEK_PROBER_MEMORY_COLUMN_BUFFERS_BYTES] = pages(info.bufferram);
	cells[SPEK_PROBER_MEMORY_COLUMN_CACHED_BYTES] = pages(cached);
	cells[SPEK_PROBER_MEMORY_COLUMN_DIRTY_BYTES] = pages(global_node_page_state(NR_FILE_DIRTY));
	cells[SPEK_PROBER_MEMORY_COLUMN_WRITEBACK_BYTES] =
		pages(global_node_page_state(NR_WRITEBACK));
	cells[SPEK_PROBER_MEMORY_COLUMN_SLAB_BYTES] =
		pages(global_node_page_state_pages(NR_SLAB_RECLAIMABLE_B) +
		      global_node_page_state_pages(NR_SLAB_UNRECLAIMABLE_B));
	cells[SPEK_PROBER_MEMORY_COLUMN_SWAP_FREE_BYTES] = pages(get_nr_swap_pages());
}

#ifdef CONFIG_VM_EVENT_COUNTERS
/* all_vm_events() takes the CPU hotplug lock; the counts of offline CPUs were folded into others */
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

static void sample_events(u64 *cells)
{
	cells[SPEK_PROBER_MEMORY_COLUMN_PAGED_IN_BYTES] = sum_events(PGPGIN) * SECTOR_BYTES;
	cells[SPEK_PROBER_MEMORY_COLUMN_PAGED_OUT_BYTES] = sum_events(PGPGOUT) * SECTOR_BYTES;
	cells[SPEK_PROBER_MEMORY_COLUMN_SWAPPED_IN_BYTES] = swap_events(false);
	cells[SPEK_PROBER_MEMORY_COLUMN_SWAPPED_OUT_BYTES] = swap_events(true);
}
#else
static void sample_events(u64 *cells)
{
	cells[SPEK_PROBER_MEMORY_COLUMN_PAGED_IN_BYTES] = SPEK_ABSENT;
	cells[SPEK_PROBER_MEMORY_COLUMN_PAGED_OUT_BYTES] = SPEK_ABSENT;
	cells[SPEK_PROBER_MEMORY_COLUMN_SWAPPED_IN_BYTES] = SPEK_ABSENT;
	cells[SPEK_PROBER_MEMORY_COLUMN_SWAPPED_OUT_BYTES] = SPEK_ABSENT;
}
#endif

static void memory_sample(struct spek_probe_source *source, u64 *cells)
{
	sample_levels(cells);
	sample_events(cells);
}

const struct spek_probe_source_ops spek_probe_source_memory = {
	.name		= "memory",
	.table		= SPEK_PROBER_TABLE_MEMORY,
	.nr_columns	= NR_COLUMNS,
	.columns	= columns,
	.start		= memory_start,
	.stop		= memory_stop,
	.sample		= memory_sample,
};
