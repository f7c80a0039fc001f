// SPDX-License-Identifier: GPL-2.0
/*
 * The spek netlink family: requests, notifications, ownership.
 *
 * A handler checks rights and attributes, makes one call down and answers. Handlers run
 * beside each other: run-new opens devices, and run-del closes them, which may wait for a
 * device that does not answer; nobody else's run must wait for that. What they share has
 * locks of its own, see run.c.
 *
 * Dumps are in netlink_dump.c, the parsing of run-new in netlink_parse.c.
 */
#include <linux/capability.h>
#include <linux/module.h>
#include <linux/mm.h>
#include <linux/notifier.h>
#include <linux/rwsem.h>
#include <net/net_namespace.h>
#include "netlink.h"
#include "verify.h"
#include "submit.h"

static_assert((int)SPEK_RUN_STATE_READY == (int)SPEK_STATE_READY);
static_assert((int)SPEK_RUN_STATE_RUNNING == (int)SPEK_STATE_RUNNING);
static_assert((int)SPEK_RUN_STATE_DRAINING == (int)SPEK_STATE_DRAINING);
static_assert((int)SPEK_RUN_STATE_DONE == (int)SPEK_STATE_DONE);

/* Runs end and notify while the family comes and goes. */
static DECLARE_RWSEM(family_rwsem);
static bool family_is_registered;	/* protected by family_rwsem */

int spek_nl_refuse(struct netlink_ext_ack *extack, const struct nlattr *attr, int err,
		   const char *text)
{
	if (extack) {
		extack->_msg = text;
		extack->bad_attr = attr;
	}
	return err;
}

int spek_nl_check_rights(const struct sk_buff *skb, struct netlink_ext_ack *extack)
{
	if (netlink_capable(skb, CAP_SYS_ADMIN))
		return 0;
	return spek_nl_refuse(extack, NULL, -EPERM,
			      "This needs CAP_SYS_ADMIN in the initial user namespace: be root.");
}

/* What went wrong below, for the user: a sentence even where the errno says it all. */
static int refuse_from_below(struct genl_info *info, const struct nlattr *attr, int err,
			     const struct spek_refusal *refusal)
{
	const char *text = refusal->text;

	if (!text && err == -ENOMEM)
		text = "There is not enough memory.";
	if (!text && err == -ENOENT)
		text = "There is no run with this number.";
	if (!text && err == -EBUSY)
		text = "The run is in a state that doesn't allow this.";
	if (!text)
		text = "The kernel refused this.";
	return spek_nl_refuse(info->extack, attr, err, text);
}

struct spek_run *spek_nl_get_run(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	struct spek_run *run;

	if (!attr)
		return ERR_PTR(spek_nl_refuse(extack, NULL, -EINVAL,
					      "The request needs the number of a run."));
	run = spek_run_get(nla_get_u32(attr));
	if (!run)
		return ERR_PTR(spek_nl_refuse(extack, attr, -ENOENT,
					      "There is no run with this number."));
	return run;
}

/* run-get */

/* Rooms for one attribute, header and alignment included; u64 may need a pad before it. */
#define U32_BYTES	nla_total_size(sizeof(u32))
#define U64_BYTES	nla_total_size_64bit(sizeof(u64))
/* Our own constant strings are shorter. */
#define REASON_BYTES	256
#define VERSION_BYTES	64

size_t spek_nl_run_bytes(const struct spek_run *run)
{
	const struct spek_run_config *config = run->config;
	size_t head = 15 * U32_BYTES + 26 * U64_BYTES + nla_total_size(SPEK_RUN_NAME_LEN) +
		      nla_total_size(SPEK_RUN_ERROR_LEN) + nla_total_size(VERSION_BYTES) +
		      nla_total_size(SPEK_RUN_LOG_DIR_LEN);
	size_t sense = nla_total_size(4 * U32_BYTES + U64_BYTES);
	size_t worker = nla_total_size(4 * U32_BYTES + 5 * U64_BYTES);
	size_t verify = nla_total_size((5 + SPEK_NR_VERDICTS) * U64_BYTES);
	size_t target = nla_total_size(6 * U32_BYTES + 9 * U64_BYTES +
				       nla_total_size(BDEVNAME_SIZE) +
				       nla_total_size(REASON_BYTES));

	return head + verify + (1 + SPEK_MAX_SENSES) * sense + config->nr_workers * worker +
	       config->nr_targets * target;
}

#define PUT_U64(skb, set, name, value) \
	nla_put_u64_64bit(skb, SPEK_A_##set##_##name, value, SPEK_A_##set##_PAD)

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
	    PUT_U64(skb, WORKER, CPU_NS, info.cpu_ns) ||
	    PUT_U64(skb, WORKER, VOLUNTARY, info.voluntary) ||
	    PUT_U64(skb, WORKER, INVOLUNTARY, info.involuntary) ||
	    nla_put_u32(skb, SPEK_A_WORKER_OUTSTANDING, info.outstanding))
		return -EMSGSIZE;
	if (run->log && (PUT_U64(skb, WORKER, LOG_WRITTEN, info.log_written) ||
			 PUT_U64(skb, WORKER, LOG_LOST, info.log_lost)))
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
	    nla_put_string(skb, SPEK_A_TARGET_NAME, target->name) ||
	    PUT_U64(skb, TARGET, DISKSEQ, target->diskseq) ||
	    PUT_U64(skb, TARGET, BYTES, target->bytes) ||
	    nla_put_u32(skb, SPEK_A_TARGET_LOGICAL_BLOCK, target->logical_block) ||
	    nla_put_u32(skb, SPEK_A_TARGET_MAX_IO, target->max_part_bytes) ||
	    nla_put_u32(skb, SPEK_A_TARGET_BACKEND, target->backend->id) ||
	    nla_put_string(skb, SPEK_A_TARGET_BACKEND_REASON, target->backend_reason) ||
	    nla_put_u32(skb, SPEK_A_TARGET_POLLED, target->polled) ||
	    PUT_U64(skb, TARGET, READS, view.count.ios[0]) ||
	    PUT_U64(skb, TARGET, READ_BYTES, view.count.bytes[0]) ||
	    PUT_U64(skb, TARGET, WRITES, view.count.ios[1]) ||
	    PUT_U64(skb, TARGET, WRITE_BYTES, view.count.bytes[1]) ||
	    PUT_U64(skb, TARGET, REFUSED, view.count.refused))
		return -EMSGSIZE;
	if (run->verify && spek_nl_put_map_target(skb, run->verify, index))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_config(struct sk_buff *skb, const struct spek_run_config *config)
{
	if (nla_put_string(skb, SPEK_A_RUN_NAME, config->name) ||
	    PUT_U64(skb, RUN, SEED, config->seed) ||
	    nla_put_u32(skb, SPEK_A_RUN_DETACHED, config->detached) ||
	    nla_put_u32(skb, SPEK_A_RUN_WRITE, config->may_write) ||
	    nla_put_u32(skb, SPEK_A_RUN_BACKEND, config->backend) ||
	    nla_put_u32(skb, SPEK_A_RUN_POLLED, config->polled) ||
	    nla_put_u32(skb, SPEK_A_RUN_DATA, config->data) ||
	    nla_put_u32(skb, SPEK_A_RUN_MAX_OUTSTANDING, config->max_outstanding) ||
	    nla_put_u32(skb, SPEK_A_RUN_BATCH, config->batch) ||
	    PUT_U64(skb, RUN, SPIN_NS, config->spin_ns) ||
	    PUT_U64(skb, RUN, INTERVAL_NS, config->interval_ns) ||
	    PUT_U64(skb, RUN, RAMP_NS, config->ramp_ns) ||
	    PUT_U64(skb, RUN, RAMP_COUNT, config->ramp_count) ||
	    PUT_U64(skb, RUN, TIME_NS, config->time_ns) ||
	    PUT_U64(skb, RUN, COUNT, config->count) ||
	    PUT_U64(skb, RUN, MAX_ERRORS, config->max_errors))
		return -EMSGSIZE;
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
	    (count && PUT_U64(skb, SENSE, COUNT, count)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_view(struct sk_buff *skb, const struct spek_run_view *view)
{
	if (nla_put_u32(skb, SPEK_A_RUN_ID, view->id) ||
	    nla_put_u32(skb, SPEK_A_RUN_STATE, view->state) ||
	    nla_put_u32(skb, SPEK_A_RUN_PHASE, view->phase) ||
	    nla_put_u32(skb, SPEK_A_RUN_REASON, view->reason) ||
	    PUT_U64(skb, RUN, STARTED_NS, view->started.mono_ns) ||
	    PUT_U64(skb, RUN, MEASURE_NS, view->measure_ns) ||
	    PUT_U64(skb, RUN, DRAIN_NS, view->drain_ns) ||
	    PUT_U64(skb, RUN, ENDED_NS, view->ended.mono_ns) ||
	    PUT_U64(skb, RUN, START_RAW_NS, view->started.raw_ns) ||
	    PUT_U64(skb, RUN, START_REAL_NS, view->started.real_ns) ||
	    PUT_U64(skb, RUN, END_RAW_NS, view->ended.raw_ns) ||
	    PUT_U64(skb, RUN, END_REAL_NS, view->ended.real_ns) ||
	    PUT_U64(skb, RUN, NOW_NS, view->now_ns) ||
	    nla_put_u32(skb, SPEK_A_RUN_OUTSTANDING, view->outstanding) ||
	    PUT_U64(skb, RUN, BACKLOG, view->backlog) ||
	    PUT_U64(skb, RUN, OLDEST_NS, view->oldest_ns) ||
	    PUT_U64(skb, RUN, INTERVALS, view->intervals) ||
	    PUT_U64(skb, RUN, ERRORS, view->errors))
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
	return others ? PUT_U64(skb, RUN, SENSE_OTHERS, others) : 0;
}

int spek_nl_put_run(struct sk_buff *skb, struct spek_run *run)
{
	struct spek_run_view view = {};
	u32 i;

	spek_run_view(run, &view);
	if (put_view(skb, &view) || put_senses(skb, &run->senses) ||
	    put_config(skb, run->config) ||
	    nla_put_string(skb, SPEK_A_RUN_MODULE_VERSION, THIS_MODULE->version ?: ""))
		return -EMSGSIZE;
	if (run->log && (nla_put_u32(skb, SPEK_A_RUN_LOG_RECORDS, run->config->log_records) ||
			 nla_put_string(skb, SPEK_A_RUN_LOG_DIR, run->log_dir)))
		return -EMSGSIZE;
	if (run->verify && spek_nl_put_verify(skb, run))
		return -EMSGSIZE;
	for (i = 0; i < run->config->nr_workers; i++)
		if (put_worker(skb, run, i))
			return -EMSGSIZE;
	for (i = 0; i < run->config->nr_targets; i++)
		if (put_target(skb, run, i))
			return -EMSGSIZE;
	return 0;
}

/* Return: a whole message about @run, or NULL if there is no memory for it. */
static struct sk_buff *run_message(struct spek_run *run, u32 portid, u32 seq, u8 cmd)
{
	struct sk_buff *msg = genlmsg_new(spek_nl_run_bytes(run), GFP_KERNEL);
	void *head;

	if (!msg)
		return NULL;
	head = genlmsg_put(msg, portid, seq, &spek_nl_family, 0, cmd);
	if (WARN_ON_ONCE(!head || spek_nl_put_run(msg, run))) {
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

	err = spek_nl_check_rights(skb, info->extack);
	if (err)
		return err;
	run = spek_nl_get_run(info->attrs[SPEK_A_RUN_ID], info->extack);
	if (IS_ERR(run))
		return PTR_ERR(run);
	msg = run_message(run, info->snd_portid, info->snd_seq, SPEK_CMD_RUN_GET);
	spek_run_put(run);
	if (!msg)
		return spek_nl_refuse(info->extack, NULL, -ENOMEM,
				      "The kernel has not enough memory for the answer.");
	return genlmsg_reply(msg, info);
}

/* run-new */

/*
 * Takes @config over. The answer is made before the run, so that its failure leaves
 * nothing behind. If it can't be delivered, nobody knows the number, so the run goes too.
 */
static int create_and_answer(struct genl_info *info, struct spek_run_config *config)
{
	struct spek_refusal refusal = {};
	struct spek_run *run;
	struct sk_buff *msg;
	void *head;
	u32 id = 0;
	int err;

	msg = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	err = msg ? spek_run_new(config, &id, &refusal) : -ENOMEM;
	if (err) {
		nlmsg_free(msg);
		kvfree(config);
		return refuse_from_below(info, spek_nl_blame(info, &refusal), err, &refusal);
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

	err = spek_nl_check_rights(skb, info->extack);
	if (err)
		return err;
	config = kvzalloc(sizeof(*config), GFP_KERNEL);
	if (!config)
		return spek_nl_refuse(info->extack, NULL, -ENOMEM,
				      "The kernel has not enough memory for the configuration.");
	err = spek_nl_parse_run(info, config);
	if (err) {
		kvfree(config);
		return err;
	}
	return create_and_answer(info, config);
}

/* run-start, run-stop, run-del */

static int change_run(struct sk_buff *skb, struct genl_info *info,
		      int (*change)(struct spek_run *run, struct spek_refusal *refusal))
{
	struct spek_refusal refusal = {};
	struct spek_run *run;
	int err;

	err = spek_nl_check_rights(skb, info->extack);
	if (err)
		return err;
	run = spek_nl_get_run(info->attrs[SPEK_A_RUN_ID], info->extack);
	if (IS_ERR(run))
		return PTR_ERR(run);
	err = change(run, &refusal);
	spek_run_put(run);
	if (err)
		return refuse_from_below(info, info->attrs[SPEK_A_RUN_ID], err, &refusal);
	return 0;
}

int spek_nl_run_start_doit(struct sk_buff *skb, struct genl_info *info)
{
	return change_run(skb, info, spek_run_start);
}

int spek_nl_run_stop_doit(struct sk_buff *skb, struct genl_info *info)
{
	return change_run(skb, info, spek_run_stop);
}

int spek_nl_run_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	return change_run(skb, info, spek_run_delete);
}

/* run-ntf */

void spek_notify_state(struct spek_run *run)
{
	struct sk_buff *msg;

	down_read(&family_rwsem);
	if (family_is_registered &&
	    genl_has_listeners(&spek_nl_family, &init_net, SPEK_NLGRP_RUNS)) {
		msg = run_message(run, 0, 0, SPEK_CMD_RUN_NTF);
		if (msg)
			genlmsg_multicast(&spek_nl_family, msg, 0, SPEK_NLGRP_RUNS, GFP_KERNEL);
	}
	up_read(&family_rwsem);
}

/* Ownership: a run ends with the socket that made it. */

static int netlink_event(struct notifier_block *nb, unsigned long event, void *data)
{
	const struct netlink_notify *notify = data;

	if (event == NETLINK_URELEASE && notify->protocol == NETLINK_GENERIC &&
	    net_eq(notify->net, &init_net))
		spek_run_owner_gone(notify->portid);
	return NOTIFY_DONE;
}

static struct notifier_block netlink_notifier = {
	.notifier_call = netlink_event,
};

int spek_netlink_init(void)
{
	int err;

	/* first the notifier, so that no owner's end is missed */
	err = netlink_register_notifier(&netlink_notifier);
	if (err)
		return err;
	err = genl_register_family(&spek_nl_family);
	if (err) {
		netlink_unregister_notifier(&netlink_notifier);
		return err;
	}
	down_write(&family_rwsem);
	family_is_registered = true;
	up_write(&family_rwsem);
	return 0;
}

void spek_netlink_deinit(void)
{
	down_write(&family_rwsem);
	family_is_registered = false;
	up_write(&family_rwsem);
	genl_unregister_family(&spek_nl_family);
	netlink_unregister_notifier(&netlink_notifier);
}
