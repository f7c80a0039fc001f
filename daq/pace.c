// SPDX-License-Identifier: GPL-2.0
/* CLOCK_MONOTONIC: reading it, and waiting for it. */
#include <time.h>

#include "pace.h"

uint64_t daq_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void daq_pace_begin(struct daq_pace *pace, uint64_t interval_ns)
{
	pace->interval_ns = interval_ns;
	pace->next_ns = daq_now_ns();
}

bool daq_sleep_until(uint64_t at_ns, int timeout_ms)
{
	uint64_t end_ns = daq_now_ns() + (uint64_t)timeout_ms * 1000000;
	uint64_t until_ns = at_ns < end_ns ? at_ns : end_ns;
	struct timespec until = {
		.tv_sec = (time_t)(until_ns / 1000000000),
		.tv_nsec = (long)(until_ns % 1000000000),
	};

	/* A signal may end this early; the caller then tries again. */
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	return daq_now_ns() >= at_ns;
}

bool daq_pace_wait(struct daq_pace *pace, int timeout_ms)
{
	uint64_t now_ns;

	if (!daq_sleep_until(pace->next_ns, timeout_ms))
		return false;
	now_ns = daq_now_ns();
	pace->next_ns += ((now_ns - pace->next_ns) / pace->interval_ns + 1) * pace->interval_ns;
	return true;
}
