// SPDX-License-Identifier: GPL-2.0
/* What streams say of themselves: block sizes, hints, data, and whether they replay a trace. */
#include "workload.h"

/**
 * spek_stream_max_bytes() - largest block size of a stream
 * @stream: stream
 *
 * Return: bytes; 0 for a stream without sizes.
 */
u32 spek_stream_max_bytes(const struct spek_stream *stream)
{
	u32 max = 0, i;

	for (i = 0; i < stream->nr_sizes; i++)
		if (stream->size[i].bytes > max)
			max = stream->size[i].bytes;
	return max;
}

/**
 * spek_stream_slots() - count the addresses where every block fits into the range
 * @stream: stream with an alignment and a range that holds its largest block
 *
 * Return: number of addresses, > 0.
 */
u64 spek_stream_slots(const struct spek_stream *stream)
{
	return spek_div64(stream->range_bytes - spek_stream_max_bytes(stream),
			  stream->align_bytes) + 1;
}

/**
 * spek_stream_is_aligned() - check that all block sizes are multiples of the alignment
 * @stream: stream with an alignment
 *
 * Return: true if they are.
 */
bool spek_stream_is_aligned(const struct spek_stream *stream)
{
	u32 i;

	for (i = 0; i < stream->nr_sizes; i++)
		if (stream->size[i].bytes % stream->align_bytes)
			return false;
	return true;
}

/**
 * spek_stream_is_plain() - check whether a stream only reads and writes
 * @stream: stream
 *
 * Return: false if it has other operations, writes with forced unit access, or is at the write
 * pointers of zones. Of a trace the records say that.
 */
bool spek_stream_is_plain(const struct spek_stream *stream)
{
	return !stream->operation && !stream->fua &&
	       stream->pattern != SPEK_PATTERN_WRITE_POINTER;
}

/**
 * spek_stream_has_data() - check whether the operations of a stream carry data
 * @stream: stream
 *
 * Return: true for reads, writes and appends.
 */
bool spek_stream_has_data(const struct spek_stream *stream)
{
	return stream->operation == SPEK_OPERATION_TRANSFER ||
	       stream->operation == SPEK_OPERATION_ZONE_APPEND;
}

/**
 * spek_workload_has_zones() - check whether a workload is at the write pointers of zones
 * @wl: workload
 *
 * Return: true if a stream is.
 */
bool spek_workload_has_zones(const struct spek_workload *wl)
{
	u32 i;

	for (i = 0; i < wl->nr_streams; i++)
		if (wl->stream[i].pattern == SPEK_PATTERN_WRITE_POINTER)
			return true;
	return false;
}

/**
 * spek_workload_is_plain() - check whether a workload only reads and writes
 * @wl: workload
 *
 * Return: false if a stream is not plain.
 */
bool spek_workload_is_plain(const struct spek_workload *wl)
{
	u32 i;

	for (i = 0; i < wl->nr_streams; i++)
		if (!spek_stream_is_plain(&wl->stream[i]))
			return false;
	return true;
}

/**
 * spek_workload_is_atomic() - check whether all that a workload changes are atomic writes
 * @wl: checked workload
 *
 * Return: true if no stream changes anything in another way; flushes change nothing.
 */
bool spek_workload_is_atomic(const struct spek_workload *wl)
{
	u32 i;

	for (i = 0; i < wl->nr_streams; i++) {
		const struct spek_stream *stream = &wl->stream[i];

		if (!stream->atomic && stream->read_ppm != 1000000 &&
		    stream->operation != SPEK_OPERATION_FLUSH)
			return false;
	}
	return true;
}

/**
 * spek_stream_has_hints() - check whether the I/Os of a stream carry hints for the device
 * @stream: stream
 *
 * Return: true if the stream has an I/O priority, a write hint, or atomic writes.
 */
bool spek_stream_has_hints(const struct spek_stream *stream)
{
	return stream->priority || stream->write_hint || stream->atomic;
}

/**
 * spek_stream_keeps_sizes_aligned() - check that each I/O lies at a multiple of its size
 * @stream: stream
 *
 * Return: true if block sizes are powers of two, and whatever addresses are made of are multiples
 * of them.
 */
bool spek_stream_keeps_sizes_aligned(const struct spek_stream *stream)
{
	u64 bits = stream->align_bytes | stream->range_start | stream->stride_bytes |
		   stream->run_align_bytes;
	u32 i;

	for (i = 0; i < stream->nr_sizes; i++) {
		u32 bytes = stream->size[i].bytes;

		if (bytes & (bytes - 1) || bits & (bytes - 1))
			return false;
	}
	return true;
}

/**
 * spek_workload_has_hints() - check whether any I/Os carry hints for the device
 * @wl: workload
 *
 * Return: true if a stream has hints.
 */
bool spek_workload_has_hints(const struct spek_workload *wl)
{
	u32 i;

	for (i = 0; i < wl->nr_streams; i++)
		if (spek_stream_has_hints(&wl->stream[i]))
			return true;
	return false;
}

/**
 * spek_workload_has_own_data() - check whether any stream writes data of its own
 * @wl: workload
 *
 * Return: true if a stream does.
 */
bool spek_workload_has_own_data(const struct spek_workload *wl)
{
	u32 i;

	for (i = 0; i < wl->nr_streams; i++)
		if (wl->stream[i].own_data)
			return true;
	return false;
}

/**
 * spek_workload_counts() - count the arrival processes that have an end of their own
 * @wl: workload
 *
 * Return: those with a count.
 */
u32 spek_workload_counts(const struct spek_workload *wl)
{
	u32 i, nr = 0;

	for (i = 0; i < wl->nr_arrivals; i++)
		nr += wl->arrival[i].count > 0;
	return nr;
}

/**
 * spek_workload_ends() - check whether a workload ends by itself
 * @wl: workload
 *
 * Return: true if all its arrival processes have counts.
 */
bool spek_workload_ends(const struct spek_workload *wl)
{
	return spek_workload_counts(wl) == wl->nr_arrivals;
}

/**
 * spek_workload_replays() - check whether a workload replays a trace
 * @wl: workload
 *
 * Return: true if it does.
 */
bool spek_workload_replays(const struct spek_workload *wl)
{
	return spek_workload_trace(wl) < wl->nr_streams;
}

/**
 * spek_workload_trace() - find the trace of a workload
 * @wl: workload
 *
 * Return: index of its first stream with the pattern trace, whose arrival process is that of the
 * trace; nr_streams without one.
 */
u32 spek_workload_trace(const struct spek_workload *wl)
{
	u32 i = 0;

	while (i < wl->nr_streams && wl->stream[i].pattern != SPEK_PATTERN_TRACE)
		i++;
	return i;
}
