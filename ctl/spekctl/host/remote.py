# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel side as a process without rights reaches it: through `spekctl host --stdio`.

Links of this process get sockets of the helper, so that everything that talks to the kernel is as
in a process that has rights; what else needs them is in Remote.
"""

from __future__ import annotations

import contextlib
import os
import struct
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from spekctl.block.device import Device
from spekctl.block.zones import Zone
from spekctl.documents.device import DeviceFacts
from spekctl.errors import SpekError
from spekctl.host import wire
from spekctl.host.client import Helper, HostError
from spekctl.kernel.gen.spek_records import LOG_RECORD_BYTES
from spekctl.kernel.netlink import GENERIC, HEADER, NLM_F_DUMP, Frame, NetlinkSocket, Refusal
from spekctl.kernel.records import ClaimInfo, RunInfo
from spekctl.log.buffer import Buffer
from spekctl.run.candidates import Candidate
from spekctl.run.rights import Looked, Overwriting, Rights

if TYPE_CHECKING:
    from spekctl.block.opening import Number
    from spekctl.power.look import Told
    from spekctl.power.nvme_log import Asked
    from spekctl.power.passthrough import NvmeReply

# Whole records: a shorter answer means that there are no more.
_LOG_READ = wire.LOG_READ_MAX // LOG_RECORD_BYTES * LOG_RECORD_BYTES
# Of the family that knows the others, which answers anybody.
_CONTROL = 0x10


class Remote(Rights):
    """Root's rights, lent by a helper."""

    opens_disks = False

    def __init__(
        self, words: Sequence[str], on_end: Callable[[str], None] = lambda reason: None
    ) -> None:
        """@words: the helper's command; @on_end: called with the reason once it is gone."""
        self._listeners: dict[int, RemoteSocket] = {}
        self.helper: Helper[wire.AnyEvent] = Helper(words, self._take, on_end, wire.AnyEvent)

    def open_socket(self, family: str) -> RemoteSocket:
        """For kernel.link.reach_by()."""
        return RemoteSocket(self, family)

    def listen(self, number: int, socket: RemoteSocket | None) -> None:
        """Wake @socket when this socket of the helper receives a notification; None: nobody."""
        if socket is None:
            self._listeners.pop(number, None)
        else:
            self._listeners[number] = socket

    def look(self, claim: ClaimInfo, wish: Overwriting) -> Looked:
        remarks: list[str] = self.helper.ask(
            "look",
            list[str],
            claim=claim.id,
            write=wish.write_allowed,
            destroy=list(wish.destroy),
        )
        return Looked({}, remarks)

    def check_write(
        self, get: Callable[[], RunInfo], wish: Overwriting, looked: Looked | None
    ) -> list[str]:
        remarks: list[str] = self.helper.ask(
            "check",
            list[str],
            run=get().id,
            write=wish.write_allowed,
            destroy=list(wish.destroy),
        )
        return remarks

    def open_log(self, info: RunInfo, worker: int) -> Buffer:
        return _RemoteBuffer(self.helper, info.id, worker)

    def zones(self, disk: DeviceFacts, start: int = 0, count: int | None = None) -> list[Zone]:
        if disk.zoned == "none":
            return []
        zones: list[Zone] = []
        # As where a disk is gone: a result does not fail for want of an explanation.
        with contextlib.suppress(SpekError):
            while count is None or len(zones) < count:
                wanted = wire.ZONES_MAX
                if count is not None:
                    wanted = min(wanted, count - len(zones))
                listed = self.helper.ask(
                    "zones",
                    list[tuple[int, int, int, int]],
                    major=disk.major,
                    minor=disk.minor,
                    start=start,
                    count=wanted,
                )
                zones += [Zone(*numbers) for numbers in listed]
                if len(listed) < wanted:
                    break
                start = zones[-1].start + zones[-1].bytes
        return zones

    def nvme(self, disk: Device, controller: Number, asked: Asked) -> NvmeReply:
        from spekctl.power.passthrough import NvmeReply

        answer = tuple[int, int, bytes, int]
        told = self.helper.ask(
            "nvme",
            answer,
            major=disk.major,
            minor=disk.minor,
            controller_major=controller[0],
            controller_minor=controller[1],
            what=str(asked),
        )
        return NvmeReply(*told)

    def power_asker(self, disk: Device) -> Callable[[], Told] | None:
        return partial(self._ask_power, disk)

    def _ask_power(self, disk: Device) -> Told:
        from spekctl.documents.disk_states import Basis, PowerState

        answer = tuple[PowerState, Basis, str, int]
        told: Told = self.helper.ask("power-state", answer, major=disk.major, minor=disk.minor)
        return told

    def candidates(self) -> list[Candidate]:
        listed: list[Candidate] = self.helper.ask("devices", list[Candidate])
        return listed

    def close(self) -> None:
        """End the helper, and with it all runs."""
        self.helper.close()

    def _take(self, event: wire.AnyEvent) -> None:
        if isinstance(event, wire.News):
            listener = self._listeners.get(event.link)
            if listener is not None:
                listener.wake()


class RemoteSocket:
    """A socket of the helper; see NetlinkSocket. It is opened by its first command."""

    def __init__(self, remote: Remote, family: str) -> None:
        self._remote = remote
        self._family = family
        self._number: int | None = None
        self._sequence = 0
        # So that wake(), in the helper's thread, never writes to a descriptor of somebody else.
        self._lock = threading.Lock()
        self._news = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)

    def close(self) -> None:
        """Close it; a second call does nothing."""
        if self._news < 0:
            return
        if self._number is not None:
            self._remote.listen(self._number, None)
            with contextlib.suppress(HostError):
                self._remote.helper.ask("close", link=self._number)
        with self._lock:
            os.close(self._news)
            self._news = -1

    def fileno(self) -> int:
        """Readable when a change was told."""
        return self._news

    def next_sequence(self) -> int:
        """A number for a request."""
        self._sequence += 1
        return self._sequence

    def join(self, group: int) -> None:
        """Hear of changes; the helper knows which group that is."""
        number = self._open(listen=True)
        self._remote.listen(number, self)

    def wake(self) -> None:
        """A change was told."""
        with self._lock:
            if self._news >= 0:
                os.eventfd_write(self._news, 1)

    def drain(self) -> None:
        """Forget what was told."""
        with contextlib.suppress(BlockingIOError):
            os.eventfd_read(self._news)

    def exchange(
        self, request: bytes, more: Sequence[memoryview | bytes] = ()
    ) -> tuple[Sequence[Frame], bool]:
        """Have a request sent; see NetlinkSocket."""
        _, kind, flags, _, _ = HEADER.unpack_from(request)
        if kind == _CONTROL:
            return _ask_control(request)
        command, _, _ = GENERIC.unpack_from(request, HEADER.size)
        reply: wire.Reply = self._remote.helper.ask(
            "ask",
            wire.Reply,
            link=self._open(),
            command=command,
            dump=bool(flags & NLM_F_DUMP == NLM_F_DUMP),
            attributes=request[HEADER.size + GENERIC.size :] + b"".join(more),
        )
        if reply.refused is not None:
            raise Refusal(reply.refused.code, reply.refused.text, reply.refused.offset)
        return [_frame(data) for data in reply.frames], reply.interrupted

    def _open(self, listen: bool = False) -> int:
        if self._number is None:
            self._number = int(
                self._remote.helper.ask("open", int, family=self._family, listen=listen)
            )
        return self._number


class _RemoteBuffer:
    """The log of a worker, read by the helper."""

    def __init__(self, helper: Helper[wire.AnyEvent], run: int, worker: int) -> None:
        self._helper = helper
        self._run = run
        self._worker = worker
        # Opens it, so that a failure comes before the start.
        self._read(0)

    def readinto(self, buffer: memoryview, /) -> int:
        """As many records as there are and fit; those that come meanwhile are for the next time."""
        used = 0
        while used < len(buffer):
            size = min(len(buffer) - used, _LOG_READ)
            data = self._read(size)
            buffer[used : used + len(data)] = data
            used += len(data)
            if len(data) < size:
                break
        return used

    def close(self) -> None:
        """Read no more of it."""
        with contextlib.suppress(HostError):
            self._helper.ask("close-log", run=self._run, worker=self._worker)

    def _read(self, size: int) -> bytes:
        data: bytes = self._helper.ask(
            "read-log", bytes, run=self._run, worker=self._worker, size=size
        )
        return data


def _frame(data: bytes) -> Frame:
    try:
        _, kind, flags, sequence, _ = HEADER.unpack_from(data)
    except struct.error as error:
        raise HostError("the host sent a kernel message that is shorter than its header") from error
    return Frame(kind, flags, sequence, data)


def _ask_control(request: bytes) -> tuple[Sequence[Frame], bool]:
    """Any process may ask for the number of a family."""
    socket = NetlinkSocket()
    try:
        return socket.exchange(request)
    finally:
        socket.close()
