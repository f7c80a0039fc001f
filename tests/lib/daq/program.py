# SPDX-License-Identifier: GPL-2.0
"""Running spek-daq for tests: to its end or until something is seen, and reading what it prints."""

from __future__ import annotations

import itertools
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lib.daq.build import library
from lib.waiting import eventually

MS = 10**6
SECOND = 10**9
HANG_S = 300
Rows = list[tuple[int, list[int | None]]]


def check_sanitizers(errors: str) -> None:
    assert "Sanitizer" not in errors, errors
    assert "runtime error" not in errors, errors


class Running:
    """It runs until finish(); its output goes to files, which need no reader."""

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

    def has_rows(self, count: int) -> bool:
        return len(self.rows) >= count

    def until(self, condition: Callable[[], object], what: str) -> None:
        """It fails at once if the program ends before."""
        is_so = False

        def is_over() -> bool:
            nonlocal is_so
            # Looked at first, as the condition may come true just before the program ends.
            has_ended = self.process.poll() is not None
            is_so = bool(condition())
            return is_so or has_ended

        eventually(is_over, f"{what}: {self.errors}", HANG_S)
        assert is_so, self.errors

    def finish(self) -> tuple[list[str], Rows]:
        """All it has printed, as table() has it."""
        self.process.terminate()
        assert self.process.wait(HANG_S) == 0, self.errors
        check_sanitizers(self.errors)
        return table(self.out)


@contextmanager
def running(folder: Path, *command: object) -> Iterator[Running]:
    program = Running(folder, [str(word) for word in command])
    try:
        yield program
    finally:
        program.process.kill()
        program.process.wait()


def some_rows(folder: Path, count: int, *command: object) -> tuple[list[str], Rows]:
    """As table(), of at least @count lines, however long they take."""
    with running(folder, *command) as program:
        program.until(lambda: program.has_rows(count), f"no {count} lines come")
        return program.finish()


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
    parsed = ffi.new("struct daq_wave *")
    assert lib.daq_wave_parse(wave.encode(), parsed, ffi.NULL) == 0
    return float(lib.daq_wave_energy_nj(parsed, start, end)) / 1e9


def cpu_s(pid: int) -> float:
    """What a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rails_file(folder: Path, text: str) -> Path:
    path = folder / "rails.toml"
    path.write_text(text)
    return path


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


ZONE_RANGE_UJ = 65_532_610_987


def put_zones(tree: Sysfs, zones: dict[str, str]) -> None:
    """Zones of powercap and their names."""
    tree.put("class/powercap/intel-rapl/enabled", 1)
    for zone, name in zones.items():
        tree.put(f"class/powercap/{zone}/name", name)
        tree.put(f"class/powercap/{zone}/energy_uj", 1_000)
        tree.put(f"class/powercap/{zone}/max_energy_range_uj", ZONE_RANGE_UJ)
