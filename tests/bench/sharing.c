// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin of QEMU's translator: instructions of the guest's kernel that miss a cache line because
 * another CPU has used it.
 *
 * Caches are of unlimited size, so that no line is lost but to another CPU. A load misses if
 * another CPU has written the line since this CPU used it last; a store misses if other CPUs have
 * used the line since this CPU wrote it. The first use of a line by a CPU is not a miss.
 *
 * Accesses are looked at between an odd execution of MARK and the next one. At both all counts so
 * far go to DIR/profile.N, as profile.c writes them. Lines are told apart by virtual addresses,
 * which are the same for all CPUs in the kernel. CPUs may have threads of their own: a lock orders
 * their accesses.
 */
#include "plugin.h"

#define LINE_SHIFT	6

/* An instruction of the kernel; in a list of all that were translated. */
struct counter {
	struct counter *next;
	uint64_t address;
	uint64_t misses;
};

/* A cache line: CPUs that have it, and those that have ever had it, a bit each. */
struct line {
	uint64_t number;
	uint32_t holders;
	uint32_t users;
};

static char lock;	/* protects all below */
static struct counter *counters;
static struct line *lines;
static size_t nr_lines, lines_used;

static bool is_counting;	/* a hint without the lock */

static void take_lock(void)
{
	while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE))
		__builtin_ia32_pause();
}

static void release_lock(void)
{
	__atomic_clear(&lock, __ATOMIC_RELEASE);
}

/* Open addressing; no kernel address is in line 0. */
static struct line *place(struct line *table, size_t size, uint64_t number)
{
	size_t i = slot_of(number, size);

	while (table[i].number && table[i].number != number)
		i = (i + 1) & (size - 1);
	return &table[i];
}

static void grow(void)
{
	size_t size = nr_lines ? 2 * nr_lines : 1 << 20;
	struct line *table = must(calloc(size, sizeof(*table)));

	for (size_t i = 0; i < nr_lines; i++)
		if (lines[i].number)
			*place(table, size, lines[i].number) = lines[i];
	free(lines);
	lines = table;
	nr_lines = size;
}

static struct line *line_of(uint64_t address)
{
	struct line *line;

	if (2 * lines_used >= nr_lines)
		grow();
	line = place(lines, nr_lines, address >> LINE_SHIFT);
	if (!line->number) {
		line->number = address >> LINE_SHIFT;
		lines_used++;
	}
	return line;
}

static void accessed(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address, void *userdata)
{
	struct counter *counter = userdata;
	const uint32_t own = 1u << cpu;
	struct line *line;

	if (!(address >> 63) || !__atomic_load_n(&is_counting, __ATOMIC_RELAXED))
		return;
	take_lock();
	line = line_of(address);
	if (qemu_plugin_mem_is_store(info)) {
		counter->misses += (line->users & own) && line->holders != own;
		line->holders = own;
	} else {
		counter->misses += (line->users & own) && !(line->holders & own);
		line->holders |= own;
	}
	line->users |= own;
	release_lock();
}

static void write_counts(void)
{
	begin_part();
	/* The same code may have been translated several times. */
	for (const struct counter *one = counters; one; one = one->next)
		if (one->misses)
			put(one->address, one->misses);
	end_part();
}

static void marked(unsigned int cpu, void *userdata)
{
	(void)cpu;
	(void)userdata;
	take_lock();
	write_counts();
	__atomic_store_n(&is_counting, marks & 1, __ATOMIC_RELAXED);
	release_lock();
}

static struct counter *new_counter(uint64_t address)
{
	struct counter *counter = must(calloc(1, sizeof(*counter)));

	counter->address = address;
	take_lock();
	counter->next = counters;
	counters = counter;
	release_lock();
	return counter;
}

static void translate(struct qemu_plugin_insn *insn)
{
	uint64_t address = qemu_plugin_insn_vaddr(insn);

	if (address >> 63)
		qemu_plugin_register_vcpu_mem_cb(insn, accessed, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW, new_counter(address));
	else if (is_mark(insn))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, marked, QEMU_PLUGIN_CB_NO_REGS, NULL);
}
