/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plugin of QEMU's translator that writes counts by address to DIR/profile.N whenever the guest
 * executes MARK. Included once, by the plugin's only file.
 *
 * The functions and types of the plugin interface (version 1, QEMU 4.2 to 8.2) that are needed
 * are declared here, because Debian's QEMU does not ship their header.
 */
#ifndef SPEK_VM_PLUGIN_H
#define SPEK_VM_PLUGIN_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };
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
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
				      void (*cb)(unsigned int, qemu_plugin_meminfo_t, uint64_t,
						 void *),
				      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw,
				      void *userdata);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;
__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id,
							       const void *info, int argc,
							       char **argv);

/* nopl 0x5be4c0de(%rax,%rax,1), the same as in marks.py */
static const uint8_t mark[] = { 0x0f, 0x1f, 0x84, 0x00, 0xde, 0xc0, 0xe4, 0x5b };

static const char *folder;
static unsigned int marks;	/* executed so far */

/* What a plugin does. */
static void translate(struct qemu_plugin_insn *insn);

static bool is_mark(const struct qemu_plugin_insn *insn)
{
	return qemu_plugin_insn_size(insn) == sizeof(mark) &&
	       !memcmp(qemu_plugin_insn_data(insn), mark, sizeof(mark));
}

static void *must(void *memory)
{
	if (!memory) {
		fprintf(stderr, "plugin: out of memory\n");
		abort();
	}
	return memory;
}

/* Hash of an address for a table of a power of two of entries. */
static size_t slot_of(uint64_t address, size_t size)
{
	return (size_t)((address * 0x9e3779b97f4a7c15u) >> 20) & (size - 1);
}

static FILE *part;

/* The file of this mark; put() adds lines to it. */
static void begin_part(void)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/profile.%u", folder, marks);
	part = fopen(path, "w");
	if (!part) {
		perror(path);
		abort();
	}
}

static void put(uint64_t address, uint64_t count)
{
	fprintf(part, "%" PRIx64 " %" PRIu64 "\n", address, count);
}

static void end_part(void)
{
	if (fclose(part)) {
		perror(folder);
		abort();
	}
	marks++;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t nr = qemu_plugin_tb_n_insns(tb);

	(void)id;
	for (size_t i = 0; i < nr; i++)
		translate(qemu_plugin_tb_get_insn(tb, i));
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], "dir=", 4)) {
		fprintf(stderr, "plugin: needs dir=DIR\n");
		return -1;
	}
	folder = strdup(argv[0] + 4);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}

#endif
