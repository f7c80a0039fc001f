// SPDX-License-Identifier: GPL-2.0
/*
 * Ending runs before the system suspends, hibernates or goes down.
 *
 * A worker that continued would write into the hibernation image, and a measurement across a
 * suspend is worthless. So runs are ended, with a reason of their own, before the first task is
 * frozen. If a device does not complete its I/O in time, the suspend is refused.
 *
 * When the system goes down, disks flush their caches and stop in device_shutdown(); writes after
 * that would be lost with the power. Reboot notifiers are called before. A detached run has no
 * process whose end would stop it.
 */
#include <linux/notifier.h>
#include <linux/reboot.h>
#include <linux/suspend.h>
#include "run.h"
#include "suspend.h"

static int pm_event(struct notifier_block *block, unsigned long event, void *unused)
{
	switch (event) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
	case PM_RESTORE_PREPARE:
		return notifier_from_errno(spek_run_suspend_all());
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
	case PM_POST_RESTORE:
		spek_run_resume_all();
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block pm_notifier = {
	.notifier_call = pm_event,
};

static int reboot_event(struct notifier_block *block, unsigned long event, void *unused)
{
	spek_run_shutdown_all();
	return NOTIFY_DONE;
}

static struct notifier_block reboot_notifier = {
	.notifier_call = reboot_event,
};

/**
 * spek_suspend_init() - watch for suspend, hibernation and shutdown
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int spek_suspend_init(void)
{
	int err = register_pm_notifier(&pm_notifier);

	if (err)
		return err;
	err = register_reboot_notifier(&reboot_notifier);
	if (err)
		unregister_pm_notifier(&pm_notifier);
	return err;
}

/**
 * spek_suspend_deinit() - stop watching for suspend, hibernation and shutdown
 *
 * Context: process.
 */
void spek_suspend_deinit(void)
{
	unregister_reboot_notifier(&reboot_notifier);
	unregister_pm_notifier(&pm_notifier);
}
