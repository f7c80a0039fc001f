# SPDX-License-Identifier: GPL-2.0
"""Source modbus against emulated meters on a pseudo-terminal and on TCP, under sanitizers."""

from __future__ import annotations

import fcntl
import math
import os
import socket
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from lib.daq.program import rails_file, running, some_rows
from unit.daq.modbus.meter import (
    BUSY,
    HOLDING,
    INPUT,
    NO_TARGET,
    Meter,
    Network,
    Serial,
    f32,
    s32_low,
)

Daq = Callable[..., subprocess.CompletedProcess[str]]
# The emulated meter is a thread of a busy machine: no reply of it is late but where that is meant.
FAST = ("-i", "20ms", "-o", "timeout_ms=5000")
SILENCE_MS = 1000
IMPATIENT = ("-i", "20ms", "-o", f"timeout_ms={SILENCE_MS}")
POWER, VOLTAGE, CURRENT, FACTOR, ENERGY = 0x0C, 0x00, 0x06, 0x1E, 0x48
ALL = "".join(
    f'[[rail]]\nname = "{name}"\n{more}'
    for name, more in (
        ("power", ""),
        ("product", 'channel = "current"\nvoltage_channel = "voltage"\n'),
    )
)


def sdm(power: float = 100.25, **more: object) -> Meter:
    values = {POWER: power, VOLTAGE: 230.5, CURRENT: 0.5, FACTOR: 0.875, ENERGY: 12.5}
    words = {(INPUT, address): f32(value) for address, value in values.items()}
    return Meter(words, **more)  # type: ignore[arg-type]


def serial(folder: Path, *more: object) -> tuple[object, ...]:
    return ("-s", "modbus", "-o", "model=sdm120", "-o", f"device={folder / 'line'}", *more)


def network(port: int, *more: object) -> tuple[object, ...]:
    place = ("-o", "host=127.0.0.1", "-o", f"port={port}")
    return ("-s", "modbus", "-o", "model=sdm120", *place, *more)


# ---- samples ----


def test_a_serial_line_gives_watts_volts_amperes_and_their_time(
    program: Path, tmp_path: Path
) -> None:
    rails = rails_file(tmp_path, ALL)
    with Serial(sdm(), tmp_path / "line"):
        before_ns = time.monotonic_ns()
        command = serial(tmp_path, *FAST, "-r", rails, "-praw")
        names, rows = some_rows(tmp_path, 5, program, *command)
    assert names == ["time_ns", "power.nW", "current.uA", "voltage.uV"]
    assert {tuple(values) for _, values in rows} == {(100_250_000_000, 500_000, 230_500_000)}
    assert before_ns < rows[0][0] < rows[-1][0] < time.monotonic_ns()


def test_tcp_gives_one_rail_by_default(program: Path, tmp_path: Path) -> None:
    """Neither the energy, in its coarse steps, nor what is no power."""
    with Network(sdm()) as meter:
        names, rows = some_rows(tmp_path, 5, program, *network(meter.port, *FAST, "-p"))
    assert names == ["time_ns", "power.uW"]
    assert {tuple(values) for _, values in rows} == {(100_250_000,)}


@pytest.mark.skipif(Path("/sys/module/spek_prober").exists(), reason="the prober is loaded here")
def test_other_quantities_go_to_a_log_that_a_restart_continues(
    program: Path, tmp_path: Path
) -> None:
    log = tmp_path / "meter.csv"

    def lines() -> list[str]:
        return log.read_text().splitlines() if log.exists() else []

    def has_lines(count: int) -> bool:
        return len(lines()) >= count

    with Network(sdm()) as meter:
        command = network(meter.port, *FAST, "--wait", "--also", "voltage,pf", "--log", log)
        for count in (3, 6):
            with running(tmp_path, program, *command) as ran:
                ran.until(partial(has_lines, count), "nothing is logged")
                ran.process.terminate()
                ran.process.wait()
                assert "were not delivered to the prober" in ran.errors
    head = "time_ns,power.nW,voltage.uV,pf.ppm"
    assert lines()[0] == head
    assert lines().count(head) == 2
    values = {line.partition(",")[2] for line in lines() if line != head}
    assert values == {"100250000000,230500000,875000"}


@pytest.mark.skipif(Path("/sys/module/spek_prober").exists(), reason="the prober is loaded here")
def test_a_log_continues_after_a_line_that_was_cut_off(program: Path, tmp_path: Path) -> None:
    log = tmp_path / "meter.csv"
    log.write_text("time_ns,power.nW\n12,3")
    with Network(sdm()) as meter:
        command = network(meter.port, *FAST, "--wait", "--log", log)
        with running(tmp_path, program, *command) as ran:
            ran.until(lambda: log.read_text().count("\n") >= 4, "nothing is logged")
    head = "time_ns,power.nW"
    assert log.read_text().splitlines()[:3] == [head, "12,3", head]


def test_a_pipe_is_no_log(program: Path, daq: Daq, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with Network(sdm()) as meter:
        done = daq(*network(meter.port, "--wait", "--log", pipe))
    assert done.returncode == 2, done.stderr
    assert f"--log is {pipe}, which is a pipe; it must be a file" in done.stderr


@pytest.mark.skipif(Path("/sys/module/spek_prober").exists(), reason="the prober is loaded here")
def test_a_log_that_is_full_does_not_end_the_feed(program: Path, tmp_path: Path) -> None:
    with Network(sdm()) as meter:
        command = network(meter.port, *FAST, "--wait", "--log", "/dev/full")
        with running(tmp_path, program, *command) as ran:
            ran.until(lambda: "nothing more is logged" in ran.errors, "it is not said")
            asked = meter.meter.requests
            ran.until(lambda: meter.meter.requests > asked + 3, "the meter is not read")
            assert ran.errors.count("/dev/full: cannot write to the log: No space left") == 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--also", "pf"], "--also needs --log FILE or --print=raw"),
        (["--also", "pf", "-p"], "--also needs --log FILE or --print=raw"),
        (["--also", "pf,", "-praw"], "--also is 'pf,'; it must be names of channels"),
        (["--also", "volts", "-praw"], "the meter has no channel 'volts'"),
        (["--log", "a.csv", "-p"], "--log belongs to feeding the prober"),
        (["--also", ",".join(f"c{i}" for i in range(65)), "-praw"], "more than 64 channels"),
    ],
)
def test_wrong_further_channels_are_refused(daq: Daq, options: list[str], sentence: str) -> None:
    done = daq("-s", "modbus", "-o", "model=sdm120", "-o", "host=127.0.0.1", *options)
    assert done.returncode == 2, done.stderr
    assert sentence in done.stderr


def test_a_list_needs_no_meter(daq: Daq) -> None:
    done = daq("-s", "modbus", "-o", "model=sdm120", "-l")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "power\tpower",
        "voltage\tvoltage",
        "current\tcurrent",
        "pf\tratio",
        "energy\tenergy",
    ]


def test_a_map_of_the_user_is_read(program: Path, tmp_path: Path) -> None:
    layout = "total=holding:0x10:s32-low:W:0.1,pf=holding:7:s16:pf:0.001"
    meter = Meter({(HOLDING, 0x10): s32_low(-55), (HOLDING, 7): [900]}, unit=7)
    with Network(meter) as served:
        place = ("-o", "host=127.0.0.1", "-o", f"port={served.port}", "-o", "unit=7")
        command = ("-s", "modbus", "-o", f"map={layout}", *place, *FAST, "-praw")
        names, rows = some_rows(tmp_path, 2, program, *command)
    assert names == ["time_ns", "total.nW"]
    assert rows[0][1] == [-5_500_000_000]


def test_the_energy_counter_gives_the_mean_power(program: Path, tmp_path: Path) -> None:
    """A step of 0.25 kWh is 900 kJ more than at the first reading."""
    meter = sdm()
    rails = rails_file(tmp_path, '[[rail]]\nname = "energy"\n')
    with Network(meter) as served:
        command = network(served.port, *FAST, "-r", rails, "-praw")
        with running(tmp_path, program, *command) as ran:
            ran.until(lambda: ran.has_rows(2), "no rows")
            meter.words[INPUT, ENERGY] = f32(12.75)
            ran.until(lambda: ran.rows[-1][1] != [0], "no step")
            names, rows = ran.finish()
    assert names == ["time_ns", "energy.nJ"]
    assert {values[0] for _, values in rows} == {0, 900_000 * 10**9}


def test_power_factor_is_no_power(daq: Daq, tmp_path: Path) -> None:
    rails = rails_file(tmp_path, '[[rail]]\nname = "pf"\n')
    with Network(sdm()) as meter:
        done = daq(*network(meter.port, "-r", rails, "-p"))
    assert done.returncode == 2
    assert "rail 'pf': channel 'pf' is a ratio and can't measure power" in done.stderr


# ---- faults ----


def test_a_damaged_reply_and_none_are_gaps(program: Path, tmp_path: Path) -> None:
    def fault(number: int, reply: bytes) -> bytes | None:
        if number == 4:
            return reply[:-1] + bytes((reply[-1] ^ 1,))
        return None if number == 8 else reply

    with Serial(sdm(fault=fault), tmp_path / "line") as line:
        command = serial(tmp_path, *IMPATIENT, "-p")
        with running(tmp_path, program, *command) as ran:
            ran.until(lambda: line.meter.requests > 12 and ran.has_rows(9), "no rows")
            _, rows = ran.finish()
            said = ran.errors
    assert "gave a damaged reply: Invalid CRC; the power is unknown until the next reply" in said
    assert f"not answer within {SILENCE_MS} ms; the power is unknown until the next reply" in said
    assert ", 2 lost," in said
    assert "2 gaps" in said
    assert {values[0] for _, values in rows} <= {100_250_000, None}


def test_a_late_reply_is_not_taken_for_the_next_ones(program: Path, tmp_path: Path) -> None:
    """Of the same length, from the same meter: nothing else tells them apart."""
    rails = rails_file(tmp_path, ALL)
    meter = sdm(late_s={number: 1.5 * SILENCE_MS / 1000 for number in (6, 13)})
    with Serial(meter, tmp_path / "line"):
        command = serial(tmp_path, *IMPATIENT, "-r", rails, "-praw")
        with running(tmp_path, program, *command) as ran:
            ran.until(lambda: meter.requests > 30, "no requests")
            _, rows = ran.finish()
            said = ran.errors
    assert f"does not answer within {SILENCE_MS} ms" in said
    assert {tuple(values) for _, values in rows} <= {
        (100_250_000_000, 500_000, 230_500_000),
        (None, None, None),
    }


def test_a_refused_register_leaves_the_others(program: Path, tmp_path: Path) -> None:
    rails = rails_file(tmp_path, ALL)
    meter = sdm()
    with Network(meter) as served:
        command = network(served.port, *FAST, "-r", rails, "-p")
        with running(tmp_path, program, *command) as ran:
            ran.until(lambda: ran.has_rows(3), "no rows")
            meter.exceptions[CURRENT] = BUSY
            ran.until(lambda: "exception 6" in ran.errors, "no exception")
            ran.until(lambda: ran.rows[-1][1] == [100_250_000, None], "no gap")
            del meter.exceptions[CURRENT]
            ran.until(lambda: "channel 'current' is back" in ran.errors, "it is not back")
            ran.until(lambda: ran.rows[-1][1] == [100_250_000, 115_250_000], "no value")
            ran.finish()
            said = ran.errors
    assert "refuses register 0x0006 of channel 'current': Slave device or server is busy" in said
    assert said.count("exception 6") == 1


def test_another_model_is_invalid_input(daq: Daq, tmp_path: Path) -> None:
    with Serial(Meter({}), tmp_path / "line"):
        done = daq(*serial(tmp_path, "-p"))
    assert done.returncode == 2
    assert "refuses register 0x000c of channel 'power': Illegal data address (exception 2)" in (
        done.stderr
    )


def test_a_meter_that_its_gateway_does_not_reach_is_missing(daq: Daq) -> None:
    """It may be switched on later: not invalid input."""
    with Network(sdm(exceptions={12: NO_TARGET})) as meter:
        done = daq(*network(meter.port, "-p"))
    assert done.returncode == 6
    assert "the gateway does not reach the meter, unit 1 at " in done.stderr
    assert "(exception 11)" in done.stderr


def test_no_value_is_a_gap_and_over_range_is_said(program: Path, tmp_path: Path) -> None:
    meter = sdm(power=math.nan)
    meter.words[INPUT, 4] = s32_low(1000)
    rails = rails_file(tmp_path, '[[rail]]\nname = "power"\n')
    with Network(meter) as served:
        place = ("-o", "host=127.0.0.1", "-o", f"port={served.port}")
        command = network(served.port, *FAST, "-r", rails, "-praw")
        _, rows = some_rows(tmp_path, 3, program, *command)
        assert {tuple(values) for _, values in rows} == {(None,)}
        command = ("-s", "modbus", "-o", "model=em112", *place, *FAST, "-r", rails, "-p")
        with running(tmp_path, program, *command) as ran:
            ran.until(lambda: ran.has_rows(2), "no rows")
            meter.words[INPUT, 4] = s32_low(0x7FFFFFFF)
            ran.until(lambda: "beyond the range that can be measured" in ran.errors, "not said")
            meter.words[INPUT, 4] = s32_low(2000)
            ran.until(lambda: ran.rows[-1][1] == [200_000_000], "no value")
            _, rows = ran.finish()
            said = ran.errors
    assert {values[0] for _, values in rows} <= {None, 100_000_000, 200_000_000}
    assert " 0 over range" not in said


def test_a_serial_line_that_goes_is_awaited(program: Path, tmp_path: Path) -> None:
    line = Serial(sdm(), tmp_path / "line")
    with running(tmp_path, program, *serial(tmp_path, *FAST, "-p")) as ran:
        ran.until(lambda: ran.has_rows(3), "no rows")
        line.unplug()
        ran.until(lambda: "waiting for the device" in ran.errors, "it is not missed")
        rows = len(ran.rows)
        with Serial(sdm(power=50), tmp_path / "line"):
            ran.until(lambda: "the device is back" in ran.errors, "it is not back")
            ran.until(lambda: ran.has_rows(rows + 3), "no rows")
            _, all_rows = ran.finish()
    assert all_rows[-1][1] == [50_000_000]


def test_a_closed_connection_is_opened_again(program: Path, tmp_path: Path) -> None:
    meter = sdm(fault=lambda number, reply: None if number == 6 else reply)
    with Network(meter) as served:
        command = network(served.port, *FAST, "-p")
        with running(tmp_path, program, *command) as ran:
            ran.until(lambda: "the device is back" in ran.errors, "it is not back")
            ran.finish()
            said = ran.errors
    assert "waiting for the device" in said
    assert "is gone: " in said


def test_a_meter_that_is_silent_for_long_is_gone(program: Path, tmp_path: Path) -> None:
    def fault(number: int, reply: bytes) -> bytes | None:
        return None if 4 <= number < 8 else reply

    with (
        Serial(sdm(fault=fault), tmp_path / "line"),
        running(tmp_path, program, *serial(tmp_path, *IMPATIENT, "-p")) as ran,
    ):
        ran.until(lambda: "the device is back" in ran.errors, "it is not back")
        ran.finish()
        said = ran.errors
    assert f"does not answer within {SILENCE_MS} ms; waiting for the device" in said


# ---- what is refused ----


def test_nobody_there_is_a_missing_device(daq: Daq, tmp_path: Path) -> None:
    done = daq(*serial(tmp_path, "-p"))
    assert done.returncode == 6
    assert "cannot reach the meter, unit 1 at " in done.stderr
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    done = daq(*network(port, "-p"))
    assert done.returncode == 6
    assert "Connection refused" in done.stderr
    with Serial(sdm(unit=2), tmp_path / "line"):
        done = daq(*serial(tmp_path, "-o", "timeout_ms=50", "-p"))
    assert done.returncode == 6
    assert "does not answer within 50 ms" in done.stderr


def test_a_line_in_use_is_left_alone(daq: Daq, tmp_path: Path) -> None:
    with Serial(sdm(), tmp_path / "line"):
        holder = os.open(tmp_path / "line", os.O_RDWR | os.O_NOCTTY)
        fcntl.flock(holder, fcntl.LOCK_EX)
        done = daq(*serial(tmp_path, "-p"))
        os.close(holder)
    assert done.returncode == 4
    assert "is in use by another program" in done.stderr


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (["host=127.0.0.1"], "needs either setting 'model' or setting 'map'"),
        (["model=sdm120", "map=a=input:0:f32:W", "host=::1"], "needs either setting 'model'"),
        (["model=sdm120"], "needs either setting 'device', a serial line, or setting 'host'"),
        (["model=sdm120", "device=/dev/null", "host=::1"], "needs either setting 'device'"),
        (["model=sdm120", "host=meter.example"], "must be an IPv4 or IPv6 address"),
        (["model=sdm120", "host=::1", "port=0"], "'port' is '0'; it must be a whole number"),
        (["model=sdm120", "host=::1", "unit=248"], "whole number from 1 to 247"),
        (["model=sdm120", "device=/dev/null", "baud=1"], "whole number from 300 to 921600"),
        (["model=sdm120", "device=/dev/null", "parity=mark"], "must be none, even or odd"),
        (["model=sdm120", "device=/dev/null", "stop_bits=3"], "whole number from 1 to 2"),
        (["model=sdm120", "host=::1", "timeout_ms=1"], "whole number from 20 to 5000"),
    ],
)
def test_wrong_settings_are_refused(daq: Daq, settings: list[str], sentence: str) -> None:
    words = [word for setting in settings for word in ("-o", setting)]
    done = daq("-s", "modbus", *words, "-p")
    assert done.returncode == 2, done.stderr
    assert sentence in done.stderr


def test_an_interval_that_no_meter_has_is_refused(daq: Daq) -> None:
    done = daq("-s", "modbus", "-o", "model=b21", "-o", "host=::1", "-i", "1ms", "-p")
    assert done.returncode == 2
    assert "the shortest interval of this source is 20 ms" in done.stderr
