/* SPDX-License-Identifier: GPL-2.0 */
/*
 * feed.h - feeds of power samples
 *
 * Lifetime, states and locks: see the head of feed.c.
 */
#ifndef SPEK_PROBER_FEED_H
#define SPEK_PROBER_FEED_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/types.h>

#include "core/rail.h"
#include "uapi/spek_prober.h"

struct netlink_ext_ack;

/* entity of table power: feed * 256 + rail */
#define SPEK_POWER_ENTITY_RAILS 256

/**
 * struct spek_rail_config - a rail that a feed shall have
 * @name: checked
 * @lsb_nw: least step of its power; 0 if not known
 */
struct spek_rail_config {
	char name[SPEK_PROBER_MAX_NAME + 1];
	u64 lsb_nw;
};

/**
 * struct spek_feed_config - a feed to open; all of it checked against the contract's limits
 * @name: its name
 * @source: what measures
 * @portid: socket that owns it
 * @history: samples to keep for each rail
 * @max_step_ns: samples further apart have a gap between them
 * @uncertainty_ns: of the time stamps
 * @nr_rails: length of @rails
 * @rails: the rails
 */
struct spek_feed_config {
	char name[SPEK_PROBER_MAX_NAME + 1];
	char source[SPEK_PROBER_MAX_NAME + 1];
	u32 portid;
	u32 history;
	u64 max_step_ns;
	u64 uncertainty_ns;
	u32 nr_rails;
	struct spek_rail_config *rails;
};

/**
 * struct spek_feed_mark - what feed-mark says; what it does not say is as it was
 * @until_ns: time up to which nothing came
 * @uncertainty_ns: of the time stamps
 * @drift_ppb: of the source's clock
 * @residual_ns: of the mapping of clocks
 * @overflows: so far
 * @lost: so far
 */
struct spek_feed_mark {
	u64 until_ns;
	u64 uncertainty_ns;
	s64 drift_ppb;
	u64 residual_ns;
	u64 overflows;
	u64 lost;
};

/**
 * struct spek_feed_rail - a rail of a feed
 * @config: const
 * @rail: its samples
 */
struct spek_feed_rail {
	struct spek_rail_config config;
	struct spek_rail rail;
};

/**
 * struct spek_feed - a feed, from feed-open until nobody can ask for it any more
 * @ref: one for the list, one for each probe that has its rails in table power
 * @node: in the list of feeds; protected by the power lock, like all that is not const
 * @id: const
 * @name: const
 * @source: const
 * @portid: socket that owns it; const
 * @owner_pid: process that opened it; const
 * @owner_name: its name; const
 * @history: const
 * @max_step_ns: const
 * @opened_ns: const
 * @state: state
 * @ended_ns: when it ended
 * @mark: the last word of feed-mark
 * @batches: batches taken
 * @refused: batches refused
 * @left_behind: rows that were handed out without its rails
 * @nr_rails: const
 * @rails: rails
 */
struct spek_feed {
	struct kref ref;
	struct list_head node;
	u32 id;
	char name[SPEK_PROBER_MAX_NAME + 1];
	char source[SPEK_PROBER_MAX_NAME + 1];
	u32 portid;
	struct pid *owner_pid;
	char owner_name[TASK_COMM_LEN];
	u32 history;
	u64 max_step_ns;
	u64 opened_ns;

	enum spek_prober_feed_state state;
	u64 ended_ns;
	struct spek_feed_mark mark;
	u64 batches;
	u64 refused;
	u64 left_behind;
	u32 nr_rails;
	struct spek_feed_rail rails[];
};

extern struct mutex spek_power_lock;

void spek_feed_exit(void);
void spek_feed_owner_gone(u32 portid);

int spek_feed_open(const struct spek_feed_config *config, u32 *id, struct netlink_ext_ack *extack);
int spek_feed_close(u32 id, struct netlink_ext_ack *extack);
int spek_feed_push(u32 id, u32 portid, const struct spek_prober_power_sample *samples, u32 nr,
		   u32 *accepted, struct netlink_ext_ack *extack);
struct spek_feed *spek_feed_find_own(u32 id, u32 portid, struct netlink_ext_ack *extack);
void spek_feed_set_mark(struct spek_feed *feed, const struct spek_feed_mark *mark);

struct spek_feed *spek_feed_find(u32 id, struct netlink_ext_ack *extack);
struct spek_feed *spek_feed_from(u32 id);
u64 spek_feed_watermark(const struct spek_feed *feed);
u32 spek_power_generation(void);

struct spek_feed **spek_feeds_get_open(u32 *nr);
void spek_feed_put(struct spek_feed *feed);

/** spek_feed_has_ended() - Return: no samples will come any more. */
static inline bool spek_feed_has_ended(const struct spek_feed *feed)
{
	return feed->state != SPEK_PROBER_FEED_STATE_OPEN;
}

#endif
