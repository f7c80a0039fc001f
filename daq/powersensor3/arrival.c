// SPDX-License-Identifier: GPL-2.0
/* See arrival.h. */
#include "powersensor3/arrival.h"

#include <errno.h>

#define WINDOW_NS	1000000000ull
/*
 * Below a wrap of the time stamp, less what crystals drift by until the last late window; above
 * what they drift by alone.
 */
#define LIMIT_NS	700000
#define LATE_WINDOWS	5

void ps3_arrival_start(struct ps3_arrival *arrival, uint64_t now_ns)
{
	arrival->window_start_ns = now_ns;
	arrival->window_late_ns = INT64_MAX;
	arrival->usual_late_ns = INT64_MAX;
	arrival->late_windows = 0;
	arrival->best_late_ns = INT64_MAX;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int end_window(struct ps3_arrival *arrival, uint64_t now_ns)
{
	bool is_late = arrival->usual_late_ns != INT64_MAX &&
		       arrival->window_late_ns - arrival->usual_late_ns > LIMIT_NS;

	if (!is_late)
		arrival->usual_late_ns = arrival->window_late_ns;
	arrival->late_windows = is_late ? arrival->late_windows + 1 : 0;
	arrival->window_late_ns = INT64_MAX;
	arrival->window_start_ns = now_ns;
	return arrival->late_windows == LATE_WINDOWS ? -ESTALE : 0;
}

static bool is_uncertain(const struct ps3_arrival *arrival, int64_t late_ns)
{
	int64_t usual_ns = least(arrival->window_late_ns, arrival->usual_late_ns);

	return usual_ns != INT64_MAX &&
	       (late_ns - usual_ns > LIMIT_NS || usual_ns - late_ns > LIMIT_NS);
}

int ps3_arrival_add(struct ps3_arrival *arrival, uint64_t at_us, uint64_t now_ns, bool after_loss)
{
	int64_t late_ns = (int64_t)(now_ns - at_us * 1000);

	if (after_loss && is_uncertain(arrival, late_ns))
		return -ESTALE;
	arrival->window_late_ns = least(arrival->window_late_ns, late_ns);
	arrival->best_late_ns = least(arrival->best_late_ns, late_ns);
	if (now_ns - arrival->window_start_ns < WINDOW_NS)
		return 0;
	return end_window(arrival, now_ns);
}

int64_t ps3_arrival_take(struct ps3_arrival *arrival)
{
	int64_t late_ns = arrival->best_late_ns;

	arrival->best_late_ns = INT64_MAX;
	return late_ns;
}
