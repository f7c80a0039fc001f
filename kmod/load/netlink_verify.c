// SPDX-License-Identifier: GPL-2.0
/* Verification over netlink: counters, wrong blocks, and the map of what was written. */
#include <linux/slab.h>
#include "../genl/put.h"
#include "core/grain.h"
#include "netlink.h"
#include "verify.h"
#include "verify_map.h"

/* Upper bound of a map-get message without its states. */
#define MAP_HEAD_BYTES	128
/* States worth a message of their own; with less room, wait for the next buffer. */
#define MAP_LEAST	64

int spek_nl_put_verify(struct sk_buff *skb, struct spek_run *run)
{
	static const int kinds[] = {
		SPEK_A_VERIFY_CORRUPT, SPEK_A_VERIFY_MISDIRECTED, SPEK_A_VERIFY_STALE,
		SPEK_A_VERIFY_TORN, SPEK_A_VERIFY_UNWRITTEN, SPEK_A_VERIFY_UNSTAMPED,
		SPEK_A_VERIFY_FOREIGN,
	};
	const struct spek_map *map = run->verify->map;
	struct spek_verify_counts counts;
	struct nlattr *nest;
	u64 mismatches = 0;
	size_t i;

	static_assert(ARRAY_SIZE(kinds) == SPEK_NR_MISMATCHES);
	spek_verify_counts(run->verify, &counts);
	for (i = 0; i < SPEK_NR_MISMATCHES; i++)
		mismatches += counts.kind[i];
	if (SPEK_PUT_U64(skb, SPEK_A_RUN, STAMP_ID, map->id) ||
	    nla_put_u32(skb, SPEK_A_RUN_GRAIN_BYTES, 1u << map->shift) ||
	    (run->config->verify_from &&
	     nla_put_u32(skb, SPEK_A_RUN_VERIFY_FROM, run->config->verify_from)))
		return -EMSGSIZE;
	nest = nla_nest_start(skb, SPEK_A_RUN_VERIFY);
	if (!nest || SPEK_PUT_U64(skb, SPEK_A_VERIFY, CHECKED, counts.checked) ||
	    SPEK_PUT_U64(skb, SPEK_A_VERIFY, NEVER_WRITTEN, counts.never_written) ||
	    SPEK_PUT_U64(skb, SPEK_A_VERIFY, UNCERTAIN, counts.uncertain) ||
	    SPEK_PUT_U64(skb, SPEK_A_VERIFY, DISCARDED, counts.discarded) ||
	    SPEK_PUT_U64(skb, SPEK_A_VERIFY, WAITS, counts.waits) ||
	    SPEK_PUT_U64(skb, SPEK_A_VERIFY, MISMATCHES, mismatches))
		return -EMSGSIZE;
	for (i = 0; i < SPEK_NR_MISMATCHES; i++)
		if (nla_put_u64_64bit(skb, kinds[i], counts.kind[i], SPEK_A_VERIFY_PAD))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

int spek_nl_put_map_target(struct sk_buff *skb, const struct spek_verify *verify, u32 index)
{
	const struct spek_map_target *target = &verify->map->target[index];

	if (!target->nr)
		return 0;
	if (SPEK_PUT_U64(skb, SPEK_A_TARGET, MAP_START, target->start) ||
	    SPEK_PUT_U64(skb, SPEK_A_TARGET, MAP_BYTES, target->nr << verify->map->shift))
		return -EMSGSIZE;
	return 0;
}

static int refuse_unstamped(struct netlink_ext_ack *extack, const struct nlattr *run)
{
	return spek_genl_refuse(extack, run, -EINVAL, "The run has no stamped data.");
}

static u32 run_id(const struct spek_genl_dump *dump)
{
	const struct spek_run *run = dump->object;

	return run->id;
}

/* ---- mismatch-get ---- */

static int put_found(struct sk_buff *skb, const struct spek_stamp *found)
{
	const struct spek_genl_u64 values[] = {
		{ SPEK_A_MISMATCH_FOUND_SEED, found->seed },
		{ SPEK_A_MISMATCH_FOUND_ID, found->id },
		{ SPEK_A_MISMATCH_FOUND_GENERATION, found->generation },
		{ SPEK_A_MISMATCH_FOUND_OFFSET, found->sector << SECTOR_SHIFT },
	};

	if (spek_genl_put_u64s(skb, SPEK_A_MISMATCH_PAD, values, ARRAY_SIZE(values)) ||
	    nla_put_u32(skb, SPEK_A_MISMATCH_FOUND_TARGET, found->target) ||
	    nla_put_u32(skb, SPEK_A_MISMATCH_FOUND_WORKER, found->worker) ||
	    nla_put_u32(skb, SPEK_A_MISMATCH_FOUND_STREAM, found->stream))
		return -EMSGSIZE;
	return 0;
}

static int put_mismatch(struct sk_buff *skb, u32 run, const struct spek_mismatch_record *record)
{
	const struct spek_genl_u64 values[] = {
		{ SPEK_A_MISMATCH_OFFSET, record->offset },
		{ SPEK_A_MISMATCH_AT_NS, record->at_ns },
		{ SPEK_A_MISMATCH_EXPECTED_GENERATION, record->expected },
	};
	const struct spek_finding *finding = &record->finding;

	if (nla_put_u32(skb, SPEK_A_MISMATCH_RUN, run) ||
	    nla_put_u32(skb, SPEK_A_MISMATCH_KIND, finding->verdict) ||
	    nla_put_u32(skb, SPEK_A_MISMATCH_TARGET, record->target) ||
	    nla_put_u32(skb, SPEK_A_MISMATCH_BYTES, record->bytes) ||
	    nla_put_u32(skb, SPEK_A_MISMATCH_EXPECTED_ZEROES, record->zeroed) ||
	    nla_put_u32(skb, SPEK_A_MISMATCH_STAMPED, finding->stamped) ||
	    nla_put_u32(skb, SPEK_A_MISMATCH_INTACT, finding->intact) ||
	    nla_put_u32(skb, SPEK_A_MISMATCH_ZEROES, finding->zeroes) ||
	    nla_put_u32(skb, SPEK_A_MISMATCH_FIRST, finding->first) ||
	    nla_put_u32(skb, SPEK_A_MISMATCH_BITS, finding->bits) ||
	    spek_genl_put_u64s(skb, SPEK_A_MISMATCH_PAD, values, ARRAY_SIZE(values)))
		return -EMSGSIZE;
	return finding->stamped ? put_found(skb, &finding->found) : 0;
}

int spek_nl_mismatch_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct spek_genl_dump *dump = spek_genl_dump_of(cb);
	struct spek_mismatch_record record;
	int err = 0;

	if (!dump->started) {
		err = spek_nl_dump_start(cb, dump, SPEK_A_MISMATCH_RUN);
		if (err)
			return err;
		if (!spek_run_verify(dump->object))
			return refuse_unstamped(cb->extack,
						spek_compat_dump_attrs(cb)[SPEK_A_MISMATCH_RUN]);
		dump->started = true;
	}
	while (spek_verify_kept(spek_run_verify(dump->object), dump->next, &record)) {
		void *head = spek_genl_dump_head(&spek_netlink, skb, cb, SPEK_CMD_MISMATCH_GET);

		err = head ? put_mismatch(skb, run_id(dump), &record) : -EMSGSIZE;
		if (err) {
			genlmsg_cancel(skb, head);
			break;
		}
		genlmsg_end(skb, head);
		dump->next++;
	}
	return spek_genl_dump_end(skb, cb, err);
}

/* ---- map-get: dump->worker is the target, dump->next its grain, dump->end the starts ---- */

static struct spek_map *map_of(const struct spek_genl_dump *dump)
{
	return spek_run_verify(dump->object)->map;
}

static int refuse_changing(struct netlink_callback *cb)
{
	return spek_genl_refuse(cb->extack, NULL, -EBUSY,
				"A run still writes: what was written can be read once it is DONE.");
}

static int start_map(struct netlink_callback *cb, struct spek_genl_dump *dump)
{
	int err;

	err = spek_nl_dump_start(cb, dump, SPEK_A_MAP_RUN);
	if (err)
		return err;
	if (!spek_run_verify(dump->object))
		return refuse_unstamped(cb->extack, spek_compat_dump_attrs(cb)[SPEK_A_MAP_RUN]);
	dump->memory = kvmalloc_array(SPEK_MAP_STATES, sizeof(u64), GFP_KERNEL);
	if (!dump->memory)
		return spek_genl_refuse(cb->extack, NULL, -ENOMEM,
					"There is not enough memory for the answer.");
	if (!spek_map_is_idle(map_of(dump), &dump->end))
		return refuse_changing(cb);
	dump->started = true;
	return 0;
}

/* A run, also one that continues this one, may start at any time during the dump. */
static bool map_has_changed(const struct spek_genl_dump *dump)
{
	u64 starts;

	return !spek_map_is_idle(map_of(dump), &starts) || starts != dump->end;
}

static int put_states(struct sk_buff *skb, const struct spek_genl_dump *dump, u64 first, u32 nr)
{
	if (nla_put_u32(skb, SPEK_A_MAP_RUN, run_id(dump)) ||
	    nla_put_u32(skb, SPEK_A_MAP_TARGET, dump->worker) ||
	    SPEK_PUT_U64(skb, SPEK_A_MAP, FIRST, first) ||
	    nla_put(skb, SPEK_A_MAP_STATES, nr * sizeof(u64), dump->memory))
		return -EMSGSIZE;
	return 0;
}

/* Put the next message of a target. Return: states in it, 0 at the end, or -EMSGSIZE */
static int put_some(struct sk_buff *skb, struct netlink_callback *cb, struct spek_genl_dump *dump)
{
	u32 room = max(skb_tailroom(skb) - MAP_HEAD_BYTES, 0) / sizeof(u64), nr;
	u64 first = dump->next;
	void *head;
	int err;

	if (room < MAP_LEAST)
		return -EMSGSIZE;
	nr = spek_map_save(map_of(dump), dump->worker, &first, dump->memory,
			   min_t(u32, room, SPEK_MAP_STATES));
	if (!nr)
		return 0;
	head = spek_genl_dump_head(&spek_netlink, skb, cb, SPEK_CMD_MAP_GET);
	err = head ? put_states(skb, dump, first, nr) : -EMSGSIZE;
	if (err) {
		genlmsg_cancel(skb, head);
		return err;
	}
	genlmsg_end(skb, head);
	dump->next = first + nr;
	return nr;
}

int spek_nl_map_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct spek_genl_dump *dump = spek_genl_dump_of(cb);
	const struct spek_map *map;
	int err = 0;

	if (!dump->started) {
		err = start_map(cb, dump);
		if (err)
			return err;
	}
	map = map_of(dump);
	while (dump->worker < map->nr_targets) {
		err = put_some(skb, cb, dump);
		if (err < 0)
			break;
		if (err)
			continue;
		dump->worker++;
		dump->next = 0;
	}
	if (map_has_changed(dump))
		return refuse_changing(cb);
	return spek_genl_dump_end(skb, cb, err);
}

/* ---- map-set ---- */

static int set_states(struct genl_info *info, struct spek_run *run)
{
	struct nlattr **attrs = info->attrs;
	const struct nlattr *states = attrs[SPEK_A_MAP_STATES];
	struct spek_refusal refusal = {};
	u64 *copy;
	int err;

	if (nla_len(states) % sizeof(u64))
		return spek_genl_refuse(info->extack, states, -EINVAL, "States have 8 bytes each.");
	/* The data of an attribute are only 4-byte aligned. */
	copy = kvmalloc(nla_len(states), GFP_KERNEL);
	if (!copy)
		return spek_genl_refuse(info->extack, NULL, -ENOMEM,
					"There is not enough memory for the states.");
	nla_memcpy(copy, states, nla_len(states));
	err = spek_run_restore_map(run, nla_get_u32(attrs[SPEK_A_MAP_TARGET]),
				   nla_get_u64(attrs[SPEK_A_MAP_FIRST]), copy,
				   nla_len(states) / sizeof(u64), &refusal);
	kvfree(copy);
	if (!err)
		return 0;
	if (err == -EBUSY)
		states = attrs[SPEK_A_MAP_RUN];
	else if (refusal.kind == SPEK_REFUSAL_TARGET)
		states = attrs[SPEK_A_MAP_FIRST];
	return spek_genl_refuse(info->extack, states, err, refusal.text);
}

int spek_nl_map_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	static const int needed[] = { SPEK_A_MAP_TARGET, SPEK_A_MAP_FIRST, SPEK_A_MAP_STATES };
	struct spek_run *run;
	size_t i;
	int err;

	err = spek_genl_check_rights(skb, info->extack);
	if (err)
		return err;
	for (i = 0; i < ARRAY_SIZE(needed); i++)
		if (!info->attrs[needed[i]])
			return spek_genl_refuse(info->extack, NULL, -EINVAL,
						"The request needs target, first and states.");
	run = spek_nl_get_run(info->attrs[SPEK_A_MAP_RUN], info->extack);
	if (IS_ERR(run))
		return PTR_ERR(run);
	if (spek_run_verify(run))
		err = set_states(info, run);
	else
		err = refuse_unstamped(info->extack, info->attrs[SPEK_A_MAP_RUN]);
	spek_run_put(run);
	return err;
}
