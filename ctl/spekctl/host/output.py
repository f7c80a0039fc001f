# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages on their way to the peer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import BinaryIO

from spekctl.host import wire


class Output:
    """Lines to the peer, from several threads. @gone is called when nobody reads them."""

    def __init__(self, stream: BinaryIO, gone: Callable[[], object]) -> None:
        self._stream = stream
        self._gone = gone
        self._lock = threading.Lock()

    def send(self, message: object) -> None:
        """Write a message whole."""
        try:
            with self._lock:
                self._stream.write(wire.line(message))
                self._stream.flush()
        except (OSError, ValueError):
            self._gone()
