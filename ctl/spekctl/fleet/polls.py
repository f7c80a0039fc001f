# SPDX-License-Identifier: GPL-2.0-or-later
"""Questions for the status of hosts while something else is awaited of them."""

from __future__ import annotations

import time
from collections.abc import Collection
from concurrent.futures import Future

from spekctl.fleet.carrier import Engine
from spekctl.fleet.patience import Patience
from spekctl.fleet.wire import Verb


class Polls:
    """All @hosts are polled, those that have answered as well, so that none takes the controller
    for gone. @payload: of the questions."""

    def __init__(
        self, engine: Engine, hosts: Collection[str], payload: bytes, patience: Patience
    ) -> None:
        self._engine = engine
        self._hosts = hosts
        self._payload = payload
        self._patience = patience
        self._asked: dict[str, tuple[Future[bytes], float]] = {}
        self._asked_s = time.monotonic()

    @property
    def look_s(self) -> float:
        """Time between two calls of ask_if_due()."""
        return min(self._patience.status_s, self._patience.look_s)

    def ask_if_due(self, now_s: float) -> None:
        """Ask all, if the last time was long enough ago."""
        if now_s - self._asked_s < self._patience.status_s:
            return
        self._asked_s = now_s
        for name in self._hosts:
            # A refused question is a sign of life as well. Few at a time, so that questions do not
            # pile up at a host that is slow to answer; but a host whose answer is long on its way,
            # with others behind it, must not take the controller for gone.
            future, since_s = self._asked.get(name, (None, 0.0))
            if future is None or future.done() or now_s - since_s >= self._patience.again_s:
                question = self._engine.call(name, Verb.STATUS, self._payload)
                self._asked[name] = question, now_s
