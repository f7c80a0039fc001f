// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A plugin of QEMU's translator: how often each instruction of the guest's kernel ran.
 *
 * Whenever the guest executes MARK, all counts so far go to DIR/profile.N, a line for each
 * address; differences between two files are what ran between two marks. Userspace is one line,
 * address 0. For one virtual CPU: counters are plain.
 */
#include "plugin.h"

/* Open addressing; it grows, but counters must stay where translated code has them. */
struct counter {
	uint64_t address;
	uint64_t count;
};

static struct counter **table;
static size_t table_size, table_used;
static struct counter *fresh;
static size_t fresh_left;
static struct counter userspace;

static struct counter **place(struct counter **entries, size_t size, uint64_t address)
{
	size_t i = slot_of(address, size);

	while (entries[i] && entries[i]->address != address)
		i = (i + 1) & (size - 1);
	return &entries[i];
}

static void grow(void)
{
	size_t size = table_size ? 2 * table_size : 1 << 20;
	struct counter **entries = must(calloc(size, sizeof(*entries)));

	for (size_t i = 0; i < table_size; i++)
		if (table[i])
			*place(entries, size, table[i]->address) = table[i];
	free(table);
	table = entries;
	table_size = size;
}

static struct counter *counter_of(uint64_t address)
{
	struct counter **entry;

	if (!(address >> 63))
		return &userspace;
	if (2 * table_used >= table_size)
		grow();
	entry = place(table, table_size, address);
	if (*entry)
		return *entry;
	if (!fresh_left) {
		fresh_left = 1 << 16;
		fresh = must(calloc(fresh_left, sizeof(*fresh)));
	}
	fresh_left--;
	table_used++;
	*entry = fresh++;
	(*entry)->address = address;
	return *entry;
}

static void write_counts(unsigned int cpu, void *userdata)
{
	(void)cpu;
	(void)userdata;
	begin_part();
	put(0, userspace.count);
	for (size_t i = 0; i < table_size; i++)
		if (table[i] && table[i]->count)
			put(table[i]->address, table[i]->count);
	end_part();
}

static void translate(struct qemu_plugin_insn *insn)
{
	qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
						   &counter_of(qemu_plugin_insn_vaddr(insn))->count,
						   1);
	if (is_mark(insn))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, write_counts, QEMU_PLUGIN_CB_NO_REGS,
						       NULL);
}
