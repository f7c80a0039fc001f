# SPDX-License-Identifier: GPL-2.0-or-later
"""The interface that carries messages to hosts and back; engine.py implements it on Dask."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol

from spekctl.errors import HostLostError, SpekError
from spekctl.fleet import wire

# Events that are taken before their taker looks at anything else, however many there are.
TAKE_MOST = 10_000


@dataclass(frozen=True, slots=True)
class Happened:
    """An event of a host, or, with @lost, why the host is lost."""

    host: str
    event: wire.AnyEvent | None = None
    lost: str = ""


class Engine(Protocol):
    """Carries messages to hosts and back."""

    def hosts(self) -> Mapping[str, str]:
        """Addresses of the hosts that have joined and are not lost, by name."""

    def refused(self) -> Mapping[str, int]:
        """Number of refusals by sentence, one for each address and reason."""

    def call(self, host: str, verb: str, payload: bytes) -> Future[bytes]:
        """Send a host a question, which is not repeated; the future fails if the host is lost."""

    def next(self, timeout_s: float) -> Happened | None:
        """The next event or loss, in order; None if there is none within @timeout_s."""


def answer(future: Future[bytes], kind: type, late: str = "") -> Any:
    """The answer, of the type @kind; HostLostError if there is none, with @late added if it is only
    late."""
    if not future.done():
        future.cancel()
        raise HostLostError(f"it has not answered in time{'; ' + late if late else ''}")
    try:
        data = future.result()
    except concurrent.futures.CancelledError as error:
        raise HostLostError("the question was called off") from error
    except SpekError:
        raise
    except Exception as error:
        raise HostLostError(f"it cannot be reached: {error}") from error
    return wire.answer_of(data, kind)
