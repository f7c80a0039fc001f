# SPDX-License-Identifier: GPL-2.0
"""A fleet of processes on this machine: hosts that join over TLS, on fake kernels."""

from __future__ import annotations

import contextlib
import json
import signal
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from lib.fakes import fleet_host
from lib.fakes.fleet import FakeView
from lib.fork_server import Forked
from lib.processes import open_files
from lib.waiting import LONG_S, eventually

from spekctl.fleet import keys, plan
from spekctl.fleet.coordinator import Coordinator
from spekctl.fleet.engine import DaskEngine
from spekctl.fleet.outcome import Outcome
from spekctl.fleet.patience import Patience
from spekctl.run.job import Interrupts

# For a process to start, or to end, on a busy machine.
SOON_S = LONG_S
PATIENCE = Patience(silent_s=30.0, lead_s=3.0, round_trips=5.0)


class Processes:
    """Hosts as processes; leaving the block ends those that are left."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self.folder = folder
        self.names = names
        self.keys = folder / "keys"
        self.hosts: dict[str, Forked] = {}
        keys.make(self.keys, list(names), 30)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        for process in self.hosts.values():
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    process.send_signal(signal.SIGCONT)
                    process.kill()
            process.wait()

    def join(self, address: str, name: str, keys_of: str = "", **script: Any) -> None:
        """Start a host. @keys_of: folder of other keys than its own."""
        text = {
            "keys": keys_of or str(self.keys / name),
            "address": address,
            "mark": str(self.mark(name)),
            **script,
        }
        error = self.folder / f"{name}.err"
        self.hosts[name] = Forked(fleet_host.main, [json.dumps(text)], error)

    def mark(self, name: str) -> Path:
        """There as long as the helper of a host is."""
        return self.folder / f"{name}.mark"

    def helper(self, name: str) -> int:
        """Its process."""
        return int(self.mark(name).read_text())

    def said(self, name: str) -> str:
        """Standard error of a host."""
        return (self.folder / f"{name}.err").read_text()

    def ended(self, name: str) -> int:
        """Exit status of a host that ends by itself."""
        return self.hosts[name].wait(SOON_S)

    def check_free(self, name: str) -> None:
        """Its helper has ended, and with it what it held."""
        eventually(lambda: not self.mark(name).exists(), f"{name} still has its helper", SOON_S)


class Fleet(Processes):
    """The same with a controller in this process."""

    def __init__(
        self,
        folder: Path,
        names: Sequence[str],
        extra: str = "",
        time: str = "20s",
        patience: Patience = PATIENCE,
    ) -> None:
        super().__init__(folder, names)
        self.text = plan_of(names, extra, time)
        self.plan = plan.parse(self.text)
        bundle = keys.load(self.keys / "controller")
        self.engine = DaskEngine(self.plan.listen, bundle, frozenset(names))
        self.view = FakeView()
        self.coordinator = Coordinator(
            self.plan, self.engine, self.view, Interrupts(), bundle.own.fleet, patience=patience
        )
        self._outcome: list[Outcome | BaseException] = []
        self._thread = threading.Thread(target=self._run)

    def __exit__(self, *exception: object) -> None:
        try:
            self.engine.close()
        finally:
            super().__exit__(*exception)

    def start(self) -> None:
        """Carry out the run in a thread."""
        self._thread.start()

    def _run(self) -> None:
        try:
            self._outcome.append(self.coordinator.carry_out())
        except BaseException as error:
            self._outcome.append(error)

    def wait_running(self) -> None:
        """Until every host has told of a second."""
        wanted = set(self.names)
        eventually(
            lambda: wanted <= {host for host, _ in self.view.rows} or self._outcome,
            "the fleet does not run",
            SOON_S,
        )
        assert not self._outcome, self._outcome

    def outcome(self) -> Outcome:
        """What became of it."""
        self._thread.join(2 * SOON_S)
        assert self._outcome, "the run does not end"
        (outcome,) = self._outcome
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


def plan_of(names: Sequence[str], extra: str = "", time: str = "20s", port: int = 0) -> str:
    text = f"""
[fleet]
listen = "tls://127.0.0.1:{port}"
workload = "random-read-4k"
{extra}
[fleet.options]
time = "{time}"
"""
    return text + "".join(
        f'[[host]]\nname = "{name}"\ndevices = ["/dev/fake0"]\n' for name in names
    )


def listening(pid: int) -> set[str]:
    """Addresses at which a process listens, as /proc has them."""
    names = open_files(pid)
    addresses = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in names:
                addresses.add(fields[1].split(":")[0])
    return addresses
