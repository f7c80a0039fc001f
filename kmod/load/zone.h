/* SPDX-License-Identifier: GPL-2.0 */
/* Zoned devices: what they report, and what an operation on a zone waits for. See zone.c. */
#ifndef SPEK_ZONE_H
#define SPEK_ZONE_H

#include <linux/types.h>
#include "core/workload.h"

struct spek_asu_map;
struct spek_gen;
struct spek_inflight;
struct spek_part;
struct spek_refusal;
struct spek_run_config;
struct spek_slot;
struct spek_target;
struct spek_target_count;
struct spek_verify;
struct spek_zone_gate;
struct spek_zone_report;

/**
 * struct spek_zone_map - zones that a run writes at their pointers, as they were before its start
 * @zone: of each asu, in order; NULL for an asu without streams at write pointers
 * @is_at_pointers: by stream; others of the same asu may write conventional zones, and flush
 */
struct spek_zone_map {
	struct spek_zone_report *zone[SPEK_MAX_ASUS];
	bool is_at_pointers[SPEK_MAX_STREAMS];
};

int spek_zone_map_create(struct spek_zone_map **map, const struct spek_run_config *config,
			 const struct spek_target *targets, struct spek_refusal *refusal);
void spek_zone_map_destroy(struct spek_zone_map *map);

struct spek_zone_gate *spek_zone_gate_create(const struct spek_zone_map *map,
					     struct spek_target_count *count,
					     struct spek_verify *verify,
					     const struct spek_inflight *inflight, int node);
void spek_zone_gate_destroy(struct spek_zone_gate *gate);
void spek_zone_gate_load(struct spek_zone_gate *gate, struct spek_gen *gen);

bool spek_zone_is_woken(const struct spek_zone_gate *gate);
bool spek_zone_has_news(struct spek_zone_gate *gate);
bool spek_zone_prepare(struct spek_zone_gate *gate, const struct spek_slot *slot,
		       const struct spek_asu_map *asu);
void spek_zone_begin(struct spek_zone_gate *gate, const struct spek_slot *slot);
bool spek_zone_end(struct spek_zone_gate *gate, const struct spek_slot *slot);
bool spek_zone_is_waited_for(const struct spek_zone_gate *gate, const struct spek_slot *slot,
			     const struct spek_slot *failed);
void spek_zone_drop(struct spek_zone_gate *gate, const struct spek_slot *slot,
		    const struct spek_asu_map *asu);

void spek_zone_arm_append(struct spek_part *part);

#endif
