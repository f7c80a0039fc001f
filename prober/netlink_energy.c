// SPDX-License-Identifier: GPL-2.0
/*
 * energy-get: energy of each rail in any intervals.
 *
 * The dump keeps a cursor of numbers, and a reference only within a call, so a feed may be released
 * during the dump; cb->seq then tells the reader that the list has changed. Samples may come
 * between two intervals; what is pending follows from the state that the message tells.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <net/genetlink.h>

#include "../kmod/compat/compat.h"
#include "feed.h"
#include "gen/netlink_gen.h"
#include "netlink.h"

#define PUT_ENERGY(skb, name, value) SPEK_PUT_U64(skb, SPEK_PROBER_A_ENERGY, name, value)

/* An attribute's length is u16; this leaves room for the attributes around it. */
#define MAX_RESULTS_BYTES 61440

/**
 * struct energy_dump - a dump in progress; owned by its netlink callback
 * @cursor: next rail to visit
 * @feed: number of the feed that @next refers to
 * @rail: number of the rail that @next refers to
 * @next: index of the next interval
 * @nr: length of @intervals
 * @intervals: intervals of the request
 */
struct energy_dump {
	struct spek_feed_cursor cursor;
	u32 feed;
	u32 rail;
	u32 next;
	u32 nr;
	struct spek_prober_power_interval intervals[];
};

static int check_intervals(const struct nlattr *attr, const struct energy_dump *dump,
			   struct netlink_ext_ack *extack)
{
	u32 i;

	for (i = 0; i < dump->nr; i++) {
		if (dump->intervals[i].from_ns < dump->intervals[i].to_ns)
			continue;
		return spek_genl_refuse(extack, attr, -EINVAL,
					"An interval does not end after its start.");
	}
	return 0;
}

static struct energy_dump *begin_dump(struct netlink_callback *cb)
{
	struct nlattr **attrs = spek_compat_dump_attrs(cb);
	const struct nlattr *attr = attrs[SPEK_PROBER_A_ENERGY_INTERVALS];
	struct spek_feed_cursor cursor;
	struct energy_dump *dump;
	u32 nr;
	int err;

	err = spek_prober_netlink_begin_walk(cb, attrs[SPEK_PROBER_A_ENERGY_FEED], &cursor);
	if (err)
		return ERR_PTR(err);
	if (!attr || !nla_len(attr) || nla_len(attr) % sizeof(dump->intervals[0]))
		return ERR_PTR(spek_genl_refuse(cb->extack, attr, -EINVAL,
				"The request needs intervals, an array of whole records."));

	nr = nla_len(attr) / sizeof(dump->intervals[0]);
	dump = kvzalloc(struct_size(dump, intervals, nr), GFP_KERNEL);
	if (!dump)
		return ERR_PTR(spek_genl_refuse(cb->extack, NULL, -ENOMEM,
						"There is not enough memory for the intervals."));
	dump->cursor = cursor;
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
	return spek_genl_dump_done(&spek_prober_genl, cb);
}

static struct spek_prober_power_energy result_of(const struct spek_feed *feed, u32 rail,
						 const struct spek_prober_power_interval *interval,
						 bool ended)
{
	struct spek_rail_use use;

	spek_feed_use(feed, rail, interval, ended, &use);
	return (struct spek_prober_power_energy){
		.energy_uj = use.energy.uj,
		.remainder_fj = use.energy.remainder / 2,
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
			   const struct spek_feed *feed,
			   const struct spek_feed_condition *condition)
{
	const struct spek_prober_rail_config *rail = &feed->rails[dump->rail].config;

	if (nla_put_u32(skb, SPEK_PROBER_A_ENERGY_FEED, feed->id) ||
	    nla_put_string(skb, SPEK_PROBER_A_ENERGY_FEED_NAME, feed->name) ||
	    nla_put_u32(skb, SPEK_PROBER_A_ENERGY_RAIL, dump->rail) ||
	    nla_put_string(skb, SPEK_PROBER_A_ENERGY_RAIL_NAME, rail->name) ||
	    nla_put_u32(skb, SPEK_PROBER_A_ENERGY_STATE, condition->state) ||
	    PUT_ENERGY(skb, UNCERTAINTY_NS, condition->uncertainty_ns) ||
	    PUT_ENERGY(skb, LSB_NW, rail->lsb_nw) ||
	    nla_put_u32(skb, SPEK_PROBER_A_ENERGY_FIRST, dump->next))
		return -EMSGSIZE;
	return 0;
}

/* Put as many results of the current rail as fit. Return: 0, or -EMSGSIZE if none fits */
static int put_results(struct sk_buff *skb, struct netlink_callback *cb, struct energy_dump *dump,
		       const struct spek_feed *feed)
{
	void *header = spek_genl_dump_head(&spek_prober_genl, skb, cb, SPEK_PROBER_CMD_ENERGY_GET);
	struct spek_feed_condition condition;
	struct spek_prober_power_energy result;
	struct nlattr *results;
	u32 room, i;

	if (!header)
		return -EMSGSIZE;
	spek_feed_condition(feed, &condition);
	if (put_energy_head(skb, dump, feed, &condition))
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
		result = result_of(feed, dump->rail, &dump->intervals[dump->next++],
				   condition.has_ended);
		/* The data of an attribute are only 4-byte aligned. */
		memcpy(nla_data(results) + i * sizeof(result), &result, sizeof(result));
		/* Each interval may cover a long history. */
		cond_resched();
	}
	genlmsg_end(skb, header);
	return 0;

err_cancel:
	genlmsg_cancel(skb, header);
	return -EMSGSIZE;
}

static int put_rail(struct sk_buff *skb, struct netlink_callback *cb, struct energy_dump *dump,
		    const struct spek_feed *feed)
{
	int err;

	/* First message of a rail, or a feed was released before all its results were sent. */
	if (dump->feed != feed->id || dump->rail != dump->cursor.rail) {
		dump->feed = feed->id;
		dump->rail = dump->cursor.rail;
		dump->next = 0;
	}
	while (dump->next < dump->nr) {
		err = put_results(skb, cb, dump, feed);
		if (err)
			return err;
	}
	return 0;
}

static int put_feed(struct sk_buff *skb, struct netlink_callback *cb, struct energy_dump *dump,
		    const struct spek_feed *feed)
{
	struct spek_feed_cursor *cursor = &dump->cursor;
	int err;

	for (; cursor->rail < feed->nr_rails; cursor->rail++) {
		err = put_rail(skb, cb, dump, feed);
		if (err)
			return err;
	}
	*cursor = (struct spek_feed_cursor){ cursor->only, feed->id + 1 };
	return 0;
}

int spek_prober_nl_energy_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct spek_genl_dump *position = spek_genl_dump_of(cb);
	struct energy_dump *dump;
	struct spek_feed *feed;
	int err = 0;

	if (!position->started) {
		dump = begin_dump(cb);
		if (IS_ERR(dump))
			return PTR_ERR(dump);
		position->memory = dump;
		position->started = true;
	}
	dump = position->memory;
	while (!err && (feed = spek_feeds_get_next(&dump->cursor, &cb->seq))) {
		err = put_feed(skb, cb, dump, feed);
		spek_feed_put(feed);
	}
	return spek_genl_dump_end(skb, cb, err);
}
