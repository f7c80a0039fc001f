/* SPDX-License-Identifier: GPL-2.0 */
/* Random numbers: the same ones for the same seed on every machine. */
#ifndef DRAWS_H
#define DRAWS_H

#include "spek_host.h"

void draws_seed(u64 seed);
u64 draw(void);
u32 below(u32 n);

#endif
