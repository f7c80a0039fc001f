// SPDX-License-Identifier: GPL-2.0
/*
 * Replay: the pattern whose operations are records of a trace, and what records may be.
 *
 * Records come from outside, so each is checked before it is accepted; the generator then trusts
 * it. Streams sort records: there is one for each asu and operation that the trace may have, so
 * that each is counted and timed for itself.
 */
#include "pattern.h"
#include "replay.h"

static int check(const struct spek_stream *stream, u64 parts, struct spek_refusal *refusal)
{
	if (stream->nr_sizes != 1)
		return spek_refuse_part(refusal, -EINVAL,
					"A stream of a trace needs one block size, the largest of its records.");
	if (!spek_is_power_of_two(stream->align_bytes) || !spek_stream_is_aligned(stream))
		return spek_refuse_part(refusal, -EINVAL,
					"The alignment of a trace must be a power of two that divides its largest block size.");
	if (stream->replicas != 1)
		return spek_refuse_part(refusal, -EINVAL, "A stream of a trace has one replica.");
	if (stream->operation > SPEK_OPERATION_DISCARD)
		return spek_refuse_part(refusal, -EINVAL,
					"A trace has no such operation: it has reads, writes, flushes and discards.");
	if (stream->fua)
		return spek_refuse_part(refusal, -EINVAL,
					"The records of a trace say which writes have forced unit access.");
	return 0;
}

static void init(struct spek_source *source, const struct spek_stream *stream,
		 const struct spek_share *share, struct spek_rng *rng, void *states, void *shared)
{
	source->replay.addr = 0;
	source->replay.bytes = 0;
	source->replay.kind = SPEK_OP_PLAIN;
}

static enum spek_kind kind(const struct spek_stream *stream, bool write)
{
	return SPEK_KIND_REPLAY;
}

const struct spek_pattern_ops spek_pattern_replay = {
	.check = check,
	.init = init,
	.kind = kind,
};

/**
 * spek_replay_next() - the place and length of the next record
 * @choice: choice of the record
 * @op: addr, bytes and kind are set
 */
void spek_replay_next(const struct spek_choice *choice, struct spek_op *op)
{
	const struct spek_source *source = choice->source;

	op->addr = source->replay.addr;
	op->bytes = source->replay.bytes;
	op->kind = source->replay.kind;
}

/**
 * spek_replay_op() - operation of a trace that a choice is for
 * @operation: enum spek_operation of the stream
 * @tag: of the choice
 *
 * Return: enum spek_trace_op.
 */
u32 spek_replay_op(u32 operation, u64 tag)
{
	const struct spek_op op = { .tag = tag };

	if (operation == SPEK_OPERATION_FLUSH)
		return SPEK_TRACE_OP_FLUSH;
	if (operation == SPEK_OPERATION_DISCARD)
		return SPEK_TRACE_OP_DISCARD;
	return op.write ? SPEK_TRACE_OP_WRITE : SPEK_TRACE_OP_READ;
}

/**
 * spek_replay_kind() - what a record is beside a read or a write
 * @record: checked record
 *
 * Return: bits of enum spek_op_flags.
 */
u8 spek_replay_kind(const struct spek_recorded *record)
{
	if (record->op == SPEK_TRACE_OP_FLUSH)
		return SPEK_OP_FLUSH;
	if (record->op == SPEK_TRACE_OP_DISCARD)
		return SPEK_OP_DISCARD;
	return record->flags;
}

/* Return: true if an earlier stream of the trace takes the same records as stream @index */
static bool is_second(const struct spek_workload *wl, u32 index)
{
	const struct spek_stream *stream = &wl->stream[index];
	u32 i;

	for (i = 0; i < index; i++)
		if (wl->stream[i].pattern == SPEK_PATTERN_TRACE &&
		    wl->stream[i].asu == stream->asu &&
		    wl->stream[i].operation == stream->operation)
			return true;
	return false;
}

static int check_streams(const struct spek_workload *wl, u32 trace, struct spek_refusal *refusal)
{
	u32 i;

	refusal->kind = SPEK_REFUSAL_STREAM;
	for (i = 0; i < wl->nr_streams; i++) {
		const struct spek_stream *stream = &wl->stream[i];
		bool shares = stream->arrival == trace;

		refusal->index = i;
		if (stream->pattern != SPEK_PATTERN_TRACE) {
			if (shares)
				return spek_refuse_part(refusal, -EINVAL,
							"A stream with another pattern uses the arrival process of a trace: it needs one of its own.");
			continue;
		}
		if (!shares)
			return spek_refuse_part(refusal, -EINVAL,
						"The streams of a trace have several arrival processes: a run replays one trace, with one.");
		if (is_second(wl, i))
			return spek_refuse_part(refusal, -EINVAL,
						"Two streams of a trace have the same address range and operation.");
	}
	return 0;
}

/**
 * spek_replay_check_workload() - check the trace of a workload, if there is one
 * @wl: workload whose parts are checked
 * @nr_workers: workers that will share it
 * @refusal: filled in on failure
 *
 * A trace is one arrival process, with streams of its own. Other processes and streams may be
 * beside it.
 *
 * Return: 0 or -EINVAL.
 */
int spek_replay_check_workload(const struct spek_workload *wl, u32 nr_workers,
			       struct spek_refusal *refusal)
{
	u32 first = spek_workload_trace(wl), trace = SPEK_MAX_ARRIVALS, i;
	const struct spek_arrival *arrival;

	if (first < wl->nr_streams)
		trace = wl->stream[first].arrival;
	refusal->kind = SPEK_REFUSAL_ARRIVAL;
	for (i = 0; i < wl->nr_arrivals; i++) {
		refusal->index = i;
		if (wl->arrival[i].law == SPEK_LAW_TRACE && i != trace)
			return spek_refuse_part(refusal, -EINVAL,
						"The law trace is for streams with the pattern trace, for which a run has one arrival process.");
	}
	if (trace == SPEK_MAX_ARRIVALS)
		return 0;
	arrival = &wl->arrival[trace];
	refusal->index = trace;
	if (arrival->law != SPEK_LAW_TRACE && arrival->law != SPEK_LAW_CLOSED)
		return spek_refuse_part(refusal, -EINVAL,
					"The streams of a trace need an arrival process with the law trace or closed.");
	if (arrival->law == SPEK_LAW_CLOSED && arrival->depth < nr_workers)
		return spek_refuse_part(refusal, -EINVAL,
					"A trace in a closed loop needs a depth of at least 1 for each worker.");
	if (arrival->rate_milli)
		return spek_refuse_part(refusal, -EINVAL,
					"A closed loop that replays a trace has no limit of its rate.");
	if (arrival->pause_ns)
		return spek_refuse_part(refusal, -EINVAL,
					"A closed loop that replays a trace has no pauses.");
	return check_streams(wl, trace, refusal);
}

static void init_rule(struct spek_replay_rule *rule, const struct spek_stream *stream)
{
	rule->is_allowed = true;
	rule->start = stream->range_start;
	rule->end = stream->range_start + stream->range_bytes;
	rule->mask = stream->align_bytes - 1;
	rule->max_bytes = stream->operation == SPEK_OPERATION_DISCARD ?
			  (u32)~0u & ~rule->mask : stream->size[0].bytes;
}

/**
 * spek_replay_rules_init() - prepare to check records
 * @rules: filled in
 * @wl: checked workload that replays a trace
 */
void spek_replay_rules_init(struct spek_replay_rules *rules, const struct spek_workload *wl)
{
	u32 i;

	spek_memset(rules, 0, sizeof(*rules));
	for (i = 0; i < wl->nr_streams; i++) {
		const struct spek_stream *stream = &wl->stream[i];
		struct spek_replay_rule *rule = rules->rule[stream->asu];

		if (stream->pattern != SPEK_PATTERN_TRACE)
			continue;
		switch (stream->operation) {
		case SPEK_OPERATION_FLUSH:
			init_rule(&rule[SPEK_TRACE_OP_FLUSH], stream);
			break;
		case SPEK_OPERATION_DISCARD:
			init_rule(&rule[SPEK_TRACE_OP_DISCARD], stream);
			break;
		default:
			if (stream->read_ppm)
				init_rule(&rule[SPEK_TRACE_OP_READ], stream);
			if (stream->read_ppm < 1000000)
				init_rule(&rule[SPEK_TRACE_OP_WRITE], stream);
		}
	}
}

static int check_place(const struct spek_replay_rule *rule, const struct spek_recorded *record,
		       struct spek_refusal *refusal)
{
	if (!record->bytes)
		return spek_refuse_part(refusal, -EINVAL, "A record has no bytes: only flushes have none.");
	if ((record->addr | record->bytes) & rule->mask)
		return spek_refuse_part(refusal, -EINVAL,
					"The address or length of a record is not a multiple of the alignment of its stream.");
	if (record->bytes > rule->max_bytes)
		return spek_refuse_part(refusal, -ERANGE,
					"A record is longer than the block size of its stream.");
	if (record->addr < rule->start || record->addr > rule->end ||
	    record->bytes > rule->end - record->addr)
		return spek_refuse_part(refusal, -ERANGE,
					"A record lies outside of the range of its stream.");
	return 0;
}

/**
 * spek_replay_check() - check a record
 * @rules: of the workload
 * @record: any content
 * @before_ns: due time of the record before
 * @refusal: text is filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int spek_replay_check(const struct spek_replay_rules *rules, const struct spek_recorded *record,
		      u64 before_ns, struct spek_refusal *refusal)
{
	const struct spek_replay_rule *rule;

	if (record->asu >= SPEK_MAX_ASUS || record->op >= SPEK_NR_TRACE_OPS)
		return spek_refuse_part(refusal, -EINVAL,
					"A record has an unknown operation or address range.");
	rule = &rules->rule[record->asu][record->op];
	if (!rule->is_allowed)
		return spek_refuse_part(refusal, -EPERM,
					"The run has no stream for the address range and operation of a record.");
	if (record->flags & ~(SPEK_OP_FUA | SPEK_OP_PREFLUSH) ||
	    (record->flags && record->op != SPEK_TRACE_OP_WRITE))
		return spek_refuse_part(refusal, -EINVAL,
					"A record has an unknown flag, or one that its operation can't have.");
	if (record->at_ns < before_ns)
		return spek_refuse_part(refusal, -EINVAL,
					"A record is due before the one before it: records must be in order.");
	if (record->at_ns > SPEK_MAX_TRACE_NS)
		return spek_refuse_part(refusal, -ERANGE,
					"A record has a due time or a think time of more than 366 days.");
	if (record->op != SPEK_TRACE_OP_FLUSH)
		return check_place(rule, record, refusal);
	if (record->addr || record->bytes)
		return spek_refuse_part(refusal, -EINVAL, "A flush has an address or a length: both must be 0.");
	return 0;
}
