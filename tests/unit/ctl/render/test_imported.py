# SPDX-License-Identifier: GPL-2.0
"""What is told of an imported file."""

from __future__ import annotations

import pytest

from spekctl.render.imported import report_lines
from spekctl.workload import file
from spekctl.workload.imported import Imported, device_option

ENDS = "different from fio: the workload does not say when it ends; --time does, by default 60s"


def lines(*settings: str, **parts: object) -> list[str]:
    workload = file.load("random-read-4k", settings)
    return list(report_lines(Imported(workload, "fio", **parts)))  # type: ignore[arg-type]


def test_options_that_went_to_one_place_are_one_line() -> None:
    printed = lines(
        "run.time=5s",
        mapped={"rw": "pattern", "bs": "size", "randrepeat": "pattern"},
        not_needed={"direct": "always", "ioengine": "the kernel", "gtod_reduce": "always"},
    )
    assert printed == [
        "rw, randrepeat -> pattern",
        "bs -> size",
        "direct, gtod_reduce: not needed: always",
        "ioengine: not needed: the kernel",
    ]


@pytest.mark.parametrize(
    ("settings", "told"), [((), [ENDS]), (("run.time=5s",), []), (("run.count=9",), [])]
)
def test_a_file_without_an_end_gets_ours(settings: tuple[str, ...], told: list[str]) -> None:
    assert lines("run.time=", *settings) == told


def test_a_replay_ends_with_its_trace() -> None:
    trace = {"name": "a", "pattern": "trace", "trace": {"files": ["a.iolog"]}}
    head = {"name": "a", "summary": "A replay."}
    workload = file.check({"workload": head, "stream": [trace]})
    assert list(report_lines(Imported(workload, "fio"))) == []


def test_the_command_line_comes_last() -> None:
    printed = lines("run.time=5s", differences=["it waits"], command_line=["--depth", "8"])
    assert printed == ["different from fio: it waits", "give to `spekctl run`: --depth 8"]


def test_a_disk_of_windows_has_to_be_named_here() -> None:
    path = r"\\.\PhysicalDrive1"
    words = [device_option(path), "--write"]
    said = f"{path} is how Windows names a disk; --device has to name the disk of this machine"
    assert lines("run.time=5s", command_line=words) == [
        said,
        "give to `spekctl run`: --device DEV --write",
    ]
    workload = file.load("random-read-4k", ("run.time=5s",))
    assert list(report_lines(Imported(workload, "fio", command_line=words), taken=True)) == [said]
