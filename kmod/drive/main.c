// SPDX-License-Identifier: GPL-2.0
/* spek_drive: modelled disk drives as SCSI disks. Loading and unloading. */
#include <linux/module.h>
#include "../version.h"
#include "netlink.h"
#include "unit.h"

static int __init spek_drive_module_init(void)
{
	int err;

	err = spek_unit_init(spek_drive_nl_notify);
	if (err)
		return err;
	/* Last: no request may meet a half-built module. */
	err = spek_genl_register(&spek_drive_netlink);
	if (err)
		goto err_unit_deinit;
	return 0;

err_unit_deinit:
	spek_unit_deinit();
	return err;
}

static void __exit spek_drive_module_exit(void)
{
	spek_genl_unregister(&spek_drive_netlink);
	spek_unit_deinit();
}

module_init(spek_drive_module_init);
module_exit(spek_drive_module_exit);

MODULE_DESCRIPTION("Modelled disk drives with mechanics and power, as SCSI disks");
MODULE_AUTHOR("spek maintainers");
MODULE_LICENSE("GPL");
MODULE_VERSION(SPEK_VERSION);
