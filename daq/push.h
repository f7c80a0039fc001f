/* SPDX-License-Identifier: GPL-2.0 */
/*
 * push.h - the prober's feed, over generic netlink
 *
 * Every call waits for the prober's reply; the error of a refused request contains the prober's
 * own sentence. The feed belongs to this socket: the prober marks it as broken when the process
 * dies.
 */
#ifndef SPEK_DAQ_PUSH_H
#define SPEK_DAQ_PUSH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bridge.h"
#include "error.h"
#include "meter.h"

struct nl_sock;

/**
 * struct daq_feed_rail - a rail of a feed
 * @name: its name
 * @lsb_nw: resolution of its power, nW; 0: unknown
 */
struct daq_feed_rail {
	char name[DAQ_RAIL_NAME_MAX];
	uint64_t lsb_nw;
};

/**
 * struct daq_feed_config - attributes of feed-open; without pointers, for feeder.h
 * @name: name of the feed
 * @source: name of the source
 * @history: samples kept per rail; 0: the prober's default
 * @nr_rails: length of @rail
 * @max_step_ns: longest step between samples without a gap; 0: the prober's default
 * @uncertainty_ns: uncertainty of the timestamps
 * @rail: the rails
 */
struct daq_feed_config {
	char name[SPEK_PROBER_MAX_NAME + 1];
	char source[SPEK_PROBER_MAX_NAME + 1];
	uint32_t history;
	uint32_t nr_rails;
	uint64_t max_step_ns;
	uint64_t uncertainty_ns;
	struct daq_feed_rail rail[SPEK_PROBER_MAX_RAILS];
};

/**
 * struct daq_push - connection to the prober
 * @feed: number of the open feed, if @is_open
 * @accepted: number of samples the prober has stored
 * @late: number of samples the prober has dropped as late
 */
struct daq_push {
	struct nl_sock *socket;
	int family;
	uint32_t feed;
	bool is_open;
	uint64_t accepted;
	uint64_t late;
};

/**
 * daq_push_open() - connect and open the feed
 * Return: 0; -ENOPROTOOPT: the prober is not loaded; -EPERM; -EBUSY: the name is in use; another
 * -errno; each with a sentence.
 */
int daq_push_open(struct daq_push *push, const struct daq_feed_config *config,
		  struct daq_error *err);

/**
 * daq_push_samples() - deliver a batch of at most SPEK_PROBER_MAX_BATCH
 * Return: 0; -EAGAIN: try again later; -EINVAL, -ERANGE: the prober refused this batch;
 * another -errno: the feed is lost and must be reopened.
 */
int daq_push_samples(struct daq_push *push, const struct spek_prober_power_sample *sample,
		     size_t nr, struct daq_error *err);

/** daq_push_mark() - report the state of the source. Return: as daq_push_samples(). */
int daq_push_mark(struct daq_push *push, const struct daq_status *status, struct daq_error *err);

/** daq_push_close() - close the feed, if it is open, and disconnect. */
void daq_push_close(struct daq_push *push);

/** daq_push_abandon() - disconnect without closing the feed. */
void daq_push_abandon(struct daq_push *push);

#endif
