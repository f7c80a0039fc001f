// SPDX-License-Identifier: GPL-2.0
/*
 * sample-get: rows from a given number on.
 *
 * The dump keeps a copy of the row that it is sending, so that a row that takes several
 * messages is sent whole or not at all, even if the sampler overwrites it meanwhile. It ends
 * with the last row that existed when it began, so that it ends at any interval.
 *
 * The first call of dumpit checks the request, not a start callback: on 6.1 the refusals of
 * start callbacks lose their sentence.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <net/genetlink.h>

#include "../kmod/compat/compat.h"
#include "gen/netlink_gen.h"
#include "gen/request_gen.h"
#include "netlink.h"
#include "probe.h"
#include "sampler.h"

#define PUT_SAMPLE(skb, name, value) SPEK_PUT_U64(skb, SPEK_PROBER_A_SAMPLE, name, value)

/* An attribute's length is u16; this leaves room for the attributes around it. */
#define MAX_CELLS_BYTES 61440

/**
 * struct sample_dump - a dump in progress
 * @probe: probe; the position of the dump holds the reference
 * @next: number of the next row to read
 * @end: number of the first row not to read
 * @hold: end before the first row whose power samples have not arrived
 * @dropped: rows overwritten before they were read
 * @has_row: @row is being sent
 * @source: index of the next source in @row
 * @entity: index of its next entity
 * @row: copy of the row that is being sent
 */
struct sample_dump {
	struct spek_probe *probe;
	u64 next;
	u64 end;
	bool hold;
	u64 dropped;
	bool has_row;
	u32 source;
	u32 entity;
	struct spek_probe_row row;
};

static int check_probe(const struct spek_probe *probe, const struct nlattr *id,
		       const struct spek_prober_sample_get *request,
		       struct netlink_ext_ack *extack)
{
	if (!probe)
		return spek_genl_refuse(extack, id, -ENOENT,
					"There is no probe: start one first.");
	if (id && request->probe != probe->id)
		return spek_genl_refuse(extack, id, -ENOENT,
					"There is no probe with this number.");
	return 0;
}

/* The end of the dump releases everything, even after a failure here. */
static int begin_dump(struct netlink_callback *cb, struct spek_genl_dump *position)
{
	const struct nlattr *id = spek_compat_dump_attrs(cb)[SPEK_PROBER_A_SAMPLE_PROBE];
	struct spek_prober_sample_get request = {};
	struct spek_probe *probe;
	struct sample_dump *dump;
	int err;

	err = spek_genl_check_rights(cb->skb, cb->extack);
	if (!err)
		err = spek_genl_parse_dump(cb, &spek_prober_sample_get_request, &request);
	if (err)
		return err;
	probe = spek_probe_get_current();
	err = check_probe(probe, id, &request, cb->extack);
	if (err) {
		spek_probe_put(probe);
		return err;
	}
	position->object = probe;

	/* The head of the row is counted twice, in sizeof(*dump) and in row_words. */
	dump = kvzalloc(sizeof(*dump) + probe->row_words * sizeof(u64), GFP_KERNEL);
	if (!dump)
		return spek_genl_refuse(cb->extack, NULL, -ENOMEM,
					"There is not enough memory for the answer.");
	position->memory = dump;
	dump->probe = probe;
	dump->end = spek_ring_made(&probe->ring);
	dump->next = request.since;
	dump->hold = request.hold;
	position->started = true;
	return 0;
}

int spek_prober_nl_sample_done(struct netlink_callback *cb)
{
	return spek_genl_dump_done(&spek_prober_genl, cb);
}

/* Fill in the cells of the copied row. Return: false if it is better to wait for samples */
static bool complete_row(struct sample_dump *dump)
{
	u64 at_ns = dump->row.start_ns;
	bool waits = dump->hold && ktime_get_ns() < at_ns + SPEK_PROBER_MAX_LAG_NS;
	unsigned int i;

	for (i = 0; i < SPEK_NR_SOURCES; i++) {
		const struct spek_probe_source *source = &dump->probe->sources[i];

		if (!source->ops->fill || source->left_out)
			continue;
		if (dump->hold && source->ops->ready_ns(source) < at_ns) {
			if (waits)
				return false;
			source->ops->left_behind(source, at_ns);
		}
		source->ops->fill(source, dump->next, at_ns,
				  dump->row.cells + source->first_cell);
	}
	return true;
}

/* Copy the next row that was not overwritten. Return: false if there is none before the end */
static bool next_row(struct sample_dump *dump)
{
	const struct spek_ring *ring = &dump->probe->ring;
	u64 oldest;

	while (dump->next < dump->end) {
		if (!spek_ring_read(ring, dump->next, (u64 *)&dump->row)) {
			if (!complete_row(dump)) {
				dump->end = dump->next;
				return false;
			}
			dump->has_row = true;
			dump->source = 0;
			dump->entity = 0;
			return true;
		}
		/* Overwritten, as all rows before the oldest; the oldest may be the next. */
		oldest = clamp(spek_ring_oldest(ring), dump->next + 1, dump->end);
		dump->dropped += oldest - dump->next;
		dump->next = oldest;
	}
	return false;
}

static bool is_absent(const u64 *cells, u32 nr_columns)
{
	u32 i;

	for (i = 0; i < nr_columns; i++)
		if (cells[i] != SPEK_ABSENT)
			return false;
	return true;
}

/* Number of entities with @nr_columns cells that fit into the tailroom of @skb */
static u32 room_for(const struct sk_buff *skb, u32 nr_columns)
{
	size_t frame = nla_total_size(0) + nla_total_size(sizeof(u32)) + 2 * nla_total_size(0);
	size_t entity = sizeof(u32) + nr_columns * sizeof(u64);
	size_t room = min_t(size_t, skb_tailroom(skb), MAX_CELLS_BYTES);

	return room > frame ? (room - frame) / entity : 0;
}

/* Put as much of the current source as fits. Return: true if nothing of it remains */
static bool put_block(struct sk_buff *skb, struct sample_dump *dump)
{
	const struct spek_probe_source *source = &dump->probe->sources[dump->source];
	u32 nr_columns = source->ops->nr_columns;
	const u64 *cells = dump->row.cells + source->first_cell;
	u32 room = room_for(skb, nr_columns);
	u32 first = dump->entity, count = 0, i;
	struct nlattr *nest, *entities, *values;
	u32 *number;
	u64 *value;

	for (i = first; i < source->nr_entities && count < room; i++)
		count += !is_absent(cells + i * nr_columns, nr_columns);
	dump->entity = i;
	if (!count)
		return i == source->nr_entities;

	/* room_for() has reserved the room. */
	nest = nla_nest_start(skb, SPEK_PROBER_A_SAMPLE_BLOCK);
	nla_put_u32(skb, SPEK_PROBER_A_BLOCK_TABLE, source->ops->table);
	entities = nla_reserve(skb, SPEK_PROBER_A_BLOCK_ENTITIES, count * sizeof(u32));
	values = nla_reserve(skb, SPEK_PROBER_A_BLOCK_CELLS, count * nr_columns * sizeof(u64));
	if (WARN_ON_ONCE(!nest || !entities || !values))
		return false;

	number = nla_data(entities);
	value = nla_data(values);
	for (i = first; i < dump->entity; i++) {
		if (is_absent(cells + i * nr_columns, nr_columns))
			continue;
		*number++ = source->entities[i];
		memcpy(value, cells + i * nr_columns, nr_columns * sizeof(u64));
		value += nr_columns;
	}
	nla_nest_end(skb, nest);
	return dump->entity == source->nr_entities;
}

static int put_head(struct sk_buff *skb, const struct sample_dump *dump)
{
	if (nla_put_u32(skb, SPEK_PROBER_A_SAMPLE_PROBE, dump->probe->id) ||
	    PUT_SAMPLE(skb, SEQ, dump->next) ||
	    PUT_SAMPLE(skb, DROPPED, dump->dropped) ||
	    PUT_SAMPLE(skb, TICK, dump->row.tick) ||
	    PUT_SAMPLE(skb, DUE_NS, dump->row.due_ns) ||
	    PUT_SAMPLE(skb, START_NS, dump->row.start_ns) ||
	    PUT_SAMPLE(skb, END_NS, dump->row.end_ns) ||
	    nla_put_u32(skb, SPEK_PROBER_A_SAMPLE_FINAL, dump->row.final))
		return -EMSGSIZE;
	return 0;
}

/* Put the row or the part of it that fits. Return: 0, or -EMSGSIZE if nothing fits */
static int put_message(struct sk_buff *skb, struct netlink_callback *cb, struct sample_dump *dump)
{
	u32 source = dump->source, entity = dump->entity;
	struct nlattr *more;
	void *header;

	header = spek_genl_dump_head(&spek_prober_genl, skb, cb, SPEK_PROBER_CMD_SAMPLE_GET);
	if (!header)
		return -EMSGSIZE;
	if (put_head(skb, dump))
		goto err_cancel;
	more = nla_reserve(skb, SPEK_PROBER_A_SAMPLE_MORE, sizeof(u32));
	if (!more)
		goto err_cancel;

	while (dump->source < SPEK_NR_SOURCES && put_block(skb, dump)) {
		dump->source++;
		dump->entity = 0;
	}
	if (dump->source == source && dump->entity == entity)
		goto err_cancel;

	dump->has_row = dump->source < SPEK_NR_SOURCES;
	*(u32 *)nla_data(more) = dump->has_row;
	genlmsg_end(skb, header);
	return 0;

err_cancel:
	genlmsg_cancel(skb, header);
	return -EMSGSIZE;
}

int spek_prober_nl_sample_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct spek_genl_dump *position = spek_genl_dump_of(cb);
	struct sample_dump *dump;
	int err = 0;

	if (!position->started) {
		err = begin_dump(cb, position);
		if (err)
			return err;
	}
	dump = position->memory;

	cb->seq = dump->probe->id;
	while (dump->has_row || next_row(dump)) {
		err = put_message(skb, cb, dump);
		if (err)
			break;
		if (!dump->has_row)
			dump->next++;
	}
	return spek_genl_dump_end(skb, cb, err);
}
