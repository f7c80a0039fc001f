/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between kernels. The other code is written for the newest kernel and includes
 * this header; kmod/compat/ is the only place with #ifdef SPEK_HAVE_*. SPEK_HAVE_X is defined
 * if probes/x.c compiles for the kernel being built for (see Kbuild).
 */
#ifndef SPEK_COMPAT_H
#define SPEK_COMPAT_H

#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/llist.h>
#include <linux/pm_runtime.h>
#include <net/genetlink.h>

#include "spek_have.h"

/**
 * struct spek_compat_holder_ops - callbacks to the holder of a claimed device
 * @gone: the device is being removed, or was pulled. Runs in process context with
 *	the device's holder lock held: it may set flags, wake and schedule work, and
 *	must not call spek_compat_bdev_close() or wait for I/O.
 */
struct spek_compat_holder_ops {
	void (*gone)(void *holder);
};

/**
 * struct spek_compat_bdev - a block device that is open and claimed
 * @bdev: the device
 * @holder: given to @ops
 * @ops: callbacks, or NULL
 * @write: open for writing
 *
 * The caller provides the memory and must not move it while the device is open: its address
 * identifies the holder, so the same device cannot be opened twice, not even by one run. The
 * other fields are private to compat/bdev.c.
 */
struct spek_compat_bdev {
	struct block_device *bdev;
	void *holder;
	const struct spek_compat_holder_ops *ops;
	bool write;
	/* private: */
#if defined(SPEK_HAVE_BDEV_FILE)
	struct file *file;
#elif defined(SPEK_HAVE_BDEV_HANDLE)
	struct bdev_handle *handle;
#endif
};

int spek_compat_bdev_open(struct spek_compat_bdev *dev, dev_t devt, bool write, void *holder,
			  const struct spek_compat_holder_ops *ops);
void spek_compat_bdev_close(struct spek_compat_bdev *dev);
void spek_compat_bdev_drop_cache(const struct spek_compat_bdev *dev);
bool spek_compat_bdev_opens(const struct spek_compat_bdev *dev, u32 *opens);

/**
 * spek_compat_bdev_is_gone() - check whether the disk of a device was removed
 * @dev: open device
 *
 * Return: true once the disk is marked dead.
 */
static inline bool spek_compat_bdev_is_gone(const struct spek_compat_bdev *dev)
{
	return test_bit(GD_DEAD, &dev->bdev->bd_disk->state);
}

/**
 * spek_compat_llist_add() - add to a lock-free list, without a call
 * @node: entry
 * @list: list
 *
 * llist_add() is a function of its own on most kernels.
 */
static inline void spek_compat_llist_add(struct llist_node *node, struct llist_head *list)
{
	struct llist_node *first = READ_ONCE(list->first);

	do {
		node->next = first;
	} while (!try_cmpxchg(&list->first, &first, node));
}

/**
 * spek_compat_report_zones() - read the zones of a zoned device
 * @bdev: open device
 * @see: called for each zone, in order; a negative errno ends the pass
 * @data: argument of @see
 *
 * Return: zones seen or a negative errno.
 */
static inline int spek_compat_report_zones(struct block_device *bdev, report_zones_cb see,
					   void *data)
{
#ifdef CONFIG_BLK_DEV_ZONED
	return blkdev_report_zones(bdev, 0, BLK_ALL_ZONES, see, data);
#else
	return -EOPNOTSUPP;
#endif
}

/**
 * spek_compat_queue_polls() - check for polled completion
 * @q: queue
 *
 * Return: true if @q has hardware queues for polling.
 */
static inline bool spek_compat_queue_polls(struct request_queue *q)
{
#ifdef SPEK_HAVE_FEAT_POLL
	return q->limits.features & BLK_FEAT_POLL;
#else
	return test_bit(QUEUE_FLAG_POLL, &q->queue_flags);
#endif
}

/**
 * spek_compat_iter_set_offset() - start within the first vector of an iterator
 * @iter: iterator at its start
 * @bytes: bytes to skip, less than the length of the first vector
 */
static inline void spek_compat_iter_set_offset(struct bvec_iter *iter, unsigned int bytes)
{
#ifdef SPEK_HAVE_BVEC_ITER_OFFSET
	iter->bi_offset = bytes;
#else
	iter->bi_bvec_done = bytes;
#endif
}

/**
 * spek_compat_has_write_hints() - check for write hints of bios
 *
 * Return: true if the kernel has them.
 */
static inline bool spek_compat_has_write_hints(void)
{
#ifdef SPEK_HAVE_BIO_WRITE_HINT
	return true;
#else
	return false;
#endif
}

/**
 * spek_compat_bio_set_write_hint() - give a bio the expected lifetime of its data
 * @bio: bio
 * @hint: enum rw_hint; ignored where spek_compat_has_write_hints() is false
 */
static inline void spek_compat_bio_set_write_hint(struct bio *bio, u32 hint)
{
#ifdef SPEK_HAVE_BIO_WRITE_HINT
	bio->bi_write_hint = hint;
#endif
}

/**
 * spek_compat_bio_write_hint() - get the expected lifetime of a bio's data
 * @bio: bio
 *
 * Return: enum rw_hint; 0 where spek_compat_has_write_hints() is false.
 */
static inline u32 spek_compat_bio_write_hint(const struct bio *bio)
{
#ifdef SPEK_HAVE_BIO_WRITE_HINT
	return bio->bi_write_hint;
#else
	return 0;
#endif
}

#ifdef SPEK_HAVE_ATOMIC_WRITE
#define SPEK_COMPAT_REQ_ATOMIC	REQ_ATOMIC
#else
#define SPEK_COMPAT_REQ_ATOMIC	((__force blk_opf_t)0)
#endif

/**
 * spek_compat_has_atomic_writes() - check for atomic writes
 *
 * Return: true if the kernel has them.
 */
static inline bool spek_compat_has_atomic_writes(void)
{
#ifdef SPEK_HAVE_ATOMIC_WRITE
	return true;
#else
	return false;
#endif
}

/**
 * spek_compat_atomic_unit_min() - find the smallest atomic write of a device
 * @bdev: disk or partition
 *
 * Return: bytes, a power of two; 0 if it has no atomic writes, or if it is a partition that does
 * not start at a multiple of their units.
 */
static inline u32 spek_compat_atomic_unit_min(struct block_device *bdev)
{
#ifdef SPEK_HAVE_ATOMIC_WRITE
	if (bdev_can_atomic_write(bdev))
		return queue_atomic_write_unit_min_bytes(bdev_get_queue(bdev));
#endif
	return 0;
}

/**
 * spek_compat_queue_takes_atomic() - check whether a queue takes an atomic write
 * @q: queue
 * @byte: first byte on the disk
 * @bytes: size, a power of two
 *
 * Return: true if it does.
 */
static inline bool spek_compat_queue_takes_atomic(const struct request_queue *q, u64 byte,
						  u32 bytes)
{
#ifdef SPEK_HAVE_ATOMIC_WRITE
	u32 boundary = queue_atomic_write_boundary_bytes(q);

	if (bytes < queue_atomic_write_unit_min_bytes(q) ||
	    bytes > queue_atomic_write_unit_max_bytes(q))
		return false;
	return !boundary || (byte & (boundary - 1)) + bytes <= boundary;
#else
	return false;
#endif
}

/**
 * spek_compat_status_is_busy() - check whether a driver asks for a retry
 * @status: its answer to a request
 *
 * Return: true if resources were missing and the same request may succeed later.
 */
static inline bool spek_compat_status_is_busy(blk_status_t status)
{
#ifdef SPEK_HAVE_STS_ZONE_RESOURCE
	if (status == BLK_STS_ZONE_RESOURCE)
		return true;
#endif
	return status == BLK_STS_RESOURCE || status == BLK_STS_DEV_RESOURCE;
}

/**
 * spek_compat_can_insert_requests() - check for blk_insert_cloned_request()
 *
 * Return: true if the kernel has it.
 */
static inline bool spek_compat_can_insert_requests(void)
{
	return IS_ENABLED(CONFIG_BLK_MQ_STACKING);
}

/**
 * spek_compat_insert_request() - pass a request to its driver, bypassing elevator and merging
 * @rq: allocated from the device's queue
 *
 * Context: as blk_insert_cloned_request().
 * Return: the driver's answer; BLK_STS_NOTSUPP, without touching @rq, where
 *	spek_compat_can_insert_requests() is false.
 */
static inline blk_status_t spek_compat_insert_request(struct request *rq)
{
#ifdef CONFIG_BLK_MQ_STACKING
	return blk_insert_cloned_request(rq);
#else
	return BLK_STS_NOTSUPP;
#endif
}

/*
 * SPEK_COMPAT_END_IO() - head of a function that fits request.end_io:
 *	static SPEK_COMPAT_END_IO(mq_end_io, rq, status)
 *	{
 */
#ifdef SPEK_HAVE_END_IO_BATCH
#define SPEK_COMPAT_END_IO(name, rq, status) \
	enum rq_end_io_ret name(struct request *rq, blk_status_t status, \
				const struct io_comp_batch *iob)
#else
#define SPEK_COMPAT_END_IO(name, rq, status) \
	enum rq_end_io_ret name(struct request *rq, blk_status_t status)
#endif

/*
 * SPEK_COMPAT_GENL_MCGRP_SYS_ADMIN() - initialiser of a struct genl_multicast_group
 * that only CAP_SYS_ADMIN may join. Kernels before v6.7 without the stable backport cannot
 * restrict joining, so messages to the group must not be confidential.
 */
#if defined(SPEK_HAVE_GENL_MCAST_FLAGS)
#define SPEK_COMPAT_GENL_MCGRP_SYS_ADMIN(group) \
	{ .name = (group), .flags = GENL_MCAST_CAP_SYS_ADMIN }
#elif defined(SPEK_HAVE_GENL_MCAST_BIT)
#define SPEK_COMPAT_GENL_MCGRP_SYS_ADMIN(group) { .name = (group), .cap_sys_admin = 1 }
#else
#define SPEK_COMPAT_GENL_MCGRP_SYS_ADMIN(group) { .name = (group) }
#endif

/**
 * spek_compat_alloc_disk() - allocate a disk that will not be added
 *
 * Return: disk, to be released by put_disk(), or NULL.
 */
static inline struct gendisk *spek_compat_alloc_disk(void)
{
#ifdef SPEK_HAVE_ALLOC_DISK_LIMITS
	struct gendisk *disk = blk_alloc_disk(NULL, NUMA_NO_NODE);

	return IS_ERR(disk) ? NULL : disk;
#else
	return blk_alloc_disk(NUMA_NO_NODE);
#endif
}

/*
 * SPEK_COMPAT_CLASS_ADD(), _REMOVE() - head of a function that fits
 * class_interface.add_dev or .remove_dev; see SPEK_COMPAT_END_IO()
 */
#ifdef SPEK_HAVE_CLASS_INTERFACE_DEV
#define SPEK_COMPAT_CLASS_ADD(name, dev) \
	int name(struct device *dev)
#define SPEK_COMPAT_CLASS_REMOVE(name, dev) \
	void name(struct device *dev)
#else
#define SPEK_COMPAT_CLASS_ADD(name, dev) \
	int name(struct device *dev, struct class_interface *interface)
#define SPEK_COMPAT_CLASS_REMOVE(name, dev) \
	void name(struct device *dev, struct class_interface *interface)
#endif

/**
 * spek_compat_dump_attrs() - get the attributes of a dump's request
 * @cb: dump
 *
 * Return: parsed attributes, by type.
 */
static inline struct nlattr **spek_compat_dump_attrs(struct netlink_callback *cb)
{
#ifdef SPEK_HAVE_GENL_INFO_DUMP
	return genl_info_dump(cb)->attrs;
#else
	return genl_dumpit_info(cb)->attrs;
#endif
}

static inline struct blk_mq_hw_ctx *spek_compat_queue_hctx(struct request_queue *q, u32 index)
{
#ifdef SPEK_HAVE_QUEUE_HCTX
	return queue_hctx(q, index);
#else
	return xa_load(&q->hctx_table, index);
#endif
}

/**
 * spek_compat_cookie_polls() - check whether a cookie names a queue that can be polled
 * @q: queue; the caller holds its usage counter, so hardware queues don't change
 * @cookie: cookie of a bio, which may have completed
 *
 * Return: true if bio_poll() may be called.
 */
static inline bool spek_compat_cookie_polls(struct request_queue *q, blk_qc_t cookie)
{
	const struct blk_mq_hw_ctx *hctx;

	if (!queue_is_mq(q))
		return true;
#ifdef SPEK_HAVE_POLL_NSEC
	/* The number of the queue lies above the tag and below the sign. */
	cookie = (cookie & ~(1u << 31)) >> 16;
#endif
	if (cookie >= q->nr_hw_queues)
		return false;
	hctx = spek_compat_queue_hctx(q, cookie);
	return hctx && hctx->type == HCTX_TYPE_POLL;
}

/**
 * spek_compat_queue_tags() - find the tags that a request is allocated from on this CPU
 * @q: request-based queue; the caller holds its usage counter, so its tags stay
 * @opf: operation and flags of the request
 *
 * Return: tags, or NULL while there are none.
 */
static inline struct sbitmap_queue *spek_compat_queue_tags(struct request_queue *q, blk_opf_t opf)
{
	const struct blk_mq_tag_set *set = q->tag_set;
	enum hctx_type type = HCTX_TYPE_DEFAULT;
	const struct blk_mq_hw_ctx *hctx;
	struct blk_mq_tags *tags;

	/* As blk_mq_get_hctx_type() and blk_mq_map_queue_type(), which are not exported. */
	if (opf & REQ_POLLED)
		type = HCTX_TYPE_POLL;
	else if ((opf & REQ_OP_MASK) == REQ_OP_READ)
		type = HCTX_TYPE_READ;
	if (type >= set->nr_maps || !set->map[type].nr_queues)
		type = HCTX_TYPE_DEFAULT;
	hctx = spek_compat_queue_hctx(q, set->map[type].mq_map[raw_smp_processor_id()]);
	if (!hctx)
		return NULL;
	tags = q->elevator ? hctx->sched_tags : hctx->tags;
	return tags ? &tags->bitmap_tags : NULL;
}

/**
 * spek_compat_queue_has_tag() - check whether a request could be allocated on this CPU
 * @q: request-based queue; the caller holds its usage counter
 * @opf: operation and flags of the request
 *
 * Return: false if all tags are taken. If true, the allocation may still find none.
 */
static inline bool spek_compat_queue_has_tag(struct request_queue *q, blk_opf_t opf)
{
	const struct sbitmap_queue *tags = spek_compat_queue_tags(q, opf);

	return !tags || sbitmap_weight(&tags->sb) < tags->sb.depth;
}

/**
 * spek_compat_queue_resume() - request the resume of a suspended device
 * @q: queue of the device
 *
 * Doesn't wait for the resume.
 */
static inline void spek_compat_queue_resume(struct request_queue *q)
{
#ifdef CONFIG_PM
	if (q->dev && READ_ONCE(q->rpm_status) != RPM_ACTIVE)
		pm_request_resume(q->dev);
#endif
}

#endif
