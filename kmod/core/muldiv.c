// SPDX-License-Identifier: GPL-2.0
/*
 * Long division: the kernel has no division of 128 bits. In one instruction where the processor
 * has it, else in base 2^32.
 */
#include "muldiv.h"

#if defined(__x86_64__)
static u64 divide(u64 high, u64 low, u64 divisor, u64 *remainder)
{
	u64 quotient;

	__asm__("divq %4" : "=a" (quotient), "=d" (*remainder)
			  : "0" (low), "1" (high), "rm" (divisor) : "cc");
	return quotient;
}
#else
/*
 * One digit of 32 bits: @high and the next digit @next, divided by @divisor, whose top bit is
 * set. @high is below @divisor and becomes the remainder.
 */
static u64 divide_digit(u64 *high, u32 next, u64 divisor)
{
	u64 top = divisor >> 32, bottom = (u32)divisor;
	u64 digit = spek_div64(*high, top);
	u64 remainder = *high - digit * top;

	/* The guess from the top half is at most 2 too large. */
	while (digit >> 32 || digit * bottom > (remainder << 32 | next)) {
		digit--;
		remainder += top;
		if (remainder >> 32)
			break;
	}
	/* What overflows here cancels out: the remainder is below the divisor. */
	*high = (*high << 32 | next) - digit * divisor;
	return digit;
}

static u64 divide(u64 high, u64 low, u64 divisor, u64 *remainder)
{
	int shift = __builtin_clzll(divisor);
	u64 quotient;

	if (shift) {
		high = high << shift | low >> (64 - shift);
		low <<= shift;
		divisor <<= shift;
	}
	quotient = divide_digit(&high, (u32)(low >> 32), divisor) << 32;
	quotient |= divide_digit(&high, (u32)low, divisor);
	*remainder = high >> shift;
	return quotient;
}
#endif

/**
 * spek_div128() - divide 128 bits
 * @high: upper half of the dividend, below @divisor, so that the quotient fits in 64 bits
 * @low: lower half of the dividend
 * @divisor: not 0
 * @remainder: set to the remainder, below @divisor; may be NULL
 *
 * Return: quotient, rounded down.
 */
u64 spek_div128(u64 high, u64 low, u64 divisor, u64 *remainder)
{
	u64 quotient, unused;

	if (!remainder)
		remainder = &unused;
	if (high)
		return divide(high, low, divisor, remainder);
	quotient = spek_div64(low, divisor);
	*remainder = low - quotient * divisor;
	return quotient;
}

/**
 * spek_muldiv64() - multiply and divide with a product of 128 bits
 * @a: factor
 * @b: factor
 * @divisor: not 0, and large enough for the quotient to fit in 64 bits
 * @remainder: set to the remainder, below @divisor; may be NULL
 *
 * Return: @a * @b / @divisor, rounded down.
 */
u64 spek_muldiv64(u64 a, u64 b, u64 divisor, u64 *remainder)
{
	u64 low, high = spek_mul128(a, b, &low);

	return spek_div128(high, low, divisor, remainder);
}
