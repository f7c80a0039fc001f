// SPDX-License-Identifier: GPL-2.0
/* Verification over netlink: counters, wrong blocks, and the map of what was written. */
#include <linux/slab.h>
#include "core/grain.h"
#include "netlink.h"
#include "verify.h"

/* What a message of map-get has beside its states, generously. */
#define MAP_HEAD_BYTES	128
/* Less is not worth a message: wait for the next buffer. */
#define MAP_LEAST	64

static int put_u64s(struct sk_buff *skb, const int *type, const u64 *value, size_t nr, int pad)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (nla_put_u64_64bit(skb, type[i], value[i], pad))
			return -EMSGSIZE;
	return 0;
}

int spek_nl_put_verify(struct sk_buff *skb, struct spek_run *run)
{
	static const int kinds[] = {
		SPEK_A_VERIFY_CORRUPT, SPEK_A_VERIFY_MISDIRECTED, SPEK_A_VERIFY_STALE,
		SPEK_A_VERIFY_TORN, SPEK_A_VERIFY_UNWRITTEN, SPEK_A_VERIFY_UNSTAMPED,
		SPEK_A_VERIFY_FOREIGN,
	};
	static const int others[] = {
		SPEK_A_VERIFY_CHECKED, SPEK_A_VERIFY_NEVER_WRITTEN, SPEK_A_VERIFY_UNCERTAIN,
		SPEK_A_VERIFY_WAITS, SPEK_A_VERIFY_MISMATCHES,
	};
	const struct spek_map *map = run->verify->map;
	struct spek_verify_counts counts;
	u64 values[ARRAY_SIZE(others)];
	struct nlattr *nest;
	u64 mismatches = 0;
	size_t i;

	static_assert(ARRAY_SIZE(kinds) == SPEK_NR_VERDICTS);
	spek_verify_counts(run->verify, &counts);
	for (i = 0; i < SPEK_NR_VERDICTS; i++)
		mismatches += counts.kind[i];
	if (nla_put_u64_64bit(skb, SPEK_A_RUN_STAMP_ID, map->id, SPEK_A_RUN_PAD) ||
	    nla_put_u32(skb, SPEK_A_RUN_GRAIN_BYTES, 1u << map->shift) ||
	    (run->config->verify_from &&
	     nla_put_u32(skb, SPEK_A_RUN_VERIFY_FROM, run->config->verify_from)))
		return -EMSGSIZE;
	values[0] = counts.checked;
	values[1] = counts.never_written;
	values[2] = counts.uncertain;
	values[3] = counts.waits;
	values[4] = mismatches;
	nest = nla_nest_start(skb, SPEK_A_RUN_VERIFY);
	if (!nest || put_u64s(skb, others, values, ARRAY_SIZE(others), SPEK_A_VERIFY_PAD) ||
	    put_u64s(skb, kinds, counts.kind, ARRAY_SIZE(kinds), SPEK_A_VERIFY_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

int spek_nl_put_map_target(struct sk_buff *skb, const struct spek_verify *verify, u32 index)
{
	const struct spek_map_target *target = &verify->map->target[index];

	if (!target->nr)
		return 0;
	if (nla_put_u64_64bit(skb, SPEK_A_TARGET_MAP_START, target->start, SPEK_A_TARGET_PAD) ||
	    nla_put_u64_64bit(skb, SPEK_A_TARGET_MAP_BYTES, target->nr << verify->map->shift,
			      SPEK_A_TARGET_PAD))
		return -EMSGSIZE;
	return 0;
}

static int refuse_unstamped(struct netlink_ext_ack *extack, const struct nlattr *run)
{
	return spek_nl_refuse(extack, run, -EINVAL, "The run has no stamped data.");
}

/* mismatch-get */

static int put_found(struct sk_buff *skb, const struct spek_stamp *found)
{
	static const int types[] = {
		SPEK_A_MISMATCH_FOUND_SEED, SPEK_A_MISMATCH_FOUND_ID,
		SPEK_A_MISMATCH_FOUND_GENERATION, SPEK_A_MISMATCH_FOUND_OFFSET,
	};
	const u64 values[] = {
		found->seed, found->id, found->generation, found->sector << SECTOR_SHIFT,
	};

	if (put_u64s(skb, types, values, ARRAY_SIZE(types), SPEK_A_MISMATCH_PAD) ||
	    nla_put_u32(skb, SPEK_A_MISMATCH_FOUND_TARGET, found->target) ||
	    nla_put_u32(skb, SPEK_A_MISMATCH_FOUND_WORKER, found->worker) ||
	    nla_put_u32(skb, SPEK_A_MISMATCH_FOUND_STREAM, found->stream))
		return -EMSGSIZE;
	return 0;
}

static int put_mismatch(struct sk_buff *skb, u32 run, const struct spek_mismatch_record *record)
{
	static const int types[] = {
		SPEK_A_MISMATCH_OFFSET, SPEK_A_MISMATCH_AT_NS,
		SPEK_A_MISMATCH_EXPECTED_GENERATION,
	};
	const struct spek_finding *finding = &record->finding;

	if (nla_put_u32(skb, SPEK_A_MISMATCH_RUN, run) ||
	    nla_put_u32(skb, SPEK_A_MISMATCH_KIND, finding->verdict) ||
	    nla_put_u32(skb, SPEK_A_MISMATCH_TARGET, record->target) ||
	    nla_put_u32(skb, SPEK_A_MISMATCH_BYTES, record->bytes) ||
	    nla_put_u32(skb, SPEK_A_MISMATCH_STAMPED, finding->stamped) ||
	    nla_put_u32(skb, SPEK_A_MISMATCH_INTACT, finding->intact) ||
	    nla_put_u32(skb, SPEK_A_MISMATCH_ZEROES, finding->zeroes) ||
	    nla_put_u32(skb, SPEK_A_MISMATCH_FIRST, finding->first) ||
	    nla_put_u32(skb, SPEK_A_MISMATCH_BITS, finding->bits) ||
	    put_u64s(skb, types, (const u64 []){ record->offset, record->at_ns, record->expected },
		     ARRAY_SIZE(types), SPEK_A_MISMATCH_PAD))
		return -EMSGSIZE;
	return finding->stamped ? put_found(skb, &finding->found) : 0;
}

int spek_nl_mismatch_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct spek_nl_dump *dump = spek_nl_dump_of(cb);
	struct spek_mismatch_record record;
	int err = 0;

	if (!dump->started) {
		err = spek_nl_dump_start(cb, dump, SPEK_A_MISMATCH_RUN);
		if (err)
			return err;
		if (!dump->run->verify)
			return refuse_unstamped(cb->extack,
						spek_compat_dump_attrs(cb)[SPEK_A_MISMATCH_RUN]);
		dump->started = true;
	}
	while (spek_verify_kept(dump->run->verify, dump->next, &record)) {
		void *head = spek_nl_dump_head(skb, cb, SPEK_CMD_MISMATCH_GET);

		err = head ? put_mismatch(skb, dump->run->id, &record) : -EMSGSIZE;
		if (err) {
			genlmsg_cancel(skb, head);
			break;
		}
		genlmsg_end(skb, head);
		dump->next++;
	}
	return spek_nl_dump_end(skb, cb, err);
}

/* map-get: dump->worker is the target, dump->next its grain, dump->end the starts so far */

static int refuse_changing(struct netlink_callback *cb)
{
	return spek_nl_refuse(cb->extack, NULL, -EBUSY,
			      "A run still writes: what was written can be had when it is DONE.");
}

static int start_map(struct netlink_callback *cb, struct spek_nl_dump *dump)
{
	int err;

	err = spek_nl_dump_start(cb, dump, SPEK_A_MAP_RUN);
	if (err)
		return err;
	if (!dump->run->verify)
		return refuse_unstamped(cb->extack, spek_compat_dump_attrs(cb)[SPEK_A_MAP_RUN]);
	dump->memory = kvmalloc_array(SPEK_MAP_STATES, sizeof(u64), GFP_KERNEL);
	if (!dump->memory)
		return spek_nl_refuse(cb->extack, NULL, -ENOMEM,
				      "The kernel has not enough memory for the answer.");
	if (!spek_map_is_idle(dump->run->verify->map, &dump->end))
		return refuse_changing(cb);
	dump->started = true;
	return 0;
}

/* A run may start between two parts of the answer, or while one is made, also one that goes on. */
static bool map_has_changed(const struct spek_nl_dump *dump)
{
	u64 starts;

	return !spek_map_is_idle(dump->run->verify->map, &starts) || starts != dump->end;
}

static int put_states(struct sk_buff *skb, const struct spek_nl_dump *dump, u64 first, u32 nr)
{
	if (nla_put_u32(skb, SPEK_A_MAP_RUN, dump->run->id) ||
	    nla_put_u32(skb, SPEK_A_MAP_TARGET, dump->worker) ||
	    nla_put_u64_64bit(skb, SPEK_A_MAP_FIRST, first, SPEK_A_MAP_PAD) ||
	    nla_put(skb, SPEK_A_MAP_STATES, nr * sizeof(u64), dump->memory))
		return -EMSGSIZE;
	return 0;
}

/* The next message of a target. Return: states in it, 0 if there are no more, or -EMSGSIZE. */
static int put_some(struct sk_buff *skb, struct netlink_callback *cb, struct spek_nl_dump *dump)
{
	u32 room = max(skb_tailroom(skb) - MAP_HEAD_BYTES, 0) / sizeof(u64), nr;
	u64 first = dump->next;
	void *head;
	int err;

	if (room < MAP_LEAST)
		return -EMSGSIZE;
	nr = spek_map_save(dump->run->verify->map, dump->worker, &first, dump->memory,
			   min_t(u32, room, SPEK_MAP_STATES));
	if (!nr)
		return 0;
	head = spek_nl_dump_head(skb, cb, SPEK_CMD_MAP_GET);
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
	struct spek_nl_dump *dump = spek_nl_dump_of(cb);
	const struct spek_map *map;
	int err = 0;

	if (!dump->started) {
		err = start_map(cb, dump);
		if (err)
			return err;
	}
	map = dump->run->verify->map;
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
	return spek_nl_dump_end(skb, cb, err);
}

/* map-set */

static int set_states(struct genl_info *info, struct spek_run *run)
{
	struct nlattr **attrs = info->attrs;
	const struct nlattr *states = attrs[SPEK_A_MAP_STATES];
	u64 *copy;
	int err;

	if (nla_len(states) % sizeof(u64))
		return spek_nl_refuse(info->extack, states, -EINVAL, "States have 8 bytes each.");
	if (!spek_states[run->state].accepts_start)
		return spek_nl_refuse(info->extack, attrs[SPEK_A_MAP_RUN], -EBUSY,
				      "Only a run that is READY can be told what was written.");
	/* An attribute is aligned to 4 bytes only. */
	copy = kvmalloc(nla_len(states), GFP_KERNEL);
	if (!copy)
		return spek_nl_refuse(info->extack, NULL, -ENOMEM,
				      "The kernel has not enough memory for the states.");
	nla_memcpy(copy, states, nla_len(states));
	err = spek_map_restore(run->verify->map, nla_get_u32(attrs[SPEK_A_MAP_TARGET]),
			       nla_get_u64(attrs[SPEK_A_MAP_FIRST]), copy,
			       nla_len(states) / sizeof(u64));
	kvfree(copy);
	if (err == -ERANGE)
		return spek_nl_refuse(info->extack, attrs[SPEK_A_MAP_FIRST], err,
				      "The states are of blocks that the run does not address.");
	if (err)
		return spek_nl_refuse(info->extack, states, err, "A state is none.");
	return 0;
}

int spek_nl_map_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	static const int needed[] = { SPEK_A_MAP_TARGET, SPEK_A_MAP_FIRST, SPEK_A_MAP_STATES };
	struct spek_run *run;
	size_t i;
	int err;

	err = spek_nl_check_rights(skb, info->extack);
	if (err)
		return err;
	for (i = 0; i < ARRAY_SIZE(needed); i++)
		if (!info->attrs[needed[i]])
			return spek_nl_refuse(info->extack, NULL, -EINVAL,
					      "The request needs target, first and states.");
	run = spek_nl_get_run(info->attrs[SPEK_A_MAP_RUN], info->extack);
	if (IS_ERR(run))
		return PTR_ERR(run);
	mutex_lock(&run->lock);
	if (!run->verify)
		err = refuse_unstamped(info->extack, info->attrs[SPEK_A_MAP_RUN]);
	else if (run->config->verify_from)
		err = spek_nl_refuse(info->extack, info->attrs[SPEK_A_MAP_RUN], -EBUSY,
				     "The run goes on from another one, which knows what was written.");
	else
		err = set_states(info, run);
	mutex_unlock(&run->lock);
	spek_run_put(run);
	return err;
}
