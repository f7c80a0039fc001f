/* SPDX-License-Identifier: GPL-2.0 */
/* A device that returns wrong data when a record is read for its copy, and does not say so. */
#ifndef GARBLE_H
#define GARBLE_H

#include "rig.h"

void garble(const struct spek_augment_io *io, u8 (*stage)[BYTES]);
bool garble_is_intact(const struct spek_augment_io *io, u8 (*stage)[BYTES]);

#endif
