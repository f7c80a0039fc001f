/* SPDX-License-Identifier: GPL-2.0 */
/* The map of verified data: what was written where. See verify_map.c. */
#ifndef SPEK_VERIFY_MAP_H
#define SPEK_VERIFY_MAP_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/types.h>
#include "core/workload.h"

struct spek_refusal;
struct spek_run_config;
struct spek_target;

/**
 * struct spek_map_target - what is known of a target
 * @dev: device number
 * @diskseq: sequence number of the disk
 * @start: first byte, a multiple of the grain
 * @nr: grains from there; 0 if the run leaves the target alone
 * @grain: state of each, core/grain.h
 */
struct spek_map_target {
	dev_t dev;
	u64 diskseq;
	u64 start;
	u64 nr;
	atomic64_t *grain;
};

/**
 * struct spek_map - what was written to the targets of one run and of those that continue it
 * @ref: one for each run
 * @writers: runs that have started and are not DONE
 * @starts: runs that have started
 * @seed: in the stamps
 * @id: in the stamps
 * @shift: log2 of the grain size
 * @nr_targets: entries of @target
 * @target: in the order of the run's
 */
struct spek_map {
	struct kref ref;
	atomic_t writers;
	atomic64_t starts;
	u64 seed;
	u64 id;
	u32 shift;
	u32 nr_targets;
	struct spek_map_target target[SPEK_MAX_TARGETS];
};

int spek_map_create(struct spek_map **made, const struct spek_run_config *config,
		    const struct spek_target *targets, u32 grain, struct spek_refusal *refusal);
int spek_map_take_over(struct spek_map *map, const struct spek_run_config *config,
		       const struct spek_target *targets, u32 grain, struct spek_refusal *refusal);
void spek_map_put(struct spek_map *map);

void spek_map_started(struct spek_map *map);
void spek_map_finished(struct spek_map *map);
bool spek_map_is_idle(const struct spek_map *map, u64 *starts);

u32 spek_map_save(const struct spek_map *map, u32 target, u64 *first, u64 *states, u32 max);
int spek_map_restore(struct spek_map *map, u32 target, u64 first, const u64 *states, u32 nr,
		     struct spek_refusal *refusal);

#endif
