// SPDX-License-Identifier: GPL-2.0
/*
 * spek_sites: the allocation that fails is picked by the place in a module that asks for it.
 *
 * fail-nth of a task counts the allocations of everything below a system call; how many those are
 * is never the same twice, as slabs run empty and shadow memory is mapped when they do. A probe
 * sees each allocation before it is decided whether it fails, looks who asks, and has fail-nth say
 * yes. So what fails, and what is printed of it, is the kernel's own fault injection.
 *
 * What is written to /sys/kernel/debug/spek_sites, which one at a time can have open, is
 *
 *	[module]			watch only
 *	function+0xoff/0xsize [module]	the first allocation at this site fails
 *
 * Before it may stand * (allocations of any task, not only of the writing one) and ! (each at
 * the site fails, not only the first: kvmalloc() tries two ways). Reading ends that. It says how
 * many have failed, then each site that was come by: where the innermost function of the module
 * goes on. ENOSPC: there were too many.
 *
 * Locking: @lock protects *watch. Probes take it in any context, where lockdep does not follow;
 * nothing is called under it that allocates or takes another lock.
 */
#include <linux/debugfs.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>
#include <linux/string.h>

#define SITES 128
#define FRAMES 64
#define NAME 96

static struct {
	bool on;
	struct task_struct *task;	/* NULL: any */
	char wanted[NAME];
	const char *module;		/* the end of @wanted */
	bool every;			/* allocation at @wanted, not only the first */
	u32 failed;
	bool too_many;
	u32 nr;
	char site[SITES][NAME];
	char name[KSYM_SYMBOL_LEN];
	unsigned long frame[FRAMES];
} *watch;

static arch_spinlock_t lock = __ARCH_SPIN_LOCK_UNLOCKED;
static unsigned long opened;
static char text[SITES * NAME + 12];	/* of who has the file open */

/* The module's innermost function in the stack of this task. Return: false if there is none. */
static bool find_site(void)
{
	u32 nr = stack_trace_save(watch->frame, FRAMES, 0), i;
	size_t end = strlen(watch->module);

	for (i = 0; i < nr; i++) {
		unsigned long at = watch->frame[i];
		int length;

		if (at < MODULES_VADDR || at >= MODULES_END)
			continue;
		length = sprint_symbol(watch->name, at);
		if (length >= end && !strcmp(watch->name + length - end, watch->module))
			return true;
	}
	return false;
}

static void note_site(void)
{
	u32 i;

	for (i = 0; i < watch->nr; i++)
		if (!strcmp(watch->site[i], watch->name))
			return;
	if (i == SITES || strscpy(watch->site[i], watch->name, NAME) < 0)
		watch->too_many = true;
	else
		watch->nr++;
}

static bool is_watched(void)
{
	struct task_struct *task = READ_ONCE(watch->task);

	return READ_ONCE(watch->on) && (!task || task == current);
}

/* A probe that is a breakpoint counts as an NMI, and an NMI as one interrupt more. */
static bool in_interrupted_task(void)
{
	return in_serving_softirq() ||
	       hardirq_count() >> HARDIRQ_SHIFT > (preempt_count() & NMI_MASK) >> NMI_SHIFT;
}

/* fail-nth decides for tasks only, and never for what can't fail. */
static void come_by(gfp_t gfp)
{
	unsigned long flags;

	if (gfp & __GFP_NOFAIL || in_interrupted_task() || !is_watched())
		return;
	raw_local_irq_save(flags);
	arch_spin_lock(&lock);
	if (is_watched() && find_site()) {
		note_site();
		if ((watch->every || !watch->failed) && !strcmp(watch->name, watch->wanted)) {
			watch->failed++;
			current->fail_nth = 1;
		}
	}
	arch_spin_unlock(&lock);
	raw_local_irq_restore(flags);
}

static int before_slab(struct kprobe *probe, struct pt_regs *regs)
{
	come_by((__force gfp_t)regs_get_kernel_argument(regs, 1));
	return 0;
}

static int before_pages(struct kprobe *probe, struct pt_regs *regs)
{
	come_by((__force gfp_t)regs_get_kernel_argument(regs, 0));
	return 0;
}

static struct kprobe on_slab = {
	.symbol_name = "should_failslab",
	.pre_handler = before_slab,
};

static struct kprobe on_pages = {
	.symbol_name = "should_fail_alloc_page",
	.pre_handler = before_pages,
};

static struct kprobe *probes[] = { &on_slab, &on_pages };

static void stop_watching(void)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	arch_spin_lock(&lock);
	WRITE_ONCE(watch->on, false);
	arch_spin_unlock(&lock);
	raw_local_irq_restore(flags);
}

static void start_watching(const char *wanted)
{
	const char *site = wanted + strspn(wanted, "*!");
	unsigned long flags;

	raw_local_irq_save(flags);
	arch_spin_lock(&lock);
	strscpy(watch->wanted, site, NAME);
	watch->module = strrchr(watch->wanted, '[');
	WRITE_ONCE(watch->task, memchr(wanted, '*', site - wanted) ? NULL : current);
	watch->every = memchr(wanted, '!', site - wanted);
	watch->failed = 0;
	watch->too_many = false;
	watch->nr = 0;
	WRITE_ONCE(watch->on, true);
	arch_spin_unlock(&lock);
	raw_local_irq_restore(flags);
}

static int open_sites(struct inode *inode, struct file *file)
{
	return test_and_set_bit(0, &opened) ? -EBUSY : 0;
}

static int release_sites(struct inode *inode, struct file *file)
{
	stop_watching();
	clear_bit_unlock(0, &opened);
	return 0;
}

static ssize_t write_sites(struct file *file, const char __user *from, size_t count, loff_t *pos)
{
	char wanted[NAME] = {};

	if (count >= sizeof(wanted))
		return -EINVAL;
	if (copy_from_user(wanted, from, count))
		return -EFAULT;
	if (!strchr(wanted, '['))
		return -EINVAL;
	start_watching(wanted);
	return count;
}

static ssize_t read_sites(struct file *file, char __user *to, size_t count, loff_t *pos)
{
	size_t length;
	u32 i;

	stop_watching();
	if (watch->too_many)
		return -ENOSPC;
	length = scnprintf(text, sizeof(text), "%u\n", watch->failed);
	for (i = 0; i < watch->nr; i++)
		length += scnprintf(text + length, sizeof(text) - length, "%s\n", watch->site[i]);
	return simple_read_from_buffer(to, count, pos, text, length);
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.open = open_sites,
	.release = release_sites,
	.write = write_sites,
	.read = read_sites,
};

static struct dentry *file;

static int __init spek_sites_init(void)
{
	int err;

	watch = kzalloc(sizeof(*watch), GFP_KERNEL);
	if (!watch)
		return -ENOMEM;
	err = register_kprobes(probes, ARRAY_SIZE(probes));
	if (err)
		goto no_probes;
	file = debugfs_create_file("spek_sites", 0600, NULL, NULL, &fops);
	err = PTR_ERR_OR_ZERO(file);
	if (err)
		goto no_file;
	return 0;

no_file:
	unregister_kprobes(probes, ARRAY_SIZE(probes));
no_probes:
	kfree(watch);
	return err;
}

static void __exit spek_sites_exit(void)
{
	debugfs_remove(file);
	unregister_kprobes(probes, ARRAY_SIZE(probes));
	kfree(watch);
}

module_init(spek_sites_init);
module_exit(spek_sites_exit);

MODULE_DESCRIPTION("Allocations that fail by call site, for tests in debug kernels");
MODULE_LICENSE("GPL");
