/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TRACE_H
#define TRACE_H

#include "rig.h"

void trace_begin(u64 cut, u32 block);
void trace_bio(const struct host_bio *b);
void trace_answer(const struct host_bio *b, int error);
void trace_hit(const struct host_bio *b, const struct spek_augment_hit *hit);
void trace_issue(const struct flight *f);
void trace_complete(const struct flight *f, int err);
void trace_adopt(const struct spek_augment_header *header, u32 devices);
void trace_attach(u32 stale);
void trace_cut(void);
void trace_history(void);

#endif
