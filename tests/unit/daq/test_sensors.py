# SPDX-License-Identifier: GPL-2.0
"""spek-daq on sensors: hwmon, powercap and iio in a made-up sysfs."""

from __future__ import annotations

import os
import struct
import subprocess
import time
from collections.abc import Callable
from functools import partial
from itertools import groupby, pairwise
from pathlib import Path

import pytest
from lib.daq.program import (
    HANG_S,
    MS,
    SECOND,
    ZONE_RANGE_UJ,
    Rows,
    Running,
    Sysfs,
    check_sanitizers,
    cpu_s,
    put_zones,
    rails_file,
    running,
    some_rows,
)
from lib.own_mounts import in_own_mounts

# ---- hwmon and powercap, on files ----


def test_sensors_are_listed(
    daq: Callable[..., subprocess.CompletedProcess[str]], sysfs: Sysfs
) -> None:
    assert daq("-s", "hwmon", "--sysfs", sysfs.root, "--list").stdout.splitlines() == [
        "hwmon0/temp1\ttemperature",
        "hwmon1/curr1\tcurrent",
        "hwmon1/in1\tvoltage",
        "hwmon1/power1\tpower",
        "hwmon2/power1\tpower",
    ]


def test_a_temperature_needs_no_rail_and_can_be_none(
    program: Path,
    daq: Callable[..., subprocess.CompletedProcess[str]],
    sysfs: Sysfs,
    tmp_path: Path,
) -> None:
    command = ("-s", "hwmon", "--sysfs", sysfs.root, "-i", "20ms", "-praw")
    names, rows = some_rows(tmp_path, 2, program, *command, "--also", "nvme/temp1")
    assert names == ["time_ns", "nvme/temp1.mC"]
    assert rows[0][1] == [41000]
    done = daq(*command, "-r", rails_file(tmp_path, '[[rail]]\nname = "nvme/temp1"\n'))
    assert done.returncode == 2
    assert "channel 'nvme/temp1' is a temperature and can't measure power" in done.stderr


@pytest.mark.parametrize(
    ("zones", "listed"),
    [
        # A desktop: psys contains the package, and mmio counts it again.
        (
            {
                "intel-rapl-mmio:0": "package-0",
                "intel-rapl:0": "package-0",
                "intel-rapl:0:0": "core",
                "intel-rapl:0:1": "uncore",
                "intel-rapl:1": "psys",
            },
            ["intel-rapl:0"],
        ),
        # A server: memory is below its package, but not in its counter.
        (
            {
                "intel-rapl:0": "package-1",
                "intel-rapl:0:0": "dram",
                "intel-rapl:1": "package-0-die-0",
                "intel-rapl:1:0": "core",
                "intel-rapl:1:1": "dram",
                "intel-rapl:2": "psys-1",
            },
            ["intel-rapl:0", "intel-rapl:0:0", "intel-rapl:1", "intel-rapl:1:1"],
        ),
        # AMD.
        ({"intel-rapl:0": "package-0", "intel-rapl:0:0": "core"}, ["intel-rapl:0"]),
        # What these count, or whether they count the same, is not known.
        ({"intel-rapl:0": "psys", "intel-rapl:1": "wall", "dtpm:0": "package-0"}, []),
    ],
)
def test_no_energy_is_counted_twice_or_left_out(
    daq: Callable[..., subprocess.CompletedProcess[str]],
    tmp_path: Path,
    zones: dict[str, str],
    listed: list[str],
) -> None:
    tree = Sysfs(tmp_path / "sys")
    put_zones(tree, zones)
    listing = daq("-s", "powercap", "--sysfs", tree.root, "--list").stdout
    assert listing.splitlines() == [f"{zone}\tenergy" for zone in listed]
    if not listed:
        refused = daq("-s", "powercap", "--sysfs", tree.root, "--check")
        assert refused.returncode == 6
        assert "a rails file can name other channels" in refused.stderr


def test_sensors_of_power_need_no_rails_file(program: Path, sysfs: Sysfs, tmp_path: Path) -> None:
    command = [program, "-s", "hwmon", "--sysfs", sysfs.root, "-p"]
    names, rows = some_rows(tmp_path, 10, *command)
    assert names == ["time_ns", "hwmon1/power1.uW", "hwmon2/power1.uW"]
    assert {tuple(values) for _, values in rows} == {(5_250_000, 80_000_000)}
    steps = [b - a for (a, _), (b, _) in pairwise(rows)]
    assert min(steps) > 0


def test_many_other_sensors_do_not_hide_one_of_power(
    daq: Callable[..., subprocess.CompletedProcess[str]], sysfs: Sysfs
) -> None:
    for number in range(100):
        sysfs.put(f"class/hwmon/hwmon0/in{number}_input", 1)
    done = daq("-s", "hwmon", "--sysfs", sysfs.root, "--check")
    assert "spek-daq: 2 rails on 2 channels of source hwmon: ok" in done.stderr, done.stderr
    listed = daq("-s", "hwmon", "--sysfs", sysfs.root, "--list").stdout.splitlines()
    assert len(listed) == 105


def test_more_sensors_of_power_than_rails_are_refused(
    daq: Callable[..., subprocess.CompletedProcess[str]], sysfs: Sysfs
) -> None:
    for number in range(1, 64):
        sysfs.put(f"class/hwmon/hwmon3/power{number}_input", 1)
    done = daq("-s", "hwmon", "--sysfs", sysfs.root, "--check")
    assert done.returncode == 2
    more = "source hwmon has more than 64 channels that measure power"
    assert done.stderr == f"spek-daq: {more}; choose from them in a rails file\n"


def test_of_power_and_energy_of_one_sensor_only_the_counter_is_a_rail(
    daq: Callable[..., subprocess.CompletedProcess[str]],
    program: Path,
    sysfs: Sysfs,
    tmp_path: Path,
) -> None:
    for file in ("power1", "energy1", "power2", "energy10"):
        sysfs.put(f"class/hwmon/hwmon3/{file}_input", 1)
    arguments = ["-s", "hwmon", "--sysfs", sysfs.root]
    names = some_rows(tmp_path, 1, program, *arguments, "-p")[0]
    assert sorted(name for name in names if "hwmon3" in name) == [
        "hwmon3/energy1.uW",
        "hwmon3/energy10.uW",
        "hwmon3/power2.uW",
    ]
    assert daq(*arguments, "--list").stdout.count("hwmon3") == 4


@pytest.mark.parametrize(
    ("source", "more", "interval_ns"),
    [
        ("hwmon", [], 10 * MS),
        ("hwmon", ["-i", "5s"], 5 * SECOND),
        ("sim", ["-i", "20us"], 20_000),
    ],
)
def test_a_source_says_how_often_it_measures(
    daq: Callable[..., subprocess.CompletedProcess[str]],
    sysfs: Sysfs,
    source: str,
    more: list[str],
    interval_ns: int,
) -> None:
    done = daq("-s", source, "--sysfs", sysfs.root, "--check", *more)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == f"spek-daq: scan interval: {interval_ns} ns"


def test_current_times_voltage(program: Path, sysfs: Sysfs, tmp_path: Path) -> None:
    rails = rails_file(
        tmp_path,
        'source = "hwmon"\ninterval_us = 5000\n'
        '[[rail]]\nname = "measured"\nchannel = "ina226/curr1"\nvoltage_channel = "ina226/in1"\n'
        '[[rail]]\nname = "nominal"\nchannel = "ina226/curr1"\nvoltage_mv = 12000\n',
    )
    rows = some_rows(tmp_path, 10, program, "-r", rails, "--sysfs", sysfs.root, "-p")[1]
    assert {tuple(values) for _, values in rows} == {(5_355_000, 5_400_000)}


def test_a_counter_of_energy_wraps_without_a_jump(
    program: Path, sysfs: Sysfs, tmp_path: Path
) -> None:
    counter = "class/powercap/intel-rapl:0/energy_uj"
    energy, step, steps = ZONE_RANGE_UJ - 10_000, 2_000, 20
    sysfs.put(counter, energy)
    command = [program, "-s", "powercap", "--sysfs", sysfs.root, "-i", "20ms", "-p"]

    def used_uj(rows: Rows) -> list[float]:
        """Energy of the intervals in which a step was used: what power is rounded by is used in the
        next interval."""
        intervals = ((at - before, values[0]) for (before, _), (at, values) in pairwise(rows))
        energies = [length_ns * (power or 0) / 1e9 for length_ns, power in intervals]
        return [energy for energy in energies if abs(energy) > step / 2]

    def has_seen(steps: int) -> bool:
        return len(used_uj(daq.rows)) == steps

    with running(tmp_path, *command) as daq:
        daq.until(lambda: len(daq.rows) > 1, "no second sample comes")
        for done in range(1, steps + 1):
            energy += step
            sysfs.put(counter, energy % ZONE_RANGE_UJ)
            daq.until(partial(has_seen, done), "a step isn't seen")
        names, rows = daq.finish()
    assert names == ["time_ns", "intel-rapl:0.uW"]
    assert min(values[0] for _, values in rows if values[0] is not None) >= 0
    assert used_uj(rows) == pytest.approx([step] * steps, rel=0.01)
    total = sum((values[0] or 0) * (at - before) for (before, _), (at, values) in pairwise(rows))
    assert total / 1e9 == pytest.approx(steps * step, rel=0.001)


def alone(folder: Path) -> Path:
    """A rails file with nothing but the sensor of one chip."""
    return rails_file(folder, '[[rail]]\nname = "a"\nchannel = "hwmon1/power1"\n')


def test_an_interval_in_which_a_counter_may_wrap_twice_is_refused(
    daq: Callable[..., subprocess.CompletedProcess[str]], sysfs: Sysfs
) -> None:
    arguments = ["-s", "powercap", "--sysfs", sysfs.root, "--check"]
    assert daq(*arguments, "-i", "65s").returncode == 0
    done = daq(*arguments, "-i", "66s")
    assert done.returncode == 2
    assert done.stderr == (
        "spek-daq: the counter of powercap zone 'intel-rapl:0' wraps after 65532 J, for which"
        " 1000 W take 65532 ms; the interval must not be longer\n"
    )


def test_a_device_that_goes_and_comes_back_is_waited_for(
    program: Path, sysfs: Sysfs, tmp_path: Path
) -> None:
    chip = sysfs.root / "class/hwmon/hwmon1"
    command = [program, "-s", "hwmon", "--sysfs", sysfs.root, "-r", alone(tmp_path), "-i", "10ms"]
    with running(tmp_path, *command, "-p") as daq:
        daq.until(lambda: len(daq.rows) > 10, "no samples come")
        away = chip.with_name("away")
        chip.rename(away)
        (away / "power1_input").write_text("")
        daq.until(lambda: "; retrying" in daq.errors, "nothing is tried")
        # A second and more without samples, in which it tries twice.
        time.sleep(1.2)
        (away / "power1_input").write_text("7000000\n")
        away.rename(chip)
        daq.until(lambda: daq.rows[-1][1] == [7_000_000], "nothing comes any more")
        rows = daq.finish()[1]
        errors = daq.errors
    assert "cannot read channel 'hwmon1/power1': No such device; waiting for the device" in errors
    assert "hwmon chip 'hwmon1' not found; retrying" in errors
    assert "the device is back" in errors
    hole = next(i for i, (_, values) in enumerate(rows) if values == [None])
    assert rows[hole - 1][1] == [5_250_000]
    assert rows[hole + 1][1] == [7_000_000]
    assert rows[hole + 1][0] - rows[hole - 1][0] > SECOND


def test_a_sensor_that_goes_does_not_silence_the_others(
    program: Path, sysfs: Sysfs, tmp_path: Path
) -> None:
    chip = sysfs.root / "class/hwmon/hwmon1"
    command = [program, "-s", "hwmon", "--sysfs", sysfs.root, "-i", "10ms", "-p"]
    with running(tmp_path, *command) as daq:
        daq.until(lambda: len(daq.rows) > 10, "no samples come")
        away = chip.with_name("away")
        chip.rename(away)
        (away / "power1_input").write_text("")
        daq.until(lambda: "'hwmon1' not found" in daq.errors, "it isn't looked for")
        daq.until(lambda: daq.rows[-1][1] == [None, 80_000_000], "the other one is silent")
        (away / "power1_input").write_text("7000000\n")
        away.rename(chip)
        daq.until(lambda: daq.rows[-1][1] == [7_000_000, 80_000_000], "it doesn't come back")
        rows = daq.finish()[1]
        errors = daq.errors.splitlines()
    assert {values[1] for _, values in rows} == {80_000_000}
    assert [key for key, _ in groupby(values[0] for _, values in rows)] == [
        5_250_000,
        None,
        7_000_000,
    ]
    continues = "waiting for it, the other channels continue"
    assert errors[:3] == [
        f"spek-daq: cannot read channel 'hwmon1/power1': No such device; {continues}",
        f"spek-daq: hwmon chip 'hwmon1' not found; {continues}",
        "spek-daq: channel 'hwmon1/power1' is back",
    ]


def test_of_sensors_that_go_the_first_to_come_back_is_measured(
    program: Path, sysfs: Sysfs, tmp_path: Path
) -> None:
    sensors = [
        sysfs.root / "class/hwmon" / name
        for name in ("hwmon1/power1_input", "hwmon2/power1_average")
    ]
    command = [program, "-s", "hwmon", "--sysfs", sysfs.root, "-i", "10ms", "-p"]
    with running(tmp_path, *command) as daq:
        daq.until(lambda: len(daq.rows) > 10, "no samples come")
        for sensor in sensors:
            moved = sensor.parent.rename(f"{sensor.parent}-away")
            (moved / sensor.name).write_text("")
        daq.until(lambda: "; retrying" in daq.errors, "nothing is tried")
        for sensor, value in zip(reversed(sensors), (8_000_000, 7_000_000), strict=True):
            moved = Path(f"{sensor.parent}-away")
            (moved / sensor.name).write_text(f"{value}\n")
            moved.rename(sensor.parent)
            daq.until(partial(has_in_last, daq, value), "it isn't measured")
        errors = daq.errors
        daq.finish()
    assert "hwmon chip 'hwmon1' not found; waiting for it, the other channels" in errors
    assert "the device is back" in errors
    assert "channel 'hwmon1/power1' is back" in errors


@pytest.mark.parametrize(
    ("source", "entry", "file", "channel", "replacement"),
    [
        ("hwmon", "hwmon1", "power1_input", "hwmon1/power1", {"name": "k10temp"}),
        ("powercap", "intel-rapl:0", "energy_uj", "intel-rapl:0", {"name": "package-1"}),
        # The same kind of zone, of another package.
        ("powercap", "intel-rapl:0:0", "energy_uj", "intel-rapl:0:0", {"../name": "package-1"}),
        # The same chip, on another bus.
        ("hwmon", "hwmon1", "power1_input", "hwmon1/power1", {}),
    ],
)
def test_another_device_that_takes_the_number_is_not_measured(
    program: Path,
    sysfs: Sysfs,
    tmp_path: Path,
    source: str,
    entry: str,
    file: str,
    channel: str,
    replacement: dict[str, str],
) -> None:
    in_class = sysfs.root / "class" / source / entry

    def plug(place: str, names: dict[str, str]) -> Path:
        device = sysfs.root / "devices" / place / "parent" / entry
        put = {"name": "ina226", "../name": "package-0", **names}
        for name, value in put.items():
            sysfs.put(f"{device.relative_to(sysfs.root)}/{name}", value)
        for name in (file, "max_energy_range_uj"):
            sysfs.put(f"{device.relative_to(sysfs.root)}/{name}", 70_000_000)
        in_class.symlink_to(device)
        return device

    def unplug(device: Path) -> None:
        in_class.unlink()
        # Empty: what an attribute of a removed device reads as.
        os.truncate(device / file, 0)

    if in_class.is_dir():
        in_class.rename(sysfs.root / "unused")
    text = f'[[rail]]\nname = "a"\nchannel = "{channel}"\n'
    command = [program, "-s", source, "--sysfs", sysfs.root, "-r", rails_file(tmp_path, text)]
    first = plug("first", {})
    with running(tmp_path, *command, "-i", "10ms", "-p") as daq:
        daq.until(lambda: len(daq.rows) > 10, "no samples come")
        unplug(first)
        daq.until(lambda: "waiting for the device" in daq.errors, "it isn't missed")
        before = len(daq.rows)
        second = plug("first" if replacement else "second", replacement)
        said = f"channel '{channel}' is another device now: {replacement.get('name', 'ina226')} of "
        daq.until(lambda: said in daq.errors or daq.has_rows(before + 1), "it isn't noticed")
        assert daq.rows[before:] == []
        unplug(second)
        plug("first", {})
        daq.until(lambda: daq.has_rows(before + 10), "the first one isn't measured again")
        daq.finish()
        errors = daq.errors
    assert errors.count("the device is back") == 1


def test_a_hid_device_that_is_plugged_in_again_is_measured_again(
    program: Path, sysfs: Sysfs, tmp_path: Path
) -> None:
    devices = [f"devices/usb1/0003:1B1C:1C05.{number}/hwmon/hwmon9" for number in ("0005", "000A")]
    link = sysfs.root / "class/hwmon/hwmon9"
    rails = rails_file(tmp_path, '[[rail]]\nname = "a"\nchannel = "hwmon9/power1"\n')
    for device, value in zip(devices, (5_000_000, 7_000_000), strict=True):
        sysfs.put(f"{device}/name", "corsairpsu")
        sysfs.put(f"{device}/power1_input", value)
    link.symlink_to(sysfs.root / devices[0])
    command = [program, "-s", "hwmon", "--sysfs", sysfs.root, "-r", rails, "-i", "10ms", "-p"]
    with running(tmp_path, *command) as daq:
        daq.until(lambda: len(daq.rows) > 10, "no samples come")
        link.unlink()
        os.truncate(sysfs.root / devices[0] / "power1_input", 0)
        daq.until(lambda: "; retrying" in daq.errors, "nothing is tried")
        link.symlink_to(sysfs.root / devices[1])
        daq.until(lambda: has_in_last(daq, 7_000_000), "nothing comes any more")
        daq.finish()


def has_in_last(daq: Running, value: int) -> bool:
    return value in daq.rows[-1][1]


def test_the_units_of_a_device_that_was_waited_for_are_right(
    program: Path, sysfs: Sysfs, tmp_path: Path
) -> None:
    chip = sysfs.root / "class/hwmon/hwmon1"
    away = chip.with_name("away")
    text = '[[rail]]\nname = "a"\nchannel = "hwmon1/power1"\n'
    text += '[[rail]]\nname = "b"\nchannel = "hwmon1/curr1"\nvoltage_mv = 1000\n'
    command = [program, "-s", "hwmon", "--sysfs", sysfs.root, "-r", rails_file(tmp_path, text)]
    chip.rename(away)
    with running(tmp_path, *command, "--print=raw", "--wait") as daq:
        daq.until(lambda: "waiting for the device" in daq.errors, "it doesn't wait")
        away.rename(chip)
        daq.until(lambda: daq.rows, "nothing comes")
        names, rows = daq.finish()
    assert names == ["time_ns", "hwmon1/power1.nW", "hwmon1/curr1.uA"]
    assert rows[-1][1] == [5_250_000_000, 450_000]


@pytest.mark.parametrize(
    ("more", "settings", "sentence"),
    [
        ("", ["-o", "serail=1"], "source hwmon has no setting 'serail'; it has none"),
        ("voltage_mv = 1\n", [], "measures power; remove the rail's voltage"),
    ],
)
def test_wrong_input_ends_it_when_the_device_has_come(
    program: Path, sysfs: Sysfs, tmp_path: Path, more: str, settings: list[str], sentence: str
) -> None:
    chip = sysfs.root / "class/hwmon/hwmon1"
    away = chip.with_name("away")
    rails = rails_file(tmp_path, f'[[rail]]\nname = "a"\nchannel = "hwmon1/power1"\n{more}')
    command = [program, "-s", "hwmon", "--sysfs", sysfs.root, "-r", rails, *settings]
    chip.rename(away)
    with running(tmp_path, *command, "--print", "--wait") as daq:
        daq.until(lambda: "waiting for the device" in daq.errors, "it doesn't wait")
        away.rename(chip)
        assert daq.process.wait(HANG_S) == 2
        check_sanitizers(daq.errors)
        assert sentence in daq.errors.splitlines()[-1]
        assert not daq.out


def test_a_device_that_opens_but_cannot_be_read_is_tried_now_and_then(
    program: Path, sysfs: Sysfs, tmp_path: Path
) -> None:
    sensor = "class/hwmon/hwmon1/power1_input"
    command = [program, "-s", "hwmon", "--sysfs", sysfs.root, "-r", alone(tmp_path), "-p"]
    with running(tmp_path, *command) as daq:
        daq.until(lambda: len(daq.rows) > 10, "no samples come")
        sysfs.put(sensor, "no number")
        daq.until(lambda: "waiting for the device" in daq.errors, "it isn't missed")
        before = cpu_s(daq.process.pid)
        time.sleep(1.5)
        used = cpu_s(daq.process.pid) - before
        said = daq.errors
        sysfs.put(sensor, 7_000_000)
        daq.until(lambda: daq.rows[-1][1][0] == 7_000_000, "nothing comes any more")
        rows = daq.finish()[1]
        errors = daq.errors
    assert used < 0.5
    why = "cannot read channel 'hwmon1/power1': Input/output error; waiting for the device"
    assert said == f"spek-daq: {why}\n"
    assert errors.count("the device is back") == 1
    assert sum(1 for _, values in rows if values == [None]) == 1


# ---- iio, whose place in sysfs libiio knows by heart ----

IIO = """
mount -t tmpfs none /sys/bus || exit
device=/sys/bus/iio/devices/iio:device0
mkdir -p $device
echo ina226 > $device/name
echo 4000 > $device/in_voltage0_raw; echo 1.25 > $device/in_voltage0_scale
echo 500 > $device/in_current1_raw; echo 1 > $device/in_current1_scale
echo 5250 > $device/in_power2_raw; echo 0.5 > $device/in_power2_scale
echo 21000 > $device/in_temp_input
exec "$@"
"""


# One of the test's own, with a buffer: its attributes and a FIFO for its scans are below DEVICES.
IIO_BUFFER = """
mount -t tmpfs none /sys/bus && mount -t tmpfs none /dev || exit
mkdir -p /sys/bus/iio/devices
mount --bind "$DEVICES" /sys/bus/iio/devices || exit
ln -s "$DEVICES"/fifo /dev/iio:device0
exec "$@"
"""


class Buffered:
    """A power meter that the kernel samples into a buffer."""

    def __init__(self, folder: Path, program: Path) -> None:
        self.devices = Sysfs(folder / "devices")
        self.program = program
        for name, value in {
            "name": "meter",
            "current_timestamp_clock": "realtime",
            "in_power0_raw": 0,
            "in_power0_scale": 1,
            "buffer/length": 0,
            "buffer/enable": 0,
            "scan_elements/in_power0_en": 0,
            "scan_elements/in_power0_index": 0,
            "scan_elements/in_power0_type": "le:s64/64>>0",
            "scan_elements/in_timestamp_en": 0,
            "scan_elements/in_timestamp_index": 1,
            "scan_elements/in_timestamp_type": "le:s64/64>>0",
        }.items():
            self.put(name, value)
        os.mkfifo(self.devices.root / "fifo")

    def put(self, attribute: str, value: object, device: str = "iio:device0") -> None:
        file = self.devices.root / device / attribute
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{value}\n")

    def unplug(self, device: str) -> Path:
        """Empty: what an attribute of a removed device reads as."""
        os.truncate(self.devices.root / device / "name", 0)
        return (self.devices.root / device).rename(self.devices.root.parent / f"{device}-away")

    def plug(self, device: str, name: str) -> None:
        away = self.devices.root.parent / f"{device}-away"
        (away / "name").write_text(f"{name}\n")
        away.rename(self.devices.root / device)

    def read(self, attribute: str, device: str = "iio:device0") -> str:
        text = (self.devices.root / device / attribute).read_text()
        return text.replace("\0", "").strip()

    def command(self, *arguments: object) -> list[object]:
        environment = ["env", f"DEVICES={self.devices.root}"]
        inside = ["sh", "-c", IIO_BUFFER, "sh", self.program, "-s", "iio"]
        return [*in_own_mounts(), *environment, *inside, *arguments]

    def check(self, *arguments: str) -> list[str]:
        """What --check says."""
        command = [str(word) for word in self.command("--check", *arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANG_S)
        check_sanitizers(done.stderr)
        return done.stderr.splitlines()


@pytest.fixture
def buffered(program: Path, tmp_path: Path) -> Buffered:
    return Buffered(tmp_path, program)


def test_the_interval_of_a_buffer_is_where_the_driver_says_it(buffered: Buffered) -> None:
    assert buffered.check()[-1] == "spek-daq: 1 rails on 1 channels of source iio: ok"
    buffered.put("in_sampling_frequency", 0.2)
    assert buffered.check()[-1] == "spek-daq: scan interval: 5000000000 ns"
    assert buffered.check("-i", "20ms")[-1] == "spek-daq: scan interval: 20000000 ns"
    assert buffered.read("buffer/length") == "4"
    buffered.put("sampling_frequency", 1000)
    assert buffered.check()[-1] == "spek-daq: scan interval: 1000000 ns"
    # The device converts so often, but samples when its trigger says.
    buffered.put("name", "timer", "trigger0")
    buffered.put("sampling_frequency", 100, "trigger0")
    buffered.put("trigger/current_trigger", "timer")
    assert buffered.check()[-1] == "spek-daq: scan interval: 10000000 ns"
    assert buffered.check("-i", "50ms")[-1] == "spek-daq: scan interval: 50000000 ns"
    assert float(buffered.read("sampling_frequency", "trigger0")) == 20


def test_without_a_rate_an_interval_is_refused(buffered: Buffered) -> None:
    (sentence,) = buffered.check("-i", "20ms")
    refusal = "cannot set the interval of IIO device 'iio:device0': it has no sampling_frequency"
    assert refusal in sentence


def put_second(buffered: Buffered, device: str = "iio:device1", name: str = "second") -> None:
    buffered.put("name", name, device)
    buffered.put("in_power0_raw", 7000, device)
    buffered.put("in_power0_scale", 1, device)


def test_a_polled_device_that_goes_does_not_silence_the_others(
    buffered: Buffered, tmp_path: Path
) -> None:
    put_second(buffered)
    with running(tmp_path, *buffered.command("-p", "-i", "10ms")) as daq:
        daq.until(lambda: len(daq.rows) > 10, "no samples come")
        buffered.unplug("iio:device1")
        daq.until(lambda: "'iio:device1' not found" in daq.errors, "it isn't looked for")
        daq.until(lambda: daq.rows[-1][1] == [0, None], "it isn't missed")
        buffered.plug("iio:device1", "second")
        daq.until(lambda: daq.rows[-1][1] == [0, 7_000_000], "it doesn't come back")
        rows = daq.finish()[1]
        errors = daq.errors.splitlines()
    assert {values[0] for _, values in rows} == {0}
    continues = "waiting for it, the other channels continue"
    assert errors[1] == f"spek-daq: IIO device 'iio:device1' not found; {continues}"
    assert errors[2] == "spek-daq: channel 'iio:device1/power0' is back"


def test_of_polled_devices_that_go_the_first_to_come_back_is_measured(
    buffered: Buffered, tmp_path: Path
) -> None:
    put_second(buffered)
    with running(tmp_path, *buffered.command("-p", "-i", "10ms")) as daq:
        daq.until(lambda: len(daq.rows) > 10, "no samples come")
        for device in ("iio:device0", "iio:device1"):
            buffered.unplug(device)
        daq.until(lambda: "; retrying" in daq.errors, "nothing is tried")
        buffered.plug("iio:device1", "second")
        daq.until(lambda: daq.rows[-1][1] == [None, 7_000_000], "it isn't measured")
        buffered.plug("iio:device0", "meter")
        daq.until(lambda: daq.rows[-1][1] == [0, 7_000_000], "the other one isn't measured")
        daq.finish()
        errors = daq.errors
    assert "the device is back" in errors
    assert "channel 'iio:device0/power0' is back" in errors


@pytest.mark.parametrize("is_alone", [True, False])
def test_another_converter_that_takes_the_number_is_not_measured(
    buffered: Buffered, tmp_path: Path, is_alone: bool
) -> None:
    put_second(buffered)
    put_second(buffered, "iio:device2", "third")
    (buffered.devices.root / "iio:device2").rename(tmp_path / "third")
    alone = '[[rail]]\nname = "a"\nchannel = "iio:device1/power0"\n'
    both = '[[rail]]\nname = "b"\nchannel = "meter/power0"\n'
    rails = rails_file(tmp_path, alone if is_alone else alone + both)
    mode = ["-o", "mode=sysfs"]
    with running(tmp_path, *buffered.command("-r", rails, "-p", "-i", "10ms", *mode)) as daq:
        daq.until(lambda: len(daq.rows) > 10, "no samples come")
        gone = buffered.unplug("iio:device1")
        before = len(daq.rows)
        third = (tmp_path / "third").rename(buffered.devices.root / "iio:device1")
        said = "channel 'iio:device1/power0' is another device now: third at "
        buffered.put("in_power0_raw", 8000, "iio:device1")
        daq.until(lambda: said in daq.errors, "it isn't noticed")
        third.rename(tmp_path / "third")
        buffered.plug("iio:device1", "second")
        daq.until(lambda: daq.rows[before + 1 :] and daq.rows[-1][1][0], "it doesn't come back")
        rows = daq.finish()[1]
    assert not gone.exists()
    assert {values[0] for _, values in rows} == {None, 7_000_000}


@pytest.mark.parametrize("lost", [1, 4])
@pytest.mark.parametrize("frequency", [None, "100"])
def test_scans_that_a_buffer_lost_are_a_gap(
    buffered: Buffered, tmp_path: Path, frequency: str | None, lost: int
) -> None:
    """One is enough; a scan that comes 4 ms late is not."""
    if frequency:
        buffered.put("in_sampling_frequency", frequency)
    buffered.check()
    start = time.monotonic_ns()
    scheduled = [i for i in range(56 + lost) if not 40 <= i < 40 + lost]
    times = [start + i * 10 * MS + (4 * MS if i == 50 else 0) for i in scheduled]
    scans = b"".join(struct.pack("<qq", 5, at) for at in times)
    with (
        running(tmp_path, *buffered.command("-p")) as daq,
        (buffered.devices.root / "fifo").open("r+b", buffering=0) as fifo,
    ):
        fifo.write(scans)
        daq.until(lambda: daq.rows and daq.rows[-1][0] == times[-1], "the last scan doesn't come")
        rows = daq.finish()[1]
        errors = daq.errors
    assert [at for at, values in rows if values != [None]] == times
    assert {at for at, values in rows if values == [None]} == {start + (40 + lost) * 10 * MS}
    assert "1 overflows" in errors
    assert int(buffered.read("buffer/length")) >= (8 if frequency else 64)


@pytest.mark.parametrize("wrong_ns", [2**62, -1])
def test_one_wrong_timestamp_does_not_hold_back_those_after_it(
    buffered: Buffered, tmp_path: Path, wrong_ns: int
) -> None:
    buffered.put("in_sampling_frequency", 100)
    buffered.check()
    with (
        running(tmp_path, *buffered.command("-p")) as daq,
        (buffered.devices.root / "fifo").open("r+b", buffering=0) as fifo,
    ):

        def write(*times: int) -> None:
            fifo.write(b"".join(struct.pack("<qq", 5, at) for at in times))

        start = time.monotonic_ns()
        write(*(start + i * 10 * MS for i in range(8)))
        daq.until(lambda: len(daq.rows) == 8, "no samples come")
        write(wrong_ns, wrong_ns, wrong_ns, wrong_ns)
        waits = "waiting for the device"
        daq.until(lambda: waits in daq.errors or daq.has_rows(9), "the scans don't come")
        later = [time.monotonic_ns() + i * 10 * MS for i in range(8)]
        write(*later)
        daq.until(lambda: daq.rows[-1][0] == later[-1], "the last scan doesn't come")
        rows = daq.finish()[1]
        errors = daq.errors
    why = "sent a timestamp that is negative or more than 1 s in the future; waiting for the device"
    assert errors.count(f"spek-daq: IIO device 'iio:device0' {why}\n") == 1
    assert errors.count("the device is back") == 1
    times = [at for at, values in rows if values != [None]][8:]
    assert times
    assert times == later[-len(times) :]


def on_iio(program: Path, *arguments: object) -> list[object]:
    """The command that runs it where there is an ina226."""
    return [*in_own_mounts(), "sh", "-c", IIO, "sh", program, "-s", "iio", *arguments]


@pytest.fixture
def iio(program: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """iio(*arguments) runs it where there is an ina226."""

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [str(word) for word in on_iio(program, *arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANG_S)
        assert "Sanitizer" not in done.stderr, done.stderr
        return done

    return run


def test_converters_are_polled(
    iio: Callable[..., subprocess.CompletedProcess[str]], program: Path, tmp_path: Path
) -> None:
    assert sorted(iio("--list").stdout.splitlines()) == [
        "iio:device0/current1\tcurrent",
        "iio:device0/power2\tpower",
        "iio:device0/voltage0\tvoltage",
    ]
    names, rows = some_rows(tmp_path, 5, *on_iio(program, "-p"))
    assert names == ["time_ns", "iio:device0/power2.uW"]
    assert {tuple(values) for _, values in rows} == {(2_625_000,)}
    text = '[[rail]]\nname = "a"\nchannel = "ina226/current1"\nvoltage_channel = "ina226/voltage0"'
    rails = rails_file(tmp_path, text)
    rows = some_rows(tmp_path, 5, *on_iio(program, "-r", rails, "-p"))[1]
    assert {tuple(values) for _, values in rows} == {(2_500_000,)}


@pytest.mark.parametrize(
    ("channel", "more", "code", "sentence"),
    [
        ("ina226/power9", [], 2, "IIO device 'ina226' has no input 'power9'"),
        ("ina3221/power0", [], 6, "IIO device 'ina3221' not found"),
        ("power0", [], 2, "'power0' is not an IIO channel; use DEVICE/CHANNEL"),
        ("ina226/temp", [], 2, "'ina226/temp' does not measure voltage, current"),
        ("ina226/power2", ["-o", "mode=buffer"], 2, "do not share a buffer with timestamps"),
        ("ina226/power2", ["-o", "mode=x"], 2, "setting 'mode' is 'x'; it must be buffer or"),
    ],
)
def test_wrong_converters_get_one_sentence(
    iio: Callable[..., subprocess.CompletedProcess[str]],
    tmp_path: Path,
    channel: str,
    more: list[str],
    code: int,
    sentence: str,
) -> None:
    file = rails_file(tmp_path, f'[[rail]]\nname = "a"\nchannel = "{channel}"\n')
    done = iio("-r", file, "--check", *more)
    assert (done.returncode, done.stderr.count("\n")) == (code, 1), done.stderr
    assert sentence in done.stderr
