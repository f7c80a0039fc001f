/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A block device with a volatile cache, in blocks of 4 KiB: what a read gets, and what is left of
 * unflushed writes at a power cut.
 *
 * A write that no flush covers is lost or kept at a cut, each sector by itself, whether it had
 * ended or not. A flush covers the writes that had ended when it began, and perhaps more.
 */
#ifndef DEVICES_H
#define DEVICES_H

#include "spek_host.h"

#define BYTES		4096
#define SECTORS		8
#define SECTOR_BYTES	512

/* A block of a write: in flight, or in the cache. */
struct cached {
	u32 block;
	u64 ended;	/* step of its end; 0: in flight */
	u8 *data;	/* NULL: on the media, or replaced there */
};

struct device {
	u32 max_blocks;
	u32 blocks;
	bool tears;	/* the sector that a cut interrupts is garbage */
	u8 (*media)[BYTES];
	u8 (*view)[BYTES];	/* what reads get */
	struct cached *cached;	/* in order of begin; what ends moves to the end */
	u32 nr_cached;
	u32 room;
};

void device_init(struct device *d, u32 max_blocks, bool tears);
void device_clear(struct device *d, u32 blocks);
void device_put(struct device *d, u32 block, const u8 *data);
const u8 *device_read(const struct device *d, u32 block);
u32 device_begin(struct device *d, u32 block, const u8 *data);
void device_end(struct device *d, u32 write, u64 step, bool fua);
void device_fail(struct device *d, u32 write, u64 step);
void device_flush(struct device *d, u64 began);
void device_compact(struct device *d);
void device_cut(struct device *d);

#endif
