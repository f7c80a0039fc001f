# SPDX-License-Identifier: GPL-2.0
"""spekctl augment status, destage, detach and monitor: options, output and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lib.ctl.augment import UUID_TEXT, Machine
from lib.ctl.schemas import validator
from lib.fakes.dmsetup import CLEAN, DIRTY, FAILED

from spekctl.augment import detach, mapper, monitor
from spekctl.documents import augment
from spekctl.documents.disk_states import PowerState
from spekctl.errors import ExitCode, NotFoundError, NotPermittedError


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setattr(detach, "LOOK_S", 0.001)
    return Machine(tmp_path, monkeypatch)


def test_status_is_text(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    machine.attached(DIRTY)
    assert machine.augment("status", "nas") == ExitCode.OK
    out = capsys.readouterr().out
    assert out.startswith("nas: normal, ")
    assert "the RAID lacks 48 KiB, the oldest 1:05 old" in out


def test_status_without_caches_says_so(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert machine.augment("status") == ExitCode.OK
    assert capsys.readouterr().out == "no augment cache is attached\n"


def test_status_as_json_follows_its_schema(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.attached(DIRTY)
    assert machine.augment("status", "--json") == ExitCode.OK
    fields = json.loads(capsys.readouterr().out)
    validator(augment.SCHEMA_FILE).validate(fields)
    assert (fields["kind"], fields["caches"][0]["uuid"]) == ("spek-augment-status", UUID_TEXT)


@pytest.mark.parametrize("command", ["status", "destage", "detach", "monitor"])
def test_a_cache_that_is_not_there_is_wrong_input(
    machine: Machine, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    machine.attached()
    assert machine.augment(command, "attic") == ExitCode.USAGE
    error = capsys.readouterr().err
    assert error == "spekctl: there is no augment cache attic; attached are: nas\n"


@pytest.mark.parametrize(
    "words", [["status"], ["destage", "nas"], ["detach", "nas"], ["monitor", "nas"]]
)
def test_who_is_not_root_is_told_so(
    machine: Machine,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
) -> None:
    def refuse() -> None:
        raise NotPermittedError("not permitted: device mapper needs root (CAP_SYS_ADMIN)")

    monkeypatch.setattr(mapper, "check_rights", refuse)
    assert machine.augment(*words) == ExitCode.PERMISSION
    assert machine.dm.state["calls"] == []


def test_destage_says_how_much(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    machine.attached(DIRTY)
    assert machine.augment("destage", "nas") == ExitCode.OK
    assert capsys.readouterr().err == "spekctl: nas destages 12 blocks\n"
    assert machine.dm.sent("message") == [["message", "nas", "0", "destage"]]


def test_destage_waits(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    machine.attached([DIRTY, DIRTY, CLEAN])
    assert machine.augment("destage", "nas", "--wait", "1m") == ExitCode.OK
    assert capsys.readouterr().err == "spekctl: nas: the RAID has all that was written\n"


def test_destage_gives_up(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    machine.attached(DIRTY)
    assert machine.augment("destage", "nas", "--wait", "5ms") == ExitCode.RUN_FAILED
    assert "nas still has 12 blocks" in capsys.readouterr().err


def test_detach_says_that_the_raid_is_whole(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.set()
    machine.attached([DIRTY, DIRTY, CLEAN])
    assert machine.augment("detach", "nas") == ExitCode.OK
    error = capsys.readouterr().err
    assert error == "spekctl: nas is detached: the RAID is whole without it\n"
    assert machine.dm.state["mappings"] == {}


@pytest.mark.parametrize(
    ("status", "opens", "words", "code"),
    [
        (DIRTY, 1, (), ExitCode.REFUSED),
        (DIRTY, 0, ("--timeout", "5ms"), ExitCode.RUN_FAILED),
        (FAILED, 0, (), ExitCode.RUN_FAILED),
    ],
)
def test_detach_that_is_refused_removes_nothing(
    machine: Machine, status: str, opens: int, words: tuple[str, ...], code: ExitCode
) -> None:
    machine.attached(status, opens)
    assert machine.augment("detach", "nas", *words) == code
    assert machine.dm.sent("remove") == []


# ---- monitor ----


class FakeMonitor:
    """Tells that member 0 sleeps, once, and ends with the cache."""

    steps = 0

    def __init__(self, *given: object) -> None:
        self.given = given

    def step(self) -> list[monitor.Told]:
        FakeMonitor.steps += 1
        if FakeMonitor.steps == 1:
            return [
                monitor.Told(0, "/dev/sda", PowerState.STANDBY, False, "idle"),
                monitor.Told(1, "/dev/sdb", PowerState.ACTIVE, True),
            ]
        if FakeMonitor.steps == 4:
            raise NotFoundError("there is no augment cache nas")
        return []


@pytest.fixture
def watched(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine.attached()
    FakeMonitor.steps = 0
    monkeypatch.setattr(monitor, "Monitor", FakeMonitor)
    return machine


def test_monitor_prints_changes_and_ends_with_the_cache(
    watched: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert watched.augment("monitor", "nas", "--every", "100ms") == ExitCode.OK
    output = capsys.readouterr()
    assert output.out == (
        "member 0  /dev/sda  standby: asleep (idle)\nmember 1  /dev/sdb  active: awake\n"
    )
    assert output.err == "spekctl: nas is detached\n"
    assert FakeMonitor.steps == 4


def test_monitor_ends_in_time(watched: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    assert watched.augment("monitor", "nas", "--every", "100ms", "--for", "150ms") == ExitCode.OK
    assert FakeMonitor.steps == 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--every", "50ms"], "--every must be at least 100ms"),
        (["--idle-timeout", "1s"], "--idle-timeout must be at least as long as --every"),
        (["--starts-per-day", "3"], "--starts-per-day needs --idle-timeout as well"),
        (["--idle-timeout", "1m", "--starts-per-day", "0"], "0 is not in the range x>=1"),
        (["--member-disk", "sda2"], "--member-disk is given 1 times for 2 members"),
    ],
)
def test_wrong_options_tell_nothing(
    watched: Machine, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    assert watched.augment("monitor", "nas", *words) == ExitCode.USAGE
    assert sentence in capsys.readouterr().err
    assert FakeMonitor.steps == 0


def test_status_names_what_is_lost(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    machine.attached(FAILED)
    answers = {"lost 0": "70+2 9+1 128\n", "lost 128": "72+8 10+1 -\n"}
    machine.dm.change(answers=answers)
    assert machine.augment("status", "--json") == ExitCode.OK
    fields = json.loads(capsys.readouterr().out)
    validator(augment.SCHEMA_FILE).validate(fields)
    cache = fields["caches"][0]
    assert (cache["lost_blocks"], cache["lost"]) == (12, [[9, 11], [70, 80]])
    # An earlier module has no list.
    machine.dm.change(version="1.1.0")
    assert machine.augment("status", "--json") == ExitCode.OK
    assert json.loads(capsys.readouterr().out)["caches"][0]["lost"] == []


def test_lost_blocks_are_given_up_by_their_number(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.attached(FAILED)
    assert machine.augment("forget", "nas", "--lost", "11") == ExitCode.USAGE
    assert "nas has lost 12 blocks: look which they are" in capsys.readouterr().err
    assert machine.dm.sent("message") == []
    assert machine.augment("forget", "nas", "--lost", "12") == ExitCode.OK
    assert capsys.readouterr().err == "spekctl: nas: 12 blocks are given up\n"
    assert machine.dm.sent("message") == [["message", "nas", "0", "forget", "12"]]


def test_a_cache_that_has_lost_nothing_gives_nothing_up(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.attached(DIRTY)
    assert machine.augment("forget", "nas", "--lost", "12") == ExitCode.REFUSED
    assert capsys.readouterr().err == "spekctl: nas has lost nothing: it is normal\n"
    assert machine.dm.sent("message") == []
