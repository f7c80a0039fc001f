/* SPDX-License-Identifier: GPL-2.0 */
/* What tests of the prober's core call. */
#include "counter.h"
#include "idle.h"
#include "rail.h"
#include "state.h"
#include "tally.h"
