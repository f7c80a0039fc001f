// SPDX-License-Identifier: GPL-2.0
/*
 * spek_volatile: disks in memory with volatile caches, which lose power all at one instant, for
 * tests. Never shipped.
 *
 * A disk has two images: what it hands out, and what is durable. A write reaches the first; a flush
 * makes durable what had completed when the flush came, and FUA its own sectors. At a cut each
 * sector that is not durable is kept or lost by chance, and of writes under way any sectors may be
 * there; on all disks but the first, half of those are garbage. Of a sector that is written twice
 * the version between may stay, too. I/Os are carried out in random order, with pauses now and
 * then.
 *
 * Parameters, besides mib (sizes, by disk):
 *	cut_after	the power fails before this many I/Os from now have been carried out; 0: not
 *	power		write 1 after a cut: the disks answer again. Until then all I/O fails.
 *	lost		bitmap of disks whose I/O fails
 *	lose, lose_after	these disks, a bitmap, are lost after as many I/Os
 *	lies		flushes and FUA do nothing, so that tests can show that they find that
 *	garble_after	as many reads of sector garble_sector of disk garble_disk from now are right but
 *			for the last; 0: all are
 *	garble_reads	number of wrong ones after that, with the last; reset to 1 then
 *	refuse_reads	number of reads from now on of that sector that fail
 * and to be read: carried (I/Os), cuts, dropped (sectors lost at cuts), torn (of writes under way).
 */
#include <linux/bio.h>
#include <linux/bitmap.h>
#include <linux/blkdev.h>
#include <linux/delay.h>
#include <linux/highmem.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/version.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#define SECTOR		512u
#define MAX_DISKS	8u

struct volatile_disk {
	struct gendisk *disk;
	unsigned long sectors;
	u8 *image, *durable;
	unsigned long *dirty;	/* bitmap of sectors that are not durable */
	u64 *written;		/* by sector: the number of the I/O that wrote it last */
	u64 flush_came;		/* of the last flush that came */
	u32 number;
};

/* An I/O that waits. @came: number of I/Os that had been carried out when it came */
struct request {
	struct list_head node;
	struct volatile_disk *disk;
	struct bio *bio;
	u64 came;
};

static unsigned int mib[MAX_DISKS];
static unsigned int nr_disks;
module_param_array(mib, uint, &nr_disks, 0444);

static struct volatile_disk all[MAX_DISKS];
static bool is_on = true;
static unsigned int cut_after, lose, lose_after, lost;
static bool lies;
static unsigned int garble_disk, garble_after, garble_reads = 1, refuse_reads;
static unsigned long garble_sector;
static unsigned long carried, cuts, dropped, torn;
static DEFINE_MUTEX(power_lock);	/* protects all above from "all" on */

static LIST_HEAD(waiting);
static DEFINE_SPINLOCK(waiting_lock);	/* protects waiting */
static struct workqueue_struct *queue;

module_param(lost, uint, 0644);
module_param(lies, bool, 0644);
module_param(garble_disk, uint, 0644);
module_param(garble_sector, ulong, 0644);
module_param(garble_after, uint, 0644);
module_param(garble_reads, uint, 0644);
module_param(refuse_reads, uint, 0644);
module_param(carried, ulong, 0444);
module_param(cuts, ulong, 0444);
module_param(dropped, ulong, 0444);
module_param(torn, ulong, 0444);

static bool by_chance(u32 in)
{
	return get_random_u32() % in == 0;
}

/* ---- a disk ---- */

static u8 *at(u8 *image, unsigned long sector)
{
	return image + sector * SECTOR;
}

static void make_durable(struct volatile_disk *disk, unsigned long sector)
{
	memcpy(at(disk->durable, sector), at(disk->image, sector), SECTOR);
	__clear_bit(sector, disk->dirty);
}

static void flush(struct volatile_disk *disk, u64 came)
{
	unsigned long sector;

	if (lies)
		return;
	for_each_set_bit(sector, disk->dirty, disk->sectors)
		if (disk->written[sector] <= came)
			make_durable(disk, sector);
}

static void write_sector(struct volatile_disk *disk, unsigned long sector, const void *data,
			 bool fua)
{
	/*
	 * A disk writes what it has in its cache whenever it likes, and has to when a flush that
	 * came after it waits: that flush will not see it any more.
	 */
	if (test_bit(sector, disk->dirty) &&
	    ((!lies && disk->written[sector] <= disk->flush_came) || by_chance(2)))
		make_durable(disk, sector);
	memcpy(at(disk->image, sector), data, SECTOR);
	__set_bit(sector, disk->dirty);
	disk->written[sector] = carried;
	if (fua && !lies)
		make_durable(disk, sector);
}

static void read_sector(const struct volatile_disk *disk, unsigned long sector, u8 *data)
{
	memcpy(data, at(disk->image, sector), SECTOR);
	if (!garble_after || disk->number != garble_disk || sector != garble_sector)
		return;
	if (garble_after > 1) {
		garble_after--;
		return;
	}
	data[0] ^= 1;
	if (garble_reads > 1) {
		garble_reads--;
		return;
	}
	garble_after = 0;
}

/* Whether a bio is one of the reads that fail. */
static bool is_refused(const struct volatile_disk *disk, const struct bio *bio)
{
	if (!refuse_reads || bio_op(bio) != REQ_OP_READ || disk->number != garble_disk ||
	    garble_sector < bio->bi_iter.bi_sector || garble_sector >= bio_end_sector(bio))
		return false;
	refuse_reads--;
	return true;
}

static void transfer(struct volatile_disk *disk, struct bio *bio)
{
	unsigned long sector = bio->bi_iter.bi_sector;
	struct bvec_iter iter;
	struct bio_vec vec;

	bio_for_each_segment(vec, bio, iter) {
		u8 *data = bvec_kmap_local(&vec);
		u32 in;

		for (in = 0; in < vec.bv_len; in += SECTOR, sector++) {
			if (op_is_write(bio_op(bio)))
				write_sector(disk, sector, data + in, bio->bi_opf & REQ_FUA);
			else
				read_sector(disk, sector, data + in);
		}
		kunmap_local(data);
	}
}

/* ---- a cut ---- */

static void tear_sector(struct volatile_disk *disk, unsigned long sector, const void *data)
{
	u8 garbage[SECTOR];

	if (by_chance(2))
		return;
	torn++;
	if (!disk->number || by_chance(2)) {
		write_sector(disk, sector, data, false);
		return;
	}
	get_random_bytes(garbage, sizeof(garbage));
	write_sector(disk, sector, garbage, false);
}

/* A write that was under way; one with a preflush has begun only if that had ended. */
static void tear(struct request *request)
{
	struct bio *bio = request->bio;
	unsigned long sector = bio->bi_iter.bi_sector;
	struct bvec_iter iter;
	struct bio_vec vec;

	if (!op_is_write(bio_op(bio)) || by_chance(2))
		return;
	if (bio->bi_opf & REQ_PREFLUSH)
		flush(request->disk, request->came);
	bio_for_each_segment(vec, bio, iter) {
		u8 *data = bvec_kmap_local(&vec);
		u32 in;

		for (in = 0; in < vec.bv_len; in += SECTOR, sector++)
			tear_sector(request->disk, sector, data + in);
		kunmap_local(data);
	}
}

static void drop_cache(struct volatile_disk *disk)
{
	u32 kept = get_random_u32() % 5;
	unsigned long sector;

	for_each_set_bit(sector, disk->dirty, disk->sectors) {
		if (get_random_u32() % 4 < kept) {
			make_durable(disk, sector);
			continue;
		}
		memcpy(at(disk->image, sector), at(disk->durable, sector), SECTOR);
		__clear_bit(sector, disk->dirty);
		dropped++;
	}
}

static void take_waiting(struct list_head *taken)
{
	spin_lock_irq(&waiting_lock);
	list_splice_init(&waiting, taken);
	spin_unlock_irq(&waiting_lock);
}

static void cut(void)
{
	struct request *request;
	LIST_HEAD(taken);
	u32 i;

	lockdep_assert_held(&power_lock);
	is_on = false;
	cuts++;
	take_waiting(&taken);
	list_for_each_entry(request, &taken, node)
		if (!(lost & (1U << request->disk->number)))
			tear(request);
	for (i = 0; i < nr_disks; i++)
		drop_cache(&all[i]);
	/* They fail when their turn comes. */
	spin_lock_irq(&waiting_lock);
	list_splice(&taken, &waiting);
	spin_unlock_irq(&waiting_lock);
}

/* ---- I/O ---- */

static struct request *next_waiting(void)
{
	struct request *request;

	spin_lock_irq(&waiting_lock);
	request = list_first_entry_or_null(&waiting, struct request, node);
	if (request)
		list_del(&request->node);
	spin_unlock_irq(&waiting_lock);
	return request;
}

static void put_back(struct request *request)
{
	spin_lock_irq(&waiting_lock);
	list_add(&request->node, &waiting);
	spin_unlock_irq(&waiting_lock);
}

static blk_status_t carry_out(struct request *request)
{
	struct volatile_disk *disk = request->disk;
	struct bio *bio = request->bio;

	lockdep_assert_held(&power_lock);
	if (is_on && cut_after && !--cut_after) {
		put_back(request);
		cut();
		return BLK_STS_AGAIN;
	}
	if (lose_after && !--lose_after)
		lost |= lose;
	if (!is_on || (lost & (1U << disk->number)))
		return BLK_STS_IOERR;
	if (is_refused(disk, bio))
		return BLK_STS_MEDIUM;
	carried++;
	if (bio->bi_opf & REQ_PREFLUSH)
		flush(disk, request->came);
	transfer(disk, bio);
	return BLK_STS_OK;
}

static void work(struct work_struct *item)
{
	struct request *request;

	while ((request = next_waiting())) {
		blk_status_t status;

		mutex_lock(&power_lock);
		status = carry_out(request);
		mutex_unlock(&power_lock);
		if (status == BLK_STS_AGAIN)
			continue;
		request->bio->bi_status = status;
		bio_endio(request->bio);
		kfree(request);
		/* More are to be under way at a time. */
		if (by_chance(16))
			usleep_range(50, 500);
	}
}

static DECLARE_WORK(item, work);

static void note_arrival(struct request *request)
{
	mutex_lock(&power_lock);
	request->came = carried;
	if (request->bio->bi_opf & REQ_PREFLUSH)
		request->disk->flush_came = carried;
	mutex_unlock(&power_lock);
}

static void submit(struct bio *bio)
{
	struct request *request = kmalloc(sizeof(*request), GFP_NOIO);

	if (!request) {
		bio_io_error(bio);
		return;
	}
	request->disk = bio->bi_bdev->bd_disk->private_data;
	request->bio = bio;
	note_arrival(request);
	spin_lock_irq(&waiting_lock);
	if (by_chance(2))
		list_add(&request->node, &waiting);
	else
		list_add_tail(&request->node, &waiting);
	spin_unlock_irq(&waiting_lock);
	queue_work(queue, &item);
}

static const struct block_device_operations ops = {
	.owner = THIS_MODULE,
	.submit_bio = submit,
};

/* ---- parameters with effects ---- */

static int set_under_lock(const char *text, const struct kernel_param *param)
{
	int err;

	mutex_lock(&power_lock);
	err = param_set_uint(text, param);
	mutex_unlock(&power_lock);
	return err;
}

static const struct kernel_param_ops counted = {
	.set = set_under_lock,
	.get = param_get_uint,
};
module_param_cb(cut_after, &counted, &cut_after, 0644);
module_param_cb(lose, &counted, &lose, 0644);
module_param_cb(lose_after, &counted, &lose_after, 0644);

static int set_power(const char *text, const struct kernel_param *param)
{
	bool wanted;
	int err = kstrtobool(text, &wanted);

	if (err)
		return err;
	mutex_lock(&power_lock);
	if (!wanted && is_on && queue)
		cut();
	is_on = wanted;
	mutex_unlock(&power_lock);
	return 0;
}

static const struct kernel_param_ops power_ops = {
	.set = set_power,
	.get = param_get_bool,
};
module_param_cb(power, &power_ops, &is_on, 0644);

/* ---- life ---- */

static struct gendisk *make_disk(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
	struct queue_limits limits = { .features = BLK_FEAT_WRITE_CACHE | BLK_FEAT_FUA };

	return blk_alloc_disk(&limits, NUMA_NO_NODE);
#else
	struct gendisk *made = blk_alloc_disk(NUMA_NO_NODE);

	if (!made)
		return ERR_PTR(-ENOMEM);
	blk_queue_write_cache(made->queue, true, true);
	return made;
#endif
}

static int add(struct volatile_disk *disk, u32 number)
{
	int err;

	disk->number = number;
	disk->sectors = (unsigned long)mib[number] << (20 - SECTOR_SHIFT);
	disk->image = vzalloc(disk->sectors * SECTOR);
	disk->durable = vzalloc(disk->sectors * SECTOR);
	disk->dirty = vzalloc(BITS_TO_LONGS(disk->sectors) * sizeof(long));
	disk->written = vzalloc(disk->sectors * sizeof(*disk->written));
	if (!disk->image || !disk->durable || !disk->dirty || !disk->written)
		return -ENOMEM;
	disk->disk = make_disk();
	if (IS_ERR(disk->disk)) {
		err = PTR_ERR(disk->disk);
		disk->disk = NULL;
		return err;
	}
	disk->disk->fops = &ops;
	disk->disk->private_data = disk;
	disk->disk->flags |= GENHD_FL_NO_PART;
	snprintf(disk->disk->disk_name, sizeof(disk->disk->disk_name), "spek_volatile%u", number);
	set_capacity(disk->disk, disk->sectors);
	err = add_disk(disk->disk);
	if (err) {
		put_disk(disk->disk);
		disk->disk = NULL;
	}
	return err;
}

static void free_all(void)
{
	u32 i;

	for (i = 0; i < MAX_DISKS; i++) {
		struct volatile_disk *disk = &all[i];

		if (disk->disk) {
			del_gendisk(disk->disk);
			put_disk(disk->disk);
		}
		vfree(disk->image);
		vfree(disk->durable);
		vfree(disk->dirty);
		vfree(disk->written);
	}
	if (queue)
		destroy_workqueue(queue);
}

static int __init volatile_init(void)
{
	int err = 0;
	u32 i;

	queue = alloc_workqueue("spek_volatile", WQ_UNBOUND | WQ_MEM_RECLAIM, 1);
	if (!queue)
		return -ENOMEM;
	for (i = 0; !err && i < nr_disks; i++)
		err = add(&all[i], i);
	if (err)
		free_all();
	return err;
}

static void __exit volatile_exit(void)
{
	free_all();
}

module_init(volatile_init);
module_exit(volatile_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Disks that lose power at one instant, for tests");
