// SPDX-License-Identifier: GPL-2.0
/* The one copy of the tracepoint of trace.h. */
#define CREATE_TRACE_POINTS
#include "trace.h"
