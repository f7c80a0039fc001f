# SPDX-License-Identifier: GPL-2.0
"""A host as a process: it waits for its controller, and leaves nothing behind."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from lib.ctl.log_files import records, written
from lib.fakes.fleet_rig import SOON_S, Fleet, Processes
from lib.waiting import eventually

from spekctl.errors import ExitCode
from spekctl.fleet import wire
from spekctl.fleet.join import Joined
from spekctl.host.client import HostError


def test_without_a_controller_it_says_so(tmp_path: Path) -> None:
    with Processes(tmp_path, ["a"]) as hosts:
        hosts.join("tls://127.0.0.1:9", "a", patience_s=2.0)
        assert hosts.ended("a") == ExitCode.HOST_LOST
        assert "spekctl: cannot join tls://127.0.0.1:9 within " in hosts.said("a")
        assert not hosts.mark("a").exists()


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        (
            "sudo: a password is required",
            "; add the line that `spekctl fleet init` prints to its sudoers",
        ),
        ("no such module", ""),
    ],
)
def test_a_helper_that_does_not_start_is_named_with_the_remedy(said: str, remedy: str) -> None:
    words = ["sh", "-c", f"echo '{said}' >&2; exit 1"]
    with pytest.raises(HostError) as refusal:
        Joined(words)._lend(lambda reason: None)
    assert refusal.value.message == (
        f"its helper, {' '.join(words)}, did not start: the host ended (status 1): {said}{remedy}"
    )


def test_a_signal_ends_it_and_its_run(tmp_path: Path) -> None:
    with Fleet(tmp_path, ["a"], time="1h") as fleet:
        fleet.join(fleet.engine.address, "a")
        fleet.start()
        fleet.wait_running()
        fleet.hosts["a"].send_signal(signal.SIGTERM)
        assert fleet.ended("a") == ExitCode.HOST_LOST
        assert "spekctl: ended by SIGTERM" in fleet.said("a")
        fleet.check_free("a")
        assert fleet.outcome().code is ExitCode.HOST_LOST


@pytest.mark.parametrize("end", ["controller", "signal"])
def test_a_count_of_a_log_does_not_outlast_its_controller(tmp_path: Path, end: str) -> None:
    path = written(tmp_path / "log", records(10))
    counting = tmp_path / "counting"
    with Fleet(tmp_path, ["a"]) as fleet:
        fleet.join(fleet.engine.address, "a", counting=str(counting))
        eventually(fleet.engine.hosts, "a does not join", SOON_S)
        fleet.engine.call("a", "log", wire.encode(wire.Log(str(path), "", "all", 10**9)))
        eventually(counting.exists, "it does not count", SOON_S)
        if end == "controller":
            fleet.engine.close()
            assert fleet.ended("a") == ExitCode.OK
        else:
            fleet.hosts["a"].send_signal(signal.SIGTERM)
            assert fleet.ended("a") == ExitCode.HOST_LOST


def test_a_controller_that_hangs_is_left(tmp_path: Path) -> None:
    """Its connections stay: only the missing questions tell."""
    with Fleet(tmp_path, ["a"], time="1h") as fleet:
        fleet.join(fleet.engine.address, "a", leash_s=2.0)
        eventually(fleet.engine.hosts, "a does not join", SOON_S)
        coordinator = fleet.coordinator
        coordinator.check()
        coordinator.prepare()
        assert fleet.mark("a").exists()
        assert fleet.ended("a") == ExitCode.HOST_LOST
        assert "the controller has not been heard of" in fleet.said("a")
        fleet.check_free("a")
