# SPDX-License-Identifier: GPL-2.0
"""A target and a client on a network of guests: what a run counts is what the target counts."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from fleet.client import IOS
from lib.harness.process import ROOT, child_of
from lib.waiting import eventually

from spekctl.vm import network
from spekctl.vm.network import Net

BOOT_S = 600.0
KERNEL = os.environ.get("SPEK_FLEET_KERNEL", "6.12")
SECTOR = 512


class Rig:
    """Guests of one network, which end in the reverse order of their start."""

    def __init__(self, net: Path, folder: Path) -> None:
        self.net = net
        self.folder = folder
        self.guests: list[subprocess.Popen[bytes]] = []

    def output(self, number: int) -> str:
        return (self.folder / f"output-{number}.log").read_text()

    def boot(self, number: int, options: list[str], words: list[str]) -> subprocess.Popen[bytes]:
        """Start a guest with a module of fleet."""
        command = [sys.executable, "-m", "spekctl", "vm", "--kernel", KERNEL, "--vcpus", "1"]
        command += ["--memory", "512M", "--net", f"{self.net},number={number}"]
        command += ["--share", str(self.folder), "--timeout", "20m", *options]
        command += ["--console", str(self.folder / f"console-{number}.log"), "--exec", "--"]
        command += ["env", f"PYTHONPATH={ROOT / 'ctl'}:{ROOT / 'tests'}"]
        with open(self.folder / f"output-{number}.log", "wb") as output:
            guest = subprocess.Popen(
                [*command, sys.executable, "-m", *words],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                preexec_fn=functools.partial(child_of, os.getpid(), os.sched_getaffinity(0)),
            )
        self.guests.append(guest)
        return guest

    def is_ready(self, number: int) -> bool:
        """Whether the guest has said so; AssertionError if it never will."""
        assert self.guests[number - 1].poll() is None, self.output(number)
        return "ready\n" in self.output(number)

    def close(self) -> None:
        for guest in reversed(self.guests):
            if guest.poll() is None:
                # Twice: the first one is the command's.
                for _ in range(2):
                    guest.send_signal(signal.SIGTERM)
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        guest.wait(2)
            with contextlib.suppress(subprocess.TimeoutExpired):
                guest.wait(30)
            guest.kill()
            guest.wait()


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    # Names of sockets are short.
    with tempfile.TemporaryDirectory(prefix="spek-rig-") as net:
        guests = Rig(Path(net), tmp_path)
        try:
            yield guests
        finally:
            guests.close()
        assert list(Path(net).iterdir()) == [], "the network left something behind"


@pytest.mark.timeout(1800)
def test_a_client_counts_what_its_target_counts(rig: Rig) -> None:
    client_nqn = Net(rig.net, 2).host_nqn
    disk = ["--no-load", "--disk", "null_blk,size=256,mbps=20"]
    target = rig.boot(1, disk, ["fleet.target", "{disk1}", network.address(1), client_nqn])
    eventually(lambda: rig.is_ready(1), "the target is not ready", BOOT_S)

    client = rig.boot(2, [], ["fleet.client", network.address(1), str(rig.folder)])
    assert client.wait(BOOT_S) == 0, rig.output(2)
    assert target.wait(120) == 0, rig.output(1)
    assert "gone\n" in rig.output(1)

    told = json.loads((rig.folder / "target.json").read_text())
    assert told["stranger_refused"], "the target takes hosts that it was not told of"
    for kind in ("read", "write"):
        result = json.loads((rig.folder / f"{kind}.json").read_text())
        before, after = told[kind]
        grown = {name: after[name] - before[name] for name in before}
        phases = result["phases"]
        assert sum(phase["errors"] for phase in phases) == 0
        ios = sum(phase["ios"] for phase in phases)
        assert grown[f"{kind}s"] == ios == result["totals"][kind]["ios"] == IOS
        assert grown[f"{kind}_sectors"] * SECTOR == sum(phase["bytes"] for phase in phases)
