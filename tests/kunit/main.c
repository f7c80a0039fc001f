// SPDX-License-Identifier: GPL-2.0
/*
 * spek_kunit: tests of spek's own objects inside the kernel.
 *
 * Results are in /sys/kernel/debug/kunit/<suite>/results while the module is loaded. The suites are
 * started here and not by kunit_test_suites(), which would start them before the module has its
 * parameters.
 */
#include <linux/blkdev.h>
#include <linux/module.h>
#include "iolog.h"
#include "run.h"
#include "suites.h"

static char *device = "";
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "path of a block device that runs may read and write");

static struct kunit_suite *suites[] = {
	&spek_core_suite,
	&spek_fifo_suite,
	&spek_gen_suite,
	&spek_log_suite,
	&spek_run_suite,
};

dev_t spek_kunit_device(void)
{
	dev_t dev;

	if (!*device || lookup_bdev(device, &dev))
		return 0;
	return dev;
}

static void ignore(struct spek_run *run)
{
}

static const struct spek_run_listener listener = {
	.state_changed = ignore,
	.removed = ignore,
};

static int __init spek_kunit_init(void)
{
	int err;

	err = spek_iolog_init();
	if (err)
		return err;
	err = spek_run_init(&listener);
	if (err) {
		spek_iolog_deinit();
		return err;
	}
	__kunit_test_suites_init(suites, ARRAY_SIZE(suites));
	return 0;
}

static void __exit spek_kunit_exit(void)
{
	__kunit_test_suites_exit(suites, ARRAY_SIZE(suites));
	spek_run_deinit();
	spek_iolog_deinit();
}

module_init(spek_kunit_init);
module_exit(spek_kunit_exit);

MODULE_DESCRIPTION("Tests of spek inside the kernel");
MODULE_LICENSE("GPL");
