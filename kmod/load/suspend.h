/* SPDX-License-Identifier: GPL-2.0 */
/* Ending runs before the system suspends, hibernates or goes down. */
#ifndef SPEK_SUSPEND_H
#define SPEK_SUSPEND_H

int spek_suspend_init(void);
void spek_suspend_deinit(void);

#endif
