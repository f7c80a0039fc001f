// SPDX-License-Identifier: GPL-2.0
/* stats-get and interval-get: totals and interval rows over netlink. */
#include <linux/jiffies.h>
#include <linux/mm.h>
#include "../genl/put.h"
#include "netlink.h"

#define BUCKETS_PER_MESSAGE	256
/* The scheduler accounts for a running thread at ticks: shorter intervals get no CPU time. */
#define CPU_TIME_TICKS		10

/* ---- stats-get ---- */

static int put_item_head(struct sk_buff *skb, const struct spek_run *run,
			 const struct spek_snapshot_item *item)
{
	if (nla_put_u32(skb, SPEK_A_STATS_RUN, run->id) ||
	    nla_put_u32(skb, SPEK_A_STATS_PHASE, item->phase) ||
	    nla_put_u32(skb, SPEK_A_STATS_STREAM, item->cell / 2) ||
	    nla_put_u32(skb, SPEK_A_STATS_DIRECTION, item->cell % 2))
		return -EMSGSIZE;
	return 0;
}

/* Negative errno of a status; the last entry counts all statuses without their own. */
static int status_errno(u32 status)
{
	if (status == SPEK_NR_STATUS - 1)
		return -EIO;
	return blk_status_to_errno((__force blk_status_t)status);
}

/* Put one nest per errno, which several statuses may share. */
static int put_errors(struct sk_buff *skb, const struct spek_total *total)
{
	u64 left[SPEK_NR_STATUS];
	struct nlattr *nest;
	u32 i, j;

	memcpy(left, total->error, sizeof(left));
	for (i = 0; i < SPEK_NR_STATUS; i++) {
		if (!left[i])
			continue;
		for (j = i + 1; j < SPEK_NR_STATUS; j++) {
			if (left[j] && status_errno(j) == status_errno(i)) {
				left[i] += left[j];
				left[j] = 0;
			}
		}
		nest = nla_nest_start(skb, SPEK_A_STATS_ERROR);
		if (!nest || nla_put_u32(skb, SPEK_A_ERROR_STATUS, -status_errno(i)) ||
		    SPEK_PUT_U64(skb, SPEK_A_ERROR, COUNT, left[i]))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

static int put_counters(struct sk_buff *skb, const struct spek_total *total)
{
	if (SPEK_PUT_U64(skb, SPEK_A_STATS, IOS, total->ios) ||
	    SPEK_PUT_U64(skb, SPEK_A_STATS, BYTES, total->bytes) ||
	    SPEK_PUT_U64(skb, SPEK_A_STATS, REQUESTS, total->requests) ||
	    SPEK_PUT_U64(skb, SPEK_A_STATS, ERRORS, total->errors))
		return -EMSGSIZE;
	return put_errors(skb, total);
}

/* Put buckets from @first on, and advance @first to the next one to put. */
static int put_buckets(struct sk_buff *skb, const struct spek_total *total, u32 metric, u32 *first)
{
	const u64 *hist = total->hist[metric];
	u32 nr, from = *first;

	while (from < SPEK_HIST_BUCKETS && !hist[from])
		from++;
	nr = min_t(u32, BUCKETS_PER_MESSAGE, SPEK_HIST_BUCKETS - from);
	while (nr && !hist[from + nr - 1])
		nr--;
	if (nla_put_u32(skb, SPEK_A_STATS_METRIC, metric) ||
	    SPEK_PUT_U64(skb, SPEK_A_STATS, SUM_NS, total->sum[metric].low) ||
	    SPEK_PUT_U64(skb, SPEK_A_STATS, SUM_HIGH, total->sum[metric].high) ||
	    SPEK_PUT_U64(skb, SPEK_A_STATS, MIN_NS, total->min[metric]) ||
	    SPEK_PUT_U64(skb, SPEK_A_STATS, MAX_NS, total->max[metric]) ||
	    nla_put_u32(skb, SPEK_A_STATS_HIST_BITS, SPEK_HIST_BITS) ||
	    nla_put_u32(skb, SPEK_A_STATS_HIST_FIRST, from) ||
	    nla_put(skb, SPEK_A_STATS_HIST, nr * sizeof(u64), &hist[from]))
		return -EMSGSIZE;
	from += nr;
	while (from < SPEK_HIST_BUCKETS && !hist[from])
		from++;
	*first = from;
	return 0;
}

/* Return: step of the next metric that has times, from @step on; 0 if there is none */
static u32 next_step(const struct spek_total *total, u32 step)
{
	for (; step <= SPEK_NR_TOTAL_METRICS; step++)
		if (total->hist[step - 1])
			return step;
	return 0;
}

/* Put the next message of a snapshot, and advance the position if it fits. */
static int put_stats(struct sk_buff *skb, struct netlink_callback *cb, struct spek_genl_dump *dump)
{
	const struct spek_snapshot *snapshot = dump->memory;
	const struct spek_snapshot_item *item = &snapshot->item[dump->next];
	u32 first = dump->first;
	void *head;
	int err;

	head = spek_genl_dump_head(&spek_netlink, skb, cb, SPEK_CMD_STATS_GET);
	if (!head)
		return -EMSGSIZE;
	err = put_item_head(skb, dump->object, item);
	if (!err && dump->step)
		err = put_buckets(skb, &item->total, dump->step - 1, &first);
	else if (!err)
		err = put_counters(skb, &item->total);
	if (err) {
		genlmsg_cancel(skb, head);
		return err;
	}
	genlmsg_end(skb, head);

	if (dump->step && first < SPEK_HIST_BUCKETS) {
		dump->first = first;
		return 0;
	}
	dump->first = 0;
	dump->step = next_step(&item->total, dump->step + 1);
	if (!dump->step)
		dump->next++;
	return 0;
}

int spek_nl_stats_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct spek_genl_dump *dump = spek_genl_dump_of(cb);
	int err = 0;

	if (!dump->started) {
		struct spek_snapshot *snapshot;

		err = spek_nl_dump_start(cb, dump, SPEK_A_STATS_RUN);
		if (err)
			return err;
		snapshot = spek_run_snapshot(dump->object);
		if (!snapshot)
			return spek_genl_refuse(cb->extack, NULL, -ENOMEM,
						"There is not enough memory for the answer.");
		dump->memory = snapshot;
		dump->end = snapshot->nr;
		dump->started = true;
	}
	while (!err && dump->next < dump->end)
		err = put_stats(skb, cb, dump);
	return spek_genl_dump_end(skb, cb, err);
}

/* ---- interval-get ---- */

static int put_cell(struct sk_buff *skb, const struct spek_row_cell *cell, u32 direction)
{
	const struct spek_genl_u64 values[] = {
		{ SPEK_A_CELL_IOS, cell->ios },
		{ SPEK_A_CELL_BYTES, cell->bytes },
		{ SPEK_A_CELL_ERRORS, cell->errors },
		{ SPEK_A_CELL_RESPONSE_SUM_NS, cell->response_sum.low },
		{ SPEK_A_CELL_RESPONSE_SUM_HIGH, cell->response_sum.high },
		{ SPEK_A_CELL_RESPONSE_MAX_NS, cell->response_max_ns },
		{ SPEK_A_CELL_RESPONSE_P50_NS, cell->response_ns[0] },
		{ SPEK_A_CELL_RESPONSE_P90_NS, cell->response_ns[1] },
		{ SPEK_A_CELL_RESPONSE_P99_NS, cell->response_ns[2] },
		{ SPEK_A_CELL_RESPONSE_P999_NS, cell->response_ns[3] },
		{ SPEK_A_CELL_SERVICE_SUM_NS, cell->service_sum.low },
		{ SPEK_A_CELL_SERVICE_SUM_HIGH, cell->service_sum.high },
		{ SPEK_A_CELL_SERVICE_MAX_NS, cell->service_max_ns },
		{ SPEK_A_CELL_SERVICE_P50_NS, cell->service_ns[0] },
		{ SPEK_A_CELL_SERVICE_P99_NS, cell->service_ns[1] },
	};
	struct nlattr *nest = nla_nest_start(skb, SPEK_A_INTERVAL_CELL);

	if (!nest || nla_put_u32(skb, SPEK_A_CELL_DIRECTION, direction) ||
	    spek_genl_put_u64s(skb, SPEK_A_CELL_PAD, values, ARRAY_SIZE(values)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_row(struct sk_buff *skb, const struct spek_run *run, const struct spek_row *row,
		   u64 dropped)
{
	const struct spek_genl_u64 values[] = {
		{ SPEK_A_INTERVAL_SEQ, row->seq },
		{ SPEK_A_INTERVAL_DROPPED, dropped },
		{ SPEK_A_INTERVAL_START_NS, row->start_ns },
		{ SPEK_A_INTERVAL_END_NS, row->end_ns },
		{ SPEK_A_INTERVAL_BACKLOG, row->backlog },
		{ SPEK_A_INTERVAL_SWITCHES, row->switches },
	};
	u32 nr_streams = run->config->workload.nr_streams;

	if (nla_put_u32(skb, SPEK_A_INTERVAL_RUN, run->id) ||
	    nla_put_u32(skb, SPEK_A_INTERVAL_PHASE, row->phase) ||
	    nla_put_u32(skb, SPEK_A_INTERVAL_OUTSTANDING, row->outstanding) ||
	    nla_put_u32(skb, SPEK_A_INTERVAL_COVERAGE_PPM, row->coverage_ppm) ||
	    spek_genl_put_u64s(skb, SPEK_A_INTERVAL_PAD, values, ARRAY_SIZE(values)))
		return -EMSGSIZE;
	if (row->end_ns - row->start_ns >= CPU_TIME_TICKS * TICK_NSEC &&
	    SPEK_PUT_U64(skb, SPEK_A_INTERVAL, CPU_NS, row->cpu_ns))
		return -EMSGSIZE;
	if (put_cell(skb, &row->cell[0], SPEK_DIRECTION_READ) ||
	    put_cell(skb, &row->cell[1], SPEK_DIRECTION_WRITE))
		return -EMSGSIZE;
	return nla_put(skb, SPEK_A_INTERVAL_STREAMS, nr_streams * sizeof(row->stream[0]),
		       row->stream);
}

static int start_intervals(struct netlink_callback *cb, struct spek_genl_dump *dump)
{
	const struct nlattr *since;
	int err;

	err = spek_nl_dump_start(cb, dump, SPEK_A_INTERVAL_RUN);
	if (err)
		return err;
	dump->memory = kvmalloc(spek_run_row_bytes(dump->object), GFP_KERNEL);
	if (!dump->memory)
		return spek_genl_refuse(cb->extack, NULL, -ENOMEM, "There is not enough memory for the answer.");
	since = spek_compat_dump_attrs(cb)[SPEK_A_INTERVAL_SINCE];
	dump->next = since ? nla_get_u64(since) : 0;
	dump->end = spek_run_nr_rows(dump->object);
	dump->started = true;
	return 0;
}

/*
 * Rows that are overwritten between two calls are left out: their numbers are skipped, and
 * "dropped" counts them. The dump ends at the row that was the last one at its first call, so that
 * it terminates.
 */
int spek_nl_interval_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct spek_genl_dump *dump = spek_genl_dump_of(cb);
	u64 dropped;
	int err = 0;

	if (!dump->started) {
		err = start_intervals(cb, dump);
		if (err)
			return err;
	}
	while (spek_run_copy_row(dump->object, &dump->next, dump->end, dump->memory, &dropped)) {
		void *head = spek_genl_dump_head(&spek_netlink, skb, cb, SPEK_CMD_INTERVAL_GET);

		err = head ? put_row(skb, dump->object, dump->memory, dropped) : -EMSGSIZE;
		if (err) {
			genlmsg_cancel(skb, head);
			break;
		}
		genlmsg_end(skb, head);
		dump->next++;
	}
	return spek_genl_dump_end(skb, cb, err);
}
