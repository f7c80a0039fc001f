"""Power feeds and the prober in a guest: processes, what tests ask for."""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Callable, Iterator

from spekctl.kernel.feeds import Feed, PowerLink
from spekctl.kernel.records import Use

MS = 1_000_000
SECOND = 1_000_000_000
W = 1_000_000  # in microwatts


def connected() -> Iterator[PowerLink]:
    """For a fixture: a connection of its own to the feeds."""
    with PowerLink() as connection:
        yield connection


def fork(work: Callable[[], None]) -> int:
    """A process that does some work; starting Python takes long in a guest."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        os._exit(status)
    return pid


def status_of(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def past(seconds: float) -> int:
    return time.monotonic_ns() - int(seconds * SECOND)


def only_use(link: PowerLink, from_ns: int, to_ns: int) -> Use:
    (rail,) = link.energy([(from_ns, to_ns)])
    (use,) = rail.uses
    return use


def only_feed(link: PowerLink) -> Feed:
    (feed,) = link.feeds()
    return feed
