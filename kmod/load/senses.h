/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Causes of failed requests, by sense data: a small table, updated without locks by completions
 * and read at any time.
 */
#ifndef SPEK_SENSES_H
#define SPEK_SENSES_H

#include <linux/atomic.h>
#include "core/sense.h"
#include "uapi/spek.h"

/**
 * struct spek_senses - the table; all zero when empty
 * @cause: in the order of their first appearance; its sense never changes once it is there
 * @others: requests whose cause found no room
 */
struct spek_senses {
	struct {
		atomic_t sense;
		atomic64_t count;
	} cause[SPEK_MAX_SENSES];
	atomic64_t others;
};

void spek_senses_add(struct spek_senses *senses, const struct spek_sense *sense);

u64 spek_senses_get(const struct spek_senses *senses, u32 index, struct spek_sense *sense);

#endif
