// SPDX-License-Identifier: GPL-2.0
/* See plausible.h. */
#include "u6/plausible.h"

#include <errno.h>

/* How much faster than the host's the device's clock may run; crystals are far better. */
#define MAX_FAST_PPM		1000
#define EARLY_SLACK_NS		1000000
#define WINDOW_NS		2000000000ull
/* Less than the 256 packets of a full turn of the counter, to allow for drift. */
#define LIMIT_PACKETS		200
#define MIN_LIMIT_NS		100000000

void u6_plausible_start(struct u6_plausible *plausible, uint64_t now_ns, uint64_t packet_ns)
{
	plausible->started_ns = now_ns;
	plausible->limit_ns = (int64_t)(LIMIT_PACKETS * packet_ns);
	if (plausible->limit_ns < MIN_LIMIT_NS)
		plausible->limit_ns = MIN_LIMIT_NS;
	plausible->window_start_ns = now_ns;
	plausible->window_late_ns = INT64_MAX;
	plausible->before_late_ns = INT64_MAX;
}

static int end_window(struct u6_plausible *plausible, uint64_t now_ns)
{
	if (plausible->before_late_ns != INT64_MAX &&
	    plausible->window_late_ns - plausible->before_late_ns > plausible->limit_ns)
		return -ESTALE;
	plausible->before_late_ns = plausible->window_late_ns;
	plausible->window_late_ns = INT64_MAX;
	plausible->window_start_ns = now_ns;
	return 0;
}

int u6_plausible_check(struct u6_plausible *plausible, uint64_t scan_ns, uint64_t arrival_ns)
{
	uint64_t passed = arrival_ns - plausible->started_ns;
	int64_t late = (int64_t)(passed - scan_ns);

	if (scan_ns > passed + passed / 1000000 * MAX_FAST_PPM + EARLY_SLACK_NS)
		return -ESTALE;
	if (plausible->before_late_ns != INT64_MAX &&
	    plausible->before_late_ns - late > plausible->limit_ns)
		return -ESTALE;
	if (late < plausible->window_late_ns)
		plausible->window_late_ns = late;
	if (arrival_ns - plausible->window_start_ns < WINDOW_NS)
		return 0;
	return end_window(plausible, arrival_ns);
}
