# SPDX-License-Identifier: GPL-2.0-or-later
"""The taint flags of a kernel in words (Documentation/admin-guide/tainted-kernels.rst)."""

from __future__ import annotations

# By number of the bit.
_FLAGS = (
    "proprietary module",
    "module loaded by force",
    "hardware out of specification",
    "module unloaded by force",
    "machine check",
    "bad page",
    "set from user space",
    "oops",
    "overridden ACPI table",
    "warning",
    "staging driver",
    "workaround for firmware",
    "out-of-tree module",
    "unsigned module",
    "soft lockup",
    "live patch",
    "flag of the distribution",
    "randomized structs",
    "test in the kernel",
)


def words(taint: int) -> str:
    """The value of /proc/sys/kernel/tainted and what it means; 0 is none."""
    names = [name for bit, name in enumerate(_FLAGS) if taint >> bit & 1]
    if taint >> len(_FLAGS):
        names.append("later flags")
    return f"{taint} ({', '.join(names)})" if names else "none"
