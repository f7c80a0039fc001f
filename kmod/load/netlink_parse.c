// SPDX-License-Identifier: GPL-2.0
/*
 * Parse the attributes of run-new into struct spek_run_config.
 *
 * The tables in gen/request_gen.c, generated from the spec, map attributes to members. This file
 * checks combinations. Values are checked against each other and the devices later, in
 * core/workload.c and validate.c.
 */
#include <linux/log2.h>
#include "gen/request_gen.h"
#include "iolog.h"
#include "netlink.h"
#include "replay.h"

#define MIN_INTERVAL_NS		NSEC_PER_MSEC
#define MAX_SPIN_NS		(10 * NSEC_PER_MSEC)
#define MAX_TIME_NS		(366ull * 24 * 3600 * NSEC_PER_SEC)

/**
 * spek_nl_check_targets() - check that device numbers are possible, and each is there once
 * @info: request
 * @type: attribute that a target is
 * @targets: the targets
 * @nr: their number
 *
 * Return: 0, or a negative errno with the extack filled in.
 */
int spek_nl_check_targets(const struct genl_info *info, int type,
			  const struct spek_run_target *targets, u32 nr)
{
	u32 i, j;

	for (i = 0; i < nr; i++) {
		dev_t dev = MKDEV(targets[i].major, targets[i].minor);

		if (MAJOR(dev) != targets[i].major || MINOR(dev) != targets[i].minor)
			return spek_genl_refuse(info->extack, spek_genl_nth(info, type, i), -ERANGE,
						"Device numbers have 12 bits of major and 20 of minor.");
		for (j = 0; j < i; j++)
			if (MKDEV(targets[j].major, targets[j].minor) == dev)
				return spek_genl_refuse(info->extack, spek_genl_nth(info, type, i),
							-EINVAL,
							"The same device is a target twice.");
	}
	return 0;
}

static int check_times(struct genl_info *info, const struct spek_run_config *config)
{
	static const u16 times[] = {
		SPEK_A_RUN_INTERVAL_NS, SPEK_A_RUN_RAMP_NS, SPEK_A_RUN_TIME_NS,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		const struct nlattr *attr = info->attrs[times[i]];

		if (attr && nla_get_u64(attr) > MAX_TIME_NS)
			return spek_genl_refuse(info->extack, attr, -ERANGE,
						"The longest time is 366 days.");
	}
	if (config->interval_ns && config->interval_ns < MIN_INTERVAL_NS)
		return spek_genl_refuse(info->extack, info->attrs[SPEK_A_RUN_INTERVAL_NS], -ERANGE,
					"The report interval must be 0 (none) or at least 1 ms.");
	if (config->spin_ns > MAX_SPIN_NS)
		return spek_genl_refuse(info->extack, info->attrs[SPEK_A_RUN_SPIN_NS], -ERANGE,
					"A worker spins for at most 10 ms.");
	return 0;
}

static int check_stamped(struct genl_info *info, const struct spek_run_config *config)
{
	static const u16 only_stamped[] = {
		SPEK_A_RUN_STAMP_ID, SPEK_A_RUN_VERIFY_FROM, SPEK_A_RUN_GRAIN_BYTES,
		SPEK_A_RUN_VERIFY_NEWER, SPEK_A_RUN_VERIFY_ATOMIC,
	};
	struct nlattr **attrs = info->attrs;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(only_stamped); i++)
		if (attrs[only_stamped[i]] && config->data != SPEK_DATA_STAMPED)
			return spek_genl_refuse(info->extack, attrs[only_stamped[i]], -EINVAL,
						"This attribute needs stamped data.");
	if (config->data == SPEK_DATA_STAMPED && spek_workload_has_own_data(&config->workload))
		return spek_genl_refuse(info->extack, attrs[SPEK_A_RUN_DATA], -EINVAL,
					"A run with stamped data has no streams with own data: a stamp fills its block.");
	if (config->stamp_id && config->verify_from)
		return spek_genl_refuse(info->extack, attrs[SPEK_A_RUN_STAMP_ID], -EINVAL,
					"A run that continues another one takes over its stamp-id: leave it out.");
	if (config->verify_newer && spek_workload_writes(&config->workload))
		return spek_genl_refuse(info->extack, attrs[SPEK_A_RUN_VERIFY_NEWER], -EINVAL,
					"This attribute needs a workload that only reads: a run knows its own writes.");
	if (config->verify_atomic && !spek_workload_is_atomic(&config->workload))
		return spek_genl_refuse(info->extack, attrs[SPEK_A_RUN_VERIFY_ATOMIC], -EINVAL,
					"This attribute needs a workload whose writes are all atomic.");
	if (config->grain_bytes &&
	    (!is_power_of_2(config->grain_bytes) || config->grain_bytes < SPEK_SECTOR))
		return spek_genl_refuse(info->extack, attrs[SPEK_A_RUN_GRAIN_BYTES], -EINVAL,
					"A grain must be a power of two of at least 512 bytes.");
	return 0;
}

static int check_trace(struct genl_info *info, const struct spek_run_config *config)
{
	struct nlattr **attrs = info->attrs;

	if (!spek_workload_replays(&config->workload)) {
		if (config->trace_records)
			return spek_genl_refuse(info->extack, attrs[SPEK_A_RUN_TRACE_RECORDS],
						-EINVAL, "This attribute needs streams of a trace.");
		return 0;
	}
	if (!config->trace_records)
		return spek_genl_refuse(info->extack, NULL, -EINVAL,
					"A run that replays a trace needs trace-records.");
	if (config->count || config->ramp_count)
		return spek_genl_refuse(info->extack,
					attrs[config->count ? SPEK_A_RUN_COUNT :
							      SPEK_A_RUN_RAMP_COUNT],
					-EINVAL,
					"A run that replays a trace ends with its last record or by time, not by count.");
	if (config->polled)
		return spek_genl_refuse(info->extack, attrs[SPEK_A_RUN_POLLED], -EOPNOTSUPP,
					"A trace is replayed without polling.");
	if (config->data == SPEK_DATA_STAMPED)
		return spek_genl_refuse(info->extack, attrs[SPEK_A_RUN_DATA], -EOPNOTSUPP,
					"A trace is replayed without stamped data.");
	return 0;
}

/* What is not a plain read or write. */
static int check_operations(struct genl_info *info, const struct spek_run_config *config)
{
	const struct spek_workload *wl = &config->workload;
	u32 i;

	for (i = 0; i < wl->nr_streams; i++) {
		if (config->polled && !spek_stream_is_plain(&wl->stream[i]))
			return spek_genl_refuse(info->extack, info->attrs[SPEK_A_RUN_POLLED],
						-EOPNOTSUPP,
						"Flushes, discards, write-zeroes, writes with FUA and write pointers of zones can't be polled.");
	}
	return 0;
}

static int check_combinations(struct genl_info *info, const struct spek_run_config *config)
{
	const struct spek_workload *wl = &config->workload;
	struct nlattr **attrs = info->attrs;
	struct spek_refusal refusal;
	u32 i, j;

	if (config->claim && config->detached)
		return spek_genl_refuse(info->extack, attrs[SPEK_A_RUN_DETACHED], -EINVAL,
					"A claim ends with its socket, and a detached run doesn't: use only one of them.");
	if (!config->time_ns && !config->count && !spek_workload_replays(wl) &&
	    !spek_workload_ends(wl))
		return spek_genl_refuse(info->extack, attrs[SPEK_A_RUN_TIME_NS], -EINVAL,
					"A run needs an end: a time or a count above 0, or a count of every arrival process.");
	if (config->count && spek_workload_counts(wl))
		return spek_genl_refuse(info->extack, attrs[SPEK_A_RUN_COUNT], -EINVAL,
					"A run with a count has no arrival processes with counts of their own: use only one of the two.");
	if (config->ramp_ns && config->ramp_count)
		return spek_genl_refuse(info->extack, attrs[SPEK_A_RUN_RAMP_COUNT], -EINVAL,
					"The ramp-up ends by time or by count, not by both.");
	for (i = 0; i < wl->nr_asus; i++) {
		for (j = 0; j < wl->asu[i].nr_extents; j++) {
			if (wl->asu[i].extent[j].target < config->nr_targets)
				continue;
			refusal = (struct spek_refusal){ .kind = SPEK_REFUSAL_ASU, .index = i };
			return spek_genl_refuse(info->extack, spek_nl_blame(info, &refusal),
						-EINVAL,
						"An extent lies on a target that the run doesn't have.");
		}
	}
	return 0;
}

int spek_nl_parse_run(struct genl_info *info, struct spek_run_config *config)
{
	int err;

	config->owner_portid = info->snd_portid;
	err = spek_genl_parse(info, &spek_run_request, config);
	if (err)
		return err;
	if (config->log_records)
		config->log_records = spek_iolog_records(config->log_records);
	if (config->trace_records)
		config->trace_records = spek_replay_records(config->trace_records);
	err = spek_nl_check_targets(info, SPEK_A_RUN_TARGET, config->target, config->nr_targets);
	if (err)
		return err;
	err = check_times(info, config);
	if (err)
		return err;
	err = check_stamped(info, config);
	if (err)
		return err;
	err = check_trace(info, config);
	if (err)
		return err;
	err = check_operations(info, config);
	if (err)
		return err;
	return check_combinations(info, config);
}

const struct nlattr *spek_nl_blame(const struct genl_info *info,
				   const struct spek_refusal *refusal)
{
	int type;

	switch (refusal->kind) {
	case SPEK_REFUSAL_CLAIM:
		return info->attrs[SPEK_A_RUN_CLAIM];
	case SPEK_REFUSAL_TARGET:
		type = SPEK_A_RUN_TARGET;
		break;
	case SPEK_REFUSAL_WORKER:
		type = SPEK_A_RUN_WORKER;
		break;
	case SPEK_REFUSAL_STREAM:
		type = SPEK_A_RUN_STREAM;
		break;
	case SPEK_REFUSAL_ASU:
		type = SPEK_A_RUN_ASU;
		break;
	case SPEK_REFUSAL_ARRIVAL:
		type = SPEK_A_RUN_ARRIVAL;
		break;
	default:
		return NULL;
	}
	return spek_genl_nth(info, type, refusal->index);
}
