# SPDX-License-Identifier: GPL-2.0
"""The host helper before the real module: a run by messages, and free devices after its end."""

from __future__ import annotations

import ast
import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lib.build.sources import ROOT
from lib.ctl.host_peer import Peer
from lib.guest.disks import emulated

from spekctl.documents.result import Result
from spekctl.errors import ExitCode
from spekctl.host import wire
from spekctl.host.client import Helper, HostError
from spekctl.host.protocol import AnyEvent, Ended, Log, Rows
from spekctl.host.remote import Remote
from spekctl.kernel import client, link
from spekctl.kernel.netlink import NetlinkSocket
from spekctl.power import asleep

pytestmark = pytest.mark.any_kernel
SOON_S = 300.0  # two programs import their libraries


def job(node: str, time: str) -> dict[str, Any]:
    options = {"time": time, "interval": "500ms", "depth": "4"}
    return {"workload": "random-read-4k", "devices": [node], "options": options}


def is_free(node: str) -> bool:
    """Whether the device can be claimed, and the kernel has no run."""
    kernel = client.connect()
    try:
        left = kernel.runs()
    finally:
        kernel.close()
    try:
        os.close(os.open(node, os.O_RDONLY | os.O_EXCL))
    except OSError:
        return False
    return not left


def soon_free(node: str) -> bool:
    deadline = time.monotonic() + SOON_S
    while time.monotonic() < deadline:
        if is_free(node):
            return True
        time.sleep(0.1)
    return False


def test_a_run_by_messages(spek_module: Path, null_blk: Callable[..., str]) -> None:
    node = null_blk(size_mb=64)
    peer = Peer()
    assert peer.until("hello")["protocol"] == wire.PROTOCOL
    listed = {entry["path"]: entry for entry in peer.ask("devices")["answer"]}
    assert listed[node]["state"] == "reading and writing"
    refused = peer.ask("start", job={**job(node, "1s"), "workload": "random-write-4k"})["error"]
    assert refused["code"] == ExitCode.REFUSED and "--write" in refused["text"]

    assert peer.ask("start", job=job(node, "1200ms"))["answer"]["name"] == "random-read-4k"
    ended = peer.until("ended")
    assert ended["code"] == ExitCode.OK, ended["text"]
    result = msgspec.convert(ended["result"], Result)
    rows = [row for event in peer.events if event["event"] == "rows" for row in event["rows"]]
    # As many as there are: the kernel has none of an interval in which the worker got no CPU.
    measured = [
        (row, interval)
        for row, interval in zip(rows, result.intervals, strict=True)
        if row["phase"] == "measure"
    ]
    assert len(measured) <= 3
    assert sum(row["read"]["ios"] for row, _ in measured) == result.totals.all.ios > 0
    # The last interval is a remainder of 200 ms, and its rate is one per second all the same.
    for row, interval in measured:
        length_s = (interval.end_ns - interval.start_ns) / 1e9
        assert row["read"]["iops"] == pytest.approx(row["read"]["ios"] / length_s, rel=1e-6)
    assert is_free(node)

    assert peer.ask("start", job=job(node, "1h"))["answer"]
    peer.events.clear()
    peer.until("rows")
    assert not is_free(node)
    run = peer.ask("status")["answer"]["runs"][0]["id"]
    assert f'spek_run_active{{run="{run}"}} 1' in peer.ask("metrics")["answer"]
    peer.hang_up()
    assert peer.until("ended")["code"] == ExitCode.INTERRUPTED
    peer.thread.join(SOON_S)
    assert not peer.thread.is_alive() and is_free(node)


# What a host is started with, and what reports the paths that it opens once it serves.
HOST = """
import sys
from spekctl.host import root
{hook}
sys.exit(root.main())
"""
HOOK = """
report = open({report!r}, "a", buffering=1)
def note(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        report.write(repr(arguments[0]) + "\\n")
sys.addaudithook(note)
"""
# An agent that keeps the user, which could read no Python in root's home, but has no capability.
AGENT = """
import sys
from spekctl.host import agent, client, privilege
from spekctl.run import rounds
privilege.drop = lambda user: None
client.PATIENCE_S = rounds.PATIENCE_S = {patience}
{hook}
sys.exit(agent.main(sys.argv[1:]))
"""
WITHOUT_RIGHTS = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all"]


def host_words(hook: str = "") -> list[str]:
    return [sys.executable, "-P", "-c", HOST.format(hook=hook)]


def opened_by(report: Path) -> set[str]:
    return {str(ast.literal_eval(line)) for line in report.read_text().splitlines()}


@contextlib.contextmanager
def bridged_host(folder: Path, hook: str) -> Iterator[list[str]]:
    """A command by which a process without rights reaches a host that has them."""
    requests, told = folder / "requests", folder / "told"
    os.mkfifo(requests)
    os.mkfifo(told)
    line = f"exec {shlex.join(host_words(hook))} <{requests} >{told}"
    with subprocess.Popen(["sh", "-c", line]) as process:
        try:
            yield ["sh", "-c", f"cat {told} & exec cat >{requests}"]
            assert process.wait(SOON_S) == 0
        finally:
            # Where nobody came, it still waits for the other ends.
            process.kill()


class Caller:
    """A program that gives jobs to an agent."""

    def __init__(self, words: list[str]) -> None:
        self.events: list[AnyEvent] = []
        self.parts: list[bytes] = []
        self.ended = threading.Event()
        self.helper: Helper[AnyEvent] = Helper(words, self._take, lambda reason: self.ended.set())
        self.helper.wait_ready(SOON_S)

    def _take(self, event: AnyEvent) -> None:
        self.events.append(event)
        if isinstance(event, Log):
            self.parts.append(event.data)
        if isinstance(event, Ended):
            self.ended.set()


def test_jobs_are_carried_out_without_rights(
    spek_module: Path, prober_module: Path, null_blk: Callable[..., str], tmp_path: Path
) -> None:
    """The host has opened devices, the kernel's files, its own library, and the notes that
    `spekctl power set` leaves of disks asleep; the agent no device."""
    node = null_blk(size_mb=64, memory_backed=1)
    by_host, by_agent = tmp_path / "host", tmp_path / "agent"
    with bridged_host(tmp_path, HOOK.format(report=str(by_host))) as words:
        agent = AGENT.format(hook=HOOK.format(report=str(by_agent)), patience=SOON_S)
        caller = Caller([*WITHOUT_RIGHTS, sys.executable, "-P", "-c", agent, *words])
        helper = caller.helper
        rights = Path(f"/proc/{helper.pid}/status").read_text()
        assert re.search(r"^CapEff:\s*0+$", rights, re.MULTILINE)
        listed = {entry["path"]: entry for entry in helper.ask("devices", list[dict[str, Any]])}
        assert listed[node]["state"] == "reading and writing"
        wish = {**job(node, "1200ms"), "workload": "random-write-4k"}
        with pytest.raises(HostError, match="give --write"):
            helper.ask("start", job=wish)
        wish["options"] = {**wish["options"], "write": True, "log": "run.parquet"}
        helper.ask("start", job=wish)
        assert caller.ended.wait(SOON_S)
        ended = caller.events[-1]
        assert isinstance(ended, Ended) and ended.code == ExitCode.OK, ended
        result = msgspec.json.decode(ended.result, type=Result)
        assert result.totals.write.ios > 0 and result.prober is not None
        assert result.log is not None and result.log.complete and result.log.text == ""
        assert result.log.bytes == sum(map(len, caller.parts)) > 0
        rows = [row for event in caller.events if isinstance(event, Rows) for row in event.rows]
        assert len(rows) == len(result.intervals) > 0
        assert is_free(node)
        assert helper.ask("metrics", str, openmetrics=True).endswith("# EOF\n")
        # What is read back is held by a claim, which the host looks at.
        caller.ended.clear()
        options = {**job(node, "1200ms")["options"], "write": True, "verify": True}
        helper.ask("start", job={**wish, "options": options})
        assert caller.ended.wait(SOON_S)
        ended = caller.events[-1]
        assert isinstance(ended, Ended) and ended.code == ExitCode.OK, ended
        result = msgspec.json.decode(ended.result, type=Result)
        assert result.verify is not None and result.verify.complete
        assert is_free(node)
        # Data is found by the host, under its claim, and named by the disk.
        subprocess.run(["mkfs.ext4", "-q", node], check=True)
        caller.ended.clear()
        helper.ask("start", job=wish)
        assert caller.ended.wait(SOON_S)
        ended = caller.events[-1]
        assert isinstance(ended, Ended) and ended.code == ExitCode.REFUSED
        assert (
            f"{node} holds data: file system ext4" in ended.text and "give --destroy" in ended.text
        )
        assert is_free(node)
        # The controller of an NVMe drive is asked by the host.
        caller.ended.clear()
        helper.ask("start", job=job(emulated("nvme", 512), "1200ms"))
        assert caller.ended.wait(SOON_S)
        ended = caller.events[-1]
        assert isinstance(ended, Ended) and ended.code == ExitCode.OK, ended
        (drive,) = msgspec.json.decode(ended.result, type=Result).nvme or []
        assert drive.text == "" and drive.before is not None and drive.after is not None
        assert drive.after.host_reads > drive.before.host_reads
        helper.close()
    libraries = {sys.prefix, sys.base_prefix, str(ROOT), "/usr/lib", "/lib"}
    allowed = ("/dev/", "/sys/", "/proc/", "/run/udev/data/", f"{asleep.FOLDER}/", *libraries)
    opened = opened_by(by_host)
    assert {node, drive.controller} <= opened and any("/worker0" in path for path in opened)
    assert sorted(path for path in opened if not path.startswith(allowed)) == []
    assert not [path for path in opened if path.endswith((".toml", ".parquet"))]
    assert not [path for path in opened_by(by_agent) if path.startswith("/dev/")]


@pytest.fixture
def remote(monkeypatch: pytest.MonkeyPatch) -> Iterator[Remote]:
    """A host that this process reaches the kernel through."""
    monkeypatch.setattr(link, "_open_socket", link._open_socket)
    lender = Remote(host_words())
    lender.helper.wait_ready(SOON_S)
    yield lender
    lender.close()


def started(remote: Remote, node: str) -> Peer:
    link.reach_by(remote.open_socket)
    peer = Peer(rights=remote)
    assert peer.ask("start", job=job(node, "1h"))["answer"]
    peer.until("rows")
    link.reach_by(lambda family: NetlinkSocket())
    assert not is_free(node)
    return peer


@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_host_leaves_nothing(
    spek_module: Path, null_blk: Callable[..., str], remote: Remote, signum: int
) -> None:
    node = null_blk(size_mb=64)
    peer = started(remote, node)
    os.kill(remote.helper.pid, signum)
    assert peer.until("ended")["code"] != ExitCode.OK
    peer.hang_up()
    assert soon_free(node)


def test_a_host_whose_peer_is_gone_ends_its_runs(
    spek_module: Path, null_blk: Callable[..., str], remote: Remote
) -> None:
    node = null_blk(size_mb=64)
    peer = started(remote, node)
    remote.close()
    assert is_free(node)
    peer.hang_up()


def test_a_host_stops_what_it_is_told_to(
    spek_module: Path, null_blk: Callable[..., str], remote: Remote
) -> None:
    node = null_blk(size_mb=64)
    peer = started(remote, node)
    assert remote.helper.ask("stop") is None
    assert peer.until("ended")["result"]["outcome"]["state"] == "done"
    assert is_free(node)
    peer.hang_up()
