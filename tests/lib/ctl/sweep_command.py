# SPDX-License-Identifier: GPL-2.0
"""spekctl sweep on a disk that is one queue."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from lib.ctl import campaign_command
from lib.fakes.kernel import FakeKernel
from lib.fakes.queue_kernel import QueueKernel

from spekctl.documents import result
from spekctl.render.progress import LineProgress
from spekctl.run import job
from spekctl.run.measure import measure
from spekctl.workload.options import Options

QUIET = ("--progress", "none")
READ = ("random-read-4k", "--device", "/dev/fake0", "--time", "10s", *QUIET)


def queue_kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> QueueKernel:
    return campaign_command.queue_kernel(monkeypatch, tmp_path, capacity=1000.0)


def a_result(kernel: FakeKernel, **changes: Any) -> result.Result:
    from spekctl.run import request

    random_reads = request.build(
        request.find("random-read-4k", ["/dev/fake0"]), Options(time_ns=3 * 10**9)
    )
    with job.Interrupts() as interrupts:
        contents = measure(kernel, random_reads, LineProgress(quiet=True), interrupts, None)
    return msgspec.structs.replace(contents, **changes)
