# SPDX-License-Identifier: GPL-2.0
"""Workloads as text, resolved for a disk of 10 GiB and four CPUs."""

from __future__ import annotations

from typing import Any

from spekctl.workload import file
from spekctl.workload.config import RunConfig
from spekctl.workload.layout import Target
from spekctl.workload.options import Options
from spekctl.workload.resolve import resolve

MIB, GIB = 1 << 20, 1 << 30
DISK = Target("/dev/x", 8, 0, 10 * GIB, 512, 5)
CPUS = (0, 1, 2, 3)

HEAD = '[workload]\nname = "w"\nsummary = "a test"\n'
STREAM = '[[stream]]\nname = "s"\nsize = "4KiB"\n'


def run_config(text: str, *targets: Target, **options: Any) -> RunConfig:
    """Resolve the text of a file, or the shipped workload of that name."""
    workload = file.parse(text) if "\n" in text else file.load(text)
    return resolve(workload, Options(available_cpus=CPUS, **options), targets or (DISK,))
