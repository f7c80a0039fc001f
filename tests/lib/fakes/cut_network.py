# SPDX-License-Identifier: GPL-2.0
"""A network between a host and its controller that can be cut: no side hears of it, as none does
of a pulled cable."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Self

_CHUNK = 1 << 16


class Network:
    """Passes connections on to @to. While it is cut, connections stay and nothing arrives."""

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
            while data := source.recv(_CHUNK):
                if not self._open.is_set():
                    self.held.release()
                    self._open.wait()
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)
