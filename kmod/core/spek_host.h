/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Everything that the core needs from its environment:
 * u8..u64, s8, s32, s64, bool, size_t, NULL, SIZE_MAX, errno values, spek_div64(),
 * spek_is_multiple(), spek_is_power_of_two(), spek_mulhi64(), spek_muladd128(), spek_memset(),
 * spek_memcpy(), spek_likely(), spek_unlikely(), spek_prefetch(), spek_hide(), spek_noinline,
 * spek_cold, spek_yield(), spek_read_once(), spek_write_once().
 *
 * This is the only file of the core that includes headers from outside, so the other files
 * compile unchanged in the kernel and in userspace.
 */
#ifndef SPEK_CORE_HOST_H
#define SPEK_CORE_HOST_H

#ifdef __KERNEL__

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/types.h>

#define spek_noinline	noinline
#define spek_cold	__cold
#define spek_read_once(variable)	READ_ONCE(variable)
#define spek_write_once(variable, value)	WRITE_ONCE(variable, value)
#define spek_yield()	cond_resched()

/**
 * spek_div64() - divide; for set-up only, never per I/O
 * @a: dividend
 * @b: divisor, not 0
 *
 * Return: @a / @b, rounded down.
 */
static inline u64 spek_div64(u64 a, u64 b)
{
	return div64_u64(a, b);
}

static inline void spek_memset(void *p, int value, size_t bytes)
{
	memset(p, value, bytes);
}

static inline void spek_memcpy(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
}

#else

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define spek_attribute(x)	__attribute__((x))
#define spek_noinline		spek_attribute(noinline)
#define spek_cold		spek_attribute(cold)
#define spek_read_once(variable)	__atomic_load_n(&(variable), __ATOMIC_RELAXED)
#define spek_write_once(variable, value) \
	__atomic_store_n(&(variable), value, __ATOMIC_RELAXED)

#ifndef spek_yield
#define spek_yield()		((void)0)
#endif

typedef int8_t s8;
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

static inline u64 spek_div64(u64 a, u64 b)
{
	return a / b;
}

static inline void spek_memset(void *p, int value, size_t bytes)
{
	memset(p, value, bytes);
}

static inline void spek_memcpy(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
}

#endif

#define spek_likely(condition)		__builtin_expect(!!(condition), 1)
#define spek_unlikely(condition)	__builtin_expect(!!(condition), 0)
#define spek_prefetch(address)		__builtin_prefetch(address)
/* From here on the compiler knows nothing about @variable, which stays as it is. */
#define spek_hide(variable)		__asm__("" : "+r" (variable))

/* Steps of a long set-up between two chances for others to run; a power of two. */
#define SPEK_YIELD_STEPS	(1u << 16)

/**
 * spek_yield_at() - give up the CPU now and then during a long set-up
 * @step: number of the step
 *
 * Context: may sleep.
 */
static inline void spek_yield_at(u64 step)
{
	if (!(step & (SPEK_YIELD_STEPS - 1)))
		spek_yield();
}

/**
 * spek_is_multiple() - check divisibility; for set-up only
 * @n: number
 * @of: divisor, not 0
 *
 * Return: true if @n is a multiple of @of.
 */
static inline bool spek_is_multiple(u64 n, u64 of)
{
	return spek_div64(n, of) * of == n;
}

/**
 * spek_is_power_of_two() - check for a power of two
 * @n: number
 *
 * Return: true if @n is one; 0 is not.
 */
static inline bool spek_is_power_of_two(u64 n)
{
	return n && !(n & (n - 1));
}

/*
 * A function with a 128-bit number in it aligns its stack to 16 bytes, which costs it five
 * instructions where stacks are kept at 8, as in the kernel. The number need not even be in memory.
 */
#if defined(__x86_64__) && defined(__SIZEOF_INT128__)
static inline u64 spek_mul128(u64 a, u64 b, u64 *low)
{
	u64 high;

	__asm__("mulq %3" : "=a" (*low), "=d" (high) : "%0" (a), "rm" (b) : "cc");
	return high;
}
#elif defined(__SIZEOF_INT128__)
static inline u64 spek_mul128(u64 a, u64 b, u64 *low)
{
	__uint128_t product = (__uint128_t)a * b;

	*low = (u64)product;
	return (u64)(product >> 64);
}
#else
static inline u64 spek_mul128(u64 a, u64 b, u64 *low)
{
	u64 least = (u64)(u32)a * (u32)b;
	u64 mid1 = (a >> 32) * (u32)b + (least >> 32);
	u64 mid2 = (u64)(u32)a * (b >> 32) + (u32)mid1;

	*low = a * b;
	return (a >> 32) * (b >> 32) + (mid1 >> 32) + (mid2 >> 32);
}
#endif

/**
 * spek_mulhi64() - upper half of a product
 * @a: factor
 * @b: factor
 *
 * Return: the upper 64 bits of @a * @b.
 */
static inline u64 spek_mulhi64(u64 a, u64 b)
{
	u64 low;

	return spek_mul128(a, b, &low);
}

/**
 * spek_muladd128() - add a product to a 128-bit number
 * @low: lower half of the number, updated
 * @a: factor
 * @b: factor
 *
 * Return: the amount to add to the upper half.
 */
static inline u64 spek_muladd128(u64 *low, u64 a, u64 b)
{
	u64 product;
	u64 high = spek_mul128(a, b, &product);

	*low += product;
	return high + (*low < product);
}

#endif
