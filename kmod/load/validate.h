/* SPDX-License-Identifier: GPL-2.0 */
/* Validate a configuration against itself, the machine and its devices. */
#ifndef SPEK_VALIDATE_H
#define SPEK_VALIDATE_H

#include <linux/types.h>

struct spek_asu;
struct spek_refusal;
struct spek_run_config;
struct spek_slot_shape;
struct spek_target;
struct spek_workload;

int spek_validate_cpus(const struct spek_run_config *config, struct spek_refusal *refusal);
int spek_validate_config(const struct spek_run_config *config, struct spek_refusal *refusal);
int spek_validate_devices(const struct spek_workload *wl, const struct spek_target *targets,
			  struct spek_refusal *refusal);
u32 spek_validate_max_parts(const struct spek_workload *wl, const struct spek_target *targets,
			    u32 bytes);
bool spek_validate_memory(const struct spek_run_config *config,
			  const struct spek_slot_shape *shape);

u64 spek_asu_extent_bytes(const struct spek_asu *asu);

#endif
