/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plugin of QEMU's translator that writes counts by address to DIR/profile.N whenever the guest
 * executes MARK. Included once, by the plugin's only file.
 *
 * The functions and types of the plugin interface that are needed are declared here, because
 * Debian's QEMU does not ship their header. The compiler's option -DQEMU_PLUGIN_VERSION=N
 * selects the version of the interface. This header hides the differences:
 *
 *	2	translated code counts in scoreboards, which have an element for each CPU
 *	3	the bytes of an instruction are copied
 *	7	callbacks get user data instead of the plugin's id
 */
#ifndef SPEK_VM_PLUGIN_H
#define SPEK_VM_PLUGIN_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef QEMU_PLUGIN_VERSION
#error "the version of QEMU's plugin interface is not defined"
#endif

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    void (*cb)(unsigned int, void *),
					    enum qemu_plugin_cb_flags flags, void *userdata);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
				      void (*cb)(unsigned int, qemu_plugin_meminfo_t, uint64_t,
						 void *),
				      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw,
				      void *userdata);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);

__attribute__((visibility("default"))) int qemu_plugin_version = QEMU_PLUGIN_VERSION;
__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id,
							       const void *info, int argc,
							       char **argv);

/* nopl 0x5be4c0de(%rax,%rax,1), the same as in marks.py */
static const uint8_t mark[] = { 0x0f, 0x1f, 0x84, 0x00, 0xde, 0xc0, 0xe4, 0x5b };

static const char *folder;
static unsigned int marks;	/* executed so far */

/* What a plugin does. */
static void translate(struct qemu_plugin_insn *insn);

#if QEMU_PLUGIN_VERSION < 3
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);

static const void *bytes_of(const struct qemu_plugin_insn *insn, void *buffer, size_t size)
{
	(void)buffer;
	(void)size;
	return qemu_plugin_insn_data(insn);
}
#else
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *bytes, size_t size);

static const void *bytes_of(const struct qemu_plugin_insn *insn, void *buffer, size_t size)
{
	qemu_plugin_insn_data(insn, buffer, size);
	return buffer;
}
#endif

static bool is_mark(const struct qemu_plugin_insn *insn)
{
	uint8_t buffer[sizeof(mark)] = { 0 };

	return qemu_plugin_insn_size(insn) == sizeof(mark) &&
	       !memcmp(bytes_of(insn, buffer, sizeof(buffer)), mark, sizeof(mark));
}

static void *must(void *memory)
{
	if (!memory) {
		fprintf(stderr, "plugin: out of memory\n");
		abort();
	}
	return memory;
}

/* Tallies of one allocation; QEMU holds each for 16 CPUs or more. */
#define TALLIES	4096

/* Handle of a counter of executed instructions; copies refer to the same counter. */
#if QEMU_PLUGIN_VERSION < 2
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn,
						enum qemu_plugin_op op, void *counter,
						uint64_t step);

struct tally {
	uint64_t *number;
};

static inline struct tally tally_new(void)
{
	static struct tally next;
	static size_t left;

	if (!left) {
		left = TALLIES;
		next.number = must(calloc(TALLIES, sizeof(*next.number)));
	}
	left--;
	return (struct tally){ next.number++ };
}

static inline void tally_count(struct tally tally, struct qemu_plugin_insn *insn)
{
	qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64, tally.number,
						   1);
}

static inline uint64_t tally_sum(struct tally tally)
{
	return *tally.number;
}
#else
struct qemu_plugin_scoreboard;
typedef struct {
	struct qemu_plugin_scoreboard *score;
	size_t offset;
} qemu_plugin_u64;

struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t element_size);
uint64_t qemu_plugin_u64_sum(qemu_plugin_u64 entry);
void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_plugin_insn *insn,
							 enum qemu_plugin_op op,
							 qemu_plugin_u64 entry, uint64_t step);

struct tally {
	qemu_plugin_u64 number;
};

static inline struct tally tally_new(void)
{
	static struct tally next;
	static size_t left;
	struct tally tally;

	if (!left) {
		left = TALLIES;
		next.number.score = qemu_plugin_scoreboard_new(TALLIES * sizeof(uint64_t));
		next.number.offset = 0;
	}
	left--;
	tally = next;
	next.number.offset += sizeof(uint64_t);
	return tally;
}

static inline void tally_count(struct tally tally, struct qemu_plugin_insn *insn)
{
	qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(insn, QEMU_PLUGIN_INLINE_ADD_U64,
							    tally.number, 1);
}

static inline uint64_t tally_sum(struct tally tally)
{
	return qemu_plugin_u64_sum(tally.number);
}
#endif

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

static void translate_all(const struct qemu_plugin_tb *tb)
{
	size_t nr = qemu_plugin_tb_n_insns(tb);

	for (size_t i = 0; i < nr; i++)
		translate(qemu_plugin_tb_get_insn(tb, i));
}

#if QEMU_PLUGIN_VERSION < 7
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   void (*cb)(qemu_plugin_id_t, struct qemu_plugin_tb *));

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	translate_all(tb);
}

static void register_translated(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
}
#else
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   void (*cb)(struct qemu_plugin_tb *, void *),
					   void *userdata);

static void translated(struct qemu_plugin_tb *tb, void *userdata)
{
	(void)userdata;
	translate_all(tb);
}

static void register_translated(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated, NULL);
}
#endif

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], "dir=", 4)) {
		fprintf(stderr, "plugin: needs dir=DIR\n");
		return -1;
	}
	folder = strdup(argv[0] + 4);
	register_translated(id);
	return 0;
}

#endif
