# SPDX-License-Identifier: GPL-2.0-or-later
"""The agent of a program that runs a fleet: carries out one run of a plan, without root.

`python -m spekctl.fleet.agent KEYS WAIT_NS` speaks protocol.py on its standard input and output.
The engine has a process of its own for two reasons: its imports take more memory than a web server,
and if this process ends, for whatever reason, the run ends on all hosts, because they have lost
their controller.

Two threads: the main thread reads requests, and the run has its own.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec

from spekctl.errors import ExitCode, RefusedError, SpekError
from spekctl.fleet import controller, keys, loads, plan, protocol, results
from spekctl.fleet.board import Board, Seen
from spekctl.fleet.coordinator import Coordinator
from spekctl.fleet.plan import Plan
from spekctl.fleet.protocol import AnyRequest, Ended, Go, Start
from spekctl.host import standard
from spekctl.host.peer import FAILED, Peer
from spekctl.host.protocol import Started
from spekctl.run.job import Interrupts
from spekctl.workload import file as workload_file

# Time for the run to end after the input has ended; then this process exits, and hosts lose their
# controller.
FAREWELL_S = 30.0


class FleetDesk:
    """Answers requests. @wait_ns: how long hosts have to join."""

    def __init__(self, stream: BinaryIO, bundle: keys.Bundle, wait_ns: int) -> None:
        self._bundle = bundle
        self._wait_ns = wait_ns
        self._peer = Peer(stream, self.interrupt)
        self._interrupts = Interrupts(again="")
        self._go = threading.Event()
        self._run: threading.Thread | None = None
        self._coordinator: Coordinator | None = None
        self._board: Board | None = None

    def serve(self, lines: BinaryIO) -> None:
        """Answer until the input ends, then end the run."""
        for asked in self._peer.requests(lines, AnyRequest, protocol.VERBS, protocol.REQUEST_MAX):
            self._peer.attempt(asked.id, functools.partial(self._do, asked))
        self.finish()

    def interrupt(self) -> bool:
        """End the run as Ctrl-C does. Return: whether there was a run."""
        if self._run is None or not self._run.is_alive():
            return False
        self._interrupts.interrupt(signal.SIGINT)
        return True

    def finish(self) -> None:
        """End the run without waiting for outstanding I/O, and with it this process."""
        self.interrupt()
        self.interrupt()
        if self._run is not None:
            self._run.join(FAREWELL_S)
            if self._run.is_alive():
                # The engine's threads would keep this process alive, and the hosts connected.
                os._exit(int(ExitCode.RUN_FAILED))

    def _do(self, asked: AnyRequest) -> None:
        match asked:
            case Start():
                if self._run is not None:
                    raise RefusedError("this agent already has a run")
                workload = workload_file.parse(asked.toml)
                planned = plan.of(asked.plan, instead=workload)
                loads.check(planned)
                self._run = threading.Thread(
                    target=self._carry_out, args=(asked, planned), name="run", daemon=True
                )
                self._peer.answer(asked.id, None)
                self._run.start()
            case Go():
                if self._run is None or self._go.is_set():
                    raise RefusedError("no host is waiting for its start")
                self._go.set()
                self._peer.answer(asked.id, None)

    def _carry_out(self, asked: Start, planned: Plan) -> None:
        """The whole run, from the first host that joins to the result; in a thread."""
        if not asked.holds:
            self._go.set()
        workload = planned.workload
        clients = len(planned.clients)
        title = f"{workload.workload.name} on {clients} of {len(planned.hosts)} hosts"
        streams = [stream.name for stream in workload.stream]
        command = ["web", "--fleet"]
        self._peer.send(Started(title, planned.name, streams, command))
        ended = Ended(int(ExitCode.RUN_FAILED), FAILED)
        try:
            ended = self._run_on_hosts(planned, command)
        except SpekError as error:
            ended = Ended(int(error.exit_code), error.message)
        finally:
            self._peer.send(ended)

    def _run_on_hosts(self, planned: Plan, command: Sequence[str]) -> Ended:
        board = self._board = Board(planned.hosts, self._peer.send, self._seen)
        board.tell(at_once=True)
        with controller.started(
            *(planned, self._bundle, self._wait_ns, self._interrupts, board, None, command)
        ) as coordinator:
            self._coordinator = coordinator
            outcome = coordinator.carry_out(self._is_wanted)
            try:
                result = results.of(outcome, planned)
                samples = results.reports(outcome)
            except SpekError as error:
                documents = results.documents(outcome)
                return Ended(int(error.exit_code), error.message, documents=documents)
        code, text = results.end_of(outcome, result)
        hosts = (result.hosts or []) if result is not None else []
        board.finish({host.name: host.start.skew_ns for host in hosts})
        worst = result.common.skew_ns if result is not None and result.common is not None else None
        return Ended(
            int(code),
            text,
            msgspec.Raw(msgspec.json.encode(result)),
            {name: msgspec.Raw(msgspec.json.encode(each)) for name, each in samples.items()},
            worst,
        )

    def _is_wanted(self) -> bool:
        """Whether to start; the run calls this while all hosts wait."""
        assert self._board is not None
        is_wanted = self._go.is_set()
        self._board.hold(not is_wanted)
        return is_wanted

    def _seen(self, name: str) -> Seen:
        assert self._coordinator is not None
        described = self._coordinator.parts[name].described
        assert described is not None
        paths = [device.path for device in described.devices]
        return Seen(paths, self._coordinator.clocks.skew(name), described.clock)


def main(words: Sequence[str]) -> int:
    """Serve standard input and output."""
    folder, wait = words
    try:
        bundle = keys.load(Path(folder))
    except SpekError as error:
        print(f"spekctl: {error.message}", file=sys.stderr)
        return int(error.exit_code)
    return standard.serve(lambda stream: FleetDesk(stream, bundle, int(wait)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
