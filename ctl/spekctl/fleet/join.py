# SPDX-License-Identifier: GPL-2.0-or-later
"""A host of a fleet, from its start to its end: joins a controller, serves one run, and leaves."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from types import FrameType

from spekctl.errors import ExitCode, HostLostError
from spekctl.fleet import wire
from spekctl.fleet.keys import Bundle
from spekctl.fleet.member import Member
from spekctl.host import client as host_client
from spekctl.host.client import HostError
from spekctl.host.remote import Remote
from spekctl.kernel import client, link
from spekctl.kernel.client import Kernel
from spekctl.run.rights import Rights

SUDO = ("sudo", "-n")


class Joined:
    """This process as a host."""

    def __init__(
        self,
        words: Sequence[str] = (),
        connect: Callable[[], Kernel] = client.connect,
    ) -> None:
        """@words: the helper's command; none: that of `spekctl host --stdio`, by sudo unless this
        is root."""
        become = SUDO if os.geteuid() else ()
        self._words = list(words) or host_client.command(become)
        self._connect = connect
        self._reason = ""
        self._over = threading.Event()

    def serve(self, address: str, bundle: Bundle, patience_s: float) -> int:
        """Join the controller at @address; the exit code."""
        from spekctl.fleet.engine import DaskHost

        member = Member(
            bundle.own.name,
            bundle.own.fleet,
            self._lend,
            lambda event: host.emit(wire.encode(event)),
            self._give_up,
            self._connect,
            keys_end_s=round(bundle.ends.timestamp()),
        )
        host = DaskHost(address, bundle, member.answer, patience_s, member.end_counts)
        for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(signum, self._terminated)
        try:
            host.serve(lambda: self._over.is_set() or member.check_leash())
        finally:
            # Whatever the reason: its run ends, and its devices are free.
            member.close()
        if self._reason:
            raise HostLostError(self._reason)
        print("spekctl: the controller has ended", file=sys.stderr)
        return int(ExitCode.OK)

    def _lend(self, on_end: Callable[[str], None]) -> Rights:
        remote = Remote(self._words, on_end)
        try:
            remote.helper.wait_ready()
        except HostError as error:
            # The controller shows it after the name of this host.
            text = f"its helper, {' '.join(self._words)}, did not start: {error.message}"
            if ": sudo: " in text:
                text += "; add the line that `spekctl fleet init` prints to its sudoers"
            error.say(text)
            raise
        link.reach_by(remote.open_socket)
        return remote

    def _give_up(self, reason: str) -> None:
        self._reason = reason
        self._over.set()

    def _terminated(self, signum: int, frame: FrameType | None) -> None:
        self._give_up(f"ended by {signal.Signals(signum).name}")
