# SPDX-License-Identifier: GPL-2.0-or-later
"""Sheets of load curves and of the SPC-1- and SPC-2-like tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from spekctl import units
from spekctl.documents import spc1, spc2
from spekctl.documents.curve import Curve, Point, place_words
from spekctl.errors import UsageError
from spekctl.render import curve as render_curve
from spekctl.render import spc1 as render_spc1
from spekctl.render import spc2 as render_spc2
from spekctl.report import benchmark, runs
from spekctl.report.sheet import (
    COLOUR_OF,
    COLOURS,
    Axis,
    Line,
    Look,
    Plot,
    Quantity,
    Sheet,
    Strand,
    Verdict,
    add_printed,
)
from spekctl.report.words import few

IOPS = Axis("I/Os per second", "1/s")
OFFERED = Axis("offered I/Os per second", "1/s")
DEPTH = Axis("I/Os outstanding", quantity=Quantity.WHOLE)
COST = Axis("power per I/O rate", "mW/IOPS", log=None)
STREAMS = Axis("streams", quantity=Quantity.WHOLE, log=None)
# What points beside a line say of its values.
BEHIND = "fell behind the offered load"
BEYOND = "more streams than were served in time"
FAILED = "run failed or had I/O errors"
_COLOUR_OF_FLAG = {BEHIND: 4, BEYOND: 4, FAILED: 6}


def curve_sheet(file: str, curve: Curve) -> Sheet:
    """A workload at a list of loads."""
    devices = few([target.path for target in curve.targets]) or "no device"
    label = f"{curve.workload} (SPC-1-like)" if curve.workload == "spc1" else curve.workload
    verdict, good = _judged(curve)
    sheet = Sheet(
        file,
        "load curve",
        f"{label} on {devices}",
        verdict=verdict,
        good=good,
        remarks=list(curve.remarks),
    )
    best = max((point for point in curve.points), key=lambda point: point.iops, default=None)
    if best is not None:
        sheet.figures += [
            ("most IOPS", units.format_rate(best.iops)),
            ("at a load of", best.name),
        ]
        if best.response is not None:
            sheet.figures.append(("mean response there", units.format_ns(best.response.mean)))
    sheet.conditions = [
        *runs.machine(curve.environment),
        *runs.targets(curve.targets),
        *_workers(curve.cpus),
        *_length(curve),
        ("seed", str(curve.seed)),
    ]
    add_printed(sheet, render_curve.parts(curve))
    sheet.plots += over_plots(curve) if curve.over else point_plots(curve.points)
    return sheet


def _workers(cpus: Sequence[int]) -> list[tuple[str, str]]:
    """The CPUs of workers; those of a fleet's hosts are the hosts' own."""
    return [("workers", f"CPU {units.format_cpu_list(cpus)}")] if cpus else []


def _length(curve: Curve) -> list[tuple[str, str]]:
    """Of each run, if its time is set: runs that end by passes or counts take what they need."""
    parts = [f"{curve.time_ns / 1e9:g} s each"] if curve.time_ns else []
    parts += [f"after a ramp-up of {curve.ramp_ns / 1e9:g} s"] if curve.ramp_ns else []
    return [("length", " ".join(parts))] if parts else []


def over_plots(curve: Curve) -> list[Plot]:
    """Rates, response and power of a sweep over fields.

    Over the values of a field if these are sizes or numbers, else over the loads if there are
    several; a line for each value of everything else that was varied.
    """
    points = [point for point in curve.points if point.response is not None]
    loads = {str(point.load) for point in points}
    along = next((over.field for over in curve.over if _numbers(over.values)), None)
    if along is None and len(loads) < 2:
        return []
    sizes = along is not None and not _plain(_values_of(curve, along))
    if along is None:
        kind = points[0].load.kind
        x = Axis({"bsu": "BSU", "rate": "rate offered", "depth": "I/Os outstanding"}[kind])
    elif sizes and all(map(_number, _values_of(curve, along))):
        x = Axis(along, quantity=Quantity.SIZE, log=True)
    elif sizes:
        # 0 has no place among powers of two.
        x = Axis(along, "B")
    else:
        x = Axis(along, log=None)

    def place(point: Point) -> float:
        if along is None:
            return point.load.value
        return _number(point.at[along])

    lines: dict[str, list[Point]] = {}
    for point in points:
        words = place_words({field: value for field, value in point.at.items() if field != along})
        if along is not None and len(loads) > 1:
            words.append(str(point.load))
        lines.setdefault(", ".join(words) or "all", []).append(point)

    def plot(key: str, title: str, y: Axis, value: Callable[[Point], float | None]) -> list[Plot]:
        strands = []
        for name, members in lines.items():
            ordered = sorted(members, key=place)
            ys = [value(point) for point in ordered]
            if any(y is not None for y in ys):
                line = Line(name, ys, main=True)
                strands.append(Strand([place(point) for point in ordered], [line]))
        return [Plot(key, f"{title} over {along or 'load'}", x, y, strands)] if strands else []

    return [
        *plot("over-iops", "I/O rate", IOPS, lambda point: point.iops),
        *plot("over-rate", "Data rate", Axis("data rate", "MiB/s"), lambda point: point.mib_s),
        *plot(
            "over-response",
            "Mean response time",
            Axis("mean response time", quantity=Quantity.TIME, log=None),
            lambda point: _response(point, "mean"),
        ),
        *plot(
            "over-power",
            "Power",
            Axis("power", "W"),
            lambda point: point.power.watts if point.power is not None else None,
        ),
    ]


def _values_of(curve: Curve, field: str) -> list[str]:
    return next(over.values for over in curve.over if over.field == field)


def _plain(values: Sequence[str]) -> bool:
    """Numbers or percentages rather than sizes with units."""
    return all(value.removesuffix("%").replace(".", "", 1).isdigit() for value in values)


def _number(value: str) -> float:
    """A size in bytes, or a number; a percentage without its sign."""
    return float(value.removesuffix("%")) if _plain([value]) else float(units.parse_size(value))


def _numbers(values: Sequence[str]) -> bool:
    try:
        return len({_number(value) for value in values}) > 1
    except UsageError:
        return False


def _judged(curve: Curve) -> tuple[str, bool]:
    """The outcome as a sentence, and whether the sweep ended with exit code 0."""
    if not curve.points:
        return "nothing was measured", False
    if curve.within is not None:
        # Runs beyond the limit may fail: that is what the search is for.
        return curve.within.text, curve.complete and curve.within.load is not None
    counts = {
        "{} ended with errors": sum(point.failed for point in curve.points),
        "{} ended at a threshold, or without the steady state": sum(
            point.limit_missed for point in curve.points
        ),
        "in {} no I/O completed": sum(point.empty for point in curve.points),
    }
    said = [text.format(count) for text, count in counts.items() if count]
    text = "all loads were measured" if curve.complete else "not all loads were measured"
    return "; ".join([text, *said]), curve.complete and not said


def point_plots(
    points: Sequence[Point], limit_ns: int | None = None, search: Sequence[Point] = ()
) -> list[Plot]:
    """Response, achieved rate and power against the load that was served."""
    plots = []
    done = _ordered(points)
    strands = []
    if done:
        means = [_response(point, "mean") for point in done]
        tails = [_response(point, "p99") for point in done]
        lines = [
            Line("mean", means, main=True, colour=COLOUR_OF["all"]),
            Line("p99", tails, colour=COLOUR_OF["all"] + COLOURS),
            *_flagged(done, means),
        ]
        if limit_ns is not None:
            lines.append(Line("limit of the mean", [float(limit_ns)] * len(done), look="limit"))
        strands.append(Strand([point.iops for point in done], lines))
    beside = sorted(_ordered(search), key=lambda point: point.iops)
    if beside:
        means = [_response(point, "mean") for point in beside]
        strands.append(
            Strand([point.iops for point in beside], [Line("search, mean", means, look="points")])
        )
    if strands:
        response = Axis("response time", quantity=Quantity.TIME, log=None)
        plots.append(Plot("curve-response", "Response time over load", IOPS, response, strands))
    plots += _achieved(done, beside)
    powered = [point for point in done if point.power is not None]
    for x, key, group in (
        (OFFERED, "", [point for point in powered if point.offered_iops is not None]),
        (DEPTH, "-depth", [point for point in powered if point.offered_iops is None]),
    ):
        plots += _power_plots(x, key, group)
    return plots


def _power_plots(x: Axis, suffix: str, powered: Sequence[Point]) -> list[Plot]:
    """Power over the load that was asked for: over the rate that was served, the points beyond the
    peak would lie on those before it."""
    plots = []
    if powered:
        watts = [point.power.watts if point.power is not None else None for point in powered]
        costs = [point.efficiency for point in powered]
        each = [cost.iops_per_w if cost is not None else None for cost in costs]
        per_io = [cost.mw_per_iops if cost is not None else None for cost in costs]
        plots += [
            _over_load(x, f"curve-power{suffix}", "Power over load", Axis("power", "W"), powered,
                       "power", watts),
            _over_load(x, f"curve-efficiency{suffix}", "Efficiency over load",
                       Axis("I/Os per second and watt", "1/s/W"), powered, "efficiency", each),
            _over_load(x, f"curve-cost{suffix}", "Power per I/O rate, less the baseline", COST,
                       powered, "power per I/O rate", per_io),
        ]  # fmt: skip
    return plots


def _achieved(done: Sequence[Point], search: Sequence[Point]) -> list[Plot]:
    """The rate that was served over the offered one; of a closed loop over its depth."""
    plots = []
    offered = [(point.offered_iops, point) for point in done if point.offered_iops]
    if offered:
        offered.sort(key=lambda pair: pair[0])
        xs = [asked for asked, _ in offered]
        rates = [point.iops for _, point in offered]
        lines = [
            Line("achieved", rates, main=True),
            *_flagged([point for _, point in offered], rates),
            Line("offered", xs, look="limit"),
        ]
        strands = [Strand(xs, lines)]
        beside = sorted((point.offered_iops, point.iops) for point in search if point.offered_iops)
        if beside:
            line = Line("search", [rate for _, rate in beside], look="points")
            strands.append(Strand([asked for asked, _ in beside], [line]))
        plots.append(Plot("curve-achieved", "Achieved over offered load", OFFERED, IOPS, strands))
    closed = [point for point in done if point.offered_iops is None]
    if closed:
        rates = [point.iops for point in closed]
        lines = [Line("achieved", rates, main=True), *_flagged(closed, rates)]
        strands = [Strand([point.load.value for point in closed], lines)]
        plots.append(Plot("curve-depth", "Achieved over depth", DEPTH, IOPS, strands))
    return plots


def _over_load(
    x: Axis,
    key: str,
    title: str,
    y: Axis,
    points: Sequence[Point],
    name: str,
    ys: Sequence[float | None],
) -> Plot:
    lines = [Line(name, ys, main=True), *_flagged(points, ys)]
    xs = [point.load.value if x is DEPTH else point.offered_iops or 0.0 for point in points]
    return Plot(key, title, x, y, [Strand(xs, lines)])


def _flagged(points: Sequence[Point], ys: Sequence[float | None]) -> list[Line]:
    """The points that did not keep up and those that failed again, as far as there are any."""
    flags = {
        BEHIND: [not point.kept_up for point in points],
        FAILED: [point.failed for point in points],
    }
    return [
        Line(name, [y if flag else None for y, flag in zip(ys, flagged, strict=True)],
             look="points", colour=_COLOUR_OF_FLAG[name])
        for name, flagged in flags.items()
        if any(flagged)
    ]  # fmt: skip


def _ordered(points: Sequence[Point]) -> list[Point]:
    """Points at which something completed, by what was asked for."""
    done = [point for point in points if point.response is not None]
    return sorted(done, key=lambda point: (point.offered_iops or 0.0, point.load.value))


def _response(point: Point, name: str) -> float | None:
    return float(getattr(point.response, name)) if point.response is not None else None


# --- SPC-1-like ----------------------------------------------------------------------------------


def spc1_sheet(file: str, report: spc1.Report) -> Sheet:
    """An SPC-1-like test."""
    sheet = benchmark.tested(file, "SPC-1-like test", report, render_spc1.parts(report))
    if report.iops is not None:
        sheet.figures.append(("SPC-1-like IOPS", units.format_rate(report.iops)))
    if report.lrt_ns is not None:
        sheet.figures.append(("SPC-1-like LRT", units.format_ns(report.lrt_ns)))
    if report.level_bsu is not None:
        sheet.figures.append(("level", f"{report.level_bsu:,} BSU"))
    shape, lengths = report.parameters.shape, report.parameters.durations
    sheet.conditions += [
        *_workers(shape.cpus),
        ("length", f"sustained {lengths.sustain_ns / 1e9:g} s, steps {lengths.phase_ns / 1e9:g} s"),
        ("seed", str(shape.seed)),
    ]
    sheet.verdicts = [
        Verdict(
            " ".join(filter(None, [check.phase, check.stream, check.kind])),
            check.text,
            check.passed,
        )
        for check in report.checks
    ]
    if report.persistence is not None:
        sheet.verdicts.append(
            Verdict("persistence", report.persistence.text, report.persistence.passed)
        )
    sheet.plots += point_plots(
        report.curve.points, report.parameters.limits.response_ns, report.search.points
    )
    return sheet


# --- SPC-2-like ----------------------------------------------------------------------------------


def spc2_sheet(file: str, report: spc2.Report) -> Sheet:
    """An SPC-2-like test."""
    sheet = benchmark.tested(file, "SPC-2-like test", report, render_spc2.parts(report))
    if report.mbps is not None:
        sheet.figures.append(("SPC-2-like MBPS", report.mbps.text))
    # The composite of all parts is the figure above.
    sheet.figures += [
        (f"{render_spc2.PARTS[composite.name]}, MB/s", composite.mb_s.text)
        for composite in report.composites
        if composite.streams is not None
    ]
    if report.vod_streams is not None:
        sheet.figures.append(("video streams", f"{report.vod_streams:,}"))
    sheet.verdicts = [
        Verdict(run.step.name, run.beyond or run.text, run.fine)
        for run in report.runs
        if run.step.kind == "run"
    ]
    sheet.plots += _stream_plots([run for run in report.runs if run.response is not None])
    return sheet


def _stream_plots(runs: Sequence[spc2.Run]) -> list[Plot]:
    """Data rate, response time and power over the number of streams, a line for each test, and
    once more the runs that missed their condition or failed."""
    tests: dict[str, list[spc2.Run]] = {}
    for run in runs:
        name = f"{run.step.test}, search" if run.step.kind == "search" else run.step.test
        tests.setdefault(name, []).append(run)
    by_streams = sorted(runs, key=lambda run: run.step.streams)
    flags = {
        BEYOND: [run for run in by_streams if run.beyond and run.step.kind != "search"],
        FAILED: [run for run in by_streams if not run.ok],
    }

    def plot(
        key: str, title: str, y: Axis, value: Callable[[spc2.Run], float | None]
    ) -> Plot | None:
        strands = []
        for name, test_runs in tests.items():
            ordered = sorted(test_runs, key=lambda run: run.step.streams)
            look: Look = "points" if test_runs[0].step.kind == "search" else "line"
            ys = [value(run) for run in ordered]
            if any(y is not None for y in ys):
                xs = [float(run.step.streams) for run in ordered]
                strands.append(Strand(xs, [Line(name, ys, look=look)]))
        for name, flagged in flags.items():
            places = [(run.step.streams, value(run)) for run in flagged]
            known = [(float(at), y) for at, y in places if y is not None]
            if known:
                line = Line(
                    name, [y for _, y in known], look="points", colour=_COLOUR_OF_FLAG[name]
                )
                strands.append(Strand([at for at, _ in known], [line]))
        return Plot(key, title, STREAMS, y, strands) if strands else None

    plots = [
        plot("streams-rate", "Data rate over streams", Axis("data rate", "MB/s"),
             lambda run: float(run.mb_s)),
        plot("streams-response", "Response time over streams",
             Axis("mean response time", quantity=Quantity.TIME, log=None),
             lambda run: run.response.mean if run.response is not None else None),
        plot("streams-power", "Power over streams", Axis("power", "W"),
             lambda run: float(run.watts) if run.watts is not None else None),
    ]  # fmt: skip
    return [plot for plot in plots if plot is not None]
