# SPDX-License-Identifier: GPL-2.0
"""Faults of a fleet of processes over TLS: nobody runs on unnoticed, devices are free afterwards,
and the outcome says who failed. Each once, and many times with --every-kernel.

No time is asserted; what is waited for has a minute.
"""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from lib.fakes.fleet_rig import PATIENCE, SOON_S, Fleet, Processes, plan_of
from lib.waiting import eventually

from spekctl.errors import ExitCode, SpekError
from spekctl.fleet import keys

ROUNDS = 20
Folders = Iterator[Path]


@pytest.fixture(params=[1, pytest.param(ROUNDS, marks=pytest.mark.at_length)])
def again(request: pytest.FixtureRequest, tmp_path: Path) -> Folders:
    """A new folder for each round."""

    def folders() -> Folders:
        for number in range(request.param):
            folder = tmp_path / str(number)
            folder.mkdir()
            yield folder

    return folders()


def port_of(fleet: Fleet) -> tuple[str, int]:
    host, port = fleet.engine.address.removeprefix("tls://").rsplit(":", 1)
    return host, int(port)


def test_a_killed_host_is_named_and_the_others_stop(again: Folders) -> None:
    for folder in again:
        with Fleet(folder, ["a", "b", "c"], time="1h") as fleet:
            for name in fleet.names:
                fleet.join(fleet.engine.address, name)
            fleet.start()
            fleet.wait_running()
            fleet.hosts["b"].kill()
            outcome = fleet.outcome()
            assert outcome.code is ExitCode.HOST_LOST
            assert [loss.host for loss in outcome.losses] == ["b"]
            reasons = {
                part.name: json.loads(bytes(part.collected.document))["outcome"]["reason"]
                for part in outcome.parts
                if part.collected is not None
            }
            assert reasons == {"a": "stopped", "c": "stopped"}
            fleet.check_free("b")
            fleet.engine.close()
            for name in ("a", "c"):
                fleet.check_free(name)


def test_a_host_that_hangs_is_lost_and_ends_once_it_goes_on(again: Folders) -> None:
    for folder in again:
        patience = dataclasses.replace(PATIENCE, silent_s=3.0)
        with Fleet(folder, ["a", "b"], 'on_loss = "continue"', "80s", patience) as fleet:
            for name in fleet.names:
                fleet.join(fleet.engine.address, name)
            fleet.start()
            fleet.wait_running()
            fleet.hosts["b"].send_signal(signal.SIGSTOP)
            outcome = fleet.outcome()
            assert [loss.host for loss in outcome.losses] == ["b"]
            (whole,) = [part.collected for part in outcome.parts if part.collected is not None]
            assert json.loads(bytes(whole.document))["outcome"]["reason"] == "completed"
            fleet.engine.close()
            fleet.hosts["b"].send_signal(signal.SIGCONT)
            fleet.ended("b")
            fleet.check_free("b")


def test_a_killed_helper_ends_the_run(again: Folders) -> None:
    for folder in again:
        with Fleet(folder, ["a"], time="1h") as fleet:
            fleet.join(fleet.engine.address, "a")
            fleet.start()
            fleet.wait_running()
            os.kill(fleet.helper("a"), signal.SIGKILL)
            outcome = fleet.outcome()
            assert outcome.code != ExitCode.OK
            assert any("a" in text and "the host ended" in text for text in fleet.view.notes)


def test_hosts_that_cannot_take_part_are_refused_before_any_claim(again: Folders) -> None:
    for folder in again:
        with Fleet(folder, ["a", "b", "c"]) as fleet:
            fleet.join(fleet.engine.address, "a")
            fleet.join(fleet.engine.address, "b", version="0.0.9")
            fleet.join(fleet.engine.address, "c", in_use="mounted on /srv")
            fleet.start()
            with pytest.raises(SpekError) as refusal:
                fleet.outcome()
            assert "b: it has spekctl 0.0.9" in refusal.value.message
            assert "c: /dev/fake0 is in use: mounted on /srv" in refusal.value.message
            fleet.engine.close()
            for name in fleet.names:
                fleet.ended(name)
                fleet.check_free(name)


def test_a_device_in_use_on_one_host_is_claimed_on_none(again: Folders) -> None:
    for folder in again:
        with Fleet(folder, ["a", "b"]) as fleet:
            fleet.join(fleet.engine.address, "a")
            fleet.join(fleet.engine.address, "b", refuse="run-new")
            fleet.start()
            with pytest.raises(SpekError, match=r"^b: The device is in use\.$") as refusal:
                fleet.outcome()
            assert refusal.value.exit_code is ExitCode.REFUSED


def test_who_is_not_of_the_fleet_does_not_get_in(again: Folders) -> None:
    for folder in again:
        with Fleet(folder, ["a"]) as fleet:
            keys.make(folder / "theirs", ["a"], 30)
            stranger = ssl.create_default_context(cafile=str(fleet.keys / "a/ca.pem"))
            stranger.check_hostname = False
            with (
                socket.create_connection(port_of(fleet), SOON_S) as plain,
                pytest.raises(OSError, match=r"."),
                stranger.wrap_socket(plain) as tls,
            ):
                # In TLS 1.3 the refusal comes after the client's side of the handshake.
                tls.recv(1)
                raise ConnectionError("it closed the connection")
            fleet.join(fleet.engine.address, "a", str(folder / "theirs/a"), patience_s=3.0)
            assert fleet.ended("a") == ExitCode.HOST_LOST
            assert "it is not the controller of this fleet: " in fleet.said("a")
            assert not fleet.engine.hosts()
            # The controller says who it was, and why, without a line for each attempt.
            refused = fleet.engine.refused()
            assert all(text.startswith("127.0.0.1 was refused: ") for text in refused)
            assert any("certificate" in text or "unknown ca" in text for text in refused), refused
            assert sum(refused.values()) > len(refused)


def test_a_device_that_is_missing_on_one_host_is_claimed_on_none(again: Folders) -> None:
    for folder in again:
        with Fleet(folder, ["a", "b"]) as fleet:
            fleet.join(fleet.engine.address, "a")
            fleet.join(fleet.engine.address, "b", missing="no device has serial X")
            fleet.start()
            with pytest.raises(SpekError, match=r"^b: no device has serial X$"):
                fleet.outcome()
            assert not any("is ready" in text for text in fleet.view.notes)
            fleet.engine.close()
            for name in fleet.names:
                fleet.ended(name)
                fleet.check_free(name)


class Commanded(Processes):
    """Hosts of `spekctl fleet run`, a process of its own."""

    def __init__(self, folder: Path, names: list[str], time: str, *words: str) -> None:
        super().__init__(folder, names)
        (folder / "plan.toml").write_text(plan_of(names, time=time))
        self.told = folder / "controller.err"
        with open(self.told, "w") as file:
            self.controller = subprocess.Popen(
                [
                    *(sys.executable, "-m", "spekctl", "fleet", "run", str(folder / "plan.toml")),
                    *("--keys", str(self.keys / "controller"), *words),
                ],
                stdout=subprocess.DEVNULL,
                stderr=file,
            )

    def __exit__(self, *exception: object) -> None:
        self.controller.kill()
        self.controller.wait()
        super().__exit__(*exception)

    def join_all(self) -> None:
        eventually(lambda: " at tls://" in self.told.read_text(), "it does not listen", SOON_S)
        address = self.told.read_text().split(" at ")[1].split()[0]
        for name in self.names:
            self.join(address, name)


def test_hosts_of_a_killed_controller_end_and_free_their_devices(again: Folders) -> None:
    for folder in again:
        with Commanded(folder, ["a", "b"], "1h") as fleet:
            fleet.join_all()
            eventually(lambda: "armed" in fleet.told.read_text(), "no host is armed", SOON_S)
            fleet.controller.kill()
            for name in fleet.names:
                assert fleet.ended(name) == ExitCode.OK, fleet.said(name)
                assert "the controller has ended" in fleet.said(name)
                fleet.check_free(name)


def test_a_result_that_finds_no_room_is_an_error_and_devices_are_free(again: Folders) -> None:
    for folder in again:
        with Commanded(folder, ["a", "b"], "2s", "-o", "/dev/full") as fleet:
            fleet.join_all()
            assert fleet.controller.wait(2 * SOON_S) == ExitCode.RUN_FAILED
            assert "No space left on device" in fleet.told.read_text()
            for name in fleet.names:
                fleet.ended(name)
                fleet.check_free(name)
