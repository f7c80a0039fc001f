/* SPDX-License-Identifier: GPL-2.0 */
/* A number of 128 bits, or a product, divided by 64 bits. */
#ifndef SPEK_CORE_MULDIV_H
#define SPEK_CORE_MULDIV_H

#include "spek_host.h"

u64 spek_div128(u64 high, u64 low, u64 divisor, u64 *remainder);
u64 spek_muldiv64(u64 a, u64 b, u64 divisor, u64 *remainder);

#endif
