/* SPDX-License-Identifier: GPL-2.0 */
/* The worker of a unit. */
#ifndef SPEK_AUGMENT_SERVE_H
#define SPEK_AUGMENT_SERVE_H

#include "unit.h"

int spek_augment_serve_init(struct spek_augment_unit *unit);
void spek_augment_serve_deinit(struct spek_augment_unit *unit);
void spek_augment_serve_bio(struct spek_augment_unit *unit, struct bio *bio);
void spek_augment_serve_kick(struct spek_augment_unit *unit);
void spek_augment_serve_stop(struct spek_augment_unit *unit);
void spek_augment_serve_resume(struct spek_augment_unit *unit);
const char *spek_augment_mode_name(const struct spek_augment_unit *unit);

#endif
