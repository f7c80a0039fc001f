# SPDX-License-Identifier: GPL-2.0
"""The host helper before the real module: a run by messages, and free devices after its end."""

from __future__ import annotations

import itertools
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import pytest
from lib.ctl.host_peer import Peer

from spekctl.documents.result import Result
from spekctl.errors import ExitCode
from spekctl.host import protocol, serve
from spekctl.kernel import client

pytestmark = pytest.mark.any_kernel
SOON_S = 60.0


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
    assert peer.until("hello")["protocol"] == protocol.PROTOCOL
    found = {one["path"]: one for one in peer.ask("devices")["answer"]}
    assert found[node]["state"] == "reading and writing"
    refused = peer.ask("start", job={**job(node, "1s"), "workload": "random-write-4k"})["error"]
    assert refused["code"] == ExitCode.REFUSED and "--write" in refused["text"]

    assert peer.ask("start", job=job(node, "1200ms"))["answer"]["name"] == "random-read-4k"
    ended = peer.until("ended")
    assert ended["code"] == ExitCode.OK, ended["text"]
    result = msgspec.convert(ended["result"], Result)
    rows = [row for one in peer.events if one["event"] == "rows" for row in one["rows"]]
    measured = [row for row in rows if row["phase"] == "measure"]
    assert len(rows) == len(result.intervals) and len(measured) == 3
    assert sum(row["read"]["ios"] for row in measured) == result.totals.all.ios > 0
    # The last interval is a remainder of 200 ms, and its rate is one per second all the same.
    for before, row in itertools.pairwise(measured):
        length_s = row["at_s"] - before["at_s"]
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


@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_host_leaves_nothing(
    spek_module: Path, null_blk: Callable[..., str], signum: int
) -> None:
    node = null_blk(size_mb=64)
    down, requests = os.pipe()
    answers, up = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.dup2(down, 0)
            os.dup2(up, 1)
            os.closerange(3, 256)
            sys.stdin = os.fdopen(0, "r")
            os._exit(serve.main())
        finally:
            os._exit(99)
    os.close(down)
    os.close(up)
    with os.fdopen(answers, "rb") as lines, os.fdopen(requests, "wb", buffering=0) as asked:
        asked.write(protocol.line({"do": "start", "id": 1, "job": job(node, "1h")}))
        wait_for_rows(lines)
        assert not is_free(node)
        os.kill(pid, signum)
        drain = threading.Thread(target=lines.read)
        drain.start()
        status = os.waitpid(pid, 0)[1]
        drain.join(SOON_S)
    code = os.waitstatus_to_exitcode(status)
    assert code == (-signum if signum == signal.SIGKILL else ExitCode.TERMINATED)
    assert soon_free(node)


def wait_for_rows(lines: BinaryIO) -> None:
    for line in lines:
        if b'"event":"rows"' in line:
            return
    raise AssertionError("the host ended")
