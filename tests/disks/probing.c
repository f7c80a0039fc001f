// SPDX-License-Identifier: GPL-2.0
/*
 * A probe that does not end: asynchronous work that stands still, as the driver of a device does that
 * hangs. It ends when the module is unloaded.
 */
#include <linux/async.h>
#include <linux/completion.h>
#include <linux/module.h>

static DECLARE_COMPLETION(unloaded);

static void stand_still(void *data, async_cookie_t cookie)
{
	wait_for_completion(&unloaded);
}

static int __init probing_init(void)
{
	async_schedule(stand_still, NULL);
	return 0;
}

static void __exit probing_exit(void)
{
	complete(&unloaded);
	async_synchronize_full();
}

module_init(probing_init);
module_exit(probing_exit);
MODULE_DESCRIPTION("A probe that does not end, for tests");
MODULE_LICENSE("GPL");
