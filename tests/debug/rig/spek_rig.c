// SPDX-License-Identifier: GPL-2.0
/*
 * spek_rig: one fault of each kind that a debug kernel must report. For tests of those tests.
 *
 * Write the name of a fault to /sys/kernel/debug/spek_rig. Never load this on a machine that you
 * need.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

static DEFINE_MUTEX(first_lock);
static DEFINE_MUTEX(second_lock);
static DEFINE_SPINLOCK(no_sleep_lock);
static struct dentry *file;
static u64 raced;

/* More than one: an old copy of a pointer in a register or on a stack hides a leak from kmemleak. */
#define LEAKS 16

static void leak_slab(void)
{
	u32 i;

	for (i = 0; i < LEAKS; i++) {
		void *volatile lost = kmalloc(4711, GFP_KERNEL);

		(void)lost;
		lost = NULL;
	}
}

static void leak_vmalloc(void)
{
	u32 i;

	for (i = 0; i < LEAKS; i++) {
		void *volatile lost = vmalloc(3 * PAGE_SIZE);

		(void)lost;
		lost = NULL;
	}
}

static void use_after_free(void)
{
	volatile char *object = kmalloc(123, GFP_KERNEL);

	if (!object)
		return;
	kfree((void *)object);
	/* A write would go into KASAN's list of what has been freed. */
	(void)object[7];
}

static void read_beyond_end(void)
{
	volatile char *object = kmalloc(100, GFP_KERNEL);

	if (!object)
		return;
	(void)object[100];
	kfree((void *)object);
}

static void take_in_both_orders(void)
{
	mutex_lock(&first_lock);
	mutex_lock(&second_lock);
	mutex_unlock(&second_lock);
	mutex_unlock(&first_lock);

	mutex_lock(&second_lock);
	mutex_lock(&first_lock);
	mutex_unlock(&first_lock);
	mutex_unlock(&second_lock);
}

static void sleep_in_atomic(void)
{
	spin_lock(&no_sleep_lock);
	might_sleep();
	spin_unlock(&no_sleep_lock);
}

static void drop_too_often(void)
{
	refcount_t count = REFCOUNT_INIT(1);

	if (refcount_dec_and_test(&count))
		refcount_dec(&count);
}

static void shift_too_far(void)
{
	volatile int by = 40;
	volatile int value = 1;

	value <<= by;
}

static int race(void *unused)
{
	while (!kthread_should_stop()) {
		raced++;
		cpu_relax();
		cond_resched();
	}
	return 0;
}

static void race_for_a_second(void)
{
	struct task_struct *threads[2];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(threads); i++)
		threads[i] = kthread_run(race, NULL, "spek_rig/%u", i);
	msleep(1000);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		if (!IS_ERR(threads[i]))
			kthread_stop(threads[i]);
}

static const struct {
	const char *name;
	void (*act)(void);
} faults[] = {
	{ "leak", leak_slab },
	{ "leak-vmalloc", leak_vmalloc },
	{ "use-after-free", use_after_free },
	{ "out-of-bounds", read_beyond_end },
	{ "lock-order", take_in_both_orders },
	{ "sleep-in-atomic", sleep_in_atomic },
	{ "refcount", drop_too_often },
	{ "shift", shift_too_far },
	{ "race", race_for_a_second },
};

static ssize_t write_fault(struct file *file, const char __user *from, size_t count, loff_t *pos)
{
	char name[32] = {};
	u32 i;

	if (count >= sizeof(name) || copy_from_user(name, from, count))
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		if (sysfs_streq(name, faults[i].name)) {
			faults[i].act();
			return count;
		}
	}
	return -EINVAL;
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.write = write_fault,
};

static int __init spek_rig_init(void)
{
	file = debugfs_create_file("spek_rig", 0200, NULL, NULL, &fops);
	return PTR_ERR_OR_ZERO(file);
}

static void __exit spek_rig_exit(void)
{
	debugfs_remove(file);
}

module_init(spek_rig_init);
module_exit(spek_rig_exit);

MODULE_DESCRIPTION("Faults on purpose, for tests of debug kernels");
MODULE_LICENSE("GPL");
