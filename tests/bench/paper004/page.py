# SPDX-License-Identifier: GPL-2.0
"""The study as a page, drawn by spekctl's own reports, and as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from bench.paper004.claims import FIXED, MODEL_TEXT, NO, YES, Claim, name_of
from bench.paper004.study import COURSE_NS, J_PER_WH, RATES, Run, Study, authors_wh, find, saving

from spekctl.report.sheet import (
    Axis,
    Bars,
    Grid,
    Line,
    Plot,
    Quantity,
    Sheet,
    Strand,
)

PARTS = ("disks, 12 V", "disks, 5 V", "SSD")
STATES = ("seek", "rotate", "transfer", "idle", "starting", "to standby", "standby")
_LOADS = ("cello99", "websearch")
_COLUMNS = ("place", "what", "paper", "here", "verdict", "rule", "reason")


def not_held(claims: Iterable[Claim]) -> list[str]:
    """Claims that do not hold, in a sentence each."""
    return [
        f"Does not hold: {claim.place}, {claim.what}: paper {claim.paper}; here {claim.here}."
        + (f" {claim.reason}" if claim.reason else "")
        for claim in claims
        if claim.verdict == NO
    ]


def listed(title: str, claims: Iterable[Claim]) -> Grid:
    """A row for each claim, with its verdict, rule and reason."""
    rows = [[getattr(claim, column) for column in _COLUMNS] for claim in claims]
    return Grid(title, _COLUMNS, [False] * len(_COLUMNS), rows)


def sheet_of(study: Study) -> Sheet:
    """Everything on a page."""
    verdicts = [claim.verdict for claim in study.claims]
    judged = [each for each in verdicts if each in (YES, NO, "partly")]
    text = f"{judged.count(YES)} of {len(judged)} claims hold, {judged.count('partly')} in part"
    sheet = Sheet(
        "paper-004.json", "study of a RAID behind an SSD", "Paper 004 and a week of a NAS",
        verdict=text, good=None,
    )  # fmt: skip
    sheet.figures = [("claims", text), ("requests per run", f"{study.count:,}")]
    sheet.conditions = [
        ("seed", str(study.seed)),
        ("idle disk", f"{study.idle_w:.2f} W; asleep {study.standby_w:.2f} W"),
        ("disk", "Seagate ST3500320AS of the models, with 32 MB of cache, NCQ of 32, SPTF"),
        ("RAID", "md's RAID 5, left-symmetric, chunks of 64 KiB, no cache of stripes"),
        ("host", "at most 64 requests outstanding; responses from sending to the answer"),
        (
            "Wh, authors'",
            "all that disks and SSD use in the run, less what sleeping disks use in the time of the"
            " plain RAID's run; the remainder of the machine is not published and left out",
        ),
        *((load.name, load.text) for load in study.loads),
        *((system.name, system.text) for system in study.systems),
    ]
    sheet.remarks = [
        MODEL_TEXT,
        "dm-cache, dm-writecache and bcache are models of documented policies, not their code.",
        week_text(study),
        *not_held(study.claims),
    ]
    sheet.grids = [listed("Claims of the paper", study.claims), _footprints(study), *_tables(study)]
    for load in _LOADS:
        sheet.bars += [_energies(study, load), _residencies(study, load)]
        sheet.plots.append(_responses(study, load))
    sheet.bars += _week_bars(study)
    sheet.plots.append(_course(study))
    return sheet


def week_text(study: Study) -> str:
    """What the week shows, and why."""
    slept = ", ".join(f"{_system(study, run.system)} {run.asleep:.0%}" for run in study.week)
    return (
        f"The week: disks sleep, of the time: {slept}. Small writes every 30 s reach all disks of a"
        " RAID, and those behind a cache that writes back soon. By default spek-augment does once"
        " all disks are awake and no read has missed for 5 s; with --quiet and --age of a day it"
        " waits, and needs only the mirror for writes. dm-writecache waits for a half full SSD;"
        " until then its dirty data are on the SSD alone."
    )


def text_of(study: Study) -> str:
    """For a terminal."""
    lines = [MODEL_TEXT, week_text(study), ""]
    for claim in study.claims:
        lines.append(f"{claim.verdict:>10}  {claim.place}: {claim.what}")
        lines.append(f"{'':12}paper {claim.paper}; here {claim.here}")
        if claim.reason:
            lines.append(f"{'':12}{claim.reason}")
    for grid in _tables(study):
        rows = [list(grid.columns), *map(list, grid.rows)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(grid.columns))]
        lines += ["", grid.title]
        for row in rows:
            cells = [
                cell.rjust(width) if number else cell.ljust(width)
                for cell, width, number in zip(row, widths, grid.numeric, strict=True)
            ]
            lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _system(study: Study, key: str) -> str:
    return next(each.name for each in study.systems if each.key == key)


def timing(rate: float | None) -> str:
    return f"{rate:g}/s" if rate else "original timing"


def _grid(title: str, columns: Sequence[str], words: int, rows: Iterable[Sequence[str]]) -> Grid:
    numeric = [number >= words for number in range(len(columns))]
    return Grid(title, columns, numeric, list(rows))


def _footprints(study: Study) -> Grid:
    rows = [
        (str(day), f"{size:.2f}", f"{size / study.footprint.array_gb:.3%}", f"{fresh:.2f}")
        for day, size, fresh in study.footprint.days
    ]
    title = f"Figure 1: data touched by day, {study.footprint.load}; paper: below 30 GB, 10 GB new"
    return _grid(title, ("day", "GB", "of the array", "GB not touched the day before"), 0, rows)


def _of(study: Study, load: str) -> list[Run]:
    return [run for run in study.runs if run.load == load]


def _runs(study: Study, load: str) -> Grid:
    rows = []
    for run in _of(study, load):
        wakes = sum(run.wakes.values())
        rows.append(
            (
                timing(run.rate), _system(study, run.system), f"{authors_wh(study, run):.3f}",
                f"{100 * saving(study, load, run.rate, run.system):+.1f}", f"{run.wh:.3f}",
                f"{100 * saving(study, load, run.rate, run.system, exact=True):+.1f}",
                f"{run.watts:.2f}", f"{run.answered / run.seconds:.0f}", f"{run.mean_ms:.2f}",
                f"{run.read_mean_ms:.2f}", f"{run.write_mean_ms:.2f}", f"{run.p99_ms:.1f}",
                f"{run.hit_ratio:.1%}", f"{run.destaged:,}", f"{run.waiting:,}",
                f"{run.asleep:.1%}", str(wakes),
            )
        )  # fmt: skip
    columns = (
        "load", "system", "Wh, authors'", "saved, %", "Wh by rails", "saved, %", "W", "I/Os per s",
        "mean ms", "reads", "writes", "p99 ms", "hits", "written back", "waiting", "asleep",
        "wake-ups",
    )  # fmt: skip
    return _grid(f"Figures 2 and 3: {name_of(study, load)}", columns, 2, rows)


def _week(study: Study) -> Grid:
    plain, idle = study.week[0], study.week[1]
    rows = [
        (
            _system(study, run.system), f"{run.wh / 1000:.3f}",
            f"{100 * (1 - run.wh / plain.wh):+.1f}",
            f"{100 * (1 - run.wh / idle.wh):+.1f}", f"{run.watts:.2f}", f"{run.asleep:.1%}",
            ", ".join(map(str, run.starts)), *(str(run.wakes[cause]) for cause in run.wakes),
            f"{run.mean_ms:.1f}", f"{run.max_ms / 1000:.1f}", f"{run.hit_ratio:.1%}",
            f"{run.destaged:,}", f"{run.waiting:,}",
        )
        for run in study.week
    ]  # fmt: skip
    columns = (
        "policy", "kWh", "saved of RAID, %", "of hd-idle, %", "W", "asleep", "starts of each disk",
        *(f"woken by {cause}" for cause in plain.wakes), "mean ms", "max s", "hits", "written back",
        "waiting",
    )  # fmt: skip
    return _grid(f"The week of a NAS: {study.week_requests:,} requests", columns, 1, rows)


def _prefetch(study: Study) -> Grid:
    rows = []
    for load, rate in dict.fromkeys((run.load, run.rate) for run in study.prefetch):
        none, *ahead = (run for run in study.prefetch if (run.load, run.rate) == (load, rate))
        for run in (none, *ahead):
            rows.append(
                (
                    f"{name_of(study, load)}, {timing(rate)}" if load != "nas" else "week of a NAS",
                    _system(study, run.system), f"{run.wh:.3f}",
                    f"{100 * (1 - run.wh / none.wh):+.1f}", f"{run.hit_ratio:.1%}",
                    f"{run.prefetched:,}", f"{run.prefetch_hits:,}", f"{run.misses:,}",
                    f"{run.read_mean_ms:.2f}", str(sum(run.wakes.values())), f"{run.asleep:.1%}",
                )
            )  # fmt: skip
    columns = (
        "load", "system", "Wh by rails", "saved by prefetch, %", "hits", "blocks read ahead",
        "of these read", "blocks missed", "reads, mean ms", "wake-ups", "asleep",
    )  # fmt: skip
    return _grid("Outlook: prefetching behind misses", columns, 2, rows)


def _tables(study: Study) -> list[Grid]:
    return [*(_runs(study, load) for load in _LOADS), _week(study), _prefetch(study)]


def _rails(run: Run, scale: float = 1.0) -> tuple[float, ...]:
    return (run.disks_12v_wh * scale, run.disks_5v_wh * scale, run.ssd_wh * scale)


def _energies(study: Study, load: str) -> Bars:
    rows = [
        (f"{timing(rate)} {run.system}", _rails(run, J_PER_WH / run.seconds))
        for rate in RATES
        for run in _of(study, load)
        if run.rate == rate
    ]
    return Bars(f"Figure 2: mean power by rails, {name_of(study, load)}", "W", PARTS, rows)


def states(run: Run) -> list[float]:
    """Percent of the disks' time, by STATES."""
    phases, conditions = run.phases, run.conditions
    shares = [
        phases["seek"],
        phases["rotate"],
        phases["read"] + phases["write"],
        phases["idle"] - sum(conditions[each] for each in ("starting", "to_standby", "standby")),
        conditions["starting"],
        conditions["to_standby"],
        conditions["standby"],
    ]
    return [100 * share for share in shares]


def _residencies(study: Study, load: str) -> Bars:
    rows = [(f"{timing(run.rate)} {run.system}", states(run)) for run in _of(study, load)]
    return Bars(f"What the disks do, {name_of(study, load)}", "% of time", STATES, rows)


def _responses(study: Study, load: str) -> Plot:
    keys = list(dict.fromkeys(run.system for run in _of(study, load)))
    lines = [
        Line(_system(study, key), [find(study.runs, load, rate, key).mean_ms for rate in FIXED])
        for key in keys
    ]
    return Plot(
        f"paper004-response-{load}",
        f"Figure 3: mean response, {name_of(study, load)}",
        Axis("requests per second"),
        Axis("mean response", "ms", log=True),
        [Strand(list(FIXED), lines)],
        note="From sending to the answer; at most 64 requests are outstanding.",
    )


def _week_bars(study: Study) -> list[Bars]:
    rows = [(_system(study, run.system), _rails(run, 1 / 1000)) for run in study.week]
    does = [(_system(study, run.system), states(run)) for run in study.week]
    return [
        Bars("The week: energy by rails", "kWh", PARTS, rows),
        Bars("The week: what the disks do", "% of time", STATES, does),
    ]


def _course(study: Study) -> Plot:
    hours = COURSE_NS / 1e9
    lines = []
    for run in study.week:
        used = [0.0, *(line[0] for line in run.course)]
        lines.append(
            Line(
                _system(study, run.system),
                [(after - before) * J_PER_WH / hours for before, after in pairwise(used)],
            )
        )
    xs = [(number + 0.5) * hours for number in range(len(lines[0].ys))]
    return Plot(
        "paper004-week",
        "The week: power by hour",
        Axis("time since Monday, 0:00", quantity=Quantity.CLOCK),
        Axis("mean power of the hour", "W"),
        [Strand(xs, lines)],
    )
