# SPDX-License-Identifier: GPL-2.0
"""Requests from a peer, and messages to one who may be gone."""

from __future__ import annotations

import contextlib
import io
import os

import msgspec
import pytest

from spekctl.host import wire
from spekctl.host.peer import Peer
from spekctl.host.wire import News


def test_a_message_is_written_whole() -> None:
    stream = io.BytesIO()
    Peer(stream, lambda: False).send(News(3))
    assert stream.getvalue() == b'{"event":"news","link":3}\n'


def test_it_is_noticed_that_nobody_reads() -> None:
    down, up = os.pipe()
    os.close(down)
    missed = []

    def stop() -> bool:
        missed.append(1)
        return True

    stream = os.fdopen(up, "wb")
    peer = Peer(stream, stop)
    peer.send(News(3))
    assert missed == [1]
    with contextlib.suppress(BrokenPipeError):
        stream.close()
    peer.send(News(4))
    assert missed == [1, 1]


def test_requests_are_told_from_stops_and_nonsense() -> None:
    stream, running = io.BytesIO(), [True]
    lines = io.BytesIO(
        b'{"id":1,"do":"devices"}\n{"id":2,"do":"stop"}\n{"id":3,"do":"stop"}\n'
        b'{"id":4,"do":"nothing"}\n[\n{"id":5,"do":"close","link":1}\n'
    )
    peer = Peer(stream, lambda: bool(running) and running.pop())
    requests = list(peer.requests(lines, wire.AnyRequest, wire.VERBS))
    assert requests == [wire.ListDevices(id=1), wire.Close(id=5, link=1)]
    hello, *answers = [msgspec.json.decode(line) for line in stream.getvalue().splitlines()]
    assert hello["event"] == "hello"
    assert [answer["id"] for answer in answers] == [2, 3, 4, 0]
    assert "error" not in answers[0]
    texts = [answer["error"]["text"] for answer in answers[1:]]
    assert texts[0] == "there is no run to stop"
    assert all(text.startswith("not a request: ") for text in texts[1:])


def test_nothing_is_read_after_a_line_that_is_too_long() -> None:
    stream = io.BytesIO()
    lines = io.BytesIO(b"x" * (wire.REQUEST_MAX + 1) + b'\n{"id":1,"do":"devices"}\n')
    assert not list(Peer(stream, lambda: False).requests(lines, wire.AnyRequest, wire.VERBS))
    assert b"at most" in stream.getvalue().splitlines()[1]


def test_a_failure_is_refused_and_told_on_standard_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    stream = io.BytesIO()
    peer = Peer(stream, lambda: False)

    def fail() -> None:
        raise RuntimeError("planted")

    peer.attempt(7, fail)
    peer.attempt(8, lambda: peer.answer(8, [1]))
    failed, answered = [msgspec.json.decode(line) for line in stream.getvalue().splitlines()]
    assert (failed["id"], answered["id"], answered["answer"]) == (7, 8, [1])
    assert "planted" not in failed["error"]["text"] and "planted" in capsys.readouterr().err
