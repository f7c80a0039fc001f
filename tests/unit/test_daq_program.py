# SPDX-License-Identifier: GPL-2.0
"""spek-daq itself, built with sanitizers, on files and on a made-up sysfs."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from lib.daq_build import checked_program, library
from lib.waiting import eventually

MS = 10**6
SECOND = 10**9
HANG_S = 300
Rows = list[tuple[int, list[int | None]]]


def check_sanitizers(errors: str) -> None:
    assert "Sanitizer" not in errors, errors
    assert "runtime error" not in errors, errors


class Running:
    """It goes on until finish(); what it says is in files, so that nobody has to keep up."""

    def __init__(self, folder: Path, command: list[str]) -> None:
        self._out, self._errors = folder / "daq.out", folder / "daq.errors"
        with self._out.open("w") as out, self._errors.open("w") as errors:
            self.process = subprocess.Popen(command, stdout=out, stderr=errors)

    @property
    def errors(self) -> str:
        return self._errors.read_text()

    @property
    def out(self) -> str:
        return self._out.read_text()

    @property
    def rows(self) -> Rows:
        """Of all lines that are whole."""
        whole, end, _ = self.out.rpartition("\n")
        return table(whole)[1] if end else []

    def until(self, condition: Callable[[], object], what: str) -> None:
        """It fails at once if the program ends meanwhile."""
        ended = False

        def is_so() -> bool:
            nonlocal ended
            ended = self.process.poll() is not None
            return ended or bool(condition())

        eventually(is_so, f"{what}: {self.errors}", HANG_S)
        assert not ended, self.errors

    def finish(self) -> tuple[list[str], Rows]:
        """All it has printed, as table() has it."""
        self.process.terminate()
        assert self.process.wait(HANG_S) == 0, self.errors
        check_sanitizers(self.errors)
        return table(self.out)


@contextmanager
def running(folder: Path, *command: object) -> Iterator[Running]:
    found = Running(folder, [str(word) for word in command])
    try:
        yield found
    finally:
        found.process.kill()
        found.process.wait()


def some_rows(folder: Path, count: int, *command: object) -> tuple[list[str], Rows]:
    """As table(), of at least @count lines, however long they take."""
    with running(folder, *command) as program:
        program.until(lambda: len(program.rows) >= count, f"no {count} lines come")
        return program.finish()


@pytest.fixture(scope="module")
def program() -> Path:
    return checked_program()


@pytest.fixture
def daq(program: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """daq(*arguments) runs it to its end."""

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [str(program), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANG_S)
        check_sanitizers(done.stderr)
        return done

    return run


def table(text: str) -> tuple[list[str], Rows]:
    """What --print writes: names, and (time, values) of each line."""
    head, *lines = text.splitlines()
    rows: Rows = []
    for line in lines:
        at, *values = line.split(",")
        rows.append((int(at), [int(value) if value else None for value in values]))
    return head.split(","), rows


def joules(rows: Rows, column: int = 0) -> tuple[float, int, int]:
    """(energy by trapezoids of uW, from, to); only of rows without gaps."""
    points = [(at, values[column]) for at, values in rows]
    total = 0
    for (t0, p0), (t1, p1) in itertools.pairwise(points):
        assert p0 is not None
        assert p1 is not None
        total += (p0 + p1) * (t1 - t0)
    return total / 2e15, points[0][0], points[-1][0]


def expected(wave: str, start: int, end: int) -> float:
    ffi, lib = library()
    found = ffi.new("struct daq_wave *")
    assert lib.daq_wave_parse(wave.encode(), found, ffi.NULL) == 0
    return float(lib.daq_wave_energy_nj(found, start, end)) / 1e9


def cpu_s(pid: int) -> float:
    """What a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rails_file(folder: Path, text: str) -> Path:
    path = folder / "rails.toml"
    path.write_text(text)
    return path


# ---- sim ----


CLOCKS = ("device", "host")
WAVES = ("triangle:500:6000:200", "square:500:6000:400", "sine:0:6000:300")


@pytest.fixture(scope="module")
def waves(
    program: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[tuple[str, str], tuple[list[str], Rows]]:
    """What is printed of each wave by each clock: two seconds and more, all at the same time."""
    with ExitStack() as stack:
        started = {}
        for wave, clock in itertools.product(WAVES, CLOCKS):
            folder = tmp_path_factory.mktemp("wave")
            rails = rails_file(folder, f'[[rail]]\nname = "a"\nchannel = "{wave}"\n')
            settings = ["-o", f"clock={clock}", "-o", "noise_uw=100", "-o", "seed=3"]
            settings += ["-o", "drift_ppb=100000", "-o", "jitter_us=3000"]
            command = [program, "-s", "sim", "-r", rails, *settings, "-p"]
            started[wave, clock] = stack.enter_context(running(folder, *command))
        for one in started.values():
            one.until(lambda one=one: len(one.rows) > 1500, "no 1500 samples come")
        return {key: one.finish() for key, one in started.items()}


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("wave", WAVES)
def test_a_known_waveform_has_its_energy(
    waves: dict[tuple[str, str], tuple[list[str], Rows]], wave: str, clock: str
) -> None:
    names, rows = waves[wave, clock]
    assert names == ["time_ns", "a.uW"]
    energy, start, end = joules(rows)
    assert end - start > SECOND
    assert energy == pytest.approx(expected(wave, start, end), rel=0.005)


def test_lost_scans_are_gaps(program: Path, tmp_path: Path) -> None:
    rails = rails_file(tmp_path, '[[rail]]\nname = "a"\nchannel = "const:1000"\n')
    every, lost = 200, 50
    settings = ["-o", f"gap_every={every}", "-o", f"gap_scans={lost}"]
    with running(tmp_path, program, "-s", "sim", "-r", rails, *settings, "-p") as sim:
        sim.until(lambda: len(sim.rows) > 1400, "no 1400 samples come")
        rows = sim.finish()[1]
        counted = re.search(r", (\d+) lost", sim.errors)
    holes = [i for i, (_, values) in enumerate(rows) if values == [None]]
    assert len(holes) >= 6
    for i in holes:
        missing = rows[i + 1][0] - rows[i - 1][0]
        assert missing == pytest.approx((lost + 1) * MS, abs=MS)
    # A gap under way is counted, and printed with the scan that ends it.
    has_begun = len(rows) - 1 - holes[-1] == every
    assert counted
    assert int(counted[1]) - lost * len(holes) in ((0, lost) if has_begun else (0,))


def test_an_end_before_the_clock_has_settled_loses_nothing(
    daq: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    done = daq("-s", "sim", "-t", "400ms", "-p")
    rows = table(done.stdout)[1]
    assert len(rows) >= 100
    assert all(abs(b - a - MS) <= 1000 for (a, _), (b, _) in itertools.pairwise(rows))
    assert f"{len(rows)} samples, 0 gaps, 0 lost" in done.stderr


def test_transducers_give_the_power_back(program: Path, tmp_path: Path) -> None:
    wave = "triangle:500:6000:200"
    text = f'[[rail]]\nname = "a"\nchannel = "{wave}"\nvoltage_mv = 12000\nzero_uv = 2525000\n'
    rails = rails_file(tmp_path, text)
    settings = ["-o", "transducer=true", "-o", "zero_error_uv=25000", "-o", "clock=host"]
    command = [program, "-s", "sim", "-r", rails, *settings]
    energy, start, end = joules(some_rows(tmp_path, 950, *command, "-p")[1])
    lsb_j = 0.0364 * (end - start) / SECOND
    wanted = expected(wave, start, end)
    assert abs(energy - wanted) <= 0.005 * wanted + lsb_j
    assert some_rows(tmp_path, 1, *command, "--print=raw")[0] == ["time_ns", f"{wave}.uV"]


def test_an_unplugged_transducer_is_said_and_is_a_gap(program: Path, tmp_path: Path) -> None:
    text = "".join(
        f'[[rail]]\nname = "{name}"\nchannel = "const:{mw}"\nvoltage_mv = 12000\n'
        for name, mw in (("a", 1000), ("b", 2000))
    )
    rails = rails_file(tmp_path, text)
    settings = ["-o", "transducer=true", "-o", "unplugged=1", "-o", "clock=host"]
    with running(tmp_path, program, "-s", "sim", "-r", rails, *settings, "-p") as sim:
        sim.until(lambda: len(sim.rows) > 250, "no 250 samples come")
        rows = sim.finish()[1]
        errors = sim.errors
    assert all(values[1] is None for _, values in rows)
    assert all(values[0] is not None for _, values in rows)
    assert errors.count("rail 'b': the transducer on const:2000 is unplugged") == 1


# ---- replay ----


def replay(path: Path, *more: str) -> list[object]:
    return ["-s", "replay", "-o", f"file={path}", "-p", *more]


def test_a_file_is_replayed_as_it_is(
    daq: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    path = tmp_path / "watts.csv"
    path.write_text("time_s,12V.W,5V.mW\n0,1.5,100\n0.1,2.5,\n0.25,0.5,300\n")
    done = daq(*replay(path))
    names, rows = table(done.stdout)
    assert names == ["time_ns", "12V.uW", "5V.uW"]
    start = rows[0][0]
    assert [(at - start, values) for at, values in rows] == [
        (0, [1_500_000, 100_000]),
        (100 * MS, [2_500_000, None]),
        (250 * MS, [None, None]),  # the gap of 5V
        (250 * MS, [500_000, 300_000]),
    ]


def test_what_was_printed_can_be_replayed(
    daq: Callable[..., subprocess.CompletedProcess[str]], program: Path, tmp_path: Path
) -> None:
    with running(tmp_path, program, "-s", "sim", "-o", "clock=host", "-p") as sim:
        sim.until(lambda: len(sim.rows) > 250, "no 250 samples come")
        sim.finish()
        first = sim.out
    path = tmp_path / "printed.csv"
    path.write_text(first)
    second = daq(*replay(path, "-o", "absolute=true"))
    assert second.stdout == first


def test_a_loop_goes_round_without_a_seam(program: Path, tmp_path: Path) -> None:
    path = tmp_path / "watts.csv"
    path.write_text("time_ms,a.W\n0,1\n50,2\n100,1\n")
    rows = some_rows(tmp_path, 7, program, *replay(path, "-o", "loop=true"))[1]
    at = [when - rows[0][0] for when, _ in rows]
    assert at[:7] == [0, 50 * MS, 100 * MS, 100 * MS, 150 * MS, 200 * MS, 200 * MS]


def test_energy_in_a_file_becomes_mean_power(
    daq: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    path = tmp_path / "meter.csv"
    path.write_text("time_ms,wall.J\n0,100\n100,100.5\n200,101.5\n")
    rows = table(daq(*replay(path)).stdout)[1]
    assert [values for _, values in rows] == [[None], [5_000_000], [10_000_000]]


@pytest.mark.skipif(Path("/sys/module/spek_prober").exists(), reason="the prober is loaded here")
def test_a_file_waits_for_room_in_the_queue(program: Path, tmp_path: Path) -> None:
    path = tmp_path / "watts.csv"
    path.write_text("time_ns,a.W\n" + "".join(f"{at},1\n" for at in range(1, 10_001)))
    command = [program, "-s", "replay", "-o", f"file={path}", "-o", "absolute=true"]
    with running(tmp_path, *command, "--wait", "--queue", "2048") as daq:
        daq.until(lambda: "waiting for the prober" in daq.errors, "it doesn't wait")
        time.sleep(1)
        assert daq.process.poll() is None, daq.errors
        daq.process.terminate()
        assert daq.process.wait(HANG_S) == 5
        check_sanitizers(daq.errors)
        said = "spek-daq: 2048 samples were not delivered to the prober"
        assert daq.errors.splitlines()[-1] == said
        counted = re.search(r"(\d+) samples, 0 gaps, (\d+) lost", daq.errors)
    assert counted
    made, lost = map(int, counted.groups())
    assert made - lost == 2048
    assert lost <= 256, "no more than the lines that were on their way"


# ---- hwmon and powercap, on files ----


class Sysfs:
    """A tree like the kernel's."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def put(self, path: str, value: object) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        # In place, as attributes change: no new file for those who have it open.
        with file.open("r+" if file.exists() else "w") as stream:
            stream.write(f"{value}\n".ljust(20))
            stream.flush()


def put_zones(tree: Sysfs, zones: dict[str, str]) -> None:
    """Zones of powercap and their names."""
    tree.put("class/powercap/intel-rapl/enabled", 1)
    for zone, name in zones.items():
        tree.put(f"class/powercap/{zone}/name", name)
        tree.put(f"class/powercap/{zone}/energy_uj", 1_000)
        tree.put(f"class/powercap/{zone}/max_energy_range_uj", 1_000_000)


@pytest.fixture
def sysfs(tmp_path: Path) -> Sysfs:
    tree = Sysfs(tmp_path / "sys")
    tree.put("class/hwmon/hwmon0/name", "nvme")
    tree.put("class/hwmon/hwmon0/temp1_input", 41000)
    tree.put("class/hwmon/hwmon1/name", "ina226")
    for file, value in {"power1_input": 5_250_000, "curr1_input": 450, "in1_input": 11_900}.items():
        tree.put(f"class/hwmon/hwmon1/{file}", value)
    tree.put("class/hwmon/hwmon2/name", "acpi")
    tree.put("class/hwmon/hwmon2/power1_average", 80_000_000)
    put_zones(tree, {"intel-rapl:0": "package-0", "intel-rapl:0:0": "core"})
    return tree


def test_sensors_are_listed(
    daq: Callable[..., subprocess.CompletedProcess[str]], sysfs: Sysfs
) -> None:
    assert daq("-s", "hwmon", "--sysfs", sysfs.root, "--list").stdout.splitlines() == [
        "hwmon1/curr1\tcurrent",
        "hwmon1/in1\tvoltage",
        "hwmon1/power1\tpower",
        "hwmon2/power1\tpower",
    ]


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
    found = daq("-s", "powercap", "--sysfs", tree.root, "--list").stdout
    assert found.splitlines() == [f"{zone}\tenergy" for zone in listed]
    if not listed:
        refused = daq("-s", "powercap", "--sysfs", tree.root, "--check")
        assert refused.returncode == 6
        assert "a rails file can name other channels" in refused.stderr


def test_sensors_of_power_need_no_rails_file(program: Path, sysfs: Sysfs, tmp_path: Path) -> None:
    command = [program, "-s", "hwmon", "--sysfs", sysfs.root, "-p"]
    names, rows = some_rows(tmp_path, 10, *command)
    assert names == ["time_ns", "hwmon1/power1.uW", "hwmon2/power1.uW"]
    assert {tuple(values) for _, values in rows} == {(5_250_000, 80_000_000)}
    steps = [b - a for (a, _), (b, _) in itertools.pairwise(rows)]
    assert min(steps) > 0


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
    assert done.stderr.splitlines()[-1] == f"spek-daq: a scan comes every {interval_ns} ns"


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
    energy, step, steps = 990_000, 2_000, 20
    sysfs.put(counter, energy)
    command = [program, "-s", "powercap", "--sysfs", sysfs.root, "-i", "20ms", "-p"]

    def seen(rows: Rows) -> int:
        """Intervals in which energy was used."""
        return sum(1 for _, values in rows if values[0])

    with running(tmp_path, *command) as daq:
        daq.until(lambda: len(daq.rows) > 1, "no second sample comes")
        for done in range(1, steps + 1):
            energy += step
            sysfs.put(counter, energy % 1_000_000)
            daq.until(lambda done=done: seen(daq.rows) == done, "a step isn't seen")
        names, rows = daq.finish()
    assert names == ["time_ns", "intel-rapl:0.uW"]
    powers = [values[0] for _, values in rows if values[0] is not None]
    total = sum(
        (values[0] or 0) * (at - before) for (before, _), (at, values) in itertools.pairwise(rows)
    )
    assert min(powers) >= 0
    assert total / 1e9 == pytest.approx(steps * step, rel=0.001)
    assert max(powers) < 10**9


def test_a_device_that_goes_and_comes_back_is_waited_for(
    program: Path, sysfs: Sysfs, tmp_path: Path
) -> None:
    chip = sysfs.root / "class/hwmon/hwmon1"
    before, after = [5_250_000, 80_000_000], [7_000_000, 80_000_000]
    command = [program, "-s", "hwmon", "--sysfs", sysfs.root, "-i", "10ms", "-p"]
    with running(tmp_path, *command) as daq:
        daq.until(lambda: len(daq.rows) > 10, "no samples come")
        away = chip.with_name("away")
        chip.rename(away)
        (away / "power1_input").write_text("")
        daq.until(lambda: "; trying again" in daq.errors, "nothing is tried")
        # A second and more without samples, in which it tries twice.
        time.sleep(1.2)
        (away / "power1_input").write_text("7000000\n")
        away.rename(chip)
        daq.until(lambda: daq.rows[-1][1] == after, "nothing comes any more")
        rows = daq.finish()[1]
        errors = daq.errors
    assert "channel 'hwmon1/power1' can't be read: No such device; waiting for the device" in errors
    assert "there is no hwmon chip 'hwmon1'; trying again" in errors
    assert "the device is back" in errors
    hole = next(i for i, (_, values) in enumerate(rows) if values == [None, None])
    assert rows[hole - 1][1] == before
    assert rows[hole + 1][1] == after
    assert rows[hole + 1][0] - rows[hole - 1][0] > SECOND


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
        ("voltage_mv = 1\n", [], "measures power, so the rail takes no voltage"),
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
    sensor = sysfs.root / "class/hwmon/hwmon1/power1_input"
    with running(tmp_path, program, "-s", "hwmon", "--sysfs", sysfs.root, "-p") as daq:
        daq.until(lambda: len(daq.rows) > 10, "no samples come")
        sensor.write_text("no number\n")
        daq.until(lambda: "waiting for the device" in daq.errors, "it isn't missed")
        before = cpu_s(daq.process.pid)
        time.sleep(1.5)
        used = cpu_s(daq.process.pid) - before
        said = daq.errors
        sensor.write_text("7000000\n")
        daq.until(lambda: daq.rows[-1][1][0] == 7_000_000, "nothing comes any more")
        rows = daq.finish()[1]
        errors = daq.errors
    assert used < 0.5
    why = "channel 'hwmon1/power1' can't be read: Input/output error; waiting for the device"
    assert said == f"spek-daq: {why}\n"
    assert errors.count("the device is back") == 1
    assert sum(1 for _, values in rows if values == [None, None]) == 1


# ---- iio, whose place in sysfs libiio knows by heart ----

IIO = """
mount -t tmpfs none /sys/bus || exit 77
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
mount -t tmpfs none /sys/bus && mount -t tmpfs none /dev || exit 77
mkdir -p /sys/bus/iio/devices
for name in "$DEVICES"/*; do ln -s $name /sys/bus/iio/devices/; done
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

    def read(self, attribute: str, device: str = "iio:device0") -> str:
        text = (self.devices.root / device / attribute).read_text()
        return text.replace("\0", "").strip()

    def command(self, *arguments: object) -> list[object]:
        environment = ["env", f"DEVICES={self.devices.root}"]
        inside = ["unshare", "-m", "sh", "-c", IIO_BUFFER, "sh", self.program, "-s", "iio"]
        return [*environment, *inside, *arguments]

    def check(self, *arguments: str) -> list[str]:
        """What --check says."""
        command = [str(word) for word in self.command("--check", *arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANG_S)
        if done.returncode == 77 or "unshare" in done.stderr:
            pytest.skip(f"a sysfs of one's own takes root: {done.stderr}")
        check_sanitizers(done.stderr)
        return done.stderr.splitlines()


@pytest.fixture
def buffered(program: Path, tmp_path: Path) -> Buffered:
    return Buffered(tmp_path, program)


def test_the_interval_of_a_buffer_is_where_the_driver_says_it(buffered: Buffered) -> None:
    assert buffered.check()[-1] == "spek-daq: 1 rails on 1 channels of source iio are fine"
    buffered.put("in_sampling_frequency", 0.2)
    assert buffered.check()[-1] == "spek-daq: a scan comes every 5000000000 ns"
    assert buffered.check("-i", "20ms")[-1] == "spek-daq: a scan comes every 20000000 ns"
    assert buffered.read("buffer/length") == "4"
    buffered.put("sampling_frequency", 1000)
    assert buffered.check()[-1] == "spek-daq: a scan comes every 1000000 ns"
    # The device converts so often, but samples when its trigger says.
    buffered.put("name", "timer", "trigger0")
    buffered.put("sampling_frequency", 100, "trigger0")
    buffered.put("trigger/current_trigger", "timer")
    assert buffered.check()[-1] == "spek-daq: a scan comes every 10000000 ns"
    assert buffered.check("-i", "50ms")[-1] == "spek-daq: a scan comes every 50000000 ns"
    assert float(buffered.read("sampling_frequency", "trigger0")) == 20


def test_without_a_rate_an_interval_is_refused(buffered: Buffered) -> None:
    (sentence,) = buffered.check("-i", "20ms")
    assert "'iio:device0' takes no interval: it has no sampling_frequency" in sentence


@pytest.mark.parametrize("frequency", [None, "100"])
def test_scans_that_a_buffer_lost_are_a_gap(
    buffered: Buffered, tmp_path: Path, frequency: str | None
) -> None:
    if frequency:
        buffered.put("in_sampling_frequency", frequency)
    buffered.check()
    start = time.monotonic_ns()
    times = [start + i * 10 * MS for i in range(60) if i // 4 != 10]
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
    assert {at for at, values in rows if values == [None]} == {start + 440 * MS}
    assert "1 overflows" in errors
    assert int(buffered.read("buffer/length")) >= (8 if frequency else 64)


def on_iio(program: Path, *arguments: object) -> list[object]:
    """The command that runs it where there is an ina226."""
    command = ["unshare", "-m", "sh", "-c", IIO, "sh", program, "-s", "iio"]
    return [*command, *arguments]


@pytest.fixture
def iio(program: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """iio(*arguments) runs it where there is an ina226."""

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [str(word) for word in on_iio(program, *arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANG_S)
        if done.returncode == 77 or "unshare" in done.stderr:
            pytest.skip(f"a sysfs of one's own takes root: {done.stderr}")
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
        ("ina226/power9", [], 2, "the IIO device 'ina226' has no input 'power9'"),
        ("ina3221/power0", [], 6, "there is no IIO device 'ina3221'"),
        ("power0", [], 2, "'power0' is no IIO channel; write DEVICE/CHANNEL"),
        ("ina226/temp", [], 2, "'ina226/temp' measures neither voltage nor current"),
        ("ina226/power2", ["-o", "mode=buffer"], 2, "no buffer with time stamps in common"),
        ("ina226/power2", ["-o", "mode=x"], 2, "setting 'mode' is 'x'; it has to be buffer or"),
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


# ---- wrong input ----


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        ([], 2, "no source was named; --source is one of u6, hwmon"),
        (["-s", "wall"], 2, "there is no source 'wall'; there are u6, hwmon"),
        (["-s", "sim", "-i", "-5ms"], 2, "--interval is '-5ms'; a time can't be negative"),
        (["-s", "sim", "-t", "5"], 2, "--time is '5'; write a time, not 0, for example 10ms"),
        (["-s", "sim", "-i", "1ns", "-p"], 2, "source sim: the shortest interval is 10us"),
        (["-s", "sim", "-o", "seed", "-p"], 2, "--set is 'seed'; write KEY=VALUE"),
        (["-s", "sim", "-o", "sed=1", "-p"], 2, "source sim has no setting 'sed'; it has seed"),
        (["-s", "sim", "-o", "seed=x", "-p"], 2, "setting 'seed' is 'x'; it has to be a whole"),
        (["-s", "sim", "-n", "a b", "-p"], 2, "'a b' can't be a feed's name"),
        (["-s", "sim", "--queue", "5"], 2, "--queue is '5'; it has to be a whole number from 2048"),
        (["-s", "sim", "--print=watts"], 2, "--print is 'watts'; it has to be rails or raw"),
        (["-r", "/does/not/exist"], 2, "/does/not/exist: No such file or directory"),
        (["-r", "/"], 2, "/: Is a directory"),
        (["-s", "replay"], 2, "source replay needs a file: --set file=PATH"),
        (["-s", "replay", "-o", "file=/"], 2, "/: Is a directory"),
        (["-s", "replay", "-o", "file=/none"], 2, "/none: No such file or directory"),
        (["watts"], 2, "there is nothing to do with 'watts'"),
        (["-s", "hwmon", "--sysfs", "/none"], 6, "this machine has no hwmon sensors"),
        (["-s", "powercap", "--sysfs", "/none"], 6, "this machine counts no energy (no RAPL)"),
    ],
)
def test_wrong_input_gets_one_sentence_and_its_exit_code(
    daq: Callable[..., subprocess.CompletedProcess[str]],
    arguments: list[str],
    code: int,
    sentence: str,
) -> None:
    done = daq(*arguments)
    assert done.returncode == code, done.stderr
    assert done.stderr.startswith(f"spek-daq: {sentence}" if "/none" not in arguments else "spek")
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert not done.stdout


@pytest.mark.parametrize(
    ("text", "code", "sentence"),
    [
        ("", 2, "there is no [[rail]] in it"),
        ('[[rail]]\nname = "a"\nchannel = "wall/power1"\n', 6, "there is no hwmon chip 'wall'"),
        ('[[rail]]\nname = "a"\nchannel = "ina226/power9"\n', 6, "power9_input: No such file"),
        (
            '[[rail]]\nname = "a"\nchannel = "ina226/temp1"\n',
            2,
            "'ina226/temp1' is no hwmon channel",
        ),
        ('[[rail]]\nname = "a"\nchannel = "power1"\n', 2, "'power1' is no hwmon channel"),
        ('[[rail]]\nname = "a"\nchannel = "ina226/curr1"\n', 2, "rail 'a' has no voltage"),
        (
            '[[rail]]\nname = "a"\nchannel = "ina226/curr1"\nvoltage_mv = 0\n',
            2,
            "a voltage of 0 has no power",
        ),
        (
            '[[rail]]\nname = "a"\nchannel = "ina226/power1"\nvoltage_mv = 12000\n',
            2,
            "measures power, so the rail takes no voltage",
        ),
        (
            '[[rail]]\nname = "a"\nchannel = "ina226/curr1"\nvoltage_channel = "ina226/power1"\n',
            2,
            "channel 'ina226/power1' doesn't measure a voltage",
        ),
    ],
)
def test_wrong_rails_get_one_sentence_and_their_exit_code(
    daq: Callable[..., subprocess.CompletedProcess[str]],
    sysfs: Sysfs,
    tmp_path: Path,
    text: str,
    code: int,
    sentence: str,
) -> None:
    rails = rails_file(tmp_path, text)
    done = daq("-s", "hwmon", "-r", rails, "--sysfs", sysfs.root, "--check")
    assert (done.returncode, done.stderr.count("\n")) == (code, 1), done.stderr
    assert sentence in done.stderr


def test_two_chips_of_one_name_have_to_be_told_apart(
    daq: Callable[..., subprocess.CompletedProcess[str]], sysfs: Sysfs, tmp_path: Path
) -> None:
    sysfs.put("class/hwmon/hwmon7/name", "ina226")
    rails = rails_file(tmp_path, '[[rail]]\nname = "a"\nchannel = "ina226/power1"\n')
    done = daq("-s", "hwmon", "-r", rails, "--sysfs", sysfs.root, "--check")
    assert done.returncode == 2
    assert (
        "there are 2 hwmon chips 'ina226'; name one as hwmonN (the last is hwmon7)" in done.stderr
    )


def test_a_broken_line_of_a_csv_file_is_named(
    daq: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    path = tmp_path / "watts.csv"
    path.write_text("time_s,a.W\n0,1\n1,oops\n")
    done = daq(*replay(path))
    assert done.returncode == 2
    assert f"{path}: line 3: the value 'oops' of 'a' is no number" in done.stderr


def test_an_unknown_column_is_named(
    daq: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    path = tmp_path / "watts.csv"
    path.write_text("time_s,a.W\n0,1\n")
    rails = rails_file(tmp_path, '[[rail]]\nname = "b"\n')
    done = daq(*replay(path, "-r", str(rails)))
    assert done.returncode == 2
    assert "there is no column 'b' in the file" in done.stderr


@pytest.mark.parametrize("what", ["--print", "--print=raw", "--list"])
def test_what_cannot_be_written_ends_it(program: Path, what: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [program, "-s", "sim", "-o", "clock=host", what],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=HANG_S,
        )
    check_sanitizers(done.stderr)
    assert done.returncode == 1, done.stderr
    sentence = "standard output can't be written: No space left on device"
    assert done.stderr.splitlines()[-1] == f"spek-daq: {sentence}"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_without_permission_it_says_so(program: Path) -> None:
    # Below /tmp: pytest's own folders are root's alone.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tree = Sysfs(folder / "sys")
        put_zones(tree, {"intel-rapl:0": "package-0"})
        folder.chmod(0o755)
        (tree.root / "class/powercap/intel-rapl:0/energy_uj").chmod(0o400)
        copy = folder / "spek-daq"
        shutil.copy2(program, copy)
        done = subprocess.run(
            [copy, "-s", "powercap", "--sysfs", tree.root, "-p"],
            capture_output=True,
            text=True,
            check=False,
            user=65534,
            group=65534,
            extra_groups=[],
        )
    assert done.returncode == 3, done.stderr
    assert "energy_uj: only root may read it" in done.stderr


@pytest.mark.skipif(Path("/sys/module/spek_prober").exists(), reason="the prober is loaded here")
def test_a_file_that_did_not_reach_the_prober_is_no_success(
    daq: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    path = tmp_path / "watts.csv"
    path.write_text("time_ms,a.W\n0,1\n5,1\n10,1\n")
    done = daq("-s", "replay", "-o", f"file={path}", "--wait")
    assert done.returncode == 5, done.stderr
    said = "spek-daq: 3 samples were not delivered to the prober"
    assert done.stderr.splitlines()[-1] == said


@pytest.mark.skipif(Path("/sys/module/spek_prober").exists(), reason="the prober is loaded here")
def test_without_the_prober_it_says_so(
    daq: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    done = daq("-s", "sim")
    assert done.returncode == 5
    assert done.stderr == "spek-daq: the prober is not loaded; load spek_prober.ko\n"


def test_help_names_every_source_and_exit_code(
    daq: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    text = daq("--help").stdout
    for word in ("u6:", "hwmon:", "iio:", "powercap:", "replay:", "sim:", "Exit codes:"):
        assert word in text
    for code in range(7):
        assert f"\n  {code}  " in text


def test_the_service_manager_is_told(program: Path, tmp_path: Path) -> None:
    import socket

    path = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(path)
        notify.settimeout(HANG_S)
        subprocess.run(
            [program, "-s", "sim", "-t", "100ms", "-p"],
            env={**os.environ, "NOTIFY_SOCKET": path},
            check=True,
            capture_output=True,
        )
        assert [notify.recv(99), notify.recv(99)] == [b"READY=1", b"STOPPING=1"]
