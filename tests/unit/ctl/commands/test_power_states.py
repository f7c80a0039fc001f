# SPDX-License-Identifier: GPL-2.0
"""spekctl power states and set: options, printed lines, documents, and what is refused."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from lib.ctl.rails import run
from lib.fakes.power_disk import FakeChannel, FakeDisk, polled

from spekctl import cli
from spekctl.block import opening, safety
from spekctl.documents import document
from spekctl.documents.disk_states import PowerState
from spekctl.documents.power_states import PowerStates
from spekctl.errors import ExitCode, NotPermittedError
from spekctl.power import asleep, change, disk, look
from spekctl.power.disk import Disk, Protocol
from spekctl.power.passthrough import Node, Place, ScsiReply
from spekctl.run import candidates


class Rig:
    """Two disks, whose channels answer as the test says."""

    def __init__(self, root: Path) -> None:
        self.disks = {f"/dev/{name}": FakeDisk(root / name, name) for name in ("sda", "sdb")}
        self.channel = FakeChannel(scsi_answer=lambda cdb: polled(0x5E, 2))
        self.wanted: list[Protocol | None] = []

    def find(self, path: str, wanted: Protocol | None = None) -> Disk:
        self.wanted.append(wanted)
        return self.disks[path].disk


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Rig:
    rig = Rig(tmp_path / "sys")
    monkeypatch.setattr(disk, "find", rig.find)
    monkeypatch.setattr(asleep, "FOLDER", tmp_path / "asleep")
    monkeypatch.setattr(candidates, "runs_and_claims", lambda: ([], []))
    monkeypatch.setattr(safety, "users", lambda device, runs, claims, roots: [])
    for function in (look.Observer.__init__, change.put):
        defaults = [rig.channel.open if value is Node else value for value in _defaults(function)]
        monkeypatch.setattr(function, "__defaults__", tuple(defaults))
    return rig


def _defaults(function: Callable[..., object]) -> tuple[object, ...]:
    return function.__defaults__ or ()


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_one_look_is_a_table(rig: Rig, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("states", "/dev/sda", "/dev/sdb", "/dev/sda") == ExitCode.OK
    rows = [line.split()[:3] for line in lines(capsys)[1:]]
    assert rows == [["/dev/sda", "standby", "command"], ["/dev/sdb", "standby", "command"]]
    assert len(rig.channel.sent) == 2


def test_the_protocol_can_be_chosen(rig: Rig) -> None:
    assert run("states", "/dev/sda", "--protocol", "ata") == ExitCode.OK
    assert rig.wanted == [Protocol.ATA]


def test_a_series_prints_changes_and_writes_a_document(
    rig: Rig, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replies = iter([polled(0x5E, 2), polled(0x5E, 2), polled(0, 0)])
    rig.channel.scsi_answer = lambda cdb: next(replies, polled(0, 0))
    path = tmp_path / "states.json"
    words = ("--every", "100ms", "--for", "500ms", "-o", path)
    assert run("states", "/dev/sda", *words) == ExitCode.OK
    printed = lines(capsys)
    assert printed[0] == "     0:00  /dev/sda  standby  by timer"
    assert printed[1] == "     0:00  /dev/sda  idle"
    (part,) = document.read(path, PowerStates).disks
    assert [change.state for change in part.changes] == [PowerState.STANDBY, PowerState.IDLE]
    assert 3 <= part.looks <= 6
    assert part.spin_ups == 1
    assert sum(part.seconds.values()) == pytest.approx(0.5, abs=0.1)
    assert cli.run(["show", str(path)]) == ExitCode.OK
    assert "spin-ups" in capsys.readouterr().out


def test_json_is_the_document_and_nothing_else(
    rig: Rig, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--every", "100ms", "--for", "200ms", "--json")
    assert run("states", "/dev/sdb", *words) == ExitCode.OK
    report = json.loads(capsys.readouterr().out)
    assert (report["kind"], report["interval_ns"]) == ("spek-power-states", 100_000_000)
    assert report["disks"][0]["disk"] == "/dev/sdb"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--for", "1s"], "--for needs --every as well"),
        (["--every", "50ms"], "--every must be at least 100ms"),
        (["--every", "5s", "--for", "1s"], "--for must be at least --every"),
        (["-o", "/does/not/exist/x"], "there is no directory"),
        (["--protocol", "nvme"], "'nvme'"),
    ],
)
def test_wrong_options_send_nothing(
    rig: Rig, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    assert run("states", "/dev/sda", *words) == ExitCode.USAGE
    assert sentence in capsys.readouterr().err
    assert rig.channel.opens == 0


def test_a_device_that_does_not_exist_is_wrong_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("states", "/dev/spek-nothing") == ExitCode.USAGE
    assert "there is no device /dev/spek-nothing" in capsys.readouterr().err


@pytest.mark.parametrize("words", [("states", "/dev/sda"), ("set", "/dev/sda", "idle", "--force")])
def test_who_is_not_root_is_told_so(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str]
) -> None:
    def refuse(cdb: bytes) -> ScsiReply:
        raise NotPermittedError("only root may send commands to /dev/sg0")

    rig.channel.scsi_answer = refuse
    assert run(*words) == ExitCode.PERMISSION
    assert capsys.readouterr().err == "spekctl: only root may send commands to /dev/sg0\n"


# ---- set ----


def claimed(path: str, flags: int, number: object) -> int:
    return os.open("/dev/null", os.O_RDONLY)


def test_set_says_what_state_the_disk_has_now(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(opening, "open_block_device", claimed)
    assert run("set", "/dev/sda", "standby") == ExitCode.OK
    assert lines(capsys) == ["/dev/sda: standby (by timer)"]
    assert [cdb[0] for cdb in rig.channel.sent] == [0x00, 0x1B, 0x03]


def test_a_disk_in_use_is_refused_with_its_exit_code(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def users(device: object, runs: object, claims: object, roots: object) -> list[str]:
        return ["run 3 of spek (spc1) uses it"]

    monkeypatch.setattr(safety, "users", users)
    assert run("set", "/dev/sda", "standby") == ExitCode.REFUSED
    error = capsys.readouterr().err
    assert error.startswith("spekctl: /dev/sda is in use: run 3 of spek (spc1) uses it; --force")
    assert rig.channel.opens == 0
    assert run("set", "/dev/sda", "standby", "--force") == ExitCode.OK


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["asleep"], "'asleep'"),
        (["sleep", "--timer", "10m"], "not with sleep"),
        (["idle", "--timer", "1ns"], "multiple of 100ms"),
        (["idle", "--timer", "soon"], "soon"),
    ],
)
def test_wrong_states_and_timers_send_nothing(
    rig: Rig, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    assert run("set", "/dev/sda", *words) == ExitCode.USAGE
    assert sentence in capsys.readouterr().err
    assert rig.channel.opens == 0


def test_the_fake_is_in_place(rig: Rig) -> None:
    """No test of this file reaches a real node."""
    observer = look.Observer(rig.find("/dev/sda"))
    assert observer.open_node(Place("/dev/sg0", (21, 0), is_character=True)) is rig.channel
