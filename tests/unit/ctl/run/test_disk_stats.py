# SPDX-License-Identifier: GPL-2.0
"""The counters of disks after a run are those of the same disks."""

from __future__ import annotations

import pytest
from lib.fakes.machine import disk

from spekctl.block import device
from spekctl.block.device import Device
from spekctl.documents.device import DiskCounters
from spekctl.run import disk_stats

COUNTED = DiskCounters(1, 8, 0, 0)


@pytest.mark.parametrize(
    ("there", "counters"),
    [
        (disk(diskseq=5), COUNTED),
        (disk(diskseq=6), None),  # another disk by the same number
        (None, None),
    ],
)
def test_a_disk_that_is_gone_or_replaced_has_no_counters(
    there: Device | None, counters: DiskCounters | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "by_number", lambda *asked: there)
    monkeypatch.setattr(device, "read_stat", lambda node: COUNTED)
    assert disk_stats.read([disk().facts(5, None)]) == [counters]


def test_each_disk_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    disks = [disk("/dev/fake0"), disk("/dev/fake1")]
    monkeypatch.setattr(device, "by_number", lambda major, minor, path: disks[minor])
    monkeypatch.setattr(device, "read_stat", lambda node: DiskCounters(node.minor, 0, 0, 0))
    facts = [disks[minor].facts(0, None) for minor in (1, 0)]
    assert [counters.reads for counters in disk_stats.read(facts) if counters is not None] == [1, 0]
