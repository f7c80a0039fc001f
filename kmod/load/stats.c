// SPDX-License-Identifier: GPL-2.0
/*
 * Totals and interval rows. A run owns them, and its lock protects them. Sets belong to the
 * caller.
 *
 * core/rows.c decides which set goes to which row and when a row closes; this file keeps the counts
 * of the rows that are open.
 */
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include "stats.h"
#include "trace.h"

static const u32 response_ppm[] = { 500000, 900000, 990000, 999000 };
static const u32 service_ppm[] = { 500000, 990000 };

/* Counts of an open row, with histograms of response and service times for both directions. */
struct open_row {
	u64 hist[2][2][SPEK_HIST_BUCKETS];
	struct spek_row *row;
};

struct spek_stats {
	u32 run_id;			/* for the tracepoint */
	u32 nr_cells;
	u32 nr_workers;
	u32 nr_streams;
	bool keep_rows;
	u64 nr_rows;
	u64 measure_start_ns;
	u64 measure_end_ns;
	u64 *backlog;			/* of each worker */
	struct spek_rows time;		/* times of the open rows */
	struct spek_passed *passed;	/* of each worker */
	struct spek_total *total[SPEK_NR_PHASES];
	size_t row_bytes;
	void *rows;			/* ring of SPEK_ROWS closed rows */
	struct open_row *open;		/* SPEK_ROW_SLOTS, as in time.slot */
};

/* Return: true if the stream of a cell has I/Os in its direction */
static bool cell_is_used(const struct spek_workload *wl, u32 cell)
{
	u32 read_ppm = wl->stream[cell / 2].read_ppm;

	return cell & 1 ? read_ppm < 1000000 : read_ppm > 0;
}

static void empty_cell(struct spek_cell *cell)
{
	u32 m;

	for (m = 0; m < SPEK_NR_METRICS; m++)
		spek_metric_empty(&cell->metric[m]);
	memset(cell, 0, offsetof(struct spek_cell, metric));
}

/* What needs too much memory, a run or a snapshot, is refused: no OOM kill and no warning. */
#define STATS_GFP	(GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/**
 * spek_set_bytes() - memory that a set takes
 * @wl: workload
 *
 * Return: bytes.
 */
u64 spek_set_bytes(const struct spek_workload *wl)
{
	u32 i, nr = wl->nr_streams * 2;
	u64 bytes = sizeof(struct spek_set) + nr * sizeof(struct spek_cell *) +
		    wl->nr_arrivals * sizeof(struct spek_gen_mark);

	for (i = 0; i < nr; i++)
		if (cell_is_used(wl, i))
			bytes += sizeof(struct spek_cell);
	return bytes;
}

struct spek_set *spek_set_create(const struct spek_workload *wl, int node)
{
	u32 i, nr = wl->nr_streams * 2;
	struct spek_set *set = kzalloc_node(struct_size(set, cell, nr), STATS_GFP, node);

	if (!set)
		return NULL;
	set->nr_cells = nr;
	set->mark = kcalloc_node(wl->nr_arrivals, sizeof(*set->mark), STATS_GFP, node);
	if (!set->mark) {
		spek_set_destroy(set);
		return NULL;
	}
	for (i = 0; i < nr; i++) {
		if (!cell_is_used(wl, i))
			continue;
		set->cell[i] = kvzalloc_node(sizeof(*set->cell[i]), STATS_GFP, node);
		if (!set->cell[i]) {
			spek_set_destroy(set);
			return NULL;
		}
		empty_cell(set->cell[i]);
	}
	return set;
}

void spek_set_destroy(struct spek_set *set)
{
	u32 i;

	if (!set)
		return;
	for (i = 0; i < set->nr_cells; i++)
		kvfree(set->cell[i]);
	kfree(set->mark);
	kfree(set);
}

/* Number of metrics of a phase that have histograms. */
static const u32 nr_hists[SPEK_NR_PHASES] = {
	[SPEK_PHASE_MEASURE] = SPEK_NR_TOTAL_METRICS,
	[SPEK_PHASE_DRAIN] = SPEK_NR_METRICS,
};

static int create_totals(struct spek_stats *stats, const struct spek_workload *wl)
{
	u32 phase, i, m;

	for (phase = 0; phase < SPEK_NR_PHASES; phase++) {
		struct spek_total *total = kvcalloc(stats->nr_cells, sizeof(*total), STATS_GFP);

		stats->total[phase] = total;
		if (!total)
			return -ENOMEM;
		for (i = 0; i < stats->nr_cells; i++) {
			for (m = 0; m < SPEK_NR_TOTAL_METRICS; m++)
				total[i].min[m] = U64_MAX;
			if (!cell_is_used(wl, i))
				continue;
			for (m = 0; m < nr_hists[phase]; m++) {
				total[i].hist[m] = kvcalloc(SPEK_HIST_BUCKETS, sizeof(u64),
							    STATS_GFP);
				if (!total[i].hist[m])
					return -ENOMEM;
			}
		}
	}
	return 0;
}

static int create_rows(struct spek_stats *stats)
{
	u32 i;

	stats->row_bytes = struct_size((struct spek_row *)NULL, stream, stats->nr_streams);
	stats->rows = kvcalloc(SPEK_ROWS, stats->row_bytes, STATS_GFP);
	stats->open = kvcalloc(SPEK_ROW_SLOTS, sizeof(*stats->open), STATS_GFP);
	if (!stats->rows || !stats->open)
		return -ENOMEM;
	for (i = 0; i < SPEK_ROW_SLOTS; i++) {
		stats->open[i].row = kzalloc(stats->row_bytes, STATS_GFP);
		if (!stats->open[i].row)
			return -ENOMEM;
	}
	return 0;
}

/**
 * spek_stats_create() - make empty totals
 * @wl: workload
 * @nr_workers: workers
 * @keep_rows: intervals will be read
 *
 * Return: totals, or NULL without memory.
 */
struct spek_stats *spek_stats_create(const struct spek_workload *wl, u32 nr_workers, bool keep_rows)
{
	struct spek_stats *stats = kzalloc(sizeof(*stats), STATS_GFP);

	if (!stats)
		return NULL;
	stats->nr_streams = wl->nr_streams;
	stats->nr_cells = wl->nr_streams * 2;
	stats->nr_workers = nr_workers;
	stats->keep_rows = keep_rows;
	stats->passed = kcalloc(nr_workers, sizeof(*stats->passed), STATS_GFP);
	stats->backlog = kcalloc(nr_workers, sizeof(u64), STATS_GFP);
	if (!stats->passed || !stats->backlog || create_totals(stats, wl) ||
	    (keep_rows && create_rows(stats))) {
		spek_stats_destroy(stats);
		return NULL;
	}
	spek_rows_init(&stats->time, stats->passed, nr_workers);
	return stats;
}

/**
 * spek_stats_set_run_id() - set the number that a trace names closed intervals by
 * @stats: totals of a run that has just been given its number
 * @run_id: number of the run
 */
void spek_stats_set_run_id(struct spek_stats *stats, u32 run_id)
{
	stats->run_id = run_id;
}

/**
 * spek_stats_destroy() - free totals
 * @stats: totals, or NULL
 *
 * Context: process.
 */
void spek_stats_destroy(struct spek_stats *stats)
{
	u32 phase, i, m;

	if (!stats)
		return;
	for (phase = 0; phase < SPEK_NR_PHASES; phase++) {
		for (i = 0; stats->total[phase] && i < stats->nr_cells; i++)
			for (m = 0; m < SPEK_NR_TOTAL_METRICS; m++)
				kvfree(stats->total[phase][i].hist[m]);
		kvfree(stats->total[phase]);
	}
	for (i = 0; stats->open && i < SPEK_ROW_SLOTS; i++)
		kfree(stats->open[i].row);
	kvfree(stats->open);
	kvfree(stats->rows);
	kfree(stats->passed);
	kfree(stats->backlog);
	kfree(stats);
}

/* ---- rows ---- */

static struct spek_row *closed_row(const struct spek_stats *stats, u64 seq)
{
	return stats->rows + (seq % SPEK_ROWS) * stats->row_bytes;
}

static void empty_row(const struct spek_stats *stats, struct open_row *open)
{
	memset(open->row, 0, stats->row_bytes);
	memset(open->hist, 0, sizeof(open->hist));
}

static bool counted_nothing(const struct spek_row *row)
{
	return !(row->cell[0].ios | row->cell[0].errors | row->cell[1].ios | row->cell[1].errors);
}

static void close_row(struct spek_stats *stats, u32 slot)
{
	const struct spek_open_row *time = &stats->time.slot[slot];
	struct open_row *open = &stats->open[slot];
	struct spek_row *row = open->row;
	u32 dir, i;

	/* A worker learned that the phase had ended just after it had begun a row. */
	if (time->start_ns == time->end_ns && counted_nothing(row)) {
		empty_row(stats, open);
		return;
	}
	row->phase = time->phase;
	row->start_ns = time->start_ns;
	row->end_ns = time->end_ns;
	row->coverage_ppm = time->coverage_ppm;
	row->outstanding = time->levels.outstanding;
	row->backlog = time->levels.backlog;
	for (dir = 0; dir < 2; dir++) {
		struct spek_row_cell *cell = &row->cell[dir];

		for (i = 0; i < ARRAY_SIZE(response_ppm); i++)
			cell->response_ns[i] = spek_hist_percentile(open->hist[dir][0], cell->ios,
								    response_ppm[i],
								    cell->response_max_ns);
		for (i = 0; i < ARRAY_SIZE(service_ppm); i++)
			cell->service_ns[i] = spek_hist_percentile(open->hist[dir][1], cell->ios,
								   service_ppm[i],
								   cell->service_max_ns);
	}
	row->seq = stats->nr_rows++;
	memcpy(closed_row(stats, row->seq), row, stats->row_bytes);
	trace_spek_interval_close(stats->run_id, row);
	empty_row(stats, open);
}

static void add_to_row(struct open_row *open, const struct spek_set *set)
{
	struct spek_row *row = open->row;
	u32 i, b;

	row->cpu_ns += set->cpu_ns;
	row->switches += set->switches;
	for (i = 0; i < set->nr_cells; i++) {
		const struct spek_cell *cell = set->cell[i];
		struct spek_row_cell *sum = &row->cell[i & 1];
		const struct spek_metric *response, *service;
		u64 *ios = &row->stream[i / 2].reads + (i & 1) * 2;

		if (!cell || (!cell->ios && !cell->errors))
			continue;
		ios[0] += cell->ios;
		ios[1] += cell->bytes;
		sum->ios += cell->ios;
		sum->bytes += cell->bytes;
		sum->errors += cell->errors;
		if (!cell->ios)
			continue;
		response = &cell->metric[SPEK_METRIC_RESPONSE];
		service = &cell->metric[SPEK_METRIC_SERVICE];
		spek_sum_join(&sum->response_sum, &response->sum);
		sum->response_max_ns = max(sum->response_max_ns, response->max);
		spek_sum_join(&sum->service_sum, &service->sum);
		sum->service_max_ns = max(sum->service_max_ns, service->max);
		for (b = spek_hist_index(response->min); b <= spek_hist_index(response->max); b++)
			open->hist[i & 1][0][b] += response->hist[b];
		for (b = spek_hist_index(service->min); b <= spek_hist_index(service->max); b++)
			open->hist[i & 1][1][b] += service->hist[b];
	}
}

static void add_cell(struct spek_row_cell *sum, const struct spek_row_cell *cell)
{
	sum->ios += cell->ios;
	sum->bytes += cell->bytes;
	sum->errors += cell->errors;
	spek_sum_join(&sum->response_sum, &cell->response_sum);
	sum->response_max_ns = max(sum->response_max_ns, cell->response_max_ns);
	spek_sum_join(&sum->service_sum, &cell->service_sum);
	sum->service_max_ns = max(sum->service_max_ns, cell->service_max_ns);
}

/* Add the counts of an open row to those of another one, and empty it. */
static void join_rows(struct spek_stats *stats, struct open_row *open, struct open_row *from)
{
	struct spek_row *row = open->row;
	u32 dir, i;

	row->cpu_ns += from->row->cpu_ns;
	row->switches += from->row->switches;
	for (dir = 0; dir < 2; dir++) {
		add_cell(&row->cell[dir], &from->row->cell[dir]);
		for (i = 0; i < SPEK_HIST_BUCKETS; i++) {
			open->hist[dir][0][i] += from->hist[dir][0][i];
			open->hist[dir][1][i] += from->hist[dir][1][i];
		}
	}
	for (i = 0; i < stats->nr_streams; i++) {
		row->stream[i].reads += from->row->stream[i].reads;
		row->stream[i].read_bytes += from->row->stream[i].read_bytes;
		row->stream[i].writes += from->row->stream[i].writes;
		row->stream[i].write_bytes += from->row->stream[i].write_bytes;
	}
	empty_row(stats, from);
}

static void add_set(struct spek_stats *stats, u32 worker, const struct spek_set *set)
{
	u32 slot = spek_rows_place(&stats->time, worker, &set->span);
	int from;

	while ((from = spek_rows_join(&stats->time, slot)) >= 0)
		join_rows(stats, &stats->open[slot], &stats->open[from]);
	add_to_row(&stats->open[slot], set);
}

static void close_rows(struct spek_stats *stats, u32 max_open)
{
	int slot;

	while ((slot = spek_rows_close(&stats->time, max_open)) >= 0)
		close_row(stats, slot);
}

/* ---- totals ---- */

static void add_to_total(struct spek_total *total, const struct spek_cell *cell)
{
	u32 i, m, b;

	total->ios += cell->ios;
	total->bytes += cell->bytes;
	total->requests += cell->requests;
	total->errors += cell->errors;
	for (i = 0; i < SPEK_NR_STATUS; i++)
		total->error[i] += cell->error[i];
	if (!cell->ios)
		return;
	for (m = 0; m < SPEK_NR_METRICS; m++) {
		const struct spek_metric *metric = &cell->metric[m];

		spek_sum_join(&total->sum[m], &metric->sum);
		total->min[m] = min(total->min[m], metric->min);
		total->max[m] = max(total->max[m], metric->max);
		if (!total->hist[m])
			continue;
		for (b = spek_hist_index(metric->min); b <= spek_hist_index(metric->max); b++)
			total->hist[m][b] += metric->hist[b];
	}
}

static void add_age(struct spek_total *total, u32 metric, u64 ns)
{
	spek_sum_add(&total->sum[metric], ns);
	total->min[metric] = min(total->min[metric], ns);
	total->max[metric] = max(total->max[metric], ns);
	total->hist[metric][spek_hist_index(ns)]++;
}

/* Ages are only in the set that ends the measure phase. */
static void add_ages(struct spek_stats *stats, struct spek_set *set)
{
	u32 i;

	for (i = 0; i < set->nr_ages; i++) {
		struct spek_total *total = &stats->total[SPEK_PHASE_MEASURE][set->age[i].cell];

		add_age(total, SPEK_METRIC_RESPONSE_AGE, set->age[i].response_ns);
		add_age(total, SPEK_METRIC_SERVICE_AGE, set->age[i].service_ns);
	}
	set->nr_ages = 0;
}

/**
 * spek_stats_collect() - add a sealed set to the totals and to its row, and empty it
 * @stats: totals; the caller holds the run's lock
 * @worker: number of the worker that counted into it
 * @set: sealed; owned by the caller, who gives it back afterwards
 *
 * Context: process.
 */
void spek_stats_collect(struct spek_stats *stats, u32 worker, struct spek_set *set)
{
	const struct spek_levels levels = { set->outstanding, set->backlog };
	const struct spek_span *span = &set->span;
	/* The run may have ended before its start time: then the drain is all, and has no rows. */
	bool has_begun = span->phase != SPEK_PHASE_DRAIN || stats->passed[worker].end_ns;
	u32 i;

	if (span->phase == SPEK_PHASE_MEASURE) {
		if (!stats->measure_start_ns || span->start_ns < stats->measure_start_ns)
			stats->measure_start_ns = span->start_ns;
		stats->measure_end_ns = max(stats->measure_end_ns, span->end_ns);
	}
	if (span->phase != SPEK_PHASE_DRAIN)
		stats->backlog[worker] = set->backlog;
	if (stats->keep_rows && has_begun)
		add_set(stats, worker, set);
	spek_rows_pass(&stats->time, worker, span, &levels);
	close_rows(stats, SPEK_OPEN_ROWS);
	add_ages(stats, set);
	for (i = 0; i < set->nr_cells; i++) {
		if (!set->cell[i])
			continue;
		/* An I/O can fail without a request. */
		if (set->cell[i]->requests || set->cell[i]->errors)
			add_to_total(&stats->total[span->phase][i], set->cell[i]);
		empty_cell(set->cell[i]);
	}
}

/**
 * spek_stats_flush() - close the rows that are still open
 * @stats: totals; the caller holds the run's lock, and the workers have ended
 *
 * Context: process.
 */
void spek_stats_flush(struct spek_stats *stats)
{
	close_rows(stats, 0);
}

/**
 * spek_stats_total() - totals of a stream and direction in a phase
 * @stats: totals; the caller holds the run's lock
 * @phase: enum spek_phase
 * @cell: stream * 2 + write
 *
 * Return: the totals, or NULL if the stream has no such I/O.
 */
const struct spek_total *spek_stats_total(const struct spek_stats *stats, u32 phase, u32 cell)
{
	const struct spek_total *total = &stats->total[phase][cell];

	return stats->total[SPEK_PHASE_MEASURE][cell].hist[0] ? total : NULL;
}

/**
 * spek_stats_nr_rows() - count the closed rows
 * @stats: totals; the caller holds the run's lock
 *
 * Return: rows closed so far, overwritten ones included.
 */
u64 spek_stats_nr_rows(const struct spek_stats *stats)
{
	return stats->nr_rows;
}

/**
 * spek_stats_dropped() - count the overwritten rows
 * @stats: totals; the caller holds the run's lock
 *
 * Return: rows overwritten so far.
 */
u64 spek_stats_dropped(const struct spek_stats *stats)
{
	return stats->nr_rows > SPEK_ROWS ? stats->nr_rows - SPEK_ROWS : 0;
}

/**
 * spek_stats_row() - find a closed row
 * @stats: totals; the caller holds the run's lock
 * @seq: number of the row
 *
 * Return: the row, or NULL if it is not closed yet or overwritten.
 */
const struct spek_row *spek_stats_row(const struct spek_stats *stats, u64 seq)
{
	if (!stats->keep_rows || seq >= stats->nr_rows || seq < spek_stats_dropped(stats))
		return NULL;
	return closed_row(stats, seq);
}

/**
 * spek_stats_phase() - phase that all workers have reached
 * @stats: totals; the caller holds the run's lock
 *
 * Return: enum spek_phase.
 */
u32 spek_stats_phase(const struct spek_stats *stats)
{
	return spek_rows_phase(&stats->time);
}

/**
 * spek_stats_measured() - read the bounds of the measure phase
 * @stats: totals; the caller holds the run's lock
 * @start_ns: filled with its start as counted so far; 0 before
 * @end_ns: filled with its end as counted so far; 0 before
 */
void spek_stats_measured(const struct spek_stats *stats, u64 *start_ns, u64 *end_ns)
{
	*start_ns = stats->measure_start_ns;
	*end_ns = stats->measure_end_ns;
}

/**
 * spek_stats_backlog() - backlog of all workers
 * @stats: totals; the caller holds the run's lock
 *
 * Return: arrivals not issued, as last sealed before the drain.
 */
u64 spek_stats_backlog(const struct spek_stats *stats)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < stats->nr_workers; i++)
		sum += stats->backlog[i];
	return sum;
}

/* ---- copies for readers ---- */

/**
 * spek_snapshot_alloc() - allocate an empty snapshot
 * @nr_streams: streams of the run
 *
 * Context: process, may sleep.
 * Return: the snapshot, for kvfree(), or NULL.
 */
struct spek_snapshot *spek_snapshot_alloc(u32 nr_streams)
{
	u32 nr_cells = 2 * nr_streams;
	struct spek_snapshot *snapshot;

	snapshot = kvzalloc(struct_size(snapshot, item, SPEK_NR_PHASES * nr_cells) +
			    (SPEK_NR_TOTAL_METRICS + SPEK_NR_METRICS) * nr_cells *
				    SPEK_HIST_BUCKETS * sizeof(u64),
			    STATS_GFP);
	if (snapshot)
		snapshot->hist = (u64 *)&snapshot->item[SPEK_NR_PHASES * nr_cells];
	return snapshot;
}

static bool is_empty(const struct spek_total *total)
{
	return !total->ios && !total->errors && !spek_total_has(total, SPEK_METRIC_RESPONSE_AGE);
}

/**
 * spek_snapshot_take() - copy the totals of every stream, direction and phase with I/Os
 * @snapshot: empty, allocated for as many streams
 * @stats: totals; the caller holds the run's lock
 */
void spek_snapshot_take(struct spek_snapshot *snapshot, const struct spek_stats *stats)
{
	u64 *hist = snapshot->hist;
	u32 phase, cell, metric;

	for (phase = 0; phase < SPEK_NR_PHASES; phase++) {
		for (cell = 0; cell < stats->nr_cells; cell++) {
			const struct spek_total *total = spek_stats_total(stats, phase, cell);
			struct spek_snapshot_item *item = &snapshot->item[snapshot->nr];

			if (!total || is_empty(total))
				continue;
			item->phase = phase;
			item->cell = cell;
			item->total = *total;
			for (metric = 0; metric < SPEK_NR_TOTAL_METRICS; metric++) {
				item->total.hist[metric] = NULL;
				if (!total->hist[metric] || !spek_total_has(total, metric))
					continue;
				item->total.hist[metric] = hist;
				memcpy(hist, total->hist[metric],
				       SPEK_HIST_BUCKETS * sizeof(*hist));
				hist += SPEK_HIST_BUCKETS;
			}
			snapshot->nr++;
		}
	}
}

/**
 * spek_stats_row_bytes() - size of an interval row
 * @stats: totals
 *
 * Return: bytes, with one entry for each stream.
 */
size_t spek_stats_row_bytes(const struct spek_stats *stats)
{
	return stats->row_bytes;
}
