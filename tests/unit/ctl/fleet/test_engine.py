# SPDX-License-Identifier: GPL-2.0
"""The fleet as processes: a scheduler, hosts over TLS, and every way in which one of them ends.

No time is asserted; what is waited for has a minute.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import queue
import resource
import signal
import socket
import ssl
import struct
import threading
import time
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from distributed.comm import CommClosedError, connect
from distributed.protocol.core import dumps
from distributed.protocol.serialize import Serialize, ToPickle
from distributed.protocol.utils import pack_frames
from lib.fakes.fleet_rig import SOON_S, Fleet, listening
from lib.waiting import eventually
from tornado import netutil

from spekctl.errors import ExitCode, HostLostError, UsageError
from spekctl.fleet import engine, keys, wire
from spekctl.fleet.engine import DaskEngine, DaskHost

# 127.0.0.1, as /proc/net/tcp has it.
LOOPBACK = "0100007F"
NO_MESSAGE = "it sent something that is not a message of a fleet"


def port_of(fleet: Fleet) -> tuple[str, int]:
    return address_of(fleet.engine)


def address_of(controller: DaskEngine) -> tuple[str, int]:
    host, port = controller.address.removeprefix("tls://").rsplit(":", 1)
    return host, int(port)


def test_a_whole_run(tmp_path: Path) -> None:
    names = ["a", "b", "c"]
    with Fleet(tmp_path, names) as fleet:
        for name in names:
            fleet.join(fleet.engine.address, name)
        fleet.start()
        fleet.wait_running()
        # Nothing listens where it was not asked to, and hosts not at all.
        assert listening(os.getpid()) <= {LOOPBACK}
        assert not any(listening(process.pid) for process in fleet.hosts.values())
        outcome = fleet.outcome()
        assert (outcome.code, outcome.text) == (ExitCode.OK, "3 hosts completed the run")
        for part in outcome.parts:
            assert part.collected is not None and part.collected.facts is not None
            result = json.loads(bytes(part.collected.document))
            assert result["totals"]["read"]["ios"] == 2000
            facts = part.collected.facts
            start_ns = facts.started_mono_ns + facts.armed.offset_ns
            assert abs(start_ns - outcome.start_real_ns) < 1_000_000
        seeds = {
            json.loads(bytes(part.collected.document))["config"]["seed"]
            for part in outcome.parts
            if part.collected is not None
        }
        assert len(seeds) == 3
        fleet.engine.close()
        for name in names:
            assert fleet.ended(name) == ExitCode.OK, fleet.said(name)
            fleet.check_free(name)


def test_a_host_that_is_not_asked_says_that_it_is_there(tmp_path: Path) -> None:
    with Fleet(tmp_path, ["a"]) as fleet:
        fleet.join(fleet.engine.address, "a")
        eventually(fleet.engine.hosts, "a does not join", SOON_S)
        guest = fleet.engine._guests["a"]
        for _ in range(2):
            heard_s = guest.heard_s
            eventually(lambda: guest.heard_s > heard_s, "a is silent", SOON_S)  # noqa: B023
        assert fleet.engine.next(0) is None


def test_a_host_that_says_nothing_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "TTL_S", 5.0)
    with Fleet(tmp_path, ["a"]) as fleet:
        fleet.join(fleet.engine.address, "a")
        eventually(fleet.engine.hosts, "a does not join", SOON_S)
        fleet.hosts["a"].send_signal(signal.SIGSTOP)
        answer = fleet.engine.call("a", "ping", b"null")
        happened = fleet.engine.next(SOON_S)
        assert happened is not None and (happened.host, happened.lost) == ("a", engine.LOST)
        assert not fleet.engine.hosts()
        # With it ends what it was asked, and what it will be.
        for question in (answer, fleet.engine.call("a", "ping", b"null")):
            with pytest.raises(HostLostError):
                question.result(SOON_S)


class DeafComm:
    """A connection whose end is noted."""

    is_over = False

    def abort(self) -> None:
        self.is_over = True


@pytest.mark.parametrize(
    ("stopped_s", "silent_s", "is_lost"),
    [(0.0, 1.0, False), (0.0, 11.0, True), (60.0, 60.0, False)],
)
def test_hosts_are_not_lost_by_a_controller_that_was_stopped(
    monkeypatch: pytest.MonkeyPatch, stopped_s: float, silent_s: float, is_lost: bool
) -> None:
    """What they have said meanwhile is there, and not yet read."""
    fleet, comm = DaskEngine.__new__(DaskEngine), DeafComm()
    fleet._lock, fleet._addresses = threading.Lock(), {"a": "10.0.0.2"}
    fleet._happened = queue.SimpleQueue()
    clock = [1000.0]
    fleet._guests = {"a": engine._Guest("a", 1, engine._Link(comm), clock[0])}
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    # Looks of every two seconds, or a single one by a controller that was stopped.
    looks = iter([stopped_s] if stopped_s else [engine.BEAT_S] * (int(silent_s) // 2 + 1))

    async def sleep(seconds: float) -> None:
        past_s = next(looks, None)
        if past_s is None:
            raise asyncio.CancelledError
        clock[0] += past_s

    monkeypatch.setattr(asyncio, "sleep", sleep)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(fleet._look_for_silent())
    assert comm.is_over == is_lost
    assert ("a" in fleet._guests) != is_lost


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"op": "register-worker", "name": "a"},
        {"op": "answer", "number": 77, "data": b"", "failure": ""},
        {"op": "answer", "number": "1", "data": b"", "failure": ""},
        {"op": "say", "data": "text"},
        {"op": "say", "data": b"no event"},
    ],
)
def test_what_a_fleet_does_not_say_is_not_heard(tmp_path: Path, message: dict[str, object]) -> None:
    keys.make(tmp_path / "keys", ["a"], 30)
    with contextlib.closing(
        DaskEngine("tls://127.0.0.1:0", keys.load(tmp_path / "keys/controller"), frozenset("a"))
    ) as fleet:
        guest = engine._Guest("a", 1, engine._Link(DeafComm()), 0.0)
        question: Future[bytes] = Future()
        guest.asked[1] = question
        fleet._hear(guest, message)
        assert fleet.next(0) is None and not question.done()


def test_the_authorities_of_the_system_are_not_read_while_a_host_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a slow machine that takes longer than a peer waits for its handshake."""
    netutil._client_ssl_defaults.cache_clear()
    read: list[str] = []
    load = ssl.SSLContext.load_default_certs

    def noted(context: ssl.SSLContext, *purpose: ssl.Purpose) -> None:
        read.append("now")
        load(context, *purpose)

    monkeypatch.setattr(ssl.SSLContext, "load_default_certs", noted)
    with Fleet(tmp_path, ["a"]) as fleet:
        assert read == ["now"]
        fleet.join(fleet.engine.address, "a")
        eventually(fleet.engine.hosts, "a does not join", SOON_S)
        assert read == ["now"]


def test_a_revoked_host_is_told_that_it_is_refused(tmp_path: Path) -> None:
    serials = keys.make(tmp_path / "made", ["a"], 30)
    (tmp_path / "made/controller/revoked").write_text(f"{serials['a']:x}\n")
    controller = keys.load(tmp_path / "made/controller")
    fleet = DaskEngine("tls://127.0.0.1:0", controller, frozenset({"a"}))
    try:
        host = DaskHost(
            fleet.address, keys.load(tmp_path / "made/a"), lambda verb, payload: b"", patience_s=3.0
        )
        with pytest.raises(HostLostError, match="it refuses this host's certificate, which is of"):
            host.serve(lambda: False)
        # Its patience may end in the middle of another attempt.
        cut_off = "127.0.0.1 was refused: its connection ended before the TLS handshake did"
        assert set(fleet.refused()) - {cut_off} == {
            "127.0.0.1 was refused: the peer is refused: its certificate"
            f" {serials['a']:x} of a is revoked"
        }
        assert not fleet.hosts()
    finally:
        fleet.close()


def test_a_connection_that_ends_in_the_handshake_is_no_fault_of_tls() -> None:
    """The event loop may see it first, or the TLS library."""
    received = ssl.MemoryBIO()
    received.write(b"\x16\x03\x01")
    received.write_eof()
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).wrap_bio(
        received, ssl.MemoryBIO(), server_side=True
    )
    with pytest.raises(ssl.SSLError) as seen:
        server.do_handshake()
    for error in (seen.value, ConnectionResetError()):
        said = engine._handshake_fault(error)
        assert said == "its connection ended before the TLS handshake did"


def test_a_host_says_that_there_is_no_controller(tmp_path: Path) -> None:
    keys.make(tmp_path / "keys", ["a"], 30)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"tls://127.0.0.1:{unused.getsockname()[1]}"
        bundle = keys.load(tmp_path / "keys/a")
        host = DaskHost(address, bundle, lambda verb, payload: b"", patience_s=1.0)
        with pytest.raises(HostLostError, match=f"^cannot join {address} within 1 s: .* refused$"):
            host.serve(lambda: False)


def test_a_host_that_is_not_in_the_plan_does_not_join(tmp_path: Path) -> None:
    with Fleet(tmp_path, ["a", "b"]) as fleet:
        fleet.engine._expected = frozenset({"a"})
        fleet.join(fleet.engine.address, "b", patience_s=10.0)
        assert fleet.ended("b") == ExitCode.HOST_LOST
        assert fleet.said("b").endswith(f"{fleet.engine.address}: b is not in the plan\n")


def test_a_second_host_of_the_same_name_does_not_join(tmp_path: Path) -> None:
    with Fleet(tmp_path, ["a"]) as fleet:
        fleet.join(fleet.engine.address, "a")
        eventually(fleet.engine.hosts, "a does not join", SOON_S)
        first = fleet.hosts.pop("a")
        try:
            fleet.join(fleet.engine.address, "a", patience_s=10.0)
            assert fleet.ended("a") == ExitCode.HOST_LOST
            assert "name taken" in fleet.said("a")
            assert list(fleet.engine.hosts()) == ["a"]
        finally:
            first.kill()
            first.wait()


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"op": "register-client", "client": "a"}, "it has another version of spekctl"),
        ({"op": "broadcast", "msg": {}}, "it has another version of spekctl; install the same"),
        ({"op": "join", "name": "b"}, "it calls itself b, and its certificate says a"),
    ],
)
def test_a_host_has_no_say_over_others(
    tmp_path: Path, message: dict[str, object], said: str
) -> None:
    """It may join under its own name, and do nothing else."""
    with Fleet(tmp_path, ["a", "b"]) as fleet:
        context = keys.load(fleet.keys / "a").context(False, ("controller",))

        async def ask() -> object:
            comm = await connect(fleet.engine.address, ssl_context=context, require_encryption=True)
            await comm.write(message)
            answer = await comm.read()
            with pytest.raises(CommClosedError):
                await comm.read()
            return answer["message"]

        assert said in str(asyncio.run(ask()))
        assert not fleet.engine.hosts()


class Mark:
    """What leaves a file behind once it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def lone_engine(folder: Path) -> contextlib.closing[DaskEngine]:
    """One that waits for host a."""
    keys.make(folder / "keys", ["a"], 30)
    bundle = keys.load(folder / "keys/controller")
    return contextlib.closing(DaskEngine("tls://127.0.0.1:0", bundle, frozenset({"a"})))


def context_of(folder: Path) -> ssl.SSLContext:
    return keys.load(folder / "keys/a").context(False, ("controller",))


@pytest.mark.parametrize("when", ["handshake", "join", "member"])
def test_a_host_cannot_have_the_controller_load_a_pickle(tmp_path: Path, when: str) -> None:
    mark = tmp_path / "mark"
    pickle = ToPickle(Mark(mark))

    async def send(address: str) -> None:
        comm = await connect(
            address,
            ssl_context=context_of(tmp_path),
            require_encryption=True,
            handshake_overrides={"more": pickle} if when == "handshake" else {},
        )
        with contextlib.suppress(CommClosedError):
            await comm.write({"op": "join", "name": "a", "more": pickle if when == "join" else 0})
            assert (await comm.read())["status"] == "OK"
            await comm.write([{"op": "say", "data": pickle}])
        with pytest.raises(CommClosedError):
            await comm.read()

    with lone_engine(tmp_path) as fleet:
        asyncio.run(send(fleet.address))
        if when == "member":
            happened = fleet.next(SOON_S)
            assert happened is not None and happened.host == "a"
            assert (
                happened.lost
                == "its connection was ended: it sent something that is not a message of a fleet"
            )
        else:
            text = "127.0.0.1 was refused: it sent something that is not a message of a fleet"
            eventually(lambda: text in fleet.refused(), "it is not refused", SOON_S)
        assert not fleet.hosts()
    assert not mark.exists()


@pytest.mark.parametrize(
    "message", [ToPickle(1), Serialize({}), [{"op": "say", "data": ToPickle(b"")}]]
)
def test_what_is_not_plain_is_no_message(message: object) -> None:
    with pytest.raises(engine._NoMessageError):
        engine._plain(pack_frames(dumps(message)))


@pytest.mark.parametrize("data", [b"", b"\xff" * 8, b"\xff" * 64, pack_frames([b"\xc1"])])
def test_what_is_no_frame_is_no_message(data: bytes) -> None:
    with pytest.raises(engine._NoMessageError):
        engine._plain(data)


def test_a_host_reads_plain_data_as_well(tmp_path: Path) -> None:
    with lone_engine(tmp_path) as fleet:
        host = DaskHost(fleet.address, keys.load(tmp_path / "keys/a"), lambda verb, payload: b"")

        async def join() -> object:
            await host.join()
            assert host._link is not None
            return host._link.comm

        assert isinstance(asyncio.run(join()), engine._Comm)


@pytest.mark.parametrize("is_member", [False, True])
def test_a_message_without_end_is_not_read(tmp_path: Path, is_member: bool) -> None:
    most = engine.MESSAGE_MOST if is_member else engine.FIRST_MOST

    async def send(address: str) -> None:
        comm = await connect(address, ssl_context=context_of(tmp_path), require_encryption=True)
        if is_member:
            await comm.write({"op": "join", "name": "a"})
            await comm.read()
        await comm.stream.write(struct.pack("Q", most + 1))
        with pytest.raises(CommClosedError):
            await comm.read()

    why = f"it sent a message of {most + 1:,} bytes; at most {most:,} are allowed"
    with lone_engine(tmp_path) as fleet:
        asyncio.run(send(fleet.address))
        if is_member:
            happened = fleet.next(SOON_S)
            assert happened is not None
            assert happened.lost == f"its connection was ended: {why}"
        else:
            text = f"127.0.0.1 was refused: {why}"
            eventually(lambda: text in fleet.refused(), "it is not refused", SOON_S)


class Trickle:
    """A stream that brings a few bytes at a time."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.reads = 0

    async def read_bytes(self, most: int, partial: bool = False) -> bytes:
        size = min(most, 7) if partial else most
        read, self.data = self.data[:size], self.data[size:]
        self.reads += partial
        return read


def test_pieces_of_a_message_are_signs_of_life(tmp_path: Path) -> None:
    message = [{"op": "say", "data": b"x" * 1000}]
    frame = pack_frames(dumps(message))
    stream = Trickle(struct.pack("Q", len(frame)) + frame)
    comm = engine._Comm.__new__(engine._Comm)
    comm.stream = stream
    guest = engine._Guest("a", 1, engine._Link(comm), 0.0)
    heard: list[float] = []

    def hear() -> None:
        guest.hear()
        heard.append(guest.heard_s)
        guest.heard_s = 0.0

    comm.heard = hear
    assert asyncio.run(comm.read()) == message
    assert len(heard) == stream.reads > 100 and all(heard)


@pytest.mark.parametrize("size", [200_000, 40_000_000])
def test_a_large_answer_comes_whole(tmp_path: Path, size: int) -> None:
    """Dask sends it in pieces, and from 10 MB on encodes it in a thread."""
    over = threading.Event()
    with lone_engine(tmp_path) as fleet:
        host = DaskHost(
            fleet.address, keys.load(tmp_path / "keys/a"), lambda verb, payload: payload * size
        )
        serving = threading.Thread(target=host.serve, args=[over.is_set])
        serving.start()
        try:
            eventually(fleet.hosts, "a does not join", SOON_S)
            assert fleet.call("a", "ping", b"x").result(SOON_S) == b"x" * size
            guest = fleet._guests["a"]
            assert guest.link.comm.heard == guest.hear
        finally:
            over.set()
            serving.join(SOON_S)


@pytest.mark.parametrize("has_certificate", [False, True])
def test_a_peer_that_says_nothing_does_not_keep_its_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_certificate: bool
) -> None:
    monkeypatch.setattr(engine, "HANDSHAKE_S", 5.0)
    with lone_engine(tmp_path) as fleet, contextlib.ExitStack() as open_ones:
        peer = open_ones.enter_context(socket.create_connection(address_of(fleet), SOON_S))
        if has_certificate:
            peer = open_ones.enter_context(context_of(tmp_path).wrap_socket(peer))
        while peer.recv(4096):
            pass
        why = "it is not spekctl" if has_certificate else "it did not complete the TLS handshake"
        eventually(fleet.refused, "it is not refused", SOON_S)
        (text,) = fleet.refused()
        assert text.startswith(f"127.0.0.1 was refused: {why}")


def test_peers_without_a_certificate_take_neither_all_files_nor_the_places_of_hosts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or the controller could not open the file of its result, and hosts could not join."""
    monkeypatch.setattr(engine, "STRANGERS_MOST", 2)
    with Fleet(tmp_path, ["a"]) as fleet, contextlib.ExitStack() as open_ones:
        strangers = fleet.engine._listener._strangers

        def connect_silent() -> socket.socket:
            peer = socket.create_connection(port_of(fleet), SOON_S)
            return open_ones.enter_context(peer)

        # Two, and one in place of the host.
        first, second, _ = [connect_silent() for _ in range(3)]
        eventually(lambda: len(strangers) == 3, "nobody comes", SOON_S)
        connect_silent()
        with contextlib.suppress(ConnectionError):
            assert first.recv(1) == b""
        why = "it was the oldest in the TLS handshake, and 3 connections had not joined yet"
        assert fleet.engine.refused() == {f"127.0.0.1 was refused: {why}": 1}
        eventually(lambda: len(strangers) == 3, "the newcomer has no place", SOON_S)
        fleet.join(fleet.engine.address, "a")
        eventually(lambda: "a" in fleet.engine.hosts(), "it has not joined", SOON_S)
        stream = fleet.engine._guests["a"].link.comm.stream
        eventually(lambda: stream not in strangers, "it is a stranger", SOON_S)
        with contextlib.suppress(ConnectionError):
            assert second.recv(1) == b""


def test_peers_that_have_a_certificate_and_do_not_join_leave_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "STRANGERS_MOST", 2)
    with lone_engine(tmp_path) as fleet, contextlib.ExitStack() as open_ones:
        first, *_ = [
            open_ones.enter_context(
                context_of(tmp_path).wrap_socket(
                    socket.create_connection(address_of(fleet), SOON_S)
                )
            )
            for _ in range(3)
        ]
        listener = fleet._listener
        eventually(
            lambda: list(listener._strangers.values()) == [""] * 3,
            *("nobody comes", SOON_S),
        )
        peer = open_ones.enter_context(socket.create_connection(address_of(fleet), SOON_S))
        with contextlib.suppress(ConnectionError):
            assert peer.recv(1) == b""
        why = "3 connections have not joined yet, and no more are accepted"
        assert fleet.refused() == {f"127.0.0.1 was refused: {why}": 1}
        first.close()
        eventually(lambda: len(listener._strangers) == 2, "it is still there", SOON_S)


def test_a_controller_that_ends_ends_peers_that_have_not_joined(tmp_path: Path) -> None:
    with lone_engine(tmp_path) as fleet:
        peers = [socket.create_connection(address_of(fleet), SOON_S) for _ in range(2)]
        peers[1] = context_of(tmp_path).wrap_socket(peers[1])
        assert peers[1].recv(1)
        fleet.close()
        for peer in peers:
            with peer, contextlib.suppress(ConnectionError):
                while peer.recv(4096):
                    pass


def test_a_controller_that_has_ended_asks_nobody(tmp_path: Path) -> None:
    with lone_engine(tmp_path) as fleet:
        fleet.close()
        fleet.close()
        question = fleet.call("a", "ping", b"null")
        with pytest.raises(HostLostError, match="the controller has ended"):
            question.result(0)


def heard(fleet: DaskEngine, guest: Any) -> None:
    fleet._hear(guest, {"op": "say", "data": wire.encode(wire.Note("x" * 1000))})


def test_a_host_that_says_more_than_is_read_is_no_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "UNREAD_MOST", 100_000)
    with lone_engine(tmp_path) as fleet:
        guest = engine._Guest("a", 1, engine._Link(DeafComm()), 0.0)
        # What is read makes room.
        for _ in range(500):
            heard(fleet, guest)
            assert fleet.next(0) is not None
        with pytest.raises(
            engine._NoMessageError, match="it sends events faster than the controller"
        ):
            for _ in range(500):
                heard(fleet, guest)
        kept = 0
        while fleet.next(0) is not None:
            kept += 1
        assert 0 < kept < 100


def test_an_address_that_is_not_ours_is_a_sentence(tmp_path: Path) -> None:
    keys.make(tmp_path / "keys", ["a"], 30)
    bundle = keys.load(tmp_path / "keys/controller")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        for address in (f"tls://127.0.0.1:{port}", "tls://203.0.113.9:8786"):
            with pytest.raises(UsageError, match="cannot listen at"):
                DaskEngine(address, bundle, frozenset({"a"}))


def test_keys_are_for_their_side(tmp_path: Path) -> None:
    keys.make(tmp_path / "keys", ["a"], 30)
    host, controller = (keys.load(tmp_path / "keys" / name) for name in ("a", "controller"))
    with pytest.raises(UsageError, match="has the keys of the host a, not of the controller"):
        DaskEngine("tls://127.0.0.1:0", host, frozenset({"a"}))
    with pytest.raises(UsageError, match="has the keys of the controller, not of a host"):
        DaskHost("tls://127.0.0.1:1", controller, lambda verb, payload: b"")
    with pytest.raises(
        UsageError, match=r"^'tls://a:99999' is not the address of a controller; .* 65535"
    ):
        DaskHost("tls://a:99999", host, lambda verb, payload: b"")


def test_a_host_has_one_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each more takes as much memory of the controller, and a handshake of both sides."""
    served = []
    serve = DaskEngine._serve

    async def noted(self: DaskEngine, comm: Any) -> None:
        served.append(comm.peer_address)
        await serve(self, comm)

    monkeypatch.setattr(DaskEngine, "_serve", noted)
    with Fleet(tmp_path, ["a"]) as fleet:
        fleet.join(fleet.engine.address, "a")
        eventually(fleet.engine.hosts, "a does not join", SOON_S)
        questions = [fleet.engine.call("a", "ping", b"null") for _ in range(20)]
        answers = [wire.answer_of(each.result(SOON_S), wire.Pong) for each in questions]
        assert len(answers) == 20
        assert len(served) == 1


def test_an_answer_that_nobody_waits_for_does_no_harm(tmp_path: Path) -> None:
    with Fleet(tmp_path, ["a"]) as fleet:
        fleet.join(fleet.engine.address, "a")
        eventually(fleet.engine.hosts, "a does not join", SOON_S)
        fleet.engine.call("a", "ping", b"null").cancel()
        assert fleet.engine.call("a", "ping", b"null").result(SOON_S)


def test_refusals_of_many_addresses_are_counted_together() -> None:
    fleet = DaskEngine.__new__(DaskEngine)
    fleet._lock, fleet._refused = threading.Lock(), {}
    for number in range(3 * engine.REFUSED_MOST):
        fleet._note_refusal(f"10.0.{number >> 8}.{number & 255}", "it has no certificate")
    fleet._note_refusal("10.0.0.0", "it has no certificate")
    told = fleet.refused()
    assert len(told) == engine.REFUSED_MOST + 1
    assert told["10.0.0.0 was refused: it has no certificate"] == 2
    assert told["connections from further addresses were refused"] == 2 * engine.REFUSED_MOST


@pytest.mark.parametrize(
    ("soft", "hard", "wanted"),
    [
        (1024, 1 << 20, 4256),
        (1024, resource.RLIM_INFINITY, 4256),
        (1 << 20, 1 << 20, None),
        (resource.RLIM_INFINITY, resource.RLIM_INFINITY, None),
    ],
)
def test_a_large_fleet_is_allowed_its_open_files(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, wanted: int | None
) -> None:
    limits: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda of: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda of, both: limits.append(both))
    engine._make_room(1000)
    assert limits == ([(wanted, hard)] if wanted is not None else [])


def test_a_fleet_that_may_not_open_enough_files_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda of: (1024, 4096))
    with pytest.raises(
        UsageError, match=r"^1000 hosts may need 4,256 open files, .* is allowed 4,096; raise"
    ):
        engine._make_room(1000)
