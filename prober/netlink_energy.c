// SPDX-License-Identifier: GPL-2.0
/*
 * netlink_energy.c - feed-get and energy-get: what feeds are, and what they have brought
 *
 * Both dumps keep a cursor of numbers and no reference, so a feed may go meanwhile;
 * cb->seq then tells the reader that the list has changed.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <net/genetlink.h>

#include "../kmod/compat/compat.h"
#include "feed.h"
#include "gen/netlink_gen.h"
#include "netlink.h"

/* an attribute's length is u16; this leaves room for the attributes around it */
#define MAX_RESULTS_BYTES 61440

/* ---- feed-get ---- */

#define PUT_FEED(skb, name, value) \
	nla_put_u64_64bit(skb, SPEK_PROBER_A_FEED_##name, value, SPEK_PROBER_A_FEED_PAD)
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
	    PUT_FEED(skb, MAX_STEP_NS, feed->max_step_ns) ||
	    PUT_FEED(skb, UNCERTAINTY_NS, mark->uncertainty_ns) ||
	    nla_put_s64(skb, SPEK_PROBER_A_FEED_DRIFT_PPB, mark->drift_ppb,
			SPEK_PROBER_A_FEED_PAD) ||
	    PUT_FEED(skb, RESIDUAL_NS, mark->residual_ns) ||
	    PUT_FEED(skb, OVERFLOWS, mark->overflows) ||
	    PUT_FEED(skb, LOST, mark->lost) ||
	    PUT_FEED(skb, OPENED_NS, feed->opened_ns) ||
	    (spek_feed_has_ended(feed) && PUT_FEED(skb, ENDED_NS, feed->ended_ns)) ||
	    PUT_FEED(skb, NOW_NS, ktime_get_ns()) ||
	    PUT_FEED(skb, WATERMARK_NS, spek_feed_watermark(feed)) ||
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

static void *begin_message(struct sk_buff *skb, struct netlink_callback *cb, u8 command)
{
	void *header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				   &spek_prober_nl_family, NLM_F_MULTI, command);

	if (header)
		genl_dump_check_consistent(cb, header);

	return header;
}

static int describe_rail(struct sk_buff *skb, struct netlink_callback *cb,
			 const struct spek_feed *feed, u32 number)
{
	void *header = begin_message(skb, cb, SPEK_PROBER_CMD_FEED_GET);

	if (!header)
		return -EMSGSIZE;
	if (put_feed(skb, feed) || put_rail(skb, feed, number)) {
		genlmsg_cancel(skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);

	return 0;
}

/* The one feed that was asked for, or 0. Return: 0 or a refusal */
static int check_feed(struct netlink_callback *cb, const struct nlattr *attr, u32 *id)
{
	int err = spek_netlink_check_rights(cb->skb, cb->extack);

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
	struct spek_feed *feed;
	int err = 0;

	BUILD_BUG_ON(sizeof(*cursor) > sizeof(cb->ctx));

	mutex_lock(&spek_power_lock);
	if (!cursor->has_begun) {
		err = check_feed(cb, spek_compat_dump_attrs(cb)[SPEK_PROBER_A_FEED_ID],
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

/* ---- energy-get ---- */

/**
 * struct energy_dump - a dump in progress; owned by its netlink callback
 * @only: number of the one feed that was asked for, or 0
 * @feed: where to go on: which feed
 * @rail: which of its rails
 * @next: which interval
 * @nr: number of intervals
 * @intervals: intervals
 */
struct energy_dump {
	u32 only;
	u32 feed;
	u32 rail;
	u32 next;
	u32 nr;
	struct spek_prober_power_interval intervals[];
};

#define PUT_ENERGY(skb, name, value) \
	nla_put_u64_64bit(skb, SPEK_PROBER_A_ENERGY_##name, value, SPEK_PROBER_A_ENERGY_PAD)

static int check_intervals(const struct nlattr *attr, const struct energy_dump *dump,
			   struct netlink_ext_ack *extack)
{
	u32 i;

	for (i = 0; i < dump->nr; i++) {
		if (dump->intervals[i].from_ns < dump->intervals[i].to_ns)
			continue;
		spek_netlink_refuse(extack, "Interval %u does not end after its start.", i);
		NL_SET_BAD_ATTR(extack, attr);
		return -EINVAL;
	}

	return 0;
}

static struct energy_dump *begin_dump(struct netlink_callback *cb)
{
	struct nlattr **attrs = spek_compat_dump_attrs(cb);
	const struct nlattr *attr = attrs[SPEK_PROBER_A_ENERGY_INTERVALS];
	struct energy_dump *dump;
	u32 only, nr;
	int err;

	err = check_feed(cb, attrs[SPEK_PROBER_A_ENERGY_FEED], &only);
	if (err)
		return ERR_PTR(err);
	if (!attr || !nla_len(attr) || nla_len(attr) % sizeof(dump->intervals[0])) {
		spek_netlink_refuse(cb->extack,
				    "The request needs intervals, an array of whole records.");
		if (attr)
			NL_SET_BAD_ATTR(cb->extack, attr);
		return ERR_PTR(-EINVAL);
	}

	nr = nla_len(attr) / sizeof(dump->intervals[0]);
	dump = kvzalloc(struct_size(dump, intervals, nr), GFP_KERNEL);
	if (!dump) {
		spek_netlink_refuse(cb->extack, "The kernel has not enough memory for this.");
		return ERR_PTR(-ENOMEM);
	}
	dump->only = only;
	dump->feed = only;
	dump->nr = nr;
	memcpy(dump->intervals, nla_data(attr), nla_len(attr));
	err = check_intervals(attr, dump, cb->extack);
	if (err) {
		kvfree(dump);
		return ERR_PTR(err);
	}

	return dump;
}

int spek_prober_nl_energy_done(struct netlink_callback *cb)
{
	/* none if the dump was refused */
	kvfree((void *)cb->args[0]);

	return 0;
}

static struct spek_prober_power_energy result_of(const struct spek_feed *feed, u32 rail,
						 const struct spek_prober_power_interval *interval)
{
	struct spek_rail_use use;

	spek_rail_use(&feed->rails[rail].rail, interval->from_ns, interval->to_ns,
		      spek_feed_has_ended(feed), &use);

	return (struct spek_prober_power_energy){
		.energy_uj = use.energy.uj,
		.rest_fj = use.energy.rest / 2,
		.known_ns = use.known_ns,
		.gap_ns = use.gap_ns,
		.lost_ns = use.lost_ns,
		.pending_ns = use.pending_ns,
		.samples = use.samples,
		.min_uw = use.min_uw,
		.max_uw = use.max_uw,
	};
}

static int put_energy_head(struct sk_buff *skb, const struct energy_dump *dump,
			   const struct spek_feed *feed)
{
	const struct spek_rail_config *rail = &feed->rails[dump->rail].config;

	if (nla_put_u32(skb, SPEK_PROBER_A_ENERGY_FEED, feed->id) ||
	    nla_put_string(skb, SPEK_PROBER_A_ENERGY_FEED_NAME, feed->name) ||
	    nla_put_u32(skb, SPEK_PROBER_A_ENERGY_RAIL, dump->rail) ||
	    nla_put_string(skb, SPEK_PROBER_A_ENERGY_RAIL_NAME, rail->name) ||
	    nla_put_u32(skb, SPEK_PROBER_A_ENERGY_STATE, feed->state) ||
	    PUT_ENERGY(skb, UNCERTAINTY_NS, feed->mark.uncertainty_ns) ||
	    PUT_ENERGY(skb, LSB_NW, rail->lsb_nw) ||
	    nla_put_u32(skb, SPEK_PROBER_A_ENERGY_FIRST, dump->next))
		return -EMSGSIZE;

	return 0;
}

/* As many results of the current rail as fit. Return: 0 or -EMSGSIZE if none does */
static int put_results(struct sk_buff *skb, struct netlink_callback *cb, struct energy_dump *dump,
		       const struct spek_feed *feed)
{
	void *header = begin_message(skb, cb, SPEK_PROBER_CMD_ENERGY_GET);
	struct spek_prober_power_energy result;
	struct nlattr *results;
	u32 room, i;

	if (!header)
		return -EMSGSIZE;
	if (put_energy_head(skb, dump, feed))
		goto err_cancel;
	room = min_t(u32, skb_tailroom(skb), MAX_RESULTS_BYTES);
	room = room > NLA_HDRLEN ? (room - NLA_HDRLEN) / sizeof(result) : 0;
	room = min(room, dump->nr - dump->next);
	if (!room)
		goto err_cancel;

	results = nla_reserve(skb, SPEK_PROBER_A_ENERGY_RESULTS, room * sizeof(result));
	if (WARN_ON_ONCE(!results))
		goto err_cancel;
	for (i = 0; i < room; i++) {
		result = result_of(feed, dump->rail, &dump->intervals[dump->next++]);
		/* an attribute's data need not lie where a u64 may */
		memcpy(nla_data(results) + i * sizeof(result), &result, sizeof(result));
		/* Each may be over all of a long history. */
		cond_resched();
	}
	genlmsg_end(skb, header);

	return 0;

err_cancel:
	genlmsg_cancel(skb, header);
	return -EMSGSIZE;
}

static int put_feed_results(struct sk_buff *skb, struct netlink_callback *cb,
			    struct energy_dump *dump, const struct spek_feed *feed)
{
	int err;

	for (; dump->rail < feed->nr_rails; dump->rail++) {
		while (dump->next < dump->nr) {
			err = put_results(skb, cb, dump, feed);
			if (err)
				return err;
		}
		dump->next = 0;
	}

	return 0;
}

int spek_prober_nl_energy_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct energy_dump *dump = (struct energy_dump *)cb->args[0];
	const struct spek_feed *feed;
	int err = 0;

	mutex_lock(&spek_power_lock);
	if (!dump) {
		dump = begin_dump(cb);
		if (IS_ERR(dump)) {
			err = PTR_ERR(dump);
			goto out_unlock;
		}
		cb->args[0] = (long)dump;
	}
	cb->seq = spek_power_generation();
	while (!err && (feed = spek_feed_from(dump->feed)) &&
	       (!dump->only || feed->id == dump->only)) {
		/* the one before may have gone with some of its rails unsaid */
		if (feed->id != dump->feed) {
			dump->rail = 0;
			dump->next = 0;
		}
		dump->feed = feed->id;
		err = put_feed_results(skb, cb, dump, feed);
		if (!err) {
			dump->feed++;
			dump->rail = 0;
			dump->next = 0;
		}
	}

out_unlock:
	mutex_unlock(&spek_power_lock);
	/* with something in it, the message goes out and the rest comes in the next */
	return skb->len ?: err;
}
