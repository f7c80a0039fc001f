/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoint of spek_prober.ko, group "spek_prober". */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM spek_prober

#if !defined(SPEK_PROBER_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SPEK_PROBER_TRACE_H

#include <linux/tracepoint.h>
#include <linux/types.h>

#include "sampler.h"

/**
 * spek_probe_row - the sampler has added a row to the ring of its probe
 * @seq: number of the row, as in sample-get
 * @row: the row; it stays in the ring until the next one is begun
 *
 * Times are CLOCK_MONOTONIC. There is no number of the probe, as one samples at a time.
 */
TRACE_EVENT(spek_probe_row,
	TP_PROTO(u64 seq, const struct spek_probe_row *row),
	TP_ARGS(seq, row),

	TP_STRUCT__entry(
		__field(u64,	seq)
		__field(u64,	tick)
		__field(u64,	due_ns)
		__field(u64,	start_ns)
		__field(u64,	end_ns)
		__field(bool,	final)
	),

	TP_fast_assign(
		__entry->seq		= seq;
		__entry->tick		= row->tick;
		__entry->due_ns		= row->due_ns;
		__entry->start_ns	= row->start_ns;
		__entry->end_ns		= row->end_ns;
		__entry->final		= row->final;
	),

	TP_printk("seq=%llu tick=%llu due_ns=%llu start_ns=%llu end_ns=%llu final=%d",
		  __entry->seq, __entry->tick, __entry->due_ns, __entry->start_ns,
		  __entry->end_ns, __entry->final)
);

#endif

/* From the top of the tree, which only trace.c has in its include path (Kbuild). */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH prober
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
