# SPDX-License-Identifier: GPL-2.0
"""What spek-daq does with a batch that does not reach the prober."""

from __future__ import annotations

import errno
import socket
import struct
import subprocess
from pathlib import Path

import pytest
from lib.daq.build import DAQ, INCLUDES, SANITIZE
from lib.waiting import LONG_S

SOURCES = (
    "sender",
    "feeder",
    "privilege",
    "push",
    "queue",
    "pace",
    "say",
    "error",
    "meter",
    "calibrate",
    "number",
)


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("sender") / "driver"
    packages = ["pkg-config", "--cflags", "--libs", "libnl-genl-3.0", "libcap-ng"]
    libnl = subprocess.run(packages, capture_output=True, text=True, check=True).stdout.split()
    sources = [
        Path(__file__).with_name("sender_driver.c"),
        *(DAQ / f"{source}.c" for source in SOURCES),
    ]
    options = [*SANITIZE, "-D_GNU_SOURCE", *INCLUDES, "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["gcc", *options, "-o", program, *sources, *libnl, "-lm"], check=True)
    return program


@pytest.mark.parametrize(
    "fault",
    [
        "unsent",  # no buffer for the request
        "nomem",  # the prober has no memory for its answer, so it has stored nothing
        "unread",  # no memory to read the answer, which still comes first
    ],
)
def test_a_batch_that_memory_is_short_for_is_sent_again(driver: Path, fault: str) -> None:
    done = subprocess.run([driver, fault], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        f"push {fault}",
        "push ok",
        "connected, 0 queued, no gap",
    ]


def test_the_answer_to_a_batch_is_not_taken_for_that_to_the_next(driver: Path) -> None:
    done = subprocess.run([driver, "unread", "gone"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["push unread", "push gone", "lost, 1 queued, no gap"]


def test_a_batch_for_a_feed_that_is_gone_stays_queued(driver: Path) -> None:
    done = subprocess.run([driver, "gone"], capture_output=True, text=True, check=True)
    assert "queueing samples until the prober is back" in done.stderr
    assert done.stdout.splitlines() == ["push gone", "lost, 1 queued, no gap"]


OPEN, SAMPLES, MARK, CLOSE, ABANDON = range(1, 6)
SAMPLE = struct.pack("QqII", 1, 1, 0, 0)
STATUS = bytes(56)
# Two names of 32 bytes, history and number of rails, two times, 64 rails of a name and a number.
NAMES, RAILS, RAIL, MAX_BATCH = 64, 64, 40, 2048


def head(verb: int, samples: int = 0) -> bytes:
    return struct.pack("II", verb, samples)


def config(rails: int = 0, name: bytes = b"x", rail: bytes = b"a") -> bytes:
    numbers = struct.pack("IIQQ", 0, rails, 0, 0)
    names = name.ljust(32, b"\0") + b"sim".ljust(32, b"\0")
    return names + numbers + rail.ljust(RAIL, b"\0") + bytes(RAIL * (RAILS - 1))


def serve(driver: Path, *requests: bytes) -> tuple[list[int], int]:
    """errno of each reply, and the exit code of the feeder."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with subprocess.Popen(
        [driver, "serve", str(theirs.fileno())], pass_fds=[theirs.fileno()]
    ) as it:
        theirs.close()
        errors = []
        for request in requests:
            ours.send(request)
            reply = ours.recv(1024)
            if not reply:
                break
            errors.append(-struct.unpack_from("i", reply)[0])
        ours.close()
        return errors, it.wait(LONG_S)


def test_requests_of_the_right_layout_reach_the_prober(driver: Path) -> None:
    requests = [head(SAMPLES, 2) + 2 * SAMPLE, head(MARK) + STATUS]
    assert serve(driver, *requests) == ([0, 0], 0)
    assert serve(driver, head(SAMPLES, MAX_BATCH) + MAX_BATCH * SAMPLE)[1] == 0
    # After it is closed there is no feed to push to.
    assert serve(driver, head(CLOSE), *requests) == ([0, errno.ENOTCONN, errno.ENOTCONN], 0)
    assert serve(driver, head(ABANDON), head(ABANDON)) == ([0, 0], 0)


@pytest.mark.parametrize(
    "request_",
    [
        b"x",
        head(0),
        head(6),
        head(SAMPLES, 2) + SAMPLE,
        head(SAMPLES, 1) + 2 * SAMPLE,
        head(SAMPLES, MAX_BATCH + 1) + (MAX_BATCH + 1) * SAMPLE,
        head(SAMPLES, 0xFFFFFFFF) + SAMPLE,
        # Times the size of a sample, this is 0 in 32 bits.
        head(SAMPLES, 0x80000000),
        head(MARK) + STATUS[:-1],
        head(MARK, 1) + STATUS,
        head(CLOSE) + b"x",
        head(OPEN) + config()[:-1],
        head(OPEN) + config(rails=65),
        head(OPEN) + config(rails=0xFFFFFFFF),
        head(OPEN) + config(name=32 * b"x"),
        head(OPEN) + config(rails=1, rail=RAIL * b"x"),
    ],
)
def test_the_feeder_ends_at_a_request_of_another_layout(driver: Path, request_: bytes) -> None:
    assert serve(driver, request_) == ([], 1)
