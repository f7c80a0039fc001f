# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the heads of requests of connections that have not shown the token yet.

Anybody on this machine can connect, send a byte now and then, and hold the connection. Here such a
connection costs a descriptor and a buffer, not a thread. It has to send its whole head within
HEAD_S, and at most PLACES of them wait: a newer one displaces the oldest. A client whose whole
head is there when its connection is accepted is served at once, whatever the others do.
"""

from __future__ import annotations

import contextlib
import re
import selectors
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# For a whole head, from the connection on.
HEAD_S = 10.0
HEAD_MAX = 32 * 1024
PLACES = 32
_END = re.compile(rb"\n\r?\n")


@dataclass(slots=True, eq=False)
class Arrival:
    """A connection, and what it has sent: a whole head, and maybe more."""

    connection: socket.socket
    address: Any
    until: float
    data: bytes = b""


class Door:
    """At the socket @listener, which it does not close. @clock: seconds."""

    def __init__(
        self,
        listener: socket.socket,
        places: int = PLACES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._listener = listener
        self._places = places
        self._clock = clock
        self._waiting: list[Arrival] = []  # the oldest first
        listener.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ)

    def close(self) -> None:
        """Close the connections that wait."""
        for arrival in list(self._waiting):
            self._turn_away(arrival)
        self._selector.close()

    def arrivals(self, timeout_s: float) -> list[Arrival]:
        """Connections whose head is complete, after waiting at most @timeout_s for any."""
        ready = [key.data for key, _ in self._selector.select(timeout_s)]
        # Those that wait come first: what they have sent counts before they lose their place.
        complete = [arrival for arrival in ready if arrival is not None and self._read(arrival)]
        now = self._clock()
        for arrival in [waiting for waiting in self._waiting if waiting.until <= now]:
            self._turn_away(arrival)
        if None in ready:
            # One a turn, so that those before it are read again before the next one comes.
            complete += self._accept()
        return complete

    def _accept(self) -> list[Arrival]:
        try:
            connection, address = self._listener.accept()
        except OSError:  # it is gone already, or there are no descriptors left
            return []
        connection.setblocking(False)
        arrival = Arrival(connection, address, self._clock() + HEAD_S)
        self._waiting.append(arrival)
        self._selector.register(connection, selectors.EVENT_READ, arrival)
        if self._read(arrival):
            return [arrival]
        if len(self._waiting) > self._places:
            self._turn_away(self._waiting[0])
        return []

    def _read(self, arrival: Arrival) -> bool:
        """Take what has arrived. Return: whether the head is complete, and the connection free."""
        try:
            data = arrival.connection.recv(HEAD_MAX)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        start = max(0, len(arrival.data) - 2)
        arrival.data += data
        if data and _END.search(arrival.data, start):
            self._forget(arrival)
            return True
        if not data or len(arrival.data) >= HEAD_MAX:
            self._turn_away(arrival)
        return False

    def _turn_away(self, arrival: Arrival) -> None:
        self._forget(arrival)
        arrival.connection.close()

    def _forget(self, arrival: Arrival) -> None:
        with contextlib.suppress(ValueError):
            self._waiting.remove(arrival)
        with contextlib.suppress(KeyError):
            self._selector.unregister(arrival.connection)
