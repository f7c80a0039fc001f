# SPDX-License-Identifier: GPL-2.0
"""The fleet as processes: a scheduler, hosts over TLS, and every way in which one of them ends.

No time is asserted; what is waited for has a minute.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import resource
import signal
import socket
import ssl
import threading
from pathlib import Path

import pytest
from distributed.comm.core import CommClosedError
from lib.fakes.fleet_rig import PATIENCE, SOON_S, Fleet, listening
from lib.waiting import eventually
from tornado import netutil

from spekctl.errors import ExitCode, HostLostError, SpekError, UsageError
from spekctl.fleet import engine, keys
from spekctl.fleet.engine import DaskEngine, DaskHost

# 127.0.0.1, as /proc/net/tcp has it.
LOOPBACK = "0100007F"


def port_of(fleet: Fleet) -> tuple[str, int]:
    host, port = fleet.engine.address.removeprefix("tls://").rsplit(":", 1)
    return host, int(port)


def test_a_whole_run(tmp_path: Path) -> None:
    names = ["a", "b", "c"]
    with Fleet(tmp_path, names) as fleet:
        for name in names:
            fleet.join(fleet.engine.address, name)
        fleet.start()
        fleet.wait_running()
        # Nothing listens where it was not asked to.
        for pid in (os.getpid(), *(process.pid for process in fleet.hosts.values())):
            assert listening(pid) <= {LOOPBACK}
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


def test_hosts_stay_whatever_their_workers_say_meanwhile(tmp_path: Path) -> None:
    """A sign of life of each minute, by which runs that took longer lost their hosts."""
    with Fleet(tmp_path, ["a"]) as fleet:
        streams = fleet.engine._scheduler.stream_handlers
        alive = threading.Event()
        assert "keep-alive" in streams
        streams["keep-alive"] = lambda **message: alive.set()
        fleet.join(fleet.engine.address, "a", hurries=True)
        fleet.start()
        fleet.wait_running()
        assert alive.wait(SOON_S), "Dask says nothing that this test is about"
        assert fleet.outcome().text == "1 host completed the run"


def test_what_streams_must_not_carry_is_not_heard(tmp_path: Path) -> None:
    with Fleet(tmp_path, ["a"]) as fleet:
        streams = fleet.engine._scheduler.stream_handlers
        for op in ("update-graph", "task-finished", "restart", "what no Dask knows"):
            assert op not in streams
            assert streams[op](anything=1) is None


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


def test_a_killed_host_is_named_and_the_others_stop(tmp_path: Path) -> None:
    with Fleet(tmp_path, ["a", "b", "c"], time="1h") as fleet:
        for name in fleet.names:
            fleet.join(fleet.engine.address, name)
        fleet.start()
        fleet.wait_running()
        fleet.hosts["b"].kill()
        outcome = fleet.outcome()
        assert outcome.code is ExitCode.HOST_LOST
        assert [loss.host for loss in outcome.losses] == ["b"]
        reasons = {
            part.name: json.loads(bytes(part.collected.document))["outcome"]["reason"]
            for part in outcome.parts
            if part.collected is not None
        }
        assert reasons == {"a": "stopped", "c": "stopped"}
        fleet.check_free("b")
        fleet.engine.close()
        for name in ("a", "c"):
            fleet.check_free(name)


def test_a_host_that_hangs_is_lost_and_ends_once_it_goes_on(tmp_path: Path) -> None:
    patience = dataclasses.replace(PATIENCE, silent_s=3.0)
    with Fleet(tmp_path, ["a", "b"], 'on_loss = "continue"', "80s", patience) as fleet:
        for name in fleet.names:
            fleet.join(fleet.engine.address, name)
        fleet.start()
        fleet.wait_running()
        fleet.hosts["b"].send_signal(signal.SIGSTOP)
        outcome = fleet.outcome()
        assert [loss.host for loss in outcome.losses] == ["b"]
        (whole,) = [part.collected for part in outcome.parts if part.collected is not None]
        assert json.loads(bytes(whole.document))["outcome"]["reason"] == "completed"
        fleet.engine.close()
        fleet.hosts["b"].send_signal(signal.SIGCONT)
        fleet.ended("b")
        fleet.check_free("b")


def test_a_killed_helper_ends_the_run(tmp_path: Path) -> None:
    with Fleet(tmp_path, ["a"], time="1h") as fleet:
        fleet.join(fleet.engine.address, "a")
        fleet.start()
        fleet.wait_running()
        os.kill(fleet.helper("a"), signal.SIGKILL)
        outcome = fleet.outcome()
        assert outcome.code != ExitCode.OK
        assert any("a" in text and "the host ended" in text for text in fleet.view.notes)


def test_hosts_that_cannot_take_part_are_refused_before_any_claim(tmp_path: Path) -> None:
    with Fleet(tmp_path, ["a", "b", "c"]) as fleet:
        fleet.join(fleet.engine.address, "a")
        fleet.join(fleet.engine.address, "b", version="0.0.9")
        fleet.join(fleet.engine.address, "c", in_use="mounted on /srv")
        fleet.start()
        with pytest.raises(SpekError) as refusal:
            fleet.outcome()
        assert "b: it has spekctl 0.0.9" in refusal.value.message
        assert "c: /dev/fake0 is in use: mounted on /srv" in refusal.value.message
        fleet.engine.close()
        for name in fleet.names:
            fleet.ended(name)
            fleet.check_free(name)


def test_a_device_in_use_on_one_host_is_claimed_on_none(tmp_path: Path) -> None:
    with Fleet(tmp_path, ["a", "b"]) as fleet:
        fleet.join(fleet.engine.address, "a")
        fleet.join(fleet.engine.address, "b", refuse="run-new")
        fleet.start()
        with pytest.raises(SpekError, match=r"^b: The device is in use\.$") as refusal:
            fleet.outcome()
        assert refusal.value.exit_code is ExitCode.REFUSED


def test_who_is_not_of_the_fleet_does_not_get_in(tmp_path: Path) -> None:
    with Fleet(tmp_path, ["a"]) as fleet:
        keys.make(tmp_path / "theirs", ["a"], 30)
        stranger = ssl.create_default_context(cafile=str(fleet.keys / "a/ca.pem"))
        stranger.check_hostname = False
        with (
            socket.create_connection(port_of(fleet), SOON_S) as plain,
            pytest.raises(OSError, match=r"."),
            stranger.wrap_socket(plain) as tls,
        ):
            # In TLS 1.3 the refusal comes after the client's side of the handshake.
            tls.recv(1)
            raise ConnectionError("it closed the connection")
        fleet.join(fleet.engine.address, "a", str(tmp_path / "theirs/a"), patience_s=3.0)
        assert fleet.ended("a") == ExitCode.HOST_LOST
        assert "it is not the controller of this fleet: " in fleet.said("a")
        assert not fleet.engine.hosts()


def test_a_revoked_host_is_told_that_it_is_refused(tmp_path: Path) -> None:
    serials = keys.make(tmp_path / "made", ["a"], 30)
    revoked = keys.load(tmp_path / "made/controller")
    revoked = dataclasses.replace(revoked, revoked=frozenset({serials["a"]}))
    fleet = DaskEngine("tls://127.0.0.1:0", revoked, frozenset({"a"}))
    try:
        host = DaskHost(
            fleet.address, keys.load(tmp_path / "made/a"), lambda verb, payload: b"", patience_s=3.0
        )
        with pytest.raises(HostLostError, match="it refuses this host's certificate, which is of"):
            host.serve(lambda: False)
        assert not fleet.hosts()
    finally:
        fleet.close()


def test_a_host_says_that_there_is_no_controller(tmp_path: Path) -> None:
    keys.make(tmp_path / "keys", ["a"], 30)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"tls://127.0.0.1:{unused.getsockname()[1]}"
        bundle = keys.load(tmp_path / "keys/a")
        host = DaskHost(address, bundle, lambda verb, payload: b"", patience_s=1.0)
        with pytest.raises(HostLostError, match=f"^cannot join {address}: Connection refused$"):
            host.serve(lambda: False)


def test_a_host_that_is_not_in_the_plan_does_not_join(tmp_path: Path) -> None:
    with Fleet(tmp_path, ["a", "b"]) as fleet:
        fleet.engine._scheduler._fleet_hosts = frozenset({"a"})
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


def test_a_host_has_no_say_over_others(tmp_path: Path) -> None:
    """What would run a function of its choice on another host is not for it."""
    import asyncio

    from distributed import Client
    from distributed.core import rpc

    from spekctl.fleet.engine import FleetSecurity

    with Fleet(tmp_path, ["a"]) as fleet:
        bundle = keys.load(fleet.keys / "a")
        security = FleetSecurity(bundle, ("controller",), ("controller",))

        async def ask(op: str) -> object:
            async with rpc(
                fleet.engine.address, connection_args=security.get_connection_args("client")
            ) as scheduler:
                return await getattr(scheduler, op)()

        for op in ("broadcast", "gather", "run_function", "register-client", "restart"):
            with pytest.raises((PermissionError, OSError)):
                asyncio.run(ask(op))
        assert asyncio.run(ask("identity"))
        with pytest.raises((OSError, PermissionError, TimeoutError)):
            Client(fleet.engine.address, security=security, timeout=3).close()


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
        UsageError, match=r"^'tls://a:99999' is no address of a controller; .* 65535"
    ):
        DaskHost("tls://a:99999", host, lambda verb, payload: b"")


class FlakyPool:
    """Its first connection has ended."""

    def __init__(self) -> None:
        self.asked = 0

    async def connect(self, address: str, timeout: float) -> FlakyPool:
        return self

    def reuse(self, address: str, comm: FlakyPool) -> None:
        pass


@pytest.mark.parametrize(("verb", "asked"), [("ping", 2), ("describe", 2), ("claim", 1)])
def test_only_what_changes_nothing_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, verb: str, asked: int
) -> None:
    fleet, pool = DaskEngine.__new__(DaskEngine), FlakyPool()

    async def send_recv(comm: FlakyPool, **message: object) -> dict[str, object]:
        comm.asked += 1
        if comm.asked == 1:
            raise CommClosedError("Stream is closed")
        return {"status": "OK", "result": b"42"}

    monkeypatch.setattr(engine, "send_recv", send_recv)
    fleet._lock, fleet._names = threading.Lock(), {"tls://10.0.0.2:1": "a"}
    fleet._pool = pool
    if asked == 2:
        assert asyncio.run(fleet._call("a", verb, b"null")) == b"42"
    else:
        with pytest.raises(HostLostError, match="Stream is closed"):
            asyncio.run(fleet._call("a", verb, b"null"))
    assert pool.asked == asked


def test_questions_go_by_one_connection(tmp_path: Path) -> None:
    """A handshake for each would cost more than all else that a host does in a run."""
    with Fleet(tmp_path, ["a"]) as fleet:
        fleet.join(fleet.engine.address, "a")
        eventually(fleet.engine.hosts, "a does not join", SOON_S)
        for _ in range(5):
            fleet.engine.call("a", "ping", b"null").result(SOON_S)
        assert len(fleet.engine._pool._created) == fleet.engine._pool.open == 1


@pytest.mark.parametrize(
    ("soft", "hard", "wanted"),
    [
        (1024, 1 << 20, 6256),
        (1024, resource.RLIM_INFINITY, 6256),
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
        UsageError, match=r"^1000 hosts may need 6,256 open files, .* is allowed 4,096; raise"
    ):
        engine._make_room(1000)
