/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints of spek.ko, group "spek": I/Os as their worker issues and accounts them, and
 * intervals as they close.
 *
 * Both events of an I/O come from its worker's thread, so that they are in order and cost a
 * completion nothing; their fields say when it was issued and when it completed, all times in
 * CLOCK_MONOTONIC. A field of an I/O is equal to that of its record in the log (iolog.h).
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM spek

#if !defined(SPEK_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SPEK_TRACE_H

#include <linux/blk_types.h>
#include <linux/blkdev.h>
#include <linux/kdev_t.h>
#include <linux/tracepoint.h>
#include "stats.h"
#include "uapi/spek.h"
#include "worker_state.h"

/* Tools that read the binary buffer know no enum: their values go into the events' formats. */
TRACE_DEFINE_ENUM(SPEK_PHASE_RAMP);
TRACE_DEFINE_ENUM(SPEK_PHASE_MEASURE);
TRACE_DEFINE_ENUM(SPEK_PHASE_DRAIN);
TRACE_DEFINE_ENUM(SPEK_DIRECTION_READ);
TRACE_DEFINE_ENUM(SPEK_DIRECTION_WRITE);

#define spek_show_phase(phase)					\
	__print_symbolic(phase,					\
			 { SPEK_PHASE_RAMP, "ramp" },		\
			 { SPEK_PHASE_MEASURE, "measure" },	\
			 { SPEK_PHASE_DRAIN, "drain" })

#define spek_show_op(op)					\
	__print_symbolic(op,					\
			 { SPEK_DIRECTION_READ, "read" },	\
			 { SPEK_DIRECTION_WRITE, "write" })

/**
 * spek_io_issue - the back end has taken all parts of an I/O
 * @w: worker that issued it
 * @slot: the I/O; it may have completed, but is not accounted
 *
 * An I/O that the driver had no room for is traced when it had, once.
 */
TRACE_EVENT(spek_io_issue,
	TP_PROTO(const struct spek_worker *w, const struct spek_slot *slot),
	TP_ARGS(w, slot),

	TP_STRUCT__entry(
		__field(u64,	addr_bytes)
		__field(u64,	at_ns)
		__field(u64,	issue_ns)
		__field(u64,	sector)
		__field(dev_t,	dev)
		__field(u32,	run)
		__field(u32,	bytes)
		__field(u32,	nr_parts)
		__field(u16,	worker)
		__field(u16,	stream)
		__field(u16,	asu)
		__field(u16,	op)
	),

	TP_fast_assign(
		__entry->addr_bytes	= slot->op.addr;
		__entry->at_ns		= slot->op.at_ns;
		__entry->issue_ns	= slot->issue_ns;
		__entry->sector		= slot->part->offset >> SECTOR_SHIFT;
		__entry->dev		= slot->part->target->handle.bdev->bd_dev;
		__entry->run		= w->run_id;
		__entry->bytes		= slot->op.bytes;
		__entry->nr_parts	= slot->nr_parts;
		__entry->worker		= w->index;
		__entry->stream		= slot->op.stream;
		__entry->asu		= slot->op.asu;
		__entry->op		= slot->op.write;
	),

	TP_printk("run=%u worker=%u stream=%u op=%s asu=%u addr_bytes=%llu bytes=%u dev=%u,%u sector=%llu nr_parts=%u at_ns=%llu issue_ns=%llu",
		  __entry->run, __entry->worker, __entry->stream, spek_show_op(__entry->op),
		  __entry->asu, __entry->addr_bytes, __entry->bytes, MAJOR(__entry->dev),
		  MINOR(__entry->dev), __entry->sector, __entry->nr_parts, __entry->at_ns,
		  __entry->issue_ns)
);

/**
 * spek_io_complete - a worker accounts an I/O that came back
 * @w: worker that issued it
 * @slot: the I/O
 * @done_ns: when its last part completed, not before its issue
 *
 * @phase is the one in which the I/O is counted; @error a positive errno or 0.
 */
TRACE_EVENT(spek_io_complete,
	TP_PROTO(const struct spek_worker *w, const struct spek_slot *slot, u64 done_ns),
	TP_ARGS(w, slot, done_ns),

	TP_STRUCT__entry(
		__field(u64,	addr_bytes)
		__field(u64,	done_ns)
		__field(u64,	response_ns)
		__field(u64,	service_ns)
		__field(u64,	sector)
		__field(dev_t,	dev)
		__field(u32,	run)
		__field(u32,	bytes)
		__field(u16,	worker)
		__field(u16,	stream)
		__field(u16,	asu)
		__field(u16,	op)
		__field(u16,	phase)
		__field(u16,	error)
	),

	TP_fast_assign(
		__entry->addr_bytes	= slot->op.addr;
		__entry->done_ns	= done_ns;
		__entry->response_ns	= done_ns - slot->op.at_ns;
		__entry->service_ns	= done_ns - slot->issue_ns;
		__entry->sector		= slot->part->offset >> SECTOR_SHIFT;
		__entry->dev		= slot->part->target->handle.bdev->bd_dev;
		__entry->run		= w->run_id;
		__entry->bytes		= slot->op.bytes;
		__entry->worker		= w->index;
		__entry->stream		= slot->op.stream;
		__entry->asu		= slot->op.asu;
		__entry->op		= slot->op.write;
		__entry->phase		= w->phases.course.phase;
		__entry->error		= -blk_status_to_errno(slot->status);
	),

	TP_printk("run=%u worker=%u stream=%u op=%s asu=%u addr_bytes=%llu bytes=%u dev=%u,%u sector=%llu phase=%s error=%u response_ns=%llu service_ns=%llu done_ns=%llu",
		  __entry->run, __entry->worker, __entry->stream, spek_show_op(__entry->op),
		  __entry->asu, __entry->addr_bytes, __entry->bytes, MAJOR(__entry->dev),
		  MINOR(__entry->dev), __entry->sector, spek_show_phase(__entry->phase),
		  __entry->error, __entry->response_ns, __entry->service_ns, __entry->done_ns)
);

/**
 * spek_interval_close - an interval has closed: every worker has passed its end
 * @run: number of the run
 * @row: the interval, as interval-get reports it from now on
 */
TRACE_EVENT(spek_interval_close,
	TP_PROTO(u32 run, const struct spek_row *row),
	TP_ARGS(run, row),

	TP_STRUCT__entry(
		__field(u64,	seq)
		__field(u64,	start_ns)
		__field(u64,	end_ns)
		__field(u64,	read_ios)
		__field(u64,	read_bytes)
		__field(u64,	read_response_max_ns)
		__field(u64,	write_ios)
		__field(u64,	write_bytes)
		__field(u64,	write_response_max_ns)
		__field(u64,	errors)
		__field(u64,	backlog)
		__field(u32,	run)
		__field(u32,	phase)
		__field(u32,	outstanding)
		__field(u32,	coverage_ppm)
	),

	TP_fast_assign(
		const struct spek_row_cell *read = &row->cell[SPEK_DIRECTION_READ];
		const struct spek_row_cell *write = &row->cell[SPEK_DIRECTION_WRITE];

		__entry->seq			= row->seq;
		__entry->start_ns		= row->start_ns;
		__entry->end_ns			= row->end_ns;
		__entry->read_ios		= read->ios;
		__entry->read_bytes		= read->bytes;
		__entry->read_response_max_ns	= read->response_max_ns;
		__entry->write_ios		= write->ios;
		__entry->write_bytes		= write->bytes;
		__entry->write_response_max_ns	= write->response_max_ns;
		__entry->errors			= read->errors + write->errors;
		__entry->backlog		= row->backlog;
		__entry->run			= run;
		__entry->phase			= row->phase;
		__entry->outstanding		= row->outstanding;
		__entry->coverage_ppm		= row->coverage_ppm;
	),

	TP_printk("run=%u seq=%llu phase=%s start_ns=%llu end_ns=%llu read_ios=%llu read_bytes=%llu read_response_max_ns=%llu write_ios=%llu write_bytes=%llu write_response_max_ns=%llu errors=%llu outstanding=%u backlog=%llu coverage_ppm=%u",
		  __entry->run, __entry->seq, spek_show_phase(__entry->phase), __entry->start_ns,
		  __entry->end_ns, __entry->read_ios, __entry->read_bytes,
		  __entry->read_response_max_ns, __entry->write_ios, __entry->write_bytes,
		  __entry->write_response_max_ns, __entry->errors, __entry->outstanding,
		  __entry->backlog, __entry->coverage_ppm)
);

#endif

/* From the top of the tree, which only trace.c has in its include path (Kbuild). */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH kmod/load
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
