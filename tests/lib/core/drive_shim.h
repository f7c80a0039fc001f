/* SPDX-License-Identifier: GPL-2.0 */
#ifndef DRIVE_SHIM_H
#define DRIVE_SHIM_H

#include "drive.h"

/**
 * struct shim_loop - a closed loop of random accesses, aligned to 4 KiB
 * @depth: requests outstanding
 * @blocks: 4 KiB blocks of the footprint
 * @sectors: sectors of a request
 * @write: direction
 * @unmeasured: requests before the first one that is measured
 * @measured: number of requests measured
 * @seed: state of the generator
 * @refused: submissions that the drive refused
 * @begin_ns: end of the last request that is not measured
 * @end_ns: end of the last request; 0 if the drive stopped serving
 * @seek_ns: sum over the measured requests, as the next two
 * @rotate_ns: see above
 * @transfer_ns: see above
 * @longest_wait_ns: longest time from arrival to start
 */
struct shim_loop {
	u32 depth;
	u64 blocks;
	u32 sectors;
	bool write;
	u32 unmeasured;
	u32 measured;
	u64 seed;
	u64 refused;
	u64 begin_ns;
	u64 end_ns;
	u64 seek_ns;
	u64 rotate_ns;
	u64 transfer_ns;
	u64 longest_wait_ns;
};

u32 shim_seek_step(u32 distance);
void shim_closed_loop(struct spek_drive *drive, struct shim_loop *loop);

#endif
