// SPDX-License-Identifier: GPL-2.0
/* What QEMU does with the plugin tests/bench/sharing.c, by hand: DIR IOS. */
#include "sharing.c"

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   void (*cb)(qemu_plugin_id_t, struct qemu_plugin_tb *))
{
}

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb) { return 0; }
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index)
{
	return NULL;
}
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn) { return NULL; }
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn) { return 0; }
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn) { return 0; }
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    void (*cb)(unsigned int, void *),
					    enum qemu_plugin_cb_flags flags, void *userdata)
{
}
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
				      void (*cb)(unsigned int, qemu_plugin_meminfo_t, uint64_t,
						 void *),
				      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw,
				      void *userdata)
{
}
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info) { return info; }

int main(int argc, char **argv)
{
	const uint64_t line = 0xffff888000000040u;
	struct counter *spek = new_counter(0xffffffffc0000040u);
	unsigned long ios = strtoul(argv[2], NULL, 10);

	folder = argv[1];
	accessed(1, 1, line, spek);	/* before the first mark */
	for (int run = 0; run < 2; run++) {
		marked(0, NULL);
		/* Lines of one CPU, of all that only read, and of user space. */
		for (unsigned long i = 0; i < 100; i++) {
			accessed(0, 1, line + 4096, spek);
			accessed(i & 1, 0, line + 8192, spek);
			accessed(i & 1, 1, 4096, spek);
		}
		/* A line that goes to and fro, by each half of it: two misses each. */
		for (unsigned long i = 0; i < (run ? ios : 0); i++) {
			accessed(0, 1, line, spek);
			accessed(1, 0, line + 32, spek);
		}
		marked(1, NULL);
	}
	return 0;
}
