// SPDX-License-Identifier: GPL-2.0
/* probe-start, probe-stop, probe-del, probe-get and probe-ntf: the probe over netlink. */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <net/net_namespace.h>

#include "core/state.h"
#include "gen/netlink_gen.h"
#include "gen/request_gen.h"
#include "netlink.h"
#include "probe.h"

#define PUT_PROBE(skb, name, value) SPEK_PUT_U64(skb, SPEK_PROBER_A_PROBE, name, value)

/* The attribute that a refusal of probe.c is about, or NULL. */
static const struct nlattr *blame(const struct genl_info *info, const struct spek_refusal *refusal)
{
	switch (refusal->kind) {
	case SPEK_PROBE_PART_ID:
		return info->attrs[SPEK_PROBER_A_PROBE_ID];
	case SPEK_PROBE_PART_RING_ROWS:
		return info->attrs[SPEK_PROBER_A_PROBE_RING_ROWS];
	default:
		return NULL;
	}
}

/* ---- probe-start ---- */

static int check_limits(struct genl_info *info, const struct spek_prober_probe_start *request)
{
	const struct nlattr *rows = info->attrs[SPEK_PROBER_A_PROBE_RING_ROWS];

	if (request->interval_ns < SPEK_PROBER_MIN_INTERVAL_NS ||
	    request->interval_ns > SPEK_PROBER_MAX_INTERVAL_NS)
		return spek_genl_refuse(info->extack, info->attrs[SPEK_PROBER_A_PROBE_INTERVAL_NS],
					-ERANGE, "The interval must be from 1 ms to 1 h.");
	if (rows && (request->ring_rows < SPEK_PROBER_MIN_RING_ROWS ||
		     request->ring_rows > SPEK_PROBER_MAX_RING_ROWS))
		return spek_genl_refuse(info->extack, rows, -ERANGE,
					"The ring must keep from 2 to 1048576 rows.");
	return 0;
}

static int refuse_task(struct genl_info *info, u32 task, int err, const char *text)
{
	const struct nlattr *nest = spek_genl_nth(info, SPEK_PROBER_A_PROBE_TASK, task);

	return spek_genl_refuse(info->extack, nla_find_nested(nest, SPEK_PROBER_A_TASK_PID), err,
				text);
}

static int find_tasks(struct genl_info *info, struct spek_probe_config *config)
{
	const struct spek_prober_task *tasks = config->request.task;
	struct task_struct *task;
	u32 i, j;

	for (i = 0; i < config->request.nr_tasks; i++) {
		for (j = 0; j < i; j++)
			if (tasks[j].pid == tasks[i].pid)
				return refuse_task(info, i, -EINVAL,
						   "The same task is to be watched twice: name each once.");

		/* Thread ids of spek.ko's workers, which are in no other namespace. */
		rcu_read_lock();
		task = get_pid_task(find_pid_ns(tasks[i].pid, &init_pid_ns), PIDTYPE_PID);
		rcu_read_unlock();
		if (!task)
			return refuse_task(info, i, -ESRCH,
					   "There is no task with this thread id in the initial pid namespace.");
		config->tasks[config->nr_tasks++] = task;
	}
	return 0;
}

static void drop_tasks(struct spek_probe_config *config)
{
	u32 i;

	for (i = 0; i < config->nr_tasks; i++)
		put_task_struct(config->tasks[i]);
}

static int start_and_answer(struct genl_info *info, const struct spek_probe_config *config)
{
	struct spek_refusal refusal = {};
	struct sk_buff *answer;
	void *header;
	u32 id;
	int err;

	/* Everything that can fail comes first: the owner must learn the probe's number. */
	answer = genlmsg_new(nla_total_size(sizeof(u32)), GFP_KERNEL);
	if (!answer)
		return spek_genl_refuse(info->extack, NULL, -ENOMEM,
					"There is not enough memory for the answer.");
	header = genlmsg_put_reply(answer, info, &spek_prober_nl_family, 0,
				   SPEK_PROBER_CMD_PROBE_START);

	if (!config->request.detached)
		spek_genl_own(&spek_prober_genl, config->portid);
	err = spek_probe_start(config, &id, &refusal);
	if (err) {
		if (!config->request.detached)
			spek_genl_disown(&spek_prober_genl, config->portid);
		nlmsg_free(answer);
		return spek_genl_refuse_below(info->extack, blame(info, &refusal), err, &refusal);
	}

	err = header ? nla_put_u32(answer, SPEK_PROBER_A_PROBE_ID, id) : -EMSGSIZE;
	if (WARN_ON_ONCE(err)) {
		nlmsg_free(answer);
		goto err_stop;
	}
	genlmsg_end(answer, header);
	err = genlmsg_reply(answer, info);
	if (err)
		goto err_stop;
	return 0;

err_stop:
	spek_probe_stop(id, &refusal);
	return spek_genl_refuse(info->extack, NULL, err, "The answer could not be delivered.");
}

int spek_prober_nl_probe_start_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct spek_probe_config *config;
	int err;

	err = spek_genl_check_rights(skb, info->extack);
	if (err)
		return err;
	config = kvzalloc(sizeof(*config), GFP_KERNEL);
	if (!config)
		return spek_genl_refuse(info->extack, NULL, -ENOMEM,
					"There is not enough memory for the tasks.");

	config->portid = info->snd_portid;
	err = spek_genl_parse(info, &spek_prober_probe_start_request, &config->request);
	if (!err)
		err = check_limits(info, &config->request);
	if (!err)
		err = find_tasks(info, config);
	if (!err)
		err = start_and_answer(info, config);
	drop_tasks(config);
	kvfree(config);
	return err;
}

/* ---- probe-stop, probe-del ---- */

static int call_by_id(struct sk_buff *skb, struct genl_info *info,
		      int (*call)(u32 id, struct spek_refusal *refusal))
{
	const struct nlattr *id = info->attrs[SPEK_PROBER_A_PROBE_ID];
	struct spek_refusal refusal = {};
	int err;

	err = spek_genl_check_rights(skb, info->extack);
	if (err)
		return err;
	if (GENL_REQ_ATTR_CHECK(info, SPEK_PROBER_A_PROBE_ID))
		return spek_genl_refuse(info->extack, NULL, -EINVAL,
					"The request needs the number of a probe.");

	err = call(nla_get_u32(id), &refusal);
	if (err)
		return spek_genl_refuse_below(info->extack, blame(info, &refusal), err, &refusal);
	return 0;
}

int spek_prober_nl_probe_stop_doit(struct sk_buff *skb, struct genl_info *info)
{
	return call_by_id(skb, info, spek_probe_stop);
}

int spek_prober_nl_probe_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	return call_by_id(skb, info, spek_probe_del);
}

/* ---- probe-get, probe-ntf ---- */

static size_t probe_bytes(const struct spek_probe *probe)
{
	size_t bytes = NLMSG_DEFAULT_SIZE;	/* scalars and short strings */
	unsigned int i;

	for (i = 0; i < SPEK_NR_SOURCES; i++) {
		const struct spek_probe_source *source = &probe->sources[i];
		u32 nr = source->nr_entities;

		/* Nests of a short string and two numbers; entities; a nest for each task. */
		bytes += source->ops->nr_columns * nla_total_size(3 * nla_total_size(32));
		bytes += nla_total_size(nr * sizeof(u32)) + 2 * nla_total_size(32);
		bytes += nla_total_size(sizeof(u32));
		if (source->names)
			bytes += nr * nla_total_size(SPEK_ENTITY_NAME);
		bytes += nr * nla_total_size(nla_total_size(sizeof(u32)));
	}
	return bytes;
}

/* A table's description is one attribute, whose length has 16 bits. */
static bool can_describe(const struct spek_probe_source *source)
{
	const struct spek_probe_source_ops *ops = source->ops;
	size_t bytes = NLA_HDRLEN;
	u32 i;

	bytes += nla_total_size(sizeof(u32)) + nla_total_size(strlen(ops->name) + 1);
	for (i = 0; i < ops->nr_columns; i++)
		bytes += nla_total_size(nla_total_size(strlen(ops->columns[i].name) + 1) +
					2 * nla_total_size(sizeof(u32)));
	bytes += nla_total_size(source->nr_entities * sizeof(u32));
	for (i = 0; source->names && i < source->nr_entities; i++)
		bytes += nla_total_size(strlen(spek_probe_source_name(source, i)) + 1);
	return bytes <= U16_MAX;
}

static int put_columns(struct sk_buff *skb, const struct spek_probe_source_ops *ops)
{
	struct nlattr *nest;
	u32 i;

	for (i = 0; i < ops->nr_columns; i++) {
		nest = nla_nest_start(skb, SPEK_PROBER_A_TABLE_COLUMN);
		if (!nest ||
		    nla_put_string(skb, SPEK_PROBER_A_COLUMN_NAME, ops->columns[i].name) ||
		    nla_put_u32(skb, SPEK_PROBER_A_COLUMN_LEVEL, ops->columns[i].is_level) ||
		    nla_put_u32(skb, SPEK_PROBER_A_COLUMN_STEP_NS,
				ops->step_ns ? ops->step_ns(i) : 0))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

static int put_names(struct sk_buff *skb, const struct spek_probe_source *source)
{
	u32 i;

	if (!source->names)
		return 0;
	for (i = 0; i < source->nr_entities; i++)
		if (nla_put_string(skb, SPEK_PROBER_A_TABLE_ENTITY_NAME,
				   spek_probe_source_name(source, i)))
			return -EMSGSIZE;
	return 0;
}

static int put_tables(struct sk_buff *skb, const struct spek_probe *probe)
{
	struct nlattr *nest;
	unsigned int i;

	for (i = 0; i < SPEK_NR_SOURCES; i++) {
		const struct spek_probe_source *source = &probe->sources[i];

		nest = nla_nest_start(skb, SPEK_PROBER_A_PROBE_TABLE);
		if (!nest ||
		    nla_put_u32(skb, SPEK_PROBER_A_TABLE_ID, source->ops->table) ||
		    nla_put_string(skb, SPEK_PROBER_A_TABLE_NAME, source->ops->name) ||
		    put_columns(skb, source->ops) ||
		    nla_put(skb, SPEK_PROBER_A_TABLE_ENTITIES,
			    source->nr_entities * sizeof(u32), source->entities) ||
		    put_names(skb, source) ||
		    (source->left_out &&
		     nla_put_u32(skb, SPEK_PROBER_A_TABLE_LEFT_OUT, source->left_out)))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

static int put_tasks(struct sk_buff *skb, const struct spek_probe *probe)
{
	const struct spek_probe_source *source = probe->sources;
	struct nlattr *nest;
	u32 i;

	while (source->ops->table != SPEK_PROBER_TABLE_TASK)
		source++;
	for (i = 0; i < source->nr_entities; i++) {
		nest = nla_nest_start(skb, SPEK_PROBER_A_PROBE_TASK);
		if (!nest || nla_put_u32(skb, SPEK_PROBER_A_TASK_PID, source->entities[i]))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

static int put_progress(struct sk_buff *skb, const struct spek_probe *probe)
{
	if (PUT_PROBE(skb, NOW_NS, ktime_get_ns()) ||
	    PUT_PROBE(skb, ROWS, spek_ring_made(&probe->ring)) ||
	    PUT_PROBE(skb, OLDEST, spek_ring_oldest(&probe->ring)) ||
	    PUT_PROBE(skb, MISSED, READ_ONCE(probe->sampler.missed)) ||
	    PUT_PROBE(skb, LATE_SUM_NS, READ_ONCE(probe->sampler.late_sum_ns)) ||
	    PUT_PROBE(skb, LATE_MAX_NS, READ_ONCE(probe->sampler.late_max_ns)) ||
	    PUT_PROBE(skb, COST_SUM_NS, READ_ONCE(probe->sampler.cost_sum_ns)) ||
	    PUT_PROBE(skb, COST_MAX_NS, READ_ONCE(probe->sampler.cost_max_ns)))
		return -EMSGSIZE;
	return 0;
}

static int put_probe(struct sk_buff *skb, struct spek_probe *probe)
{
	struct spek_probe_status status;

	spek_probe_read_status(probe, &status);
	if (nla_put_u32(skb, SPEK_PROBER_A_PROBE_ID, probe->id) ||
	    nla_put_u32(skb, SPEK_PROBER_A_PROBE_STATE, status.state) ||
	    nla_put_u32(skb, SPEK_PROBER_A_PROBE_REASON, status.reason) ||
	    PUT_PROBE(skb, INTERVAL_NS, probe->sampler.interval_ns) ||
	    nla_put_u32(skb, SPEK_PROBER_A_PROBE_RING_ROWS, probe->ring.rows) ||
	    nla_put_u32(skb, SPEK_PROBER_A_PROBE_ROW_BYTES, spek_probe_row_bytes(probe)) ||
	    nla_put_u32(skb, SPEK_PROBER_A_PROBE_DETACHED, probe->detached) ||
	    nla_put_u32(skb, SPEK_PROBER_A_PROBE_OWNER_PID, pid_vnr(probe->owner_pid)) ||
	    nla_put_string(skb, SPEK_PROBER_A_PROBE_OWNER_NAME, probe->owner_name) ||
	    nla_put_u32(skb, SPEK_PROBER_A_PROBE_THREAD_PID, probe->thread_pid) ||
	    PUT_PROBE(skb, STARTED_NS, probe->started.mono_ns) ||
	    PUT_PROBE(skb, START_RAW_NS, probe->started.raw_ns) ||
	    PUT_PROBE(skb, START_REAL_NS, probe->started.real_ns) ||
	    put_progress(skb, probe) || put_tasks(skb, probe) || put_tables(skb, probe))
		return -EMSGSIZE;

	if (spek_probe_states[status.state].has_ended &&
	    (PUT_PROBE(skb, ENDED_NS, status.ended.mono_ns) ||
	     PUT_PROBE(skb, END_RAW_NS, status.ended.raw_ns) ||
	     PUT_PROBE(skb, END_REAL_NS, status.ended.real_ns)))
		return -EMSGSIZE;
	return 0;
}

/* Build a message about @probe; NULL: there is no probe. */
static struct sk_buff *describe_probe(struct spek_probe *probe, u32 portid, u32 seq, u8 cmd)
{
	struct sk_buff *skb;
	void *header;
	int err;

	skb = genlmsg_new(probe ? probe_bytes(probe) : NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!skb)
		return ERR_PTR(-ENOMEM);

	header = genlmsg_put(skb, portid, seq, &spek_prober_nl_family, 0, cmd);
	err = header ? nla_put_string(skb, SPEK_PROBER_A_PROBE_MODULE_VERSION,
				      THIS_MODULE->version ?: "") : -EMSGSIZE;
	if (!err)
		err = probe ? put_probe(skb, probe) :
			nla_put_u32(skb, SPEK_PROBER_A_PROBE_STATE, SPEK_PROBER_PROBE_STATE_IDLE);
	if (err) {
		nlmsg_free(skb);
		return ERR_PTR(err);
	}
	genlmsg_end(skb, header);
	return skb;
}

int spek_prober_nl_probe_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct spek_probe *probe;
	struct sk_buff *answer;
	int err;

	err = spek_genl_check_rights(skb, info->extack);
	if (err)
		return err;

	probe = spek_probe_get_current();
	answer = describe_probe(probe, info->snd_portid, info->snd_seq,
				SPEK_PROBER_CMD_PROBE_GET);
	spek_probe_put(probe);
	if (IS_ERR(answer))
		return spek_genl_refuse(info->extack, NULL, PTR_ERR(answer),
					"There is not enough memory for the answer.");
	return genlmsg_reply(answer, info);
}

static struct sk_buff *notification(void *probe)
{
	struct sk_buff *skb = describe_probe(probe, 0, 0, SPEK_PROBER_CMD_PROBE_NTF);

	return IS_ERR(skb) ? NULL : skb;
}

static void notify(struct spek_probe *probe)
{
	spek_genl_notify(&spek_prober_genl, SPEK_PROBER_NLGRP_PROBES, notification, probe);
}

static void disown(const struct spek_probe *probe)
{
	if (!probe->detached)
		spek_genl_disown(&spek_prober_genl, probe->portid);
}

/* Callbacks of probes, for spek_probe_init(). */
const struct spek_probe_listener spek_prober_netlink_listener = {
	.changed	= notify,
	.released	= disown,
	.can_describe	= can_describe,
};
