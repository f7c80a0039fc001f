/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What QEMU does with a plugin, by hand: blocks of instructions are translated, instructions are
 * executed. Included behind the plugin. What it defines has the types of the interface of each
 * version, so that it does not compile where plugin.h declares others.
 */
#define QEMU_CPUS	2

struct qemu_plugin_insn {
	uint64_t address;
	const void *code;
	size_t size;

	/* what the plugin has asked for */
	void (*executed)(unsigned int cpu, void *userdata);
	void *executed_userdata;
	void (*accessed)(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address,
			 void *userdata);
	void *accessed_userdata;
#if QEMU_PLUGIN_VERSION < 2
	uint64_t *counter;
#else
	qemu_plugin_u64 counter;
#endif
	uint64_t step;
};

struct qemu_plugin_tb {
	struct qemu_plugin_insn *insns;
	size_t nr;
};

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb)
{
	return tb->nr;
}

struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index)
{
	return &tb->insns[index];
}

size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn)
{
	return insn->size;
}

uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn)
{
	return insn->address;
}

#if QEMU_PLUGIN_VERSION < 3
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn)
{
	return insn->code;
}
#else
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *dest, size_t len)
{
	if (len > insn->size)
		len = insn->size;
	memcpy(dest, insn->code, len);
	return len;
}
#endif

void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    void (*cb)(unsigned int, void *),
					    enum qemu_plugin_cb_flags flags, void *userdata)
{
	(void)flags;
	insn->executed = cb;
	insn->executed_userdata = userdata;
}

void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
				      void (*cb)(unsigned int, qemu_plugin_meminfo_t, uint64_t,
						 void *),
				      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw,
				      void *userdata)
{
	(void)flags;
	(void)rw;
	insn->accessed = cb;
	insn->accessed_userdata = userdata;
}

bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info)
{
	return info;
}

#if QEMU_PLUGIN_VERSION < 2
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn,
						enum qemu_plugin_op op, void *ptr, uint64_t imm)
{
	(void)op;
	insn->counter = ptr;
	insn->step = imm;
	*insn->counter += 0;	/* ASan: it is a counter's memory */
}

static void count(struct qemu_plugin_insn *insn, unsigned int cpu)
{
	(void)cpu;
	if (insn->counter)
		*insn->counter += insn->step;
}
#else
struct qemu_plugin_scoreboard {
	size_t element_size;
	char *data;
};

struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t element_size)
{
	struct qemu_plugin_scoreboard *score = must(malloc(sizeof(*score)));

	score->element_size = element_size;
	score->data = must(calloc(QEMU_CPUS, element_size));
	return score;
}

static uint64_t *number_of(qemu_plugin_u64 entry, unsigned int cpu)
{
	return (uint64_t *)(entry.score->data + cpu * entry.score->element_size + entry.offset);
}

uint64_t qemu_plugin_u64_sum(qemu_plugin_u64 entry)
{
	uint64_t sum = 0;

	for (unsigned int cpu = 0; cpu < QEMU_CPUS; cpu++)
		sum += *number_of(entry, cpu);
	return sum;
}

void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_plugin_insn *insn,
							 enum qemu_plugin_op op,
							 qemu_plugin_u64 entry, uint64_t imm)
{
	(void)op;
	if (entry.offset + sizeof(uint64_t) > entry.score->element_size)
		abort();
	insn->counter = entry;
	insn->step = imm;
}

static void count(struct qemu_plugin_insn *insn, unsigned int cpu)
{
	if (insn->counter.score)
		*number_of(insn->counter, cpu) += insn->step;
}
#endif

static qemu_plugin_id_t plugin_id;

#if QEMU_PLUGIN_VERSION < 7
static void (*on_translation)(qemu_plugin_id_t, struct qemu_plugin_tb *);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   void (*cb)(qemu_plugin_id_t, struct qemu_plugin_tb *))
{
	plugin_id = id;
	on_translation = cb;
}

static void qemu_translate(struct qemu_plugin_insn *insns, size_t nr)
{
	on_translation(plugin_id, &(struct qemu_plugin_tb){ insns, nr });
}
#else
static void (*on_translation)(struct qemu_plugin_tb *, void *);
static void *translation_userdata;

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   void (*cb)(struct qemu_plugin_tb *, void *),
					   void *userdata)
{
	plugin_id = id;
	on_translation = cb;
	translation_userdata = userdata;
}

static void qemu_translate(struct qemu_plugin_insn *insns, size_t nr)
{
	on_translation(&(struct qemu_plugin_tb){ insns, nr }, translation_userdata);
}
#endif

static void qemu_execute(struct qemu_plugin_insn *insn, unsigned int cpu)
{
	count(insn, cpu);
	if (insn->executed)
		insn->executed(cpu, insn->executed_userdata);
}

/* Load the plugin, which writes to the folder @dir. */
static void qemu_load(const char *dir)
{
	char argument[4096];

	snprintf(argument, sizeof(argument), "dir=%s", dir);
	if (qemu_plugin_version != QEMU_PLUGIN_VERSION ||
	    qemu_plugin_install(1, NULL, 1, (char *[]){ argument }))
		abort();
}
