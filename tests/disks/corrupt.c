// SPDX-License-Identifier: GPL-2.0
/*
 * spek_corrupt: a disk in memory that spoils what is written to it, for tests. Never shipped.
 *
 * It keeps two images: what it hands out, and what a sound disk would hold. Every nth write of a
 * block that is sound is spoilt, one block of it, in one way after the other. A block stays
 * spoilt until it is written again, and that write is carried out well. When spek reads a spoilt
 * block that is noted: that is what a verifying reader has to find, by class and address, whatever was
 * overwritten meanwhile without ever having been read.
 *
 * I/Os are carried out by a worker of its own, one after the other and out of order, so that
 * the sender has many outstanding.
 *
 * Parameters: mib (size), every (spoil every nth write; 0: none), and "mark" (write anything:
 * what is there now is what was there before a run). Directory spek_corrupt in debugfs: "counts",
 * blocks spoilt and blocks handed out, by class; "delivered", address and class of each.
 */
#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/debugfs.h>
#include <linux/highmem.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/version.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#define BLOCK		512u
#define MAX_DELIVERED	65536u
#define MAGIC		0x3130504d54534b50ull	/* of a stamp, kmod/load/core/stamp.h */

/* As the contract numbers them, and one that is none. */
enum { CORRUPT, MISDIRECTED, STALE, TORN, UNWRITTEN, UNSTAMPED, FOREIGN, NR_CLASSES, SOUND };

static const char *const names[NR_CLASSES] = {
	"corrupt", "misdirected", "stale", "torn", "unwritten", "unstamped", "foreign",
};

/* The ways of spoiling a write. */
enum { FLIP, LOSE, REDIRECT, TEAR, NR_WAYS };

static unsigned int mib = 16;
module_param(mib, uint, 0444);
static unsigned int every;
module_param(every, uint, 0644);

static struct gendisk *disk;
static struct dentry *folder;
static u8 *real, *ideal;
static u8 *class_of;		/* of each block: what a reader finds */
static bool *written;		/* each block: since the mark */
static sector_t blocks;
static u64 injected[NR_CLASSES], delivered[NR_CLASSES];
static u64 writes, next_way;
static struct {
	sector_t sector;
	u32 class;
} *log;
static u32 logged;
static DEFINE_MUTEX(image_lock);	/* protects all above from "real" on */

static struct bio_list waiting;
static unsigned int arrived;
static DEFINE_SPINLOCK(waiting_lock);	/* protects next 2 above */
static struct workqueue_struct *queue;

static void *at(u8 *image, sector_t sector)
{
	return image + sector * BLOCK;
}

static void spoil(sector_t sector, u32 class)
{
	class_of[sector] = class;
	injected[class]++;
}

/* The write of this block does not reach it: what a reader finds there instead. */
static u32 class_of_lost(sector_t sector)
{
	if (written[sector])
		return STALE;
	return *(u64 *)at(real, sector) == MAGIC ? FOREIGN : UNSTAMPED;
}

/* Return: true if the write of a sound block was spoilt. */
static bool spoil_write(sector_t sector, const void *data)
{
	sector_t other = (sector + blocks / 2 + 7) % blocks;

	switch (next_way % NR_WAYS) {
	case FLIP:
		memcpy(at(real, sector), data, BLOCK);
		((u8 *)at(real, sector))[writes % BLOCK] ^= 1 << (writes / 3 % 8);
		spoil(sector, CORRUPT);
		break;
	case LOSE:
		spoil(sector, class_of_lost(sector));
		break;
	case REDIRECT:
		if (class_of[other] != SOUND)
			return false;
		spoil(sector, class_of_lost(sector));
		memcpy(at(real, other), data, BLOCK);
		spoil(other, MISDIRECTED);
		break;
	case TEAR:
		memcpy(at(real, sector), data, BLOCK / 2);
		spoil(sector, TORN);
		break;
	}
	next_way++;
	return true;
}

static void write_block(sector_t sector, const void *data, bool try)
{
	bool spoilt = false;

	if (try && class_of[sector] == SOUND)
		spoilt = spoil_write(sector, data);
	if (!spoilt) {
		memcpy(at(real, sector), data, BLOCK);
		class_of[sector] = SOUND;
	}
	memcpy(at(ideal, sector), data, BLOCK);
	written[sector] = true;
}

static void read_block(sector_t sector, void *data, bool note)
{
	u32 class = class_of[sector];

	memcpy(data, at(real, sector), BLOCK);
	/* The images must agree with the classes, or the test would prove nothing. */
	WARN_ON_ONCE((class == SOUND) != !memcmp(at(real, sector), at(ideal, sector), BLOCK));
	if (class == SOUND || !note)
		return;
	delivered[class]++;
	if (logged < MAX_DELIVERED) {
		log[logged].sector = sector;
		log[logged].class = class;
		logged++;
	}
}

static void carry_out(struct bio *bio)
{
	sector_t sector = bio->bi_iter.bi_sector;
	bool write = op_is_write(bio_op(bio));
	/* spek's; others look for signatures whenever somebody has closed the disk. */
	bool note = bio->bi_opf & REQ_NOMERGE;
	struct bvec_iter iter;
	struct bio_vec vec;
	bool try;

	mutex_lock(&image_lock);
	writes += write;
	try = write && every && writes % every == 0;
	bio_for_each_segment(vec, bio, iter) {
		u8 *data = bvec_kmap_local(&vec);
		u32 in;

		for (in = 0; in < vec.bv_len; in += BLOCK, sector++) {
			if (write)
				write_block(sector, data + in, try);
			else
				read_block(sector, data + in, note);
			try = false;
		}
		kunmap_local(data);
	}
	mutex_unlock(&image_lock);
	bio_endio(bio);
}

static void work(struct work_struct *item)
{
	struct bio *bio;

	do {
		spin_lock_irq(&waiting_lock);
		bio = bio_list_pop(&waiting);
		spin_unlock_irq(&waiting_lock);
		if (bio)
			carry_out(bio);
	} while (bio);
}

static DECLARE_WORK(item, work);

static void submit(struct bio *bio)
{
	if (!bio_sectors(bio)) {
		bio_endio(bio);
		return;
	}
	spin_lock_irq(&waiting_lock);
	if (arrived++ % 3)
		bio_list_add(&waiting, bio);
	else
		bio_list_add_head(&waiting, bio);
	spin_unlock_irq(&waiting_lock);
	queue_work(queue, &item);
}

static const struct block_device_operations ops = {
	.owner = THIS_MODULE,
	.submit_bio = submit,
};

static int mark(const char *value, const struct kernel_param *param)
{
	if (!real)
		return 0;
	mutex_lock(&image_lock);
	memcpy(ideal, real, blocks * BLOCK);
	memset(class_of, SOUND, blocks);
	memset(written, 0, blocks * sizeof(*written));
	memset(injected, 0, sizeof(injected));
	memset(delivered, 0, sizeof(delivered));
	writes = 0;
	next_way = 0;
	logged = 0;
	mutex_unlock(&image_lock);
	return 0;
}

static const struct kernel_param_ops mark_ops = { .set = mark };
module_param_cb(mark, &mark_ops, NULL, 0200);

static int counts_show(struct seq_file *file, void *unused)
{
	u32 i;

	mutex_lock(&image_lock);
	for (i = 0; i < NR_CLASSES; i++)
		seq_printf(file, "%s %llu %llu\n", names[i], injected[i], delivered[i]);
	mutex_unlock(&image_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counts);

static int delivered_show(struct seq_file *file, void *unused)
{
	u32 i;

	mutex_lock(&image_lock);
	for (i = 0; i < logged; i++)
		seq_printf(file, "%llu %s\n", (u64)log[i].sector * BLOCK, names[log[i].class]);
	mutex_unlock(&image_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(delivered);

static void free_images(void)
{
	vfree(real);
	vfree(ideal);
	vfree(class_of);
	vfree(written);
	vfree(log);
}

static struct gendisk *make_disk(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
	return blk_alloc_disk(NULL, NUMA_NO_NODE);
#else
	struct gendisk *made = blk_alloc_disk(NUMA_NO_NODE);

	return made ?: ERR_PTR(-ENOMEM);
#endif
}

static int add(void)
{
	disk = make_disk();
	if (IS_ERR(disk))
		return PTR_ERR(disk);
	disk->fops = &ops;
	disk->flags |= GENHD_FL_NO_PART;
	snprintf(disk->disk_name, sizeof(disk->disk_name), "spek_corrupt");
	set_capacity(disk, blocks);
	return add_disk(disk);
}

static int __init corrupt_init(void)
{
	int err = -ENOMEM;

	blocks = (sector_t)mib << (20 - SECTOR_SHIFT);
	real = vzalloc(blocks * BLOCK);
	ideal = vzalloc(blocks * BLOCK);
	class_of = vmalloc(blocks);
	written = vzalloc(blocks * sizeof(*written));
	log = vmalloc(MAX_DELIVERED * sizeof(*log));
	queue = alloc_workqueue("spek_corrupt", WQ_UNBOUND | WQ_MEM_RECLAIM, 1);
	if (!real || !ideal || !class_of || !written || !log || !queue)
		goto err_free;
	memset(class_of, SOUND, blocks);
	bio_list_init(&waiting);
	err = add();
	if (err)
		goto err_free;
	folder = debugfs_create_dir("spek_corrupt", NULL);
	debugfs_create_file("counts", 0400, folder, NULL, &counts_fops);
	debugfs_create_file("delivered", 0400, folder, NULL, &delivered_fops);
	return 0;

err_free:
	if (!IS_ERR_OR_NULL(disk))
		put_disk(disk);
	if (queue)
		destroy_workqueue(queue);
	free_images();
	return err;
}

static void __exit corrupt_exit(void)
{
	debugfs_remove(folder);
	del_gendisk(disk);
	put_disk(disk);
	destroy_workqueue(queue);
	free_images();
}

module_init(corrupt_init);
module_exit(corrupt_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A disk that spoils data, for tests");
