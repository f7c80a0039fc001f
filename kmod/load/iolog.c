// SPDX-License-Identifier: GPL-2.0
/*
 * The per-I/O log.
 *
 * A worker (the only writer) and one reader at a time share a ring of records without a lock: the
 * worker publishes records with @written, the reader frees them with @taken. Unread records are
 * never overwritten: an I/O that finds the ring full is counted as lost.
 *
 * Why not relay_open(): relay_file_read() may return a sub-buffer that is not written yet when the
 * writer runs on another CPU, between subbufs_produced++ and offset = 0 in relay_switch_subbuf().
 * And lockdown (Secure Boot) denies access to debugfs files with mmap().
 *
 * Lifetime: a run owns its logs until its last reference is dropped; their files are removed before
 * it leaves the table. An open file has a reference to its log and to the module, so a reader may
 * outlive the run and read the log to its end.
 *
 * Removal must not wait for readers, since copy_to_user() may fault for arbitrarily long. So files
 * are created with debugfs_create_file_unsafe(), whose removal doesn't wait for reads; a read uses
 * nothing but the log that its file refers to.
 *
 * Locks: readers hold read_lock across copies to userspace. Directories and files are created and
 * removed with no lock held.
 */
#include <linux/capability.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "iolog.h"
#include "memory.h"

/* A log that is too large is refused: no OOM kill and no warning for it. */

static struct dentry *spek_debugfs;

static void release_log(struct kref *ref)
{
	struct spek_iolog *log = container_of(ref, struct spek_iolog, ref);

	kvfree(log->record);
	kfree(log);
}

/* ---- the file ---- */

static int log_open(struct inode *inode, struct file *file)
{
	struct spek_iolog *log = inode->i_private;

	/* The mode allows uid 0, which root of a user namespace may be. */
	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	kref_get(&log->ref);
	file->private_data = log;
	return nonseekable_open(inode, file);
}

static int log_release(struct inode *inode, struct file *file)
{
	struct spek_iolog *log = file->private_data;

	kref_put(&log->ref, release_log);
	return 0;
}

/* Records ready to be read. Context: the reader */
static u64 nr_there(const struct spek_iolog *log)
{
	/* The contents of the records: pairs with spek_iolog_commit(). */
	return smp_load_acquire(&log->written) - READ_ONCE(log->taken);
}

static ssize_t log_read(struct file *file, char __user *to, size_t count, loff_t *pos)
{
	struct spek_iolog *log = file->private_data;
	const size_t size = sizeof(*log->record);
	u64 nr = count / size;
	ssize_t done = 0;

	if (!nr)
		return -EINVAL;
	if (mutex_lock_interruptible(&log->read_lock))
		return -ERESTARTSYS;
	nr = min(nr, nr_there(log));
	while (nr) {
		u64 first = log->taken & log->mask;
		u64 piece = min(nr, log->mask + 1 - first);

		if (copy_to_user(to + done, &log->record[first], piece * size)) {
			done = done ?: -EFAULT;
			break;
		}
		/* Free the records for the worker: pairs with spek_iolog_find_room(). */
		smp_store_release(&log->taken, log->taken + piece);
		done += piece * size;
		nr -= piece;
	}
	mutex_unlock(&log->read_lock);
	return done;
}

static __poll_t log_poll(struct file *file, struct poll_table_struct *wait)
{
	struct spek_iolog *log = file->private_data;

	poll_wait(file, &log->readers, wait);
	return (nr_there(log) ? EPOLLIN | EPOLLRDNORM : 0) |
	       (READ_ONCE(log->is_closed) ? EPOLLHUP : 0);
}

static const struct file_operations log_fops = {
	.owner = THIS_MODULE,
	.open = log_open,
	.release = log_release,
	.read = log_read,
	.poll = log_poll,
};

/**
 * spek_iolog_find_room() - find free records after the last that was known to be free
 * @log: log
 *
 * Context: the worker's thread.
 * Return: false if readers have freed none; that is counted as a lost record.
 */
bool spek_iolog_find_room(struct spek_iolog *log)
{
	/* The records were copied: pairs with log_read(). */
	u64 used = log->written - smp_load_acquire(&log->taken);
	u64 first = log->written & log->mask;

	if (used > log->mask) {
		WRITE_ONCE(log->lost, log->lost + 1);
		return false;
	}
	log->next = &log->record[first];
	log->stop = log->next + min(log->mask + 1 - used, log->mask + 1 - first);
	return true;
}

/**
 * spek_iolog_wake() - wake readers that wait for records
 * @log: log
 *
 * Context: the worker's thread.
 */
void spek_iolog_wake(struct spek_iolog *log)
{
	/* Implies a barrier: a reader about to sleep sees the records, or is seen here. */
	if (wq_has_sleeper(&log->readers))
		wake_up_interruptible(&log->readers);
}

/* ---- creation and removal ---- */

/**
 * spek_iolog_records() - round up the capacity of a log
 * @records: records wanted for each worker
 *
 * Return: a power of two.
 */
u32 spek_iolog_records(u32 records)
{
	return roundup_pow_of_two(max(records, SPEK_IOLOG_MIN_RECORDS));
}

/**
 * spek_iolog_mkdir() - create the directory of a run's log files
 * @id: number of the run
 * @name: filled with "spek/<id>", the path below the mount point of debugfs
 * @size: of @name
 *
 * Context: process.
 * Return: the directory, or an ERR_PTR(): -ENOMEM, or another errno without debugfs.
 */
struct dentry *spek_iolog_mkdir(u32 id, char *name, size_t size)
{
	struct dentry *dir;

	if (IS_ERR(spek_debugfs))
		return spek_debugfs;
	snprintf(name, size, "%u", id);
	dir = debugfs_create_dir(name, spek_debugfs);
	snprintf(name, size, "spek/%u", id);
	return dir;
}

/**
 * spek_iolog_rmdir() - remove a directory and its files
 * @dir: directory, or NULL
 *
 * Context: process. Doesn't wait for readers.
 */
void spek_iolog_rmdir(struct dentry *dir)
{
	debugfs_remove_recursive(dir);
}

/**
 * spek_iolog_create() - create a log and its file
 * @dir: from spek_iolog_mkdir()
 * @worker: number of the worker
 * @records: from spek_iolog_records()
 * @node: NUMA node of the worker
 *
 * Context: process, may sleep.
 * Return: the log or an ERR_PTR().
 */
struct spek_iolog *spek_iolog_create(struct dentry *dir, u32 worker, u32 records, int node)
{
	struct spek_iolog *log = kzalloc_node(sizeof(*log), GFP_KERNEL, node);
	size_t bytes = array_size(records, sizeof(*log->record));
	struct dentry *file;
	char name[16];

	if (!log)
		return ERR_PTR(-ENOMEM);
	kref_init(&log->ref);
	mutex_init(&log->read_lock);
	init_waitqueue_head(&log->readers);
	log->mask = records - 1;
	log->wake_mask = log->mask >> 3;
	/* Zeroed: all pages are populated before the first I/O, and expose no old data. */
	log->record = spek_zalloc_node(bytes, node);
	if (!log->record) {
		kfree(log);
		return ERR_PTR(-ENOMEM);
	}
	snprintf(name, sizeof(name), "worker%u", worker);
	file = debugfs_create_file_unsafe(name, 0400, dir, log, &log_fops);
	if (IS_ERR(file)) {
		kref_put(&log->ref, release_log);
		return ERR_CAST(file);
	}
	return log;
}

/**
 * spek_iolog_close() - drop the run's reference
 * @log: log whose file was removed, or NULL
 *
 * Readers that have the file open can read it to its end.
 *
 * Context: process.
 */
void spek_iolog_close(struct spek_iolog *log)
{
	if (!log)
		return;
	WRITE_ONCE(log->is_closed, true);
	wake_up_interruptible_all(&log->readers);
	kref_put(&log->ref, release_log);
}

/**
 * spek_iolog_init() - create the debugfs directory of the logs
 *
 * Context: process.
 * Return: 0, also without debugfs, or -ENOMEM.
 */
int spek_iolog_init(void)
{
	/* Without debugfs only logs are unavailable: a run with a log fails to open. */
	spek_debugfs = debugfs_create_dir("spek", NULL);
	return PTR_ERR_OR_ZERO(spek_debugfs) == -ENOMEM ? -ENOMEM : 0;
}

void spek_iolog_deinit(void)
{
	debugfs_remove_recursive(spek_debugfs);
}
