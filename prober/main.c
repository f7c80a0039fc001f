// SPDX-License-Identifier: GPL-2.0
/*
 * spek_prober.ko: sample the machine while it is under load.
 *
 * Needs no other module. While it is not sampling it is only a netlink family, without
 * threads, timers or enabled events.
 */
#include <linux/init.h>
#include <linux/module.h>

#include "../kmod/version.h"
#include "feed.h"
#include "netlink.h"
#include "probe.h"

static int __init spek_prober_init(void)
{
	int err;

	spek_feed_init(spek_prober_netlink_feed_ended);
	err = spek_probe_init(&spek_prober_netlink_listener);
	if (err)
		return err;

	/* Last, so that no request meets a half-built module. */
	err = spek_genl_register(&spek_prober_genl);
	if (err)
		goto err_exit_probe;
	return 0;

err_exit_probe:
	spek_probe_exit();
	return err;
}

static void __exit spek_prober_exit(void)
{
	spek_genl_unregister(&spek_prober_genl);
	spek_probe_exit();
	spek_feed_exit();
}

module_init(spek_prober_init);
module_exit(spek_prober_exit);

MODULE_DESCRIPTION("Sampler of CPUs, memory, network, disks and power, companion of spek");
MODULE_AUTHOR("spek maintainers");
MODULE_LICENSE("GPL");
MODULE_VERSION(SPEK_VERSION);
