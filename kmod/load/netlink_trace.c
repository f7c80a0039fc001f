// SPDX-License-Identifier: GPL-2.0
/* trace-feed and trace-end: the records of a trace over netlink. */
#include "netlink.h"
#include "replay.h"

/* Find the replay of a run, and make the socket its feeder. Return: 0 or a negative errno */
static int claim_replay(const struct genl_info *info, const struct spek_run *run,
			struct spek_replay **replay)
{
	struct spek_refusal refusal = {};
	int new;

	*replay = spek_run_replay(run);
	if (!*replay)
		return spek_genl_refuse(info->extack, info->attrs[SPEK_A_TRACE_RUN], -EINVAL,
					"The run replays no trace, or has not opened its devices.");
	/* Before the claim: once it is made, the removal of the run disowns the socket. */
	spek_genl_own(&spek_netlink, info->snd_portid);
	new = spek_replay_claim(*replay, info->snd_portid, &refusal);
	if (new != 1)
		spek_genl_disown(&spek_netlink, info->snd_portid);
	if (new < 0)
		return spek_genl_refuse(info->extack, info->attrs[SPEK_A_TRACE_RUN], new,
					refusal.text);
	return 0;
}

static int send_answer(struct genl_info *info, u32 accepted, u32 room)
{
	struct sk_buff *msg = genlmsg_new(nla_total_size(sizeof(u32)) * 2, GFP_KERNEL);
	void *head;

	/* The records are in the ring: an answer that gets lost must not look like a refusal. */
	if (!msg)
		return 0;
	head = genlmsg_put_reply(msg, info, &spek_nl_family, 0, SPEK_CMD_TRACE_FEED);
	nla_put_u32(msg, SPEK_A_TRACE_ACCEPTED, accepted);
	nla_put_u32(msg, SPEK_A_TRACE_ROOM, room);
	genlmsg_end(msg, head);
	return genlmsg_reply(msg, info);
}

static int feed_records(struct genl_info *info, const struct spek_run *run)
{
	const struct nlattr *records = info->attrs[SPEK_A_TRACE_RECORDS];
	const struct nlattr *worker = info->attrs[SPEK_A_TRACE_WORKER];
	u32 nr, rest, accepted = 0, room = 0;
	struct spek_refusal refusal = {};
	struct spek_replay *replay;
	int err;

	nr = nla_len(records) / sizeof(struct spek_trace_record);
	rest = nla_len(records) % sizeof(struct spek_trace_record);
	if (!nr || rest)
		return spek_genl_refuse(info->extack, records, -EINVAL,
					"A message carries 1 to 2000 records of 24 bytes.");
	if (nla_get_u32(worker) >= run->config->nr_workers)
		return spek_genl_refuse(info->extack, worker, -ERANGE,
					"The run has no worker with this number.");
	err = claim_replay(info, run, &replay);
	if (err)
		return err;
	err = spek_replay_feed(replay, nla_get_u32(worker), nla_data(records), nr, &accepted,
			       &room, &refusal);
	if (err)
		return spek_genl_refuse(info->extack, err == -EBUSY ?
					info->attrs[SPEK_A_TRACE_RUN] : records, err, refusal.text);
	return send_answer(info, accepted, room);
}

static int end_trace(struct genl_info *info, const struct spek_run *run)
{
	const struct nlattr *count = info->attrs[SPEK_A_TRACE_COUNT];
	struct spek_refusal refusal = {};
	struct spek_replay *replay;
	int err;

	err = claim_replay(info, run, &replay);
	if (err)
		return err;
	err = spek_replay_end(replay, nla_get_u64(count), &refusal);
	if (err)
		return spek_genl_refuse(info->extack, err == -EBUSY ?
					info->attrs[SPEK_A_TRACE_RUN] : count, err, refusal.text);
	return 0;
}

/* Serve a request about the trace of a run. */
static int serve_request(struct sk_buff *skb, struct genl_info *info, bool has_all,
			 const char *needs,
			 int (*act)(struct genl_info *info, const struct spek_run *run))
{
	struct spek_run *run;
	int err;

	err = spek_genl_check_rights(skb, info->extack);
	if (err)
		return err;
	if (!has_all)
		return spek_genl_refuse(info->extack, NULL, -EINVAL, needs);
	run = spek_nl_get_run(info->attrs[SPEK_A_TRACE_RUN], info->extack);
	if (IS_ERR(run))
		return PTR_ERR(run);
	err = act(info, run);
	spek_run_put(run);
	return err;
}

int spek_nl_trace_feed_doit(struct sk_buff *skb, struct genl_info *info)
{
	bool has_all = info->attrs[SPEK_A_TRACE_WORKER] && info->attrs[SPEK_A_TRACE_RECORDS];

	return serve_request(skb, info, has_all, "The request needs a worker and records.",
			     feed_records);
}

int spek_nl_trace_end_doit(struct sk_buff *skb, struct genl_info *info)
{
	return serve_request(skb, info, info->attrs[SPEK_A_TRACE_COUNT],
			     "The request needs the number of all records.", end_trace);
}
