/* SPDX-License-Identifier: GPL-2.0 */
/* Table lines. */
#ifndef SPEK_AUGMENT_TABLE_H
#define SPEK_AUGMENT_TABLE_H

#include "unit.h"

int spek_augment_table_parse(struct spek_augment_unit *unit, unsigned int argc, char **argv);
int spek_augment_table_refuse(struct spek_augment_unit *unit, u32 device, const char *text,
			      int err);
unsigned int spek_augment_table_print(const struct spek_augment_unit *unit, char *result,
				      unsigned int maxlen);

#endif
