// SPDX-License-Identifier: GPL-2.0
/*
 * Ending runs when the CPU of a worker goes offline.
 *
 * The scheduler moves the thread to any CPU, where it stays even after its own is back: the run no
 * longer measures what it was asked to. It ends with a reason of its own; the moved thread
 * drains it.
 *
 * Lock order: the CPU hotplug lock, which the callback holds, is outside of spek_table_lock.
 */
#include <linux/cpuhotplug.h>
#include "hotplug.h"
#include "run.h"

static int state;	/* of the callback; const after init */

static int cpu_goes_offline(unsigned int cpu)
{
	spek_run_cpu_offline(cpu);
	return 0;
}

/**
 * spek_hotplug_init() - watch for CPUs that go offline
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int spek_hotplug_init(void)
{
	state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "spek:online", NULL,
					  cpu_goes_offline);
	return min(state, 0);
}

/**
 * spek_hotplug_deinit() - stop watching
 *
 * Context: process.
 */
void spek_hotplug_deinit(void)
{
	cpuhp_remove_state_nocalls(state);
}
