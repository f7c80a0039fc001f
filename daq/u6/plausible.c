// SPDX-License-Identifier: GPL-2.0
/* See plausible.h. */
#include "u6/plausible.h"

#include <errno.h>

/* How much faster than ours the device's clock may run; its crystal stays far below. */
#define MAX_FAST_PPM		1000
#define EARLY_SLACK_NS		1000000
#define WINDOW_NS		2000000000ull
/* Of the 256 packets that make a whole turn of the counter; drift moves the rest. */
#define LIMIT_PACKETS		200
#define MIN_LIMIT_NS		100000000

void u6_pace_start(struct u6_pace *pace, uint64_t now_ns, uint64_t packet_ns)
{
	pace->started_ns = now_ns;
	pace->limit_ns = (int64_t)(LIMIT_PACKETS * packet_ns);
	if (pace->limit_ns < MIN_LIMIT_NS)
		pace->limit_ns = MIN_LIMIT_NS;
	pace->window_start_ns = now_ns;
	pace->window_late_ns = INT64_MAX;
	pace->before_late_ns = INT64_MAX;
}

static int end_window(struct u6_pace *pace, uint64_t now_ns)
{
	if (pace->before_late_ns != INT64_MAX &&
	    pace->window_late_ns - pace->before_late_ns > pace->limit_ns)
		return -ESTALE;
	pace->before_late_ns = pace->window_late_ns;
	pace->window_late_ns = INT64_MAX;
	pace->window_start_ns = now_ns;
	return 0;
}

int u6_pace_check(struct u6_pace *pace, uint64_t scan_ns, uint64_t arrival_ns)
{
	uint64_t passed = arrival_ns - pace->started_ns;
	int64_t late = (int64_t)(passed - scan_ns);

	if (scan_ns > passed + passed / 1000000 * MAX_FAST_PPM + EARLY_SLACK_NS)
		return -ESTALE;
	if (pace->before_late_ns != INT64_MAX && pace->before_late_ns - late > pace->limit_ns)
		return -ESTALE;
	if (late < pace->window_late_ns)
		pace->window_late_ns = late;
	if (arrival_ns - pace->window_start_ns < WINDOW_NS)
		return 0;
	return end_window(pace, arrival_ns);
}
