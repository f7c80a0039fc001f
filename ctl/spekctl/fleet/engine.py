# SPDX-License-Identifier: GPL-2.0-or-later
"""Carries a fleet's messages over the comms of Dask distributed; the only file that imports it.

Each host opens one connection to the controller, which carries questions, answers and events. No
message is sent again, and a host belongs to the fleet while its connection lasts. All connections
use TLS, and both sides check each other in the handshake (keys.py).

Only Dask's comms are used. Its scheduler and workers would need three connections for each host,
with three handshakes and three times the memory in the controller, and a listening worker.

Dask's comms load pickles that a peer sends, and allocate memory for a message of any size. Those of
a fleet read plain data of limited size only (_Comm), so that a host that was taken over cannot take
over the controller.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import itertools
import logging
import queue
import resource
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

import dask
import msgspec
from distributed.comm import CommClosedError, connect
from distributed.comm.registry import backends
from distributed.comm.tcp import TLS, TLSBackend, TLSConnector, TLSListener
from distributed.protocol.utils import unpack_frames
from tornado.iostream import SSLIOStream

from spekctl import units
from spekctl.errors import HostLostError, SpekError, UsageError
from spekctl.fleet import wire
from spekctl.fleet.carrier import Happened
from spekctl.fleet.keys import HOST, Bundle, Identity, identity_of
from spekctl.fleet.plan import CONTROLLER, check_listen

LOST = "its connection has ended, or it is silent"
# Time for a side to start: TLS and Dask's imports, on a busy or emulated machine.
START_S = 120.0
# Time for a peer that has connected to complete its handshakes.
HANDSHAKE_S = 120.0
# Time to find out why a host cannot join.
LOOK_S = 5.0
# Pause between attempts to join.
AGAIN_S = 0.1
# Time to close a connection.
CLOSE_S = 10.0
# A host that has been silent for this long is lost.
TTL_S = 10.0
# A host sends a heartbeat after this much silence.
BEAT_S = 2.0
# Time for a host to show that it is alive, when another process joins with its certificate.
PROBE_S = 5.0
# Interval at which the controller looks for its sign of life.
PROBE_STEP_S = 0.05
# Interval at which a host checks whether it has to end.
STEP_S = 0.2
# Kinds of messages: a host's first message; a numbered question of the controller; its answer, or
# the failure; an event of a host; a heartbeat.
JOIN, ASK, ANSWER, SAY, BEAT = "join", "ask", "answer", "say", "beat"
# Largest messages, bytes: of a peer that has not yet been let in, and of all others, since results
# of long runs are large.
FIRST_MOST = 64 << 10
MESSAGE_MOST = 1 << 30
# Part of a message that is read at a time, bytes.
PIECE = 1 << 20
# Limit of a host's events that the coordinator has not yet read, bytes, and what each event counts
# besides its text.
UNREAD_MOST = 16 << 20
EVENT_BYTES = 1 << 10
# Most refusals, by address and reason, that are counted separately.
REFUSED_MOST = 100
# Most connections that have not joined, besides one for each host that is still to join: so many
# open files can peers without a certificate take.
STRANGERS_MOST = 64
# Open files for a host: its connection, and those of its start over SSH.
FILES_PER_HOST = 4
OWN_FILES = 256

SETTINGS: dict[str, Any] = {
    "distributed.comm.compression": None,
    "distributed.comm.require-encryption": True,
    "distributed.comm.retry.count": 0,
    # Dask gives the first attempt a fifth of this, then tries again: a handshake takes a second or
    # two on an emulated machine. TTL_S and the coordinator detect silent hosts.
    "distributed.comm.timeouts.connect": "30s",
    # Dask refuses less than 11 s.
    "distributed.comm.timeouts.tcp": "12s",
}

T = TypeVar("T")
Message = dict[str, Any]


def _get_ready() -> None:
    """Create Tornado's default TLS context; call this before a side listens. Tornado creates it,
    with the authorities of the system, at the first connection, which blocks the loop for seconds
    on a slow machine. Connections of a fleet do not use it.
    """
    with socket.socket() as unused:
        SSLIOStream(unused).close()


class _NoMessageError(CommClosedError):  # type: ignore[misc]
    """A peer has sent data that are not a message of a fleet; its connection has ended."""


class _Comm(TLS):  # type: ignore[misc]
    """A connection that takes plain data from its peer, in messages of limited size."""

    most_bytes = FIRST_MOST
    # Called for each piece of a message: a large message, or any on a slow network, can take longer
    # than a peer may be silent.
    heard: Callable[[], None] = staticmethod(lambda: None)

    async def read(self, deserializers: Any = None) -> Any:
        """A message. CommClosedError once there are no more."""
        stream = self.stream
        if stream is None:
            raise CommClosedError("the connection has ended")
        try:
            (size,) = struct.unpack("Q", await stream.read_bytes(8))
            if size > self.most_bytes:
                raise _NoMessageError(
                    f"it sent a message of {size:,} bytes; at most {self.most_bytes:,} are allowed"
                )
            data = bytearray()
            while len(data) < size:
                data += await stream.read_bytes(min(size - len(data), PIECE), partial=True)
                self.heard()
            return _plain(data)
        except CommClosedError:
            self.abort()
            raise
        except OSError as error:
            self.abort()
            raise CommClosedError(str(error)) from error
        except BaseException:
            # The part of a message read so far is lost.
            self.abort()
            raise


def _plain(data: bytes | bytearray) -> Any:
    """A message in Dask's framing: one frame. Pickles and Dask's own types would come in further
    frames, and are refused."""
    try:
        (frame,) = unpack_frames(data)
        return msgspec.msgpack.decode(frame)
    except (ValueError, struct.error, AssertionError, RecursionError, MemoryError) as error:
        raise _NoMessageError("it sent something that is not a message of a fleet") from error


class _Connector(TLSConnector):  # type: ignore[misc]
    comm_class = _Comm


class _Backend(TLSBackend):  # type: ignore[misc]
    _connector_class = _Connector


# By its scheme, connect() of Dask finds it.
SCHEME = "spek"
backends[SCHEME] = _Backend()


class _Link:
    """A connection; only the loop's thread uses it."""

    def __init__(self, comm: Any) -> None:
        self.comm = comm
        self.said_s = time.monotonic()
        self._unsent: list[Message] = []
        self._writing: asyncio.Task[None] | None = None

    def send(self, message: Message) -> None:
        """Queue a message; messages are written in order. If the connection ends, unsent messages
        are lost, and its reader gets the error."""
        self.said_s = time.monotonic()
        self._unsent.append(message)
        if self._writing is None:
            self._writing = asyncio.get_running_loop().create_task(self._write())

    async def _write(self) -> None:
        try:
            while self._unsent:
                messages, self._unsent = self._unsent, []
                await self.comm.write(messages)
        except OSError:
            self._unsent.clear()
        finally:
            self._writing = None


@dataclass(slots=True)
class _Guest:
    """A host that has joined, and the questions that it has not answered, by their numbers."""

    name: str
    serial: int  # of its certificate
    link: _Link
    heard_s: float
    asked: dict[int, Future[bytes]] = field(default_factory=dict)
    unread_bytes: int = 0  # protected by the engine's lock

    def hear(self) -> None:
        """Its connection has brought something."""
        self.heard_s = time.monotonic()


class _Listener(TLSListener):  # type: ignore[misc]
    """Reports peers that fail the handshakes, TLS's and Dask's, and ends their connections."""

    comm_class = _Comm

    def __init__(
        self,
        *where: Any,
        tell: Callable[[str, str], None],
        strangers_most: Callable[[], int],
        **more: Any,
    ) -> None:
        """@tell: called with the peer's address, without port, and the reason. @strangers_most:
        most connections that known() has not been told of."""
        super().__init__(*where, **more)
        self._tell = tell
        self._strangers_most = strangers_most
        # Their streams, the oldest first, with the addresses of those in the TLS handshake.
        self._strangers: dict[Any, str] = {}

    def known(self, comm: Any) -> None:
        """The peer has joined."""
        self._strangers.pop(comm.stream, None)

    async def _prepare_stream(self, stream: Any, address: str) -> Any:
        try:
            await asyncio.wait_for(stream.wait_for_handshake(), HANDSHAKE_S)
        except BaseException as error:
            # Nothing else ends that of a peer that says nothing.
            stream.close()
            if not isinstance(error, OSError):
                raise
            # _accept() has told of those that it ended.
            if stream in self._strangers:
                cause = getattr(error, "real_error", None) or error
                self._tell(_without_port(address), _handshake_fault(cause))
            return None
        self._strangers[stream] = ""
        return stream

    async def _handle_stream(self, stream: Any, address: Any) -> None:
        if not self._accept(stream, str(address[0])):
            stream.close()
            return
        try:
            # A peer may have gone by the end of the handshake.
            with contextlib.suppress(OSError):
                await super()._handle_stream(stream, address)
        finally:
            self._strangers.pop(stream, None)

    def _accept(self, stream: Any, address: str) -> bool:
        """Take a newcomer's connection; False if there is no room. The oldest peer in the TLS
        handshake makes room: a host is through within seconds, and one that has no certificate
        would keep hosts out until HANDSHAKE_S."""
        most = self._strangers_most()
        while len(self._strangers) >= most:
            oldest = next((each for each, whose in self._strangers.items() if whose), None)
            if oldest is None:
                text = f"{most} connections have not joined yet, and no more are accepted"
                self._tell(address, text)
                return False
            text = f"it was the oldest in the TLS handshake, and {most} connections had not joined"
            self._tell(self._strangers.pop(oldest), f"{text} yet")
            oldest.close()
        self._strangers[stream] = address
        return True

    async def on_connection(self, comm: Any, handshake_overrides: Any = None) -> None:
        try:
            await asyncio.wait_for(super().on_connection(comm, handshake_overrides), HANDSHAKE_S)
        except Exception as error:
            comm.abort()
            if isinstance(error, CommClosedError) and not isinstance(error, _NoMessageError):
                raise
            why = str(error) if isinstance(error, _NoMessageError) else "it is not spekctl"
            self._tell(_without_port(comm.peer_address), why)
            raise CommClosedError(why) from error


def _handshake_fault(error: BaseException) -> str:
    """Why a handshake has failed."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return _what_is_wrong(error)
    if isinstance(error, TimeoutError):
        return f"it did not complete the TLS handshake within {HANDSHAKE_S:.0f} s"
    if isinstance(error, ssl.SSLError) and error.reason and not isinstance(error, ssl.SSLEOFError):
        # A peer that refuses this side says so by an alert.
        return f"the TLS handshake failed: {error.reason.replace('_', ' ').lower()}"
    return "its connection ended before the TLS handshake did"


def _without_port(address: str) -> str:
    return address.removeprefix("tls://").rpartition(":")[0].strip("[]")


class _LoopThread:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="fleet", daemon=True)
        self._thread.start()

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(START_S)
        if not self._thread.is_alive():
            self.loop.close()


class DaskEngine:
    """The controller's side: a carrier.Engine. It listens at @listen until it is closed."""

    def __init__(self, listen: str, bundle: Bundle, hosts: frozenset[str]) -> None:
        if bundle.own.role != CONTROLLER:
            raise UsageError(
                f"{bundle.folder} has the keys of the host {bundle.own.name}, not of the controller"
            )
        check_listen(listen)
        self._listen = listen.removeprefix("tls://")
        self._context = bundle.context(True, (HOST,))
        self._expected = hosts
        self._addresses: dict[str, str] = {}  # by name, without port
        # Protects _addresses, _refused, _is_closed and the count of unread bytes.
        self._lock = threading.Lock()
        # Used by the loop's thread only, as is the set of names whose hosts are being let in.
        self._guests: dict[str, _Guest] = {}
        self._entering: set[str] = set()
        self._refused: dict[str, int] = {}  # number of refusals by sentence
        self._numbers = itertools.count()
        # With the host that it was read from and its bytes, if it was.
        self._happened: queue.SimpleQueue[tuple[Happened, _Guest | None, int]]
        self._happened = queue.SimpleQueue()
        _make_room(len(hosts))
        self._settings = dask.config.set(SETTINGS)
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        self._thread = _LoopThread()
        self._listener: Any = None
        self._watch: asyncio.Task[None] | None = None
        self._is_closed = False
        try:
            self._thread.submit(self._start()).result(START_S)
        except concurrent.futures.TimeoutError as error:
            self.close()
            raise SpekError(f"the controller does not listen after {START_S:.0f} s") from error
        except (OSError, ValueError, RuntimeError) as error:
            self.close()
            raise UsageError(f"cannot listen at {listen}: {_reason_of(error)}") from error
        except BaseException:
            self.close()
            raise

    @property
    def address(self) -> str:
        """The address at which hosts join."""
        return str(self._listener.contact_address)

    def hosts(self) -> Mapping[str, str]:
        """Addresses of the hosts that have joined, by name."""
        with self._lock:
            return dict(self._addresses)

    def refused(self) -> Mapping[str, int]:
        """Number of refusals by sentence, one for each address and reason."""
        with self._lock:
            return dict(self._refused)

    def call(self, host: str, verb: str, payload: bytes) -> Future[bytes]:
        """Send a host a question, which is not repeated."""
        future: Future[bytes] = Future()
        with self._lock:
            # What is asked before close() is settled by it.
            is_asked = not self._is_closed
            if is_asked:
                self._thread.loop.call_soon_threadsafe(self._ask, future, host, verb, payload)
        if not is_asked:
            _settle(future, HostLostError("the controller has ended"))
        return future

    def next(self, timeout_s: float) -> Happened | None:
        """The next event or loss; None if there is none within @timeout_s."""
        try:
            happened, guest, size = self._happened.get(timeout_s > 0, timeout_s or None)
        except queue.Empty:
            return None
        if guest is not None:
            with self._lock:
                guest.unread_bytes -= size
        return happened

    def close(self) -> None:
        """Close all connections: the hosts lose their controller and end. A second call does
        nothing."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
        with contextlib.suppress(concurrent.futures.TimeoutError, OSError):
            self._thread.submit(self._end()).result(START_S)
        self._thread.close()
        self._settings.__exit__(None, None, None)

    async def _start(self) -> None:
        _get_ready()
        self._listener = _Listener(
            self._listen,
            self._serve,
            tell=self._note_refusal,
            strangers_most=lambda: STRANGERS_MOST + len(self._expected) - len(self._guests),
            ssl_context=self._context,
            require_encryption=True,
        )
        await self._listener.start()
        self._watch = asyncio.create_task(self._look_for_silent())

    async def _end(self) -> None:
        if self._listener is not None:
            self._listener.stop()
        guests = list(self._guests.values())
        for guest in guests:
            self._lose(guest)
        closing = (asyncio.wait_for(guest.link.comm.close(), CLOSE_S) for guest in guests)
        await asyncio.gather(*closing, return_exceptions=True)
        # Peers that were about to join are here as well.
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left, timeout=CLOSE_S)

    def _note_refusal(self, address: str, why: str) -> None:
        text = f"{address} was refused: {why}"
        with self._lock:
            if text not in self._refused and len(self._refused) >= REFUSED_MOST:
                text = "connections from further addresses were refused"
            self._refused[text] = self._refused.get(text, 0) + 1

    async def _serve(self, comm: Any) -> None:
        """Serve an incoming connection until it ends. A message that cannot be read ends it."""
        try:
            guest = await self._let_in(comm)
            if guest is not None:
                try:
                    await self._listen_to(guest)
                except _NoMessageError as error:
                    self._lose(guest, f"its connection was ended: {error}")
                finally:
                    self._lose(guest)
        except Exception as error:
            logging.getLogger(__name__).debug("%s: %s", comm.peer_address, error)
        finally:
            comm.abort()

    async def _listen_to(self, guest: _Guest) -> None:
        """Until its connection ends."""
        while True:
            messages = await guest.link.comm.read()
            if not isinstance(messages, list):
                raise _NoMessageError("it sent something that is not a message of a fleet")
            for message in messages:
                self._hear(guest, message)

    async def _let_in(self, comm: Any) -> _Guest | None:
        """The joining host, under the name in its certificate; None if it is refused."""
        peer = identity_of(comm.extra_info.get("peercert"))
        # Frees the certificate, which would stay in memory as long as the connection.
        comm.extra_info.clear()
        try:
            message = await asyncio.wait_for(comm.read(), START_S)
        except _NoMessageError as error:
            self._note_refusal(_without_port(comm.peer_address), str(error))
            raise
        is_join = isinstance(message, dict) and message.get("op") == JOIN
        name = message.get("name") if is_join else None
        refusal = ""
        if not isinstance(name, str):
            refusal = "it has another version of spekctl; install the same version everywhere"
        elif peer is None or peer.role != HOST:
            refusal = "it is not a host of the fleet"
        elif name != peer.name:
            refusal = f"it calls itself {name}, and its certificate says {peer.name}"
        elif name not in self._expected:
            refusal = f"{name} is not in the plan"
        elif name in self._entering:
            refusal = f"name taken: another process of {name} is joining"
        if refusal:
            await self._refuse(comm, refusal)
            return None
        assert peer is not None
        self._entering.add(peer.name)
        try:
            refusal = await self._make_room_for(peer)
            if refusal:
                await self._refuse(comm, refusal)
                return None
            comm.most_bytes = MESSAGE_MOST
            guest = _Guest(peer.name, peer.serial, _Link(comm), time.monotonic())
            comm.heard = guest.hear
            await comm.write({"status": "OK"})
            self._guests[guest.name] = guest
            self._listener.known(comm)
            with self._lock:
                self._addresses[guest.name] = _without_port(comm.peer_address)
        finally:
            self._entering.discard(peer.name)
        return guest

    async def _refuse(self, comm: Any, refusal: str) -> None:
        self._note_refusal(_without_port(comm.peer_address), refusal)
        await comm.write({"status": "error", "message": refusal, "time": time.time()})
        await comm.close()

    async def _make_room_for(self, peer: Identity) -> str:
        """Remove the guest that has the name of a host that joins, if that guest does not answer; a
        refusal if it does. A machine that was restarted resets the connection that it is asked by.
        A removed guest that is alive after all sees the end of its connection, and ends."""
        former = self._guests.get(peer.name)
        if former is None:
            return ""
        taken = f"name taken: {peer.name} has already joined from {self.hosts()[peer.name]}"
        if former.serial != peer.serial or await self._is_alive(former):
            return taken
        former.link.comm.abort()
        self._lose(
            former,
            f"it did not answer for {PROBE_S:.0f} s, and another process with its keys joined",
        )
        return ""

    async def _is_alive(self, guest: _Guest) -> bool:
        """Ask a guest, whatever it is busy with: all that it says is a sign of life."""
        heard_s, end_s = guest.heard_s, time.monotonic() + PROBE_S
        number = next(self._numbers)
        guest.link.send({"op": ASK, "number": number, "verb": wire.Verb.PING, "payload": b"null"})
        while self._guests.get(guest.name) is guest and time.monotonic() < end_s:
            if guest.heard_s > heard_s:
                return True
            await asyncio.sleep(PROBE_STEP_S)
        return False

    def _hear(self, guest: _Guest, message: Message) -> None:
        match message:
            case {"op": "answer", "number": int(number), "data": bytes(data), "failure": failure}:
                future = guest.asked.pop(number, None)
                if future is not None:
                    error = HostLostError(f"it cannot answer: {failure}") if failure else None
                    _settle(future, error or data)
            case {"op": "say", "data": bytes(data)}:
                event = wire.event_of(data)
                if event is not None:
                    self._keep(guest, event, len(data) + EVENT_BYTES)

    def _keep(self, guest: _Guest, event: wire.AnyEvent, size: int) -> None:
        """Keep an event for next(). _NoMessageError: the host sends more than is read."""
        with self._lock:
            guest.unread_bytes += size
            is_flood = guest.unread_bytes > UNREAD_MOST
        if is_flood:
            raise _NoMessageError("it sends events faster than the controller reads them")
        self._happened.put((Happened(guest.name, event), guest, size))

    def _lose(self, guest: _Guest, why: str = LOST) -> None:
        """Remove a host whose connection has ended, and fail its open questions."""
        if self._guests.get(guest.name) is not guest:
            return
        del self._guests[guest.name]
        with self._lock:
            del self._addresses[guest.name]
        for future in guest.asked.values():
            _settle(future, HostLostError(why))
        guest.asked.clear()
        self._happened.put((Happened(guest.name, lost=why), None, 0))

    def _ask(self, future: Future[bytes], host: str, verb: str, payload: bytes) -> None:
        """Send a question; in the loop's thread."""
        guest = self._guests.get(host)
        if guest is None:
            _settle(future, HostLostError("it is lost"))
            return
        number = next(self._numbers)
        guest.asked[number] = future
        guest.link.send({"op": ASK, "number": number, "verb": verb, "payload": payload})

    async def _look_for_silent(self) -> None:
        """End the connections of silent hosts."""
        while True:
            slept_s = time.monotonic()
            await asyncio.sleep(BEAT_S)
            now_s = time.monotonic()
            if now_s - slept_s > 2 * BEAT_S:
                # This process was stopped or busy, and has not yet read what hosts sent meanwhile.
                continue
            for guest in list(self._guests.values()):
                if now_s - guest.heard_s > TTL_S:
                    guest.link.comm.abort()
                    self._lose(guest)


def _settle(future: Future[bytes], outcome: bytes | Exception) -> None:
    """Complete a question, unless it was cancelled."""
    if not future.set_running_or_notify_cancel():
        return
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)


def _make_room(hosts: int) -> None:
    """Raise the limit on open files to what @hosts need; UsageError if the hard limit is lower."""
    needed = hosts * FILES_PER_HOST + OWN_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or needed <= soft:
        return
    if hard != resource.RLIM_INFINITY and needed > hard:
        raise UsageError(
            f"{units.format_count(hosts, 'host')} may need {needed:,} open files, and this process"
            f" is allowed {hard:,}; raise the limit (LimitNOFILE of systemd, `ulimit -n`)"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def _reason_of(error: BaseException) -> str:
    """Why a side cannot start; Dask wraps errors, and causes such as a timeout have no text."""
    cause = error.__cause__ or error
    return getattr(cause, "strerror", None) or str(cause) or str(error) or type(cause).__name__


class DaskHost:
    """A host's side: joins the controller at @address, and answers until that is gone."""

    def __init__(
        self,
        address: str,
        bundle: Bundle,
        respond: Callable[[str, bytes], bytes],
        patience_s: float = START_S,
        leave: Callable[[], None] = lambda: None,
    ) -> None:
        """@respond: answers a question, in a thread. @leave: called when serving ends; it has to
        make running calls of @respond return, because their threads are joined."""
        if bundle.own.role != HOST:
            raise UsageError(f"{bundle.folder} has the keys of the controller, not of a host")
        check_listen(address, "the address of a controller")
        self._respond = respond
        self._address = address
        self._name = bundle.own.name
        self._patience_s = patience_s
        self._leave = leave
        self._context = bundle.context(False, (CONTROLLER,))
        self._loop: asyncio.AbstractEventLoop | None = None
        self._link: _Link | None = None
        self._replies: set[asyncio.Task[None]] = set()

    def serve(self, is_over: Callable[[], bool]) -> None:
        """Serve until the controller is gone, or @is_over returns True."""
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        with dask.config.set(SETTINGS):
            asyncio.run(self._serve(is_over))

    def emit(self, data: bytes) -> None:
        """Send the controller an event, from any thread; it is lost if there is no connection."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self.say, data)

    def say(self, data: bytes) -> None:
        """As emit(), in the loop's thread."""
        if self._link is not None:
            self._link.send({"op": SAY, "data": data})

    async def _serve(self, is_over: Callable[[], bool]) -> None:
        _get_ready()
        await self.join()
        await self.stay(is_over)

    async def join(self) -> None:
        """Join the controller; HostLostError with the reason if that fails."""
        self._loop = asyncio.get_running_loop()
        try:
            comm, answer = await asyncio.wait_for(self._ask_to_join(), self._patience_s)
        except TimeoutError as error:
            reason = await asyncio.to_thread(self._trouble)
            raise HostLostError(
                f"cannot join {self._address} within {self._patience_s:g} s: {reason}"
            ) from error
        if answer.get("status") != "OK":
            comm.abort()
            raise HostLostError(f"cannot join {self._address}: {answer.get('message')}")
        comm.most_bytes = MESSAGE_MOST
        self._link = _Link(comm)

    async def _ask_to_join(self) -> tuple[Any, Message]:
        """A connection, and the controller's answer; waits without a limit."""
        while True:
            comm = None
            try:
                where = f"{SCHEME}://{self._address.removeprefix('tls://')}"
                comm = await connect(where, ssl_context=self._context, require_encryption=True)
                await comm.write({"op": JOIN, "name": self._name})
                answer = await comm.read()
            except OSError:
                # The controller may not listen yet.
                await asyncio.sleep(AGAIN_S)
            except BaseException:
                if comm is not None:
                    comm.abort()
                raise
            else:
                if isinstance(answer, dict):
                    return comm, answer
                refusal = "it has another version of spekctl; install the same version everywhere"
                return comm, {"message": refusal}

    async def stay(self, is_over: Callable[[], bool]) -> None:
        """Answer until the controller is gone, or @is_over returns True."""
        assert self._link is not None
        reading = asyncio.create_task(self._read(self._link))
        try:
            while not reading.done() and not is_over():
                if time.monotonic() - self._link.said_s > BEAT_S:
                    self._link.send({"op": BEAT})
                await asyncio.wait([reading], timeout=STEP_S)
        finally:
            self._leave()
            reading.cancel()
            with contextlib.suppress(Exception):
                await asyncio.wait_for(self._link.comm.close(), CLOSE_S)

    async def _read(self, link: _Link) -> None:
        """Answer questions until the connection ends or cannot be read."""
        with contextlib.suppress(OSError, LookupError, TypeError):
            while True:
                for message in await link.comm.read():
                    if message["op"] == ASK:
                        reply = asyncio.create_task(self._reply(link, message))
                        self._replies.add(reply)
                        reply.add_done_callback(self._replies.discard)

    async def _reply(self, link: _Link, question: Message) -> None:
        data, failure = b"", ""
        try:
            data = await asyncio.to_thread(self._respond, question["verb"], question["payload"])
        except Exception as error:
            failure = _reason_of(error)
        link.send({"op": ANSWER, "number": question["number"], "data": data, "failure": failure})

    def _trouble(self) -> str:
        """Why there is no connection; Dask reports only a timeout."""
        try:
            with socket.create_connection(check_listen(self._address), LOOK_S) as plain:
                try:
                    with self._context.wrap_socket(plain) as tls:
                        # In TLS 1.3 the controller's refusal comes after this side's handshake.
                        accepted = bool(tls.recv(1))
                except ssl.SSLCertVerificationError as error:
                    return f"it is not the controller of this fleet: {_what_is_wrong(error)}"
                except (ssl.SSLError, ConnectionError):
                    accepted = False
        except OSError as error:
            return error.strerror or "it does not answer"
        if accepted:
            return f"it did not let this host join within {self._patience_s:.0f} s"
        return "it refuses this host's certificate, which is of another fleet, expired or revoked"


def _what_is_wrong(error: ssl.SSLCertVerificationError) -> str:
    """What is wrong with a certificate."""
    return getattr(error, "verify_message", "") or str(error.args[-1])
