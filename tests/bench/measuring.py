# SPDX-License-Identifier: GPL-2.0
"""Guests in which a module of bench measures."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from spekctl.commands.vm import environment
from spekctl.vm.disks import Disk
from spekctl.vm.kernels import Kernel
from spekctl.vm.modules import build_modules
from spekctl.vm.runner import Guest, Outcome, run_guest

ROOT = Path(__file__).resolve().parents[2]


def measure(
    kernel: Kernel,
    words: Sequence[str],
    out: Path,
    console: Path,
    *,
    icount: bool,
    limit_s: float,
    accel: str = "tcg",
    disks: Sequence[Disk] = (),
    qemu: Sequence[str] = (),
    modules: Path | None = None,
    memory: str = "1G",
) -> Outcome:
    """Run a module in a guest of @kernel, with the modules of spek at hand but not loaded.

    @words: the module and its arguments
    @out: folder that the guest writes to
    @console: file for the guest's kernel messages
    @modules: folder of modules to take instead
    """
    modules = modules or build_modules(kernel)[0].parent
    inherited = environment()
    guest = Guest(
        kernel=kernel,
        accel=accel,
        command=[sys.executable, "-m", *words],
        share=[out],
        environment={
            **inherited,
            "PYTHONPATH": f"{inherited['PYTHONPATH']}:{ROOT / 'tests'}",
            "SPEK_MODULES": str(modules),
        },
        cwd=ROOT,
        icount=icount,
        disks=list(disks),
        qemu=list(qemu),
        memory=memory,
        limit_s=limit_s,
    )
    outcome = run_guest(guest)
    console.write_text(outcome.console)
    return outcome
