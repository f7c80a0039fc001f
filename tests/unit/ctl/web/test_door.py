# SPDX-License-Identifier: GPL-2.0
"""Heads of requests: who waits for how long, and who loses their place."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from lib.waiting import LONG_S

from spekctl.web.door import HEAD_MAX, HEAD_S, Arrival, Door

HEAD = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
SOON_S = LONG_S


class Street:
    """Before a door with three places, whose clock stands still."""

    def __init__(self) -> None:
        self.now = 0.0
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.door = Door(self._listener, 3, lambda: self.now)
        self._all: list[socket.socket] = [self._listener]

    def come(self, data: bytes = b"") -> socket.socket:
        """Connect, and send @data."""
        connection = socket.create_connection(self._listener.getsockname(), timeout=SOON_S)
        connection.sendall(data)
        self._all.append(connection)
        return connection

    def turns(self, count: int = 1) -> list[bytes]:
        """Heads that arrive in so many turns."""
        arrivals: list[Arrival] = []
        for _ in range(count):
            arrivals += self.door.arrivals(0.05)
        for arrival in arrivals:
            self._all.append(arrival.connection)
        return [arrival.data for arrival in arrivals]

    def close(self) -> None:
        self.door.close()
        for connection in self._all:
            connection.close()


@pytest.fixture
def street() -> Iterator[Street]:
    place = Street()
    yield place
    place.close()


def is_closed(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def test_a_head_in_parts_arrives_whole_with_what_follows(street: Street) -> None:
    connection = street.come(HEAD[:10])
    assert street.turns(2) == []
    connection.sendall(HEAD[10:-1])
    assert street.turns(2) == []
    connection.sendall(HEAD[-1:] + b"body")
    assert street.turns(2) == [HEAD + b"body"]
    assert not is_closed(connection)


def test_the_whole_head_has_a_deadline_whatever_comes(street: Street) -> None:
    connection = street.come()
    for byte in range(int(HEAD_S)):
        street.now = float(byte)
        connection.sendall(HEAD[byte : byte + 1])
        assert street.turns(2) == [] and not is_closed(connection)
    street.now = HEAD_S
    assert street.turns(2) == [] and is_closed(connection)


def test_the_oldest_loses_its_place(street: Street) -> None:
    waiting = [street.come(b"G") for _ in range(5)]
    assert street.turns(7) == []
    assert [is_closed(connection) for connection in waiting] == [True, True, False, False, False]
    waiting[2].sendall(HEAD[1:])
    assert street.turns() == [HEAD]


def test_whoever_sends_a_head_at_once_takes_nobodys_place(street: Street) -> None:
    waiting = [street.come() for _ in range(3)]
    street.turns(4)
    for _ in range(50):
        street.come(HEAD)
    assert street.turns(51) == [HEAD] * 50
    assert not any(map(is_closed, waiting))


def test_what_has_been_sent_counts_before_a_place_is_lost(street: Street) -> None:
    first, *_ = [street.come() for _ in range(3)]
    street.turns(4)
    first.sendall(HEAD)
    street.come()
    assert street.turns() == [HEAD]


def test_who_goes_away_and_who_sends_too_much_are_closed(street: Street) -> None:
    street.come(b"GET").close()
    connection = street.come(b"x" * HEAD_MAX)
    assert street.turns(6) == [] and is_closed(connection)
    assert street.door._waiting == []
