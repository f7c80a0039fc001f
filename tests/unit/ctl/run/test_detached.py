# SPDX-License-Identifier: GPL-2.0
"""Detached runs: run --detach, and who reads their result."""

from __future__ import annotations

import json

import pytest
from lib.ctl.command_line import Spekctl, run_ok
from lib.ctl.schemas import validator
from lib.fakes.kernel import FakeKernel
from lib.fakes.machine import disk

from spekctl.block import device
from spekctl.documents import result
from spekctl.documents.device import DiskCounters
from spekctl.errors import (
    ExitCode,
)


def test_a_detached_run_is_watched_to_its_result(spekctl: Spekctl, kernel: FakeKernel) -> None:
    started = run_ok(spekctl, "--detach", "--json")
    assert json.loads(started.out) == {"run": 7}
    assert kernel.config is not None and kernel.config.detached
    assert (kernel.seconds, kernel.deleted) == (0, False)

    (row,) = json.loads(spekctl("status", "--json").out)
    assert (row["id"], row["state"], row["name"]) == (7, "running", "random-read-4k")

    watched = spekctl("watch", "--json", "--progress", "none")
    assert watched.code == ExitCode.OK
    document = json.loads(watched.out)
    validator(result.SCHEMA_FILE).validate(document)
    assert document["totals"]["all"]["ios"] == 300
    assert kernel.deleted
    assert spekctl("status").err == "spekctl: no runs\n"


@pytest.mark.parametrize(
    ("option", "value", "instead"),
    [
        ("--output", "out.json", "; give it to spekctl watch"),
        ("--log", "log.parquet", ""),
        ("--prober-interval", "1s", ""),
        ("--power-feed", "board", ""),
        ("--power-baseline", "3", ""),
    ],
)
def test_what_needs_a_program_cannot_go_with_detach(
    option: str, value: str, instead: str, spekctl: Spekctl, kernel: FakeKernel
) -> None:
    outcome = run_ok(spekctl, "--detach", option, value)
    assert outcome.code == ExitCode.USAGE
    assert outcome.sentence == (
        f"{option} cannot be combined with --detach: nothing stays attached to the run{instead}"
    )
    assert kernel.calls == []


def test_what_a_disk_counted_is_read_when_the_run_ends_or_not_at_all(
    spekctl: Spekctl, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = DiskCounters(0, 0, 0, 0)
    monkeypatch.setattr(device, "by_number", lambda *asked: disk())
    monkeypatch.setattr(device, "read_stat", lambda disk: counted)
    run_ok(spekctl, "--detach")
    counted = DiskCounters(300, 2400, 0, 0)
    seen = spekctl("watch", "--keep", "--json", "--progress", "none")
    assert json.loads(seen.out)["targets"][0]["disk_agrees"] is True
    counted = DiskCounters(999, 9999, 0, 0)
    (target,) = json.loads(spekctl("watch", "--json", "--progress", "none").out)["targets"]
    assert (target["disk"], target["disk_agrees"]) == (None, None)


def test_a_detached_run_that_is_deleted_under_the_view_is_an_error(
    spekctl: Spekctl, kernel: FakeKernel
) -> None:
    run_ok(spekctl, "--detach")
    kernel.on_wait = lambda second: kernel.run_delete(7)
    outcome = spekctl("watch", "--progress", "none")
    assert outcome.code == ExitCode.RUN_FAILED
    assert outcome.sentence == "run 7 was deleted in the meantime, along with its result"
