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
 * @next: next record to be written; the worker's own
 * @stop: end of the records from @next on that are free and contiguous; the worker's own
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
	struct spek_log_record *next;
	struct spek_log_record *stop;

	/* reader-owned */
	u64 taken ____cacheline_aligned;
	struct mutex read_lock;	/* one reader at a time */
	wait_queue_head_t readers;
	bool is_closed;
};

int spek_iolog_init(void);
void spek_iolog_deinit(void);

u32 spek_iolog_records(u32 records);

struct dentry *spek_iolog_mkdir(u32 id, char *name, size_t size);
void spek_iolog_rmdir(struct dentry *dir);

struct spek_iolog *spek_iolog_create(struct dentry *dir, u32 worker, u32 records, int node);
void spek_iolog_close(struct spek_iolog *log);

bool spek_iolog_find_room(struct spek_iolog *log);
void spek_iolog_wake(struct spek_iolog *log);

/**
 * spek_iolog_has_room() - look whether there is room for a record
 * @log: the caller's own
 *
 * Context: the worker's thread.
 * Return: false if there is none; that is counted as a lost record.
 */
static inline bool spek_iolog_has_room(struct spek_iolog *log)
{
	return likely(log->next != log->stop) || spek_iolog_find_room(log);
}

/**
 * spek_iolog_next() - get the next record
 * @log: the caller's own, with room (spek_iolog_has_room())
 *
 * Context: the worker's thread.
 * Return: the record, to be filled in and published with spek_iolog_commit().
 */
static inline struct spek_log_record *spek_iolog_next(const struct spek_iolog *log)
{
	return log->next;
}

/**
 * spek_iolog_commit() - publish a record
 * @log: the caller's own
 * @record: the record that spek_iolog_next() returned
 *
 * Context: the worker's thread.
 */
static inline void spek_iolog_commit(struct spek_iolog *log, struct spek_log_record *record)
{
	u64 written = log->written + 1;

	log->next = record + 1;
	/* Publish the whole record: pairs with nr_there(). */
	smp_store_release(&log->written, written);
	if (unlikely(!(written & log->wake_mask)))
		spek_iolog_wake(log);
}

#endif
