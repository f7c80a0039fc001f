# SPDX-License-Identifier: GPL-2.0
"""Results for tests of verdicts: one real result, with figures and conditions of the test's."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from spekctl import files
from spekctl.documents import power
from spekctl.documents.result import Result, load_result
from spekctl.documents.result_parts import IntervalPower, PowerResult, RailPower
from spekctl.documents.times import PERCENTILES, Distribution
from spekctl.gate.judged import Run
from spekctl.vm import clock

REAL = Path(__file__).parents[2] / "unit/ctl/documents/version1/result.json"
# IOPS of six runs, as a device repeats them.
A = [1000.0, 1004.0, 997.0, 1001.0, 999.0, 1002.0]
IOPS_900 = '[[limit]]\nmetric = "iops"\nmin = 900\n'


@functools.cache
def real() -> Result:
    """A result of a run on a fake device."""
    return load_result(REAL)


def changed(result: Result, **parts: dict[str, Any]) -> Result:
    """@result with fields of its parts replaced: ``changed(one, environment={"taint": 1})``."""
    replaced = {name: replace(getattr(result, name), **fields) for name, fields in parts.items()}
    return replace(result, **replaced)


def measured(
    number: int,
    iops: float = 1000.0,
    p99_ns: int = 1_000_000,
    counts: bool = False,
    ok: bool = True,
) -> Result:
    """The result of a run, the @number-th that started; each is of its own boot. Its workers are
    always busy."""
    base = real()
    times = Distribution(
        1000, 10**9, 500_000.0, 1000, 2 * p99_ns, dict.fromkeys(PERCENTILES, p99_ns)
    )
    whole = replace(base.totals.all, iops=iops, bytes_per_s=iops * 4096)
    whole = replace(whole, times=replace(whole.times, response=times))
    duration = 3 * 10**9
    phases = [
        replace(phase, duration_ns=duration, ios=round(duration / 1e9 * iops))
        if phase.phase == "measure"
        else phase
        for phase in base.phases
    ]
    line = f"quiet {clock.OPTION}" if counts else "quiet"
    cpu_ns = round(sum(phase.ios for phase in phases) * 1e9 / iops / len(base.workers))
    rescaled = changed(
        base,
        totals={"all": whole, "read": whole},
        environment={
            "boot_id": f"boot-{number}",
            "kernel_command_line": line,
            "counts_instructions": counts,
        },
        start={"realtime_ns": (1_700_000_000 + number) * 10**9},
        outcome={"ok": ok, "text": "the run completed" if ok else "the device was removed"},
    )
    workers = [replace(worker, cpu_ns=cpu_ns) for worker in base.workers]
    return replace(rescaled, phases=phases, workers=workers)


def powered(result: Result, watts: float, known_s: float = 3.0, gap_s: float = 0.0) -> Result:
    """@result with a rail of this power, which is known for a part of the measure phase."""
    rail = RailPower("psu", watts * known_s, watts, watts, watts, known_s, gap_s, 40)
    total = result.totals.all
    whole = IntervalPower([rail], power.total_of([rail]))
    measure = power.figures(whole, 0.0, total.iops, total.bytes_per_s)
    return replace(result, power=PowerResult([], 0.0, measure, 0, 0.0, 0.0))


def put(path: Path, result: Result) -> Path:
    """Write a result."""
    path.write_bytes(files.encode(result))
    return path


def sides(
    folder: Path,
    a: Sequence[float],
    b: Sequence[float],
    change: Callable[[Result], Result] = lambda result: result,
    **options: Any,
) -> list[str]:
    """Files of runs with these IOPS, alternating; @change is made to those of B. Returns the
    arguments of `spekctl compare`."""
    names: tuple[list[str], list[str]] = ([], [])
    for index in range(max(len(a), len(b))):
        for side, values in enumerate((a, b)):
            if index < len(values):
                result = measured(2 * index + side, values[index], **options)
                name = f"{'ab'[side]}{index}.json"
                put(folder / name, change(result) if side else result)
                names[side].append(name)
    return [*names[0], "--", *names[1]]


def results_to_judge(tmp_path: Path) -> None:
    """Results that are good, slow, broken, and of a guest that counts instructions."""
    put(tmp_path / "good.json", measured(1, 1000.0, 1_000_000))
    put(tmp_path / "slow.json", measured(2, 800.0, 3_000_000))
    put(tmp_path / "broken.json", measured(3, 1000.0, ok=False))
    put(tmp_path / "counts.json", measured(4, 500_000.0, counts=True))


def runs(first: int, values: Sequence[float], **options: Any) -> list[Run]:
    """Runs with these IOPS, as read: every other one that started, from the @first-th on."""
    return [
        Run(Path(f"{first + 2 * index}.json"), measured(first + 2 * index, iops, **options))
        for index, iops in enumerate(values)
    ]


# Names that a file can have, and that no format may break at or take for one name.
STRANGE_NAMES = ("é #1.json", "x y.json", "x_y.json", "..json", "q>.json", "\udcff.json")


def put_with_strange_names(folder: Path) -> None:
    """Results of 100 IOPS in files of STRANGE_NAMES."""
    for number, name in enumerate(STRANGE_NAMES):
        put(folder / name, measured(number, 100.0))
