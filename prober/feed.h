/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Feeds of power samples.
 *
 * Lifetime, states and locks: see the head of feed.c.
 */
#ifndef SPEK_PROBER_FEED_H
#define SPEK_PROBER_FEED_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/types.h>

#include "../kmod/core/refusal.h"
#include "core/rail.h"
#include "core/state.h"
#include "feed_rows.h"
#include "uapi/spek_prober.h"
#include "gen/structs_gen.h"

/* Entity of table power: feed * 256 + rail. */
#define SPEK_POWER_ENTITY_RAILS 256

/**
 * enum spek_feed_part - part of a request that a refusal is about
 * @SPEK_FEED_PART_REQUEST: the request as a whole
 * @SPEK_FEED_PART_ID: number of the feed
 * @SPEK_FEED_PART_NAME: name of the feed
 * @SPEK_FEED_PART_HISTORY: number of samples to keep
 * @SPEK_FEED_PART_SAMPLE: a sample
 */
enum spek_feed_part {
	SPEK_FEED_PART_REQUEST,
	SPEK_FEED_PART_ID,
	SPEK_FEED_PART_NAME,
	SPEK_FEED_PART_HISTORY,
	SPEK_FEED_PART_SAMPLE,
};

/**
 * struct spek_feed_rail - a rail of a feed
 * @config: configuration; const
 * @rail: samples
 */
struct spek_feed_rail {
	struct spek_prober_rail_config config;
	struct spek_rail rail;
};

/**
 * struct spek_feed - a feed, from feed-open until it is released
 * @ref: one for the list, one for each probe that has its rails in table power, one for each
 *	energy-get that integrates them
 * @node: in the list of feeds; protected by feeds_lock, like all that is not const
 * @id: number; const
 * @name: see struct spek_prober_feed_open; const
 * @source: see struct spek_prober_feed_open; const
 * @portid: socket that owns it; const
 * @owner_pid: process that opened it; const
 * @owner_name: name of that process; const
 * @history: see struct spek_prober_feed_open; const
 * @max_step_ns: see struct spek_prober_feed_open; const
 * @opened_ns: CLOCK_MONOTONIC of feed-open; const
 * @state: state
 * @ended_ns: CLOCK_MONOTONIC of its end; 0 before
 * @mark: latest values of feed-mark; its @id is not used
 * @batches: number of batches stored
 * @refused: number of batches refused
 * @left_behind: number of rows sent to clients without its rails because it lagged
 * @rows: rows of probes that have its rails in table power, struct spek_feed_rows
 * @nr_rails: length of @rails; const
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
	struct spek_prober_feed_mark mark;
	u64 batches;
	u64 refused;
	u64 left_behind;
	struct list_head rows;
	u32 nr_rails;
	struct spek_feed_rail rails[];
};

/**
 * struct spek_feed_cursor - position of a walk over rails
 * @only: number of the only feed to visit, or 0 for all
 * @feed: number of the next feed to visit
 * @rail: number of its next rail to visit
 */
struct spek_feed_cursor {
	u32 only;
	u32 feed;
	u32 rail;
};

/**
 * struct spek_feed_condition - what of a feed changes and goes with its energy
 * @state: enum spek_prober_feed_state
 * @has_ended: no more samples will come
 * @uncertainty_ns: of the latest feed-mark
 */
struct spek_feed_condition {
	u32 state;
	bool has_ended;
	u64 uncertainty_ns;
};

typedef int spek_feed_visit(const struct spek_feed *feed, u32 rail, u64 watermark_ns,
			    void *context);

void spek_feed_init(void (*feed_ended)(u32 portid));
void spek_feed_exit(void);
void spek_feed_owner_gone(u32 portid);

int spek_feed_open(const struct spek_prober_feed_open *request, u32 portid, u32 *id,
		   struct spek_refusal *refusal);
int spek_feed_close(u32 id, struct spek_refusal *refusal);
int spek_feed_push(u32 id, u32 portid, const struct spek_prober_power_sample *samples, u32 nr,
		   u32 *accepted, struct spek_refusal *refusal);
int spek_feed_mark(u32 portid, const struct spek_prober_feed_mark *mark,
		   const unsigned long *given, struct spek_refusal *refusal);

int spek_feed_check(u32 id, struct spek_refusal *refusal);
int spek_feeds_walk(struct spek_feed_cursor *cursor, spek_feed_visit *visit, void *context,
		    u32 *seq);

struct spek_feed *spek_feeds_get_next(struct spek_feed_cursor *cursor, u32 *seq);
void spek_feed_condition(const struct spek_feed *feed, struct spek_feed_condition *condition);
void spek_feed_use(const struct spek_feed *feed, u32 rail,
		   const struct spek_prober_power_interval *interval, bool ended,
		   struct spek_rail_use *use);

struct spek_feed **spek_feeds_get_open(u32 *nr);
void spek_feed_put(struct spek_feed *feed);
void spek_feed_add_rows(struct spek_feed *feed, struct spek_feed_rows *rows);
void spek_feed_remove_rows(struct spek_feed_rows *rows);
int spek_feed_read_row(const struct spek_feed *feed, const struct spek_feed_rows *rows, u32 rail,
		       u64 seq, u64 at_ns, struct spek_tally_row *row);
u64 spek_feed_ready_ns(const struct spek_feed *feed);
void spek_feed_leave_behind(struct spek_feed *feed, u64 at_ns);

/**
 * spek_feed_has_ended() - check whether a feed has ended
 * @feed: feed; to be called under feeds_lock, by feed.c or by a visit of spek_feeds_walk()
 *
 * Return: true if no more samples will come.
 */
static inline bool spek_feed_has_ended(const struct spek_feed *feed)
{
	return !spek_feed_states[feed->state].takes_samples;
}

#endif
