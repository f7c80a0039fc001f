// SPDX-License-Identifier: GPL-2.0
/*
 * Feeds of power samples.
 *
 * States and transitions: core/state.c. A feed that has ended is released when one of the
 * same name is opened, when the list is full and it was the first to end, or when the
 * module is unloaded.
 *
 * References to a feed, and why each one ends:
 *  - the list: as above;
 *  - a probe whose rows have its rails: until the probe is released. Until then, too, the feed has
 *    the rows in a list, to take their totals while samples come;
 *  - energy-get, while it answers a call of its dump.
 * Otherwise handlers and dumps look feeds up by number each time.
 *
 * feeds_lock protects the list, the ids and everything in feeds that is not const. Only this
 * file takes it. Its holder waits for nothing, and memory is allocated before it is taken. An
 * integral over an interval may look at 65536 blocks of samples, so none is computed after another
 * without giving the lock up: samples and rows would wait for all of them.
 *
 * Lock order: start_lock (probe.c) > feeds_lock.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

#include "core/state.h"
#include "feed.h"
#include "gen/request_gen.h"

static_assert(SPEK_PROBER_MAX_RAILS <= SPEK_POWER_ENTITY_RAILS);
static_assert(SPEK_PROBER_MAX_POWER_UW == SPEK_RAIL_MAX_UW);
static_assert(SPEK_PROBER_MAX_STEP_LIMIT_NS == SPEK_RAIL_MAX_STEP_NS);
static_assert(SPEK_PROBER_MIN_HISTORY % SPEK_RAIL_BLOCK == 0);
static_assert(SPEK_PROBER_MAX_BATCH_BYTES ==
	      SPEK_PROBER_MAX_BATCH * sizeof(struct spek_prober_power_sample));
static_assert(SPEK_PROBER_MAX_INTERVALS_BYTES ==
	      SPEK_PROBER_MAX_INTERVALS * sizeof(struct spek_prober_power_interval));

/* Totals of rows that a request takes, each a microsecond at most, while others wait. */
#define ROWS_PER_REQUEST	8192

static void (*ended)(u32 portid);	/* const after init */

static DEFINE_MUTEX(feeds_lock);	/* protects the next 4 */
static LIST_HEAD(feeds);	/* by id */
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
 * Context: process.
 */
void spek_feed_put(struct spek_feed *feed)
{
	if (feed)
		kref_put(&feed->ref, release_feed);
}

static int create_rail(struct spek_feed_rail *rail, const struct spek_prober_rail_config *config,
		       const struct spek_feed *feed)
{
	gfp_t gfp = GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN;
	struct spek_rail_extremes *extremes;
	struct spek_rail_sample *samples;

	rail->config = *config;
	samples = kvcalloc(feed->history, sizeof(*samples), gfp);
	extremes = kvcalloc(feed->history / SPEK_RAIL_BLOCK, sizeof(*extremes), gfp);
	/* release_feed() frees both, even if one allocation failed. */
	spek_rail_init(&rail->rail, samples, extremes, feed->history, feed->max_step_ns);
	return samples && extremes ? 0 : -ENOMEM;
}

static struct spek_feed *create_feed(const struct spek_prober_feed_open *request, u32 portid)
{
	struct spek_feed *feed;
	u32 i;
	int err;

	feed = kzalloc(struct_size(feed, rails, request->nr_rails), GFP_KERNEL);
	if (!feed)
		return ERR_PTR(-ENOMEM);
	kref_init(&feed->ref);
	strscpy(feed->name, request->name, sizeof(feed->name));
	strscpy(feed->source, request->source, sizeof(feed->source));
	feed->portid = portid;
	feed->owner_pid = get_pid(task_tgid(current));
	get_task_comm(feed->owner_name, current->group_leader);
	feed->history = request->history;
	feed->max_step_ns = request->max_step_ns;
	feed->opened_ns = ktime_get_ns();
	feed->state = SPEK_PROBER_FEED_STATE_OPEN;
	feed->mark.uncertainty_ns = request->uncertainty_ns;
	INIT_LIST_HEAD(&feed->rows);
	feed->nr_rails = request->nr_rails;

	for (i = 0; i < feed->nr_rails; i++) {
		err = create_rail(&feed->rails[i], &request->rail[i], feed);
		if (err) {
			spek_feed_put(feed);
			return ERR_PTR(err);
		}
	}
	return feed;
}

static void remove_feed(struct spek_feed *feed)
{
	lockdep_assert_held(&feeds_lock);

	list_del(&feed->node);
	nr_feeds--;
	generation++;
	spek_feed_put(feed);
}

/* Remove the ended feed of this name, or the first that ended if the list is full. */
static int make_room(const char *name, struct spek_refusal *refusal)
{
	struct spek_feed *feed, *same = NULL, *first = NULL;

	lockdep_assert_held(&feeds_lock);

	list_for_each_entry(feed, &feeds, node) {
		if (!strcmp(feed->name, name))
			same = feed;
		if (spek_feed_has_ended(feed) && (!first || feed->ended_ns < first->ended_ns))
			first = feed;
	}
	if (same && !spek_feed_has_ended(same))
		return spek_refuse(refusal, SPEK_FEED_PART_NAME, 0, -EBUSY,
				   "A feed with this name is open: close it or choose another name.");
	if (!same && nr_feeds == SPEK_PROBER_MAX_FEEDS) {
		if (!first)
			return spek_refuse(refusal, SPEK_FEED_PART_REQUEST, 0, -ERANGE,
					   "16 feeds are open, and no more are allowed: close one.");
		same = first;
	}
	if (same)
		remove_feed(same);
	return 0;
}

/**
 * spek_feed_open() - open a feed
 * @request: feed-open, within the contract's limits
 * @portid: socket of the owner
 * @id: filled with its number
 * @refusal: filled in on failure
 *
 * Context: process; current becomes the owner.
 * Return: 0, -EBUSY if the name is open, -ERANGE if too many feeds are open, -ENOMEM.
 */
int spek_feed_open(const struct spek_prober_feed_open *request, u32 portid, u32 *id,
		   struct spek_refusal *refusal)
{
	struct spek_feed *feed;
	int err;

	feed = create_feed(request, portid);
	if (IS_ERR(feed))
		return spek_refuse(refusal, SPEK_FEED_PART_HISTORY, 0, PTR_ERR(feed),
				   "There is not enough memory for this history: keep fewer samples.");

	mutex_lock(&feeds_lock);
	err = make_room(request->name, refusal);
	if (!err) {
		feed->id = ++last_feed_id;
		*id = feed->id;
		list_add_tail(&feed->node, &feeds);
		nr_feeds++;
		generation++;
	}
	mutex_unlock(&feeds_lock);
	if (err)
		spek_feed_put(feed);
	return err;
}

static void end_feed(struct spek_feed *feed, enum spek_feed_event event)
{
	enum spek_prober_feed_state next = spek_feed_next_state(feed->state, event);

	lockdep_assert_held(&feeds_lock);

	if (feed->state == next)
		return;
	feed->state = next;
	feed->ended_ns = ktime_get_ns();
	generation++;
	ended(feed->portid);
}

/* ---- lookup ---- */

/* Return: the first feed whose number is @id or greater, or NULL */
static struct spek_feed *feed_from(u32 id)
{
	struct spek_feed *feed;

	lockdep_assert_held(&feeds_lock);

	list_for_each_entry(feed, &feeds, node)
		if (feed->id >= id)
			return feed;
	return NULL;
}

/* Return: the feed or ERR_PTR(-ENOENT) */
static struct spek_feed *find_feed(u32 id, struct spek_refusal *refusal)
{
	struct spek_feed *feed = feed_from(id);

	if (feed && feed->id == id)
		return feed;
	return ERR_PTR(spek_refuse(refusal, SPEK_FEED_PART_ID, 0, -ENOENT,
				   "There is no feed with this number."));
}

/* Return: the feed, or ERR_PTR(): -ENOENT, -EBUSY if it has ended, -EPERM if not @portid's */
static struct spek_feed *find_own_feed(u32 id, u32 portid, struct spek_refusal *refusal)
{
	struct spek_feed *feed = find_feed(id, refusal);

	if (IS_ERR(feed))
		return feed;
	/* Before the owner: the number of a socket may be reused once its feed has ended. */
	if (spek_feed_has_ended(feed))
		return ERR_PTR(spek_refuse(refusal, SPEK_FEED_PART_ID, 0, -EBUSY,
					   "The feed has ended."));
	if (feed->portid != portid)
		return ERR_PTR(spek_refuse(refusal, SPEK_FEED_PART_ID, 0, -EPERM,
					   "Only the socket that opened a feed may write to it."));
	return feed;
}

/**
 * spek_feed_check() - check that there is a feed
 * @id: its number
 * @refusal: filled in on failure
 *
 * Context: process. The feed may be gone when this returns.
 * Return: 0 or -ENOENT.
 */
int spek_feed_check(u32 id, struct spek_refusal *refusal)
{
	struct spek_feed *feed;

	mutex_lock(&feeds_lock);
	feed = find_feed(id, refusal);
	mutex_unlock(&feeds_lock);
	return PTR_ERR_OR_ZERO(feed);
}

/**
 * spek_feeds_get_open() - take a reference to each feed that is open
 * @nr: filled with their number
 *
 * Context: process.
 * Return: array of them, for kfree(), each for spek_feed_put(); NULL if out of memory.
 */
struct spek_feed **spek_feeds_get_open(u32 *nr)
{
	struct spek_feed **open, *feed;

	open = kcalloc(SPEK_PROBER_MAX_FEEDS, sizeof(struct spek_feed *), GFP_KERNEL);
	if (!open)
		return NULL;

	*nr = 0;
	mutex_lock(&feeds_lock);
	list_for_each_entry(feed, &feeds, node) {
		if (spek_feed_has_ended(feed))
			continue;
		kref_get(&feed->ref);
		open[(*nr)++] = feed;
	}
	mutex_unlock(&feeds_lock);
	return open;
}

static u64 watermark_of(const struct spek_feed *feed)
{
	u64 watermark_ns = U64_MAX;
	u32 i;

	lockdep_assert_held(&feeds_lock);

	for (i = 0; i < feed->nr_rails; i++)
		watermark_ns = min(watermark_ns, feed->rails[i].rail.horizon_ns);
	return watermark_ns;
}

/**
 * spek_feeds_walk() - visit rails, feed by feed, until one does not fit into a message
 * @cursor: first rail to visit; set to the rail that was refused, or behind the last one
 * @visit: called for each rail with the feed's watermark, the time up to which samples of all
 *	of its rails have arrived; returns 0 or a negative errno to end the walk. Called
 *	under feeds_lock, so the feed and its rails don't change; may sleep, must not call
 *	into this file.
 * @context: argument of @visit
 * @seq: filled with a number that changes whenever a feed is opened, ends or is released
 *
 * If a feed is released between two walks, the walk continues with the first rail of the next
 * feed.
 *
 * Context: process.
 * Return: 0 at the end, or the errno of @visit.
 */
int spek_feeds_walk(struct spek_feed_cursor *cursor, spek_feed_visit *visit, void *context,
		    u32 *seq)
{
	const struct spek_feed *feed;
	int err = 0;

	mutex_lock(&feeds_lock);
	*seq = generation;
	while (!err && (feed = feed_from(cursor->feed)) &&
	       (!cursor->only || feed->id == cursor->only)) {
		if (feed->id != cursor->feed)
			*cursor = (struct spek_feed_cursor){ cursor->only, feed->id };
		for (; cursor->rail < feed->nr_rails; cursor->rail++) {
			err = visit(feed, cursor->rail, watermark_of(feed), context);
			if (err)
				break;
		}
		if (!err)
			*cursor = (struct spek_feed_cursor){ cursor->only, feed->id + 1 };
	}
	mutex_unlock(&feeds_lock);
	return err;
}

/**
 * spek_feeds_get_next() - find the next feed of a walk
 * @cursor: first rail to visit; set to the first rail of the feed, if that is another one
 * @seq: filled as by spek_feeds_walk()
 *
 * Context: process.
 * Return: the feed, for spek_feed_put(), or NULL at the end of the walk.
 */
struct spek_feed *spek_feeds_get_next(struct spek_feed_cursor *cursor, u32 *seq)
{
	struct spek_feed *feed;

	mutex_lock(&feeds_lock);
	*seq = generation;
	feed = feed_from(cursor->feed);
	if (feed && cursor->only && feed->id != cursor->only)
		feed = NULL;
	if (feed)
		kref_get(&feed->ref);
	mutex_unlock(&feeds_lock);
	if (feed && feed->id != cursor->feed)
		*cursor = (struct spek_feed_cursor){ cursor->only, feed->id };
	return feed;
}

/* ---- energy ---- */

/**
 * spek_feed_condition() - read the state of a feed
 * @feed: feed; the caller holds a reference
 * @condition: filled in
 *
 * Context: process.
 */
void spek_feed_condition(const struct spek_feed *feed, struct spek_feed_condition *condition)
{
	mutex_lock(&feeds_lock);
	condition->state = feed->state;
	condition->has_ended = spek_feed_has_ended(feed);
	condition->uncertainty_ns = feed->mark.uncertainty_ns;
	mutex_unlock(&feeds_lock);
}

/**
 * spek_feed_use() - integrate a rail over an interval
 * @feed: feed; the caller holds a reference
 * @rail: number of the rail
 * @interval: the interval, which ends after its start
 * @ended: no more samples will come
 * @use: filled in
 *
 * Context: process.
 */
void spek_feed_use(const struct spek_feed *feed, u32 rail,
		   const struct spek_prober_power_interval *interval, bool ended,
		   struct spek_rail_use *use)
{
	mutex_lock(&feeds_lock);
	spek_rail_use(&feed->rails[rail].rail, interval->from_ns, interval->to_ns, ended, use);
	mutex_unlock(&feeds_lock);
}

/* ---- ends of feeds ---- */

/**
 * spek_feed_close() - end a feed
 * @id: its number
 * @refusal: filled in on failure
 *
 * Context: process.
 * Return: 0, also if it has ended already, or -ENOENT.
 */
int spek_feed_close(u32 id, struct spek_refusal *refusal)
{
	struct spek_feed *feed;

	mutex_lock(&feeds_lock);
	feed = find_feed(id, refusal);
	if (!IS_ERR(feed))
		end_feed(feed, SPEK_FEED_EVENT_CLOSE);
	mutex_unlock(&feeds_lock);
	return PTR_ERR_OR_ZERO(feed);
}

/**
 * spek_feed_owner_gone() - a generic netlink socket was closed
 * @portid: its number
 *
 * Context: process.
 */
void spek_feed_owner_gone(u32 portid)
{
	struct spek_feed *feed;

	mutex_lock(&feeds_lock);
	list_for_each_entry(feed, &feeds, node)
		if (feed->portid == portid)
			end_feed(feed, SPEK_FEED_EVENT_OWNER_GONE);
	mutex_unlock(&feeds_lock);
}

/**
 * spek_feed_init() - initialize this file
 * @feed_ended: called once when a feed ends, under feeds_lock, with the socket that owned it
 */
void spek_feed_init(void (*feed_ended)(u32 portid))
{
	ended = feed_ended;
}

/**
 * spek_feed_exit() - release all feeds
 *
 * Context: process; requests have ended, and no probe holds a feed.
 */
void spek_feed_exit(void)
{
	struct spek_feed *feed, *next;

	mutex_lock(&feeds_lock);
	list_for_each_entry_safe(feed, next, &feeds, node)
		remove_feed(feed);
	mutex_unlock(&feeds_lock);
}

/* ---- samples ---- */

static int check_sample(const struct spek_feed *feed, const struct spek_prober_power_sample *sample,
			u64 now_ns, struct spek_refusal *refusal)
{
	s64 power_uw = sample->power_uw;

	if (sample->rail >= feed->nr_rails)
		return spek_refuse_part(refusal, -EINVAL,
					"A sample names a rail that the feed does not have.");
	if (sample->flags & ~(u32)SPEK_PROBER_POWER_GAP)
		return spek_refuse_part(refusal, -EINVAL,
					"A sample has an unknown flag: only power-gap is allowed.");
	if (power_uw > SPEK_RAIL_MAX_UW || power_uw < -SPEK_RAIL_MAX_UW)
		return spek_refuse_part(refusal, -ERANGE,
					"A sample's power is implausible: at most 1 MW either way is allowed.");
	if (sample->at_ns > now_ns && sample->at_ns - now_ns > SPEK_PROBER_MAX_AHEAD_NS)
		return spek_refuse_part(refusal, -ERANGE,
					"A sample lies more than 1 s in the future.");
	return 0;
}

/*
 * Take the totals of rows up to the horizon of a rail: of all, unless these are more than @budget.
 * A feed that has lagged brings those of many rows at once, and others wait for feeds_lock.
 */
static void take_rows(struct spek_feed *feed, u32 rail, u32 *budget)
{
	struct spek_feed_rows *rows;

	lockdep_assert_held(&feeds_lock);

	list_for_each_entry(rows, &feed->rows, node)
		spek_feed_rows_take(rows, rail, &feed->rails[rail].rail, budget);
}

static void take_rows_of_all(struct spek_feed *feed, u32 *budget)
{
	u32 i;

	for (i = 0; i < feed->nr_rails; i++)
		take_rows(feed, i, budget);
}

/* Return: true unless the sample came too late */
static bool push_sample(struct spek_feed *feed, const struct spek_prober_power_sample *sample,
			u32 *budget)
{
	/* Before the sample, which may overwrite the oldest one that a row needs. */
	take_rows(feed, sample->rail, budget);
	return spek_rail_push(&feed->rails[sample->rail].rail, sample->at_ns, sample->power_uw,
			      sample->flags & SPEK_PROBER_POWER_GAP);
}

/**
 * spek_feed_push() - store a batch of samples, or none of it if one is wrong
 * @id: number of the feed
 * @portid: socket of the request
 * @samples: samples
 * @nr: number of samples
 * @accepted: filled with the number of samples stored; the others came too late
 * @refusal: filled in on failure
 *
 * Context: process.
 * Return: 0, -EINVAL or -ERANGE for a bad sample, -ENOENT, -EPERM if another socket opened
 *	the feed, -EBUSY if it has ended.
 */
int spek_feed_push(u32 id, u32 portid, const struct spek_prober_power_sample *samples, u32 nr,
		   u32 *accepted, struct spek_refusal *refusal)
{
	struct spek_feed *feed;
	u64 now_ns = ktime_get_ns();
	u32 budget = ROWS_PER_REQUEST;
	u32 i;
	int err = 0;

	mutex_lock(&feeds_lock);
	feed = find_own_feed(id, portid, refusal);
	if (IS_ERR(feed)) {
		err = PTR_ERR(feed);
		goto out_unlock;
	}
	refusal->kind = SPEK_FEED_PART_SAMPLE;
	for (i = 0; i < nr && !err; i++) {
		refusal->index = i;
		err = check_sample(feed, &samples[i], now_ns, refusal);
	}
	if (err) {
		feed->refused++;
		goto out_unlock;
	}

	*accepted = 0;
	for (i = 0; i < nr; i++)
		*accepted += push_sample(feed, &samples[i], &budget);
	take_rows_of_all(feed, &budget);
	feed->batches++;

out_unlock:
	mutex_unlock(&feeds_lock);
	return err;
}

/**
 * spek_feed_mark() - update a feed's values of feed-mark
 * @portid: socket of the request
 * @mark: number of the feed and new values
 * @given: fields of spek_prober_feed_mark_request that are set in @mark
 * @refusal: filled in on failure
 *
 * Context: process.
 * Return: 0, -ENOENT, -EPERM if another socket opened the feed, -EBUSY if it has ended.
 */
int spek_feed_mark(u32 portid, const struct spek_prober_feed_mark *mark,
		   const unsigned long *given, struct spek_refusal *refusal)
{
	struct spek_feed *feed;
	u32 budget = ROWS_PER_REQUEST;
	u32 i;

	mutex_lock(&feeds_lock);
	feed = find_own_feed(mark->id, portid, refusal);
	if (IS_ERR(feed))
		goto out_unlock;
	spek_genl_merge(&spek_prober_feed_mark_request, &feed->mark, mark, given);
	for (i = 0; i < feed->nr_rails; i++)
		spek_rail_mark(&feed->rails[i].rail, feed->mark.until_ns);
	take_rows_of_all(feed, &budget);

out_unlock:
	mutex_unlock(&feeds_lock);
	return PTR_ERR_OR_ZERO(feed);
}

/* ---- for the rows of a probe ---- */

/**
 * spek_feed_add_rows() - begin to take the totals of a feed's rails at the starts of rows
 * @feed: feed; the caller holds a reference, which must outlive @rows
 * @rows: rows for the rails of @feed, for spek_feed_remove_rows()
 *
 * Context: process.
 */
void spek_feed_add_rows(struct spek_feed *feed, struct spek_feed_rows *rows)
{
	mutex_lock(&feeds_lock);
	list_add_tail(&rows->node, &feed->rows);
	mutex_unlock(&feeds_lock);
}

/**
 * spek_feed_remove_rows() - take no more totals
 * @rows: rows
 *
 * Context: process. When this returns, @rows and its ring are the caller's alone.
 */
void spek_feed_remove_rows(struct spek_feed_rows *rows)
{
	mutex_lock(&feeds_lock);
	list_del_init(&rows->node);
	mutex_unlock(&feeds_lock);
}

/**
 * spek_feed_read_row() - get the total of a rail up to the start of a row
 * @feed: feed; the caller holds a reference
 * @rows: rows of the probe, for this feed
 * @rail: number of the rail
 * @seq: number of the row
 * @at_ns: CLOCK_MONOTONIC of its start
 * @row: filled in
 *
 * Context: process.
 * Return: 0, or a negative errno of spek_tally_read().
 */
int spek_feed_read_row(const struct spek_feed *feed, const struct spek_feed_rows *rows, u32 rail,
		       u64 seq, u64 at_ns, struct spek_tally_row *row)
{
	int err;

	mutex_lock(&feeds_lock);
	err = spek_tally_read(&rows->tallies[rail], &feed->rails[rail].rail, seq, at_ns,
			      spek_feed_has_ended(feed), row);
	mutex_unlock(&feeds_lock);
	return err;
}

/**
 * spek_feed_ready_ns() - time up to which a feed is complete
 * @feed: feed; the caller holds a reference
 *
 * Context: process.
 * Return: CLOCK_MONOTONIC up to which samples of all rails have arrived; U64_MAX if the feed has
 *	ended.
 */
u64 spek_feed_ready_ns(const struct spek_feed *feed)
{
	u64 ready_ns;

	mutex_lock(&feeds_lock);
	ready_ns = spek_feed_has_ended(feed) ? U64_MAX : watermark_of(feed);
	mutex_unlock(&feeds_lock);
	return ready_ns;
}

/**
 * spek_feed_leave_behind() - count a row that is sent before a lagging feed's samples arrive
 * @feed: feed; the caller holds a reference
 * @at_ns: start of the row
 *
 * Context: process.
 */
void spek_feed_leave_behind(struct spek_feed *feed, u64 at_ns)
{
	mutex_lock(&feeds_lock);
	if (!spek_feed_has_ended(feed) && watermark_of(feed) < at_ns)
		feed->left_behind++;
	mutex_unlock(&feeds_lock);
}
