# SPDX-License-Identifier: GPL-2.0
"""Opens that the kernel counts against files that processes have."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from lib.fakes.machine import disk

from spekctl.block import openers, safety
from spekctl.block.device import Roots
from spekctl.errors import RefusedError

REFUSED = (
    "/dev/fake0 is in use: the kernel counts 1 more open of it than processes have: by a kernel"
    " user without a claim, or a process that is not visible here; to overwrite it all the same,"
    " give --destroy S123"
)


class Files:
    """Files of processes; what happens between the looks is a list of calls."""

    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.roots = Roots(tmp_path / "sys", tmp_path / "proc", Path("/dev"), tmp_path / "udev")
        self.open: list[safety.Opened] = []
        self.counts: list[int] = []
        self.asked = 0
        self.pauses: list[float] = []
        self.same: set[frozenset[tuple[str, str]]] = set()
        monkeypatch.setattr(safety, "opened_devices", lambda roots, ours=False: list(self.open))
        monkeypatch.setattr(
            openers, "_same_file", lambda left, right: frozenset((left, right)) in self.same
        )

    def process(self, pid: str, name: str, number: str = "250:0", fd: str = "5") -> safety.Opened:
        comm = self.roots.proc / pid / "comm"
        comm.parent.mkdir(parents=True, exist_ok=True)
        comm.write_text(name + "\n")
        file = safety.Opened(number, pid, os.O_RDONLY, fd)
        self.open.append(file)
        return file

    def opens(self) -> int:
        """Those of @counts one after the other, the last one for ever."""
        self.asked += 1
        return self.counts.pop(0) if len(self.counts) > 1 else self.counts[0]

    def check(self, destroy: tuple[str, ...] = ()) -> str | None:
        return openers.check(disk(), self.opens, destroy, self.roots, self.pauses.append)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    return Files(tmp_path, monkeypatch)


def test_a_device_that_nobody_else_has_open_is_asked_for_once(files: Files) -> None:
    files.counts = [1]
    assert files.check() is None
    assert (files.asked, files.pauses) == (1, [])


def test_a_kernel_user_that_nothing_names_is_refused(files: Files) -> None:
    files.counts = [2]
    with pytest.raises(RefusedError) as refusal:
        files.check()
    assert refusal.value.message == REFUSED
    assert len(files.pauses) == openers.LOOKS_FOR_UNKNOWN - 1


def test_of_a_device_that_keeps_its_contents_no_option_is_advised(files: Files) -> None:
    files.counts = [2]
    with pytest.raises(RefusedError) as refusal:
        openers.check(disk(), files.opens, None, files.roots, files.pauses.append)
    assert refusal.value.message == REFUSED.partition("; to overwrite")[0]


def test_a_device_that_is_named_is_overwritten_all_the_same(files: Files) -> None:
    files.counts = [3]
    remark = files.check(("S123",))
    assert remark == (
        "/dev/fake0 will be overwritten although the kernel counts 2 more opens of it than"
        " processes have: by a kernel user without a claim, or a process that is not visible here"
    )


def test_naming_another_device_does_not_help(files: Files) -> None:
    files.counts = [2]
    with pytest.raises(RefusedError, match="1 more open"):
        files.check(("S999",))


def test_a_process_that_reads_is_named_in_a_remark(files: Files) -> None:
    files.counts = [2]
    files.process("77", "sleep")
    assert files.check() == "/dev/fake0 is also open for reading: process 77 (sleep)"
    assert len(files.pauses) == openers.LOOKS - 1


def test_a_process_does_not_hide_a_kernel_user(files: Files) -> None:
    files.counts = [3]
    files.process("77", "sleep")
    with pytest.raises(RefusedError) as refusal:
        files.check()
    assert refusal.value.message == REFUSED


def test_descriptors_of_one_file_count_once(files: Files) -> None:
    """A kernel user would hide behind the descriptors of a fork."""
    files.counts = [3]
    files.process("77", "sh")
    files.process("78", "sleep")
    assert files.check() == (
        "/dev/fake0 is also open for reading: process 77 (sh), process 78 (sleep)"
    )
    files.same = {frozenset({("77", "5"), ("78", "5")})}
    with pytest.raises(RefusedError, match="1 more open of it"):
        files.check()


def test_files_of_other_devices_account_for_nothing(files: Files) -> None:
    files.counts = [2]
    files.process("77", "sleep", "250:1")
    with pytest.raises(RefusedError, match="1 more open of it"):
        files.check()


def test_who_leaves_is_not_mentioned(files: Files) -> None:
    """udev looks at a disk for a moment, and so does the kernel for its partitions."""
    files.counts = [2, 2, 2, 2, 1]
    assert files.check() is None
    files.process("77", "udev-worker")
    files.counts = [2, 2, 1]
    assert files.check() is None


def test_a_file_that_was_opened_after_the_count_accounts_for_nothing(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.counts = [2]
    looks = 0

    def opened_devices(roots: Roots, ours: bool = False) -> list[safety.Opened]:
        nonlocal looks
        looks += 1
        return [safety.Opened("250:0", "77", os.O_RDONLY, "5")] if looks % 2 == 0 else []

    monkeypatch.setattr(safety, "opened_devices", opened_devices)
    with pytest.raises(RefusedError, match="1 more open of it"):
        files.check()


def test_a_count_that_is_never_known_is_refused(files: Files) -> None:
    files.counts = [0]
    with pytest.raises(RefusedError, match="has been busy opening or closing it for 2 s"):
        files.check(("S123",))
    files.counts = [0, 0, 1]
    assert files.check() is None


# ---- the same file ----


def _pair(
    make: Callable[[int], int],
) -> bool:
    fd = os.open("/dev/null", os.O_RDONLY)
    second = make(fd)
    try:
        me = str(os.getpid())
        return openers._same_file((me, str(fd)), (me, str(second)))
    finally:
        os.close(second)
        os.close(fd)


def test_the_kernel_tells_files_from_descriptors() -> None:
    assert _pair(os.dup)
    library = ctypes.CDLL(None)
    if library.syscall(
        openers._KCMP.get(os.uname().machine, -1), os.getpid(), os.getpid(), 0, 0, 0
    ):
        pytest.skip("this kernel, or its policy, has no kcmp()")
    assert not _pair(lambda fd: os.open("/dev/null", os.O_RDONLY))


def test_without_kcmp_all_descriptors_are_of_one_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openers, "platform", SimpleNamespace(machine=lambda: "vax"))
    assert _pair(lambda fd: os.open("/dev/null", os.O_RDONLY))
