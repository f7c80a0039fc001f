# SPDX-License-Identifier: GPL-2.0
"""spek-daq itself, built with sanitizers: simulated, replayed, and given wrong input."""

from __future__ import annotations

import itertools
import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from lib.daq.program import (
    HANG_S,
    MS,
    SECOND,
    Rows,
    Sysfs,
    check_sanitizers,
    expected,
    joules,
    put_zones,
    rails_file,
    running,
    some_rows,
    table,
)
from lib.processes import children
from lib.waiting import eventually

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
        for program_run in started.values():
            program_run.until(partial(program_run.has_rows, 1501), "no 1501 samples come")
        return {key: program_run.finish() for key, program_run in started.items()}


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


def test_a_current_beyond_the_transducer_is_said_and_is_a_gap(
    daq: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    # At 12 V: 20 A and 21 A, which are 4.58 V and 4.69 V.
    text = "".join(
        f'[[rail]]\nname = "{name}"\nchannel = "const:{mw}"\nvoltage_mv = 12000\n'
        for name, mw in (("a", 240_000), ("b", 252_000))
    )
    rails = rails_file(tmp_path, text)
    settings = ["-o", "transducer=true", "-o", "voltage_mv=12000", "-o", "clock=host"]
    done = daq("-s", "sim", "-r", rails, *settings, "-p", "-t", "500ms")
    rows = table(done.stdout)[1]
    assert rows
    assert all(a is not None and b is None for _, (a, b) in rows)
    sentence = "rail 'b': its current, voltage or power is beyond the range that can be measured (1"
    assert done.stderr.count(sentence) == 1
    assert f" {len(rows)} over range, 0 implausible" in done.stderr
    assert "rail 'a'" not in done.stderr


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
        (250 * MS, [500_000, 300_000]),
    ]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who may read the files of others")
def test_root_replays_a_private_file_of_somebody_else(
    daq: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    path = home / "watts.csv"
    path.write_text("time_ms,a.W\n0,1\n5,2\n")
    for entry, mode in ((path, 0o600), (home, 0o700)):
        os.chown(entry, 65534, 65534)
        entry.chmod(mode)
    done = daq(*replay(path))
    assert done.returncode == 0, done.stderr
    assert [values for _, values in table(done.stdout)[1]] == [[1_000_000], [2_000_000]]


def test_a_gap_of_one_rail_leaves_the_others_whole(
    daq: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    path = tmp_path / "watts.csv"
    path.write_text("time_s,12V.W,5V.W,cpu.J\n0,1,1,0\n0.1,1,,1\n0.2,1,1,2\n0.3,1,1,\n0.4,1,1,3\n")
    again = tmp_path / "printed.csv"
    again.write_text(daq(*replay(path)).stdout)
    rows = table(daq(*replay(again)).stdout)[1]
    assert [values for _, values in rows] == [
        [1_000_000, 1_000_000, None],
        [1_000_000, None, 10_000_000],
        [1_000_000, 1_000_000, 10_000_000],
        [1_000_000, 1_000_000, None],
        [1_000_000, 1_000_000, None],
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


def test_a_log_of_other_quantities_can_be_replayed(
    daq: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    path = tmp_path / "log.csv"
    log = "time_ns,wall.nW,pf.ppm,intake.mC,door.bits\n1,5,875000,-1500,3\n2,6,,27500,0\n"
    path.write_text(log)
    source = ("-s", "replay", "-o", f"file={path}", "-o", "absolute=true")
    done = daq(*source, "--print=raw", "--also", "wall,pf,intake,door")
    assert done.stdout == log, done.stderr
    path.write_text("time_ns,wall.W,intake.C\n1,5,27.5\n")
    assert daq(*source, "--print=raw", "--also", "intake").stdout.splitlines()[1] == "1,27500"


def test_a_loop_goes_round_without_a_seam(program: Path, tmp_path: Path) -> None:
    path = tmp_path / "watts.csv"
    path.write_text("time_ms,a.W\n0,1\n50,2\n100,1\n")
    rows = some_rows(tmp_path, 7, program, *replay(path, "-o", "loop=true"))[1]
    at = [when - rows[0][0] for when, _ in rows]
    assert at[:7] == [0, 50 * MS, 100 * MS, 100 * MS, 150 * MS, 200 * MS, 200 * MS]


def test_a_short_loop_keeps_up_with_time(
    daq: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    path = tmp_path / "watts.csv"
    path.write_text("time_us,a.W\n0,1\n100,2\n")
    rows = table(daq(*replay(path, "-o", "loop=true", "-t", "2s")).stdout)[1]
    assert rows[-1][0] - rows[0][0] > SECOND
    assert {b - a for (a, _), (b, _) in itertools.pairwise(rows)} == {0, 100_000}


def test_energy_in_a_file_becomes_mean_power(
    daq: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    path = tmp_path / "meter.csv"
    path.write_text("time_ms,wall.J\n0,100\n100,100.5\n200,101.5\n")
    rows = table(daq(*replay(path)).stdout)[1]
    assert [values for _, values in rows] == [[None], [5_000_000], [10_000_000]]


def naps(pid: int) -> int:
    """How often threads of a process, but its first, have gone to sleep."""
    files = [task / "status" for task in Path(f"/proc/{pid}/task").iterdir()]
    texts = [file.read_text() for file in files if file.parent.name != str(pid)]
    counts = (re.search(r"^voluntary_ctxt_switches:\s+(\d+)", text, re.M) for text in texts)
    return sum(int(count[1]) for count in counts if count)


@pytest.mark.skipif(Path("/sys/module/spek_prober").exists(), reason="the prober is loaded here")
def test_a_file_waits_for_room_in_the_queue(program: Path, tmp_path: Path) -> None:
    path = tmp_path / "watts.csv"
    path.write_text("time_ns,a.W\n" + "".join(f"{at},1\n" for at in range(1, 10_001)))
    log = tmp_path / "log.csv"
    command = [program, "-s", "replay", "-o", f"file={path}", "-o", "absolute=true"]
    with running(tmp_path, *command, "--wait", "--queue", "2048", "--log", log) as daq:
        daq.until(lambda: "waiting for the prober" in daq.errors, "it doesn't wait")
        # What is logged goes into the queue next: a header, what fills that, and what waits.
        daq.until(lambda: log.read_text().count("\n") > 1 + 2048, "the queue does not fill up")
        # One that dropped samples instead would go on to the end of the file.
        slept = naps(daq.process.pid)
        daq.until(lambda: naps(daq.process.pid) > slept + 3, "the reader does not look for room")
        assert daq.process.poll() is None, daq.errors
        daq.process.terminate()
        assert daq.process.wait(HANG_S) == 5
        check_sanitizers(daq.errors)
        said = "spek-daq: 2048 samples were not delivered to the prober"
        assert daq.errors.splitlines()[-1] == said
        counted = re.search(r"(\d+) samples, 0 gaps, (\d+) lost", daq.errors)
    assert counted
    taken, lost = map(int, counted.groups())
    assert taken - lost == 2048
    assert lost <= 256, "no more than the lines that were on their way"


# ---- wrong input ----


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        ([], 2, "no source given; --source must be one of u6, powersensor3, quarch, modbus, hwmon"),
        (
            ["-s", "wall"],
            2,
            "unknown source 'wall'; known sources: u6, powersensor3, quarch, modbus, hwmon",
        ),
        (["-s", "sim", "-i", "-5ms"], 2, "--interval is '-5ms'; a time can't be negative"),
        (["-s", "sim", "-t", "5"], 2, "--time is '5'; it must be a time greater than 0, for"),
        (["-s", "sim", "-i", "1ns", "-p"], 2, "source sim: the shortest interval is 10us"),
        (["-s", "sim", "-o", "seed", "-p"], 2, "--set is 'seed'; write KEY=VALUE"),
        (["-s", "sim", "-o", "sed=1", "-p"], 2, "source sim has no setting 'sed'; it has seed"),
        (["-s", "sim", "-o", "seed=x", "-p"], 2, "setting 'seed' is 'x'; it must be a whole"),
        (["-s", "sim", "-n", "a b", "-p"], 2, "'a b' is not a valid feed name"),
        (["-s", "sim", "--queue", "5"], 2, "--queue is '5'; it must be a whole number from 2048"),
        (["-s", "sim", "--print=watts"], 2, "--print is 'watts'; it must be rails or raw"),
        (["-r", "/does/not/exist"], 2, "/does/not/exist: No such file or directory"),
        (["-r", "/"], 2, "/: Is a directory"),
        (["-s", "replay"], 2, "source replay needs a file: --set file=PATH"),
        (["-s", "replay", "-o", "file=/"], 2, "/: Is a directory"),
        (["-s", "replay", "-o", "file=/none"], 2, "/none: No such file or directory"),
        (["watts"], 2, "unexpected argument 'watts'"),
        (["-s", "hwmon", "--sysfs", "/none"], 6, "this machine has no hwmon sensors"),
        (["-s", "powercap", "--sysfs", "/none"], 6, "this machine has no energy counters (RAPL)"),
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
        ("", 2, "it has no [[rail]]"),
        ('[[rail]]\nname = "a"\nchannel = "wall/power1"\n', 6, "hwmon chip 'wall' not found"),
        ('[[rail]]\nname = "a"\nchannel = "ina226/power9"\n', 6, "power9_input: No such file"),
        (
            '[[rail]]\nname = "a"\nchannel = "ina226/fan1"\n',
            2,
            "'ina226/fan1' is not a hwmon channel",
        ),
        ('[[rail]]\nname = "a"\nchannel = "power1"\n', 2, "'power1' is not a hwmon channel"),
        ('[[rail]]\nname = "a"\nchannel = "ina226/curr1"\n', 2, "rail 'a' has no voltage"),
        (
            '[[rail]]\nname = "a"\nchannel = "ina226/curr1"\nvoltage_mv = 0\n',
            2,
            "voltage_mv is 0",
        ),
        (
            '[[rail]]\nname = "a"\nchannel = "ina226/power1"\nvoltage_mv = 12000\n',
            2,
            "measures power; remove the rail's voltage",
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
        "2 hwmon chips are called 'ina226'; use hwmonN instead (the last is hwmon7)" in done.stderr
    )


def test_a_broken_line_of_a_csv_file_is_named(
    daq: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    path = tmp_path / "watts.csv"
    path.write_text("time_s,a.W\n0,1\n1,oops\n")
    done = daq(*replay(path))
    assert done.returncode == 2
    assert f"{path}: line 3: the value 'oops' of 'a' is not a valid number" in done.stderr


def test_an_unknown_column_is_named(
    daq: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    path = tmp_path / "watts.csv"
    path.write_text("time_s,a.W\n0,1\n")
    rails = rails_file(tmp_path, '[[rail]]\nname = "b"\n')
    done = daq(*replay(path, "-r", str(rails)))
    assert done.returncode == 2
    assert "the file has no column 'b'" in done.stderr


def test_a_column_that_cannot_be_a_rail_is_said(
    daq: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    path = tmp_path / "watts.csv"
    path.write_text("time_ms,cpu.W,whole machine.W\n0,1,9\n5,1,9\n")
    done = daq(*replay(path))
    assert done.returncode == 0, done.stderr
    assert table(done.stdout)[0] == ["time_ns", "cpu.uW"]
    why = "a rail can't have this name; a rails file can give it another"
    assert f"spek-daq: channel 'whole machine' is not measured: {why}\n" in done.stderr


@pytest.mark.parametrize(("name", "what"), [("a,b", "--print"), ("c", "--print=raw")])
def test_a_name_that_csv_cannot_have_is_refused(
    daq: Callable[..., subprocess.CompletedProcess[str]],
    sysfs: Sysfs,
    tmp_path: Path,
    name: str,
    what: str,
) -> None:
    sysfs.put("class/hwmon/hwmon3/name", "x,y")
    sysfs.put("class/hwmon/hwmon3/power1_input", 1)
    rails = rails_file(tmp_path, f'[[rail]]\nname = "{name}"\nchannel = "x,y/power1"\n')
    done = daq("-s", "hwmon", "-r", rails, "--sysfs", sysfs.root, "-t", "1s", what)
    column = name if what == "--print" else "x,y/power1"
    sentence = f"'{column}' can't be the name of a CSV column: it has a comma or a line break"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"spek-daq: {sentence}\n")


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
    sentence = "cannot write to standard output: No space left on device"
    assert done.stderr.splitlines()[-1] == f"spek-daq: {sentence}"


def test_it_ends_although_nobody_reads_what_it_prints(program: Path) -> None:
    command = [str(program), "-s", "sim", "-o", "clock=host", "-i", "100us", "-p"]
    output, into = os.pipe()
    with subprocess.Popen(command, stdout=into, stderr=subprocess.PIPE, text=True) as daq:
        try:
            eventually(lambda: not has_room(into), "the pipe never gets full", HANG_S)
            # It sleeps until the next sample is due, and then for room, again and again.
            slept = sleeps(daq.pid)
            eventually(lambda: sleeps(daq.pid) > slept + 2, "it does not wait for room", HANG_S)
            daq.terminate()
            daq.wait(HANG_S)
        finally:
            daq.kill()
            os.close(into)
            os.close(output)
        errors = daq.stderr.read() if daq.stderr else ""
    check_sanitizers(errors)
    assert daq.returncode == 1, errors
    assert "cannot write to standard output: nobody reads it" in errors.splitlines()[-1]


def has_room(pipe: int) -> bool:
    """Whether a write of a line would not have to wait."""
    poll = select.poll()
    poll.register(pipe, select.POLLOUT)
    return bool(poll.poll(0))


def sleeps(process: int) -> int:
    """How often its first thread has slept."""
    status = Path(f"/proc/{process}/status").read_text()
    found = re.search(r"^voluntary_ctxt_switches:\s*(\d+)$", status, re.MULTILINE)
    assert found
    return int(found[1])


@pytest.fixture
def others_may_read() -> Iterator[None]:
    """What is made is not root's alone, whatever the caller's umask."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_without_permission_it_says_so(program: Path, others_may_read: None) -> None:
    """As an ordinary user: root becomes one for it."""
    is_root = os.geteuid() == 0
    ordinary: dict[str, Any] = {"user": 65534, "group": 65534, "extra_groups": []}
    # Below /tmp: pytest's own folders are root's alone.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tree = Sysfs(folder / "sys")
        put_zones(tree, {"intel-rapl:0": "package-0"})
        folder.chmod(0o755)
        (tree.root / "class/powercap/intel-rapl:0/energy_uj").chmod(0o400 if is_root else 0)
        copy = folder / "spek-daq"
        shutil.copy(program, copy)
        copy.chmod(0o755)
        done = subprocess.run(
            [copy, "-s", "powercap", "--sysfs", tree.root, "-p"],
            capture_output=True,
            text=True,
            check=False,
            **(ordinary if is_root else {}),
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


CAP_SYS_ADMIN = 1 << 21


def capabilities(process: int) -> list[list[int]]:
    """Effective and permitted ones of each thread."""
    return [
        [int(text, 16) for text in re.findall(r"(?m)^Cap(?:Prm|Eff):\t(\S+)$", status.read_text())]
        for status in Path(f"/proc/{process}/task").glob("*/status")
    ]


def feeder_of(process: int) -> int:
    (feeder,) = children(process)
    return feeder


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_what_reads_a_device_has_no_capability(
    number: signal.Signals, program: Path, tmp_path: Path
) -> None:
    """The process that feeds the prober has the one that the prober asks for, and ends with it."""
    mine = capabilities(os.getpid())[0][0]
    with running(tmp_path, program, "-s", "sim", "--wait") as daq:
        daq.until(lambda: "waiting for the prober" in daq.errors, "it does not wait")
        daq.until(lambda: len(capabilities(daq.process.pid)) == 2, "there is no reader")
        assert capabilities(daq.process.pid) == [[0, 0], [0, 0]]
        feeder = feeder_of(daq.process.pid)
        kept = mine & CAP_SYS_ADMIN
        assert capabilities(feeder) == [[kept, kept]]
        daq.process.send_signal(number)
        daq.process.wait(HANG_S)
        eventually(lambda: not Path(f"/proc/{feeder}/stat").exists(), "the feeder stays", HANG_S)


def test_without_its_feeder_it_ends(program: Path, tmp_path: Path) -> None:
    with running(tmp_path, program, "-s", "sim", "--wait") as daq:
        daq.until(lambda: "waiting for the prober" in daq.errors, "it does not wait")
        os.kill(feeder_of(daq.process.pid), signal.SIGKILL)
        assert daq.process.wait(HANG_S) == 1
        said = "spek-daq: the process that feeds the prober has ended"
        assert daq.errors.splitlines()[-1] == said


@pytest.mark.skipif(Path("/sys/module/spek_prober").exists(), reason="the prober is loaded here")
def test_without_the_prober_it_says_so(
    daq: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    done = daq("-s", "sim")
    assert done.returncode == 5
    assert done.stderr == "spek-daq: the prober is not loaded; load spek_prober.ko\n"


def test_in_another_network_namespace_that_is_why_the_prober_is_not_there(program: Path) -> None:
    unshare = ["unshare", "--user", "--map-root-user", "--net"]
    if subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody make namespaces")
    command = [*unshare, str(program), "-s", "sim"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 5
    assert "in the initial network namespace only" in done.stderr
    assert "--network host" in done.stderr


def test_help_names_every_source_and_exit_code(
    daq: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    text = daq("--help").stdout
    sources = (
        "u6",
        "powersensor3",
        "quarch",
        "modbus",
        "hwmon",
        "iio",
        "powercap",
        "exec",
        "replay",
        "sim",
    )
    for word in (*(f"\n  {name}: " for name in sources), "Exit codes:"):
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
