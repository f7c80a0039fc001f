# SPDX-License-Identifier: GPL-2.0
"""spek-daq ends when it is asked to, whatever its device does: silent devices never answer here, so
that only the request ends a wait for them."""

from __future__ import annotations

import errno
import itertools
import os
import resource
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from lib.daq.build import library
from lib.daq.program import HANG_S, Running, check_sanitizers, running
from lib.processes import open_files
from lib.waiting import eventually
from unit.daq.modbus.meter import INPUT, Meter, Network, Serial, f32
from unit.daq.quarch.server import Module, Server

PATIENT = ("-i", "20ms", "-o", "timeout_ms=5000")
SYN_SENT = "02"
ANSWERED = 4


def end(ran: Running) -> str:
    """Ask it to end; what it has said."""
    ran.process.terminate()
    return ended(ran)


def ended(ran: Running) -> str:
    assert ran.process.wait(HANG_S) == 0, ran.errors
    check_sanitizers(ran.errors)
    return ran.errors


def qis(port: int) -> tuple[object, ...]:
    return ("-s", "quarch", "-o", f"port={port}", "-p")


def meter(*place: object) -> tuple[object, ...]:
    return ("-s", "modbus", "-o", "model=sdm120", *place, *PATIENT, "-p")


def meter_at(port: int) -> tuple[object, ...]:
    return meter("-o", "host=127.0.0.1", "-o", f"port={port}")


# ---- Quarch ----


def module() -> Module:
    return Module(lambda _: (5000, 400_000, 12_000, 250_000, 2_000_000, 3_000_000))


def test_a_qis_that_falls_silent(program: Path, tmp_path: Path) -> None:
    """Its module gets the command to stop all the same."""
    with Server(module()) as server, running(tmp_path, program, *qis(server.port)) as ran:
        ran.until(lambda: ran.has_rows(100), "no rows")
        server.module.mute = True
        ran.until(lambda: server.module.unanswered, "nothing is asked")
        said = end(ran)
    assert server.module.unanswered == ["stream text all", "rec stop"]
    assert "does not answer" not in said


def test_a_qis_that_never_answers(program: Path, tmp_path: Path) -> None:
    silent = module()
    silent.mute = True
    with Server(silent) as server, running(tmp_path, program, *qis(server.port)) as ran:
        ran.until(lambda: silent.unanswered, "nothing is asked")
        assert end(ran) == ""
    assert silent.unanswered == ["$list"]


def test_a_stop_before_the_reply_to_the_start_of_a_stream(program: Path, tmp_path: Path) -> None:
    """QIS starts the stream even if nobody waits for its reply, so it gets the command to stop."""
    slow = module()
    slow.late = ("rec stream",)
    with Server(slow) as server, running(tmp_path, program, *qis(server.port)) as ran:
        ran.until(lambda: "rec stream" in slow.commands, "no stream is started")
        assert end(ran) == ""
        eventually(lambda: slow.commands[-1] != "rec stream", "nothing is sent after the start")
    assert slow.commands[-1] == "rec stop"


def test_a_list_that_is_broken_off_is_a_failure(program: Path, tmp_path: Path) -> None:
    silent = module()
    silent.mute = True
    with Server(silent) as server, running(tmp_path, program, *qis(server.port), "--list") as ran:
        ran.until(lambda: silent.unanswered, "nothing is asked")
        ran.process.terminate()
        assert ran.process.wait(HANG_S) == 1
        assert ran.errors == "spek-daq: stopped while QIS was asked\n"


def test_a_qis_that_answers_and_has_no_header(program: Path, tmp_path: Path) -> None:
    """It is not asked for it again, and its module is stopped."""
    headless = module()
    headless.header = "Header Not Available"
    with Server(headless) as server, running(tmp_path, program, *qis(server.port)) as ran:
        ran.until(lambda: "stream text header" in headless.commands, "no header is asked for")
        assert end(ran) == ""
    assert headless.commands[-2:] == ["rec stop", "stream?"]


# ---- files ----


def has_open(pid: int, path: Path) -> bool:
    return str(path) in open_files(pid)


@pytest.mark.parametrize("has_writer", [False, True])
@pytest.mark.parametrize(
    ("options", "status"),
    [
        (("-s", "sim", "-p", "-r"), 0),
        (("-s", "replay", "--list", "-o"), 1),
        (("-s", "replay", "-p", "-o"), 0),
    ],
)
def test_a_file_that_is_a_pipe_without_end(
    program: Path, tmp_path: Path, options: Sequence[str], status: int, has_writer: bool
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    last = f"file={pipe}" if options[-1] == "-o" else pipe
    with ExitStack() as stack:
        if has_writer:
            stack.callback(os.close, os.open(pipe, os.O_RDWR))
        ran = stack.enter_context(running(tmp_path, program, *options, last))
        ran.until(lambda: has_open(ran.process.pid, pipe), "it does not open the pipe")
        ran.process.terminate()
        assert ran.process.wait(HANG_S) == status
        assert ran.errors == (f"spek-daq: stopped while {pipe} was read\n" if status else "")


def test_a_file_that_is_a_pipe_is_read_to_its_end(program: Path, tmp_path: Path) -> None:
    """It comes in parts, of which the first does not come at once."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with running(tmp_path, program, "-s", "replay", "--list", "-o", f"file={pipe}") as ran:
        ran.until(lambda: has_open(ran.process.pid, pipe), "it does not open the pipe")
        with pipe.open("w") as writer:
            writer.write("time_ns,a.W\n" + 2000 * " \n")
            writer.flush()
            writer.write("1,2\n2,3\n")
        assert ran.process.wait(HANG_S) == 0, ran.errors
        assert ran.out == "a\tpower\n"


# ---- a wait that fails ----


FEWER_THAN_AWAITED = 2  # poll() refuses more files than a process may have


def test_a_wait_that_fails_is_no_wait_without_end() -> None:
    ffi, lib = library()
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (FEWER_THAN_AWAITED, before[1]))
    try:
        error = lib.daq_stop_wait(ffi.NULL, -1, 0, 0)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert error == -errno.EINVAL


def test_a_session_that_can_await_nothing_ends(program: Path, tmp_path: Path) -> None:
    # The search for leaks needs files.
    leaks = "ASAN_OPTIONS=detect_leaks=0"
    with running(tmp_path, "env", leaks, program, "-s", "sim", "-p") as ran:
        ran.until(lambda: ran.has_rows(1), "no rows")
        _, most = resource.prlimit(ran.process.pid, resource.RLIMIT_NOFILE)
        limits = FEWER_THAN_AWAITED, most
        resource.prlimit(ran.process.pid, resource.RLIMIT_NOFILE, limits)
        assert ran.process.wait(HANG_S) == 1
        assert "spek-daq: cannot watch signals: Invalid argument\n" in ran.errors


# ---- Modbus ----


@contextmanager
def served(kind: str, folder: Path) -> Iterator[tuple[Meter, tuple[object, ...]]]:
    """A meter that falls silent after some replies, and the options for it."""
    silent = Meter(
        {(INPUT, 0x0C): f32(100)}, fault=lambda number, reply: reply if number < ANSWERED else b""
    )
    if kind == "serial":
        with Serial(silent, folder / "line") as line:
            yield silent, meter("-o", f"device={line.path}")
    else:
        with Network(silent) as network:
            yield silent, meter_at(network.port)


def check_silence(said: str, silent: Meter) -> None:
    assert silent.requests == ANSWERED + 1
    assert "does not answer" not in said
    assert " 0 lost," in said, "the scan under way is not a lost one"


@pytest.mark.parametrize("kind", ["serial", "network"])
def test_a_meter_that_falls_silent(program: Path, tmp_path: Path, kind: str) -> None:
    with (
        served(kind, tmp_path) as (silent, options),
        running(tmp_path, program, *options) as ran,
    ):
        ran.until(lambda: silent.requests > ANSWERED, "nothing is asked")
        check_silence(end(ran), silent)


@pytest.mark.parametrize("kind", ["serial", "network"])
def test_a_meter_that_falls_silent_before_the_time_is_over(
    program: Path, tmp_path: Path, kind: str
) -> None:
    """The time grows until the silence lies within it, however slow the machine is."""
    for seconds in itertools.count(1):
        folder = tmp_path / str(seconds)
        folder.mkdir()
        with (
            served(kind, folder) as (silent, options),
            running(folder, program, *options, "--time", f"{seconds}s") as ran,
        ):
            said = ended(ran)
            if silent.requests <= ANSWERED:
                continue
            check_silence(said, silent)
            return


def test_a_meter_that_never_answers(program: Path, tmp_path: Path) -> None:
    silent = Meter({(INPUT, 0x0C): f32(100)}, fault=lambda number, reply: b"")
    with (
        Network(silent) as network,
        running(tmp_path, program, *meter_at(network.port)) as ran,
    ):
        ran.until(lambda: silent.requests, "nothing is asked")
        assert end(ran) == ""
    assert silent.requests == 1


# ---- connecting ----


@contextmanager
def full_port() -> Iterator[int]:
    """A port of the loopback address that lets no connection in: its queue is full."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(8):
            client = stack.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(listener.getsockname())
        yield int(listener.getsockname()[1])


def connecting(pid: int, port: int) -> bool:
    """Whether a socket of the process waits for an answer from the port."""
    names = open_files(pid)
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if (
            fields[2].endswith(f":{port:04X}")
            and fields[3] == SYN_SENT
            and f"socket:[{fields[9]}]" in names
        ):
            return True
    return False


@pytest.mark.parametrize("options", [qis, meter_at])
def test_a_port_that_lets_nobody_in(program: Path, tmp_path: Path, options: object) -> None:
    assert callable(options)
    with full_port() as port, running(tmp_path, program, *options(port)) as ran:
        ran.until(lambda: connecting(ran.process.pid, port), "it does not connect")
        assert end(ran) == ""
