// SPDX-License-Identifier: GPL-2.0
/*
 * I/Os and bytes of the disks, as /sys/block/.../stat counts them.
 *
 * The source keeps no reference to a disk, which would pin its driver's memory or module:
 * a class interface is called before the memory of a removed disk is freed.
 *
 * Lock order: the block class's own lock > disks->lock. The class calls us with its
 * lock held when a disk is added, for each existing disk when the interface is registered,
 * and before a disk is removed. Sampling takes disks->lock only.
 */
#include <linux/atomic.h>
#include <linux/blkdev.h>
#include <linux/cpumask.h>
#include <linux/device/class.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/part_stat.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>

#include "../kmod/compat/compat.h"
#include "source.h"
#include "uapi/spek_prober.h"

enum { NR_COLUMNS = SPEK_PROBER_DISK_COLUMN_BUSY_TIME_NS + 1 };

static const struct spek_probe_column columns[NR_COLUMNS] = {
	[SPEK_PROBER_DISK_COLUMN_READS]		= { "reads" },
	[SPEK_PROBER_DISK_COLUMN_READ_BYTES]	= { "read-bytes" },
	[SPEK_PROBER_DISK_COLUMN_READ_TIME_NS]	= { "read-time-ns" },
	[SPEK_PROBER_DISK_COLUMN_WRITES]	= { "writes" },
	[SPEK_PROBER_DISK_COLUMN_WRITE_BYTES]	= { "write-bytes" },
	[SPEK_PROBER_DISK_COLUMN_WRITE_TIME_NS]	= { "write-time-ns" },
	[SPEK_PROBER_DISK_COLUMN_DISCARDS]	= { "discards" },
	[SPEK_PROBER_DISK_COLUMN_DISCARD_BYTES]	= { "discard-bytes" },
	[SPEK_PROBER_DISK_COLUMN_FLUSHES]	= { "flushes" },
	[SPEK_PROBER_DISK_COLUMN_BUSY_TIME_NS]	= { "busy-time-ns" },
};

/**
 * struct disk - a disk that existed at the start
 * @node: entry in the list of disks, in the order of discovery
 * @bdev: whole disk; NULL once it is removed; protected by the lock of disks
 * @number: device number
 * @name: name of the disk
 */
struct disk {
	struct list_head node;
	struct block_device *bdev;
	u32 number;
	char name[DISK_NAME_LEN];
};

/**
 * struct disks - state of the source
 * @interface: reports added and removed disks
 * @lock: protects the bdev of each disk; until the list is complete also @list, @is_listed and
 *	@nr
 * @list: disks; const once the list is complete
 * @is_listed: the list is complete; disks added later are ignored
 * @nr: number of disks
 * @err: negative errno from listing them, or 0
 */
struct disks {
	struct class_interface interface;
	spinlock_t lock;	/* see above */
	struct list_head list;
	bool is_listed;
	u32 nr;
	int err;
};

/* The running probe's state; set while its interface is registered. At most one probe runs. */
static struct disks *registered_disks;

static SPEK_COMPAT_CLASS_ADD(disk_added, dev)
{
	struct disks *disks = registered_disks;
	struct block_device *bdev = dev_to_bdev(dev);
	struct disk *disk;

	if (READ_ONCE(disks->is_listed) || bdev_is_partition(bdev) || !bdev_nr_sectors(bdev))
		return 0;
	/* Paths of a multipath disk have no number; the multipath disk counts their I/O. */
	if (bdev->bd_disk->flags & GENHD_FL_HIDDEN)
		return 0;

	disk = kzalloc(sizeof(*disk), GFP_KERNEL);
	if (!disk) {
		disks->err = -ENOMEM;
		return 0;
	}
	disk->bdev = bdev;
	disk->number = bdev->bd_dev;
	strscpy(disk->name, bdev->bd_disk->disk_name, sizeof(disk->name));
	spin_lock(&disks->lock);
	/* Check again: listing may have ended during the allocation. */
	if (!disks->is_listed) {
		list_add_tail(&disk->node, &disks->list);
		disks->nr++;
		disk = NULL;
	}
	spin_unlock(&disks->lock);
	kfree(disk);
	return 0;
}

static SPEK_COMPAT_CLASS_REMOVE(disk_removed, dev)
{
	struct disks *disks = registered_disks;
	struct disk *disk;

	spin_lock(&disks->lock);
	list_for_each_entry(disk, &disks->list, node)
		if (disk->bdev == dev_to_bdev(dev))
			disk->bdev = NULL;
	spin_unlock(&disks->lock);
}

/* The class of disks is not exported to modules, but each disk has it, even one never added. */
static int watch_disks(struct disks *disks)
{
	struct gendisk *disk = spek_compat_alloc_disk();
	int err;

	if (!disk)
		return -ENOMEM;
	disks->interface.class = disk_to_dev(disk)->class;
	put_disk(disk);

	disks->interface.add_dev = disk_added;
	disks->interface.remove_dev = disk_removed;
	registered_disks = disks;
	err = class_interface_register(&disks->interface);
	if (err)
		registered_disks = NULL;
	spin_lock(&disks->lock);
	WRITE_ONCE(disks->is_listed, true);
	spin_unlock(&disks->lock);
	return err;
}

static int name_entities(struct spek_probe_source *source, const struct disks *disks)
{
	const struct disk *disk;
	u32 index = 0;
	int err;

	err = spek_probe_source_set_named(source, disks->nr);
	if (err)
		return err;
	list_for_each_entry(disk, &disks->list, node) {
		source->entities[index] = disk->number;
		strscpy(spek_probe_source_name(source, index), disk->name, SPEK_ENTITY_NAME);
		index++;
	}
	return 0;
}

static u32 disks_step_ns(u32 column)
{
	return column == SPEK_PROBER_DISK_COLUMN_BUSY_TIME_NS ? TICK_NSEC : 0;
}

static int disks_start(struct spek_probe_source *source, const struct spek_probe_config *config)
{
	struct disks *disks = kzalloc(sizeof(*disks), GFP_KERNEL);
	int err;

	if (!disks)
		return -ENOMEM;
	spin_lock_init(&disks->lock);
	INIT_LIST_HEAD(&disks->list);
	source->private = disks;

	err = watch_disks(disks);
	if (!err)
		err = disks->err;
	if (!err)
		err = name_entities(source, disks);
	return err;
}

static void disks_stop(struct spek_probe_source *source)
{
	struct disks *disks = source->private;
	struct disk *disk, *next;

	if (!disks)
		return;

	if (registered_disks == disks) {
		class_interface_unregister(&disks->interface);
		registered_disks = NULL;
	}
	list_for_each_entry_safe(disk, next, &disks->list, node)
		kfree(disk);
	kfree(disks);
	source->private = NULL;
}

/* Requests and bios of a partition count as in flight there only, not on the whole disk. */
static bool has_io_in_flight(const struct block_device *whole)
{
	struct block_device *part;
	unsigned long index;
	long in_flight = 0;
	int cpu;

	rcu_read_lock();
	xa_for_each(&whole->bd_disk->part_tbl, index, part)
		for_each_possible_cpu(cpu)
			in_flight += part_stat_local_read_cpu(part, in_flight[0], cpu) +
				     part_stat_local_read_cpu(part, in_flight[1], cpu);
	rcu_read_unlock();
	return in_flight > 0;
}

/*
 * The kernel adds to the busy time when an I/O starts or ends, so a disk that hangs would look
 * idle until its I/O ends. Account the time up to now, as a reader of .../stat does. Kernels
 * before v6.10 (v6.1.93) don't count requests as in flight; there only disks without requests,
 * like those of device-mapper, advance meanwhile.
 */
static void update_busy_time(struct block_device *bdev)
{
	unsigned long now = jiffies;
	unsigned long stamp = READ_ONCE(bdev->bd_stamp);

	if (!time_after(now, stamp) || !has_io_in_flight(bdev))
		return;
	/* An I/O that starts, ends or is counted by another reader meanwhile changes the stamp. */
	part_stat_lock();
	if (try_cmpxchg(&bdev->bd_stamp, &stamp, now))
		__part_stat_add(bdev, io_ticks, now - stamp);
	part_stat_unlock();
}

static void sample_one(struct block_device *bdev, u64 *cells)
{
	update_busy_time(bdev);

	cells[SPEK_PROBER_DISK_COLUMN_READS] = part_stat_read(bdev, ios[STAT_READ]);
	cells[SPEK_PROBER_DISK_COLUMN_READ_BYTES] =
		(u64)part_stat_read(bdev, sectors[STAT_READ]) << SECTOR_SHIFT;
	cells[SPEK_PROBER_DISK_COLUMN_READ_TIME_NS] = part_stat_read(bdev, nsecs[STAT_READ]);
	cells[SPEK_PROBER_DISK_COLUMN_WRITES] = part_stat_read(bdev, ios[STAT_WRITE]);
	cells[SPEK_PROBER_DISK_COLUMN_WRITE_BYTES] =
		(u64)part_stat_read(bdev, sectors[STAT_WRITE]) << SECTOR_SHIFT;
	cells[SPEK_PROBER_DISK_COLUMN_WRITE_TIME_NS] = part_stat_read(bdev, nsecs[STAT_WRITE]);
	cells[SPEK_PROBER_DISK_COLUMN_DISCARDS] = part_stat_read(bdev, ios[STAT_DISCARD]);
	cells[SPEK_PROBER_DISK_COLUMN_DISCARD_BYTES] =
		(u64)part_stat_read(bdev, sectors[STAT_DISCARD]) << SECTOR_SHIFT;
	cells[SPEK_PROBER_DISK_COLUMN_FLUSHES] = part_stat_read(bdev, ios[STAT_FLUSH]);
	cells[SPEK_PROBER_DISK_COLUMN_BUSY_TIME_NS] =
		(u64)part_stat_read(bdev, io_ticks) * TICK_NSEC;
}

static void disks_sample(struct spek_probe_source *source, u64 *cells)
{
	struct disks *disks = source->private;
	struct disk *disk;

	spek_probe_source_set_absent(source, cells);
	list_for_each_entry(disk, &disks->list, node) {
		/* Locked per disk, so that a removal waits for one disk only. */
		spin_lock(&disks->lock);
		if (disk->bdev)
			sample_one(disk->bdev, cells);
		spin_unlock(&disks->lock);
		cells += NR_COLUMNS;
	}
}

const struct spek_probe_source_ops spek_probe_source_disk = {
	.name		= "disk",
	.table		= SPEK_PROBER_TABLE_DISK,
	.nr_columns	= NR_COLUMNS,
	.columns	= columns,
	.step_ns	= disks_step_ns,
	.start		= disks_start,
	.stop		= disks_stop,
	.sample		= disks_sample,
};
