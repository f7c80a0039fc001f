# SPDX-License-Identifier: GPL-2.0-or-later
"""Collects the results of hosts, for as long as any of them sends data.

A result of up to wire.PIECE_BYTES comes in one answer, a larger one in pieces of this size. Each
answer shows that data come; how long all of them take depends on how much there is, and on the
network.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Collection
from concurrent.futures import Future
from dataclasses import dataclass, field

import msgspec

from spekctl import units
from spekctl.errors import HostLostError, SpekError
from spekctl.fleet import carrier, wire
from spekctl.fleet.carrier import Engine
from spekctl.fleet.patience import Patience
from spekctl.fleet.polls import Polls
from spekctl.fleet.wire import Collected, Verb

# Largest result, bytes.
RESULT_MOST = 1 << 30
# Between two notes of how far the collecting is.
TELL_S = 10.0


@dataclass(slots=True)
class _Coming:
    """A result that is not here yet. @head: its answer, without the document."""

    heard_s: float
    head: Collected | None = None
    data: bytearray = field(default_factory=bytearray)


class Collecting:
    """@run: whose results; @note: takes sentences on how far it is."""

    def __init__(
        self, engine: Engine, patience: Patience, run: str, note: Callable[[str], None]
    ) -> None:
        self._engine = engine
        self._patience = patience
        self._run = run
        self._note = note
        self._arrived: queue.SimpleQueue[tuple[str, Future[bytes]]] = queue.SimpleQueue()
        self._coming: dict[str, _Coming] = {}
        self._results: dict[str, Collected | SpekError] = {}
        self._looked_s = 0.0

    def of(
        self, hosts: Collection[str], is_enough: Callable[[], bool]
    ) -> dict[str, Collected | SpekError]:
        """The results of @hosts, or why one is missing; @is_enough ends the wait for those that are
        not here."""
        payload = wire.encode(wire.OfRun(self._run))
        polls = Polls(self._engine, hosts, payload, self._patience)
        last_s = told_s = self._looked_s = time.monotonic()
        for name in hosts:
            self._coming[name] = _Coming(last_s)
            self._ask(name, Verb.RESULT, payload)
        while self._coming and not is_enough():
            came = self._take_next(polls.look_s)
            now_s = time.monotonic()
            last_s = now_s if came else self._credited(last_s, now_s)
            self._looked_s = now_s
            if not came and now_s - last_s >= self._patience.collect_s:
                break
            if now_s - told_s >= TELL_S:
                told_s = now_s
                self._tell(len(hosts))
            polls.ask_if_due(now_s)
        # What has come by now is kept, whatever ended the wait.
        while self._take_next(0):
            pass
        for name, coming in self._coming.items():
            text = _missing(coming, time.monotonic() - coming.heard_s, is_enough())
            self._results[name] = HostLostError(text)
        return self._results

    def _ask(self, name: str, verb: Verb, payload: bytes) -> None:
        future = self._engine.call(name, verb, payload)
        future.add_done_callback(lambda answered: self._arrived.put((name, answered)))

    def _credited(self, last_s: float, now_s: float) -> float:
        """When data last came, as if the time in which this process did not run had not been."""
        gap_s = now_s - self._looked_s
        return last_s + gap_s if gap_s > 2 * self._patience.look_s + 1 else last_s

    def _take_next(self, timeout_s: float) -> bool:
        """Take the next answer; False if there is none within @timeout_s."""
        try:
            name, answered = self._arrived.get(timeout_s > 0, timeout_s or None)
        except queue.Empty:
            return False
        coming = self._coming[name]
        coming.heard_s = time.monotonic()
        try:
            result = self._taken(name, coming, answered)
        except SpekError as error:
            self._end(name, error)
        else:
            if result is not None:
                self._end(name, result)
        return True

    def _end(self, name: str, result: Collected | SpekError) -> None:
        del self._coming[name]
        self._results[name] = result

    def _taken(self, name: str, coming: _Coming, answered: Future[bytes]) -> Collected | None:
        """The whole result with this answer; None if there is more of it, which is asked for."""
        if coming.head is None:
            coming.head = carrier.answer(answered, Collected)
            assert coming.head is not None
            if not coming.head.more_bytes:
                return coming.head
            if coming.head.more_bytes > RESULT_MOST:
                raise SpekError(
                    f"it has {coming.head.more_bytes:,} bytes; at most {RESULT_MOST:,} are taken"
                )
        else:
            piece: wire.Piece = carrier.answer(answered, wire.Piece)
            left = coming.head.more_bytes - len(coming.data)
            if len(piece.data) != min(left, wire.PIECE_BYTES):
                raise SpekError(f"it sent a piece of {len(piece.data):,} bytes")
            coming.data += piece.data
        if len(coming.data) < coming.head.more_bytes:
            self._ask(name, Verb.PIECE, wire.encode(wire.OfPiece(self._run, len(coming.data))))
            return None
        try:
            document = msgspec.json.decode(coming.data, type=msgspec.Raw)
        except (msgspec.DecodeError, RecursionError) as error:
            raise SpekError(f"it is damaged: {error}") from error
        return msgspec.structs.replace(coming.head, document=document, more_bytes=0)

    def _tell(self, hosts: int) -> None:
        names = list(self._coming)
        listed = ", ".join(names[:5]) + (" and others" if len(names) > 5 else "")
        have = sum(len(coming.data) for coming in self._coming.values())
        self._note(
            f"collecting: {hosts - len(names)} of {hosts} results are here;"
            f" {units.format_bytes(have)} of those of {listed}"
        )


def _missing(coming: _Coming, silent_s: float, is_enough: bool) -> str:
    """Why a result is not here."""
    gave = "nothing"
    if coming.head is not None:
        gave = f"{len(coming.data):,} of {coming.head.more_bytes:,} bytes"
    if is_enough:
        return f"it had given {gave} of it when the collecting was interrupted"
    if coming.head is not None:
        return f"it has given {gave} of it, and nothing more for {silent_s:.0f} s"
    return f"it has given nothing of it for {silent_s:.0f} s"
