/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hot band: a range whose low addresses are hit more often than its high ones, like the
 * pages of a database index.
 *
 * The law gives the distance of an I/O from the start of the band, for bands of any size: within
 * 16 kB (of 1000 bytes) in 8.7 % of all cases, 1 MB in 33 %, 8 MB in 44 %, 1 GB in 82 %. Its
 * distribution function is linear between the powers of two from 16 kB to 2^30 kB and from there
 * to 10737418240 kB, where it ends. From 8192 kB on each doubling adds 0.9 of the previous
 * step. Distances beyond the end of a smaller band wrap around, which spreads them almost evenly.
 *
 * Writes are shifted up by 1 % of the band, away from the most frequently read part.
 *
 * No state, no memory; error of each probability below 2^-32.
 */
#ifndef SPEK_CORE_HOTBAND_H
#define SPEK_CORE_HOTBAND_H

#include "pattern.h"
#include "../../core/rng.h"
#include "../../core/spek_host.h"

#define SPEK_HOTBAND_SEGMENTS	28
#define SPEK_HOTBAND_UNIT	1000ull		/* unit of the law, bytes */
#define SPEK_HOTBAND_MIN_BYTES	1000000u	/* smallest band; the law is undefined below */

/* 2^32 times the probability that an I/O lies before the end of segment i; the last is 1. */
extern const u32 spek_hotband_limit[SPEK_HOTBAND_SEGMENTS - 1];

u64 spek_hotband_distance(struct spek_rng *rng);

#endif
