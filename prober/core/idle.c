// SPDX-License-Identifier: GPL-2.0
/* Idle time and iowait that only grow. */
#include "idle.h"

/* How far @raw is ahead of @value; signed, because a reading may have fallen, even below zero. */
static u64 lead(u64 raw, u64 value)
{
	s64 ahead = (s64)(raw - value);

	return ahead > 0 ? (u64)ahead : 0;
}

void spek_idle_read(u64 *idle_ns, u64 *iowait_ns, u64 raw_idle_ns, u64 raw_iowait_ns)
{
	u64 passed_ns = lead(raw_idle_ns + raw_iowait_ns, *idle_ns + *iowait_ns);
	u64 waited_ns = lead(raw_iowait_ns, *iowait_ns);

	if (waited_ns > passed_ns)
		waited_ns = passed_ns;
	*iowait_ns += waited_ns;
	*idle_ns += passed_ns - waited_ns;
}
