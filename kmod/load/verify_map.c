// SPDX-License-Identifier: GPL-2.0
/*
 * The map of verified data: what was written where.
 *
 * It has a 64-bit state (core/grain.h) for each grain of the range that a run addresses on each
 * target. Workers change the states (verify.c), netlink saves and restores them.
 *
 * The first run creates the map, and a run that continues it takes the map over without a copy.
 * That requires the earlier run to be DONE, when no grain is held.
 *
 * Lifetime: the map is freed with the last run that refers to it.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "core/grain.h"
#include "config.h"
#include "target.h"
#include "validate.h"
#include "verify_map.h"

#define MAP_GFP	(GFP_KERNEL | __GFP_ZERO | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

static void free_map(struct kref *ref)
{
	struct spek_map *map = container_of(ref, struct spek_map, ref);
	u32 i;

	for (i = 0; i < map->nr_targets; i++)
		vfree(map->target[i].grain);
	kfree(map);
}

/**
 * spek_map_put() - drop a reference to a map
 * @map: map, or NULL
 *
 * Context: process.
 */
void spek_map_put(struct spek_map *map)
{
	if (map)
		kref_put(&map->ref, free_map);
}

/* Range of a target that the asus cover. Return: false if they don't use the target. */
static bool span_of(const struct spek_workload *wl, u32 target, u64 *start, u64 *end)
{
	u32 i, k;

	*start = U64_MAX;
	*end = 0;
	for (i = 0; i < wl->nr_asus; i++) {
		for (k = 0; k < wl->asu[i].nr_extents; k++) {
			const struct spek_extent *extent = &wl->asu[i].extent[k];

			if (extent->target != target)
				continue;
			*start = min(*start, extent->start);
			*end = max(*end, extent->start + spek_asu_extent_bytes(&wl->asu[i]));
		}
	}
	return *end > 0;
}

static int lay_out_map(struct spek_map *map, const struct spek_workload *wl,
		       struct spek_refusal *refusal)
{
	u64 bytes = 0;
	u32 i;

	for (i = 0; i < map->nr_targets; i++) {
		struct spek_map_target *target = &map->target[i];
		u64 end;

		if (!span_of(wl, i, &target->start, &end))
			continue;
		target->nr = (end - target->start + (1ull << map->shift) - 1) >> map->shift;
		bytes += target->nr * sizeof(*target->grain);
	}
	/* Leave half of the free memory to others. */
	if (bytes > SIZE_MAX || bytes >> PAGE_SHIFT > si_mem_available() / 2)
		goto err_no_memory;
	for (i = 0; i < map->nr_targets; i++) {
		struct spek_map_target *target = &map->target[i];

		if (!target->nr)
			continue;
		target->grain = __vmalloc(target->nr * sizeof(*target->grain), MAP_GFP);
		if (!target->grain)
			goto err_no_memory;
	}
	return 0;

err_no_memory:
	return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -ENOMEM,
			   "There is not enough memory to record what was written: use a smaller range or larger blocks.");
}

/**
 * spek_map_create() - make an empty map for a run
 * @made: set, also on failure: spek_map_put() it
 * @config: of the run
 * @targets: of the run, open
 * @grain: bytes of a grain, a power of two
 * @refusal: filled in on failure
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno.
 */
int spek_map_create(struct spek_map **made, const struct spek_run_config *config,
		    const struct spek_target *targets, u32 grain, struct spek_refusal *refusal)
{
	struct spek_map *map;
	u32 i;

	if (!config->stamp_id && !spek_workload_writes(&config->workload))
		return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -EINVAL,
				   "The workload only reads: stamped data must have been written before.");
	map = kzalloc(sizeof(*map), GFP_KERNEL);
	if (!map)
		return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -ENOMEM,
				   "There is not enough memory.");
	kref_init(&map->ref);
	*made = map;
	map->seed = config->seed;
	map->id = config->stamp_id ?: get_random_u64() | 1;
	map->shift = ilog2(grain);
	map->nr_targets = config->nr_targets;
	for (i = 0; i < map->nr_targets; i++) {
		map->target[i].dev = targets[i].dev;
		map->target[i].diskseq = targets[i].diskseq;
	}
	return lay_out_map(map, &config->workload, refusal);
}

/**
 * spek_map_take_over() - share the map of an earlier run: same disks, and a range that it covers
 * @map: map; gets a reference on success
 * @config: of the run that continues it
 * @targets: of that run, open
 * @grain: bytes of a grain that the workload allows, a power of two
 * @refusal: filled in on failure
 *
 * Context: process; the caller holds the lock of the run whose map it is.
 * Return: 0 or a negative errno.
 */
int spek_map_take_over(struct spek_map *map, const struct spek_run_config *config,
		       const struct spek_target *targets, u32 grain, struct spek_refusal *refusal)
{
	u64 start, end;
	u32 i;

	if (config->nr_targets != map->nr_targets || config->seed != map->seed)
		return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -EINVAL,
				   "The run to continue has other targets or another seed.");
	if (grain < 1u << map->shift)
		return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -EINVAL,
				   "The run to continue records larger blocks than this workload has.");
	for (i = 0; i < map->nr_targets; i++) {
		const struct spek_map_target *target = &map->target[i];

		if (targets[i].dev != target->dev)
			return spek_refuse(refusal, SPEK_REFUSAL_TARGET, i, -EINVAL,
					   "The run to continue has another device here.");
		if (targets[i].diskseq != target->diskseq)
			return spek_refuse(refusal, SPEK_REFUSAL_TARGET, i, -ENODEV,
					   "The disk was replaced since the run to continue used it: that run's record is of another disk.");
		if (!span_of(&config->workload, i, &start, &end))
			continue;
		if (start < target->start || (start - target->start) & ((1u << map->shift) - 1) ||
		    end > target->start + (target->nr << map->shift))
			return spek_refuse(refusal, SPEK_REFUSAL_TARGET, i, -ERANGE,
					   "The run to continue has no record of a part of this range.");
	}
	kref_get(&map->ref);
	return 0;
}

/**
 * spek_map_started() - mark the map as used by a run that starts
 * @map: of the run
 *
 * Context: the caller holds the run's lock.
 */
void spek_map_started(struct spek_map *map)
{
	atomic_inc(&map->writers);
	/* The writer is visible before the new count of starts: pairs with spek_map_is_idle(). */
	smp_mb__after_atomic();
	atomic64_inc(&map->starts);
	/* The new count is visible before any change of a grain: pairs with spek_map_is_idle(). */
	smp_mb__after_atomic();
}

/**
 * spek_map_finished() - mark the map as no longer used by a run
 * @map: of the run, which has started and has no I/O in flight
 *
 * Context: the caller holds the run's lock.
 */
void spek_map_finished(struct spek_map *map)
{
	atomic_dec(&map->writers);
}

/**
 * spek_map_is_idle() - check that no run uses a map
 * @map: map
 * @starts: filled with the number of runs that have started to use it. If the number is still
 *	the same after the idle map was read, no run has used it meanwhile.
 *
 * Context: any.
 * Return: true if it is idle.
 */
bool spek_map_is_idle(const struct spek_map *map, u64 *starts)
{
	bool idle;

	/* Earlier reads of the map come first: pairs with spek_map_started(). */
	smp_rmb();
	*starts = atomic64_read(&map->starts);
	/* Read the starts before the writers: pairs with spek_map_started(). */
	smp_rmb();
	idle = !atomic_read(&map->writers);
	/* Later reads of the map come after this. */
	smp_rmb();
	return idle;
}

/**
 * spek_map_save() - read the states of grains of an idle map
 * @map: map
 * @target: number of the target
 * @first: first grain wanted; advanced to the first grain returned
 * @states: filled as by spek_grain_save()
 * @max: entries of @states
 *
 * Grains that were never written are skipped, except within @states.
 *
 * Context: process, may sleep.
 * Return: entries filled in; 0 if no more grains were written.
 */
u32 spek_map_save(const struct spek_map *map, u32 target, u64 *first, u64 *states, u32 max)
{
	const struct spek_map_target *t = &map->target[target];
	u32 n = 0;

	/* The loop may pass over all grains of a large device. */
	while (*first < t->nr && !spek_grain_save(atomic64_read(&t->grain[*first])))
		if (!(++*first & 0xffff))
			cond_resched();
	while (n < max && *first + n < t->nr) {
		states[n] = spek_grain_save(atomic64_read(&t->grain[*first + n]));
		n++;
	}
	while (n && !states[n - 1])
		n--;
	return n;
}

/**
 * spek_map_restore() - set the states of grains
 * @map: map that no run has used
 * @target: number of the target
 * @first: first grain
 * @states: as spek_map_save() filled them in
 * @nr: entries of @states
 * @refusal: filled in on failure; its kind is a target if the grains don't exist
 *
 * Context: process, may sleep.
 * Return: 0, or -ERANGE or -EINVAL with nothing changed.
 */
int spek_map_restore(struct spek_map *map, u32 target, u64 first, const u64 *states, u32 nr,
		     struct spek_refusal *refusal)
{
	u64 known = target < map->nr_targets ? map->target[target].nr : 0;
	struct spek_map_target *t;
	u64 state;
	u32 i;

	if (first > known || nr > known - first)
		return spek_refuse(refusal, SPEK_REFUSAL_TARGET, target, -ERANGE,
				   "The states belong to blocks that the run does not address.");
	for (i = 0; i < nr; i++) {
		switch (spek_grain_restore(states[i], &state)) {
		case -EINVAL:
			return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -EINVAL,
					   "A state is invalid: pass on what map-get returned.");
		case -ERANGE:
			return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -ERANGE,
					   "A block was written too often to count on: at most 2^41 times; start with an empty record.");
		}
	}
	t = &map->target[target];
	for (i = 0; i < nr; i++) {
		spek_grain_restore(states[i], &state);
		atomic64_set(&t->grain[first + i], state);
	}
	return 0;
}
