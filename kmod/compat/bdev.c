// SPDX-License-Identifier: GPL-2.0
/* Opening and claiming a block device, with the interface of each kernel version. */
#include <linux/blkdev.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "compat.h"
#include "series.h"

#ifdef SPEK_HAVE_HOLDER_OPS
#if SPEK_COMPAT_KNOWS_MARK_DEAD
/*
 * Called with bdev->bd_holder_lock held. Ending a claim takes that lock too, so
 * the handle stays valid until it is dropped here.
 */
static void report_gone(struct block_device *bdev)
{
	struct spek_compat_bdev *dev = bdev->bd_holder;

	if (dev->ops && dev->ops->gone)
		dev->ops->gone(dev->holder);
}

#ifdef SPEK_HAVE_MARK_DEAD_SURPRISE
static void mark_dead(struct block_device *bdev, bool surprise)
#else
static void mark_dead(struct block_device *bdev)
#endif
{
	report_gone(bdev);
	if (SPEK_COMPAT_MARK_DEAD_UNLOCKS)
		mutex_unlock(&bdev->bd_holder_lock);
}

static const struct blk_holder_ops mark_dead_ops = {
	.mark_dead = mark_dead,
};

static const struct blk_holder_ops *const holder_ops = &mark_dead_ops;
#else
/* Who drops the lock is not known. Without the call, a removal is noticed as before v6.5. */
static const struct blk_holder_ops *const holder_ops;
#endif
#endif

/* Opens dev->bdev with @dev itself as the holder. */
static int open_claimed(struct spek_compat_bdev *dev, dev_t devt)
{
#if defined(SPEK_HAVE_BDEV_FILE)
	dev->file = bdev_file_open_by_dev(devt, BLK_OPEN_READ | (dev->write ? BLK_OPEN_WRITE : 0),
					  dev, holder_ops);
	if (IS_ERR(dev->file))
		return PTR_ERR(dev->file);
	dev->bdev = file_bdev(dev->file);
#elif defined(SPEK_HAVE_BDEV_HANDLE)
	dev->handle = bdev_open_by_dev(devt, BLK_OPEN_READ | (dev->write ? BLK_OPEN_WRITE : 0),
				       dev, holder_ops);
	if (IS_ERR(dev->handle))
		return PTR_ERR(dev->handle);
	dev->bdev = dev->handle->bdev;
#elif defined(SPEK_HAVE_HOLDER_OPS)
	dev->bdev = blkdev_get_by_dev(devt, BLK_OPEN_READ | (dev->write ? BLK_OPEN_WRITE : 0),
				      dev, holder_ops);
	if (IS_ERR(dev->bdev))
		return PTR_ERR(dev->bdev);
#else
	dev->bdev = blkdev_get_by_dev(devt, FMODE_READ | FMODE_EXCL |
				      (dev->write ? FMODE_WRITE : 0), dev);
	if (IS_ERR(dev->bdev))
		return PTR_ERR(dev->bdev);
#endif
	return 0;
}

/**
 * spek_compat_bdev_drop_cache() - drop what the page cache holds of a device, mapped pages too
 * @dev: open
 *
 * The cache of another path to the same data does not tell it of writes, and spek's own writes pass
 * it by. Dirty pages stay; this waits for no I/O, so a device that hangs delays neither a claim nor
 * its end.
 *
 * Context: process, may sleep.
 */
void spek_compat_bdev_drop_cache(const struct spek_compat_bdev *dev)
{
#ifdef SPEK_HAVE_BDEV_FILE
	struct address_space *mapping = dev->file->f_mapping;
#else
	struct address_space *mapping = dev->bdev->bd_inode->i_mapping;
#endif

	unmap_mapping_range(mapping, 0, 0, 0);
	invalidate_bdev(dev->bdev);
	/* The pages of the disk that a partition is on are others. */
	if (bdev_is_partition(dev->bdev))
		invalidate_bdev(bdev_whole(dev->bdev));
}

/* Opens of the disk that are those of a partition: one each, before v6.5 one for all of them. */
static u32 opens_of_disk(const struct block_device *part)
{
	u32 opens = atomic_read(&part->bd_openers);

	/* v6.5 ("block: also call ->open for incremental partition opens"), as are holder_ops */
#ifdef SPEK_HAVE_HOLDER_OPS
	return opens;
#else
	return !!opens;
#endif
}

/**
 * spek_compat_bdev_opens() - count the opens of a device and of what shares its data
 * @dev: open
 * @opens: set to the number of opens of a disk and of its partitions, or of a partition and of its
 *	disk, the claim of @dev included
 *
 * Context: process. Waits for nobody: a driver may take arbitrarily long to open a disk.
 * Return: false if somebody opens or closes the disk or one of its partitions right now.
 */
bool spek_compat_bdev_opens(const struct spek_compat_bdev *dev, u32 *opens)
{
	struct gendisk *disk = dev->bdev->bd_disk;
	u32 of_disk, of_parts = 0;
	struct block_device *part;
	unsigned long index;

	/* The counts of a partition and of its disk change together under it. */
	if (!mutex_trylock(&disk->open_mutex))
		return false;
	of_disk = disk_openers(disk);
	rcu_read_lock();
	/* Entry 0 is the disk. A deleted partition that is still open counts as its disk. */
	xa_for_each_start(&disk->part_tbl, index, part, 1) {
		of_disk -= opens_of_disk(part);
		of_parts += atomic_read(&part->bd_openers);
	}
	rcu_read_unlock();
	if (bdev_is_partition(dev->bdev))
		of_parts = atomic_read(&dev->bdev->bd_openers);
	mutex_unlock(&disk->open_mutex);
	*opens = of_disk + of_parts;
	return true;
}

/*
 * Opening the number of a device that does not exist makes the kernel load a module for it and
 * wait for modprobe: a wrong number would load a driver, and the run could be neither used nor
 * deleted until then, as deleting it waits for its devices to be opened.
 */
static bool bdev_exists(dev_t devt)
{
	struct inode *inode = ilookup(blockdev_superblock, devt);

	iput(inode);
	return inode;
}

/**
 * spek_compat_bdev_open() - open a block device and claim it exclusively
 * @dev: filled in
 * @devt: device number
 * @write: open for writing; otherwise no write may be sent
 * @holder: given to @ops
 * @ops: callbacks, or NULL; kernels before v6.5 don't call them, so check
 *	spek_compat_bdev_is_gone() as well
 *
 * Context: process, may sleep.
 * Return: 0; -EBUSY if the device, one of its partitions or its whole disk is claimed by
 *	another holder; -EACCES or -EROFS if it is read-only; -ENXIO or -ENODEV if it does not
 *	exist.
 */
int spek_compat_bdev_open(struct spek_compat_bdev *dev, dev_t devt, bool write, void *holder,
			  const struct spek_compat_holder_ops *ops)
{
	int err;

	memset(dev, 0, sizeof(*dev));
	dev->holder = holder;
	dev->ops = ops;
	dev->write = write;
	err = bdev_exists(devt) ? open_claimed(dev, devt) : -ENXIO;
	if (err) {
		dev->bdev = NULL;
		return err;
	}
	/* Whoever judges the device by its data under this claim must see what is on it. */
	spek_compat_bdev_drop_cache(dev);
	return 0;
}

#ifdef SPEK_HAVE_BDEV_FILE
/* End the claim at once, and close the file as the last one who has it. */
static void put_file(struct file *file)
{
#ifdef SPEK_HAVE_BDEV_FPUT
	bdev_fput(file);
#else
	fput(file);
#endif
}

/*
 * A task closes its files on its way to userspace, that is before its system call returns. Kernel
 * threads leave them to a work item, which must have closed this one before the caller goes on, so
 * that the driver of the device can be unloaded right away.
 */
static void close_file(struct file *file)
{
	if (!(current->flags & PF_KTHREAD)) {
		put_file(file);
		return;
	}
#ifdef SPEK_HAVE_FPUT_SYNC
	get_file(file);
	put_file(file);
	__fput_sync(file);
#else
	/* It does not wait for the work item if that has already taken the file. */
	put_file(file);
	flush_delayed_fput();
#endif
}
#endif

/**
 * spek_compat_bdev_close() - end the claim and close the device
 * @dev: device; one that is not open is ignored
 *
 * No I/O may be in flight. On return the claim has ended and spek_compat_holder_ops.gone is no
 * longer running.
 *
 * Context: process, may sleep.
 */
void spek_compat_bdev_close(struct spek_compat_bdev *dev)
{
	if (!dev->bdev)
		return;
	/* What was cached before the run is not what is on the device now. */
	spek_compat_bdev_drop_cache(dev);
#if defined(SPEK_HAVE_BDEV_FILE)
	close_file(dev->file);
#elif defined(SPEK_HAVE_BDEV_HANDLE)
	bdev_release(dev->handle);
#elif defined(SPEK_HAVE_HOLDER_OPS)
	blkdev_put(dev->bdev, dev);
#else
	blkdev_put(dev->bdev, FMODE_READ | FMODE_EXCL | (dev->write ? FMODE_WRITE : 0));
#endif
	dev->bdev = NULL;
}
