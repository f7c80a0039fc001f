// SPDX-License-Identifier: GPL-2.0
/* spek: a load generator for block devices. Loading and unloading. */
#include <linux/module.h>
#include "../version.h"
#include "claim.h"
#include "hotplug.h"
#include "iolog.h"
#include "netlink.h"
#include "run.h"
#include "suspend.h"

static int __init spek_init(void)
{
	int err;

	err = spek_iolog_init();
	if (err)
		return err;
	err = spek_claim_init(&spek_nl_claim_listener);
	if (err)
		goto err_iolog_deinit;
	err = spek_run_init(&spek_nl_run_listener);
	if (err)
		goto err_claim_deinit;
	err = spek_suspend_init();
	if (err)
		goto err_run_deinit;
	err = spek_hotplug_init();
	if (err)
		goto err_suspend_deinit;
	/* Last: no request may meet a half-built module. */
	err = spek_genl_register(&spek_netlink);
	if (err)
		goto err_hotplug_deinit;
	return 0;

err_hotplug_deinit:
	spek_hotplug_deinit();
err_suspend_deinit:
	spek_suspend_deinit();
err_run_deinit:
	spek_run_deinit();
err_claim_deinit:
	spek_claim_deinit();
err_iolog_deinit:
	spek_iolog_deinit();
	return err;
}

static void __exit spek_exit(void)
{
	spek_genl_unregister(&spek_netlink);
	spek_hotplug_deinit();
	spek_suspend_deinit();
	spek_run_deinit();
	spek_claim_deinit();
	spek_iolog_deinit();
	/* A completion may have been preempted in its last instructions in this module. */
	synchronize_rcu_tasks();
}

module_init(spek_init);
module_exit(spek_exit);

MODULE_DESCRIPTION("Block device load generator: SPC-1-like and conventional workloads");
MODULE_AUTHOR("spek maintainers");
MODULE_LICENSE("GPL");
MODULE_VERSION(SPEK_VERSION);
