/* SPDX-License-Identifier: GPL-2.0 */
/*
 * feeder.h - a process of its own that talks to the prober
 *
 * The prober takes samples from CAP_SYS_ADMIN only. The feeder has that and nothing else: it opens
 * no device or file, and reads only requests of a fixed layout, whose bounds it checks, and the
 * prober's replies. The process that reads devices has no capability, so the kernel does not let it
 * trace the feeder, either.
 *
 * Each call sends one request over a socket pair and waits for its reply. The feed belongs to the
 * feeder's netlink socket: when the reading process dies, the feeder ends, and the prober marks the
 * feed as broken.
 */
#ifndef SPEK_DAQ_FEEDER_H
#define SPEK_DAQ_FEEDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bridge.h"
#include "error.h"
#include "push.h"

enum daq_feeder_verb {
	DAQ_FEEDER_OPEN = 1,
	DAQ_FEEDER_SAMPLES,
	DAQ_FEEDER_MARK,
	DAQ_FEEDER_CLOSE,
	DAQ_FEEDER_ABANDON,
};

/**
 * struct daq_feeder_request - one message to the feeder, whose length @verb and @nr_samples give
 * @verb: enum daq_feeder_verb
 * @nr_samples: length of @sample, at most SPEK_PROBER_MAX_BATCH; 0 but for DAQ_FEEDER_SAMPLES
 * @config: of DAQ_FEEDER_OPEN
 * @status: of DAQ_FEEDER_MARK
 * @sample: of DAQ_FEEDER_SAMPLES
 */
struct daq_feeder_request {
	uint32_t verb;
	uint32_t nr_samples;
	union {
		struct daq_feed_config config;
		struct daq_status status;
		struct spek_prober_power_sample sample[SPEK_PROBER_MAX_BATCH];
	};
};

/**
 * struct daq_feeder_reply - the outcome of a request
 * @error: 0 or -errno
 * @accepted: samples that the prober has stored since the feeder started
 * @late: samples that it has dropped as late
 * @err: the sentence that belongs to @error
 */
struct daq_feeder_reply {
	int32_t error;
	uint64_t accepted;
	uint64_t late;
	struct daq_error err;
};

/**
 * struct daq_feeder - the reading process's end
 * @fd: socket to the feeder, or -1
 * @pid: process of the feeder, or 0
 * @has_ended: the feeder is gone, and no request can succeed
 * @accepted: as in the last reply
 * @late: as in the last reply
 */
struct daq_feeder {
	int fd;
	pid_t pid;
	bool has_ended;
	uint64_t accepted;
	uint64_t late;
	struct daq_feeder_request request;
};

/**
 * daq_feeder_start() - create the feeder's process
 *
 * Before privileges are dropped, a thread is created or a device is opened. Signals that the caller
 * blocks are blocked in the feeder, which ends after daq_feeder_stop() or with the caller.
 *
 * Return: 0, or -errno and a sentence.
 */
int daq_feeder_start(struct daq_feeder *feeder, struct daq_error *err);

/** daq_feeder_stop() - end the process, without closing the feed; waits for it. */
void daq_feeder_stop(struct daq_feeder *feeder);

/** daq_feeder_open() - Return: as daq_push_open(), or -EPIPE if the feeder is gone. */
int daq_feeder_open(struct daq_feeder *feeder, const struct daq_feed_config *config,
		    struct daq_error *err);

/** daq_feeder_samples() - Return: as daq_push_samples(), or -EPIPE if the feeder is gone. */
int daq_feeder_samples(struct daq_feeder *feeder, const struct spek_prober_power_sample *sample,
		       size_t nr, struct daq_error *err);

/** daq_feeder_mark() - Return: as daq_push_mark(), or -EPIPE if the feeder is gone. */
int daq_feeder_mark(struct daq_feeder *feeder, const struct daq_status *status,
		    struct daq_error *err);

/** daq_feeder_close() - close the feed, if it is open, and disconnect from the prober. */
void daq_feeder_close(struct daq_feeder *feeder);

/** daq_feeder_abandon() - disconnect from the prober without closing the feed. */
void daq_feeder_abandon(struct daq_feeder *feeder);

/**
 * daq_feeder_serve() - answer requests until the other end is closed
 * @fd: the feeder's end of the socket pair
 * @push: connection to the prober; disconnected at the end
 * Return: 0, or -EPROTO after a request that breaks the layout, which ends it.
 */
int daq_feeder_serve(int fd, struct daq_push *push);

#endif
