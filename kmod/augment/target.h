/* SPDX-License-Identifier: GPL-2.0 */
/* The target type. */
#ifndef SPEK_AUGMENT_TARGET_H
#define SPEK_AUGMENT_TARGET_H

#include <linux/device-mapper.h>

extern struct target_type spek_augment_target;

#endif
