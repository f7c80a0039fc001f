# SPDX-License-Identifier: GPL-2.0
"""Which devices can be tested, and how."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import pytest
from lib.ctl.command_line import Spekctl
from lib.fakes.kernel import FakeKernel, other_claim, other_run
from lib.fakes.machine import disk

from spekctl.block import blkid, safety
from spekctl.block import device as block_device
from spekctl.errors import NoKernelSideError, SpekError
from spekctl.kernel import client
from spekctl.run import candidates

XFS = blkid.Signature("xfs", "filesystem", 0)


def test_devices_say_what_may_be_done(
    spekctl: Spekctl, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    disks = {
        "/dev/fake0": (disk("/dev/fake0"), "", []),
        "/dev/fake1": (disk("/dev/fake1"), "fake1 is mounted on /", []),
        "/dev/fake2": (disk("/dev/fake2"), "", [blkid.Signature("xfs", "filesystem", 0)]),
        "/dev/fake3": (disk("/dev/fake3", read_only=True), "", []),
        "/dev/fake4": (disk("/dev/fake4"), "", None),
        "/dev/fake5": (disk("/dev/fake5"), "", []),
    }
    gone = str((1 << 22) + 1)  # more than Linux gives a process
    opened = [safety.Opened("250:5", gone, os.O_RDWR), safety.Opened("250:0", gone, os.O_RDONLY)]
    monkeypatch.setattr(safety, "opened_devices", lambda: opened)
    monkeypatch.setattr(
        block_device, "every", lambda everything: [entry[0] for entry in disks.values()]
    )
    monkeypatch.setattr(safety, "verdict", lambda device, runs, claims: disks[device.path][1])
    monkeypatch.setattr(safety, "data_on", lambda device: disks[device.path][2])
    rows = json.loads(spekctl("devices", "--json").out)
    assert [row["state"] for row in rows] == [
        "reading and writing",
        "no: fake1 is mounted on /",
        "reading; writing with --destroy (it holds file system xfs at byte 0)",
        "reading (it is read-only)",
        "reading; only root can see whether it holds data",
        f"reading at most: process {gone} (?) has it open for writing",
    ]
    assert [row["open_for_writing"] != [] for row in rows] == [False] * 5 + [True]
    table = spekctl("devices").out
    assert "S123" in table and "no: fake1 is mounted on /" in table


@pytest.mark.parametrize(
    ("in_use", "unwritable", "writers", "signatures", "state"),
    [
        ("it is mounted", "is read-only", ["x"], None, "no: it is mounted"),
        ("", "is read-only", ["x"], None, "reading (it is read-only)"),
        ("", "", ["x writes"], None, "reading at most: x writes"),
        ("", "", [], None, "reading; only root can see whether it holds data"),
        ("", "is read-only", ["x"], [XFS], "reading (it is read-only)"),
        ("", "", ["x writes", "y writes"], [XFS], "reading at most: x writes; y writes"),
        (
            *("", "", [], [XFS] * 2, "reading; writing with --destroy (it holds file system xfs at"
              " byte 0, file system xfs at byte 0)"),
        ),
        (
            *("", "", [], [XFS] * 5, "reading; writing with --destroy (it holds file system xfs at"
              " byte 0, file system xfs at byte 0 and 3 more)"),
        ),
        ("", "", [], [], "reading and writing"),
    ],
)  # fmt: skip
def test_the_strongest_reason_decides(
    in_use: str, unwritable: str, writers: list[str], signatures: list[Any] | None, state: str
) -> None:
    assert candidates._state(in_use, unwritable, writers, signatures) == state


def test_a_disk_in_use_is_not_read(kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def look(device: block_device.Device) -> list[blkid.Signature]:
        read.append(device.path)
        return [XFS]

    disks = [disk("/dev/fake0"), disk("/dev/fake1"), disk("/dev/fake2")]
    in_use = {"/dev/fake0": "run 3 uses it", "/dev/fake1": "", "/dev/fake2": "mounted on /"}
    monkeypatch.setattr(block_device, "every", lambda everything: disks)
    monkeypatch.setattr(safety, "opened_devices", lambda: [])
    monkeypatch.setattr(safety, "verdict", lambda device, runs, claims: in_use[device.path])
    monkeypatch.setattr(safety, "data_on", look)
    assert [candidate.data for candidate in candidates.every()] == [None, [str(XFS)], None]
    assert read == ["/dev/fake1"]


def test_a_disk_that_somebody_writes_is_not_read(
    kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To probe it writes out its pages and drops them: of a virtual machine's disk, for long."""
    read: list[str] = []

    def look(device: block_device.Device) -> list[blkid.Signature]:
        read.append(device.path)
        return []

    opened = [safety.Opened("250:0", "4194305", os.O_RDWR)]
    opened.append(safety.Opened("250:1", "4194305", os.O_RDONLY))
    monkeypatch.setattr(
        block_device, "every", lambda everything: [disk("/dev/fake0"), disk("/dev/fake1")]
    )
    monkeypatch.setattr(safety, "opened_devices", lambda: opened)
    monkeypatch.setattr(safety, "data_on", look)
    assert [candidate.data for candidate in candidates.every()] == [None, []]
    assert read == ["/dev/fake1"]


def refuse_to_connect(error: Exception) -> Callable[[], FakeKernel]:
    def connect() -> FakeKernel:
        raise error

    return connect


@pytest.mark.parametrize("error", [NoKernelSideError("spek is not loaded"), OSError("no socket")])
def test_without_the_module_devices_are_listed_all_the_same(
    error: Exception, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "connect", refuse_to_connect(error))
    monkeypatch.setattr(block_device, "every", lambda everything: [disk()])
    monkeypatch.setattr(safety, "opened_devices", lambda: [])
    (candidate,) = candidates.every()
    assert (candidate.path, candidate.state, candidate.data) == (
        "/dev/fake0",
        "reading and writing",
        [],
    )


def test_the_runs_of_others_are_looked_at_and_the_connection_ends(
    kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel.others = [other_run(3, 250, 0)]
    seen: list[Any] = []
    monkeypatch.setattr(block_device, "every", lambda everything: [disk()])
    monkeypatch.setattr(safety, "opened_devices", lambda: [])

    def verdict(device: object, runs: Any, claims: Any) -> str:
        seen.extend(runs)
        return "run 3 uses it"

    monkeypatch.setattr(safety, "verdict", verdict)
    (candidate,) = candidates.every()
    assert [info.id for info in seen] == [3]
    assert (candidate.in_use, candidate.state) == ("run 3 uses it", "no: run 3 uses it")
    assert kernel.closed


def test_a_device_that_a_campaign_holds_between_its_runs_is_not_free(
    kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel.claimed[2] = other_claim(2, 250, 0)
    monkeypatch.setattr(block_device, "every", lambda everything: [disk()])
    monkeypatch.setattr(safety, "opened_devices", lambda: [])
    (candidate,) = candidates.every()
    assert candidate.state == "no: spek holds it between the runs of a command (claim 2)"
    assert candidate.data is None  # it is not read either


def test_a_module_that_lists_no_runs_is_closed_as_well(
    kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel.refuse["runs"] = SpekError("not permitted")
    monkeypatch.setattr(block_device, "every", lambda everything: [])
    assert candidates.every() == []
    assert kernel.closed


def test_a_partition_names_its_disk(kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    part = disk("/dev/fake1", disk="fake0", partition=1, model="")
    monkeypatch.setattr(block_device, "every", lambda everything: [disk(), part])
    monkeypatch.setattr(safety, "opened_devices", lambda: [])
    whole, partition = candidates.every()
    assert (whole.partition_of, partition.partition_of) == (None, "fake0")
    assert (whole.model, partition.model) == ("FAKE", "fake")
