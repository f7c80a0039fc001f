# SPDX-License-Identifier: GPL-2.0
"""Requests, dumps, refusals and notifications of a family."""

from __future__ import annotations

import errno
import itertools
import socket
import struct
import threading
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from spekctl.errors import NoKernelSideError, NotPermittedError, RefusedError, SpekError, UsageError
from spekctl.kernel import answers, client, netlink
from spekctl.kernel import link as kernel_link
from spekctl.kernel.gen import spek
from spekctl.workload import file
from spekctl.workload.resolve import Options, Target, resolve

DISK = Target("/dev/x", 8, 16, 10 << 30, 512, 5)


def test_the_blamed_part_is_found_from_its_offset() -> None:
    config = resolve(file.load("spc1"), Options(bsu=1, available_cpus=(0,)), [DISK])
    message = spek.RunMsg()
    message["attrs"] = kernel_link._encode(spek.RunMsg, client._run_attributes(config))
    message.encode()
    data = bytes(message.data)
    for index, stream in enumerate(config.streams):
        offset = data.index(stream.name.encode() + b"\0")
        assert kernel_link._blamed(spek.RunMsg, data, offset) == ("stream", index)
    assert kernel_link._blamed(spek.RunMsg, data, data.index(b"asu2\0")) == ("asu", 1)
    assert kernel_link._blamed(spek.RunMsg, data, 20) == ("name", 0)
    assert kernel_link._blamed(spek.RunMsg, data, len(data)) is None


@pytest.mark.parametrize(
    ("code", "text", "kind", "wanted"),
    [
        (errno.EPERM, "Operation not permitted", NotPermittedError, "needs root"),
        (errno.EPERM, "A sentence.", NotPermittedError, "A sentence."),
        (errno.EBUSY, "Somebody has it.", RefusedError, "Somebody has it."),
        (errno.ERANGE, "Too much.", UsageError, "Too much."),
        (errno.EINVAL, "Invalid argument", UsageError, "refused run-new: Invalid argument"),
        (errno.ENODEV, "No such device", UsageError, "No such device (ENODEV)"),
        (errno.ENOMEM, "Cannot allocate memory", SpekError, "(ENOMEM)"),
    ],
)
def test_refusals_keep_the_kernels_sentence(
    code: int, text: str, kind: type[SpekError], wanted: str
) -> None:
    error = kernel_link._refusal(code, text, "run-new")
    assert type(error) is kind
    assert wanted in error.message
    assert (error.errno, error.operation) == (code, "run-new")


class AnsweringSocket:
    """A kernel side whose first dumps say that its list changed under way."""

    def __init__(self, interrupted: int) -> None:
        self.interrupted = interrupted
        self.dumps = 0
        self.next_sequence = itertools.count(1).__next__

    def exchange(
        self, request: bytes, more: Sequence[memoryview | bytes] = ()
    ) -> tuple[list[netlink.Frame], bool]:
        self.dumps += 1
        answer = spek.RunMsg()
        answer["cmd"], answer["version"] = spek.Cmd.RUN_GET, spek.VERSION
        answer["attrs"] = [("SPEK_A_RUN_ID", self.dumps)]
        answer["header"]["type"] = FAMILY
        answer.encode()
        frame = netlink.Frame(FAMILY, 0, self.dumps, bytes(answer.data))
        return [frame], self.dumps <= self.interrupted


FAMILY = 30


def link_on(carrier: Any) -> kernel_link.Link:
    link = kernel_link.Link.__new__(kernel_link.Link)
    link._gen, link._family, link._socket = spek, FAMILY, carrier
    return link


def test_an_interrupted_dump_is_asked_again() -> None:
    carrier = AnsweringSocket(interrupted=2)
    assert link_on(carrier).dump(spek.Cmd.RUN_GET) == [{"id": 3}]
    assert carrier.dumps == 3


def test_a_dump_that_never_settles_is_given_up() -> None:
    with pytest.raises(SpekError, match="changed during"):
        link_on(AnsweringSocket(interrupted=10**6)).dump(spek.Cmd.RUN_GET)


class WiredSocket(netlink.NetlinkSocket):
    """One end of a pair; the other is the kernel side."""

    def __init__(self) -> None:
        self._socket, self.kernel = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._sequence = 0

    def _receive(self) -> tuple[bytes, int, int]:
        data, _, flags, _ = self._socket.recvmsg(netlink.RECV_BYTES)
        return data, flags, 0

    def close(self) -> None:
        super().close()
        self.kernel.close()


@pytest.fixture
def wired() -> Iterator[WiredSocket]:
    wired_socket = WiredSocket()
    yield wired_socket
    wired_socket.close()


def frame(kind: int, flags: int, sequence: int, payload: bytes) -> bytes:
    length = netlink.HEADER.size + len(payload)
    return netlink.HEADER.pack(length, kind, flags, sequence, 0) + payload + bytes(-length % 4)


def attribute(kind: int, payload: bytes) -> bytes:
    length = netlink.ATTR.size + len(payload)
    return netlink.ATTR.pack(length, kind) + payload + bytes(-length % 4)


def refused(request: bytes, code: int, attrs: bytes) -> bytes:
    payload = struct.pack("=i", -code) + request[: netlink.HEADER.size] + attrs
    return frame(netlink.NLMSG_ERROR, netlink.NLM_F_ACK_TLVS, 1, payload)


@pytest.mark.parametrize("call", ["ask", "tell", "dump"])
def test_every_refusal_says_what_is_blamed(wired: WiredSocket, call: str) -> None:
    """The sentence and the attribute of the kernel's answer are those of the error."""
    values = {"id": 7, "target": [{"major": 8, "minor": 0}, {"major": 8, "minor": 1}]}
    link = link_on(wired)
    sent: list[bytes] = []

    def answer() -> None:
        request = wired.kernel.recv(1 << 16)
        sent.append(request)
        (_, _, _), (_, _, _), (offset, _, _) = netlink.attributes(request, 20)
        said = attribute(netlink.ERR_MSG, b"Somebody has it.\0")
        said += attribute(netlink.ERR_OFFS, struct.pack("=I", offset))
        wired.kernel.send(refused(request, errno.EBUSY, said))

    thread = threading.Thread(target=answer)
    thread.start()
    with pytest.raises(RefusedError, match=r"^Somebody has it\.$") as refusal:
        getattr(link, call)(spek.Cmd.RUN_NEW, **values)
    thread.join()
    assert refusal.value.blamed == ("target", 1)
    assert (refusal.value.errno, refusal.value.operation) == (errno.EBUSY, "run-new")
    kind, flags = netlink.HEADER.unpack_from(sent[0])[1:3]
    assert (kind, bool(flags & netlink.NLM_F_REQUEST)) == (FAMILY, True)


def test_answers_of_an_earlier_request_are_passed_over(wired: WiredSocket) -> None:
    end = struct.pack("=i", 0)
    old = frame(FAMILY, 0, 1, b"old!")
    torn = frame(FAMILY, netlink.NLM_F_DUMP_INTR, 2, b"new!")
    wired.kernel.send(old + frame(netlink.NLMSG_DONE, 0, 1, end))
    wired.kernel.send(torn)
    wired.kernel.send(frame(netlink.NLMSG_DONE, 0, 2, end))
    frames, interrupted = wired.exchange(frame(FAMILY, netlink.NLM_F_DUMP, 2, b""))
    assert [frame.data[-4:] for frame in frames] == [b"new!"]
    assert interrupted


def test_the_end_of_a_dump_can_be_a_refusal(wired: WiredSocket) -> None:
    said = attribute(netlink.ERR_MSG, b"It went away.\0")
    end = struct.pack("=i", -errno.ENODEV) + said
    wired.kernel.send(frame(netlink.NLMSG_DONE, netlink.NLM_F_ACK_TLVS, 1, end))
    with pytest.raises(netlink.Refusal) as refusal:
        wired.exchange(frame(FAMILY, netlink.NLM_F_DUMP, 1, b""))
    assert (refusal.value.code, refusal.value.text) == (errno.ENODEV, "It went away.")


def test_a_module_that_is_not_loaded_is_said() -> None:
    with pytest.raises(NoKernelSideError, match=r"^load it$"):
        kernel_link.Link(SimpleNamespace(FAMILY="spek-absent"), None, "load it")


class LosingSocket:
    """recv() as a queue of outcomes."""

    def __init__(self, *outcomes: Exception | bytes) -> None:
        self.outcomes = list(outcomes)

    def recv(self, size: int, flags: int) -> bytes:
        assert flags & socket.MSG_DONTWAIT
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def test_lost_notifications_only_wake_up(wired: WiredSocket) -> None:
    link = link_on(wired)
    wired.kernel.send(b"one")
    link.wait(5.0)
    overrun = OSError(errno.ENOBUFS, "No buffer space available")
    losing = LosingSocket(b"one", overrun, b"two", BlockingIOError())
    netlink_socket = netlink.NetlinkSocket.__new__(netlink.NetlinkSocket)
    netlink_socket._socket = losing  # type: ignore[assignment]
    netlink_socket.drain()
    assert losing.outcomes == []


def test_a_dead_socket_is_not_taken_for_silence() -> None:
    netlink_socket = netlink.NetlinkSocket.__new__(netlink.NetlinkSocket)
    netlink_socket._socket = LosingSocket(OSError(errno.EBADF, "Bad file descriptor"))  # type: ignore[assignment]
    with pytest.raises(OSError):
        netlink_socket.drain()


class Recorder:
    """Keeps what it is to send, and answers nothing."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.next_sequence = itertools.repeat(1).__next__

    def exchange(
        self, request: bytes, more: Sequence[memoryview | bytes] = ()
    ) -> tuple[list[netlink.Frame], bool]:
        self.sent.append(b"".join([request, *more]))
        return [], False


@pytest.mark.parametrize("length", [0, 24, 25])
def test_a_value_that_is_not_copied_is_the_same_message(length: int) -> None:
    carrier = Recorder()
    link = link_on(carrier)
    records = bytes(range(length))

    for value in (records, memoryview(records)):
        link.tell(spek.Cmd.TRACE_FEED, run=1, worker=2, records=value)

    assert carrier.sent[0] == carrier.sent[1]


@pytest.mark.parametrize("is_dump", [False, True])
def test_attributes_that_are_encoded_make_the_same_message(is_dump: bool) -> None:
    """The headers are written here, whoever has encoded the rest."""
    asked, forwarded = Recorder(), Recorder()
    if is_dump:
        link_on(asked).dump(spek.Cmd.STATS_GET, run=7)
    else:
        link_on(asked).tell(spek.Cmd.STATS_GET, run=7)
    attributes = asked.sent[0][answers.HEADERS_LEN :]
    assert attributes
    frames, _ = link_on(forwarded).forward(spek.Cmd.STATS_GET, attributes, is_dump)
    assert frames == [] and forwarded.sent == asked.sent


def test_links_may_be_carried_by_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """So does a process without rights reach the kernel."""
    opened: list[str] = []

    class StopError(Exception):
        pass

    def carry(family: str) -> Any:
        opened.append(family)
        raise StopError

    monkeypatch.setattr(kernel_link, "_open_socket", kernel_link._open_socket)
    kernel_link.reach_by(carry)
    with pytest.raises(StopError):
        kernel_link.Link(spek, None, "missing")
    assert opened == ["spek"]
