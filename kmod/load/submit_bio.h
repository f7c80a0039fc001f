/* SPDX-License-Identifier: GPL-2.0 */
/* Back end bio where it may wait, inline where the worker submits. See submit_bio.c. */
#ifndef SPEK_SUBMIT_BIO_H
#define SPEK_SUBMIT_BIO_H

#include <linux/bio.h>
#include <linux/blkdev.h>
#include "../compat/compat.h"
#include "slot.h"
#include "target.h"

int spek_bio_count_cuts(struct spek_part *part);

/**
 * spek_bio_submit() - send a part with back end bio
 * @part: armed
 *
 * Context: the worker's thread; may wait in the block layer.
 * Return: see struct spek_backend_ops.
 */
static inline int spek_bio_submit(struct spek_part *part)
{
	/*
	 * The block layer only looks at GD_DEAD while it waits for a frozen queue. That of a SCSI
	 * disk thaws after the disk is gone, and an open partition stays, with its size. A disk
	 * that goes between this check and submit_bio() is the block layer's business.
	 */
	if (unlikely(spek_compat_bdev_is_gone(&part->target->handle))) {
		bio_io_error(&part->bio);
		return 0;
	}
	submit_bio(&part->bio);
	if (unlikely(part->bytes >> SECTOR_SHIFT >
		     queue_max_sectors(bdev_get_queue(part->target->handle.bdev))))
		return spek_bio_count_cuts(part);
	return 0;
}

#endif
