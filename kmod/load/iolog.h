/* SPDX-License-Identifier: GPL-2.0 */
/* The per-I/O log: one ring of records and one file for each worker. See iolog.c. */
#ifndef SPEK_IOLOG_H
#define SPEK_IOLOG_H

#include <linux/cache.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/wait.h>
#include "uapi/spek.h"

#define SPEK_IOLOG_MIN_RECORDS	1024u

/**
 * struct spek_iolog - log of one worker
 * @ref: one for the run, one for each open file
 * @record: ring
 * @mask: records in the ring, a power of two, minus 1
 * @wake_mask: readers are woken where none of these bits is set in @written
 * @written: records written; the worker's own, published with release
 * @lost: I/Os without a record; the worker's own, read with READ_ONCE
 * @seen_taken: @taken as the worker saw it last
 * @taken: records that readers have taken; released when they may be overwritten
 * @read_lock: one reader at a time
 * @readers: sleep in poll()
 * @is_closed: the run is gone, no more records come
 */
struct spek_iolog {
	struct kref ref;
	struct spek_log_record *record;
	u64 mask;
	u64 wake_mask;

	/* worker-owned */
	u64 written ____cacheline_aligned;
	u64 lost;
	u64 seen_taken;

	/* reader-owned */
	u64 taken ____cacheline_aligned;
	struct mutex read_lock;	/* one reader at a time */
	wait_queue_head_t readers;
	bool is_closed;
};

/** spek_iolog_init() - Return: 0, also without debugfs, or -ENOMEM. */
int spek_iolog_init(void);
void spek_iolog_deinit(void);

/** spek_iolog_records() - Return: what a wish for @records per worker is rounded up to. */
u32 spek_iolog_records(u32 records);

/**
 * spek_iolog_mkdir() - make the directory of a run's files
 * @id: number of the run
 * @name: "spek/<id>" is written here, as from the mount point of debugfs on
 * @size: of @name
 *
 * Return: the directory, or an ERR_PTR: -ENOMEM, or another errno without debugfs.
 */
struct dentry *spek_iolog_mkdir(u32 id, char *name, size_t size);
/** spek_iolog_rmdir() - remove a directory and its files; waits for no reader; @dir may be NULL. */
void spek_iolog_rmdir(struct dentry *dir);

/**
 * spek_iolog_create() - make a log and its file
 * @dir: spek_iolog_mkdir()
 * @worker: number of the worker
 * @records: spek_iolog_records()
 *
 * Context: process, may sleep. Return: the log or an ERR_PTR.
 */
struct spek_iolog *spek_iolog_create(struct dentry *dir, u32 worker, u32 records);
/**
 * spek_iolog_close() - drop the run's reference; an open file can be read to its end
 * @log: its file was removed before; may be NULL
 */
void spek_iolog_close(struct spek_iolog *log);

/** spek_iolog_wake() - wake readers that wait for records. Context: worker. */
void spek_iolog_wake(struct spek_iolog *log);

/**
 * spek_iolog_has_room() - look whether there is room for a record
 * @log: the caller's own
 *
 * Context: worker. Return: false if there is none; that is counted as a lost record.
 */
static inline bool spek_iolog_has_room(struct spek_iolog *log)
{
	if (likely(log->written - log->seen_taken <= log->mask))
		return true;
	/* What was in there has been copied: pairs with spek_iolog_read(). */
	log->seen_taken = smp_load_acquire(&log->taken);
	if (log->written - log->seen_taken <= log->mask)
		return true;
	WRITE_ONCE(log->lost, log->lost + 1);
	return false;
}

/**
 * spek_iolog_next() - Return: the next record, to be filled in whole and then passed on with
 * spek_iolog_commit(); only if there is room. Context: worker.
 */
static inline struct spek_log_record *spek_iolog_next(struct spek_iolog *log)
{
	return &log->record[log->written & log->mask];
}

/** spek_iolog_commit() - the next record is filled in. Context: worker. */
static inline void spek_iolog_commit(struct spek_iolog *log)
{
	u64 written = log->written + 1;

	/* Readers see the whole record: pairs with nr_there(). */
	smp_store_release(&log->written, written);
	if (unlikely(!(written & log->wake_mask)))
		spek_iolog_wake(log);
}

#endif
