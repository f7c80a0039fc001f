// SPDX-License-Identifier: GPL-2.0
/*
 * run-new, run-start, run-stop, run-del, run-get and run-ntf: runs over netlink.
 *
 * A handler checks rights and attributes, makes one call down and answers. Handlers run
 * concurrently; what they share has locks of its own, see run.c.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include "../genl/put.h"
#include "netlink.h"
#include "replay.h"
#include "run_table.h"
#include "submit.h"
#include "verify.h"

/* ---- run-get ---- */

/* Return: upper bound of the bytes that put_whole_run() puts */
static size_t run_bytes(const void *object)
{
	const struct spek_run *run = object;
	const struct spek_run_config *config = run->config;

	return SPEK_NL_RUN_BYTES + nla_total_size(SPEK_NL_VERIFY_BYTES) +
	       nla_total_size(SPEK_NL_REPLAY_BYTES) +
	       (1 + SPEK_MAX_SENSES) * nla_total_size(SPEK_NL_SENSE_BYTES) +
	       config->workload.nr_arrivals * nla_total_size(SPEK_NL_ARRIVAL_END_BYTES) +
	       config->nr_workers * nla_total_size(SPEK_NL_WORKER_BYTES) +
	       config->nr_targets * nla_total_size(SPEK_NL_TARGET_BYTES);
}

static int put_worker(struct sk_buff *skb, struct spek_run *run, u32 index)
{
	struct spek_worker_info info = {};
	struct nlattr *nest;

	spek_run_view_worker(run, index, &info);
	nest = nla_nest_start(skb, SPEK_A_RUN_WORKER);
	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(skb, SPEK_A_WORKER_INDEX, index) ||
	    nla_put_u32(skb, SPEK_A_WORKER_CPU, info.cpu) ||
	    nla_put_u32(skb, SPEK_A_WORKER_PID, info.pid) ||
	    SPEK_PUT_U64(skb, SPEK_A_WORKER, CPU_NS, info.cpu_ns) ||
	    SPEK_PUT_U64(skb, SPEK_A_WORKER, VOLUNTARY, info.voluntary) ||
	    SPEK_PUT_U64(skb, SPEK_A_WORKER, INVOLUNTARY, info.involuntary) ||
	    nla_put_u32(skb, SPEK_A_WORKER_OUTSTANDING, info.outstanding))
		return -EMSGSIZE;
	if (run->log && (SPEK_PUT_U64(skb, SPEK_A_WORKER, LOG_WRITTEN, info.log_written) ||
			 SPEK_PUT_U64(skb, SPEK_A_WORKER, LOG_LOST, info.log_lost)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_target(struct sk_buff *skb, struct spek_run *run, u32 index)
{
	struct spek_target_view view = {};
	const struct spek_target *target;
	struct nlattr *nest;

	spek_run_view_target(run, index, &view);
	target = view.target;
	nest = nla_nest_start(skb, SPEK_A_RUN_TARGET);
	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(skb, SPEK_A_TARGET_MAJOR, MAJOR(target->dev)) ||
	    nla_put_u32(skb, SPEK_A_TARGET_MINOR, MINOR(target->dev)) ||
	    nla_put_u32(skb, SPEK_A_TARGET_READ_ONLY,
			run->config->may_write && !spek_config_may_write(run->config, index)) ||
	    nla_put_string(skb, SPEK_A_TARGET_NAME, target->name) ||
	    SPEK_PUT_U64(skb, SPEK_A_TARGET, DISKSEQ, target->diskseq) ||
	    SPEK_PUT_U64(skb, SPEK_A_TARGET, BYTES, target->bytes) ||
	    nla_put_u32(skb, SPEK_A_TARGET_LOGICAL_BLOCK, target->logical_block) ||
	    nla_put_u32(skb, SPEK_A_TARGET_MAX_IO, target->max_part_bytes) ||
	    nla_put_u32(skb, SPEK_A_TARGET_BACKEND, target->backend->id) ||
	    nla_put_string(skb, SPEK_A_TARGET_BACKEND_REASON, target->backend_reason) ||
	    nla_put_u32(skb, SPEK_A_TARGET_POLLED, target->polled) ||
	    SPEK_PUT_U64(skb, SPEK_A_TARGET, READS, view.count.ios[SPEK_COUNT_READ]) ||
	    SPEK_PUT_U64(skb, SPEK_A_TARGET, READ_BYTES, view.count.bytes[SPEK_COUNT_READ]) ||
	    SPEK_PUT_U64(skb, SPEK_A_TARGET, WRITES, view.count.ios[SPEK_COUNT_WRITE]) ||
	    SPEK_PUT_U64(skb, SPEK_A_TARGET, WRITE_BYTES, view.count.bytes[SPEK_COUNT_WRITE]) ||
	    SPEK_PUT_U64(skb, SPEK_A_TARGET, DISCARDS, view.count.ios[SPEK_COUNT_DISCARD]) ||
	    SPEK_PUT_U64(skb, SPEK_A_TARGET, DISCARD_BYTES, view.count.bytes[SPEK_COUNT_DISCARD]) ||
	    SPEK_PUT_U64(skb, SPEK_A_TARGET, FLUSHES, view.count.ios[SPEK_COUNT_FLUSH]) ||
	    SPEK_PUT_U64(skb, SPEK_A_TARGET, ZONE_APPENDS,
			 view.count.ios[SPEK_COUNT_ZONE_APPEND]) ||
	    SPEK_PUT_U64(skb, SPEK_A_TARGET, ZONE_RESETS,
			 view.count.ios[SPEK_COUNT_ZONE_RESET]) ||
	    SPEK_PUT_U64(skb, SPEK_A_TARGET, ZONE_FINISHES,
			 view.count.ios[SPEK_COUNT_ZONE_FINISH]) ||
	    SPEK_PUT_U64(skb, SPEK_A_TARGET, ZONE_OPENS,
			 view.count.ios[SPEK_COUNT_ZONE_OPEN]) ||
	    SPEK_PUT_U64(skb, SPEK_A_TARGET, ZONE_CLOSES,
			 view.count.ios[SPEK_COUNT_ZONE_CLOSE]) ||
	    SPEK_PUT_U64(skb, SPEK_A_TARGET, ZONE_MISPLACED,
			 view.count.ios[SPEK_COUNT_ZONE_MISPLACED]) ||
	    SPEK_PUT_U64(skb, SPEK_A_TARGET, REFUSED, view.count.refused) ||
	    SPEK_PUT_U64(skb, SPEK_A_TARGET, TAG_WAITS, view.count.tag_waits))
		return -EMSGSIZE;
	if (view.opens && nla_put_u32(skb, SPEK_A_TARGET_OPENS, view.opens))
		return -EMSGSIZE;
	if (run->verify && spek_nl_put_map_target(skb, run->verify, index))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_config(struct sk_buff *skb, const struct spek_run_config *config)
{
	if (nla_put_string(skb, SPEK_A_RUN_NAME, config->name) ||
	    SPEK_PUT_U64(skb, SPEK_A_RUN, SEED, config->seed) ||
	    nla_put_u32(skb, SPEK_A_RUN_DETACHED, config->detached) ||
	    nla_put_u32(skb, SPEK_A_RUN_WRITE, config->may_write) ||
	    nla_put_u32(skb, SPEK_A_RUN_BACKEND, config->backend) ||
	    nla_put_u32(skb, SPEK_A_RUN_POLLED, config->polled) ||
	    nla_put_u32(skb, SPEK_A_RUN_DATA, config->data) ||
	    nla_put_u32(skb, SPEK_A_RUN_MAX_OUTSTANDING, config->max_outstanding) ||
	    nla_put_u32(skb, SPEK_A_RUN_BATCH, config->batch) ||
	    SPEK_PUT_U64(skb, SPEK_A_RUN, SPIN_NS, config->spin_ns) ||
	    SPEK_PUT_U64(skb, SPEK_A_RUN, INTERVAL_NS, config->interval_ns) ||
	    SPEK_PUT_U64(skb, SPEK_A_RUN, RAMP_NS, config->ramp_ns) ||
	    SPEK_PUT_U64(skb, SPEK_A_RUN, RAMP_COUNT, config->ramp_count) ||
	    SPEK_PUT_U64(skb, SPEK_A_RUN, TIME_NS, config->time_ns) ||
	    SPEK_PUT_U64(skb, SPEK_A_RUN, COUNT, config->count) ||
	    SPEK_PUT_U64(skb, SPEK_A_RUN, MAX_ERRORS, config->max_errors))
		return -EMSGSIZE;
	if (config->claim && nla_put_u32(skb, SPEK_A_RUN_CLAIM, config->claim))
		return -EMSGSIZE;
	return 0;
}

static int put_arrival_ends(struct sk_buff *skb, const struct spek_run_config *config,
			    const struct spek_run_view *view)
{
	u32 i;

	for (i = 0; spek_workload_counts(&config->workload) && i < config->workload.nr_arrivals;
	     i++) {
		struct nlattr *nest = nla_nest_start(skb, SPEK_A_RUN_ARRIVAL_END);

		if (!nest ||
		    SPEK_PUT_U64(skb, SPEK_A_ARRIVAL_END, AT_NS, view->arrival_end_ns[i]))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

/* @count: 0 leaves it out */
static int put_sense(struct sk_buff *skb, int attr, const struct spek_sense *sense, u64 count)
{
	struct nlattr *nest = nla_nest_start(skb, attr);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(skb, SPEK_A_SENSE_KEY, sense->key) ||
	    nla_put_u32(skb, SPEK_A_SENSE_ASC, sense->asc) ||
	    nla_put_u32(skb, SPEK_A_SENSE_ASCQ, sense->ascq) ||
	    nla_put_u32(skb, SPEK_A_SENSE_DEFERRED, sense->deferred) ||
	    (count && SPEK_PUT_U64(skb, SPEK_A_SENSE, COUNT, count)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_failure(struct sk_buff *skb, const struct spek_refusal *failure)
{
	if (nla_put_u32(skb, SPEK_A_RUN_FAILURE_ERRNO, -failure->err) ||
	    nla_put_string(skb, SPEK_A_RUN_FAILURE, spek_genl_text(failure, failure->err)) ||
	    nla_put_u32(skb, SPEK_A_RUN_FAILURE_PART, failure->kind) ||
	    nla_put_u32(skb, SPEK_A_RUN_FAILURE_INDEX, failure->index))
		return -EMSGSIZE;
	return 0;
}

static int put_view(struct sk_buff *skb, const struct spek_run_view *view)
{
	if (nla_put_u32(skb, SPEK_A_RUN_ID, view->id) ||
	    nla_put_u32(skb, SPEK_A_RUN_STATE, view->state) ||
	    nla_put_u32(skb, SPEK_A_RUN_PHASE, view->phase) ||
	    nla_put_u32(skb, SPEK_A_RUN_REASON, view->reason) ||
	    SPEK_PUT_U64(skb, SPEK_A_RUN, STARTED_NS, view->started.mono_ns) ||
	    SPEK_PUT_U64(skb, SPEK_A_RUN, MEASURE_NS, view->measure_ns) ||
	    SPEK_PUT_U64(skb, SPEK_A_RUN, DRAIN_NS, view->drain_ns) ||
	    SPEK_PUT_U64(skb, SPEK_A_RUN, ENDED_NS, view->ended.mono_ns) ||
	    SPEK_PUT_U64(skb, SPEK_A_RUN, START_RAW_NS, view->started.raw_ns) ||
	    SPEK_PUT_U64(skb, SPEK_A_RUN, START_REAL_NS, view->started.real_ns) ||
	    SPEK_PUT_U64(skb, SPEK_A_RUN, END_RAW_NS, view->ended.raw_ns) ||
	    SPEK_PUT_U64(skb, SPEK_A_RUN, END_REAL_NS, view->ended.real_ns) ||
	    SPEK_PUT_U64(skb, SPEK_A_RUN, NOW_NS, view->now_ns) ||
	    nla_put_u32(skb, SPEK_A_RUN_OUTSTANDING, view->outstanding) ||
	    SPEK_PUT_U64(skb, SPEK_A_RUN, BACKLOG, view->backlog) ||
	    SPEK_PUT_U64(skb, SPEK_A_RUN, OLDEST_NS, view->oldest_ns) ||
	    SPEK_PUT_U64(skb, SPEK_A_RUN, INTERVALS, view->intervals) ||
	    SPEK_PUT_U64(skb, SPEK_A_RUN, ERRORS, view->errors))
		return -EMSGSIZE;
	if (view->failure.err && put_failure(skb, &view->failure))
		return -EMSGSIZE;
	if (view->first_error[0] && nla_put_string(skb, SPEK_A_RUN_FIRST_ERROR, view->first_error))
		return -EMSGSIZE;
	if (view->first_sense.present)
		return put_sense(skb, SPEK_A_RUN_FIRST_SENSE, &view->first_sense, 0);
	return 0;
}

static int put_senses(struct sk_buff *skb, const struct spek_senses *senses)
{
	u64 others = atomic64_read(&senses->others);
	u32 i;

	for (i = 0; i < SPEK_MAX_SENSES; i++) {
		struct spek_sense sense;
		u64 count = spek_senses_get(senses, i, &sense);

		if (!count)
			break;
		if (put_sense(skb, SPEK_A_RUN_SENSE, &sense, count))
			return -EMSGSIZE;
	}
	return others ? SPEK_PUT_U64(skb, SPEK_A_RUN, SENSE_OTHERS, others) : 0;
}

static int put_replay(struct sk_buff *skb, const struct spek_run *run,
		      const struct spek_run_view *run_view)
{
	struct spek_replay_view view;
	struct nlattr *nest;

	spek_replay_view(run->replay, run_view->ended.mono_ns ?: run_view->now_ns, &view);
	if (nla_put_u32(skb, SPEK_A_RUN_TRACE_RECORDS, run->config->trace_records))
		return -EMSGSIZE;
	nest = nla_nest_start(skb, SPEK_A_RUN_REPLAY);
	if (!nest || SPEK_PUT_U64(skb, SPEK_A_REPLAY, FED, view.fed) ||
	    SPEK_PUT_U64(skb, SPEK_A_REPLAY, ISSUED, view.issued) ||
	    nla_put_u32(skb, SPEK_A_REPLAY_ENDED, view.has_ended) ||
	    SPEK_PUT_U64(skb, SPEK_A_REPLAY, UNDERRUNS, view.underruns) ||
	    SPEK_PUT_U64(skb, SPEK_A_REPLAY, UNDERRUN_NS, view.underrun_ns) ||
	    SPEK_PUT_U64(skb, SPEK_A_REPLAY, UNDERRUN_FIRST_NS, view.underrun_first_ns) ||
	    SPEK_PUT_U64(skb, SPEK_A_REPLAY, UNDERRUN_LAST_NS, view.underrun_last_ns) ||
	    SPEK_PUT_U64(skb, SPEK_A_REPLAY, DRY_NS, view.dry_ns))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_whole_run(struct sk_buff *skb, void *object)
{
	struct spek_run *run = object;
	struct spek_run_view view = {};
	u32 i;

	spek_run_view(run, &view);
	if (put_view(skb, &view) || put_senses(skb, &run->outcome.senses) ||
	    put_config(skb, run->config) || put_arrival_ends(skb, run->config, &view) ||
	    nla_put_string(skb, SPEK_A_RUN_MODULE_VERSION, THIS_MODULE->version ?: ""))
		return -EMSGSIZE;
	/* Logs, workers and targets don't exist yet. */
	if (!view.is_set_up || !spek_run_is_set_up(run))
		return 0;
	if (run->log && (nla_put_u32(skb, SPEK_A_RUN_LOG_RECORDS, run->config->log_records) ||
			 nla_put_string(skb, SPEK_A_RUN_LOG_DIR, run->log_dir)))
		return -EMSGSIZE;
	if (run->verify && spek_nl_put_verify(skb, run))
		return -EMSGSIZE;
	if (run->replay && put_replay(skb, run, &view))
		return -EMSGSIZE;
	for (i = 0; i < run->config->nr_workers; i++)
		if (put_worker(skb, run, i))
			return -EMSGSIZE;
	for (i = 0; i < run->config->nr_targets; i++)
		if (put_target(skb, run, i))
			return -EMSGSIZE;
	return 0;
}

/* Return: message about @run, or NULL if out of memory */
static struct sk_buff *run_message(struct spek_run *run, u32 portid, u32 seq, u8 cmd)
{
	struct sk_buff *msg = genlmsg_new(run_bytes(run), GFP_KERNEL);
	void *head;

	if (!msg)
		return NULL;
	head = genlmsg_put(msg, portid, seq, &spek_nl_family, 0, cmd);
	if (WARN_ON_ONCE(!head || put_whole_run(msg, run))) {
		nlmsg_free(msg);
		return NULL;
	}
	genlmsg_end(msg, head);
	return msg;
}

int spek_nl_run_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct spek_run *run;
	struct sk_buff *msg;
	int err;

	err = spek_genl_check_rights(skb, info->extack);
	if (err)
		return err;
	run = spek_nl_get_run(info->attrs[SPEK_A_RUN_ID], info->extack);
	if (IS_ERR(run))
		return PTR_ERR(run);
	msg = run_message(run, info->snd_portid, info->snd_seq, SPEK_CMD_RUN_GET);
	spek_run_put(run);
	if (!msg)
		return spek_genl_refuse(info->extack, NULL, -ENOMEM,
					"There is not enough memory for the answer.");
	return genlmsg_reply(msg, info);
}

static const struct spek_genl_objects runs = {
	.genl = &spek_netlink,
	.cmd = SPEK_CMD_RUN_GET,
	.id_attr = SPEK_A_RUN_ID,
	.id_refusal = "A dump returns all runs: leave out the number.",
	.table = &spek_runs,
	.drop = spek_nl_put_run,
	.size = run_bytes,
	.put = put_whole_run,
};

int spek_nl_run_get_start(struct netlink_callback *cb)
{
	return spek_genl_dump_all_start(&runs, cb);
}

int spek_nl_run_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return spek_genl_dump_all(&runs, skb, cb);
}

/* ---- run-new ---- */

/*
 * Takes ownership of @config. The answer is allocated first, so that a failure leaves nothing
 * behind. If it can't be delivered, no client knows the number of the run, so the run is deleted.
 */
static int create_and_answer(struct genl_info *info, struct spek_run_config *config)
{
	struct spek_refusal refusal = {};
	struct spek_run *run;
	struct sk_buff *msg;
	void *head;
	u32 id = 0;
	int err;

	if (!config->detached)
		spek_genl_own(&spek_netlink, config->owner_portid);
	msg = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	err = msg ? spek_run_new(config, &id, &refusal) : -ENOMEM;
	if (err) {
		if (!config->detached)
			spek_genl_disown(&spek_netlink, config->owner_portid);
		nlmsg_free(msg);
		kvfree(config);
		return spek_genl_refuse_below(info->extack, spek_nl_blame(info, &refusal), err,
					      &refusal);
	}
	head = genlmsg_put_reply(msg, info, &spek_nl_family, 0, SPEK_CMD_RUN_NEW);
	nla_put_u32(msg, SPEK_A_RUN_ID, id);
	genlmsg_end(msg, head);
	err = genlmsg_reply(msg, info);
	if (!err)
		return 0;
	run = spek_run_get(id);
	if (run) {
		spek_run_delete(run, &refusal);
		spek_run_put(run);
	}
	return err;
}

int spek_nl_run_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct spek_run_config *config;
	int err;

	err = spek_genl_check_rights(skb, info->extack);
	if (err)
		return err;
	config = kvzalloc(sizeof(*config), GFP_KERNEL);
	if (!config)
		return spek_genl_refuse(info->extack, NULL, -ENOMEM,
					"There is not enough memory for the configuration.");
	err = spek_nl_parse_run(info, config);
	if (err) {
		kvfree(config);
		return err;
	}
	return create_and_answer(info, config);
}

/* ---- run-start, run-stop, run-del ---- */

static int start_run(struct spek_run *run, const struct genl_info *info,
		     struct spek_refusal *refusal)
{
	const struct nlattr *start = info->attrs[SPEK_A_RUN_START_NS];

	return spek_run_start(run, start ? nla_get_u64(start) : 0, refusal);
}

static int stop_run(struct spek_run *run, const struct genl_info *info,
		    struct spek_refusal *refusal)
{
	return spek_run_stop(run, refusal);
}

static int delete_run(struct spek_run *run, const struct genl_info *info,
		      struct spek_refusal *refusal)
{
	return spek_run_delete(run, refusal);
}

static int change_run(struct sk_buff *skb, struct genl_info *info,
		      int (*change)(struct spek_run *run, const struct genl_info *info,
				    struct spek_refusal *refusal))
{
	struct spek_refusal refusal = {};
	struct spek_run *run;
	u32 blamed;
	int err;

	err = spek_genl_check_rights(skb, info->extack);
	if (err)
		return err;
	run = spek_nl_get_run(info->attrs[SPEK_A_RUN_ID], info->extack);
	if (IS_ERR(run))
		return PTR_ERR(run);
	err = change(run, info, &refusal);
	spek_run_put(run);
	if (!err)
		return 0;
	blamed = err == -ETIME || err == -ERANGE ? SPEK_A_RUN_START_NS : SPEK_A_RUN_ID;
	return spek_genl_refuse_below(info->extack, info->attrs[blamed], err, &refusal);
}

int spek_nl_run_start_doit(struct sk_buff *skb, struct genl_info *info)
{
	return change_run(skb, info, start_run);
}

int spek_nl_run_stop_doit(struct sk_buff *skb, struct genl_info *info)
{
	return change_run(skb, info, stop_run);
}

int spek_nl_run_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	return change_run(skb, info, delete_run);
}

/* ---- run-ntf ---- */

static struct sk_buff *state_message(void *run)
{
	return run_message(run, 0, 0, SPEK_CMD_RUN_NTF);
}

static void state_changed(struct spek_run *run)
{
	spek_genl_notify(&spek_netlink, SPEK_NLGRP_RUNS, state_message, run);
}

static void run_removed(struct spek_run *run)
{
	struct spek_replay *replay = spek_run_replay(run);
	u32 portid;

	if (!run->config->detached)
		spek_genl_disown(&spek_netlink, run->config->owner_portid);
	if (replay && spek_replay_retire(replay, &portid))
		spek_genl_disown(&spek_netlink, portid);
}

const struct spek_run_listener spek_nl_run_listener = {
	.state_changed = state_changed,
	.removed = run_removed,
};
