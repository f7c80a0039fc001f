# SPDX-License-Identifier: GPL-2.0
"""What is prepared for guests, and in which order, with nothing to fetch or to build."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lib.harness import ahead
from lib.harness.ahead import Prepared
from lib.harness.process import ROOT
from lib.waiting import LONG_S

from spekctl.errors import SpekError
from spekctl.vm.architecture import AMD64, ARM64, Architecture


def prepared(word: str, source: str, kernel: Any, all_warnings: bool) -> Prepared:
    return Prepared(source, Path("/disks"), None, "amd64")


def test_kernels_are_fetched_while_one_is_built(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    all_fetched = threading.Event()

    def find(word: str) -> tuple[str, Any]:
        if word == "debug":
            assert all_fetched.wait(LONG_S), "the others wait for the debug kernel"
        return word, None

    def prepare(word: str, source: str, kernel: Any, all_warnings: bool) -> Prepared:
        if word == "6.77":
            all_fetched.set()
        return prepared(word, source, kernel, all_warnings)

    monkeypatch.setattr(ahead, "find", find)
    monkeypatch.setattr(ahead, "prepare", prepare)

    assert ahead.main(["6.1", "debug", "6.77"]) == 0

    lines = capfd.readouterr().out.splitlines()
    assert [json.loads(line)["label"] for line in lines] == ["6.1", "6.77", "debug"]


@pytest.mark.parametrize("first", ["6.1", "6.77"])
def test_modules_for_a_debug_kernel_come_after_those_of_the_first_guest(
    first: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Of the first that can be had."""
    is_built, prepared_words = threading.Event(), list[str]()

    def find(word: str) -> tuple[str, Any]:
        if word == "debug":
            is_built.set()
        elif word < first:
            raise SpekError("there is none")
        return word, None

    def prepare(word: str, source: str, kernel: Any, all_warnings: bool) -> Prepared:
        if word == first:
            assert is_built.wait(LONG_S), "the debug kernel waits for the others"
        prepared_words.append(word)
        return prepared(word, source, kernel, all_warnings)

    monkeypatch.setattr(ahead, "find", find)
    monkeypatch.setattr(ahead, "prepare", prepare)

    assert ahead.main(["debug", "6.1", "6.77"]) == (first != "6.1")

    assert prepared_words[0] == first and sorted(prepared_words) == sorted({first, "6.77", "debug"})
    lines = capfd.readouterr().out.splitlines()
    assert len(lines) == 3


@pytest.mark.parametrize("missing", ["6.1", "debug"])
def test_a_kernel_that_is_missing_does_not_keep_the_others(
    missing: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def find(word: str) -> tuple[str, Any]:
        if word == missing:
            raise SpekError("there is none")
        return word, None

    monkeypatch.setattr(ahead, "find", find)
    monkeypatch.setattr(ahead, "prepare", prepared)

    assert ahead.main(["6.1", "6.77", "debug"]) == 1

    answers = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    answered = {answer["label"]: answer.get("error", "found") for answer in answers}
    expected = dict.fromkeys(("6.1", "6.77", "debug"), "found") | {missing: "there is none"}
    assert answered == expected


# In the place of pytest: starts what its argument says as tests do.
TESTS = """
import functools, os, subprocess, sys
from lib.harness.process import child_of
subprocess.Popen(
    [sys.executable, "-c", sys.argv[1]],
    start_new_session=True,
    preexec_fn=functools.partial(child_of, os.getpid(), os.sched_getaffinity(0)),
).wait()
"""
PREPARATION = """
import subprocess
from lib.harness import ahead
ahead.find = lambda word: subprocess.run(["sh", "-c", "echo $$; sleep 1000 & wait"])
ahead.end_together()
ahead.main(["debug"])
"""


def test_what_is_built_ends_with_tests_that_are_killed() -> None:
    """All of its processes have the pipe open."""
    tests = subprocess.Popen(
        [sys.executable, "-c", TESTS, PREPARATION],
        env={**os.environ, "PYTHONPATH": str(ROOT / "tests")},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert tests.stdout is not None
    building = int(tests.stdout.readline())
    tests.kill()
    try:
        rest, _ = tests.communicate(timeout=LONG_S)
    except subprocess.TimeoutExpired:
        os.killpg(os.getpgid(building), signal.SIGKILL)
        raise
    assert rest == ""


@pytest.mark.parametrize(("machine", "tried"), [(AMD64, True), (ARM64, False)])
def test_kvm_has_been_tried_when_a_guest_boots(
    machine: Architecture, tried: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Only the guest's own emulator runs then, by which the harness knows that it has begun."""
    kernel: Any = SimpleNamespace(architecture=machine)
    commands: list[list[str]] = []
    monkeypatch.setattr(ahead, "native", lambda: AMD64)
    monkeypatch.setattr(ahead, "build_modules", lambda kernel: None)
    monkeypatch.setattr(ahead, "build_disks", lambda kernel: tmp_path)
    monkeypatch.setattr(
        "lib.harness.ahead.subprocess.run", lambda command, **_: commands.append(command)
    )

    ahead.prepare("6.77", "6.77", kernel, all_warnings=False)

    trials = [command for command in commands if ahead.TRY_KVM in command]
    assert [command[-1] for command in trials] == ["6.77"] * tried


def test_the_trial_of_kvm_runs_a_guest_of_that_kernel(tmp_path: Path) -> None:
    """In a process of its own, the main thread of which may have handlers of signals."""
    (tmp_path / "sitecustomize.py").write_text(
        "from types import SimpleNamespace\n"
        "from spekctl.vm import accel, kernels\n"
        "kernels.find_kernel = lambda source: SimpleNamespace(release=source)\n"
        "accel.choose_accel = lambda kernel: print(kernel.release)\n"
    )
    command = [sys.executable, "-c", ahead.TRY_KVM, "6.77"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "6.77\n"


def test_a_trial_of_kvm_that_fails_is_left_to_the_guest(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As with SPEK_ACCEL=kvm where there is none: its own boot says that in a sentence."""
    kernel: Any = SimpleNamespace(architecture=AMD64)
    monkeypatch.setattr(ahead, "native", lambda: AMD64)
    monkeypatch.setattr(ahead, "TRY_KVM", "raise SystemExit(1)")
    monkeypatch.setattr(ahead, "build_modules", lambda kernel: None)
    monkeypatch.setattr(ahead, "build_disks", lambda kernel: tmp_path)
    prepared = ahead.prepare("6.77", "6.77", kernel, all_warnings=False)
    assert prepared == Prepared("6.77", tmp_path, None, "amd64")
