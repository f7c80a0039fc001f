// SPDX-License-Identifier: GPL-2.0
/* What QEMU does with the plugin profile.c: DIR. */
#include "profile.c"
#include "qemu.h"

#define KERNEL	0xffffffff81000000u
#define MANY	(1 << 20)	/* more than the first table and than one allocation of tallies */

int main(int argc, char **argv)
{
	static const uint8_t nop[] = { 0x90 }, call[] = { 0xe8, 0, 0, 0, 0, 0, 0, 0 };
	struct qemu_plugin_insn insns[] = {
		{ .address = KERNEL, .code = nop, .size = sizeof(nop) },
		{ .address = KERNEL + 1, .code = call, .size = sizeof(call) },
		{ .address = 0x401000, .code = nop, .size = sizeof(nop) },
		{ .address = 0x402000, .code = mark, .size = sizeof(mark) },
	};
	struct qemu_plugin_insn again = { .address = KERNEL, .code = nop, .size = sizeof(nop) };

	if (argc != 2)
		return 2;
	qemu_load(argv[1]);
	qemu_translate(insns, 4);
	for (int i = 0; i < 3; i++)
		qemu_execute(&insns[0], 0);
	qemu_execute(&insns[2], 0);
	qemu_execute(&insns[3], 0);

	/* Counters stay where they are while the table grows, and when code is translated again. */
	for (uint64_t i = 1; i <= MANY; i++) {
		struct qemu_plugin_insn one = {
			.address = KERNEL + 16 * i, .code = nop, .size = sizeof(nop)
		};

		qemu_translate(&one, 1);
		if (i % (MANY / 4) == 0)
			for (uint64_t times = 0; times < i / (MANY / 4); times++)
				qemu_execute(&one, 0);
	}
	qemu_translate(&again, 1);
	qemu_execute(&insns[0], 0);
	qemu_execute(&again, 0);
	qemu_execute(&insns[1], QEMU_CPUS - 1);
	qemu_execute(&insns[3], 0);
	return 0;
}
