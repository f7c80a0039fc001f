// SPDX-License-Identifier: GPL-2.0
/*
 * Parse the attributes of run-new into struct spek_run_config.
 *
 * Tables map the attributes of a set to the members of a structure; parse_nest() and fill() apply
 * them. The policy has checked types, lengths and simple limits before; this file checks that
 * required attributes are present, how often others are repeated, and combinations. Values are
 * checked against each other and the devices later, in core/workload.c and validate.c.
 */
#include <linux/log2.h>
#include <linux/stddef.h>
#include "iolog.h"
#include "netlink.h"
#include "replay.h"

#define MIN_INTERVAL_NS		NSEC_PER_MSEC
#define MAX_SPIN_NS		(10 * NSEC_PER_MSEC)
#define MAX_TIME_NS		(366ull * 24 * 3600 * NSEC_PER_SEC)
#define DEFAULT_BATCH		16

/**
 * struct field - where an attribute goes
 * @attr: its id
 * @offset: of the member
 * @size: of the member: 1 (bool) and 4 from u32, 8 from u64; 0: the caller deals with it
 * @missing: sentence if it is required; NULL: the member keeps its value
 */
struct field {
	u16 attr;
	u16 offset;
	u16 size;
	const char *missing;
};

#define FIELD(_attr, _type, _member, _missing) {	\
	.attr = _attr,					\
	.offset = offsetof(_type, _member),		\
	.size = sizeof_field(_type, _member),		\
	.missing = _missing,				\
}
#define ELSEWHERE(_attr, _missing) { .attr = _attr, .missing = _missing }

static const struct field run_fields[] = {
	ELSEWHERE(SPEK_A_RUN_NAME, "A run needs the name of its workload."),
	FIELD(SPEK_A_RUN_SEED, struct spek_run_config, seed, "A run needs a seed."),
	FIELD(SPEK_A_RUN_DETACHED, struct spek_run_config, detached, NULL),
	FIELD(SPEK_A_RUN_WRITE, struct spek_run_config, may_write, NULL),
	FIELD(SPEK_A_RUN_BACKEND, struct spek_run_config, backend, NULL),
	FIELD(SPEK_A_RUN_POLLED, struct spek_run_config, polled, NULL),
	FIELD(SPEK_A_RUN_DATA, struct spek_run_config, data, NULL),
	FIELD(SPEK_A_RUN_MAX_OUTSTANDING, struct spek_run_config, max_outstanding,
	      "A run needs a limit of outstanding I/Os."),
	FIELD(SPEK_A_RUN_BATCH, struct spek_run_config, batch, NULL),
	FIELD(SPEK_A_RUN_SPIN_NS, struct spek_run_config, spin_ns, NULL),
	FIELD(SPEK_A_RUN_INTERVAL_NS, struct spek_run_config, interval_ns, NULL),
	FIELD(SPEK_A_RUN_RAMP_NS, struct spek_run_config, ramp_ns, NULL),
	FIELD(SPEK_A_RUN_RAMP_COUNT, struct spek_run_config, ramp_count, NULL),
	FIELD(SPEK_A_RUN_TIME_NS, struct spek_run_config, time_ns, NULL),
	FIELD(SPEK_A_RUN_COUNT, struct spek_run_config, count, NULL),
	FIELD(SPEK_A_RUN_MAX_ERRORS, struct spek_run_config, max_errors, NULL),
	FIELD(SPEK_A_RUN_LOG_RECORDS, struct spek_run_config, log_records, NULL),
	FIELD(SPEK_A_RUN_STAMP_ID, struct spek_run_config, stamp_id, NULL),
	FIELD(SPEK_A_RUN_VERIFY_FROM, struct spek_run_config, verify_from, NULL),
	FIELD(SPEK_A_RUN_GRAIN_BYTES, struct spek_run_config, grain_bytes, NULL),
	FIELD(SPEK_A_RUN_TRACE_RECORDS, struct spek_run_config, trace_records, NULL),
	ELSEWHERE(SPEK_A_RUN_WORKER, "A run needs at least one worker."),
	ELSEWHERE(SPEK_A_RUN_TARGET, "A run needs at least one target."),
	ELSEWHERE(SPEK_A_RUN_ASU, "A run needs at least one address range (asu)."),
	ELSEWHERE(SPEK_A_RUN_ARRIVAL, "A run needs at least one arrival process."),
	ELSEWHERE(SPEK_A_RUN_STREAM, "A run needs at least one stream."),
};

struct worker_request {
	u32 cpu;
};

static const struct field worker_fields[] = {
	FIELD(SPEK_A_WORKER_CPU, struct worker_request, cpu, "A worker needs a CPU."),
};

struct target_request {
	u32 major;
	u32 minor;
	u64 diskseq;
};

static const struct field target_fields[] = {
	FIELD(SPEK_A_TARGET_MAJOR, struct target_request, major,
	      "A target needs the major number of its device."),
	FIELD(SPEK_A_TARGET_MINOR, struct target_request, minor,
	      "A target needs the minor number of its device."),
	FIELD(SPEK_A_TARGET_DISKSEQ, struct target_request, diskseq, NULL),
};

static const struct field asu_fields[] = {
	ELSEWHERE(SPEK_A_ASU_NAME, NULL),
	FIELD(SPEK_A_ASU_BYTES, struct spek_asu, bytes, "An address range (asu) needs a size."),
	FIELD(SPEK_A_ASU_STRIPE_BYTES, struct spek_asu, stripe_bytes, NULL),
	FIELD(SPEK_A_ASU_ZONE_BYTES, struct spek_asu, zone_bytes, NULL),
	FIELD(SPEK_A_ASU_OPEN_ZONES, struct spek_asu, open_zones, NULL),
	ELSEWHERE(SPEK_A_ASU_EXTENT, "An address range (asu) needs at least one extent."),
};

struct extent_request {
	u32 target;
	u64 start;
};

static const struct field extent_fields[] = {
	FIELD(SPEK_A_EXTENT_TARGET, struct extent_request, target,
	      "An extent needs the index of its target."),
	FIELD(SPEK_A_EXTENT_START, struct extent_request, start,
	      "An extent needs its first byte on the target."),
};

static const struct field arrival_fields[] = {
	FIELD(SPEK_A_ARRIVAL_LAW, struct spek_arrival, law, "An arrival process needs a law."),
	FIELD(SPEK_A_ARRIVAL_DEPTH, struct spek_arrival, depth, NULL),
	FIELD(SPEK_A_ARRIVAL_THINK_NS, struct spek_arrival, think_ns, NULL),
	FIELD(SPEK_A_ARRIVAL_RATE_MILLI, struct spek_arrival, rate_milli, NULL),
	FIELD(SPEK_A_ARRIVAL_BURST_LENGTH, struct spek_arrival, burst_length, NULL),
	FIELD(SPEK_A_ARRIVAL_BURST_INTERVAL_NS, struct spek_arrival, burst_interval_ns, NULL),
	ELSEWHERE(SPEK_A_ARRIVAL_POINT, NULL),
	FIELD(SPEK_A_ARRIVAL_REPEATS, struct spek_arrival, repeats, NULL),
	FIELD(SPEK_A_ARRIVAL_ON_NS, struct spek_arrival, on_ns, NULL),
	FIELD(SPEK_A_ARRIVAL_OFF_NS, struct spek_arrival, off_ns, NULL),
	FIELD(SPEK_A_ARRIVAL_TAIL_MILLI, struct spek_arrival, tail_milli, NULL),
};

static const struct field size_fields[] = {
	FIELD(SPEK_A_SIZE_BYTES, struct spek_size, bytes, "A block size needs its bytes."),
	FIELD(SPEK_A_SIZE_WEIGHT, struct spek_size, weight, "A block size needs its weight."),
};

static const struct field stream_fields[] = {
	ELSEWHERE(SPEK_A_STREAM_NAME, NULL),
	FIELD(SPEK_A_STREAM_ASU, struct spek_stream, asu,
	      "A stream needs the index of its address range (asu)."),
	FIELD(SPEK_A_STREAM_ARRIVAL, struct spek_stream, arrival,
	      "A stream needs the index of its arrival process."),
	FIELD(SPEK_A_STREAM_WEIGHT, struct spek_stream, weight, NULL),
	FIELD(SPEK_A_STREAM_REPLICAS, struct spek_stream, replicas, NULL),
	FIELD(SPEK_A_STREAM_READ_PPM, struct spek_stream, read_ppm,
	      "A stream needs its share of reads."),
	FIELD(SPEK_A_STREAM_PATTERN, struct spek_stream, pattern,
	      "A stream needs an address pattern."),
	FIELD(SPEK_A_STREAM_RANGE_START, struct spek_stream, range_start, NULL),
	FIELD(SPEK_A_STREAM_RANGE_BYTES, struct spek_stream, range_bytes,
	      "A stream needs the size of its range."),
	FIELD(SPEK_A_STREAM_ALIGN_BYTES, struct spek_stream, align_bytes,
	      "A stream needs the alignment of its addresses."),
	FIELD(SPEK_A_STREAM_SEQ_PPM, struct spek_stream, seq_ppm, NULL),
	FIELD(SPEK_A_STREAM_STRIDE_BYTES, struct spek_stream, stride_bytes, NULL),
	FIELD(SPEK_A_STREAM_JITTER_BYTES, struct spek_stream, jitter_bytes, NULL),
	FIELD(SPEK_A_STREAM_RUN_BYTES, struct spek_stream, run_bytes, NULL),
	FIELD(SPEK_A_STREAM_RESTART_BYTES, struct spek_stream, restart_bytes, NULL),
	FIELD(SPEK_A_STREAM_RUN_ALIGN_BYTES, struct spek_stream, run_align_bytes, NULL),
	FIELD(SPEK_A_STREAM_WALK_STYLE, struct spek_stream, walk_style, NULL),
	FIELD(SPEK_A_STREAM_SPREAD, struct spek_stream, spread, NULL),
	ELSEWHERE(SPEK_A_STREAM_PART, NULL),
	FIELD(SPEK_A_STREAM_OPERATION, struct spek_stream, operation, NULL),
	FIELD(SPEK_A_STREAM_FUA, struct spek_stream, fua, NULL),
	FIELD(SPEK_A_STREAM_PRIORITY, struct spek_stream, priority, NULL),
	FIELD(SPEK_A_STREAM_PRIORITY_LEVEL, struct spek_stream, priority_level, NULL),
	FIELD(SPEK_A_STREAM_WRITE_HINT, struct spek_stream, write_hint, NULL),
	FIELD(SPEK_A_STREAM_OWN_DATA, struct spek_stream, own_data, NULL),
	FIELD(SPEK_A_STREAM_COMPRESSIBLE_PPM, struct spek_stream, compressible_ppm, NULL),
	FIELD(SPEK_A_STREAM_DUPLICATE_PPM, struct spek_stream, duplicate_ppm, NULL),
	ELSEWHERE(SPEK_A_STREAM_FILL, NULL),
	ELSEWHERE(SPEK_A_STREAM_SIZE, "A stream needs at least one block size."),
};

/* Copy attributes into @dst as a table says; refuse if a required one is missing. */
static int fill(void *dst, const struct field *fields, size_t nr_fields, struct nlattr **tb,
		const struct nlattr *nest, struct netlink_ext_ack *extack)
{
	size_t i;

	for (i = 0; i < nr_fields; i++) {
		const struct field *field = &fields[i];
		const struct nlattr *attr = tb[field->attr];
		void *member = dst + field->offset;

		if (!attr) {
			if (!field->missing)
				continue;
			NL_SET_ERR_ATTR_MISS(extack, nest, field->attr);
			return spek_genl_refuse(extack, nest, -EINVAL, field->missing);
		}
		switch (field->size) {
		case sizeof(bool):
			*(bool *)member = nla_get_u32(attr);
			break;
		case sizeof(u32):
			*(u32 *)member = nla_get_u32(attr);
			break;
		case sizeof(u64):
			*(u64 *)member = nla_get_u64(attr);
			break;
		}
	}
	return 0;
}

/*
 * Parse a nest. Attributes that only answers carry are refused rather than ignored. There is no
 * policy here since the nest was validated with its message.
 */
static int parse_nest(void *dst, const struct field *fields, size_t nr_fields,
		      struct nlattr **tb, int max, const struct nlattr *nest,
		      struct netlink_ext_ack *extack)
{
	int err, type;
	size_t i;

	err = nla_parse_nested(tb, max, nest, NULL, extack);
	if (err)
		return err;
	for (type = 1; type <= max; type++) {
		if (!tb[type])
			continue;
		for (i = 0; i < nr_fields && fields[i].attr != type; i++)
			;
		if (i == nr_fields)
			return spek_genl_refuse(extack, tb[type], -EINVAL,
						"This attribute is for answers: a request can't set it.");
	}
	return fill(dst, fields, nr_fields, tb, nest, extack);
}

static int parse_worker(struct spek_run_config *config, const struct nlattr *nest,
			struct netlink_ext_ack *extack)
{
	struct nlattr *tb[SPEK_A_WORKER_MAX + 1];
	struct worker_request request = {};
	int err;

	if (config->nr_workers == SPEK_MAX_WORKERS)
		return spek_genl_refuse(extack, nest, -ERANGE, "A run has at most 256 workers.");
	err = parse_nest(&request, worker_fields, ARRAY_SIZE(worker_fields), tb,
			 SPEK_A_WORKER_MAX, nest, extack);
	if (err)
		return err;
	config->cpu[config->nr_workers++] = request.cpu;
	return 0;
}

static int parse_target(struct spek_run_config *config, const struct nlattr *nest,
			struct netlink_ext_ack *extack)
{
	struct nlattr *tb[SPEK_A_TARGET_MAX + 1];
	struct target_request request = {};
	dev_t dev;
	int err;
	u32 i;

	if (config->nr_targets == SPEK_MAX_TARGETS)
		return spek_genl_refuse(extack, nest, -ERANGE, "A run has at most 16 targets.");
	err = parse_nest(&request, target_fields, ARRAY_SIZE(target_fields), tb,
			 SPEK_A_TARGET_MAX, nest, extack);
	if (err)
		return err;
	dev = MKDEV(request.major, request.minor);
	if (MAJOR(dev) != request.major || MINOR(dev) != request.minor)
		return spek_genl_refuse(extack, nest, -ERANGE,
					"Device numbers have 12 bits of major and 20 of minor.");
	for (i = 0; i < config->nr_targets; i++)
		if (config->dev[i] == dev)
			return spek_genl_refuse(extack, nest, -EINVAL,
						"The same device is a target twice.");
	config->dev[config->nr_targets] = dev;
	config->diskseq[config->nr_targets] = request.diskseq;
	config->nr_targets++;
	return 0;
}

static int parse_asu(struct spek_run_config *config, const struct nlattr *nest,
		     struct netlink_ext_ack *extack)
{
	struct nlattr *extent_tb[SPEK_A_EXTENT_MAX + 1];
	struct nlattr *tb[SPEK_A_ASU_MAX + 1];
	struct spek_workload *wl = &config->workload;
	struct spek_asu *asu = &wl->asu[wl->nr_asus];
	const struct nlattr *attr;
	int err, rem;

	if (wl->nr_asus == SPEK_MAX_ASUS)
		return spek_genl_refuse(extack, nest, -ERANGE,
					"A run has at most 16 address ranges (asus).");
	err = parse_nest(asu, asu_fields, ARRAY_SIZE(asu_fields), tb, SPEK_A_ASU_MAX, nest,
			 extack);
	if (err)
		return err;
	nla_for_each_nested(attr, nest, rem) {
		struct extent_request request = {};

		if (nla_type(attr) != SPEK_A_ASU_EXTENT)
			continue;
		if (asu->nr_extents == SPEK_MAX_TARGETS)
			return spek_genl_refuse(extack, attr, -ERANGE,
						"An address range (asu) has at most 16 extents.");
		err = parse_nest(&request, extent_fields, ARRAY_SIZE(extent_fields), extent_tb,
				 SPEK_A_EXTENT_MAX, attr, extack);
		if (err)
			return err;
		asu->extent[asu->nr_extents].target = request.target;
		asu->extent[asu->nr_extents].start = request.start;
		asu->nr_extents++;
	}
	wl->nr_asus++;
	return 0;
}

static int parse_points(struct spek_workload *wl, struct spek_arrival *arrival,
			const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	u32 nr = nla_len(attr) / sizeof(*wl->point);

	BUILD_BUG_ON(sizeof(*wl->point) != sizeof(struct spek_rate_point));
	if (nla_len(attr) % sizeof(*wl->point))
		return spek_genl_refuse(extack, attr, -EINVAL,
					"The points of a rate curve are not whole: each has 16 bytes.");
	if (nr > SPEK_MAX_POINTS_IN_ALL - wl->nr_points)
		return spek_genl_refuse(extack, attr, -ERANGE,
					"The rate curves of a run have at most 1024 points together.");
	arrival->first_point = wl->nr_points;
	arrival->nr_points = nr;
	nla_memcpy(&wl->point[wl->nr_points], attr, nla_len(attr));
	wl->nr_points += nr;
	return 0;
}

static int parse_arrival(struct spek_run_config *config, const struct nlattr *nest,
			 struct netlink_ext_ack *extack)
{
	struct nlattr *tb[SPEK_A_ARRIVAL_MAX + 1];
	struct spek_workload *wl = &config->workload;
	struct spek_arrival *arrival = &wl->arrival[wl->nr_arrivals];
	int err;

	if (wl->nr_arrivals == SPEK_MAX_ARRIVALS)
		return spek_genl_refuse(extack, nest, -ERANGE,
					"A run has at most 16 arrival processes.");
	err = parse_nest(arrival, arrival_fields, ARRAY_SIZE(arrival_fields), tb,
			 SPEK_A_ARRIVAL_MAX, nest, extack);
	if (err)
		return err;
	if (tb[SPEK_A_ARRIVAL_POINT]) {
		err = parse_points(wl, arrival, tb[SPEK_A_ARRIVAL_POINT], extack);
		if (err)
			return err;
	}
	wl->nr_arrivals++;
	return 0;
}

static int parse_parts(struct spek_workload *wl, struct spek_stream *stream,
		       const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	u32 nr = nla_len(attr) / sizeof(*wl->part);

	BUILD_BUG_ON(sizeof(*wl->part) != sizeof(struct spek_table_part));
	if (nla_len(attr) % sizeof(*wl->part))
		return spek_genl_refuse(extack, attr, -EINVAL,
					"The parts of a table are not whole: each has 16 bytes.");
	if (nr > SPEK_MAX_PARTS_IN_ALL - wl->nr_parts)
		return spek_genl_refuse(extack, attr, -ERANGE,
					"The tables of a run have at most 4096 parts together.");
	stream->first_part = wl->nr_parts;
	stream->nr_parts = nr;
	nla_memcpy(&wl->part[wl->nr_parts], attr, nla_len(attr));
	wl->nr_parts += nr;
	return 0;
}

static int parse_stream(struct spek_run_config *config, const struct nlattr *nest,
			struct netlink_ext_ack *extack)
{
	struct nlattr *size_tb[SPEK_A_SIZE_MAX + 1];
	struct nlattr *tb[SPEK_A_STREAM_MAX + 1];
	struct spek_workload *wl = &config->workload;
	struct spek_stream *stream = &wl->stream[wl->nr_streams];
	const struct nlattr *attr;
	int err, rem;

	if (wl->nr_streams == SPEK_MAX_STREAMS)
		return spek_genl_refuse(extack, nest, -ERANGE, "A run has at most 64 streams.");
	stream->weight = 1;
	stream->replicas = 1;
	err = parse_nest(stream, stream_fields, ARRAY_SIZE(stream_fields), tb,
			 SPEK_A_STREAM_MAX, nest, extack);
	if (err)
		return err;
	if (tb[SPEK_A_STREAM_NAME])
		nla_strscpy(config->stream_name[wl->nr_streams], tb[SPEK_A_STREAM_NAME],
			    SPEK_NAME_LEN);
	if (tb[SPEK_A_STREAM_PART]) {
		err = parse_parts(wl, stream, tb[SPEK_A_STREAM_PART], extack);
		if (err)
			return err;
	}
	if (tb[SPEK_A_STREAM_FILL])
		stream->fill_bytes = nla_memcpy(stream->fill, tb[SPEK_A_STREAM_FILL],
						sizeof(stream->fill));
	nla_for_each_nested(attr, nest, rem) {
		if (nla_type(attr) != SPEK_A_STREAM_SIZE)
			continue;
		if (stream->nr_sizes == SPEK_MAX_SIZES)
			return spek_genl_refuse(extack, attr, -ERANGE,
						"A stream has at most 64 block sizes.");
		err = parse_nest(&stream->size[stream->nr_sizes], size_fields,
				 ARRAY_SIZE(size_fields), size_tb, SPEK_A_SIZE_MAX, attr, extack);
		if (err)
			return err;
		stream->nr_sizes++;
	}
	wl->nr_streams++;
	return 0;
}

static int parse_repeated(struct genl_info *info, struct spek_run_config *config)
{
	const struct nlattr *attr;
	int rem, err = 0;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		switch (nla_type(attr)) {
		case SPEK_A_RUN_WORKER:
			err = parse_worker(config, attr, info->extack);
			break;
		case SPEK_A_RUN_TARGET:
			err = parse_target(config, attr, info->extack);
			break;
		case SPEK_A_RUN_ASU:
			err = parse_asu(config, attr, info->extack);
			break;
		case SPEK_A_RUN_ARRIVAL:
			err = parse_arrival(config, attr, info->extack);
			break;
		case SPEK_A_RUN_STREAM:
			err = parse_stream(config, attr, info->extack);
			break;
		}
		if (err)
			return err;
	}
	return 0;
}

static int check_times(struct genl_info *info, const struct spek_run_config *config)
{
	static const u16 times[] = {
		SPEK_A_RUN_INTERVAL_NS, SPEK_A_RUN_RAMP_NS, SPEK_A_RUN_TIME_NS,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		const struct nlattr *attr = info->attrs[times[i]];

		if (attr && nla_get_u64(attr) > MAX_TIME_NS)
			return spek_genl_refuse(info->extack, attr, -ERANGE,
						"The longest time is 366 days.");
	}
	if (config->interval_ns && config->interval_ns < MIN_INTERVAL_NS)
		return spek_genl_refuse(info->extack, info->attrs[SPEK_A_RUN_INTERVAL_NS], -ERANGE,
					"The report interval must be 0 (none) or at least 1 ms.");
	if (config->spin_ns > MAX_SPIN_NS)
		return spek_genl_refuse(info->extack, info->attrs[SPEK_A_RUN_SPIN_NS], -ERANGE,
					"A worker spins for at most 10 ms.");
	return 0;
}

static int check_stamped(struct genl_info *info, const struct spek_run_config *config)
{
	static const u16 only_stamped[] = {
		SPEK_A_RUN_STAMP_ID, SPEK_A_RUN_VERIFY_FROM, SPEK_A_RUN_GRAIN_BYTES,
	};
	struct nlattr **attrs = info->attrs;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(only_stamped); i++)
		if (attrs[only_stamped[i]] && config->data != SPEK_DATA_STAMPED)
			return spek_genl_refuse(info->extack, attrs[only_stamped[i]], -EINVAL,
						"This attribute needs stamped data.");
	if (config->data == SPEK_DATA_STAMPED && spek_workload_has_own_data(&config->workload))
		return spek_genl_refuse(info->extack, attrs[SPEK_A_RUN_DATA], -EINVAL,
					"A run with stamped data has no streams with own data: a stamp fills its block.");
	if (config->stamp_id && config->verify_from)
		return spek_genl_refuse(info->extack, attrs[SPEK_A_RUN_STAMP_ID], -EINVAL,
					"A run that continues another one takes over its stamp-id: leave it out.");
	if (config->grain_bytes &&
	    (!is_power_of_2(config->grain_bytes) || config->grain_bytes < SPEK_SECTOR))
		return spek_genl_refuse(info->extack, attrs[SPEK_A_RUN_GRAIN_BYTES], -EINVAL,
					"A grain must be a power of two of at least 512 bytes.");
	return 0;
}

static int check_trace(struct genl_info *info, const struct spek_run_config *config)
{
	struct nlattr **attrs = info->attrs;

	if (!spek_workload_replays(&config->workload)) {
		if (config->trace_records)
			return spek_genl_refuse(info->extack, attrs[SPEK_A_RUN_TRACE_RECORDS],
						-EINVAL, "This attribute needs streams of a trace.");
		return 0;
	}
	if (!config->trace_records)
		return spek_genl_refuse(info->extack, NULL, -EINVAL,
					"A run that replays a trace needs trace-records.");
	if (config->count || config->ramp_count)
		return spek_genl_refuse(info->extack,
					attrs[config->count ? SPEK_A_RUN_COUNT :
							      SPEK_A_RUN_RAMP_COUNT],
					-EINVAL,
					"A run that replays a trace ends with its last record or by time, not by count.");
	if (config->polled)
		return spek_genl_refuse(info->extack, attrs[SPEK_A_RUN_POLLED], -EOPNOTSUPP,
					"A trace is replayed without polling.");
	if (config->data == SPEK_DATA_STAMPED)
		return spek_genl_refuse(info->extack, attrs[SPEK_A_RUN_DATA], -EOPNOTSUPP,
					"A trace is replayed without stamped data.");
	return 0;
}

/* What is not a plain read or write. */
static int check_operations(struct genl_info *info, const struct spek_run_config *config)
{
	const struct spek_workload *wl = &config->workload;
	u32 i;

	for (i = 0; i < wl->nr_streams; i++) {
		if (config->polled && !spek_stream_is_plain(&wl->stream[i]))
			return spek_genl_refuse(info->extack, info->attrs[SPEK_A_RUN_POLLED],
						-EOPNOTSUPP,
						"Flushes, discards, write-zeroes, writes with FUA and write pointers of zones can't be polled.");
	}
	return 0;
}

static int check_combinations(struct genl_info *info, const struct spek_run_config *config)
{
	const struct spek_workload *wl = &config->workload;
	struct nlattr **attrs = info->attrs;
	struct spek_refusal refusal;
	u32 i, j;

	if (config->time_ns && config->count)
		return spek_genl_refuse(info->extack, attrs[SPEK_A_RUN_COUNT], -EINVAL,
					"A run ends by time or by count, not by both.");
	if (!config->time_ns && !config->count && !spek_workload_replays(wl))
		return spek_genl_refuse(info->extack, attrs[SPEK_A_RUN_TIME_NS], -EINVAL,
					"A run needs an end: a time or a count above 0.");
	if (config->ramp_ns && config->ramp_count)
		return spek_genl_refuse(info->extack, attrs[SPEK_A_RUN_RAMP_COUNT], -EINVAL,
					"The ramp-up ends by time or by count, not by both.");
	for (i = 0; i < wl->nr_asus; i++) {
		for (j = 0; j < wl->asu[i].nr_extents; j++) {
			if (wl->asu[i].extent[j].target < config->nr_targets)
				continue;
			refusal = (struct spek_refusal){ .kind = SPEK_REFUSAL_ASU, .index = i };
			return spek_genl_refuse(info->extack, spek_nl_blame(info, &refusal),
						-EINVAL,
						"An extent lies on a target that the run doesn't have.");
		}
	}
	return 0;
}

int spek_nl_parse_run(struct genl_info *info, struct spek_run_config *config)
{
	int err;

	config->batch = DEFAULT_BATCH;
	config->owner_portid = info->snd_portid;
	err = fill(config, run_fields, ARRAY_SIZE(run_fields), info->attrs, NULL, info->extack);
	if (err)
		return err;
	nla_strscpy(config->name, info->attrs[SPEK_A_RUN_NAME], sizeof(config->name));
	if (config->log_records)
		config->log_records = spek_iolog_records(config->log_records);
	if (config->trace_records)
		config->trace_records = spek_replay_records(config->trace_records);
	err = parse_repeated(info, config);
	if (err)
		return err;
	err = check_times(info, config);
	if (err)
		return err;
	err = check_stamped(info, config);
	if (err)
		return err;
	err = check_trace(info, config);
	if (err)
		return err;
	err = check_operations(info, config);
	if (err)
		return err;
	return check_combinations(info, config);
}

const struct nlattr *spek_nl_blame(const struct genl_info *info,
				   const struct spek_refusal *refusal)
{
	const struct nlattr *attr;
	u32 index = 0;
	int type, rem;

	switch (refusal->kind) {
	case SPEK_REFUSAL_TARGET:
		type = SPEK_A_RUN_TARGET;
		break;
	case SPEK_REFUSAL_WORKER:
		type = SPEK_A_RUN_WORKER;
		break;
	case SPEK_REFUSAL_STREAM:
		type = SPEK_A_RUN_STREAM;
		break;
	case SPEK_REFUSAL_ASU:
		type = SPEK_A_RUN_ASU;
		break;
	case SPEK_REFUSAL_ARRIVAL:
		type = SPEK_A_RUN_ARRIVAL;
		break;
	default:
		return NULL;
	}
	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem)
		if (nla_type(attr) == type && index++ == refusal->index)
			return attr;
	return NULL;
}
