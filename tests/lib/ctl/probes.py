# SPDX-License-Identifier: GPL-2.0
"""Samples of a prober without a run."""

from __future__ import annotations

from lib.fakes.prober import GIB, SECOND, FakeProber
from msgspec.structs import replace

from spekctl.documents.prober import ProberReport
from spekctl.documents.result_parts import Environment
from spekctl.run.probe import Collector

ENVIRONMENT = Environment(
    "target", "6.12.0", "#1", "x86_64", "", "", 0, "0.1.0", "0.1.0", "tsc", "CPU", "0", {}
)


def report(samples: int = 3) -> ProberReport:
    """The document of a probe that has ended, of a machine with 4 GiB of swap."""
    fake = FakeProber()
    fake.start(SECOND)
    collector = Collector(fake, 4)
    for _ in range(samples - 1):
        collector.fetch()
    fake.stop(4)
    if samples:
        collector.fetch()
    return replace(collector.report(), environment=ENVIRONMENT, swap_bytes=4 * GIB)
