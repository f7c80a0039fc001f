// SPDX-License-Identifier: GPL-2.0
/*
 * netlink_feed.c - feed-open, feed-push, feed-mark, feed-close and feed-get
 *
 * What feeds have brought is read in netlink_energy.c.
 */
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
#include "netlink.h"
#include "netlink_feed.h"

#define NO_MEMORY "The kernel is out of memory."

static int refuse(struct genl_info *info, const struct nlattr *attr, int err, const char *text)
{
	return spek_prober_refuse(info->extack, attr, err, text);
}

/* ---- feed-open ---- */

/* Return: false if there is anything but printable ASCII without spaces, or nothing at all */
static bool take_name(const struct nlattr *attr, char *name)
{
	const char *c;

	nla_strscpy(name, attr, SPEK_PROBER_MAX_NAME + 1);
	for (c = name; *c; c++)
		if (!isascii(*c) || !isgraph(*c))
			return false;

	return c != name;
}

static int check_names(struct genl_info *info, struct spek_feed_config *config)
{
	const struct nlattr *name = info->attrs[SPEK_PROBER_A_FEED_NAME];
	const struct nlattr *source = info->attrs[SPEK_PROBER_A_FEED_SOURCE];

	if (!name || !source)
		return refuse(info, NULL, -EINVAL, "A feed needs a name and a source.");
	if (!take_name(name, config->name))
		return refuse(info, name, -EINVAL,
			      "The name of a feed must be printable, without spaces.");
	if (!take_name(source, config->source))
		return refuse(info, source, -EINVAL,
			      "The source of a feed must be printable, without spaces.");

	return 0;
}

static int check_limits(struct genl_info *info, struct spek_feed_config *config)
{
	const struct nlattr *history = info->attrs[SPEK_PROBER_A_FEED_HISTORY];
	const struct nlattr *step = info->attrs[SPEK_PROBER_A_FEED_MAX_STEP_NS];
	const struct nlattr *uncertainty = info->attrs[SPEK_PROBER_A_FEED_UNCERTAINTY_NS];

	config->history = history ? nla_get_u32(history) : SPEK_PROBER_DEFAULT_HISTORY;
	if (config->history < SPEK_PROBER_MIN_HISTORY ||
	    config->history > SPEK_PROBER_MAX_HISTORY)
		return refuse(info, history, -ERANGE,
			      "The history must have from 64 to 4194304 samples for each rail.");
	config->history = round_up(config->history, SPEK_RAIL_BLOCK);

	config->max_step_ns = step ? nla_get_u64(step) : SPEK_PROBER_DEFAULT_STEP_NS;
	if (!config->max_step_ns || config->max_step_ns > SPEK_PROBER_MAX_STEP_LIMIT_NS)
		return refuse(info, step, -ERANGE, "The largest step must be from 1 ns to 1 h.");
	config->uncertainty_ns = uncertainty ? nla_get_u64(uncertainty) : 0;

	return 0;
}

static int take_rail(struct genl_info *info, const struct nlattr *attr,
		     struct spek_feed_config *config)
{
	struct spek_rail_config *rail = &config->rails[config->nr_rails];
	struct nlattr *tb[SPEK_PROBER_A_RAIL_MAX + 1];
	const struct nlattr *name, *lsb;
	u32 i;
	int err;

	/* the family's policy has checked it */
	err = nla_parse_nested(tb, SPEK_PROBER_A_RAIL_MAX, attr, NULL, info->extack);
	if (err)
		return err;
	name = tb[SPEK_PROBER_A_RAIL_NAME];
	lsb = tb[SPEK_PROBER_A_RAIL_LSB_NW];
	if (!name)
		return refuse(info, attr, -EINVAL, "A rail needs a name.");
	if (!take_name(name, rail->name))
		return refuse(info, name, -EINVAL,
			      "The name of a rail must be printable, without spaces.");
	for (i = 0; i < config->nr_rails; i++)
		if (!strcmp(config->rails[i].name, rail->name))
			return refuse(info, name, -EINVAL,
				      "Two rails of the feed have the same name.");
	rail->lsb_nw = lsb ? nla_get_u64(lsb) : 0;
	config->nr_rails++;

	return 0;
}

static int take_rails(struct genl_info *info, struct spek_feed_config *config)
{
	const struct nlattr *attr;
	u32 count = 0;
	int rem, err;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem)
		count += nla_type(attr) == SPEK_PROBER_A_FEED_RAIL;
	if (!count)
		return refuse(info, NULL, -EINVAL, "A feed needs at least one rail.");
	if (count > SPEK_PROBER_MAX_RAILS)
		return refuse(info, info->attrs[SPEK_PROBER_A_FEED_RAIL], -ERANGE,
			      "A feed has at most 64 rails.");

	config->rails = kcalloc(count, sizeof(*config->rails), GFP_KERNEL);
	if (!config->rails)
		return refuse(info, NULL, -ENOMEM, NO_MEMORY);
	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) != SPEK_PROBER_A_FEED_RAIL)
			continue;
		err = take_rail(info, attr, config);
		if (err)
			return err;
	}

	return 0;
}

static int check_memory(struct genl_info *info, const struct spek_feed_config *config)
{
	u64 bytes = (u64)config->nr_rails * config->history * sizeof(struct spek_rail_sample);

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

static int open_and_answer(struct genl_info *info, const struct spek_feed_config *config)
{
	struct sk_buff *answer;
	void *header;
	u32 id;
	int err;

	/* all that can fail comes first: a feed whose number nobody learns is a nuisance */
	answer = begin_answer(info, SPEK_PROBER_CMD_FEED_OPEN, &header);
	if (!answer)
		return refuse(info, NULL, -ENOMEM, NO_MEMORY);
	err = spek_feed_open(config, &id, info->extack);
	if (err) {
		nlmsg_free(answer);
		return err;
	}

	/* a message has room for one number */
	WARN_ON_ONCE(nla_put_u32(answer, SPEK_PROBER_A_FEED_ID, id));
	genlmsg_end(answer, header);
	err = genlmsg_reply(answer, info);
	if (!err)
		return 0;

	spek_feed_close(id, NULL);
	return refuse(info, NULL, err, "The answer could not be delivered.");
}

int spek_prober_nl_feed_open_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct spek_feed_config config = { .portid = info->snd_portid };
	int err;

	err = spek_prober_netlink_check_rights(skb, info->extack);
	if (err)
		return err;

	err = check_names(info, &config);
	if (!err)
		err = check_limits(info, &config);
	if (!err)
		err = take_rails(info, &config);
	if (!err)
		err = check_memory(info, &config);
	if (!err)
		err = open_and_answer(info, &config);
	kfree(config.rails);

	return err;
}

/* ---- feed-push, feed-mark, feed-close ---- */

static int check_id(struct sk_buff *skb, struct genl_info *info)
{
	int err = spek_prober_netlink_check_rights(skb, info->extack);

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

static int blame(struct genl_info *info, u32 attr, int err)
{
	if (err && info->extack)
		info->extack->bad_attr = info->attrs[attr];

	return err;
}

#define PUT_U64(skb, name, value) \
	nla_put_u64_64bit(skb, SPEK_PROBER_A_FEED_##name, value, SPEK_PROBER_A_FEED_PAD)

/* Take the samples out of the message: they may lie there at addresses that suit no u64. */
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
		return ERR_PTR(refuse(info, NULL, -ENOMEM, NO_MEMORY));
	memcpy(samples, nla_data(attr), nla_len(attr));

	return samples;
}

int spek_prober_nl_feed_push_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct spek_prober_power_sample *samples;
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

	/* first, so that nothing is stored of which the sender is told that it was not */
	answer = begin_answer(info, SPEK_PROBER_CMD_FEED_PUSH, &header);
	if (!answer) {
		err = refuse(info, NULL, -ENOMEM, NO_MEMORY);
		goto out_free_samples;
	}
	err = spek_feed_push(feed_id(info), info->snd_portid, samples, nr, &accepted, info->extack);
	if (err) {
		nlmsg_free(answer);
		blame(info, err == -EINVAL || err == -ERANGE ? SPEK_PROBER_A_FEED_SAMPLES :
		      SPEK_PROBER_A_FEED_ID, err);
		goto out_free_samples;
	}

	WARN_ON_ONCE(PUT_U64(answer, ACCEPTED, accepted) || PUT_U64(answer, LATE, nr - accepted));
	genlmsg_end(answer, header);
	err = genlmsg_reply(answer, info);

out_free_samples:
	kvfree(samples);
	return err;
}

static int take_mark(struct genl_info *info, struct spek_feed_mark *mark)
{
	const struct nlattr *until = info->attrs[SPEK_PROBER_A_FEED_UNTIL_NS];
	const struct nlattr *drift = info->attrs[SPEK_PROBER_A_FEED_DRIFT_PPB];
	struct {
		u32 attr;
		u64 *value;
	} numbers[] = {
		{ SPEK_PROBER_A_FEED_UNTIL_NS, &mark->until_ns },
		{ SPEK_PROBER_A_FEED_UNCERTAINTY_NS, &mark->uncertainty_ns },
		{ SPEK_PROBER_A_FEED_RESIDUAL_NS, &mark->residual_ns },
		{ SPEK_PROBER_A_FEED_OVERFLOWS, &mark->overflows },
		{ SPEK_PROBER_A_FEED_LOST, &mark->lost },
	};
	unsigned int i;

	if (until && nla_get_u64(until) > ktime_get_ns() + SPEK_PROBER_MAX_AHEAD_NS)
		return refuse(info, until, -ERANGE,
			      "The mark lies more than 1 s in the future.");
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (info->attrs[numbers[i].attr])
			*numbers[i].value = nla_get_u64(info->attrs[numbers[i].attr]);
	if (drift)
		mark->drift_ppb = nla_get_s64(drift);

	return 0;
}

int spek_prober_nl_feed_mark_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct spek_feed_mark mark;
	struct spek_feed *feed;
	int err;

	err = check_id(skb, info);
	if (err)
		return err;

	mutex_lock(&spek_power_lock);
	feed = spek_feed_find_own(feed_id(info), info->snd_portid, info->extack);
	if (IS_ERR(feed)) {
		err = blame(info, SPEK_PROBER_A_FEED_ID, PTR_ERR(feed));
		goto out_unlock;
	}
	mark = feed->mark;
	err = take_mark(info, &mark);
	if (!err)
		spek_feed_set_mark(feed, &mark);

out_unlock:
	mutex_unlock(&spek_power_lock);
	return err;
}

int spek_prober_nl_feed_close_doit(struct sk_buff *skb, struct genl_info *info)
{
	int err = check_id(skb, info);

	return err ?: blame(info, SPEK_PROBER_A_FEED_ID,
			    spek_feed_close(feed_id(info), info->extack));
}

/* ---- feed-get ---- */

#define PUT_RAIL(skb, name, value) \
	nla_put_u64_64bit(skb, SPEK_PROBER_A_RAIL_##name, value, SPEK_PROBER_A_RAIL_PAD)

static int put_feed(struct sk_buff *skb, const struct spek_feed *feed)
{
	const struct spek_feed_mark *mark = &feed->mark;

	if (nla_put_u32(skb, SPEK_PROBER_A_FEED_ID, feed->id) ||
	    nla_put_string(skb, SPEK_PROBER_A_FEED_NAME, feed->name) ||
	    nla_put_string(skb, SPEK_PROBER_A_FEED_SOURCE, feed->source) ||
	    nla_put_u32(skb, SPEK_PROBER_A_FEED_STATE, feed->state) ||
	    nla_put_u32(skb, SPEK_PROBER_A_FEED_OWNER_PID, pid_vnr(feed->owner_pid)) ||
	    nla_put_string(skb, SPEK_PROBER_A_FEED_OWNER_NAME, feed->owner_name) ||
	    nla_put_u32(skb, SPEK_PROBER_A_FEED_HISTORY, feed->history) ||
	    PUT_U64(skb, MAX_STEP_NS, feed->max_step_ns) ||
	    PUT_U64(skb, UNCERTAINTY_NS, mark->uncertainty_ns) ||
	    nla_put_s64(skb, SPEK_PROBER_A_FEED_DRIFT_PPB, mark->drift_ppb,
			SPEK_PROBER_A_FEED_PAD) ||
	    PUT_U64(skb, RESIDUAL_NS, mark->residual_ns) ||
	    PUT_U64(skb, OVERFLOWS, mark->overflows) ||
	    PUT_U64(skb, LOST, mark->lost) ||
	    PUT_U64(skb, OPENED_NS, feed->opened_ns) ||
	    (spek_feed_has_ended(feed) && PUT_U64(skb, ENDED_NS, feed->ended_ns)) ||
	    PUT_U64(skb, NOW_NS, ktime_get_ns()) ||
	    PUT_U64(skb, WATERMARK_NS, spek_feed_watermark(feed)) ||
	    PUT_U64(skb, BATCHES, feed->batches) ||
	    PUT_U64(skb, REFUSED, feed->refused) ||
	    PUT_U64(skb, LEFT_BEHIND, feed->left_behind))
		return -EMSGSIZE;

	return 0;
}

static int put_samples(struct sk_buff *skb, const struct spek_rail *rail,
		       const struct spek_rail_sample *last)
{
	if (PUT_RAIL(skb, GAP_NS, last->gap_ns) ||
	    PUT_RAIL(skb, KNOWN_NS, last->at_ns - rail->first_ns - last->gap_ns) ||
	    nla_put_s64(skb, SPEK_PROBER_A_RAIL_ENERGY_UJ, last->energy_uj,
			SPEK_PROBER_A_RAIL_PAD) ||
	    PUT_RAIL(skb, FIRST_NS, rail->first_ns) ||
	    PUT_RAIL(skb, OLDEST_NS, spek_rail_oldest(rail)->at_ns) ||
	    PUT_RAIL(skb, LAST_NS, last->at_ns) ||
	    nla_put_s64(skb, SPEK_PROBER_A_RAIL_POWER_UW, last->power_uw,
			SPEK_PROBER_A_RAIL_PAD))
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

static int describe_rail(struct sk_buff *skb, struct netlink_callback *cb,
			 const struct spek_feed *feed, u32 number)
{
	void *header = spek_prober_netlink_begin_dump_message(skb, cb, SPEK_PROBER_CMD_FEED_GET);

	if (!header)
		return -EMSGSIZE;
	if (put_feed(skb, feed) || put_rail(skb, feed, number)) {
		genlmsg_cancel(skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);

	return 0;
}

/**
 * spek_prober_netlink_check_feed() - check rights and the one feed that a dump may ask for
 * @cb: dump, with the feed lock
 * @attr: number of a feed, or NULL
 * @id: filled with that number, or with 0 for all feeds
 *
 * Return: 0, -EPERM or -ENOENT, with a sentence.
 */
int spek_prober_netlink_check_feed(struct netlink_callback *cb, const struct nlattr *attr,
				   u32 *id)
{
	int err = spek_prober_netlink_check_rights(cb->skb, cb->extack);

	if (err)
		return err;
	*id = attr ? nla_get_u32(attr) : 0;
	if (attr && !spek_feed_find(*id, cb->extack)) {
		NL_SET_BAD_ATTR(cb->extack, attr);
		return -ENOENT;
	}

	return 0;
}

int spek_prober_nl_feed_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct {
		u32 has_begun;
		u32 only;	/* number of the one that was asked for, or 0 */
		u32 feed;
		u32 rail;
	} *cursor = (void *)cb->ctx;
	struct nlattr **attrs = spek_compat_dump_attrs(cb);
	struct spek_feed *feed;
	int err = 0;

	BUILD_BUG_ON(sizeof(*cursor) > sizeof(cb->ctx));

	mutex_lock(&spek_power_lock);
	if (!cursor->has_begun) {
		err = spek_prober_netlink_check_feed(cb, attrs[SPEK_PROBER_A_FEED_ID],
						     &cursor->only);
		if (err)
			goto out_unlock;
		cursor->feed = cursor->only;
		cursor->has_begun = 1;
	}
	cb->seq = spek_power_generation();
	while ((feed = spek_feed_from(cursor->feed)) &&
	       (!cursor->only || feed->id == cursor->only)) {
		/* the one before may have gone with some of its rails unsaid */
		if (feed->id != cursor->feed)
			cursor->rail = 0;
		cursor->feed = feed->id;
		for (; cursor->rail < feed->nr_rails; cursor->rail++) {
			err = describe_rail(skb, cb, feed, cursor->rail);
			if (err)
				goto out_unlock;
		}
		cursor->feed++;
		cursor->rail = 0;
	}

out_unlock:
	mutex_unlock(&spek_power_lock);
	/* with something in it, the message goes out and the rest comes in the next */
	return skb->len ?: err;
}

