// SPDX-License-Identifier: GPL-2.0
/* spek_augment: the SSD before a RAID whose disks may sleep. Loading and unloading. */
#include <linux/module.h>
#include "../version.h"
#include "target.h"

static int __init spek_augment_module_init(void)
{
	return dm_register_target(&spek_augment_target);
}

static void __exit spek_augment_module_exit(void)
{
	dm_unregister_target(&spek_augment_target);
}

module_init(spek_augment_module_init);
module_exit(spek_augment_module_exit);

MODULE_DESCRIPTION("Device-mapper target: a cache on an SSD that lets the disks of a RAID sleep");
MODULE_AUTHOR("spek maintainers");
MODULE_LICENSE("GPL");
MODULE_VERSION(SPEK_VERSION);
