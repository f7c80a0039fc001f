// SPDX-License-Identifier: GPL-2.0
/*
 * Dumps: runs, statistics, intervals, operations.
 *
 * A dump is a sequence of calls, one for each buffer that userspace reads, with
 * struct spek_nl_dump in between in cb->ctx. The first call checks the request: not .start,
 * because what .start says is lost on kernels before v6.3. The dump holds a reference to
 * its run until spek_nl_dump_done(), which is called in every case.
 */
#include <linux/mm.h>
#include "core/gen.h"
#include "netlink.h"

#define BUCKETS_PER_MESSAGE	256
#define OPS_PER_MESSAGE		64
#define MAX_OPS			1000000
/* Generators want this alignment, see core/gen.h. */
#define GEN_ALIGN		64
/* Snapshots and generators can be large: better to refuse than to have a process killed. */
#define DUMP_GFP		(GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

struct spek_nl_dump *spek_nl_dump_of(struct netlink_callback *cb)
{
	BUILD_BUG_ON(sizeof(struct spek_nl_dump) > sizeof(cb->ctx));
	return (struct spek_nl_dump *)cb->ctx;
}

/* done() of all dumps; nothing of it may have happened if the request was refused. */
int spek_nl_dump_done(struct netlink_callback *cb)
{
	struct spek_nl_dump *dump = spek_nl_dump_of(cb);

	kvfree(dump->memory);
	if (dump->run)
		spek_run_put(dump->run);
	return 0;
}

int spek_nl_dump_start(struct netlink_callback *cb, struct spek_nl_dump *dump, u32 run_attr)
{
	struct spek_run *run;
	int err;

	err = spek_nl_check_rights(cb->skb, cb->extack);
	if (err)
		return err;
	run = spek_nl_get_run(spek_compat_dump_attrs(cb)[run_attr], cb->extack);
	if (IS_ERR(run))
		return PTR_ERR(run);
	dump->run = run;
	return 0;
}

void *spek_nl_dump_head(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	return genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &spek_nl_family,
			   NLM_F_MULTI, cmd);
}

int spek_nl_dump_end(const struct sk_buff *skb, struct netlink_callback *cb, int err)
{
	if (err == -EMSGSIZE && skb->len)
		return skb->len;
	if (err)
		return spek_nl_refuse(cb->extack, NULL, err,
				      "The answer doesn't fit into a buffer of the socket.");
	return skb->len;
}

/* run-get */

/* Buffers must hold the largest run: the kernel takes the size from min_dump_alloc. */
int spek_nl_run_get_start(struct netlink_callback *cb)
{
	struct spek_run *run;
	u32 id = 0;

	if (spek_nl_check_rights(cb->skb, NULL))
		return 0;	/* the first call of dumpit refuses, with a sentence */
	while ((run = spek_run_get_next(id))) {
		size_t bytes = nlmsg_total_size(GENL_HDRLEN + spek_nl_run_bytes(run));

		cb->min_dump_alloc = max_t(size_t, cb->min_dump_alloc, bytes);
		id = run->id + 1;
		spek_run_put(run);
	}
	return 0;
}

static int put_run(struct sk_buff *skb, struct netlink_callback *cb, struct spek_run *run)
{
	void *head = spek_nl_dump_head(skb, cb, SPEK_CMD_RUN_GET);

	if (!head)
		return -EMSGSIZE;
	genl_dump_check_consistent(cb, head);
	if (spek_nl_put_run(skb, run)) {
		genlmsg_cancel(skb, head);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, head);
	return 0;
}

int spek_nl_run_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct spek_nl_dump *dump = spek_nl_dump_of(cb);
	struct spek_run *run;
	int err = 0;

	if (!dump->started) {
		const struct nlattr *id = spek_compat_dump_attrs(cb)[SPEK_A_RUN_ID];

		err = spek_nl_check_rights(cb->skb, cb->extack);
		if (err)
			return err;
		if (id)
			return spek_nl_refuse(cb->extack, id, -EINVAL,
					      "A dump is of all runs: leave the number out.");
		dump->started = true;
	}
	cb->seq = spek_run_generation();
	while (!err && (run = spek_run_get_next(dump->next))) {
		err = put_run(skb, cb, run);
		if (!err)
			dump->next = (u64)run->id + 1;
		spek_run_put(run);
	}
	return spek_nl_dump_end(skb, cb, err);
}

/* stats-get */

/**
 * struct snapshot - totals of a run at one moment, so that a dump of many buffers agrees
 * with itself while the run goes on
 * @nr: items that have I/Os
 * @item: totals of a phase, stream and direction
 *
 * Behind the items lie the histograms that they point to.
 */
struct snapshot {
	u32 nr;
	struct snapshot_item {
		u32 phase;
		u32 cell;
		struct spek_total total;
	} item[];
};

static struct snapshot *take_snapshot(struct spek_run *run)
{
	u32 nr_cells = 2 * run->config->workload.nr_streams;
	size_t hist_bytes = SPEK_HIST_BUCKETS * sizeof(u64);
	struct snapshot *snapshot;
	u32 phase, cell, metric;
	u64 *hist;

	/* room for everything: under the lock there is no allocating */
	snapshot = kvzalloc(struct_size(snapshot, item, SPEK_NR_PHASES * nr_cells) +
			    SPEK_NR_METRICS * nr_cells * hist_bytes, DUMP_GFP);
	if (!snapshot)
		return NULL;
	hist = (u64 *)&snapshot->item[SPEK_NR_PHASES * nr_cells];
	mutex_lock(&run->lock);
	for (phase = 0; phase < SPEK_NR_PHASES; phase++) {
		for (cell = 0; cell < nr_cells; cell++) {
			const struct spek_total *total = spek_stats_total(run->stats, phase, cell);
			struct snapshot_item *item = &snapshot->item[snapshot->nr];

			if (!total || !(total->ios || total->errors))
				continue;
			item->phase = phase;
			item->cell = cell;
			item->total = *total;
			for (metric = 0; metric < SPEK_NR_METRICS; metric++) {
				item->total.hist[metric] = NULL;
				if (!total->hist[metric])
					continue;
				item->total.hist[metric] = hist;
				memcpy(hist, total->hist[metric], hist_bytes);
				hist += SPEK_HIST_BUCKETS;
			}
			snapshot->nr++;
		}
	}
	mutex_unlock(&run->lock);
	return snapshot;
}

static int put_item_head(struct sk_buff *skb, const struct spek_run *run,
			 const struct snapshot_item *item)
{
	if (nla_put_u32(skb, SPEK_A_STATS_RUN, run->id) ||
	    nla_put_u32(skb, SPEK_A_STATS_PHASE, item->phase) ||
	    nla_put_u32(skb, SPEK_A_STATS_STREAM, item->cell / 2) ||
	    nla_put_u32(skb, SPEK_A_STATS_DIRECTION, item->cell % 2))
		return -EMSGSIZE;
	return 0;
}

/* Negative errno of a status; the last one stands for all that have no place of their own. */
static int status_errno(u32 status)
{
	if (status == SPEK_NR_STATUS - 1)
		return -EIO;
	return blk_status_to_errno((__force blk_status_t)status);
}

/* One nest for each errno: several statuses may share one. */
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
		    nla_put_u64_64bit(skb, SPEK_A_ERROR_COUNT, left[i], SPEK_A_ERROR_PAD))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

static int put_u64(struct sk_buff *skb, int type, u64 value)
{
	return nla_put_u64_64bit(skb, type, value, SPEK_A_STATS_PAD);
}

static int put_counters(struct sk_buff *skb, const struct spek_total *total)
{
	if (put_u64(skb, SPEK_A_STATS_IOS, total->ios) ||
	    put_u64(skb, SPEK_A_STATS_BYTES, total->bytes) ||
	    put_u64(skb, SPEK_A_STATS_REQUESTS, total->requests) ||
	    put_u64(skb, SPEK_A_STATS_ERRORS, total->errors))
		return -EMSGSIZE;
	return put_errors(skb, total);
}

/* Some buckets from @first on; sets @first to where to go on, or to the end. */
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
	    put_u64(skb, SPEK_A_STATS_SUM_NS, total->sum[metric]) ||
	    put_u64(skb, SPEK_A_STATS_MIN_NS, total->min[metric]) ||
	    put_u64(skb, SPEK_A_STATS_MAX_NS, total->max[metric]) ||
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

/* The next message of a snapshot; moves the position on if it fits. */
static int put_stats(struct sk_buff *skb, struct netlink_callback *cb, struct spek_nl_dump *dump)
{
	const struct snapshot *snapshot = dump->memory;
	const struct snapshot_item *item = &snapshot->item[dump->next];
	u32 first = dump->first;
	void *head;
	int err;

	head = spek_nl_dump_head(skb, cb, SPEK_CMD_STATS_GET);
	if (!head)
		return -EMSGSIZE;
	err = put_item_head(skb, dump->run, item);
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
	dump->step++;
	/* histograms are of the measure phase, and only I/Os without error have times */
	if (dump->step > SPEK_NR_METRICS || !item->total.hist[dump->step - 1] || !item->total.ios) {
		dump->step = 0;
		dump->next++;
	}
	return 0;
}

int spek_nl_stats_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct spek_nl_dump *dump = spek_nl_dump_of(cb);
	int err = 0;

	if (!dump->started) {
		struct snapshot *snapshot;

		err = spek_nl_dump_start(cb, dump, SPEK_A_STATS_RUN);
		if (err)
			return err;
		snapshot = take_snapshot(dump->run);
		if (!snapshot)
			return spek_nl_refuse(cb->extack, NULL, -ENOMEM,
					      "The kernel has not enough memory for the answer.");
		dump->memory = snapshot;
		dump->end = snapshot->nr;
		dump->started = true;
	}
	while (!err && dump->next < dump->end)
		err = put_stats(skb, cb, dump);
	return spek_nl_dump_end(skb, cb, err);
}

/* interval-get */

static int put_cell(struct sk_buff *skb, const struct spek_row_cell *cell, u32 direction)
{
	const struct {
		int type;
		u64 value;
	} values[] = {
		{ SPEK_A_CELL_IOS, cell->ios },
		{ SPEK_A_CELL_BYTES, cell->bytes },
		{ SPEK_A_CELL_ERRORS, cell->errors },
		{ SPEK_A_CELL_RESPONSE_SUM_NS, cell->response_sum_ns },
		{ SPEK_A_CELL_RESPONSE_MAX_NS, cell->response_max_ns },
		{ SPEK_A_CELL_RESPONSE_P50_NS, cell->response_ns[0] },
		{ SPEK_A_CELL_RESPONSE_P90_NS, cell->response_ns[1] },
		{ SPEK_A_CELL_RESPONSE_P99_NS, cell->response_ns[2] },
		{ SPEK_A_CELL_RESPONSE_P999_NS, cell->response_ns[3] },
		{ SPEK_A_CELL_SERVICE_SUM_NS, cell->service_sum_ns },
		{ SPEK_A_CELL_SERVICE_MAX_NS, cell->service_max_ns },
		{ SPEK_A_CELL_SERVICE_P50_NS, cell->service_ns[0] },
		{ SPEK_A_CELL_SERVICE_P99_NS, cell->service_ns[1] },
	};
	struct nlattr *nest = nla_nest_start(skb, SPEK_A_INTERVAL_CELL);
	size_t i;

	if (!nest || nla_put_u32(skb, SPEK_A_CELL_DIRECTION, direction))
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(values); i++)
		if (nla_put_u64_64bit(skb, values[i].type, values[i].value, SPEK_A_CELL_PAD))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_row(struct sk_buff *skb, const struct spek_run *run, const struct spek_row *row)
{
	const struct {
		int type;
		u64 value;
	} values[] = {
		{ SPEK_A_INTERVAL_SEQ, row->seq },
		{ SPEK_A_INTERVAL_DROPPED, spek_stats_dropped(run->stats) },
		{ SPEK_A_INTERVAL_START_NS, row->start_ns },
		{ SPEK_A_INTERVAL_END_NS, row->end_ns },
		{ SPEK_A_INTERVAL_BACKLOG, row->backlog },
		{ SPEK_A_INTERVAL_CPU_NS, row->cpu_ns },
		{ SPEK_A_INTERVAL_SWITCHES, row->switches },
	};
	u32 nr_streams = run->config->workload.nr_streams;
	size_t i;

	if (nla_put_u32(skb, SPEK_A_INTERVAL_RUN, run->id) ||
	    nla_put_u32(skb, SPEK_A_INTERVAL_PHASE, row->phase) ||
	    nla_put_u32(skb, SPEK_A_INTERVAL_OUTSTANDING, row->outstanding))
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(values); i++)
		if (nla_put_u64_64bit(skb, values[i].type, values[i].value, SPEK_A_INTERVAL_PAD))
			return -EMSGSIZE;
	if (put_cell(skb, &row->cell[0], SPEK_DIRECTION_READ) ||
	    put_cell(skb, &row->cell[1], SPEK_DIRECTION_WRITE))
		return -EMSGSIZE;
	return nla_put(skb, SPEK_A_INTERVAL_STREAMS, nr_streams * sizeof(row->stream[0]),
		       row->stream);
}

/*
 * Rows that are overwritten between two calls are missing in the dump: their numbers are,
 * too, and "dropped" counts them. The dump ends where the run was at its first call, so
 * it does end.
 */
int spek_nl_interval_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct spek_nl_dump *dump = spek_nl_dump_of(cb);
	struct spek_stats *stats;
	int err = 0;

	if (!dump->started) {
		const struct nlattr *since;

		err = spek_nl_dump_start(cb, dump, SPEK_A_INTERVAL_RUN);
		if (err)
			return err;
		since = spek_compat_dump_attrs(cb)[SPEK_A_INTERVAL_SINCE];
		dump->next = since ? nla_get_u64(since) : 0;
	}
	stats = dump->run->stats;
	mutex_lock(&dump->run->lock);
	if (!dump->started) {
		dump->end = spek_stats_nr_rows(stats);
		dump->started = true;
	}
	dump->next = max(dump->next, spek_stats_dropped(stats));
	while (!err && dump->next < dump->end) {
		const struct spek_row *row = spek_stats_row(stats, dump->next);
		void *head;

		if (!row) {
			dump->next++;
			continue;
		}
		head = spek_nl_dump_head(skb, cb, SPEK_CMD_INTERVAL_GET);
		err = head ? put_row(skb, dump->run, row) : -EMSGSIZE;
		if (err) {
			genlmsg_cancel(skb, head);
			break;
		}
		genlmsg_end(skb, head);
		dump->next++;
	}
	mutex_unlock(&dump->run->lock);
	return spek_nl_dump_end(skb, cb, err);
}

/* op-get */

/**
 * struct preview - a generator that drives no device
 * @gen: in memory of its own alignment behind this
 * @nr: operations in @op that have been made, but not all put
 * @op: the next message
 */
struct preview {
	struct spek_gen *gen;
	u32 nr;
	struct spek_op op[OPS_PER_MESSAGE];
};

static int start_preview(struct netlink_callback *cb, struct spek_nl_dump *dump)
{
	struct nlattr **attrs = spek_compat_dump_attrs(cb);
	const struct nlattr *worker = attrs[SPEK_A_OP_WORKER];
	const struct nlattr *count = attrs[SPEK_A_OP_COUNT];
	const struct spek_run_config *config;
	struct preview *preview;
	size_t gen_bytes;
	int err;

	err = spek_nl_dump_start(cb, dump, SPEK_A_OP_RUN);
	if (err)
		return err;
	if (!worker)
		return spek_nl_refuse(cb->extack, NULL, -EINVAL,
				      "The request needs the number of a worker.");
	if (!count)
		return spek_nl_refuse(cb->extack, NULL, -EINVAL,
				      "The request needs the number of operations.");
	config = dump->run->config;
	if (nla_get_u32(worker) >= config->nr_workers)
		return spek_nl_refuse(cb->extack, worker, -ERANGE,
				      "The run has no worker with this number.");
	if (nla_get_u64(count) > MAX_OPS)
		return spek_nl_refuse(cb->extack, count, -ERANGE,
				      "At most 1000000 operations can be had.");
	gen_bytes = spek_gen_size(&config->workload, nla_get_u32(worker), config->nr_workers);
	preview = kvzalloc(size_add(sizeof(*preview) + GEN_ALIGN, gen_bytes), DUMP_GFP);
	if (!preview)
		return spek_nl_refuse(cb->extack, NULL, -ENOMEM,
				      "The kernel has not enough memory for a generator.");
	preview->gen = (struct spek_gen *)PTR_ALIGN((char *)(preview + 1), GEN_ALIGN);
	spek_gen_init(preview->gen, &config->workload, config->seed, nla_get_u32(worker),
		      config->nr_workers, 0);
	dump->memory = preview;
	dump->end = nla_get_u64(count);
	dump->worker = nla_get_u32(worker);
	dump->started = true;
	return 0;
}

static int put_ops(struct sk_buff *skb, struct netlink_callback *cb,
		   const struct spek_nl_dump *dump)
{
	const struct preview *preview = dump->memory;
	void *head = spek_nl_dump_head(skb, cb, SPEK_CMD_OP_GET);

	if (!head)
		return -EMSGSIZE;
	if (nla_put_u32(skb, SPEK_A_OP_RUN, dump->run->id) ||
	    nla_put_u32(skb, SPEK_A_OP_WORKER, dump->worker) ||
	    nla_put_u64_64bit(skb, SPEK_A_OP_FIRST, dump->next, SPEK_A_OP_PAD) ||
	    nla_put(skb, SPEK_A_OP_OPS, preview->nr * sizeof(preview->op[0]), preview->op)) {
		genlmsg_cancel(skb, head);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, head);
	return 0;
}

int spek_nl_op_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct spek_nl_dump *dump = spek_nl_dump_of(cb);
	struct preview *preview;
	int err = 0;

	if (!dump->started) {
		err = start_preview(cb, dump);
		if (err)
			return err;
	}
	preview = dump->memory;
	while (dump->next < dump->end) {
		/* what did not fit last time is still there */
		if (!preview->nr)
			preview->nr = spek_gen_preview(preview->gen, preview->op,
						       min_t(u64, OPS_PER_MESSAGE,
							     dump->end - dump->next));
		if (!preview->nr)
			break;		/* this worker has no work */
		err = put_ops(skb, cb, dump);
		if (err)
			break;
		dump->next += preview->nr;
		preview->nr = 0;
	}
	return spek_nl_dump_end(skb, cb, err);
}
