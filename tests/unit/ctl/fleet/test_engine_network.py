# SPDX-License-Identifier: GPL-2.0
"""A network that is cut in mid-run: for a moment nobody minds, for ever the host is lost, and ends
by itself."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import socket
import threading
from pathlib import Path
from typing import Self

from lib.fakes.fleet_rig import PATIENCE, SOON_S, Fleet

from spekctl.errors import ExitCode

CHUNK = 1 << 16


class Network:
    """Passes connections on to @to. While it is cut, connections stay and nothing arrives, and no
    side hears of it, as none does of a pulled cable."""

    def __init__(self, to: tuple[str, int]) -> None:
        self._to = to
        self._open = threading.Event()
        self._open.set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets = [self._listener]
        # Chunks that came at the cut, of both sides.
        self.held = threading.Semaphore(0)

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        for each in self._sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        self._open.set()

    @property
    def address(self) -> str:
        """Where a host joins."""
        return f"tls://127.0.0.1:{self._listener.getsockname()[1]}"

    def cut(self) -> None:
        """From now on nothing arrives."""
        self._open.clear()

    def mend(self) -> None:
        """What was sent meanwhile arrives late."""
        self._open.set()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(self._to)
                self._sockets += [near, far]
                for source, sink in ((near, far), (far, near)):
                    threading.Thread(target=self._pass, args=(source, sink), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(CHUNK):
                if not self._open.is_set():
                    self.held.release()
                    self._open.wait()
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)


def joined(fleet: Fleet, network: Network) -> None:
    """Both hosts run; b is behind @network."""
    fleet.join(fleet.engine.address, "a")
    fleet.join(network.address, "b")
    fleet.start()
    fleet.wait_running()


def network_of(fleet: Fleet) -> Network:
    host, port = fleet.engine.address.removeprefix("tls://").rsplit(":", 1)
    return Network((host, int(port)))


def test_a_short_cut_loses_nothing(tmp_path: Path) -> None:
    with Fleet(tmp_path, ["a", "b"], time="80s") as fleet, network_of(fleet) as network:
        joined(fleet, network)
        network.cut()
        # Questions and answers are on their way, and late.
        for _ in range(2):
            assert network.held.acquire(timeout=SOON_S)
        network.mend()
        outcome = fleet.outcome()
        assert (outcome.code, outcome.losses) == (ExitCode.OK, []), outcome.text
        counts = [
            json.loads(bytes(part.collected.document))["totals"]["all"]["ios"]
            for part in outcome.parts
            if part.collected is not None
        ]
        assert len(counts) == 2 and counts[0] == counts[1] > 0


def test_hosts_behind_a_cut_for_ever_are_lost_and_end_by_themselves(tmp_path: Path) -> None:
    patience = dataclasses.replace(PATIENCE, silent_s=10.0)  # a host that is slow is not lost
    with (
        Fleet(tmp_path, ["a", "b"], time="1h", patience=patience) as fleet,
        network_of(fleet) as network,
    ):
        joined(fleet, network)
        network.cut()
        outcome = fleet.outcome()
        assert outcome.code is ExitCode.HOST_LOST
        assert [loss.host for loss in outcome.losses] == ["b"]
        # Its controller is silent for as long as its leash is, and the cable stays out.
        assert fleet.ended("b") != 0
        fleet.check_free("b")
        assert "the controller has not been heard of" in fleet.said("b")
        fleet.engine.close()
        fleet.check_free("a")
