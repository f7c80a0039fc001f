// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A plugin of QEMU's translator: how often each instruction of the guest's kernel ran.
 *
 * Whenever the guest executes MARK, all counts so far go to DIR/profile.N, a line for each
 * address; differences between two files are what ran between two marks. Userspace is one line,
 * address 1. For one virtual CPU: the table has no lock.
 */
#include "plugin.h"

#define USERSPACE	1

/* Open addressing; address 0 marks a free entry. */
struct counter {
	uint64_t address;
	struct tally tally;
};

static struct counter *table;
static size_t table_size, table_used;

static struct counter *place(struct counter *entries, size_t size, uint64_t address)
{
	size_t i = slot_of(address, size);

	while (entries[i].address && entries[i].address != address)
		i = (i + 1) & (size - 1);
	return &entries[i];
}

static void grow(void)
{
	size_t size = table_size ? 2 * table_size : 1 << 20;
	struct counter *entries = must(calloc(size, sizeof(*entries)));

	for (size_t i = 0; i < table_size; i++)
		if (table[i].address)
			*place(entries, size, table[i].address) = table[i];
	free(table);
	table = entries;
	table_size = size;
}

static struct tally tally_of(uint64_t address)
{
	struct counter *entry;

	if (!(address >> 63))
		address = USERSPACE;
	if (2 * table_used >= table_size)
		grow();
	entry = place(table, table_size, address);
	if (!entry->address) {
		entry->address = address;
		entry->tally = tally_new();
		table_used++;
	}
	return entry->tally;
}

static void write_counts(unsigned int cpu, void *userdata)
{
	(void)cpu;
	(void)userdata;
	begin_part();
	for (size_t i = 0; i < table_size; i++) {
		uint64_t count = table[i].address ? tally_sum(table[i].tally) : 0;

		if (count)
			put(table[i].address, count);
	}
	end_part();
}

static void translate(struct qemu_plugin_insn *insn)
{
	tally_count(tally_of(qemu_plugin_insn_vaddr(insn)), insn);
	if (is_mark(insn))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, write_counts, QEMU_PLUGIN_CB_NO_REGS,
						       NULL);
}
