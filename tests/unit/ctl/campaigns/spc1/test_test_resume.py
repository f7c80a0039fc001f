# SPDX-License-Identifier: GPL-2.0
"""spekctl spc1: interruption at any phase, resumption, and what is not resumed."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lib.ctl.campaign_command import queue_kernel
from lib.ctl.command_line import Spekctl
from lib.ctl.spc1_command import SECOND, WRITE, bsus, report_of
from lib.fakes.machine import disk
from lib.fakes.queue_kernel import QueueKernel

from spekctl import files
from spekctl.block import device
from spekctl.campaigns.spc1 import phase
from spekctl.errors import ExitCode, SpekError
from spekctl.kernel.records import Reason
from spekctl.workload.config import RunConfig

kernel = pytest.fixture(queue_kernel)

MIB = 1 << 20


def phases_of(folder: str) -> list[Any]:
    """What a report says of its phases that does not depend on when it was made."""
    report = report_of(Path(folder))
    return [(phase["step"], phase["point"]["iops"], phase["beyond"]) for phase in report["phases"]]


@pytest.fixture(scope="module")
def whole() -> dict[str, Any]:
    """The steps of an uninterrupted test; its first user fills it in."""
    return {}


@pytest.mark.parametrize(
    ("run", "signum"),
    [(run, signal.SIGINT) for run in (1, 2, 5, 10, 11, 12, 13, 17, 18, 21)] + [(7, signal.SIGTERM)],
)
def test_an_interrupted_test_goes_on_after_its_last_phase(
    run: int, signum: int, spekctl: Spekctl, kernel: QueueKernel, whole: dict[str, Any]
) -> None:
    if not whole:
        assert spekctl(*WRITE, "--folder", "whole").code == ExitCode.OK
        whole.update(runs=bsus(kernel), phases=phases_of("whole"))
        kernel.runs_seen.clear()
    runs = whole["runs"]
    assert len(runs) == 21

    def at(second: int) -> None:
        if len(kernel.runs_seen) == run and second == 2:
            os.kill(os.getpid(), signum)

    kernel.on_wait = at
    outcome = spekctl(*WRITE, "--folder", "t")
    assert outcome.code == (130 if signum == signal.SIGINT else 143)
    assert bsus(kernel) == runs[:run] and kernel.deleted
    last = outcome.err.splitlines()[-1]
    if run == 1:
        assert last == "spekctl: interrupted; no phase was completed"
        assert not Path("t/state.json").exists()
        return
    assert f"interrupted; {run - 1} phase" in last and "--resume continues after" in last
    assert report_of(Path("t"))["verdict"] == "not complete: phases are missing"
    kernel.on_wait = lambda second: None
    resumed = spekctl(*WRITE, "--folder", "t", "--resume")
    assert resumed.code == ExitCode.OK
    assert bsus(kernel) == [*runs[:run], *runs[run - 1 :]]
    assert phases_of("t") == whole["phases"]


def test_a_test_that_is_over_is_only_reported_again(spekctl: Spekctl, kernel: QueueKernel) -> None:
    first = spekctl(*WRITE, "--folder", "t")
    count = len(kernel.runs_seen)
    again = spekctl(*WRITE, "--folder", "t", "--resume")
    assert (again.code, again.out, len(kernel.runs_seen)) == (ExitCode.OK, first.out, count)


def test_a_device_that_goes_away_can_come_back(spekctl: Spekctl, kernel: QueueKernel) -> None:
    def gone(config: RunConfig) -> None:
        if config.time_ns == 4 * SECOND:
            kernel.end_reason = Reason.DEVICE_GONE

    kernel.before_run = gone
    outcome = spekctl(*WRITE, "--folder", "t")
    assert outcome.code == ExitCode.RUN_FAILED
    sentence = outcome.err.splitlines()[-1]
    assert "sustain: a device was removed during the run; 10 phases are kept in t" in sentence
    kernel.before_run = lambda config: None
    assert spekctl(*WRITE, "--folder", "t", "--resume").code == ExitCode.OK


RESUMED: dict[str, tuple[tuple[str, ...], str]] = {
    "seed": (("--seed", "2"), "another --seed: 1 then, 2 now"),
    "length": (("--sustain", "5s"), "another --sustain: 4s then, 5s now"),
    "limit": (("--max-response", "20ms"), "another --max-response: 30ms then, 20ms now"),
    "search": (("--max-bsu", "50"), "another --max-bsu: 60000 then, 50 now"),
    "walk": (("--hrrw", "fixed"), "another --hrrw: classic then, fixed now"),
    "stripe": (("--stripe", "1MiB"), "another --stripe: 65536 then, 1048576 now"),
    "none": (("--iops-per-bsu", "5"), "another --iops-per-bsu: none then, 5 now"),
    "devices": (("--device", "/dev/fake1"), "another number of devices: 1 then, 2 now"),
}


def begin(spekctl: Spekctl, kernel: QueueKernel) -> None:
    """A test that was interrupted in its third run."""
    kernel.on_wait = lambda second: (
        os.kill(os.getpid(), signal.SIGINT) if len(kernel.runs_seen) == 3 else None
    )
    assert spekctl(*WRITE, "--folder", "t").code == ExitCode.INTERRUPTED
    kernel.on_wait = lambda second: None


@pytest.mark.parametrize("case", RESUMED)
def test_another_test_is_not_resumed(case: str, spekctl: Spekctl, kernel: QueueKernel) -> None:
    begin(spekctl, kernel)
    state = Path("t/state.json").read_bytes()
    more, sentence = RESUMED[case]
    outcome = spekctl(*WRITE, "--folder", "t", "--resume", *more)
    assert outcome.code == ExitCode.USAGE
    assert f"the test in t was started with {sentence}" in outcome.sentence
    assert len(kernel.runs_seen) == 3
    assert Path("t/state.json").read_bytes() == state


def test_asus_stay_on_their_devices(spekctl: Spekctl, kernel: QueueKernel) -> None:
    kernel.on_wait = lambda second: (
        os.kill(os.getpid(), signal.SIGINT) if len(kernel.runs_seen) == 3 else None
    )
    own = ("--device", "asu1=/dev/fake1", "--limit", "unused_capacity=0.6", "--folder", "t")
    assert spekctl(*WRITE, *own).code == ExitCode.INTERRUPTED
    kernel.on_wait = lambda second: None
    places = [[extent.target for extent in asu.extents] for asu in kernel.runs_seen[0].asus]
    assert places == [[1], [0], [0]]
    other = ("--device", "asu2=/dev/fake1", *own[2:])
    for more, is_now in ((other, "asu2 on /dev/fake1"), (("-d", "/dev/fake1", *own[2:]), "none")):
        outcome = spekctl(*WRITE, *more, "--resume")
        assert outcome.code == ExitCode.USAGE
        assert (
            f"another placement of asus: asu1 on /dev/fake1 then, {is_now} now" in outcome.sentence
        )
    assert spekctl(*WRITE, *own, "--resume").code == ExitCode.OK
    assert any(line.startswith("asu1 on /dev/fake1; ") for line in report_of(Path("t"))["remarks"])


def test_asus_keep_their_sizes(spekctl: Spekctl, kernel: QueueKernel) -> None:
    """Another version of spekctl may share the devices out in another way."""
    begin(spekctl, kernel)
    path = Path("t/state.json")
    state = json.loads(path.read_text())
    asu = state["done"][0]["asus"][0]
    asu["bytes"] -= MIB
    path.write_text(json.dumps(state))
    outcome = spekctl(*WRITE, "--folder", "t", "--resume")
    assert outcome.code == ExitCode.USAGE
    assert "the test in t was started with another size of asus: asu1 " in outcome.sentence
    assert f"({asu['bytes']}), asu2" in outcome.sentence
    assert f"({asu['bytes'] + MIB}), asu2" in outcome.sentence
    assert len(kernel.runs_seen) == 3


def test_a_run_on_asus_of_other_sizes_is_no_phase(
    spekctl: Spekctl, kernel: QueueKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of hosts are known afterwards."""
    begin(spekctl, kernel)
    before = Path("t/state.json").read_bytes()
    sizes = phase._sizes
    monkeypatch.setattr(phase, "_sizes", lambda result: [size - MIB for size in sizes(result)])
    outcome = spekctl(*WRITE, "--folder", "t", "--resume")
    assert outcome.code == ExitCode.USAGE
    assert "the test in t was started with another size of asus: asu1 " in outcome.err
    assert len(kernel.runs_seen) == 4 and kernel.deleted
    assert Path("t/state.json").read_bytes() == before


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"bytes": 2 << 30}, "another capacity: 1 GiB (1073741824 bytes) then, 2 GiB"),
        ({"serial": "S9"}, "another serial number: S123 then, S9 now"),
        ({"serial": ""}, "another serial number: S123 then, none now"),
        ({"model": "OTHER"}, "another model: FAKE then, OTHER now"),
        ({"path": "/dev/fake1"}, "another device: /dev/fake0 then, /dev/fake1 now"),
    ],
)
def test_another_device_is_not_taken_for_the_first(
    changes: dict[str, Any],
    sentence: str,
    spekctl: Spekctl,
    kernel: QueueKernel,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begin(spekctl, kernel)
    monkeypatch.setattr(device, "find", lambda path: msgspec.structs.replace(disk(path), **changes))
    outcome = spekctl(*WRITE, "--folder", "t", "--resume")
    assert outcome.code == ExitCode.USAGE
    assert sentence in outcome.sentence
    assert len(kernel.runs_seen) == 3


def test_a_crash_while_the_state_is_written_leaves_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "state.json"
    files.write(path, b"first")

    def crash(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", crash)
    with pytest.raises(SpekError, match="No space left on device"):
        files.write(path, b"second, and longer")
    assert path.read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["state.json"]


def test_a_test_is_not_overwritten_by_another(spekctl: Spekctl, kernel: QueueKernel) -> None:
    begin(spekctl, kernel)
    outcome = spekctl(*WRITE, "--folder", "t")
    assert outcome.code == ExitCode.USAGE
    assert "t already holds a test: --resume continues it" in outcome.sentence


def test_a_damaged_state_is_refused(spekctl: Spekctl, kernel: QueueKernel) -> None:
    begin(spekctl, kernel)
    whole = Path("t/state.json").read_text()
    for text in ("", whole[: len(whole) // 2], whole.replace('"done"', '"dune"')):
        Path("t/state.json").write_text(text)
        outcome = spekctl(*WRITE, "--folder", "t", "--resume")
        assert outcome.code == ExitCode.USAGE
        assert "state.json is" in outcome.sentence
