// SPDX-License-Identifier: GPL-2.0
/*
 * The spek_prober family.
 *
 * A handler checks rights and attributes, makes one call down and answers. Handlers are
 * in netlink_probe.c, netlink_sample.c, netlink_feed.c and netlink_energy.c. The family is
 * parallel_ops: genetlink serializes nothing, probe.c and feed.c have locks of their own.
 */
#include "feed.h"
#include "gen/netlink_gen.h"
#include "netlink.h"
#include "probe.h"

static void owner_gone(u32 portid)
{
	spek_probe_owner_gone(portid);
	spek_feed_owner_gone(portid);
}

static void put_probe(void *probe)
{
	spek_probe_put(probe);
}

/* The family with its callbacks; main.c registers it. */
struct spek_genl spek_prober_genl = SPEK_GENL_INIT(spek_prober_genl, &spek_prober_nl_family,
						   owner_gone, put_probe);
