# SPDX-License-Identifier: GPL-2.0
"""spekctl prober: the machine without a run, at once, detached, watched and read."""

from __future__ import annotations

import itertools
import json
import time
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.schemas import validator
from lib.fakes.power_disk import FakeDisk
from lib.fakes.prober import SECOND, START_NS, FakeProber

from spekctl.block import device
from spekctl.documents.prober import SCHEMA_FILE
from spekctl.errors import ExitCode, NotPermittedError
from spekctl.kernel import prober
from spekctl.kernel.gen.spek_prober_records import ProbeState
from spekctl.power import disk
from spekctl.power.look import Observer


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeProber:
    """A prober whose rows come as fast as they are asked for."""
    fake = FakeProber()
    clock = itertools.count(START_NS, SECOND)
    monkeypatch.setattr(prober, "Prober", lambda: fake)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    monkeypatch.setattr(time, "monotonic_ns", lambda: next(clock))
    return fake


def test_start_samples_for_its_time_and_writes_a_document(
    spekctl: Spekctl, fake: FakeProber, tmp_path: Path
) -> None:
    path = tmp_path / "machine.json"
    outcome = spekctl("prober", "start", "--for", "3s", "-o", path)
    assert (outcome.code, outcome.sentence) == (ExitCode.OK, f"samples written to {path}")
    assert fake.calls == [f"start {SECOND} None False", "stop", "delete", "close"]
    document = json.loads(path.read_text())
    assert (document["kind"], document["probe"]["ended"]) == ("spek-prober", True)
    # The last one ends with the row of the stop.
    assert len(document["start_ns"]) == 4
    assert "Context switches" in outcome.out
    assert spekctl("show", path).out.partition("probe 4")[2] == outcome.out.partition("probe 4")[2]


@pytest.fixture
def standing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeDisk:
    """The only disk of the machine, which is suspended."""
    fake_disk = FakeDisk(tmp_path)
    fake_disk.write("device/power/runtime_status", "suspended")
    monkeypatch.setattr(device, "every", lambda: iter([fake_disk.device]))
    monkeypatch.setattr(disk, "below", lambda device: [fake_disk.disk])
    return fake_disk


def test_power_states_of_all_disks_are_taken_beside_the_samples(
    spekctl: Spekctl, fake: FakeProber, standing: FakeDisk, tmp_path: Path
) -> None:
    path = tmp_path / "machine.json"
    outcome = spekctl("prober", "start", "--for", "3s", "--power-states", "100ms", "-o", path)
    assert outcome.code == ExitCode.OK
    assert "power states of the disks" in outcome.out
    document = json.loads(path.read_text())
    validator(SCHEMA_FILE).validate(document)
    (states,) = document["power_states"]
    assert (states["disk"], states["commands"], states["looks"] >= 2) == ("/dev/sda", 0, True)
    assert [change["state"] for change in states["changes"]] == ["suspended"]
    assert "power states of the disks" in spekctl("show", path).out


def test_a_first_look_that_fails_starts_no_probe(
    spekctl: Spekctl, fake: FakeProber, standing: FakeDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: object, spared: str) -> None:
        raise NotPermittedError("only root may send commands to /dev/sg0")

    monkeypatch.setattr(Observer, "look", refuse)
    outcome = spekctl("prober", "start", "--for", "3s", "--power-states", "1s")
    assert (outcome.code, outcome.sentence) == (
        ExitCode.PERMISSION,
        "only root may send commands to /dev/sg0",
    )
    assert not any(call.startswith("start") for call in fake.calls)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--power-states", "50ms"), "--power-states must be at least 100ms"),
        (("--power-states", "1s", "--detach"), "--power-states cannot be combined with --detach"),
        (("--device", "/dev/sda"), "--device needs --power-states as well"),
    ],
)
def test_looks_that_are_impossible_are_refused(
    spekctl: Spekctl, fake: FakeProber, words: tuple[str, ...], sentence: str
) -> None:
    outcome = spekctl("prober", "start", *words)
    assert outcome.code == ExitCode.USAGE and sentence in outcome.sentence
    assert fake.calls == []


def test_a_detached_probe_survives_its_caller(
    spekctl: Spekctl, fake: FakeProber, tmp_path: Path
) -> None:
    outcome = spekctl("prober", "start", "--detach", "--interval", "10s", "--rows", "500")
    assert (outcome.code, outcome.out) == (ExitCode.OK, "")
    assert "probe 4 samples until `spekctl prober stop`; the kernel keeps the last 500 rows" in (
        outcome.err
    )
    assert fake.calls == [f"start {10 * SECOND} 500 True", "close"]
    assert json.loads(spekctl("prober", "read", "--json").out)["probe"]["ended"] is False
    assert fake.state is ProbeState.RUNNING

    path = tmp_path / "machine.json"
    outcome = spekctl("prober", "stop", "--table", "memory", "-o", path)
    assert outcome.code == ExitCode.OK
    document = json.loads(path.read_text())
    assert [table["name"] for table in document["tables"]] == ["memory"]
    assert fake.calls[-3:] == ["stop", "delete", "close"]
    assert "there is no probe" in spekctl("prober", "stop").sentence


def test_stop_leaves_the_samples_to_the_terminal_that_started_the_probe(
    spekctl: Spekctl, fake: FakeProber
) -> None:
    fake.start(SECOND)
    outcome = spekctl("prober", "stop")
    assert (outcome.code, outcome.out) == (ExitCode.OK, "")
    assert "its samples appear where it was started" in outcome.err
    assert "delete" not in fake.calls
    fake.start(SECOND)
    assert spekctl("prober", "stop", "--json").code == ExitCode.USAGE


def test_watch_prints_a_line_for_each_sample(spekctl: Spekctl, fake: FakeProber) -> None:
    fake.start(SECOND, detached=True)
    outcome = spekctl("prober", "watch", "--count", "2")
    assert outcome.code == ExitCode.OK
    heading, *rows = outcome.out.splitlines()
    assert heading.split()[0] == "s" and len(rows) == 2
    assert fake.state is ProbeState.RUNNING


def test_watch_ends_with_the_probe(spekctl: Spekctl, fake: FakeProber) -> None:
    fake.start(SECOND, detached=True)
    fake.most = 5
    outcome = spekctl("prober", "watch")
    assert (outcome.code, len(outcome.out.splitlines())) == (ExitCode.OK, 5)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["start", "--for", "1s", "--interval", "2s"], "--for must be at least --interval"),
        (["start", "--detach", "--for", "1h"], "--detach and --for exclude each other"),
        (["start", "--table", "gpu"], "gpu"),
        (["start", "--power-feed", "u6"], "the probe has no feed 'u6'; it has psu"),
        (["start", "--rows", "1"], "--rows"),
        (["watch"], "there is no probe; `spekctl prober start` starts one"),
        (["read"], "there is no probe; `spekctl prober start` starts one"),
        (["start", "-o", "/nowhere/x.json"], "there is no directory"),
    ],
)
def test_what_is_refused(
    spekctl: Spekctl, fake: FakeProber, words: list[str], sentence: str
) -> None:
    outcome = spekctl("prober", *words)
    assert outcome.code == ExitCode.USAGE
    assert sentence in outcome.err
    assert fake.state is not ProbeState.DONE


def test_a_second_probe_is_refused_in_the_kernels_words(spekctl: Spekctl, fake: FakeProber) -> None:
    fake.busy = True
    assert "The prober is already sampling." in spekctl("prober", "start").err
