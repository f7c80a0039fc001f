# SPDX-License-Identifier: GPL-2.0
"""What devices store: zram, dm-thin, dm-vdo, a command; snapshots of dm-thin; md with parity."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from lib.fakes.machine import disk
from lib.waiting import eventually

from spekctl.block import stored
from spekctl.block.device import Device, Roots
from spekctl.block.stored import Thin
from spekctl.errors import SpekError, UsageError

THIN = "0 2097152 thin 253:1 7\n"
POOL = "0 2097152 thin-pool 253:2 253:3 128 0 0\n"
POOL_STATUS = (
    "0 2097152 thin-pool 1 29/1024 96/16384 - rw discard_passdown queue_if_no_space - 1024\n"
)
VDO_STATUS = "0 2097152 vdo 253:4 normal - online online 1234 262144\n"


class Mapper:
    """dmsetup that answers by its words."""

    def __init__(self, answers: dict[str, str]) -> None:
        self.answers = answers

    def __call__(self, *words: str) -> str:
        return self.answers.get(" ".join(words), "")


def device_at(root: Path, number: str, files: dict[str, str]) -> Device:
    folder = root / "dev" / "block" / number
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    major, _, minor = number.partition(":")
    return disk("/dev/x0", major=int(major), minor=int(minor))


def test_zram_says_what_its_pool_takes(tmp_path: Path) -> None:
    device = device_at(tmp_path, "252:0", {"mm_stat": "8192 900 12288 0 12288 0 0 0 0\n"})
    assert stored.of(device, roots=Roots(sys=tmp_path)).read() == 12288


def test_a_thin_volume_is_counted_by_its_pool(tmp_path: Path) -> None:
    device = device_at(tmp_path, "253:0", {"dm/name": "volume\n"})
    device_at(tmp_path, "253:1", {"dm/name": "pool\n"})
    answers = {"table volume": THIN, "table pool": POOL, "status pool": POOL_STATUS}
    source = stored.of(device, roots=Roots(sys=tmp_path), call=Mapper(answers))
    assert source.read() == 96 * 128 * 512
    assert source.free is not None and source.free() == (16384 - 96) * 128 * 512
    assert source.thin == Thin("volume", "pool", 7)


def test_vdo_says_its_physical_blocks(tmp_path: Path) -> None:
    device = device_at(tmp_path, "253:0", {"dm/name": "v\n"})
    answers = {"table v": "0 2097152 vdo V4 ...\n", "status v": VDO_STATUS}
    source = stored.of(device, roots=Roots(sys=tmp_path), call=Mapper(answers))
    assert source.read() == 1234 * 4096
    assert source.free is not None and source.free() == (262144 - 1234) * 4096


@pytest.mark.parametrize(
    ("judge", "text"),
    [
        (stored.pool_blocks, "0 2097152 thin-pool Fail\n"),
        (stored.pool_blocks, ""),
        (stored.vdo_bytes, "0 2097152 vdo 253:4 read-only\n"),
        (stored.vdo_bytes, "0 2097152 vdo 253:4 normal - online online - 262144\n"),
    ],
)
def test_a_status_without_numbers_is_said(judge: object, text: str) -> None:
    with pytest.raises(SpekError, match="reports no numbers of blocks"):
        judge(text)  # type: ignore[operator]


def test_other_devices_need_a_command(tmp_path: Path) -> None:
    device = device_at(tmp_path, "8:0", {"size": "1"})
    with pytest.raises(UsageError, match="give a command that prints them with --stored"):
        stored.of(device, roots=Roots(sys=tmp_path))
    assert stored.of(device, "echo 77").read() == 77
    with pytest.raises(SpekError, match="`exit 3` failed: exit code 3"):
        stored.of_command("exit 3")


DMSETUP = """#!/bin/sh
echo "$*" >>{log}
case $* in
{refusals}
esac
"""
SNAP = "message pool 0 create_snap"
EXISTS = ("device-mapper: message ioctl on pool  failed: File exists", 1)


@pytest.fixture
def dmsetup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Puts a dmsetup in place, with what it says and returns by its words; the log of its calls."""

    def place(refusals: dict[str, tuple[str, int]]) -> Path:
        log = tmp_path / "log"
        log.touch()
        cases = "\n".join(
            f"'{words}') echo '{text}' >&2; exit {code} ;;"
            for words, (text, code) in refusals.items()
        )
        program = tmp_path / "dmsetup"
        program.write_text(DMSETUP.format(log=log, refusals=cases))
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        return log

    return place


THIN_7 = Thin("volume", "pool", 7)


def take() -> None:
    """Take a snapshot, which is refused."""
    with stored.snapshot(THIN_7):
        pytest.fail("it is not refused")


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("echo 7 GB", "7 GB"),
        ("echo", ""),
        ("echo -5", "-5"),
        ("printf '7\\n8\\n'", "7"),
        ("printf '\\331\\243'", "\u0663"),  # a digit, but not one of ASCII
        ("printf %05000d 1", "0" * 40),
    ],
)
def test_what_a_command_prints_is_one_number(command: str, text: str) -> None:
    with pytest.raises(SpekError) as refused:
        stored.of_command(command)
    assert refused.value.message == f"`{command}` printed '{text}', not one number of bytes"


def test_a_snapshot_takes_a_free_number_and_resumes_the_volume(
    dmsetup: Callable[..., Path],
) -> None:
    log = dmsetup({f"{SNAP} 16777215 7": EXISTS})
    with stored.snapshot(THIN_7) as number:
        assert number == 16777214 and "delete" not in log.read_text()
    assert log.read_text().splitlines() == [
        *("suspend volume", f"{SNAP} 16777215 7", "resume volume"),
        *("suspend volume", f"{SNAP} 16777214 7", "resume volume"),
        "message pool 0 delete 16777214",
    ]


def test_a_pool_that_takes_no_snapshot_is_asked_once_and_the_volume_resumed(
    dmsetup: Callable[..., Path],
) -> None:
    log = dmsetup({f"{SNAP} 16777215 7": ("failed: No space left on device", 1)})
    with pytest.raises(SpekError, match="pool refuses a snapshot: failed: No space left on device"):
        take()
    assert log.read_text().splitlines()[1:] == [f"{SNAP} 16777215 7", "resume volume"]


def test_a_volume_that_cannot_be_suspended_gets_no_snapshot(dmsetup: Callable[..., Path]) -> None:
    log = dmsetup({"suspend volume": ("no such volume", 1), "resume volume": ("neither", 1)})
    with pytest.raises(SpekError, match="refuses a snapshot: no such volume"):
        take()
    # It may have been suspended all the same.
    assert log.read_text().splitlines() == ["suspend volume", "resume volume"]


def test_a_volume_that_stays_suspended_is_said(dmsetup: Callable[..., Path]) -> None:
    log = dmsetup({"resume volume": ("Device or resource busy", 1)})
    with pytest.raises(SpekError, match=r"still suspended; try `dmsetup resume volume`: Device or"):
        take()
    assert log.read_text().splitlines()[-1] == "message pool 0 delete 16777215"


def test_a_killed_helper_may_leave_the_volume_suspended(
    dmsetup: Callable[..., Path], tmp_path: Path
) -> None:
    log = dmsetup({})
    with (tmp_path / "dmsetup").open("a") as program:
        program.write("case $* in *create_snap*) kill -9 $PPID ;; esac\n")
    with pytest.raises(SpekError, match=r"may still be suspended, .*; try `dmsetup resume volume`"):
        take()
    assert "delete" not in log.read_text()


def test_numbers_that_killed_tests_have_left_come_to_an_end(dmsetup: Callable[..., Path]) -> None:
    dmsetup({f"{SNAP} {number} 7": EXISTS for number in range(1 << 24)[-99:]})
    with pytest.raises(SpekError, match=r"once no other test .* runs, .* 0 'delete 16777215'"):
        take()


def test_a_snapshot_that_cannot_be_deleted_is_said(dmsetup: Callable[..., Path]) -> None:
    dmsetup({"message pool 0 delete 16777215": ("no", 1)})
    text = "`dmsetup message pool 0 'delete 16777215'`: no"
    with pytest.raises(SpekError, match=text), stored.snapshot(THIN_7):
        pass


KILLED = f"""
import time
from spekctl.block import stored as s
with s.snapshot(s.{THIN_7!r}):
    print("taken", flush=True)
    time.sleep(600)
"""


def test_a_program_killed_on_the_way_leaves_neither_a_suspended_volume_nor_a_snapshot(
    dmsetup: Callable[..., Path], tmp_path: Path
) -> None:
    log = dmsetup({})
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    program = tmp_path / "dmsetup"
    text = program.read_text()
    # The message waits until the program is gone.
    waiting = f"case $* in *create_snap*) read line <{gate} ;; esac\n"
    program.write_text(text + waiting)
    with subprocess.Popen([sys.executable, "-c", KILLED]) as killed:
        eventually(lambda: SNAP in log.read_text(), "no snapshot is asked for")
        killed.kill()
    with gate.open("w") as stream:
        stream.write("go\n")
    eventually(lambda: "delete" in log.read_text(), "the snapshot is not deleted")
    assert log.read_text().splitlines()[-2:] == ["resume volume", "message pool 0 delete 16777215"]


def test_a_program_killed_later_leaves_no_snapshot(dmsetup: Callable[..., Path]) -> None:
    log = dmsetup({})
    with subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE) as killed:
        assert killed.stdout is not None and killed.stdout.readline() == b"taken\n"
        assert "delete" not in log.read_text()
        killed.kill()
    eventually(lambda: "delete 16777215" in log.read_text(), "the snapshot is not deleted")


def test_parity_is_seen_below_other_devices(tmp_path: Path) -> None:
    plain = device_at(tmp_path, "253:0", {"slaves/md0/md/level": "raid5\n", "size": "1"})
    (tmp_path / "dev/block/253:0/slaves/md0/md/raid_disks").write_text("4\n")
    assert stored.parity_of(plain, Roots(sys=tmp_path)) == "md raid5 of 4 devices"
    other = device_at(tmp_path, "9:1", {"md/level": "raid0\n", "md/raid_disks": "2\n"})
    assert stored.parity_of(other, Roots(sys=tmp_path)) == ""
