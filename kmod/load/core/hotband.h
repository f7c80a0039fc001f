/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hot band: a range whose low addresses are hit more often than its high ones, as the
 * pages of a database index are.
 *
 * The law says how far from the start of the band an I/O lies, whatever the band's size:
 * within 16 kB (of 1000 bytes) in 8.7 % of all cases, 1 MB in 33 %, 8 MB in 44 %, 1 GB in
 * 82 %. Its distribution function is linear between the powers of two from 16 kB to 2^30 kB
 * and from there to 10737418240 kB, where it ends. From 8192 kB on each doubling adds 0.9 of
 * what the one before added. A band that is smaller is gone through as often as it takes, so
 * what lies beyond its end falls evenly on all of it, or nearly.
 *
 * Writes are moved up by 1 % of the band, away from what is read most.
 *
 * No state, no memory; error of each probability below 2^-32.
 */
#ifndef SPEK_CORE_HOTBAND_H
#define SPEK_CORE_HOTBAND_H

#include "pattern.h"
#include "../../core/rng.h"
#include "../../core/spek_host.h"

#define SPEK_HOTBAND_SEGMENTS	28
#define SPEK_HOTBAND_UNIT	1000ull		/* bytes; what the law counts in */
#define SPEK_HOTBAND_MIN_BYTES	1000000u	/* of a band: the law says nothing about less */

/* 2^32 times the probability that an I/O lies before the end of segment i; the last is 1. */
extern const u32 spek_hotband_limit[SPEK_HOTBAND_SEGMENTS - 1];

/**
 * spek_hotband_distance() - draw from the law
 * @rng: operations sequence of the arrival process
 *
 * Return: bytes from the start of a band that never ends.
 */
u64 spek_hotband_distance(struct spek_rng *rng);

#endif
