# SPDX-License-Identifier: GPL-2.0-or-later
"""What carries messages to hosts and back, whatever it is built on; engine.py is on Dask."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol

from spekctl.errors import HostLostError, SpekError
from spekctl.fleet import wire


@dataclass(frozen=True, slots=True)
class Happened:
    """What the engine has to tell: an event of a host, or with @lost why there is none any more."""

    host: str
    event: wire.AnyEvent | None = None
    lost: str = ""


class Engine(Protocol):
    """What carries messages to hosts and back; engine.py is the one that there is."""

    def hosts(self) -> Mapping[str, str]:
        """Hosts that have joined and are not lost, and their addresses."""

    def refused(self) -> Mapping[str, int]:
        """Peers that did not get in: a sentence of each address and reason, and how often."""

    def call(self, host: str, verb: str, payload: bytes) -> Future[bytes]:
        """Ask a host, once; the future fails if it is lost."""

    def next(self, timeout_s: float) -> Happened | None:
        """What has happened, in its order; None if nothing does within that time."""


def answer(future: Future[bytes], kind: type, late: str = "") -> Any:
    """An answer that has come, of the type @kind; HostLostError if there is none, with @late added
    where it is only missing."""
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
