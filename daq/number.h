/* SPDX-License-Identifier: GPL-2.0 */
/* number.h - numbers as people write them, as integers. Pure. */
#ifndef SPEK_DAQ_NUMBER_H
#define SPEK_DAQ_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/**
 * daq_parse_fixed() - a decimal number times 10^@decimals
 * @text: "-12.5"; @length bytes, need not end with 0; no spaces, no exponent
 * @decimals: 0 to 18; digits beyond are rounded, halves away from zero
 * Return: 0, -EINVAL: no number; -ERANGE: beyond 64 bits.
 */
int daq_parse_fixed(const char *text, size_t length, unsigned int decimals, int64_t *value);

/**
 * daq_parse_duration_ns() - "10ms", "1.5s", "2h"; units ns, us, ms, s, m, h; 0 needs none
 * Return: 0, -EINVAL, -ERANGE: negative, or beyond 2^63 ns.
 */
int daq_parse_duration_ns(const char *text, uint64_t *value);

#endif
