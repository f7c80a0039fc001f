/* SPDX-License-Identifier: GPL-2.0 */
#ifndef DRIVE_SHIM_H
#define DRIVE_SHIM_H

#include "drive.h"

/*
 * Seek curves by formula, as tables and exactly. A table is exact up to 64 cylinders and off by
 * less than 0.1 % beyond.
 *
 * Lee, three parameters:	min at 1 cylinder, max over all, avg over uniformly random pairs;
 *				t = a sqrt(x - 1) + b (x - 1) + min
 * HPL, six parameters:		t(1) = single; below the border base + root sqrt(x), above it
 *				far + line x
 */
#define SHIM_FORMULA_POINTS	512

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

/**
 * struct shim_lee - the three-parameter curve
 * @min_ns: time for one cylinder
 * @max_ns: time for all cylinders
 * @root: ns per square root of a cylinder in units of 2^-16
 * @line: ns per cylinder in units of 2^-16
 */
struct shim_lee {
	u64 min_ns;
	u64 max_ns;
	u64 root;
	u64 line;
};

/**
 * struct shim_hpl - the six-parameter curve
 * @border: first distance of the straight part in cylinders
 * @single_ns: time for one cylinder
 * @base_ns: constant of the curved part
 * @root: ns per square root of a cylinder in units of 2^-16
 * @far_ns: constant of the straight part
 * @line: ns per cylinder in units of 2^-16
 */
struct shim_hpl {
	u32 border;
	u64 single_ns;
	u64 base_ns;
	u64 root;
	u64 far_ns;
	u64 line;
};

u32 shim_seek_step(u32 distance);
void shim_closed_loop(struct spek_drive *drive, struct shim_loop *loop);
u32 shim_sqrt64(u64 x);
int shim_lee_init(struct shim_lee *lee, u64 min_ns, u64 avg_ns, u64 max_ns, u32 cylinders,
		  struct spek_refusal *refusal);
u64 shim_lee_ns(const struct shim_lee *lee, u32 distance);
u32 shim_lee_points(const struct shim_lee *lee, u32 cylinders,
		    struct spek_drive_seek_point *points);
u64 shim_hpl_ns(const struct shim_hpl *hpl, u32 distance);
u32 shim_hpl_points(const struct shim_hpl *hpl, u32 cylinders,
		    struct spek_drive_seek_point *points);

#endif
