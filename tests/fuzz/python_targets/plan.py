# SPDX-License-Identifier: GPL-2.0
"""From the text of a workload file to the numbers of a run."""

from __future__ import annotations

from spekctl.errors import UsageError
from spekctl.workload import file
from spekctl.workload.resolve import Options, Target, resolve

MIB = 1 << 20
DISKS = (Target("/dev/x", 8, 0, 64 * MIB, 512, 5), Target("/dev/y", 8, 16, 100 * MIB, 4096, 6))


def resolve_text(data: bytes) -> None:
    """For one disk and for two, with some load."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise UsageError("it is not UTF-8 text") from error
    workload = file.parse(text)
    bsu = 3 if workload.workload.scale == "bsu" else None
    resolve(workload, Options(available_cpus=(0, 1), bsu=bsu, time_ns=10**9), DISKS[:1])
    resolve(workload, Options(available_cpus=(0, 1), bsu=bsu, time_ns=10**9), DISKS)
