# SPDX-License-Identifier: GPL-2.0
"""spekctl devices: names, identity, and what may be done to a device."""

from __future__ import annotations

import dataclasses
import errno
import json
import re

import pytest
from lib.ctl.command_line import Spekctl
from lib.fakes.kernel import FakeKernel, other_run
from lib.fakes.machine import disk

from spekctl.block import device as block_device
from spekctl.block import safety
from spekctl.errors import (
    SpekError,
    error_from_errno,
)


def seen(monkeypatch: pytest.MonkeyPatch, *devices: block_device.Device) -> None:
    monkeypatch.setattr(block_device, "every", lambda everything: list(devices))
    monkeypatch.setattr(safety, "verdict", lambda device, runs=(), claims=(): "")
    monkeypatch.setattr(safety, "opened_devices", lambda: [])
    monkeypatch.setattr(safety, "data_on", lambda device: [])


def test_names_are_shown_as_they_are(
    spekctl: Spekctl, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = "[bold]M[/y] :red_heart:"
    seen(monkeypatch, disk(model=odd, serial="[/x]"))
    table = spekctl("devices")
    assert table.code == 0 and odd in table.out and "[/x]" in table.out
    kernel.others = [dataclasses.replace(other_run(3, 8, 0), name="[/x]:red_heart:")]
    assert "[/x]:red_heart:" in spekctl("status").out


def test_an_id_is_whole_on_a_narrow_terminal(
    spekctl: Spekctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    serial = "".join(f"{number:04}-" for number in range(13))
    seen(monkeypatch, disk(serial=serial, model="A model of a disk with a long name"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("FORCE_COLOR", "1")
    head, *rows = re.sub(r"\x1b\[[0-9;]*m", "", spekctl("devices").out).splitlines()
    start, end = head.index("id"), head.index("may be")
    assert max(map(len, rows)) <= 80
    assert "".join(row[start:end].strip() for row in rows) == serial


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (None, "no: run 3 of spek (random-read-4k) uses it"),
        (error_from_errno(errno.EPERM, "needs root", "run-get"), "reading and writing"),
    ],
)
def test_a_device_of_a_run_is_listed_as_in_use(
    error: SpekError | None,
    state: str,
    spekctl: Spekctl,
    kernel: FakeKernel,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel.others = [other_run(3, 250, 0)]
    if error is not None:
        kernel.refuse["runs"] = error
    monkeypatch.setattr(block_device, "every", lambda everything: [disk("/dev/fake0")])
    monkeypatch.setattr(safety, "opened_devices", lambda: [])
    monkeypatch.setattr(safety, "data_on", lambda device: [])
    (row,) = json.loads(spekctl("devices", "--json").out)
    assert row["state"] == state
    assert kernel.closed
