// SPDX-License-Identifier: GPL-2.0
/* drive-stats: times, energies and counters of a drive over netlink. */
#include <linux/mm.h>
#include "../genl/put.h"
#include "events.h"
#include "netlink.h"

/* What drive-stats says, all of one moment. */
struct snapshot {
	struct spek_drive_account account;
	u64 power_uw[SPEK_DRIVE_RAIL_NR];
	u64 now_ns;
	struct spek_unit_count count;
	u64 pages_programmed;
	u64 pages_moved;
	u64 blocks_erased;
};

static void take_snapshot(struct spek_unit *unit, struct snapshot *snapshot)
{
	const struct spek_drive_flash *flash = unit->drive.flash;
	unsigned long flags;
	LIST_HEAD(done);
	u32 i;

	snapshot->now_ns = spek_unit_lock_accounted(unit, &done, &flags);
	snapshot->account = unit->drive.account;
	snapshot->count = unit->count;
	if (flash) {
		snapshot->pages_programmed = flash->programmed;
		snapshot->pages_moved = flash->moved;
		snapshot->blocks_erased = flash->erased;
	}
	for (i = 0; i < SPEK_DRIVE_RAIL_NR; i++)
		snapshot->power_uw[i] = spek_drive_power_uw(&unit->drive, i, snapshot->now_ns);
	spek_unit_unlock(unit, &done, flags);
}

static int put_energies(struct sk_buff *skb, const struct snapshot *snapshot)
{
	u32 i;

	for (i = 0; i < SPEK_DRIVE_RAIL_NR; i++) {
		struct nlattr *nest = nla_nest_start(skb, SPEK_DRIVE_A_STATS_ENERGY);

		if (!nest || nla_put_u32(skb, SPEK_DRIVE_A_ENERGY_RAIL, i) ||
		    SPEK_PUT_U64(skb, SPEK_DRIVE_A_ENERGY, NJ, snapshot->account.energy[i].nj) ||
		    nla_put_u32(skb, SPEK_DRIVE_A_ENERGY_REMAINDER_FJ,
				snapshot->account.energy[i].rest) ||
		    SPEK_PUT_U64(skb, SPEK_DRIVE_A_ENERGY, POWER_UW, snapshot->power_uw[i]))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

static int put_times(struct sk_buff *skb, const struct snapshot *snapshot,
		     const struct spek_drive_watts *watts)
{
	const struct spek_drive_account *account = &snapshot->account;
	struct nlattr *nest;
	u32 i;

	for (i = 0; i < SPEK_DRIVE_CONDITION_NR; i++) {
		nest = nla_nest_start(skb, SPEK_DRIVE_A_STATS_CONDITION);
		if (!nest || nla_put_u32(skb, SPEK_DRIVE_A_CONDITION_STATS_CONDITION, i) ||
		    SPEK_PUT_U64(skb, SPEK_DRIVE_A_CONDITION_STATS, NS, account->condition_ns[i]))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	for (i = 0; i < SPEK_DRIVE_PHASE_NR; i++) {
		struct spek_drive_energy energy = {};

		spek_drive_energy_add(&energy, watts->phase[i], account->phase_ns[i]);
		nest = nla_nest_start(skb, SPEK_DRIVE_A_STATS_PHASE);
		if (!nest || nla_put_u32(skb, SPEK_DRIVE_A_PHASE_STATS_PHASE, i) ||
		    SPEK_PUT_U64(skb, SPEK_DRIVE_A_PHASE_STATS, NS, account->phase_ns[i]) ||
		    SPEK_PUT_U64(skb, SPEK_DRIVE_A_PHASE_STATS, NJ, energy.nj))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

static int put_late(struct sk_buff *skb, const struct spek_unit_count *count)
{
	u32 first = 0, last = SPEK_HIST_BUCKETS;

	while (first < last && !count->late[first])
		first++;
	while (last > first && !count->late[last - 1])
		last--;
	if (nla_put_u32(skb, SPEK_DRIVE_A_STATS_HIST_BITS, SPEK_HIST_BITS) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_STATS_HIST_FIRST, first) ||
	    nla_put(skb, SPEK_DRIVE_A_STATS_HIST, (last - first) * sizeof(u64),
		    &count->late[first]))
		return -EMSGSIZE;
	return 0;
}

static int put_snapshot(struct sk_buff *skb, const struct spek_unit *unit,
			const struct snapshot *snapshot)
{
	const struct spek_unit_count *count = &snapshot->count;
	const struct spek_genl_u64 values[] = {
		{ SPEK_DRIVE_A_STATS_CREATED_NS, unit->created_ns },
		{ SPEK_DRIVE_A_STATS_NOW_NS, snapshot->now_ns },
		{ SPEK_DRIVE_A_STATS_STARTS, snapshot->account.starts },
		{ SPEK_DRIVE_A_STATS_SERVED, snapshot->account.served },
		{ SPEK_DRIVE_A_STATS_MOVED, snapshot->account.moved },
		{ SPEK_DRIVE_A_STATS_HITS, snapshot->account.hits },
		{ SPEK_DRIVE_A_STATS_ACCEPTED, snapshot->account.accepted },
		{ SPEK_DRIVE_A_STATS_DESTAGES, snapshot->account.destages },
		{ SPEK_DRIVE_A_STATS_LOST, snapshot->account.lost },
		{ SPEK_DRIVE_A_STATS_AHEAD_SECTORS, snapshot->account.ahead_sectors },
		{ SPEK_DRIVE_A_STATS_READS, count->reads },
		{ SPEK_DRIVE_A_STATS_READ_SECTORS, count->read_sectors },
		{ SPEK_DRIVE_A_STATS_WRITES, count->writes },
		{ SPEK_DRIVE_A_STATS_WRITTEN_SECTORS, count->written_sectors },
		{ SPEK_DRIVE_A_STATS_ERRORS, count->errors },
		{ SPEK_DRIVE_A_STATS_ABORTED, count->aborted },
		{ SPEK_DRIVE_A_STATS_LATE_COUNT, count->late_count },
		{ SPEK_DRIVE_A_STATS_LATE_SUM_NS, count->late_sum_ns },
		{ SPEK_DRIVE_A_STATS_LATE_MAX_NS, count->late_max_ns },
		{ SPEK_DRIVE_A_STATS_UNMAPS, count->unmaps },
		{ SPEK_DRIVE_A_STATS_UNMAPPED_SECTORS, count->unmapped_sectors },
		{ SPEK_DRIVE_A_STATS_PAGES_PROGRAMMED, snapshot->pages_programmed },
		{ SPEK_DRIVE_A_STATS_PAGES_MOVED, snapshot->pages_moved },
		{ SPEK_DRIVE_A_STATS_BLOCKS_ERASED, snapshot->blocks_erased },
	};

	if (nla_put_u32(skb, SPEK_DRIVE_A_STATS_ID, unit->id) || put_energies(skb, snapshot) ||
	    put_times(skb, snapshot, &unit->config->model.watts) || put_late(skb, count))
		return -EMSGSIZE;
	return spek_genl_put_u64s(skb, SPEK_DRIVE_A_STATS_PAD, values, ARRAY_SIZE(values));
}

#define STATS_BYTES ( \
	SPEK_DRIVE_A_STATS_MAX * nla_total_size_64bit(8) + \
	nla_total_size(SPEK_HIST_BUCKETS * sizeof(u64)) + \
	SPEK_DRIVE_RAIL_NR * nla_total_size(SPEK_DRIVE_NL_ENERGY_BYTES) + \
	SPEK_DRIVE_CONDITION_NR * nla_total_size(SPEK_DRIVE_NL_CONDITION_STATS_BYTES) + \
	SPEK_DRIVE_PHASE_NR * nla_total_size(SPEK_DRIVE_NL_PHASE_STATS_BYTES))

/* Return: the answer, or NULL without memory. */
static struct sk_buff *stats_message(struct spek_unit *unit, struct genl_info *info)
{
	struct snapshot *snapshot = kvzalloc(sizeof(*snapshot), GFP_KERNEL);
	struct sk_buff *msg = genlmsg_new(STATS_BYTES, GFP_KERNEL);
	void *head;

	if (!snapshot || !msg)
		goto err_free;
	take_snapshot(unit, snapshot);
	head = genlmsg_put_reply(msg, info, &spek_drive_nl_family, 0, SPEK_DRIVE_CMD_DRIVE_STATS);
	if (WARN_ON_ONCE(!head || put_snapshot(msg, unit, snapshot)))
		goto err_free;
	genlmsg_end(msg, head);
	kvfree(snapshot);
	return msg;

err_free:
	nlmsg_free(msg);
	kvfree(snapshot);
	return NULL;
}

static int reply_stats(struct spek_unit *unit, struct genl_info *info)
{
	return spek_drive_nl_reply(stats_message(unit, info), info);
}

int spek_drive_nl_drive_stats_doit(struct sk_buff *skb, struct genl_info *info)
{
	return spek_drive_nl_act(skb, info, SPEK_DRIVE_A_STATS_ID, reply_stats);
}
