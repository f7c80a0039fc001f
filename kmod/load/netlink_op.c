// SPDX-License-Identifier: GPL-2.0
/* op-get: preview the operations that a worker of a run would issue, without a device. */
#include <linux/mm.h>
#include "../genl/put.h"
#include "core/gen.h"
#include "core/share.h"
#include "netlink.h"

#define OPS_PER_MESSAGE		64
#define MAX_OPS			1000000
/* Alignment that generators need, see core/gen.h. */
#define GEN_ALIGN		64
/* Generators can be large: better to refuse than to have a process killed. */
#define GEN_GFP			(GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/**
 * struct preview - a generator that drives no device
 * @gen: generator, in aligned memory behind this structure
 * @nr: operations in @op, not put yet
 * @op: operations of the next message
 */
struct preview {
	struct spek_gen *gen;
	u32 nr;
	struct spek_op op[OPS_PER_MESSAGE];
};

/* A ramp-up may have any number of operations before those of the counts. */
static void limit_preview(struct spek_gen *gen, const struct spek_run_config *config, u32 worker)
{
	const struct spek_workload *wl = &config->workload;
	u32 i;

	if (config->ramp_ns || config->ramp_count)
		return;
	for (i = 0; i < wl->nr_arrivals; i++)
		if (wl->arrival[i].count)
			spek_gen_set_count(gen, i,
					   spek_share_count(wl, i, worker, config->nr_workers));
	spek_gen_begin_counts(gen, 0);
}

static int start_preview(struct netlink_callback *cb, struct spek_genl_dump *dump)
{
	struct nlattr **attrs = spek_compat_dump_attrs(cb);
	const struct nlattr *worker = attrs[SPEK_A_OP_WORKER];
	const struct nlattr *count = attrs[SPEK_A_OP_COUNT];
	const struct spek_run_config *config;
	const struct spek_run *run;
	struct preview *preview;
	size_t gen_bytes;
	int err;

	err = spek_nl_dump_start(cb, dump, SPEK_A_OP_RUN);
	if (err)
		return err;
	if (!worker)
		return spek_genl_refuse(cb->extack, NULL, -EINVAL,
					"The request needs the number of a worker.");
	if (!count)
		return spek_genl_refuse(cb->extack, NULL, -EINVAL,
					"The request needs the number of operations.");
	run = dump->object;
	config = run->config;
	if (nla_get_u32(worker) >= config->nr_workers)
		return spek_genl_refuse(cb->extack, worker, -ERANGE,
					"The run has no worker with this number.");
	if (nla_get_u64(count) > MAX_OPS)
		return spek_genl_refuse(cb->extack, count, -ERANGE,
					"At most 1000000 operations can be previewed.");
	gen_bytes = spek_gen_size(&config->workload, nla_get_u32(worker), config->nr_workers);
	preview = kvzalloc(size_add(sizeof(*preview) + GEN_ALIGN, gen_bytes), GEN_GFP);
	if (!preview)
		return spek_genl_refuse(cb->extack, NULL, -ENOMEM,
					"There is not enough memory for a generator.");
	preview->gen = (struct spek_gen *)PTR_ALIGN((char *)(preview + 1), GEN_ALIGN);
	spek_gen_init(preview->gen, &config->workload, config->seed, nla_get_u32(worker),
		      config->nr_workers);
	spek_gen_start(preview->gen, 0);
	limit_preview(preview->gen, config, nla_get_u32(worker));
	dump->memory = preview;
	dump->end = nla_get_u64(count);
	dump->worker = nla_get_u32(worker);
	dump->started = true;
	return 0;
}

static struct spek_op_record record_of(const struct spek_op *op)
{
	return (struct spek_op_record){
		.at_ns = op->at_ns,
		.addr = op->addr,
		.bytes = op->bytes,
		.replica = op->replica,
		.stream = op->stream,
		.asu = op->asu,
		.arrival = op->arrival,
		.write = op->write,
	};
}

static int put_ops(struct sk_buff *skb, struct netlink_callback *cb,
		   const struct spek_genl_dump *dump)
{
	const struct preview *preview = dump->memory;
	const struct spek_run *run = dump->object;
	void *head = spek_genl_dump_head(&spek_netlink, skb, cb, SPEK_CMD_OP_GET);
	struct spek_op_record record;
	struct nlattr *ops;
	u32 i;

	if (!head)
		return -EMSGSIZE;
	if (nla_put_u32(skb, SPEK_A_OP_RUN, run->id) ||
	    nla_put_u32(skb, SPEK_A_OP_WORKER, dump->worker) ||
	    SPEK_PUT_U64(skb, SPEK_A_OP, FIRST, dump->next))
		goto err_cancel;
	ops = nla_reserve(skb, SPEK_A_OP_OPS, preview->nr * sizeof(record));
	if (!ops)
		goto err_cancel;
	for (i = 0; i < preview->nr; i++) {
		record = record_of(&preview->op[i]);
		/* The data of an attribute are only 4-byte aligned. */
		memcpy(nla_data(ops) + i * sizeof(record), &record, sizeof(record));
	}
	genlmsg_end(skb, head);
	return 0;

err_cancel:
	genlmsg_cancel(skb, head);
	return -EMSGSIZE;
}

int spek_nl_op_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct spek_genl_dump *dump = spek_genl_dump_of(cb);
	struct preview *preview;
	int err = 0;

	if (!dump->started) {
		err = start_preview(cb, dump);
		if (err)
			return err;
	}
	preview = dump->memory;
	while (dump->next < dump->end) {
		/* Operations that did not fit into the previous buffer come first. */
		if (!preview->nr)
			preview->nr = spek_gen_preview(preview->gen, preview->op,
						       min_t(u64, OPS_PER_MESSAGE,
							     dump->end - dump->next));
		if (!preview->nr)
			break;		/* this worker has no work */
		err = put_ops(skb, cb, dump);
		if (err)
			break;
		dump->next += preview->nr;
		preview->nr = 0;
	}
	return spek_genl_dump_end(skb, cb, err);
}
