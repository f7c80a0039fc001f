// SPDX-License-Identifier: GPL-2.0
/*
 * feed.c - feeds of power samples
 *
 * States of a feed:
 *
 *	feed-open -> OPEN -feed-close-> CLOSED -> gone
 *	             OPEN -owner's socket closed-> BROKEN -> gone
 *
 * An ended feed goes when one of the same name is opened, when the list is full and
 * it is the one that ended first, or when the module is unloaded.
 *
 * Who may hold a feed, and why each one ends:
 *  - the list: as above;
 *  - a probe whose rows have its rails: until the probe is released.
 * Handlers and dumps find feeds anew each time and hold the lock while they look.
 *
 * Lock order: genl_mutex > probe_lock (probe.c) > spek_power_lock. The lock protects
 * the list, the ids and all of the feeds that is not const; nothing is waited for
 * under it, and memory is allocated before it is taken, but for the answers of dumps.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/netlink.h>
#include <linux/pid.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

#include "feed.h"

static_assert(SPEK_PROBER_MAX_RAILS <= SPEK_POWER_ENTITY_RAILS);
static_assert(SPEK_PROBER_MAX_POWER_UW == SPEK_RAIL_MAX_UW);
static_assert(SPEK_PROBER_MAX_STEP_LIMIT_NS == SPEK_RAIL_MAX_STEP_NS);
static_assert(SPEK_PROBER_MIN_HISTORY % SPEK_RAIL_BLOCK == 0);
static_assert(SPEK_PROBER_MAX_BATCH_BYTES ==
	      SPEK_PROBER_MAX_BATCH * sizeof(struct spek_prober_power_sample));
static_assert(SPEK_PROBER_MAX_INTERVALS_BYTES ==
	      SPEK_PROBER_MAX_INTERVALS * sizeof(struct spek_prober_power_interval));

DEFINE_MUTEX(spek_power_lock);

static LIST_HEAD(feeds);	/* by id; protected by spek_power_lock, like the next 3 */
static u32 nr_feeds;
static u32 last_feed_id;
static u32 generation = 1;	/* changes with the list */

/* ---- lifetime ---- */

static void release_feed(struct kref *ref)
{
	struct spek_feed *feed = container_of(ref, struct spek_feed, ref);
	u32 i;

	for (i = 0; i < feed->nr_rails; i++) {
		kvfree(feed->rails[i].rail.samples);
		kvfree(feed->rails[i].rail.extremes);
	}
	put_pid(feed->owner_pid);
	kfree(feed);
}

/**
 * spek_feed_put() - drop a reference
 * @feed: feed, or NULL
 *
 * Context: process; the power lock may be held.
 */
void spek_feed_put(struct spek_feed *feed)
{
	if (feed)
		kref_put(&feed->ref, release_feed);
}

static int create_rail(struct spek_feed_rail *rail, const struct spek_rail_config *config,
		       const struct spek_feed *feed)
{
	gfp_t gfp = GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN;
	struct spek_rail_extremes *extremes;
	struct spek_rail_sample *samples;

	rail->config = *config;
	samples = kvcalloc(feed->history, sizeof(*samples), gfp);
	extremes = kvcalloc(feed->history / SPEK_RAIL_BLOCK, sizeof(*extremes), gfp);
	/* a feed that is released has them freed, whichever are there */
	spek_rail_init(&rail->rail, samples, extremes, feed->history, feed->max_step_ns);

	return samples && extremes ? 0 : -ENOMEM;
}

static struct spek_feed *create_feed(const struct spek_feed_config *config)
{
	struct spek_feed *feed;
	u32 i;
	int err;

	feed = kzalloc(struct_size(feed, rails, config->nr_rails), GFP_KERNEL);
	if (!feed)
		return ERR_PTR(-ENOMEM);
	kref_init(&feed->ref);
	strscpy(feed->name, config->name, sizeof(feed->name));
	strscpy(feed->source, config->source, sizeof(feed->source));
	feed->portid = config->portid;
	feed->owner_pid = get_pid(task_tgid(current));
	get_task_comm(feed->owner_name, current->group_leader);
	feed->history = config->history;
	feed->max_step_ns = config->max_step_ns;
	feed->opened_ns = ktime_get_ns();
	feed->state = SPEK_PROBER_FEED_STATE_OPEN;
	feed->mark.uncertainty_ns = config->uncertainty_ns;
	feed->nr_rails = config->nr_rails;

	for (i = 0; i < feed->nr_rails; i++) {
		err = create_rail(&feed->rails[i], &config->rails[i], feed);
		if (err) {
			spek_feed_put(feed);
			return ERR_PTR(err);
		}
	}

	return feed;
}

static void remove_feed(struct spek_feed *feed)
{
	lockdep_assert_held(&spek_power_lock);

	list_del(&feed->node);
	nr_feeds--;
	generation++;
	spek_feed_put(feed);
}

/* Let the feed before of this name go, or the one that ended first if the list is full. */
static int make_room(const char *name, struct netlink_ext_ack *extack)
{
	struct spek_feed *feed, *same = NULL, *first = NULL;

	lockdep_assert_held(&spek_power_lock);

	list_for_each_entry(feed, &feeds, node) {
		if (!strcmp(feed->name, name))
			same = feed;
		if (spek_feed_has_ended(feed) && (!first || feed->ended_ns < first->ended_ns))
			first = feed;
	}
	if (same && !spek_feed_has_ended(same)) {
		NL_SET_ERR_MSG(extack, "A feed of this name is open: close it or take another name.");
		return -EBUSY;
	}
	if (!same && nr_feeds == SPEK_PROBER_MAX_FEEDS) {
		if (!first) {
			NL_SET_ERR_MSG(extack, "16 feeds are open, and no more are allowed.");
			return -ERANGE;
		}
		same = first;
	}
	if (same)
		remove_feed(same);

	return 0;
}

/**
 * spek_feed_open() - open a feed
 * @config: what it shall be
 * @id: filled with its number
 * @extack: told why not
 *
 * Context: process; current becomes the owner.
 * Return: 0, -EBUSY if the name is open, -ERANGE if there are too many, -ENOMEM.
 */
int spek_feed_open(const struct spek_feed_config *config, u32 *id, struct netlink_ext_ack *extack)
{
	struct spek_feed *feed;
	int err;

	feed = create_feed(config);
	if (IS_ERR(feed)) {
		NL_SET_ERR_MSG(extack, "The kernel is out of memory for this history.");
		return PTR_ERR(feed);
	}

	mutex_lock(&spek_power_lock);
	err = make_room(config->name, extack);
	if (!err) {
		feed->id = ++last_feed_id;
		*id = feed->id;
		list_add_tail(&feed->node, &feeds);
		nr_feeds++;
		generation++;
	}
	mutex_unlock(&spek_power_lock);
	if (err)
		spek_feed_put(feed);

	return err;
}

static void end_feed(struct spek_feed *feed, enum spek_prober_feed_state state)
{
	lockdep_assert_held(&spek_power_lock);

	if (spek_feed_has_ended(feed))
		return;
	feed->state = state;
	feed->ended_ns = ktime_get_ns();
	generation++;
}

/**
 * spek_feed_close() - end a feed
 * @id: its number
 * @extack: told why not
 *
 * Return: 0 (also if it has ended already) or -ENOENT.
 */
int spek_feed_close(u32 id, struct netlink_ext_ack *extack)
{
	struct spek_feed *feed;

	mutex_lock(&spek_power_lock);
	feed = spek_feed_find(id, extack);
	if (feed)
		end_feed(feed, SPEK_PROBER_FEED_STATE_CLOSED);
	mutex_unlock(&spek_power_lock);

	return feed ? 0 : -ENOENT;
}

/**
 * spek_feed_owner_gone() - a netlink socket was closed
 * @portid: its number
 *
 * Context: process, for every netlink socket of the machine: cheap if it isn't ours.
 */
void spek_feed_owner_gone(u32 portid)
{
	struct spek_feed *feed;

	mutex_lock(&spek_power_lock);
	list_for_each_entry(feed, &feeds, node)
		if (feed->portid == portid)
			end_feed(feed, SPEK_PROBER_FEED_STATE_BROKEN);
	mutex_unlock(&spek_power_lock);
}

/** spek_feed_exit() - forget all feeds; nobody can ask for them any more. */
void spek_feed_exit(void)
{
	struct spek_feed *feed, *next;

	mutex_lock(&spek_power_lock);
	list_for_each_entry_safe(feed, next, &feeds, node)
		remove_feed(feed);
	mutex_unlock(&spek_power_lock);
}

/* ---- finding ---- */

/**
 * spek_feed_from() - the first feed from a number on
 * @id: that number
 *
 * Context: with the power lock.
 * Return: feed, or NULL.
 */
struct spek_feed *spek_feed_from(u32 id)
{
	struct spek_feed *feed;

	lockdep_assert_held(&spek_power_lock);

	list_for_each_entry(feed, &feeds, node)
		if (feed->id >= id)
			return feed;

	return NULL;
}

/**
 * spek_feed_find() - a feed by its number
 * @id: that number
 * @extack: told if there is none
 *
 * Context: with the power lock.
 * Return: feed, or NULL.
 */
struct spek_feed *spek_feed_find(u32 id, struct netlink_ext_ack *extack)
{
	struct spek_feed *feed = spek_feed_from(id);

	if (feed && feed->id == id)
		return feed;
	NL_SET_ERR_MSG(extack, "There is no feed with this number.");

	return NULL;
}

/**
 * spek_feed_find_own() - a feed that a socket may write to
 * @id: its number
 * @portid: the socket
 * @extack: told why not
 *
 * Context: with the power lock.
 * Return: feed, or a pointer with -ENOENT, -EPERM if another socket opened it, -EBUSY if
 *	it has ended.
 */
struct spek_feed *spek_feed_find_own(u32 id, u32 portid, struct netlink_ext_ack *extack)
{
	struct spek_feed *feed = spek_feed_find(id, extack);

	if (!feed)
		return ERR_PTR(-ENOENT);
	/* asked first: the number of a socket may come again, but not while the feed is open */
	if (spek_feed_has_ended(feed)) {
		NL_SET_ERR_MSG(extack, "The feed has ended.");
		return ERR_PTR(-EBUSY);
	}
	if (feed->portid != portid) {
		NL_SET_ERR_MSG(extack, "Only the socket that opened a feed may write to it.");
		return ERR_PTR(-EPERM);
	}

	return feed;
}

/** spek_power_generation() - Return: a number that changes when feeds come, end or go. */
u32 spek_power_generation(void)
{
	lockdep_assert_held(&spek_power_lock);

	return generation;
}

/**
 * spek_feeds_get_open() - all feeds that are open now
 * @nr: filled with their number
 *
 * Return: array of them, each with a reference, to be freed by kfree(); NULL without memory.
 */
struct spek_feed **spek_feeds_get_open(u32 *nr)
{
	struct spek_feed **open, *feed;

	open = kcalloc(SPEK_PROBER_MAX_FEEDS, sizeof(struct spek_feed *), GFP_KERNEL);
	if (!open)
		return NULL;

	*nr = 0;
	mutex_lock(&spek_power_lock);
	list_for_each_entry(feed, &feeds, node) {
		if (spek_feed_has_ended(feed))
			continue;
		kref_get(&feed->ref);
		open[(*nr)++] = feed;
	}
	mutex_unlock(&spek_power_lock);

	return open;
}

/**
 * spek_feed_watermark() - the time up to which all rails of a feed have come
 * @feed: feed
 *
 * Context: with the power lock.
 * Return: CLOCK_MONOTONIC, 0 if a rail has brought nothing yet.
 */
u64 spek_feed_watermark(const struct spek_feed *feed)
{
	u64 watermark_ns = U64_MAX;
	u32 i;

	lockdep_assert_held(&spek_power_lock);

	for (i = 0; i < feed->nr_rails; i++)
		watermark_ns = min(watermark_ns, feed->rails[i].rail.horizon_ns);

	return watermark_ns;
}

/* ---- samples ---- */

static int check_sample(const struct spek_feed *feed, const struct spek_prober_power_sample *sample,
			u64 now_ns, struct netlink_ext_ack *extack)
{
	s64 power_uw = sample->power_uw;

	if (sample->rail >= feed->nr_rails) {
		NL_SET_ERR_MSG(extack, "A sample names a rail that the feed does not have.");
		return -EINVAL;
	}
	if (sample->flags & ~(u32)SPEK_PROBER_POWER_GAP) {
		NL_SET_ERR_MSG(extack, "A sample has an unknown flag; only power-gap is allowed.");
		return -EINVAL;
	}
	if (power_uw > SPEK_RAIL_MAX_UW || power_uw < -SPEK_RAIL_MAX_UW) {
		NL_SET_ERR_MSG(extack, "A sample's power is implausible; at most 1 MW either way is allowed.");
		return -ERANGE;
	}
	if (sample->at_ns > now_ns && sample->at_ns - now_ns > SPEK_PROBER_MAX_AHEAD_NS) {
		NL_SET_ERR_MSG(extack, "A sample lies more than 1 s in the future.");
		return -ERANGE;
	}

	return 0;
}

/**
 * spek_feed_push() - take a batch of samples, all or none of it
 * @id: feed
 * @portid: socket that brings them
 * @samples: samples
 * @nr: how many
 * @accepted: filled with how many were stored; the others came too late
 * @extack: told why not
 *
 * Return: 0, -EINVAL or -ERANGE for a bad sample, or as spek_feed_find_own().
 */
int spek_feed_push(u32 id, u32 portid, const struct spek_prober_power_sample *samples, u32 nr,
		   u32 *accepted, struct netlink_ext_ack *extack)
{
	struct spek_feed *feed;
	u64 now_ns = ktime_get_ns();
	u32 i;
	int err = 0;

	mutex_lock(&spek_power_lock);
	feed = spek_feed_find_own(id, portid, extack);
	if (IS_ERR(feed)) {
		err = PTR_ERR(feed);
		goto out_unlock;
	}
	for (i = 0; i < nr && !err; i++)
		err = check_sample(feed, &samples[i], now_ns, extack);
	if (err) {
		feed->refused++;
		goto out_unlock;
	}

	*accepted = 0;
	for (i = 0; i < nr; i++)
		*accepted += spek_rail_push(&feed->rails[samples[i].rail].rail, samples[i].at_ns,
					    samples[i].power_uw,
					    samples[i].flags & SPEK_PROBER_POWER_GAP);
	feed->batches++;

out_unlock:
	mutex_unlock(&spek_power_lock);
	return err;
}

/**
 * spek_feed_set_mark() - take what a feed says of itself
 * @feed: feed
 * @mark: all of it
 *
 * Context: with the power lock.
 */
void spek_feed_set_mark(struct spek_feed *feed, const struct spek_feed_mark *mark)
{
	u32 i;

	lockdep_assert_held(&spek_power_lock);

	feed->mark = *mark;
	for (i = 0; i < feed->nr_rails; i++)
		spek_rail_mark(&feed->rails[i].rail, mark->until_ns);
}
