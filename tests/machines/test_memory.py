# SPDX-License-Identifier: GPL-2.0
"""A machine with more memory than 32-bit DMA reaches."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.measuring import measure

from spekctl.vm.kernels import find_kernel

# Of kmod/drive/scsi/scsi.h, in KiB.
LARGEST_KIB = 32768


@pytest.mark.at_length
def test_requests_of_a_modelled_drive_are_as_large_as_on_a_small_machine(tmp_path: Path) -> None:
    """Where DMA had to be bounced, the SCSI layer would cut them at 256 KiB."""
    outcome = measure(
        find_kernel("6.12"),
        ["machines.memory", str(tmp_path)],
        tmp_path,
        tmp_path / "console",
        icount=False,
        limit_s=1800,
        qemu=("-m", "6G"),
    )
    assert outcome.exit_status == 0, (outcome.failure, outcome.console[-2000:])
    assert int((tmp_path / "max_hw_sectors_kb").read_text()) == LARGEST_KIB
