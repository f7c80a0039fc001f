// SPDX-License-Identifier: GPL-2.0
/* What QEMU does with the plugin tests/bench/sharing.c, by hand: DIR IOS. */
#include "sharing.c"
#include "qemu.h"

int main(int argc, char **argv)
{
	static const uint8_t store[] = { 0x89, 0x07 };
	const uint64_t line = 0xffff888000000040u;
	struct qemu_plugin_insn insns[] = {
		{ .address = 0xffffffffc0000040u, .code = store, .size = sizeof(store) },
		{ .address = 0x402000, .code = mark, .size = sizeof(mark) },
	};
	void *spek;
	unsigned long ios;

	if (argc != 3)
		return 2;
	ios = strtoul(argv[2], NULL, 10);
	qemu_load(argv[1]);
	qemu_translate(insns, 2);
	spek = insns[0].accessed_userdata;
	insns[0].accessed(1, 1, line, spek);	/* before the first mark */
	for (int run = 0; run < 2; run++) {
		qemu_execute(&insns[1], 0);
		/* Lines of one CPU, of all that only read, and of user space. */
		for (unsigned long i = 0; i < 100; i++) {
			insns[0].accessed(0, 1, line + 4096, spek);
			insns[0].accessed(i & 1, 0, line + 8192, spek);
			insns[0].accessed(i & 1, 1, 4096, spek);
		}
		/* A line that goes to and fro, by each half of it: two misses each. */
		for (unsigned long i = 0; i < (run ? ios : 0); i++) {
			insns[0].accessed(0, 1, line, spek);
			insns[0].accessed(1, 0, line + 32, spek);
		}
		qemu_execute(&insns[1], 1);
	}
	return 0;
}
