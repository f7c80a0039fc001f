/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints of spek_drive.ko, group "spek_drive": accesses as the model served them.
 *
 * All times are the model's, in CLOCK_MONOTONIC, except late_ns: by so much the command completed
 * after the model's end of the access. Arrivals in the order of seq, given to the core in
 * userspace (spekctl drive simulate), have the same times there, if the drive has no write cache,
 * no fault and was active all the time.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM spek_drive

#if !defined(SPEK_DRIVE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SPEK_DRIVE_TRACE_H

#include <linux/tracepoint.h>
#include "events.h"

/* Tools that read the binary buffer know no enum: their values go into the events' formats. */
TRACE_DEFINE_ENUM(SPEK_DRIVE_GOOD);
TRACE_DEFINE_ENUM(SPEK_DRIVE_MEDIUM_ERROR);
TRACE_DEFINE_ENUM(SPEK_DRIVE_WRITE_ERROR);
TRACE_DEFINE_ENUM(SPEK_DRIVE_NO_ARM);

#define spek_drive_show_error(error)				\
	__print_symbolic(error,					\
			 { SPEK_DRIVE_GOOD, "none" },		\
			 { SPEK_DRIVE_MEDIUM_ERROR, "medium" },	\
			 { SPEK_DRIVE_WRITE_ERROR, "write" },	\
			 { SPEK_DRIVE_NO_ARM, "no-arm" })

#define spek_drive_show_op(op)					\
	__print_symbolic(op,					\
			 { 0, "read" },				\
			 { 1, "write" },			\
			 { 2, "flush" },			\
			 { 3, "trim" })

/**
 * spek_drive_complete - an access of the host has ended
 * @drive: number of the drive
 * @service: the access
 * @now_ns: time at which its end is noticed
 * @reported: its command completes now; it was not aborted, and not completed when it came
 *
 * @arm is -1 for accesses that the cache or flash serves, and those that fail without an arm.
 */
TRACE_EVENT(spek_drive_complete,
	TP_PROTO(u32 drive, const struct spek_drive_service *service, u64 now_ns, bool reported),
	TP_ARGS(drive, service, now_ns, reported),

	TP_STRUCT__entry(
		__field(u64,	seq)
		__field(u64,	lba)
		__field(u64,	arrival_ns)
		__field(u64,	start_ns)
		__field(u64,	overhead_ns)
		__field(u64,	seek_ns)
		__field(u64,	rotate_ns)
		__field(u64,	transfer_ns)
		__field(u64,	end_ns)
		__field(u64,	late_ns)
		__field(u32,	drive)
		__field(u32,	sectors)
		__field(s32,	arm)
		__field(u16,	op)
		__field(u16,	error)
		__field(u16,	fua)
		__field(u16,	reported)
	),

	TP_fast_assign(
		const struct spek_drive_request *request = &service->request;

		__entry->seq		= request->tag >> SPEK_UNIT_SLOT_BITS;
		__entry->lba		= request->lba;
		__entry->arrival_ns	= request->arrival_ns;
		__entry->start_ns	= service->start_ns;
		__entry->overhead_ns	= service->access.overhead_ns;
		__entry->seek_ns	= service->access.seek_ns;
		__entry->rotate_ns	= service->access.rotate_ns;
		__entry->transfer_ns	= service->access.transfer_ns;
		__entry->end_ns		= service->end_ns;
		__entry->late_ns	= now_ns - service->end_ns;
		__entry->drive		= drive;
		__entry->sectors	= request->sectors;
		__entry->arm		= service->arm == SPEK_DRIVE_BUS ? -1 : (s32)service->arm;
		__entry->op		= request->trim ? 3 : request->flush ? 2 : request->write;
		__entry->error		= service->error;
		__entry->fua		= request->fua;
		__entry->reported	= reported;
	),

	TP_printk("drive=%u seq=%llu op=%s lba=%llu sectors=%u fua=%u arm=%d error=%s reported=%u arrival_ns=%llu start_ns=%llu overhead_ns=%llu seek_ns=%llu rotate_ns=%llu transfer_ns=%llu end_ns=%llu late_ns=%llu",
		  __entry->drive, __entry->seq, spek_drive_show_op(__entry->op), __entry->lba,
		  __entry->sectors, __entry->fua, __entry->arm,
		  spek_drive_show_error(__entry->error), __entry->reported, __entry->arrival_ns,
		  __entry->start_ns, __entry->overhead_ns, __entry->seek_ns, __entry->rotate_ns,
		  __entry->transfer_ns, __entry->end_ns, __entry->late_ns)
);

#endif

/* From the top of the tree, which only trace.c has in its include path (Kbuild). */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH kmod/drive
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
