// SPDX-License-Identifier: GPL-2.0
/*
 * feed-open, feed-push, feed-mark, feed-close and feed-get: power feeds over netlink.
 *
 * Reading the energy of feeds: netlink_energy.c.
 */
#include <linux/bitmap.h>
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <net/genetlink.h>

#include "../kmod/compat/compat.h"
#include "feed.h"
#include "gen/netlink_gen.h"
#include "gen/request_gen.h"
#include "netlink.h"

#define PUT_FEED(skb, name, value) SPEK_PUT_U64(skb, SPEK_PROBER_A_FEED, name, value)
#define PUT_RAIL(skb, name, value) SPEK_PUT_U64(skb, SPEK_PROBER_A_RAIL, name, value)

static int refuse(struct genl_info *info, const struct nlattr *attr, int err, const char *text)
{
	return spek_genl_refuse(info->extack, attr, err, text);
}

/* Refuse for a reason that feed.c gave, with the attribute that it is about. */
static int refuse_below(struct genl_info *info, int err, const struct spek_refusal *refusal)
{
	static const u16 attrs[] = {
		[SPEK_FEED_PART_ID]		= SPEK_PROBER_A_FEED_ID,
		[SPEK_FEED_PART_NAME]		= SPEK_PROBER_A_FEED_NAME,
		[SPEK_FEED_PART_HISTORY]	= SPEK_PROBER_A_FEED_HISTORY,
		[SPEK_FEED_PART_SAMPLE]		= SPEK_PROBER_A_FEED_SAMPLES,
	};
	const struct nlattr *attr = NULL;

	if (refusal->kind != SPEK_FEED_PART_REQUEST)
		attr = info->attrs[attrs[refusal->kind]];
	return spek_genl_refuse_below(info->extack, attr, err, refusal);
}

/* ---- feed-open ---- */

static bool is_name(const char *name)
{
	const char *c;

	for (c = name; *c; c++)
		if (!isascii(*c) || !isgraph(*c))
			return false;
	return c != name;
}

static int check_names(struct genl_info *info, const struct spek_prober_feed_open *request)
{
	if (!is_name(request->name))
		return refuse(info, info->attrs[SPEK_PROBER_A_FEED_NAME], -EINVAL,
			      "The name of a feed must be printable, without spaces.");
	if (!is_name(request->source))
		return refuse(info, info->attrs[SPEK_PROBER_A_FEED_SOURCE], -EINVAL,
			      "The source of a feed must be printable, without spaces.");
	return 0;
}

static int check_limits(struct genl_info *info, struct spek_prober_feed_open *request)
{
	if (request->history < SPEK_PROBER_MIN_HISTORY ||
	    request->history > SPEK_PROBER_MAX_HISTORY)
		return refuse(info, info->attrs[SPEK_PROBER_A_FEED_HISTORY], -ERANGE,
			      "The history must have from 64 to 4194304 samples for each rail.");
	request->history = round_up(request->history, SPEK_RAIL_BLOCK);

	if (!request->max_step_ns || request->max_step_ns > SPEK_PROBER_MAX_STEP_LIMIT_NS)
		return refuse(info, info->attrs[SPEK_PROBER_A_FEED_MAX_STEP_NS], -ERANGE,
			      "The largest step must be from 1 ns to 1 h.");
	return 0;
}

static int refuse_rail_name(struct genl_info *info, u32 rail, const char *text)
{
	const struct nlattr *nest = spek_genl_nth(info, SPEK_PROBER_A_FEED_RAIL, rail);

	return refuse(info, nla_find_nested(nest, SPEK_PROBER_A_RAIL_NAME), -EINVAL, text);
}

static int check_rails(struct genl_info *info, const struct spek_prober_feed_open *request)
{
	u32 i, j;

	for (i = 0; i < request->nr_rails; i++) {
		const char *name = request->rail[i].name;

		if (!is_name(name))
			return refuse_rail_name(info, i,
						"The name of a rail must be printable, without spaces.");
		for (j = 0; j < i; j++)
			if (!strcmp(request->rail[j].name, name))
				return refuse_rail_name(info, i,
							"Two rails of the feed have the same name.");
	}
	return 0;
}

static int check_memory(struct genl_info *info, const struct spek_prober_feed_open *request)
{
	u64 bytes = (u64)request->nr_rails * request->history * sizeof(struct spek_rail_sample);

	if (bytes <= SPEK_PROBER_MAX_HISTORY_BYTES)
		return 0;
	return refuse(info, info->attrs[SPEK_PROBER_A_FEED_HISTORY], -ERANGE,
		      "The rails' samples need more than the 256 MiB allowed: keep fewer.");
}

static struct sk_buff *begin_answer(struct genl_info *info, u8 command, void **header)
{
	struct sk_buff *answer = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);

	if (!answer)
		return NULL;
	*header = genlmsg_put_reply(answer, info, &spek_prober_nl_family, 0, command);
	if (!*header) {
		nlmsg_free(answer);
		return NULL;
	}
	return answer;
}

static int open_and_answer(struct genl_info *info, const struct spek_prober_feed_open *request)
{
	struct spek_refusal refusal = {};
	struct sk_buff *answer;
	void *header;
	u32 id;
	int err;

	/* Everything that can fail comes first: the owner must learn the feed's number. */
	answer = begin_answer(info, SPEK_PROBER_CMD_FEED_OPEN, &header);
	if (!answer)
		return refuse(info, NULL, -ENOMEM, "There is not enough memory for the answer.");
	spek_genl_own(&spek_prober_genl, info->snd_portid);
	err = spek_feed_open(request, info->snd_portid, &id, &refusal);
	if (err) {
		spek_genl_disown(&spek_prober_genl, info->snd_portid);
		nlmsg_free(answer);
		return refuse_below(info, err, &refusal);
	}

	/* A message has room for one number. */
	WARN_ON_ONCE(nla_put_u32(answer, SPEK_PROBER_A_FEED_ID, id));
	genlmsg_end(answer, header);
	err = genlmsg_reply(answer, info);
	if (!err)
		return 0;

	spek_feed_close(id, &refusal);
	return refuse(info, NULL, err, "The answer could not be delivered.");
}

/**
 * spek_prober_netlink_feed_ended() - release the owner of a feed that has ended
 * @portid: socket that owned it
 *
 * Context: any; given to spek_feed_init().
 */
void spek_prober_netlink_feed_ended(u32 portid)
{
	spek_genl_disown(&spek_prober_genl, portid);
}

int spek_prober_nl_feed_open_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct spek_prober_feed_open *request;
	int err;

	err = spek_genl_check_rights(skb, info->extack);
	if (err)
		return err;
	request = kzalloc(sizeof(*request), GFP_KERNEL);
	if (!request)
		return refuse(info, NULL, -ENOMEM, "There is not enough memory for the rails.");

	err = spek_genl_parse(info, &spek_prober_feed_open_request, request);
	if (!err)
		err = check_names(info, request);
	if (!err)
		err = check_limits(info, request);
	if (!err)
		err = check_rails(info, request);
	if (!err)
		err = check_memory(info, request);
	if (!err)
		err = open_and_answer(info, request);
	kfree(request);
	return err;
}

/* ---- feed-push, feed-mark, feed-close ---- */

static int check_id(struct sk_buff *skb, struct genl_info *info)
{
	int err = spek_genl_check_rights(skb, info->extack);

	if (err)
		return err;
	if (!info->attrs[SPEK_PROBER_A_FEED_ID])
		return refuse(info, NULL, -EINVAL, "The request needs the number of a feed.");
	return 0;
}

static u32 feed_id(const struct genl_info *info)
{
	return nla_get_u32(info->attrs[SPEK_PROBER_A_FEED_ID]);
}

/* Copy the samples out of the message, where they are only 4-byte aligned. */
static struct spek_prober_power_sample *copy_samples(struct genl_info *info, u32 *nr)
{
	const struct nlattr *attr = info->attrs[SPEK_PROBER_A_FEED_SAMPLES];
	struct spek_prober_power_sample *samples;

	if (!attr || !nla_len(attr) || nla_len(attr) % sizeof(*samples))
		return ERR_PTR(refuse(info, attr, -EINVAL,
				      "The request needs samples, an array of whole records."));

	*nr = nla_len(attr) / sizeof(*samples);
	samples = kvmalloc(nla_len(attr), GFP_KERNEL);
	if (!samples)
		return ERR_PTR(refuse(info, NULL, -ENOMEM,
				      "There is not enough memory for the samples."));
	memcpy(samples, nla_data(attr), nla_len(attr));
	return samples;
}

int spek_prober_nl_feed_push_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct spek_prober_power_sample *samples;
	struct spek_refusal refusal = {};
	struct sk_buff *answer;
	u32 nr, accepted;
	void *header;
	int err;

	err = check_id(skb, info);
	if (err)
		return err;
	samples = copy_samples(info, &nr);
	if (IS_ERR(samples))
		return PTR_ERR(samples);

	/* Before the push: samples must not be stored if the answer says they were refused. */
	answer = begin_answer(info, SPEK_PROBER_CMD_FEED_PUSH, &header);
	if (!answer) {
		err = refuse(info, NULL, -ENOMEM, "There is not enough memory for the answer.");
		goto out_free_samples;
	}
	err = spek_feed_push(feed_id(info), info->snd_portid, samples, nr, &accepted, &refusal);
	if (err) {
		nlmsg_free(answer);
		refuse_below(info, err, &refusal);
		goto out_free_samples;
	}

	WARN_ON_ONCE(PUT_FEED(answer, ACCEPTED, accepted) || PUT_FEED(answer, LATE, nr - accepted));
	genlmsg_end(answer, header);
	err = genlmsg_reply(answer, info);

out_free_samples:
	kvfree(samples);
	return err;
}

int spek_prober_nl_feed_mark_doit(struct sk_buff *skb, struct genl_info *info)
{
	DECLARE_BITMAP(given, SPEK_GENL_MAX_FIELDS) = {};
	struct spek_prober_feed_mark mark = {};
	struct spek_refusal refusal = {};
	int err;

	err = spek_genl_check_rights(skb, info->extack);
	if (!err)
		err = spek_genl_parse(info, &spek_prober_feed_mark_request, &mark);
	if (err)
		return err;
	if (mark.until_ns > ktime_get_ns() + SPEK_PROBER_MAX_AHEAD_NS)
		return refuse(info, info->attrs[SPEK_PROBER_A_FEED_UNTIL_NS], -ERANGE,
			      "The mark lies more than 1 s in the future.");

	spek_genl_given(info, &spek_prober_feed_mark_request, given);
	err = spek_feed_mark(info->snd_portid, &mark, given, &refusal);
	if (err)
		return refuse_below(info, err, &refusal);
	return 0;
}

int spek_prober_nl_feed_close_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct spek_refusal refusal = {};
	int err;

	err = check_id(skb, info);
	if (err)
		return err;
	err = spek_feed_close(feed_id(info), &refusal);
	if (err)
		return refuse_below(info, err, &refusal);
	return 0;
}

/* ---- feed-get ---- */

static int put_feed(struct sk_buff *skb, const struct spek_feed *feed, u64 watermark_ns)
{
	const struct spek_prober_feed_mark *mark = &feed->mark;

	if (nla_put_u32(skb, SPEK_PROBER_A_FEED_ID, feed->id) ||
	    nla_put_string(skb, SPEK_PROBER_A_FEED_NAME, feed->name) ||
	    nla_put_string(skb, SPEK_PROBER_A_FEED_SOURCE, feed->source) ||
	    nla_put_u32(skb, SPEK_PROBER_A_FEED_STATE, feed->state) ||
	    nla_put_u32(skb, SPEK_PROBER_A_FEED_OWNER_PID, pid_vnr(feed->owner_pid)) ||
	    nla_put_string(skb, SPEK_PROBER_A_FEED_OWNER_NAME, feed->owner_name) ||
	    nla_put_u32(skb, SPEK_PROBER_A_FEED_HISTORY, feed->history) ||
	    PUT_FEED(skb, MAX_STEP_NS, feed->max_step_ns) ||
	    PUT_FEED(skb, UNCERTAINTY_NS, mark->uncertainty_ns) ||
	    SPEK_PUT_S64(skb, SPEK_PROBER_A_FEED, DRIFT_PPB, mark->drift_ppb) ||
	    PUT_FEED(skb, RESIDUAL_NS, mark->residual_ns) ||
	    PUT_FEED(skb, OVERFLOWS, mark->overflows) ||
	    PUT_FEED(skb, LOST, mark->lost) ||
	    PUT_FEED(skb, OPENED_NS, feed->opened_ns) ||
	    (spek_feed_has_ended(feed) && PUT_FEED(skb, ENDED_NS, feed->ended_ns)) ||
	    PUT_FEED(skb, NOW_NS, ktime_get_ns()) ||
	    PUT_FEED(skb, WATERMARK_NS, watermark_ns) ||
	    PUT_FEED(skb, BATCHES, feed->batches) ||
	    PUT_FEED(skb, REFUSED, feed->refused) ||
	    PUT_FEED(skb, LEFT_BEHIND, feed->left_behind))
		return -EMSGSIZE;
	return 0;
}

static int put_samples(struct sk_buff *skb, const struct spek_rail *rail,
		       const struct spek_rail_sample *last)
{
	if (PUT_RAIL(skb, GAP_NS, last->gap_ns) ||
	    PUT_RAIL(skb, KNOWN_NS, last->at_ns - rail->first_ns - last->gap_ns) ||
	    SPEK_PUT_S64(skb, SPEK_PROBER_A_RAIL, ENERGY_UJ, last->energy_uj) ||
	    PUT_RAIL(skb, FIRST_NS, rail->first_ns) ||
	    PUT_RAIL(skb, OLDEST_NS, spek_rail_oldest(rail)->at_ns) ||
	    PUT_RAIL(skb, LAST_NS, last->at_ns) ||
	    SPEK_PUT_S64(skb, SPEK_PROBER_A_RAIL, POWER_UW, last->power_uw))
		return -EMSGSIZE;
	return 0;
}

static int put_rail(struct sk_buff *skb, const struct spek_feed *feed, u32 number)
{
	const struct spek_feed_rail *rail = &feed->rails[number];
	const struct spek_rail_sample *last = spek_rail_last(&rail->rail);
	struct nlattr *nest = nla_nest_start(skb, SPEK_PROBER_A_FEED_RAIL);

	if (!nest || nla_put_u32(skb, SPEK_PROBER_A_RAIL_NUMBER, number) ||
	    nla_put_string(skb, SPEK_PROBER_A_RAIL_NAME, rail->config.name) ||
	    PUT_RAIL(skb, LSB_NW, rail->config.lsb_nw) ||
	    PUT_RAIL(skb, SAMPLES, rail->rail.stored) ||
	    PUT_RAIL(skb, LATE, rail->rail.late) ||
	    PUT_RAIL(skb, OVERWRITTEN, spek_rail_overwritten(&rail->rail)) ||
	    PUT_RAIL(skb, GAPS, rail->rail.gaps) ||
	    (last && put_samples(skb, &rail->rail, last)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * struct feed_message - arguments of describe_rail()
 * @skb: buffer
 * @cb: dump
 */
struct feed_message {
	struct sk_buff *skb;
	struct netlink_callback *cb;
};

static int describe_rail(const struct spek_feed *feed, u32 rail, u64 watermark_ns, void *context)
{
	const struct feed_message *message = context;
	struct sk_buff *skb = message->skb;
	void *header;

	header = spek_genl_dump_head(&spek_prober_genl, skb, message->cb, SPEK_PROBER_CMD_FEED_GET);
	if (!header)
		return -EMSGSIZE;
	if (put_feed(skb, feed, watermark_ns) || put_rail(skb, feed, rail)) {
		genlmsg_cancel(skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return 0;
}

/**
 * spek_prober_netlink_begin_walk() - check rights and begin the dump of one or all feeds
 * @cb: dump
 * @attr: number of the only feed to visit, or NULL for all
 * @cursor: set to the first rail to visit
 *
 * Return: 0, -EPERM or -ENOENT, with a sentence.
 */
int spek_prober_netlink_begin_walk(struct netlink_callback *cb, const struct nlattr *attr,
				   struct spek_feed_cursor *cursor)
{
	u32 only = attr ? nla_get_u32(attr) : 0;
	struct spek_refusal refusal = {};
	int err;

	err = spek_genl_check_rights(cb->skb, cb->extack);
	if (err)
		return err;
	if (attr) {
		err = spek_feed_check(only, &refusal);
		if (err)
			return spek_genl_refuse_below(cb->extack, attr, err, &refusal);
	}
	*cursor = (struct spek_feed_cursor){ .only = only, .feed = only };
	return 0;
}

int spek_prober_nl_feed_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct {
		u32 has_begun;
		struct spek_feed_cursor next;
	} *dump = (void *)cb->ctx;
	struct feed_message message = { skb, cb };
	int err;

	BUILD_BUG_ON(sizeof(*dump) > sizeof(cb->ctx));

	if (!dump->has_begun) {
		struct nlattr **attrs = spek_compat_dump_attrs(cb);

		err = spek_prober_netlink_begin_walk(cb, attrs[SPEK_PROBER_A_FEED_ID], &dump->next);
		if (err)
			return err;
		dump->has_begun = 1;
	}
	err = spek_feeds_walk(&dump->next, describe_rail, &message, &cb->seq);
	return spek_genl_dump_end(skb, cb, err);
}
