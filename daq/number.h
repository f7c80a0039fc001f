/* SPDX-License-Identifier: GPL-2.0 */
/* number.h - parse decimal numbers and durations into integers. Pure. */
#ifndef SPEK_DAQ_NUMBER_H
#define SPEK_DAQ_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/**
 * daq_parse_fixed() - parse a decimal number, multiplied by 10^@decimals
 * @text: for example "-12.5", without spaces or exponent; need not be terminated
 * @length: bytes of @text
 * @decimals: 0 to 18; further digits are rounded, halves away from zero
 * Return: 0; -EINVAL: not a number; -ERANGE: beyond 64 bits.
 */
int daq_parse_fixed(const char *text, size_t length, unsigned int decimals, int64_t *value);

/**
 * daq_parse_duration_ns() - parse "10ms", "1.5s", "2h"; units ns, us, ms, s, m, h; 0 needs no unit
 * Return: 0; -EINVAL: not a duration; -ERANGE: negative, or beyond 2^63 ns.
 */
int daq_parse_duration_ns(const char *text, uint64_t *value);

#endif
