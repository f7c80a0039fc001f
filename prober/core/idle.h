/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Idle time and iowait, which the kernel may swap, as counters that only grow.
 *
 * The kernel gives a whole idle period to one of the two, by whether a task waits for I/O now.
 * When that changes, the period moves: one reading rises by it and the other one falls. Their
 * sum is not affected, so the sum decides how much time is reported, and the readings only how
 * it is split.
 *
 * Pure C, as all of core/.
 */
#ifndef SPEK_PROBER_CORE_IDLE_H
#define SPEK_PROBER_CORE_IDLE_H

#include "../../kmod/core/spek_host.h"

/**
 * spek_idle_read() - process a reading
 * @idle_ns: reported idle time; initially 0, advanced here
 * @iowait_ns: reported time of iowait; initially 0, advanced here
 * @raw_idle_ns: the kernel's idle time
 * @raw_iowait_ns: the kernel's time of iowait
 *
 * Neither counter falls, and both together advance to the sum of the readings, never beyond it.
 * Time that moved between the readings is reported once the counter that lags has caught up.
 */
void spek_idle_read(u64 *idle_ns, u64 *iowait_ns, u64 raw_idle_ns, u64 raw_iowait_ns);

#endif
