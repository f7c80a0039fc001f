/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Once: every block of the range once per pass, in an order that looks random, another one in every
 * pass.
 *
 * Number i of a pass is block P(i), where P is a permutation of the N blocks of the range, keyed by
 * the seed of the run, the number of the stream and the number of the pass. Each worker and replica
 * takes its own contiguous part of the numbers 0 to N - 1, so that no two of them touch the same
 * block in the same pass. They don't wait for each other: a fast one may be in a later pass.
 *
 * P scrambles k bits, 2^(k-1) < N <= 2^k, by four rounds: xor with a key, multiplication by an odd
 * constant, xor with the upper half. Each step can be undone, so their sequence is a permutation of
 * 2^k numbers. A result of N or more is scrambled again until it is below N (cycle walking), which
 * leaves a permutation of N; that takes 2^k / N rounds of four on average, fewer than 2.
 *
 * 128 bytes per replica, no memory per block.
 */
#ifndef SPEK_CORE_ONCE_H
#define SPEK_CORE_ONCE_H

#include "../../core/spek_host.h"

#define SPEK_ONCE_ROUNDS	4

/**
 * struct spek_order - a permutation of the numbers below N, in the upper k bits of words
 * @last: largest number, N - 1
 * @unit: distance from a number to the next, 2^(64-k)
 * @mask: the k bits
 * @shift: half of k, rounded up
 * @key: per round, the bits to flip
 * @factor: per round, an odd number
 *
 * In the upper bits, because what overflows in a multiplication is then what has to go.
 */
struct spek_order {
	u64 last;
	u64 unit;
	u64 mask;
	u32 shift;
	u64 key[SPEK_ONCE_ROUNDS];
	u64 factor[SPEK_ONCE_ROUNDS];
};

/**
 * struct spek_once - a replica: its part of the numbers, and its place in the pass
 * @next: next number
 * @left: numbers that the pass still has; 0: the next one is to begin
 * @start: first number
 * @pass: passes before this one
 * @order: of the pass
 */
struct spek_once {
	u64 next;
	u64 left;
	u64 start;
	u64 pass;
	struct spek_order order;
};

void spek_once_begin_pass(struct spek_once *once, u64 key);

u32 spek_order_init(struct spek_order *order, u64 count, u64 key);
void spek_order_set_key(struct spek_order *order, u64 key);

/**
 * spek_order_at() - look up a permutation
 * @order: permutation
 * @i: number, a multiple of the unit up to the last one
 *
 * Return: number of the same kind, a different one for each @i.
 */
static inline u64 spek_order_at(const struct spek_order *order, u64 i)
{
	do {
		/* Loaded where needed: kept in registers over the rare loop they cost more. */
		spek_hide(order);
		i = (i ^ order->key[0]) * order->factor[0];
		i ^= (i >> order->shift) & order->mask;
		i = (i ^ order->key[1]) * order->factor[1];
		i ^= (i >> order->shift) & order->mask;
		i = (i ^ order->key[2]) * order->factor[2];
		i ^= (i >> order->shift) & order->mask;
		i = (i ^ order->key[3]) * order->factor[3];
	} while (spek_unlikely(i > order->last));
	return i;
}

#endif
