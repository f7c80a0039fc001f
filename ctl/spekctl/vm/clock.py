# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest whose clock counts instructions says so on the command line of its kernel.

A name with a dot belongs to a module: without a module spek_vm the kernel ignores it, and does not
pass it on to init.
"""

from __future__ import annotations

OPTION = "spek_vm.clock=instructions"


def counts_instructions(kernel_command_line: str) -> bool:
    """Whether a nanosecond of this kernel's clocks is an instruction of its one CPU."""
    return OPTION in kernel_command_line.split()
