# SPDX-License-Identifier: GPL-2.0
"""A full disk on one host of a fleet: refused before the start, or named with its time in the
result. Either way the devices of all hosts are free."""

from __future__ import annotations

import dataclasses
import errno
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lib.ctl.log_files import records
from lib.fakes.fleet import FakeView
from lib.fakes.fleet_members import FleetKernel, Members, coordinator, plan_text, use
from lib.waiting import eventually

from spekctl.errors import SpekError
from spekctl.fleet import plan, results
from spekctl.fleet.outcome import Outcome
from spekctl.log import buffer as log_buffer
from spekctl.log import recorder
from spekctl.log.file import RESERVE_BYTES, LogWriter
from spekctl.log.place import FilePlace
from spekctl.run.job import Interrupts
from spekctl.run.rights import Rights

LOG = 'options = {time = "5s", log = "run.parquet"}'
FULL = OSError(errno.ENOSPC, "No space left on device")


class Records:
    """The kernel's buffer of a worker: some records each time that it is emptied."""

    def __init__(self) -> None:
        self._is_empty = True

    def readinto(self, into: memoryview) -> int:
        self._is_empty = not self._is_empty
        if self._is_empty:
            return 0
        data = records(50).tobytes()
        count = min(len(data), len(into))
        into[:count] = data[:count]
        return count

    def close(self) -> None:
        """Nothing to do."""


@pytest.fixture
def members(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Members]:
    use(monkeypatch)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(log_buffer, "debugfs", lambda: tmp_path)
    monkeypatch.setattr(Rights, "open_log", lambda self, info, worker: Records())
    monkeypatch.setattr(recorder, "BLOCK_RECORDS", 50)
    run_get: Callable[[FleetKernel, int], Any] = FleetKernel.run_get

    def with_log(kernel: FleetKernel, run: int) -> Any:
        return dataclasses.replace(run_get(kernel, run), log_dir="spek/7")

    monkeypatch.setattr(FleetKernel, "run_get", with_log)
    engine = Members(["a", "b"])
    yield engine
    engine.close()


def carry_out(members: Members, view: FakeView) -> tuple[Outcome, plan.Plan]:
    planned = plan.parse(plan_text(["a", "b"], LOG))
    return coordinator(planned, members, view, Interrupts()).carry_out(), planned


def check_free(members: Members) -> None:
    for kernel in members.kernels.values():
        assert not kernel.claimed and kernel.deleted


def test_a_host_whose_disk_is_full_already_is_named_and_nobody_starts(
    members: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    def free_bytes(place: FilePlace) -> int:
        return 4096 if place.name == "run.a.parquet" else RESERVE_BYTES

    monkeypatch.setattr(FilePlace, "free_bytes", free_bytes)
    with pytest.raises(SpekError, match=r"^a: cannot log to run\.a\.parquet: its file system has"):
        carry_out(members, FakeView())
    assert not any(kernel.start_ns for kernel in members.kernels.values())
    check_free(members)


def test_a_disk_that_fills_up_is_told_at_once_and_the_result_says_who_and_when(
    members: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = LogWriter.add
    failed: list[threading.Thread] = []

    def full(writer: LogWriter, block: Any) -> None:
        if writer._place.name == "run.a.parquet":
            failed.append(threading.current_thread())
            raise FULL
        add(writer, block)

    def until_the_log_has_ended(second: int) -> None:
        """In the last second but one of a run, which takes 2 ms: the log looks for records five
        times in a second of the wall clock."""
        if second == 4:
            eventually(lambda: failed and not failed[0].is_alive(), "the log does not end")

    monkeypatch.setattr(LogWriter, "add", full)
    members.kernels["a"].on_wait = until_the_log_has_ended
    view = FakeView()
    outcome, planned = carry_out(members, view)
    what = "run.a.parquet could not be written and was deleted (No space left on device)"
    assert f"a: the log has ended, the run continues: {what}" in view.notes
    result = results.of(outcome, planned)
    assert result is not None and result.outcome.ok
    (remark,) = (remark for remark in result.remarks if remark.startswith("a: log: "))
    text, _, when = remark.rpartition(", at ")
    assert text.endswith(f"no file: the log ended before the run: {what}")
    first, _ = result.hosts or []
    assert first.run is not None and first.run.log is not None
    lost_ns = first.run.log.failed_ns + first.start.offset_ns
    planned_ns = first.start.planned_ns
    assert planned_ns is not None and when == f"{(lost_ns - planned_ns) / 1e9:.1f} s"
    assert not Path("run.a.parquet").exists() and not Path("run.a.parquet.part").exists()
    check_free(members)
