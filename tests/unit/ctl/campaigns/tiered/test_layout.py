# SPDX-License-Identifier: GPL-2.0
"""The map of two tiers: where the ranges of the workload lie."""

from __future__ import annotations

import pytest
from lib.ctl.campaign_command import queue_kernel
from lib.ctl.command_line import Spekctl
from lib.fakes.machine import disk
from lib.fakes.queue_kernel import QueueKernel

from spekctl.block import blkid, device, safety
from spekctl.campaigns.tiered import layout
from spekctl.errors import ExitCode
from spekctl.workload.config import RunConfig

MAP = ("energy", "tiered", "map", "--slow", "/dev/fake0", "--fast", "/dev/fake1")


kernel = pytest.fixture(queue_kernel)


def lines_of(text: str) -> list[tuple[int, int, str, int]]:
    segments = []
    comment, *lines = text.splitlines()
    assert comment.startswith("# uuid SPEK_TIERED-")
    for line in lines:
        start, length, kind, target, offset = line.split()
        assert kind == "linear"
        segments.append((int(start), int(length), target, int(offset)))
    return segments


def test_the_map_covers_the_slow_disk_and_uses_nothing_twice(
    spekctl: Spekctl, kernel: QueueKernel
) -> None:
    outcome = spekctl(*MAP, "--write")
    assert outcome.code == ExitCode.OK, outcome.err
    segments = lines_of(outcome.out)
    at = 0
    for start, length, _, _ in segments:
        assert start == at and length > 0
        at += length
    assert at == (1 << 30) // 512
    fast = [(offset, length) for _, length, target, offset in segments if target == "250:1"]
    used = 0
    for offset, length in fast:
        assert offset == used
        used += length
    # Four dense ranges: three walks of 5 % of an asu, and the log.
    assert len(fast) == 4
    assert used * 512 / (1 << 30) == pytest.approx(0.1675, abs=0.01)
    assert all(offset == start for start, _, target, offset in segments if target == "250:0")
    shares = [float(line.split(" with ")[1].split("%")[0]) for line in outcome.err.splitlines()]
    assert shares == [28.1, 21.0, 7.0, 28.1]


def test_the_uuid_stands_for_both_disks() -> None:
    """A mapping has no serial number but its UUID: with another fast disk a test is not resumed."""
    slow, fast = disk("/dev/fake0", serial="A"), disk("/dev/fake1", serial="B")
    uuid = layout.mapping_uuid(slow, fast)
    moved = [disk("/dev/fake5", serial="A"), disk("/dev/fake6", serial="B", diskseq=9)]
    assert layout.mapping_uuid(*moved) == uuid
    others = [
        (slow, disk("/dev/fake1", serial="C")),
        (disk("/dev/fake0", serial="C"), fast),
        (slow, disk("/dev/fake1", serial="B", partition=1)),
        (slow, disk("/dev/fake1", serial="B", bytes=2 << 30)),
        (fast, slow),
    ]
    assert uuid not in {layout.mapping_uuid(*pair) for pair in others}


@pytest.mark.parametrize("driver", ["md", "md_home"])
def test_the_uuid_is_that_of_versions_without_uuids_of_md_arrays(driver: str) -> None:
    before, array = (
        disk("/dev/fake0", serial=text, driver=driver, model="") for text in ("", "a1:b2")
    )
    fast = disk("/dev/fake1", serial="B")
    uuid = "SPEK_TIERED-62dc3630054ac6544b04c66a62332b30"
    assert layout.mapping_uuid(before, fast) == layout.mapping_uuid(array, fast) == uuid


def test_the_dense_ranges_are_those_of_the_workload(
    spekctl: Spekctl, kernel: QueueKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    from spekctl.run import request
    from spekctl.workload.options import Options

    config: RunConfig = request.build(
        request.find("spc1", ["/dev/fake0"]), Options(bsu=1, write=True)
    ).config
    hot = layout.hot_ranges(config, 1 << 30)
    walks = [stream for stream in config.streams if stream.pattern == "walk"]
    for stream in walks:
        first = config.asus[stream.asu].extents[0].start + stream.range_start
        assert any(
            hot_range.start <= first and first + stream.range_bytes <= hot_range.end
            for hot_range in hot
        )
    assert hot[-1].end == 1 << 30 or hot[-1].end >= config.asus[2].extents[0].start


@pytest.mark.parametrize(
    ("line", "code", "sentence"),
    [
        (MAP, ExitCode.REFUSED, "give --write"),
        ((*MAP[:-1], "/dev/fake0", "--write"), ExitCode.USAGE, "are both /dev/fake0"),
        ((*MAP, "--write", "--destroy", "S9"), ExitCode.REFUSED, "names none of"),
    ],
)
def test_a_wrong_pair_is_refused(
    line: tuple[str, ...], code: ExitCode, sentence: str, spekctl: Spekctl, kernel: QueueKernel
) -> None:
    outcome = spekctl(*line)
    assert (outcome.code, outcome.out) == (code, "")
    assert sentence in outcome.sentence


def test_two_paths_to_a_disk_are_no_two_tiers(
    spekctl: Spekctl, kernel: QueueKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = {"/dev/fake0": (), "/dev/fake1": ("fake0",)}
    monkeypatch.setattr(device, "find", lambda path: disk(path, other_paths=paths[path]))
    outcome = spekctl(*MAP, "--write")
    assert outcome.code == ExitCode.USAGE
    assert "--slow /dev/fake0 and --fast /dev/fake1 lie on the same bytes" in outcome.sentence


def test_a_disk_with_data_is_refused(
    spekctl: Spekctl, kernel: QueueKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    signatures = [blkid.Signature("xfs", "filesystem", 0)]
    monkeypatch.setattr(
        safety,
        "signatures_on",
        lambda device, diskseq: signatures if device.path == "/dev/fake1" else [],
    )
    outcome = spekctl(*MAP, "--write")
    assert (outcome.code, outcome.out) == (ExitCode.REFUSED, "")
    assert "/dev/fake1 holds data: file system xfs" in outcome.sentence


def test_a_fast_disk_that_is_too_small_is_refused(
    spekctl: Spekctl, kernel: QueueKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = {"/dev/fake0": 1 << 30, "/dev/fake1": 100 << 20}
    monkeypatch.setattr(device, "find", lambda path: disk(path, bytes=sizes[path]))
    outcome = spekctl(*MAP, "--write")
    assert outcome.code == ExitCode.USAGE
    assert "/dev/fake1 has 100 MiB; the dense ranges of /dev/fake0 need 17" in outcome.sentence
