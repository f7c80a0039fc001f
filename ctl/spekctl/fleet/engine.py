# SPDX-License-Identifier: GPL-2.0-or-later
"""Carries a fleet's messages, by Dask distributed; the only file that imports it.

The scheduler is in this process, and one worker without a nanny on each host. Dask is used as a
carrier: functions outside of its task system (op "run") for requests, which it never repeats,
events for what hosts say, and its membership for their loss. No task is ever submitted that touches
a device. All connections are TLS, with both sides checked in the handshake (keys.py).

Requests go to workers by connections that are kept, one for each host, or more where questions
overlap. Dask's own Client.run goes through the scheduler, which opens a connection for each request
and closes it afterwards: a handshake a second for both sides, while a host measures.

Dask's messages can hold pickles, so a peer that it listens to has the rights of its process. Hosts
are listened to by the scheduler for what workers need only; workers listen to the controller alone.
"""

from __future__ import annotations

import ast
import asyncio
import concurrent.futures
import contextlib
import logging
import queue
import resource
import socket
import ssl
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import Future
from typing import Any, TypeVar

import dask
from distributed import Scheduler, Security, Worker
from distributed.comm.core import CommClosedError
from distributed.core import ConnectionPool, clean_exception, send_recv
from distributed.diagnostics.plugin import SchedulerPlugin
from distributed.protocol.pickle import dumps
from tornado.iostream import SSLIOStream

from spekctl import units
from spekctl.errors import HostLostError, SpekError, UsageError
from spekctl.fleet import wire
from spekctl.fleet.carrier import Happened
from spekctl.fleet.keys import HOST, Bundle, identity_of
from spekctl.fleet.plan import CONTROLLER, check_listen

TOPIC = "spek"
# For a side to start: TLS, and all that Dask imports, on a machine that is busy or emulated.
START_S = 120.0
# For a look at why a host cannot join.
LOOK_S = 5.0
# For the farewell of one side.
CLOSE_S = 10.0
# Seconds after which a worker that sends no heartbeat is taken for lost.
TTL_S = 10
# What a host may ask the scheduler for; all else is the controller's.
FOR_HOSTS = frozenset({"register-worker", "heartbeat_worker", "unregister", "identity", "ping"})
# What streams may carry: no task, of anybody. All else is not heard: Dask would end the connection,
# and with that lose the host.
STREAMED = frozenset({"keep-alive", "log-event", "worker-status-change"})
# Of a host's connections: two that it opens, one for questions, and those of its start over SSH.
# Questions that overlap have another one meanwhile.
FILES_PER_HOST = 6
OWN_FILES = 256

# No repetition, nothing restarted, little noise beside a measurement.
SETTINGS: dict[str, Any] = {
    "distributed.admin.event-loop": "tornado",
    "distributed.admin.system-monitor.disk": False,
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.admin.system-monitor.host-cpu": False,
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.tick.limit": "30s",
    "distributed.client.preload": [],
    "distributed.comm.compression": None,
    "distributed.comm.require-encryption": True,
    "distributed.comm.retry.count": 0,
    # Dask ends the first attempt after a fifth of it, and begins again: a handshake takes a second
    # or two on an emulated machine. Silent hosts are lost by TTL_S, and by the coordinator.
    "distributed.comm.timeouts.connect": "30s",
    # Dask refuses less than 11 s.
    "distributed.comm.timeouts.tcp": "12s",
    "distributed.deploy.lost-worker-timeout": f"{TTL_S}s",
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.scheduler.allowed-failures": 0,
    "distributed.scheduler.http.routes": [],
    "distributed.scheduler.no-workers-timeout": "30s",
    "distributed.scheduler.preload": [],
    "distributed.scheduler.work-stealing": False,
    "distributed.scheduler.worker-ttl": f"{TTL_S}s",
    "distributed.worker.http.routes": [],
    "distributed.worker.memory.monitor-interval": "10s",
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.terminate": False,
    "distributed.worker.preload": [],
    "distributed.worker.profile.enabled": False,
}

T = TypeVar("T")


class FleetSecurity(Security):  # type: ignore[misc]
    """The fleet's keys in place of Dask's own reading of files; no names are looked up."""

    def __init__(
        self, bundle: Bundle, server_roles: tuple[str, ...], peers: tuple[str, ...]
    ) -> None:
        """@server_roles: who may connect to this process; @peers: whom it connects to."""
        super().__init__(require_encryption=True)
        self._contexts = (bundle.context(True, server_roles), bundle.context(False, peers))

    def get_connection_args(self, role: str) -> dict[str, Any]:
        """Of connections that this process opens."""
        return {
            "ssl_context": self._contexts[1],
            "require_encryption": True,
            "extra_conn_args": {},
        }

    def get_listen_args(self, role: str) -> dict[str, Any]:
        """Of those that it accepts."""
        return {"ssl_context": self._contexts[0], "require_encryption": True}


class _Quiet:
    """A part of Dask that serves no web page, and so listens at its own address only."""

    def start_http_server(self, *arguments: Any, **more: Any) -> None:
        """None."""


def _get_ready() -> None:
    """To be called before a side listens. Tornado has a context for streams that are given none,
    with the authorities of the system, and makes it for the first connection that comes: nothing
    else is answered meanwhile, for seconds on a slow machine. Connections of a fleet do not use it.
    """
    with socket.socket() as unused:
        SSLIOStream(unused).close()


def _peer_of(comm: Any) -> Any:
    """Who is at the other end of a connection."""
    return identity_of(comm.extra_info.get("peercert"))


class _Heard(dict[str, Callable[..., Any]]):
    """What is done with what a stream carries: nothing with all that is not here."""

    def __missing__(self, op: str) -> Callable[..., Any]:
        return lambda **message: None


class _FleetScheduler(_Quiet, Scheduler):  # type: ignore[misc]
    """A scheduler that knows the hosts of a plan, and listens to a host for few things."""

    def __init__(self, hosts: frozenset[str], **more: Any) -> None:
        super().__init__(**more)
        self._fleet_hosts = hosts
        streams: dict[str, Any] = self.stream_handlers  # type: ignore[has-type]
        self.stream_handlers = _Heard({op: streams[op] for op in STREAMED & streams.keys()})
        for op, handler in list(self.handlers.items()):
            if op not in FOR_HOSTS:
                self.handlers[op] = _of_controller(op, handler)

    async def add_worker(self, comm: Any, *, name: str, **more: Any) -> None:
        """A host joins, under the name in its certificate."""
        peer = _peer_of(comm)
        refusal = ""
        if peer is None or peer.role != HOST:
            refusal = "the peer is no host of the fleet"
        elif name != peer.name:
            refusal = f"it calls itself {name}, and its certificate says {peer.name}"
        elif name not in self._fleet_hosts:
            refusal = f"{name} is not in the plan"
        if refusal:
            await comm.write({"status": "error", "message": refusal, "time": time.time()})
            return
        await super().add_worker(comm, name=name, **more)


def _of_controller(op: str, handler: Callable[..., Any]) -> Callable[..., Any]:
    """@handler for the controller alone."""
    from distributed.core import _expects_comm

    with_comm = _expects_comm(handler)

    async def checked(comm: Any, **message: Any) -> Any:
        peer = _peer_of(comm)
        if peer is None or peer.role != CONTROLLER:
            raise PermissionError(f"{op} is not for hosts")
        result = handler(comm, **message) if with_comm else handler(**message)
        return await result if isinstance(result, Awaitable) else result

    return checked


class _Membership(SchedulerPlugin):  # type: ignore[misc]
    """Tells of hosts that come and go, and passes on what they say."""

    name = "spek-membership"

    def __init__(self, owner: DaskEngine) -> None:
        self._owner = owner

    def add_worker(self, scheduler: Any, worker: str) -> None:
        self._owner.joined(scheduler.workers[worker].name, worker)

    def remove_worker(self, scheduler: Any, worker: str, **more: Any) -> None:
        self._owner.lose(worker)

    def log_event(self, topic: str, msg: Any) -> None:
        if topic == TOPIC:
            self._owner.heard(msg)


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
        self._host, self._port = check_listen(listen)
        self._names: dict[str, str] = {}  # by address
        self._lock = threading.Lock()
        self._happened: queue.SimpleQueue[Happened | None] = queue.SimpleQueue()
        self._security = FleetSecurity(bundle, (CONTROLLER, HOST), (CONTROLLER, HOST))
        self._expected = hosts
        _make_room(len(hosts))
        self._settings = dask.config.set(SETTINGS)
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        self._thread = _LoopThread()
        self._scheduler: Any = None
        self._pool: Any = None
        self._is_closed = False
        try:
            self._thread.submit(self._start()).result(START_S)
        except concurrent.futures.TimeoutError as error:
            self.close()
            raise SpekError(f"the scheduler has not started within {START_S:.0f} s") from error
        except (OSError, ValueError, RuntimeError) as error:
            self.close()
            raise UsageError(f"cannot listen at {listen}: {_reason_of(error)}") from error
        except BaseException:
            self.close()
            raise

    @property
    def address(self) -> str:
        """Where hosts join."""
        return str(self._scheduler.address)

    def hosts(self) -> Mapping[str, str]:
        """Hosts that have joined, and the addresses that they have."""
        with self._lock:
            return {
                name: address.rpartition(":")[0].removeprefix("tls://").strip("[]")
                for address, name in self._names.items()
            }

    def call(self, host: str, verb: str, payload: bytes) -> Future[bytes]:
        """Ask a host, once."""
        return self._thread.submit(self._call(host, verb, payload))

    def next(self, timeout_s: float) -> Happened | None:
        """What has happened."""
        try:
            return self._happened.get(timeout=timeout_s) if timeout_s else self._happened.get(False)
        except queue.Empty:
            return None

    def close(self) -> None:
        """Hosts that are there lose their controller, and end. A second call does nothing."""
        if self._is_closed:
            return
        self._is_closed = True
        with contextlib.suppress(concurrent.futures.TimeoutError, OSError, CommClosedError):
            self._thread.submit(self._end()).result(START_S)
        self._thread.close()
        self._settings.__exit__(None, None, None)

    def joined(self, name: str, address: str) -> None:
        """In the loop's thread."""
        with self._lock:
            self._names[address] = name

    def lose(self, address: str) -> None:
        """In the loop's thread."""
        with self._lock:
            name = self._names.pop(address, None)
        if name is not None:
            # Questions that it has not answered end with it.
            self._pool.remove(address, reason="it is lost")
            self._happened.put(Happened(name, lost="its connection has ended, or it is silent"))

    def heard(self, message: Any) -> None:
        """In the loop's thread: what a host says, in its own name."""
        try:
            address, data = message["worker"], message["data"]
            event = wire.event_of(data)
        except (KeyError, TypeError):
            return
        with self._lock:
            name = self._names.get(address)
        if name is not None and event is not None:
            self._happened.put(Happened(name, event))

    async def _start(self) -> None:
        _get_ready()
        self._scheduler = await _FleetScheduler(
            self._expected,
            host=self._host,
            port=self._port,
            protocol="tls",
            security=self._security,
            dashboard=False,
            dashboard_address=None,
        )
        self._scheduler.add_plugin(_Membership(self))
        self._pool = await ConnectionPool(
            limit=len(self._expected) * FILES_PER_HOST,
            connection_args=self._security.get_connection_args("scheduler"),
        )

    async def _end(self) -> None:
        # Dask may stumble over connections of hosts that hang; they are closed all the same.
        for part in (self._pool, self._scheduler):
            if part is not None:
                with contextlib.suppress(Exception):
                    await asyncio.wait_for(part.close(), CLOSE_S)

    async def _call(self, host: str, verb: str, payload: bytes) -> bytes:
        with self._lock:
            addresses = [address for address, name in self._names.items() if name == host]
        if not addresses:
            raise HostLostError("it is lost")
        value = await self._ask(addresses[0], verb, payload)
        if isinstance(value, OSError) and verb in _HARMLESS:
            # A connection that was kept may have ended meanwhile; the next one is new.
            value = await self._ask(addresses[0], verb, payload)
        if isinstance(value, bytes):
            return value
        raise HostLostError(f"it cannot be reached: {value}")

    async def _ask(self, address: str, verb: str, payload: bytes) -> Any:
        """What it answers, or the error."""
        try:
            # A host that is gone is lost after TTL_S, and this ends with it.
            comm = await self._pool.connect(address, timeout=START_S)
            try:
                said = await send_recv(
                    comm, op="run", function=_ANSWER, args=dumps((verb, payload))
                )
            finally:
                self._pool.reuse(address, comm)
        except Exception as error:
            return error
        if said["status"] == "OK":
            return said["result"]
        _, failure, _ = clean_exception(**said)
        return failure


def _make_room(hosts: int) -> None:
    """Allow this process as many open files as so many hosts need; UsageError if it may not."""
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


# Change nothing on a host: asked twice is asked once.
_HARMLESS = frozenset({wire.Verb.PING.value, wire.Verb.DESCRIBE.value})

# The member of this process, if it is a host; functions that the controller names find it here.
_answer: Callable[[str, bytes], bytes] | None = None


async def answer(verb: str, payload: bytes) -> bytes:
    """In a worker: what the controller asks for, in a thread, so that heartbeats continue."""
    if _answer is None:
        raise RuntimeError("this process is no host of a fleet")
    return await asyncio.to_thread(_answer, verb, payload)


# As it travels: by its name.
_ANSWER = dumps(answer)


class _FleetWorker(_Quiet, Worker):  # type: ignore[misc]
    """A worker of a host."""


def _own_address(controller: str) -> str:
    """The address by which this host reaches the controller."""
    place = check_listen(controller)
    try:
        (family, kind, _, _, where), *_ = socket.getaddrinfo(*place, type=socket.SOCK_DGRAM)
        with socket.socket(family, kind) as probe:
            # Nothing is sent: the kernel chooses a route.
            probe.connect(where)
            return str(probe.getsockname()[0])
    except OSError as error:
        raise UsageError(f"cannot find {controller}: {error.strerror}") from error


class DaskHost:
    """A host's side: joins the controller at @address, and answers until that is gone."""

    def __init__(
        self,
        address: str,
        bundle: Bundle,
        respond: Callable[[str, bytes], bytes],
        listen: str = "",
        patience_s: float = START_S,
        leave: Callable[[], None] = lambda: None,
    ) -> None:
        """@leave: called when serving ends, to end what @respond still does: its threads are waited
        for. @listen: ADDRESS:PORT at which the controller reaches this host; empty: a free port of
        the address by which this host reaches the controller."""
        global _answer
        if bundle.own.role != HOST:
            raise UsageError(f"{bundle.folder} has the keys of the controller, not of a host")
        check_listen(address, "address of a controller")
        if listen:
            check_listen(f"tls://{listen}")
        _answer = respond
        self._address = address
        self._name = bundle.own.name
        self._listen = listen
        self._patience_s = patience_s
        self._leave = leave
        self._security = FleetSecurity(bundle, (CONTROLLER,), (CONTROLLER,))
        self._settings = dask.config.set(SETTINGS)
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._worker: Any = None
        self._ending: asyncio.Event | None = None

    def serve(self, is_over: Callable[[], bool]) -> None:
        """Until the controller is gone, or @is_over says so."""
        asyncio.run(self._serve(is_over))

    def emit(self, data: bytes) -> None:
        """Say something to the controller, from any thread; what it does not hear is lost."""
        if self._loop is not None and self._worker is not None:
            message = {"worker": self._worker.address, "data": data}
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._say, message)

    def _say(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(Exception):
            self._worker.log_event(TOPIC, message)

    async def _serve(self, is_over: Callable[[], bool]) -> None:
        self._loop = asyncio.get_running_loop()
        _get_ready()
        host, _, port = (self._listen or f"{_own_address(self._address)}:0").rpartition(":")
        with tempfile.TemporaryDirectory(prefix="spek-fleet-") as folder:
            self._worker = _FleetWorker(
                self._address,
                name=self._name,
                nthreads=1,
                security=self._security,
                protocol="tls",
                host=host.strip("[]"),
                port=int(port),
                dashboard=False,
                memory_limit=0,
                death_timeout=self._patience_s,
                local_directory=folder,
            )
            try:
                await asyncio.wait_for(self._worker, self._patience_s)
            except (TimeoutError, OSError, ValueError, RuntimeError) as error:
                await self._close()
                late = isinstance(error, TimeoutError)
                reason = await asyncio.to_thread(self._trouble) if late else _refusal_of(error)
                raise HostLostError(f"cannot join {self._address}: {reason}") from error
            try:
                while self._worker.status.name not in ("closing", "closed", "failed"):
                    if is_over():
                        return
                    await asyncio.sleep(0.2)
            finally:
                self._leave()
                await self._close()

    def _trouble(self) -> str:
        """Why there is no connection, of which Dask says only that it took too long."""
        context = self._security.get_connection_args("worker")["ssl_context"]
        try:
            with socket.create_connection(check_listen(self._address), LOOK_S) as plain:
                try:
                    with context.wrap_socket(plain) as tls:
                        # In TLS 1.3 the controller's refusal comes after this side's handshake.
                        accepted = bool(tls.recv(1))
                except ssl.SSLCertVerificationError as error:
                    return f"it is not the controller of this fleet: {_what_is_wrong(error)}"
                except (ssl.SSLError, ConnectionError):
                    accepted = False
        except OSError as error:
            return error.strerror or "it does not answer"
        if accepted:
            return f"it has not let this host join within {self._patience_s:.0f} s"
        return "it refuses this host's certificate, which is of another fleet, expired or revoked"

    async def _close(self) -> None:
        with contextlib.suppress(Exception):
            await asyncio.wait_for(self._worker.close(nanny=False), CLOSE_S)


def _refusal_of(error: BaseException) -> str:
    """Why the controller does not let a host join, in its words; Dask adds how it came."""
    text = _reason_of(error)
    _, is_answer, answer = text.partition("Unexpected response from register: ")
    if is_answer:
        with contextlib.suppress(ValueError, SyntaxError, KeyError, TypeError):
            return str(ast.literal_eval(answer)["message"])
    return text


def _what_is_wrong(error: ssl.SSLCertVerificationError) -> str:
    """With a certificate."""
    return getattr(error, "verify_message", "") or str(error.args[-1])
