# SPDX-License-Identifier: GPL-2.0
"""Source quarch against an emulated QIS, under sanitizers."""

from __future__ import annotations

import socket
import statistics
import subprocess
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from lib.daq.program import rails_file, running, some_rows
from unit.daq.quarch.server import LINES, MODULE, Module, Server, header

Daq = Callable[..., subprocess.CompletedProcess[str]]
NUMBERS = (5000, 400_000, 12_000, 250_000, 2_000_000, 3_000_000)
SPACING_NS = 4096 * 1000


def steady(_: int) -> Sequence[int]:
    return NUMBERS


def at(port: int, *more: object) -> tuple[object, ...]:
    return ("-s", "quarch", "-o", f"port={port}", *more)


def test_the_list_has_the_lines(daq: Daq) -> None:
    with Server(Module(steady)) as server:
        done = daq(*at(server.port, "--list"))
        assert server.module.commands[-2:] == ["rec stop", "stream?"]
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "5V/voltage\tvoltage\n5V/current\tcurrent\n12V/voltage\tvoltage\n12V/current\tcurrent\n"
        "5V\tpower\n12V\tpower\n"
    )


def test_rows_have_their_values_and_spacing(program: Path, tmp_path: Path) -> None:
    with Server(Module(steady)) as server:
        names, rows = some_rows(tmp_path, 300, program, *at(server.port, "-praw"))
        assert server.module.commands[-2:] == ["rec stop", "stream?"], "the stream is left on"
    assert names == ["time_ns", "5V.nW", "12V.nW"]
    assert {tuple(values) for _, values in rows} == {(2_000_000_000, 3_000_000_000)}
    steps = [after - before for (before, _), (after, _) in pairwise(rows)]
    assert abs(statistics.median(steps) - SPACING_NS) < SPACING_NS / 100


def test_a_total_is_no_rail_beside_its_parts(program: Path, tmp_path: Path) -> None:
    lines = (*LINES, ("Tot", "power", "uW", 549755812))
    module = Module(lambda _: (*NUMBERS, 5_000_000), header=header(lines))
    with Server(module) as server:
        names, _ = some_rows(tmp_path, 100, program, *at(server.port, "-p"))
    assert names == ["time_ns", "5V.uW", "12V.uW"]


def test_a_module_without_power_has_current_times_voltage(program: Path, tmp_path: Path) -> None:
    text = '[[rail]]\nname = "12V"\nchannel = "12V/current"\nvoltage_channel = "12V/voltage"\n'
    module = Module(lambda _: NUMBERS[:4], header=header(LINES[:5]))
    module.refused = ("stream mode power enable",)
    with Server(module) as server:
        command = at(server.port, "-r", rails_file(tmp_path, text), "-p")
        _, rows = some_rows(tmp_path, 100, program, *command)
    assert {tuple(values) for _, values in rows} == {(3_000_000,)}


def test_the_interval_is_asked_for(program: Path, tmp_path: Path) -> None:
    with Server(Module(steady, spacing_us=10_000)) as server:
        some_rows(tmp_path, 100, program, *at(server.port, "-i", "10ms", "-p"))
        assert "stream mode resample 10000us" in server.module.commands


def test_lost_rows_are_a_gap(program: Path, tmp_path: Path) -> None:
    """The first stream is that of the header, twice."""
    with (
        Server(Module(steady, lost={2: range(200, 210)})) as server,
        running(tmp_path, program, *at(server.port, "-praw")) as ran,
    ):
        ran.until(lambda: ran.has_rows(400), "no rows")
        _, rows = ran.finish()
        said = ran.errors
    steps = [after - before for (before, _), (after, _) in pairwise(rows)]
    assert abs(max(steps) - 11 * SPACING_NS) < SPACING_NS
    assert ", 20 lost," in said


def test_a_reply_may_have_any_number_of_rows(program: Path, tmp_path: Path) -> None:
    """As after a pause of spek-daq, or at a short interval."""
    module = Module(
        lambda number: (*NUMBERS[:5], number), spacing_us=200, least_rows=9000, most_rows=10**6
    )
    with (
        Server(module) as server,
        running(tmp_path, program, *at(server.port, "-praw")) as ran,
    ):
        ran.until(lambda: ran.has_rows(18_000), "no rows")
        _, rows = ran.finish()
        said = ran.errors
    assert "restarted" not in said and ", 0 lost," in said
    # The first two are for the header.
    assert module.streams == 3
    numbers = [power // 1000 for _, (_, power) in rows if power is not None]
    assert numbers == list(range(numbers[0], numbers[0] + len(rows)))


@pytest.mark.parametrize(
    ("end", "sentence"),
    [
        ("Stopped: Overrun", "the module's buffer has overrun; sampling restarted"),
        ("Stopped: Out of buffer space", "the module's buffer has overrun; sampling restarted"),
        ("Stopped: User", "the module's stream has stopped; sampling restarted"),
    ],
)
def test_a_stream_that_ends_is_started_again(
    program: Path, tmp_path: Path, end: str, sentence: str
) -> None:
    with (
        Server(Module(steady, ends={2: (200, end)})) as server,
        running(tmp_path, program, *at(server.port, "-p")) as ran,
    ):
        ran.until(lambda: sentence in ran.errors, "it is not started again")
        before = len(ran.rows)
        ran.until(lambda: ran.has_rows(before + 200), "no rows")
        ran.finish()
        said = ran.errors
    assert ("1 overflows" in said) == ("overrun" in sentence)


def test_a_damaged_row_is_said(program: Path, tmp_path: Path) -> None:
    with (
        Server(Module(steady, garbage={300: "1228800 5000 4x"})) as server,
        running(tmp_path, program, *at(server.port, "-p")) as ran,
    ):
        ran.until(lambda: "a row of QIS is damaged: 1228800 5000 4x" in ran.errors, "not said")
        ran.until(lambda: ran.has_rows(400), "no rows")
        ran.finish()


def test_a_row_out_of_step_restarts_the_stream(program: Path, tmp_path: Path) -> None:
    odd = " ".join(str(value) for value in (300 * 4096 + 7, *NUMBERS))
    with (
        Server(Module(steady, garbage={300: odd})) as server,
        running(tmp_path, program, *at(server.port, "-p")) as ran,
    ):
        ran.until(lambda: "not evenly spaced; sampling restarted" in ran.errors, "not said")
        ran.finish()


def test_a_value_at_the_end_of_its_range_is_said(program: Path, tmp_path: Path) -> None:
    most = (*NUMBERS[:5], 274877906)
    with (
        Server(Module(lambda number: most if number > 200 else NUMBERS)) as server,
        running(tmp_path, program, *at(server.port, "-p")) as ran,
    ):
        ran.until(lambda: "rail '12V': its current, voltage or power is" in ran.errors, "-")
        ran.finish()


def test_a_closed_connection_is_opened_again(program: Path, tmp_path: Path) -> None:
    with (
        Server(Module(steady)) as server,
        running(tmp_path, program, *at(server.port, "-p")) as ran,
    ):
        ran.until(lambda: ran.has_rows(100), "no rows")
        server.hung_up.set()
        ran.until(lambda: "the device is back" in ran.errors, "it is not back")
        ran.finish()
        said = ran.errors
    assert "QIS has closed the connection; waiting for the device" in said


def test_a_stream_whose_start_is_not_confirmed_is_stopped(daq: Daq) -> None:
    with Server(Module(steady, late=("rec stream",))) as server:
        done = daq(*at(server.port, "-p"))
        assert server.module.commands[-3:-1] == ["rec stream", "rec stop"]
    assert done.returncode == 6
    assert done.stderr == "spek-daq: QIS does not answer within 10 s\n"


@pytest.mark.parametrize(
    ("module", "settings", "code", "sentence"),
    [
        (Module(steady, modules=()), (), 6, "QIS knows no module"),
        (Module(steady, modules=(MODULE, "tcp::x")), (), 2, "QIS knows 2 modules; name one"),
        (Module(steady, refused=("rec stream",)), (), 6, "refuses 'rec stream': FAIL"),
        (Module(steady, header="Version: 5"), (), 1, "no stream header of version V3"),
        (
            Module(steady, garbage={1: " ".join(map(str, (10_000_001, *NUMBERS)))}),
            (),
            6,
            "the rows of QIS are more than 10 s apart",
        ),
        (Module(steady), ("-i", "1500ns"), 2, "must be whole microseconds"),
        (Module(steady), ("-o", "host=qis.example"), 2, "must be an IPv4 or IPv6 address"),
        (Module(steady), ("-o", "module=a b"), 2, "'module' must have less than 64 bytes"),
    ],
)
def test_what_cannot_be_is_refused(
    daq: Daq, module: Module, settings: Sequence[str], code: int, sentence: str
) -> None:
    with Server(module) as server:
        done = daq(*at(server.port, *settings, "-p"))
    assert done.returncode == code, done.stderr
    assert sentence in done.stderr


def test_a_stream_of_another_program_is_left_alone(daq: Daq) -> None:
    module = Module(steady, started_ns=0)
    with Server(module) as server:
        done = daq(*at(server.port, "-p"))
    assert done.returncode == 4
    assert f"the module {MODULE} is streaming to another program" in done.stderr
    assert "rec stop" not in module.commands


def test_no_server_is_a_missing_device(daq: Daq) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    done = daq(*at(port, "-p"))
    assert done.returncode == 6
    assert f"cannot reach QIS at 127.0.0.1 port {port}: Connection refused" in done.stderr
