# SPDX-License-Identifier: GPL-2.0
"""Source exec: programs that write samples, are wrong, end, hang, and have no rights."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from lib.daq.program import HANG_S, rails_file, running, table
from lib.waiting import eventually

Daq = Callable[..., subprocess.CompletedProcess[str]]


def shell(folder: Path, text: str) -> str:
    """A command that runs @text; its own text may have 255 bytes only."""
    path = folder / "meter.sh"
    path.write_text(text)
    return f"exec sh {path}"


# A function of the shell that sets ns to CLOCK_MONOTONIC, which the shell itself cannot read.
NOW = f"now() {{ ns=$({sys.executable} -c 'import time; print(time.monotonic_ns())'); }}\n"


def exec_daq(daq: Daq, folder: Path, text: str, *more: str) -> subprocess.CompletedProcess[str]:
    return daq("-s", "exec", shell(folder, text), "-p", *more)


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


# ---- samples ----


def test_lines_with_their_time_are_taken_as_they_are(daq: Daq, tmp_path: Path) -> None:
    text = "echo time_us,12V.W,5V.mW\n"
    text += "now; us=$((ns / 1000)); again=$((us + 10))\nsleep 0.1\n"
    text += "echo $us,1.5,100\necho '# a comment'; echo\necho $again,2.5,\n"
    text += f"echo $us $again >{tmp_path}/times\n"
    done = exec_daq(daq, tmp_path, NOW + text)
    times = [int(word) for word in (tmp_path / "times").read_text().split()]
    assert done.returncode == 0, done.stderr
    names, rows = table(done.stdout)
    assert names == ["time_ns", "12V.uW", "5V.uW"]
    # It starts twice, since the rails are those of its header: the first start writes no values.
    assert rows == [
        (times[0] * 1000, [1_500_000, 100_000]),
        (times[1] * 1000, [2_500_000, None]),
    ]


def test_lines_without_a_time_have_that_of_their_arrival(program: Path, tmp_path: Path) -> None:
    lines = tmp_path / "lines"
    os.mkfifo(lines)
    rails = rails_file(tmp_path, '[[rail]]\nname = "wall"\n')
    command = shell(tmp_path, f"echo wall.W\nexec cat {lines}\n")
    spans = []
    with (
        running(tmp_path, program, "-s", "exec", command, "-r", rails, "-p") as daq,
        lines.open("r+b", buffering=0) as written,
    ):
        for number in (1, 2, 3):
            before_ns = time.monotonic_ns()
            written.write(b"%d\n" % number)
            daq.until(partial(daq.has_rows, number), "the line does not come")
            spans.append((before_ns, time.monotonic_ns()))
        rows = daq.finish()[1]
        errors = daq.errors
    assert [values for _, values in rows] == [[1_000_000], [2_000_000], [3_000_000]]
    for (before_ns, after_ns), (at_ns, _) in zip(spans, rows, strict=True):
        assert before_ns < at_ns < after_ns
    assert "timestamps within 1000000 ns" in errors


def test_lines_that_were_kept_back_are_said(daq: Daq, tmp_path: Path) -> None:
    done = exec_daq(daq, tmp_path, "echo a.W\nsleep 0.5\nseq 40\n")
    assert len(table(done.stdout)[1]) == 40
    assert done.stderr.count("lines without a time have arrived at once") == 1


def test_a_rails_file_names_command_and_columns(daq: Daq, tmp_path: Path) -> None:
    command = shell(tmp_path, "echo shunt.mA,supply.V,x.W\nsleep 0.2\necho 500,12,9\n")
    text = f'source = "exec"\n[settings]\ncommand = "{command}"\n[[rail]]\nname = "disk"\n'
    rails = rails_file(tmp_path, text + 'channel = "shunt"\nvoltage_channel = "supply"\n')
    done = daq("-r", rails, "-p")
    assert [values for _, values in table(done.stdout)[1]] == [[6_000_000]]
    listed = daq("-r", rails, "--list").stdout
    assert listed == "shunt\tcurrent\nsupply\tvoltage\nx\tpower\n"
    assert "1 rails on 2 channels of source exec: ok" in daq("-r", rails, "--check").stderr


# ---- damage ----


def test_a_damaged_line_is_said_and_is_a_gap(daq: Daq, tmp_path: Path) -> None:
    text = "echo a.W,b.W\nsleep 0.3\n"
    text += "echo 1,1\necho rubbish\necho 2\necho 3,3\nprintf 'x\\000y\\n'\necho 4,4\n"
    done = exec_daq(daq, tmp_path, text)
    assert done.returncode == 0, done.stderr
    values = [values for _, values in table(done.stdout)[1]]
    assert [row for row in values if None not in row] == [
        [1_000_000, 1_000_000],
        [3_000_000, 3_000_000],
        [4_000_000, 4_000_000],
    ]
    assert "the program's line 3: the value 'rubbish' of 'a' is not a valid number" in done.stderr
    assert "line 4:" not in done.stderr, "the second of two in a row is only counted"
    assert "the program's line 6: it has a NUL byte; the line is lost" in done.stderr
    # Two rails: three lines lost, two gaps each.
    assert "6 samples, 4 gaps, 6 lost" in done.stderr


@pytest.mark.parametrize(
    ("times", "sentence"),
    [
        ("1", "its time, 1 ns, is before the start of the program"),
        ("9000000000000000000", "is in the future; times must be CLOCK_MONOTONIC"),
        ("-5", "the time -5 is negative"),
        ("now", "the time 'now' is not a valid number"),
    ],
)
def test_a_time_by_another_clock_is_refused(
    daq: Daq, tmp_path: Path, times: str, sentence: str
) -> None:
    done = exec_daq(daq, tmp_path, f"echo time_ns,a.W\nsleep 0.2\necho {times},5\n")
    assert done.returncode == 0
    assert sentence in done.stderr
    assert "0 samples" in done.stderr


def test_time_does_not_go_backwards(daq: Daq, tmp_path: Path) -> None:
    text = "echo time_ns,a.W\nnow\necho $ns,1\necho $((ns - 1)),2\necho $ns,3\n"
    done = exec_daq(daq, tmp_path, NOW + text)
    assert [v for _, v in table(done.stdout)[1] if v != [None]] == [[1_000_000], [3_000_000]]
    assert "the program's line 3: time goes backwards; the line is lost" in done.stderr


def test_an_overlong_line_is_lost_and_the_next_is_whole(daq: Daq, tmp_path: Path) -> None:
    text = "echo a.W\nsleep 0.2\nhead -c 100000 /dev/zero | tr '\\0' 7\necho\necho 5\n"
    done = exec_daq(daq, tmp_path, text)
    assert "line 2: it is longer than 8192 bytes" in done.stderr
    assert [v for _, v in table(done.stdout)[1] if v != [None]] == [[5_000_000]]


def test_a_last_line_without_end_is_lost(daq: Daq, tmp_path: Path) -> None:
    done = exec_daq(daq, tmp_path, "echo a.W\nsleep 0.2\necho 5\nprintf 12\n")
    assert [values for _, values in table(done.stdout)[1]] == [[5_000_000]]
    assert "the program's last line has no end; it is lost" in done.stderr


# ---- a wrong program ----


@pytest.mark.parametrize(
    ("text", "code", "sentence"),
    [
        ("echo power", 2, "line 1: the first column is 'power'; it must be time_ns"),
        ("echo a.W,b.lux", 2, "line 1: column 'b.lux' has an unknown unit"),
        ("echo time_s", 2, "line 1: there is no column besides the time"),
        ("printf '\\000\\n'", 2, "line 1: it has a NUL byte"),
        ("exit 3", 6, "the program ended with status 3, before its header line"),
        ("exit 0", 6, "the program ended with status 0, before its header line"),
        ("kill -9 $$", 6, "the program was ended by signal 9 (Killed), before its header line"),
        ("exec >&-; sleep 60", 2, "the program closed its standard output before its header"),
        ("echo a.V; sleep 60", 6, "source exec has no channel that measures power directly"),
    ],
)
def test_a_wrong_program_gets_one_sentence_and_its_exit_code(
    daq: Daq, tmp_path: Path, text: str, code: int, sentence: str
) -> None:
    done = exec_daq(daq, tmp_path, text)
    assert done.returncode == code, done.stderr
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert not done.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["-s", "exec"], "source exec needs a command: --source exec COMMAND"),
        (["-s", "exec", ""], "the command of source exec must have 1 to 255 bytes"),
        (["-s", "exec", "x" * 256], "the command of source exec must have 1 to 255 bytes"),
        (["-s", "exec", "true", "false"], "unexpected argument 'false'; see --help"),
        (["-s", "sim", "true"], "unexpected argument 'true'; see --help"),
    ],
)
def test_a_wrong_command_line_is_refused(daq: Daq, arguments: list[str], sentence: str) -> None:
    done = daq(*arguments)
    assert done.returncode == 2
    assert done.stderr == f"spek-daq: {sentence}\n"


def test_a_missing_program_is_invalid_input(daq: Daq) -> None:
    done = daq("-s", "exec", "/does/not/exist", "-p")
    assert done.returncode == 2
    first, second = done.stderr.splitlines()
    assert first.startswith("spek-daq: the program: /bin/sh: ")
    assert second == "spek-daq: the command cannot be run (status 127 of /bin/sh)"


def test_a_program_without_the_column_is_refused(daq: Daq, tmp_path: Path) -> None:
    rails = rails_file(tmp_path, '[[rail]]\nname = "disk"\n')
    done = daq("-s", "exec", "echo a.W; sleep 60", "-r", rails, "-p")
    assert done.returncode == 2
    assert done.stderr == "spek-daq: the program has no column 'disk'\n"


def test_a_program_without_header_is_waited_for_only_so_long(daq: Daq) -> None:
    done = daq("-s", "exec", "sleep 600", "-p")
    assert done.returncode == 6
    assert done.stderr == "spek-daq: the program has written no header line within 10 s\n"


# ---- its end, and that of spek-daq ----


def test_a_program_that_fails_is_started_again(program: Path, tmp_path: Path) -> None:
    rails = rails_file(tmp_path, '[[rail]]\nname = "a"\n')
    command = shell(tmp_path, "echo a.W\nsleep 0.1\necho 5\necho 'no meter\x1b[2J' >&2\nexit 3\n")
    with running(tmp_path, program, "-s", "exec", command, "-r", rails, "-p") as daq:
        daq.until(lambda: len([v for _, v in daq.rows if v != [None]]) >= 3, "it does not return")
        rows = daq.finish()[1]
        errors = daq.errors
    assert rows[0][1] == [5_000_000]
    assert [None] in [values for _, values in rows], "the time in between is a gap"
    assert "spek-daq: the program: no meter?[2J\n" in errors
    assert "the program ended with status 3; waiting for the device" in errors
    assert "the device is back" in errors


def test_a_program_that_changes_its_columns_is_refused(program: Path, tmp_path: Path) -> None:
    rails = rails_file(tmp_path, '[[rail]]\nname = "a"\n')
    mark = tmp_path / "mark"
    text = f"if mkdir {mark}; then echo a.W; echo 5; sleep 0.2; exit 1; fi\necho a.J; echo 5\n"
    command = shell(tmp_path, text + "sleep 60\n")
    with running(tmp_path, program, "-s", "exec", command, "-r", rails, "-p") as daq:
        sentence = "column 'a' of the program has another unit than before"
        daq.until(lambda: sentence in daq.errors, "nothing is said")
        assert all(v in ([5_000_000], [None]) for _, v in daq.finish()[1])


def test_a_silent_program_is_started_again_if_its_interval_is_known(
    program: Path, tmp_path: Path
) -> None:
    rails = rails_file(tmp_path, '[[rail]]\nname = "a"\n')
    command = shell(tmp_path, "echo a.W\necho 5\nexec sleep 600\n")
    more = ("-r", rails, "-i", "10ms", "-p")
    with running(tmp_path, program, "-s", "exec", command, *more) as daq:
        sentence = "the program has written nothing for 2000 ms; waiting for the device"
        daq.until(lambda: sentence in daq.errors, "nothing is said")
        daq.until(lambda: "the device is back" in daq.errors, "it is not started again")
        daq.finish()


def second_start(tmp_path: Path, then: str) -> str:
    """A program that measures 5 W and fails, does @then at its second start, then measures 6 W."""
    first, second = tmp_path / "first", tmp_path / "second"
    text = f"if mkdir {first}; then echo a.W; echo 5; sleep 0.2; exit 1; fi\n"
    text += f"if mkdir {second}; then {then}; fi\n"
    return shell(tmp_path, text + "echo a.W; echo 6; sleep 600\n")


@pytest.mark.parametrize(
    "then",
    ["exec sleep 600", "while :; do printf a; sleep 0.1; done"],
    ids=["silent", "without-end"],
)
def test_a_program_without_header_is_started_again_after_its_return(
    program: Path, tmp_path: Path, then: str
) -> None:
    """Without an interval, its silence is none; but no program may keep its header back."""
    rails = rails_file(tmp_path, '[[rail]]\nname = "a"\n')
    command = second_start(tmp_path, then)
    with running(tmp_path, program, "-s", "exec", command, "-r", rails, "-p") as daq:
        sentence = "the program has written no header line within 10 s"
        daq.until(lambda: [6_000_000] in [v for _, v in daq.rows], "it is not started again")
        assert daq.finish()[1][0][1] == [5_000_000]
        assert sentence in daq.errors


@pytest.mark.parametrize(
    ("then", "sentence"),
    [
        ("exit 0", "the program ended with status 0, before its header line"),
        ("printf a; exit 0", "the program ended with status 0, before its header line"),
        ("exit 3", "the program ended with status 3, before its header line"),
    ],
)
def test_a_program_that_ends_without_header_later_is_started_again(
    program: Path, tmp_path: Path, then: str, sentence: str
) -> None:
    """At its first start it is a failure; status 0 says neither time that all is measured."""
    rails = rails_file(tmp_path, '[[rail]]\nname = "a"\n')
    command = second_start(tmp_path, then)
    with running(tmp_path, program, "-s", "exec", command, "-r", rails, "-p") as daq:
        daq.until(lambda: [6_000_000] in [v for _, v in daq.rows], "it is not started again")
        assert daq.finish()[1][0][1] == [5_000_000]
        assert sentence in daq.errors


PIDS = (
    'echo a.W; trap "" TERM; sleep 601 & echo $$ $! >{pids}.new; mv {pids}.new {pids}; wait; wait'
)


@pytest.mark.parametrize("is_killed", [False, True])
def test_the_program_ends_with_spek_daq(program: Path, tmp_path: Path, is_killed: bool) -> None:
    rails = rails_file(tmp_path, '[[rail]]\nname = "a"\n')
    pids = tmp_path / "pids"
    text = PIDS.format(pids=pids)
    # Only spek-daq itself can be rude to a program that ignores SIGTERM.
    command = shell(tmp_path, text.replace('trap "" TERM; ', "") if is_killed else text)
    with running(tmp_path, program, "-s", "exec", command, "-r", rails, "-p") as daq:
        daq.until(pids.exists, "the program does not start")
        meter, helper = map(int, pids.read_text().split())
        assert is_alive(meter)
        if is_killed:
            daq.process.kill()
            daq.process.wait(HANG_S)
            eventually(lambda: not is_alive(meter), "the program is still there", HANG_S)
            subprocess.run(["kill", str(helper)], check=True)
        else:
            daq.process.terminate()
            assert daq.process.wait(HANG_S) == 0, daq.errors
            assert not is_alive(meter)
            assert not is_alive(helper), "what it has started ends, too"


def test_a_stop_before_the_header_is_no_failure(program: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    rails = rails_file(tmp_path, '[[rail]]\nname = "a"\n')
    command = shell(tmp_path, f"mkdir {mark}\nexec sleep 600\n")
    with running(tmp_path, program, "-s", "exec", command, "-r", rails, "-p") as daq:
        daq.until(mark.exists, "the program does not start")
        daq.process.terminate()
        assert daq.process.wait(HANG_S) == 0, daq.errors


# ---- its rights ----


def test_the_program_has_no_rights_and_no_files_of_spek_daq(daq: Daq, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    text = f"cat /proc/self/status >{seen}\nls -l /proc/self/fd >>{seen}\necho a.W\nsleep 0.2\n"
    # --list as well runs it before spek-daq itself drops anything.
    for arguments in (("--list",), ("-p",)):
        done = daq("-s", "exec", shell(tmp_path, text), *arguments)
        assert done.returncode == 0, done.stderr
        status = seen.read_text()
        for kind in ("Inh", "Prm", "Eff", "Amb"):
            assert re.search(rf"^Cap{kind}:\t0+$", status, re.MULTILINE), status
        assert re.search(r"^NoNewPrivs:\t1$", status, re.MULTILINE)
        assert re.search(r"^SigBlk:\t0+$", status, re.MULTILINE)
        links = re.findall(r" (\d+) -> (\S+)", status)
        assert ("0", "/dev/null") in links
        # 3 is the folder that ls reads.
        assert {int(number) for number, _ in links} == {0, 1, 2, 3}, links
        assert not any("socket" in target for _, target in links)


@pytest.mark.skipif(os.geteuid() != 0, reason="root alone has rights to lose")
def test_root_without_rights_cannot_read_what_is_not_its_own(daq: Daq, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("a.W\n")
    os.chown(secret, 65534, 65534)
    secret.chmod(0o600)
    done = daq("-s", "exec", f"cat {secret}", "-p")
    assert done.returncode == 6
    assert "Permission denied" in done.stderr
