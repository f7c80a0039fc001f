// SPDX-License-Identifier: GPL-2.0
/* The spek netlink family: its registration, and what its handlers share. */
#include "../genl/dump.h"
#include "../genl/refuse.h"
#include "claim.h"
#include "netlink.h"

/**
 * spek_nl_put_run() - drop the reference to a run that a dump holds
 * @run: run
 */
void spek_nl_put_run(void *run)
{
	spek_run_put(run);
}

static void owner_gone(u32 portid)
{
	/* In this order: a claim goes when the last of its runs has given it back. */
	spek_run_owner_gone(portid);
	spek_claim_owner_gone(portid);
}

struct spek_genl spek_netlink =
	SPEK_GENL_INIT(spek_netlink, &spek_nl_family, owner_gone, spek_nl_put_run);

/**
 * spek_nl_get_run() - find the run that an attribute names
 * @attr: u32 number of a run; NULL is refused
 * @extack: of the request
 *
 * Return: the run with a reference, or an ERR_PTR() with the extack filled in.
 */
struct spek_run *spek_nl_get_run(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	struct spek_run *run;

	if (!attr)
		return ERR_PTR(spek_genl_refuse(extack, NULL, -EINVAL,
						"The request needs the number of a run."));
	run = spek_run_get(nla_get_u32(attr));
	if (!run)
		return ERR_PTR(spek_genl_refuse(extack, attr, -ENOENT,
						"There is no run with this number."));
	return run;
}

/**
 * spek_nl_dump_start() - check the request of a dump of one run
 * @cb: dump
 * @dump: its position; gets a reference to the run
 * @run_attr: attribute that names the run
 *
 * Return: 0, or a negative errno with the extack filled in.
 */
int spek_nl_dump_start(struct netlink_callback *cb, struct spek_genl_dump *dump, u32 run_attr)
{
	struct spek_run *run;
	int err;

	err = spek_genl_check_rights(cb->skb, cb->extack);
	if (err)
		return err;
	run = spek_nl_get_run(spek_compat_dump_attrs(cb)[run_attr], cb->extack);
	if (IS_ERR(run))
		return PTR_ERR(run);
	dump->object = run;
	return 0;
}

/* done() of all dumps. */
int spek_nl_dump_done(struct netlink_callback *cb)
{
	return spek_genl_dump_done(&spek_netlink, cb);
}
