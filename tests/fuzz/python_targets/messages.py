# SPDX-License-Identifier: GPL-2.0
"""Messages between programs: to the helper with root's rights and from it, and those of a fleet."""

from __future__ import annotations

import contextlib
import io
import threading
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import msgspec
from lib.fakes.kernel import FakeKernel
from lib.fakes.machine import disk

from spekctl.block import device
from spekctl.errors import NotFoundError, SpekError, UsageError
from spekctl.fleet import member, selector, wire
from spekctl.host import peer, root
from spekctl.host import wire as host_wire
from spekctl.host.client import NO_MESSAGE, Helper
from spekctl.kernel import answers, client
from spekctl.kernel import link as kernel_link
from spekctl.run import candidates, observe
from spekctl.run.rights import Looked, Rights

RUN = 7


def nothing(*given: object, **more: object) -> Any:
    return None


def refuse(*given: object, **more: object) -> Any:
    raise NotFoundError("there is no such thing here")


# --- the helper ----------------------------------------------------------------------------------


class Lane:
    """Does in this thread what is put to it."""

    def __init__(self, name: str) -> None:
        pass

    def put(self, work: Callable[[], None] | None) -> None:
        if work is not None:
            work()


class Thread:
    """The same of a thread's work."""

    def __init__(
        self, target: Callable[..., None], args: Sequence[Any] = (), **more: object
    ) -> None:
        self._work = target, args

    def start(self) -> None:
        target, args = self._work
        target(*args)

    def join(self, timeout_s: float) -> None:
        pass


class Link:
    """A socket of a module that takes everything."""

    def __init__(self, contract: Any, group: str | None, missing: str) -> None:
        self._contract = contract

    def forward(self, command: int, attributes: bytes, dump: bool) -> tuple[list[bytes], bool]:
        contract = self._contract
        kind = contract.MESSAGES[command]
        answers.values(kind, attributes, 0, len(attributes))
        if contract.Cmd(command).name not in ("RUN_NEW", "CLAIM_NEW", "PROBE_START"):
            return [], dump
        message = kind()
        message["cmd"], message["version"] = command, contract.VERSION
        message["attrs"] = kernel_link._encode(type(message), {"id": RUN})
        message.encode()
        return [bytes(message.data)], False

    def wait(self, timeout_s: float) -> bool:
        raise OSError("the socket is closed")

    def close(self) -> None:
        pass


def read_requests(data: bytes) -> None:
    """Lines to the helper. It says nothing but messages, and fails by a sentence."""
    root._Lane = Lane  # type: ignore[assignment,misc]
    root.threading = SimpleNamespace(  # type: ignore[assignment,attr-defined]
        Thread=Thread, Lock=threading.Lock, BoundedSemaphore=threading.BoundedSemaphore
    )
    # Nothing of this machine is looked at: the modules say of no device that they have it.
    candidates.every = list  # type: ignore[assignment]
    out = io.BytesIO()
    root.Root(out, refuse, Link).serve(io.BytesIO(data))  # type: ignore[arg-type]
    hello, *said = out.getvalue().splitlines()
    msgspec.json.decode(hello, type=host_wire.AnyEvent)
    for line in said:
        # News of a socket that listens come as they will.
        if b'"event"' not in line:
            _check(msgspec.json.decode(line, type=host_wire.Answer).error, peer.FAILED)


def _check(fault: host_wire.Fault | wire.Fault | None, failed: str) -> None:
    if fault is not None:
        assert fault.text.strip() and fault.text != failed, fault


def read_helper(data: bytes) -> None:
    """Lines from the helper, as the program that has started it reads them."""
    helper: Any = Helper.__new__(Helper)
    helper._waiting = {1: SimpleNamespace(put=nothing)}
    helper._events, helper._on_event = host_wire.AnyEvent, nothing
    helper._ready, helper.hello = threading.Event(), None
    for line in data.splitlines(keepends=True):
        # As Helper._read(): more than that would end its thread, and nobody would be told.
        with contextlib.suppress(*NO_MESSAGE):
            helper._take(line)


# --- a fleet -------------------------------------------------------------------------------------


class Lent(Rights):
    """Disks that hold nothing."""

    def candidates(self) -> list[Any]:
        return []

    def look(self, claim: Any, wish: Any) -> Looked:
        return Looked({}, [])

    def check_write(self, get: Any, wish: Any, looked: Any) -> list[str]:
        return []


def _kernel() -> client.Kernel:
    return FakeKernel()


def _find(path: str, *roots: object, **more: object) -> device.Device:
    return msgspec.structs.replace(disk(), path=path, node=path)


def ask_host(data: bytes) -> None:
    """Lines to a host of a fleet: a verb and its message. Each is answered, by a sentence if it is
    wrong; a start, which waits, is decoded alone."""
    device.find = _find
    selector.find = lambda text, *roots: disk()
    observe.connect = lambda *wishes: ((), "")
    host = member.Member("a", "f-1", lambda on_end: Lent(), nothing, nothing, _kernel)
    try:
        for line in data.splitlines():
            verb, _, payload = line.partition(b" ")
            if verb == wire.Verb.ARM.encode():
                with contextlib.suppress(SpekError):
                    wire.decode(payload, wire.Arm)
                continue
            reply = msgspec.json.decode(
                host.answer(verb.decode("utf-8", "replace"), payload), type=wire.Reply
            )
            _check(reply.fault, member.FAILED)
    finally:
        host.close()


ANSWERS = (
    *(wire.Pong, wire.Described, wire.Claimed, wire.Armed, wire.State, wire.Collected),
    *(wire.Piece, wire.Logged),
)


def hear_host(data: bytes) -> None:
    """What a host of a fleet says: an event, or an answer to any question."""
    wire.event_of(data)
    for kind in ANSWERS:
        try:
            wire.answer_of(data, kind)
        except UsageError:
            raise
        except SpekError as error:
            assert error.message.strip()
