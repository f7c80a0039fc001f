/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Distribution of zones over workers, for set-up only: contiguous parts, as even as possible, and
 * the zones that are written in turn likewise.
 */
#ifndef SPEK_CORE_ZONE_SHARE_H
#define SPEK_CORE_ZONE_SHARE_H

#include "../../core/refusal.h"
#include "workload.h"
#include "zones.h"

struct spek_zone_part spek_zone_share(const struct spek_workload *wl, u32 asu, u32 worker,
				      u32 nr_workers);
int spek_zone_share_check(const struct spek_workload *wl, u32 asu, u32 nr_workers,
			  struct spek_refusal *refusal);
bool spek_zone_share_fits(const struct spek_workload *wl, u32 asu, u32 nr_workers,
			  const struct spek_zone_report *report);
u32 spek_zone_share_continued(const struct spek_workload *wl, u32 asu, u32 nr_workers,
			      const struct spek_zone_report *report);

#endif
