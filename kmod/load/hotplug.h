/* SPDX-License-Identifier: GPL-2.0 */
/* Ending runs when the CPU of a worker goes offline. See hotplug.c. */
#ifndef SPEK_HOTPLUG_H
#define SPEK_HOTPLUG_H

int spek_hotplug_init(void);
void spek_hotplug_deinit(void);

#endif
