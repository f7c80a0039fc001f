// SPDX-License-Identifier: GPL-2.0
/* generated from prober/uapi/spek_prober.yaml, run `make gen` */

#include <linux/build_bug.h>
#include <linux/kernel.h>

#include "../feed.h"
#include "../uapi/spek_prober.h"
#include "request_gen.h"

static const struct spek_genl_field task_fields[] = {
	{
		SPEK_GENL_MEMBER(U32, SPEK_PROBER_A_TASK_PID, struct spek_prober_task, pid),
		.missing = "A task to watch needs its thread id.",
	},
};

static const struct spek_genl_record spek_prober_task_request = {
	.field = task_fields,
	.nr = ARRAY_SIZE(task_fields),
};

static const struct spek_genl_field probe_start_fields[] = {
	{
		SPEK_GENL_MEMBER(U64, SPEK_PROBER_A_PROBE_INTERVAL_NS,
				 struct spek_prober_probe_start, interval_ns),
		.missing = "The request needs an interval.",
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_PROBER_A_PROBE_RING_ROWS,
				 struct spek_prober_probe_start, ring_rows),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_PROBER_A_PROBE_DETACHED,
				 struct spek_prober_probe_start, detached),
	},
	{
		SPEK_GENL_ARRAY(RECORD, SPEK_PROBER_A_PROBE_TASK,
				struct spek_prober_probe_start, task, nr_tasks),
		.record = &spek_prober_task_request,
		.at_most = SPEK_PROBER_MAX_TASKS,
		.too_many = "At most 1024 tasks can be watched.",
	},
};

const struct spek_genl_record spek_prober_probe_start_request = {
	.field = probe_start_fields,
	.nr = ARRAY_SIZE(probe_start_fields),
	.pad = SPEK_PROBER_A_PROBE_PAD,
};

static const struct spek_genl_field sample_get_fields[] = {
	{
		SPEK_GENL_MEMBER(U32, SPEK_PROBER_A_SAMPLE_PROBE,
				 struct spek_prober_sample_get, probe),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_PROBER_A_SAMPLE_SINCE,
				 struct spek_prober_sample_get, since),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_PROBER_A_SAMPLE_HOLD,
				 struct spek_prober_sample_get, hold),
	},
};

const struct spek_genl_record spek_prober_sample_get_request = {
	.field = sample_get_fields,
	.nr = ARRAY_SIZE(sample_get_fields),
	.pad = SPEK_PROBER_A_SAMPLE_PAD,
};

static const struct spek_genl_field rail_fields[] = {
	{
		SPEK_GENL_MEMBER(TEXT, SPEK_PROBER_A_RAIL_NAME,
				 struct spek_prober_rail_config, name),
		.missing = "A rail needs a name.",
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_PROBER_A_RAIL_LSB_NW,
				 struct spek_prober_rail_config, lsb_nw),
	},
	{
		.attr = SPEK_PROBER_A_RAIL_NUMBER,
	},
	{
		.attr = SPEK_PROBER_A_RAIL_SAMPLES,
	},
	{
		.attr = SPEK_PROBER_A_RAIL_LATE,
	},
	{
		.attr = SPEK_PROBER_A_RAIL_OVERWRITTEN,
	},
	{
		.attr = SPEK_PROBER_A_RAIL_GAPS,
	},
	{
		.attr = SPEK_PROBER_A_RAIL_GAP_NS,
	},
	{
		.attr = SPEK_PROBER_A_RAIL_KNOWN_NS,
	},
	{
		.attr = SPEK_PROBER_A_RAIL_ENERGY_UJ,
	},
	{
		.attr = SPEK_PROBER_A_RAIL_FIRST_NS,
	},
	{
		.attr = SPEK_PROBER_A_RAIL_OLDEST_NS,
	},
	{
		.attr = SPEK_PROBER_A_RAIL_LAST_NS,
	},
	{
		.attr = SPEK_PROBER_A_RAIL_POWER_UW,
	},
};

static const struct spek_genl_record spek_prober_rail_request = {
	.field = rail_fields,
	.nr = ARRAY_SIZE(rail_fields),
	.pad = SPEK_PROBER_A_RAIL_PAD,
};

static const struct spek_genl_field feed_open_fields[] = {
	{
		SPEK_GENL_MEMBER(TEXT, SPEK_PROBER_A_FEED_NAME, struct spek_prober_feed_open, name),
		.missing = "A feed needs a name and a source.",
	},
	{
		SPEK_GENL_MEMBER(TEXT, SPEK_PROBER_A_FEED_SOURCE,
				 struct spek_prober_feed_open, source),
		.missing = "A feed needs a name and a source.",
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_PROBER_A_FEED_HISTORY,
				 struct spek_prober_feed_open, history),
		.usual = SPEK_PROBER_DEFAULT_HISTORY,
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_PROBER_A_FEED_MAX_STEP_NS,
				 struct spek_prober_feed_open, max_step_ns),
		.usual = SPEK_PROBER_DEFAULT_STEP_NS,
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_PROBER_A_FEED_UNCERTAINTY_NS,
				 struct spek_prober_feed_open, uncertainty_ns),
	},
	{
		SPEK_GENL_ARRAY(RECORD, SPEK_PROBER_A_FEED_RAIL,
				struct spek_prober_feed_open, rail, nr_rails),
		.record = &spek_prober_rail_request,
		.at_most = SPEK_PROBER_MAX_RAILS,
		.too_many = "A feed has at most 64 rails.",
		.missing = "A feed needs at least one rail.",
	},
};

const struct spek_genl_record spek_prober_feed_open_request = {
	.field = feed_open_fields,
	.nr = ARRAY_SIZE(feed_open_fields),
	.pad = SPEK_PROBER_A_FEED_PAD,
};

static const struct spek_genl_field feed_mark_fields[] = {
	{
		SPEK_GENL_MEMBER(U32, SPEK_PROBER_A_FEED_ID, struct spek_prober_feed_mark, id),
		.missing = "The request needs the number of a feed.",
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_PROBER_A_FEED_UNCERTAINTY_NS,
				 struct spek_prober_feed_mark, uncertainty_ns),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_PROBER_A_FEED_DRIFT_PPB,
				 struct spek_prober_feed_mark, drift_ppb),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_PROBER_A_FEED_RESIDUAL_NS,
				 struct spek_prober_feed_mark, residual_ns),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_PROBER_A_FEED_OVERFLOWS,
				 struct spek_prober_feed_mark, overflows),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_PROBER_A_FEED_LOST, struct spek_prober_feed_mark, lost),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_PROBER_A_FEED_UNTIL_NS,
				 struct spek_prober_feed_mark, until_ns),
	},
};

const struct spek_genl_record spek_prober_feed_mark_request = {
	.field = feed_mark_fields,
	.nr = ARRAY_SIZE(feed_mark_fields),
	.pad = SPEK_PROBER_A_FEED_PAD,
};
