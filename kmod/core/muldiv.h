/* SPDX-License-Identifier: GPL-2.0 */
/* A product of 128 bits, divided by 64. For set-up and reports, not for every I/O. */
#ifndef SPEK_CORE_MULDIV_H
#define SPEK_CORE_MULDIV_H

#include "spek_host.h"

u64 spek_muldiv64(u64 a, u64 b, u64 divisor, u64 *remainder);

#endif
