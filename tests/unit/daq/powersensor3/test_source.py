# SPDX-License-Identifier: GPL-2.0
"""Source powersensor3 against an emulated device on a pseudo-terminal, under sanitizers."""

from __future__ import annotations

import fcntl
import itertools
import os
import statistics
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from lib.daq.program import Rows, Sysfs, rails_file, running, some_rows, table
from lib.powersensor3.wire import BOARD, LEVELS, STOP, pair
from unit.daq.powersensor3.device import Device, Levels, Plugged, steady

Daq = Callable[..., subprocess.CompletedProcess[str]]
US = 1000
STEADY = steady(600, 400, 0, 0, 512, 150)
BOTH = '[[rail]]\nname = "12V"\n[[rail]]\nname = "3V3"\n'
ALL = "".join(
    f'[[rail]]\nname = "{name}"\nchannel = "{channel}"\n{more}'
    for name, channel, more in (
        ("power", "12V", ""),
        ("product", "12V/current", 'voltage_channel = "12V/voltage"\n'),
    )
)


def with_line(folder: Path, *more: object) -> tuple[object, ...]:
    return ("-s", "powersensor3", "-o", f"device={folder / 'line'}", *more)


@pytest.fixture
def plugged(tmp_path: Path) -> Callable[[Device], Plugged]:
    return lambda device: Plugged(device, tmp_path / "line")


def powers(levels: Levels) -> list[int]:
    """What the rails of BOARD use, in nW."""
    sensors = [sensor.micro(level) for sensor, level in zip(BOARD, levels, strict=True)]
    return [round(sensors[i] * sensors[i + 1] / 1000) for i in (0, 4)]


def times_of(rows: Rows) -> list[int]:
    return [at for at, _ in rows]


def steps_of(rows: Rows) -> list[int]:
    return [after - before for before, after in itertools.pairwise(times_of(rows))]


# ---- samples ----


def test_the_list_has_the_pairs_in_use(
    daq: Daq, tmp_path: Path, plugged: Callable[[Device], Plugged]
) -> None:
    with plugged(Device(STEADY)):
        done = daq(*with_line(tmp_path, "--list"))
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "12V\tpower\n12V/current\tcurrent\n12V/voltage\tvoltage\n"
        "3V3\tpower\n3V3/current\tcurrent\n3V3/voltage\tvoltage\n"
    )


@pytest.mark.parametrize("spacing_us", [50, 400 / 7, 88 / 3])
def test_steady_levels_have_their_exact_values_every_interval(
    program: Path, tmp_path: Path, plugged: Callable[[Device], Plugged], spacing_us: float
) -> None:
    """Of all models, whose spacings differ."""
    with plugged(Device(STEADY, spacing_us=spacing_us)) as line:
        names, rows = some_rows(tmp_path, 900, program, *with_line(tmp_path, "-praw"))
        assert line.device.stopped >= 2, "the stream is stopped at the end"
    assert names == ["time_ns", "12V.nW", "3V3.nW"]
    assert {tuple(values) for _, values in rows} == {tuple(powers(STEADY(0)))}
    # By the fitted clock, whose line each arrival may move.
    assert abs(statistics.median(steps_of(rows)) - 1000 * US) < US


def test_power_is_the_mean_of_products_and_not_the_product_of_means(
    program: Path, tmp_path: Path, plugged: Callable[[Device], Plugged]
) -> None:
    """Current and voltage alternate, in step, from set to set."""
    sides = (steady(600, 300)(0), steady(800, 500)(0))
    rails = rails_file(tmp_path, ALL)
    command = with_line(tmp_path, "-r", rails, "-praw", "-i", "2ms")
    with plugged(Device(lambda number: sides[number % 2])):
        names, rows = some_rows(tmp_path, 400, program, *command)
    assert names == ["time_ns", "12V.nW", "12V/current.uA", "12V/voltage.uV"]
    amperes = [BOARD[0].micro(side[0]) for side in sides]
    volts = [BOARD[1].micro(side[1]) for side in sides]
    power = sum(a * v for a, v in zip(amperes, volts, strict=True)) / 2000
    expected = (power, sum(amperes) / 2, sum(volts) / 2)
    for _, values in rows:
        for value, mean in zip(values, expected, strict=True):
            assert value is not None
            assert abs(value - mean) <= 0.5


def test_a_stream_that_was_left_running_is_stopped_first(
    daq: Daq, tmp_path: Path, plugged: Callable[[Device], Plugged]
) -> None:
    """A killed program leaves it so; sensor 7 at its last level looks like half an end."""
    device = Device(steady(600, 400, 0, 0, 0, 0, 0, LEVELS - 1))
    with plugged(device):
        device.started_ns.append(time.monotonic_ns())
        device.is_streaming = True
        time.sleep(0.3)
        done = daq(*with_line(tmp_path, "--check"))
    assert done.returncode == 0, done.stderr
    assert "2 rails on 2 channels of source powersensor3: ok" in done.stderr


def test_older_firmware_puts_words_before_its_version(
    daq: Daq, tmp_path: Path, plugged: Callable[[Device], Plugged]
) -> None:
    with plugged(Device(STEADY, version=b"Firmware version: F401-1.3.0\r\n")):
        done = daq(*with_line(tmp_path, "-praw", "-t", "1s"))
    assert done.returncode == 0, done.stderr
    assert table(done.stdout)[1]


# ---- losses ----


def test_lost_sets_are_a_gap_that_is_counted(
    program: Path, tmp_path: Path, plugged: Callable[[Device], Plugged]
) -> None:
    """100 us are lost: the window is, or the stream is restarted if a busy host makes it unsure."""
    with plugged(Device(STEADY, lost={0: range(10_000, 10_002)})) as line:
        command = (program, *with_line(tmp_path, "-p"))
        with running(tmp_path, *command) as ran:
            ran.until(lambda: ran.has_rows(1500), "no rows")
            _, rows = ran.finish()
            said = ran.errors
        restarts = len(line.device.started_ns) - 1
    assert "1 losses so far; the power is unknown there" in said
    assert "1 overflows" in said
    gap_ns = max(steps_of(rows))
    if restarts:
        assert "the device's times are uncertain; sampling restarted" in said
        # The host's clock says how long it took, and the device may have been behind it.
        assert gap_ns > 1000 * US
    else:
        assert 1500 * US < gap_ns < 3500 * US
        assert "2 gaps, 2 lost" in said or "2 gaps, 4 lost" in said


def test_a_loss_that_is_longer_than_it_looks_restarts_the_stream(
    program: Path, tmp_path: Path, plugged: Callable[[Device], Plugged]
) -> None:
    """50 wraps of the time stamp and a little: it looks like 200 us."""
    with plugged(Device(STEADY, lost={0: range(30_000, 31_028)})) as line:
        command = (program, *with_line(tmp_path, "-p"))
        with running(tmp_path, *command) as ran:
            ran.until(lambda: len(line.device.started_ns) > 1 and ran.has_rows(3000), "no rows")
            _, rows = ran.finish()
            said = ran.errors
    assert "the device's times are uncertain; sampling restarted" in said
    # Of the loss the host has seen what the device was not behind by.
    assert max(steps_of(rows)) > 1000 * US
    assert times_of(rows) == sorted(times_of(rows)), "time never goes backwards"


def test_damaged_bytes_are_discarded_and_the_stream_goes_on(
    program: Path, tmp_path: Path, plugged: Callable[[Device], Plugged]
) -> None:
    """Half a word, and bytes of all kinds, STOP included."""
    garbage = {12_000: b"\x80", 14_000: b"\x00\x7f\xff" + STOP + b"\x12", 16_000: b"\xff"}
    with plugged(Device(STEADY, garbage=garbage)):
        command = (program, *with_line(tmp_path, "-praw"))
        with running(tmp_path, *command) as ran:
            ran.until(lambda: ran.has_rows(1500), "no rows")
            _, rows = ran.finish()
            said = ran.errors
    assert "bytes discarded" in said
    assert {tuple(values) for _, values in rows} == {tuple(powers(STEADY(0)))}


def test_a_level_at_the_end_of_its_range_is_a_gap(
    program: Path, tmp_path: Path, plugged: Callable[[Device], Plugged]
) -> None:
    """In one of twenty sets only: the mean would be a bound. A line that is off measures 0."""
    peaks = (steady(LEVELS - 1, 400, 0, 0, 600, 0)(0), steady(600, 400, 0, 0, 600, 0)(0))
    with plugged(Device(lambda number: peaks[number % 20 > 0])):
        command = (program, *with_line(tmp_path, "-p"))
        with running(tmp_path, *command) as ran:
            ran.until(lambda: ran.has_rows(300), "no rows")
            _, rows = ran.finish()
            said = ran.errors
    assert {tuple(values) for _, values in rows} == {(None, 0)}
    assert "rail '12V': its current, voltage or power is beyond the range" in said


# ---- a device that is gone ----


def test_unplugged_and_plugged_in_again(
    program: Path, tmp_path: Path, plugged: Callable[[Device], Plugged]
) -> None:
    command = (program, *with_line(tmp_path, "-p"))
    with running(tmp_path, *command, "-r", rails_file(tmp_path, BOTH), "--wait") as ran:
        ran.until(lambda: "waiting for the device" in ran.errors, "it does not wait")
        with plugged(Device(STEADY)):
            ran.until(lambda: ran.has_rows(200), "no rows")
        ran.until(lambda: "the PowerSensor3 is gone; waiting" in ran.errors, "it is not noticed")
        before = len(ran.rows)
        with plugged(Device(STEADY)):
            ran.until(lambda: ran.has_rows(before + 200), "no rows come again")
            _, rows = ran.finish()
    assert "the device is back" in ran.errors
    assert times_of(rows) == sorted(times_of(rows))
    # The line of a gap is empty.
    values = {tuple(values) for _, values in rows} - {(None, None)}
    assert values == {tuple(round(power / 1000) for power in powers(STEADY(0)))}


def test_a_device_that_falls_silent_is_started_again(
    program: Path, tmp_path: Path, plugged: Callable[[Device], Plugged]
) -> None:
    with plugged(Device(STEADY, silent_from=24_000)) as line:
        command = (program, *with_line(tmp_path, "-p"))
        with running(tmp_path, *command) as ran:
            ran.until(lambda: len(line.device.started_ns) > 1 and ran.has_rows(1500), "no rows")
            ran.finish()
            said = ran.errors
    assert "the PowerSensor3's stream failed: no data arrived; sampling restarted" in said


# ---- refusals ----


def refused(done: subprocess.CompletedProcess[str], code: int, sentence: str) -> None:
    assert done.returncode == code, done.stderr
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1, "one sentence"


@pytest.mark.parametrize(
    ("device", "code", "sentence"),
    [
        (
            Device(STEADY, version=b"Firmware version: F411-1.2.1\r\n"),
            1,
            "the PowerSensor3 has firmware 1.2; it must be 1.3 or a later 1.x",
        ),
        (Device(STEADY, version=b"F411-2.0.0\r\n"), 1, "the PowerSensor3 has firmware 2.0"),
        (
            Device(STEADY, version=b"OpenMV 4\r\n"),
            1,
            "does not answer as a PowerSensor3: its version is 'OpenMV 4'",
        ),
        (Device(STEADY, version=b"\x07" * 999), 1, "its version is ''"),
        (Device(STEADY, version=b"7" * 999), 1, "its version is '777"),
        (Device(STEADY, version=b"\r" * 999), 1, "its version is ''"),
        (Device(STEADY, version=b""), 1, "a reply is missing or too short"),
        (Device(STEADY, is_deaf=True), 1, "it does not confirm the end of its stream"),
        (Device(STEADY, sensors=BOARD[:5]), 1, "a reply is missing or too short"),
        (
            Device(STEADY, sensors=(*BOARD, BOARD[0])),
            1,
            "the PowerSensor3's configuration does not end where it should",
        ),
        (
            Device(STEADY, sensors=(replace(BOARD[0], in_use=255), *BOARD[1:])),
            1,
            "pair 0 is implausible: its memory was erased or is worn out",
        ),
        (
            Device(STEADY, sensors=(replace(BOARD[0], sensitivity=float("nan")), *BOARD[1:])),
            1,
            "configuration of sensor 0 is implausible (vref 1.65 V, sensitivity nan)",
        ),
        (
            Device(STEADY, sensors=(*pair("a", 0), *pair("b", 0), *pair("c", 0), *pair("d", 0))),
            6,
            "source powersensor3 has no channel that measures power directly",
        ),
        (Device(STEADY, silent_from=0), 1, "the PowerSensor3 sends no values"),
        (
            Device(STEADY, spacing_us=120),
            1,
            "the device sends values every 120 us; a PowerSensor3 sends them every 20 to 66 us",
        ),
    ],
)
def test_a_device_that_is_wrong_is_refused(
    daq: Daq,
    tmp_path: Path,
    plugged: Callable[[Device], Plugged],
    device: Device,
    code: int,
    sentence: str,
) -> None:
    with plugged(device):
        refused(daq(*with_line(tmp_path, "--check")), code, sentence)


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (("-i", "99us"), "must be whole microseconds from 100 us to 1 s"),
        (("-i", "2s"), "must be whole microseconds from 100 us to 1 s"),
        (("-i", "1000.5us"), "can't measure every 1000500 ns"),
        (("-o", "serial=5"), "source powersensor3 has no setting 'serial'; it has device"),
    ],
)
def test_wrong_requests_are_refused(
    daq: Daq,
    tmp_path: Path,
    plugged: Callable[[Device], Plugged],
    more: tuple[str, ...],
    sentence: str,
) -> None:
    with plugged(Device(STEADY)):
        refused(daq(*with_line(tmp_path, "--check", *more)), 2, sentence)


def test_a_channel_that_it_has_not_is_refused_with_those_it_has(
    daq: Daq, tmp_path: Path, plugged: Callable[[Device], Plugged]
) -> None:
    with plugged(Device(STEADY)):
        for channel in ("5V", "pair1", "12V/watts", "12", ""):
            rail = f'[[rail]]\nname = "x"\nchannel = "{channel or "12V/"}"\n'
            done = daq(*with_line(tmp_path, "-r", rails_file(tmp_path, rail), "--check"))
            refused(done, 2, "it has 12V, 3V3, and NAME/current and NAME/voltage of each")
        rail = '[[rail]]\nname = "x"\nchannel = "pair0"\n'
        done = daq(*with_line(tmp_path, "-r", rails_file(tmp_path, rail), "--check"))
        assert done.returncode == 0, done.stderr


def test_a_pair_of_which_half_is_in_use_is_said(
    daq: Daq, tmp_path: Path, plugged: Callable[[Device], Plugged]
) -> None:
    sensors = (*BOARD[:2], replace(BOARD[2], in_use=1), *BOARD[3:])
    with plugged(Device(STEADY, sensors=sensors)):
        done = daq(*with_line(tmp_path, "--check"))
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("pair 1 of the PowerSensor3 is not measured: only one") == 1


def test_a_line_that_cannot_be_opened_is_refused(
    daq: Daq, tmp_path: Path, plugged: Callable[[Device], Plugged]
) -> None:
    rails = ("-r", rails_file(tmp_path, BOTH), "--check")
    refused(daq(*with_line(tmp_path, *rails)), 6, "there is no PowerSensor3 at ")
    (tmp_path / "line").touch()
    refused(daq(*with_line(tmp_path, *rails)), 2, "line is not a serial line")
    (tmp_path / "line").unlink()
    (tmp_path / "line").mkdir()
    refused(daq(*with_line(tmp_path, *rails)), 2, "line is not a serial line")
    (tmp_path / "line").rmdir()
    with plugged(Device(STEADY)) as line:
        with Path(line.line).open("rb", buffering=0) as holder:
            fcntl.flock(holder, fcntl.LOCK_EX)
            refused(daq(*with_line(tmp_path, *rails)), 4, "is in use by another program")
        # Without capabilities, modes are root's, too.
        Path(line.line).chmod(0)
        refused(daq(*with_line(tmp_path, *rails)), 3, "no permission to use the PowerSensor3 at ")
        assert os.stat(line.line).st_mode & 0o777 == 0


def test_without_a_setting_the_usb_identity_tells_the_line(daq: Daq, tmp_path: Path) -> None:
    tree = Sysfs(tmp_path / "sys")
    rails = ("-r", rails_file(tmp_path, BOTH), "--check", "--sysfs", tree.root)
    command = ("-s", "powersensor3", *rails)
    refused(daq(*command), 6, "no PowerSensor3 is connected (no ttyACM with the USB identity")

    def connect(line: str, vendor: str, product: str) -> None:
        tree.put(f"devices/{line}/idVendor", vendor)
        tree.put(f"devices/{line}/idProduct", product)
        tree.put(f"devices/{line}/interface/bInterfaceClass", "02")
        (tree.root / f"class/tty/{line}").mkdir(parents=True)
        device = tree.root / f"class/tty/{line}/device"
        device.symlink_to(tree.root / f"devices/{line}/interface")

    connect("ttyACM71", "2341", "0043")
    connect("ttyUSB0", "0483", "5740")
    refused(daq(*command), 6, "no PowerSensor3 is connected")
    connect("ttyACM72", "0483", "5740")
    refused(daq(*command), 6, "there is no PowerSensor3 at /dev/ttyACM72")
    connect("ttyACM73", "0483", "5740")
    refused(daq(*command), 2, "2 devices may be a PowerSensor3; name its serial line")
