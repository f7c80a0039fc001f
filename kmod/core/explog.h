/* SPDX-License-Identifier: GPL-2.0 */
/* The natural logarithm without floating point. */
#ifndef SPEK_CORE_EXPLOG_H
#define SPEK_CORE_EXPLOG_H

#include "spek_host.h"

u64 spek_neg_log_q32(u64 u);

#endif
