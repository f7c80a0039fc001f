/* SPDX-License-Identifier: GPL-2.0 */
/* Differences between kernels in device mapper. See compat.h. */
#ifndef SPEK_COMPAT_DM_H
#define SPEK_COMPAT_DM_H

#include <linux/device-mapper.h>
#include <linux/fs.h>

#include "spek_have.h"

/**
 * spek_compat_dm_writes() - check whether the devices of a table are opened for writing
 * @table: table
 *
 * Return: false if the table is read-only.
 */
static inline bool spek_compat_dm_writes(struct dm_table *table)
{
#ifdef SPEK_HAVE_BLK_OPEN_MODE
	return dm_table_get_mode(table) & BLK_OPEN_WRITE;
#else
	return dm_table_get_mode(table) & FMODE_WRITE;
#endif
}

#endif
