# SPDX-License-Identifier: GPL-2.0
"""Connections of emulated devices: a serial line and a TCP port, each served by a thread.

A subclass sets its fields, then starts @thread; @ended asks the thread to end.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import threading
import tty
from pathlib import Path
from typing import Self


class SerialLine:
    """A pseudo-terminal, whose raw slave side is at @path."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.master, self.slave = os.openpty()
        tty.setraw(self.slave)
        self.line = os.ttyname(self.slave)
        path.symlink_to(self.line)
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self.ended.is_set():
            self.unplug()

    def unplug(self) -> None:
        """The line hangs up."""
        self.path.unlink()
        self.ended.set()
        self.thread.join()
        os.close(self.slave)
        os.close(self.master)

    def _serve(self) -> None:
        raise NotImplementedError


class TcpPort:
    """A port of the loopback address, which serves one client at a time; 0: any free one."""

    STEP_S = 0.01

    def __init__(self, port: int = 0) -> None:
        self.listener = socket.create_server(("127.0.0.1", port))
        self.port = int(self.listener.getsockname()[1])
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.thread.join()
        self.listener.close()

    def _serve(self) -> None:
        while not self.ended.is_set():
            if select.select([self.listener], [], [], self.STEP_S)[0]:
                # A client that leaves before it has read a reply resets the connection.
                with self.listener.accept()[0] as client, contextlib.suppress(ConnectionResetError):
                    self._talk(client)

    def _talk(self, client: socket.socket) -> None:
        raise NotImplementedError
