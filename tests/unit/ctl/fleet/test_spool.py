# SPDX-License-Identifier: GPL-2.0
"""Rows that are kept for hosts that may be lost: all of them, in little memory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from lib.fakes.kernel import interval_cell

from spekctl.errors import SpekError
from spekctl.fleet import spool
from spekctl.fleet.spool import HostRows, Spool
from spekctl.kernel.records import IntervalRow, Phase


def row(seq: int) -> IntervalRow:
    return IntervalRow(
        seq=seq,
        phase=Phase.MEASURE,
        start_ns=seq,
        end_ns=seq + 1,
        outstanding=0,
        backlog=0,
        worker_cpu_ns=None,
        worker_switches=0,
        read=interval_cell(ios=seq),
        write=interval_cell(),
        streams=[(seq, 4096 * seq, 0, 0)],
    )


def filled(kept: Spool, count: int) -> tuple[HostRows, HostRows]:
    """Rows of two hosts, in turn; the name of one is the beginning of the other's."""
    hosts = kept.of("a"), kept.of("a1")
    for seq in range(count):
        hosts[0].add([row(seq)])
        hosts[1].add([row(2 * seq), row(2 * seq + 1)])
    return hosts


@pytest.mark.parametrize("memory_max", [0, 700, 1 << 20])
def test_each_host_has_its_rows_in_their_order(
    tmp_path: Path, memory_max: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Lines do not end where a read does.
    monkeypatch.setattr(spool, "READ_BYTES", 1000)
    kept = Spool(tmp_path, memory_max)
    first, second = filled(kept, 50)
    assert list(first) == [row(seq) for seq in range(50)] and len(first) == 50
    assert list(second) == [row(seq) for seq in range(100)] and len(second) == 100
    first.add([row(50)])
    assert len(list(first)) == 51
    # The file has no name.
    assert list(tmp_path.iterdir()) == []
    kept.close()
    kept.close()
    assert list(first) == []


def test_without_a_result_file_they_are_in_a_private_folder_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("TMPDIR", "/nowhere")
    kept = Spool(None, 0)
    host = kept.of("a")
    host.add([row(1)])
    folder = tmp_path / "state/spek"
    assert kept._file is not None and list(host) == [row(1)]
    assert os.fstat(kept._file.fileno()).st_dev == folder.stat().st_dev
    assert os.fstat(kept._file.fileno()).st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700
    assert list(folder.iterdir()) == []
    kept.close()


def test_a_user_without_a_place_for_them_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    kept = Spool(None, 0)
    with pytest.raises(SpekError, match=r"cannot be kept .* lost: Not a directory$"):
        kept.add("a", [row(1)])
    kept.close()


@pytest.mark.parametrize(
    ("kind", "trouble"),
    [
        ("link", "is no directory, or a link to one"),
        ("file", "is no directory, or a link to one"),
        ("writable", "can be written by others; chmod go-w "),
        ("foreign", "belongs to another user"),
    ],
)
def test_a_folder_that_others_may_have_a_hand_in_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, trouble: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    folder = tmp_path / "spek"
    if kind == "link":
        (tmp_path / "elsewhere").mkdir()
        folder.symlink_to("elsewhere")
    elif kind == "file":
        folder.write_text("")
    else:
        folder.mkdir()
        folder.chmod(0o770 if kind == "writable" else 0o700)
    if kind == "foreign":
        mine = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    kept = Spool(None, 0)
    with pytest.raises(SpekError) as refusal:
        kept.add("a", [row(1)])
    assert f"cannot be kept for hosts that may be lost: {folder} {trouble}" in refusal.value.message
    kept.close()


def test_memory_is_bounded(tmp_path: Path) -> None:
    kept = Spool(tmp_path, 10_000)
    for seq in range(200):
        kept.add("a", [row(seq)])
        assert len(kept._memory) <= 10_000
    assert kept._written > 10_000
    kept.close()


def test_what_comes_when_the_disk_is_full_is_refused_and_the_rest_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Spool(tmp_path, 2000)
    filled(kept, 5)
    wrote = os.pwrite

    def part(number: int, data: memoryview, at: int) -> int:
        """Some of it, and then there is no room."""
        if len(data) < 500:
            raise OSError(28, "No space left on device")
        return wrote(number, bytes(data[:100]), at)

    monkeypatch.setattr(os, "pwrite", part)
    host = kept.of("b")
    with pytest.raises(SpekError, match=r"cannot be kept .* lost: No space left on device$"):
        for seq in range(100):
            host.add([row(seq)])
    assert 0 < len(list(host)) == len(host) < 100
    assert len(list(kept.rows("a"))) == 5 and len(list(kept.rows("a1"))) == 10
    monkeypatch.undo()
    host.add([row(7)])
    assert list(host)[-1] == row(7)
    kept.close()
