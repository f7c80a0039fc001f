// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A plugin of QEMU's translator: how often each instruction of the guest's kernel ran.
 *
 * Whenever the guest executes MARK, all counts so far go to DIR/profile.N, a line for each
 * address; differences between two files are what ran between two marks. Userspace is one line,
 * address 0. For one virtual CPU: counters are plain.
 *
 * The functions and types of the plugin interface (version 1, QEMU 4.2 to 8.2) that are needed
 * are declared here, because Debian's QEMU does not ship their header.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   void (*cb)(qemu_plugin_id_t, struct qemu_plugin_tb *));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    void (*cb)(unsigned int, void *),
					    enum qemu_plugin_cb_flags flags, void *userdata);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn,
						enum qemu_plugin_op op, void *counter,
						uint64_t step);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;
__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id,
							       const void *info, int argc,
							       char **argv);

/* nopl 0x5be4c0de(%rax,%rax,1), the same as in marks.py */
static const uint8_t mark[] = { 0x0f, 0x1f, 0x84, 0x00, 0xde, 0xc0, 0xe4, 0x5b };

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
static const char *folder;
static unsigned int marks;

static void *must(void *memory)
{
	if (!memory) {
		fprintf(stderr, "profile: out of memory\n");
		abort();
	}
	return memory;
}

static struct counter **place(struct counter **entries, size_t size, uint64_t address)
{
	size_t i = (size_t)((address * 0x9e3779b97f4a7c15u) >> 20) & (size - 1);

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
	char path[4096];
	FILE *file;

	(void)cpu;
	(void)userdata;
	snprintf(path, sizeof(path), "%s/profile.%u", folder, marks++);
	file = fopen(path, "w");
	if (!file) {
		perror(path);
		abort();
	}
	fprintf(file, "%x %" PRIu64 "\n", 0, userspace.count);
	for (size_t i = 0; i < table_size; i++)
		if (table[i] && table[i]->count)
			fprintf(file, "%" PRIx64 " %" PRIu64 "\n", table[i]->address,
				table[i]->count);
	if (fclose(file)) {
		perror(path);
		abort();
	}
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t nr = qemu_plugin_tb_n_insns(tb);

	(void)id;
	for (size_t i = 0; i < nr; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		qemu_plugin_register_vcpu_insn_exec_inline(
			insn, QEMU_PLUGIN_INLINE_ADD_U64,
			&counter_of(qemu_plugin_insn_vaddr(insn))->count, 1);
		if (qemu_plugin_insn_size(insn) == sizeof(mark) &&
		    !memcmp(qemu_plugin_insn_data(insn), mark, sizeof(mark)))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, write_counts,
							       QEMU_PLUGIN_CB_NO_REGS, NULL);
	}
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], "dir=", 4)) {
		fprintf(stderr, "profile: needs dir=DIR\n");
		return -1;
	}
	folder = strdup(argv[0] + 4);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
