// SPDX-License-Identifier: GPL-2.0
/* A device's clock laid under arrivals, whatever these are. */
#include <stdlib.h>

#include "clock.h"
#include "target.h"

#define MAX_SCAN (1ull << 47)
#define MAX_NS (1ull << 61)

void fuzz_daq_clock(const uint8_t *data, size_t size)
{
	static struct daq_clock clock;
	struct fuzz_input in = { data, size };
	struct daq_clock_config config = {
		.period_num = fuzz_any64(&in),
		.period_den = fuzz_any64(&in),
		.window_ns = fuzz_any64(&in),
		.settle_ns = fuzz_any64(&in),
		.max_ppm = (uint32_t)fuzz_upto(&in, 100000),
	};
	uint64_t scan = 0, at_ns = 1 + fuzz_bytes(&in, 6);
	struct daq_error err;

	if (daq_clock_init(&clock, &config, &err))
		return;
	while (in.size) {
		scan += fuzz_bytes(&in, 2);
		at_ns += fuzz_bytes(&in, 5);
		/* as far as the head of clock.h promises: the period times the scan, too */
		if (scan >= MAX_SCAN || at_ns >= MAX_NS ||
		    (unsigned __int128)scan * config.period_num / config.period_den >= MAX_NS)
			return;
		if (daq_clock_arrival(&clock, scan, at_ns) || !daq_clock_is_settled(&clock))
			continue;
		daq_clock_at(&clock, scan, 1000);
		daq_clock_drift_ppb(&clock);
		daq_clock_residual_ns(&clock);
	}
}
