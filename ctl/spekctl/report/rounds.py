# SPDX-License-Identifier: GPL-2.0-or-later
"""Sheets of PTS-like tests: rounds up to steady state, the measured matrix, write saturation."""

from __future__ import annotations

from spekctl import units
from spekctl.documents.pts import (
    Measured,
    MetricName,
    Parameters,
    Report,
    Run,
    known_value,
    metric_of,
)
from spekctl.render import pts as render
from spekctl.report import benchmark
from spekctl.report.sheet import Axis, Line, Plot, Quantity, Sheet, Strand, Verdict

# Beside each value: what divides it, so that it is in the unit of the axis.
_AXES: dict[MetricName, tuple[Axis, float]] = {
    "iops": (Axis("I/Os per second", "1/s"), 1.0),
    "bandwidth": (Axis("data rate", "MB/s"), 1e6),
    "latency": (Axis("mean response time", quantity=Quantity.TIME, log=None), 1.0),
}
_WRITTEN = Axis("written", "GiB")
_STATES = {True: "steady state", False: "no steady state", None: "not complete"}


def _outstanding(wanted: Parameters) -> str:
    """I/Os and who sends them."""
    if wanted.fleet:
        clients = units.format_count(wanted.clients, "client")
        return f"{wanted.depth} I/Os of {clients}; latency: 1 of each"
    return f"{wanted.depth} I/Os of {wanted.workers} workers; latency: 1 of 1"


def pts_sheet(file: str, report: Report) -> Sheet:
    """A PTS-like test."""
    sheet = benchmark.tested(file, "PTS-like test", report, render.parts(report))
    sheet.figures = [
        (f"{test.name}, {_tracked(test)}", _average(test))
        for test in report.tests
        if test.window is not None
    ]
    wanted = report.parameters
    sheet.conditions += [
        ("outstanding", _outstanding(wanted)),
        ("length", f"{wanted.time_ns / 1e9:g} s each, at most {wanted.rounds} rounds"),
        ("seed", str(wanted.shape.seed)),
    ]
    sheet.verdicts = [
        Verdict(f"{test.name}, {_STATES[test.steady]}", test.text, test.steady)
        for test in report.tests
    ]
    sheet.verdicts += [
        Verdict(run.step.name, run.failure, False) for run in report.runs if run.failure
    ]
    for test in report.tests:
        if test.rounds:
            sheet.plots.append(_rounds(test))
        if test.cells and len(test.sizes) > 1:
            sheet.plots.append(_matrix(test))
    if report.saturation:
        sheet.plots += _saturation(report)
    powered = [run for run in report.runs if run.power is not None]
    if powered:
        sheet.plots.append(_power(powered))
    return sheet


def _tracked(test: Measured) -> str:
    return f"{units.format_bytes(test.tracked_bytes)}, {test.tracked_read_percent} % reads"


def _average(test: Measured) -> str:
    assert test.window is not None
    text = render.value_text(test.metric, test.window.average)
    return {"iops": f"{text} IOPS", "bandwidth": f"{text} MB/s"}.get(test.metric, text)


def _in_unit(value: float, test: Measured) -> float | None:
    """A value of the test in the unit of its axis; None: no I/O completed that has a time."""
    _, size = _AXES[test.metric]
    known = known_value(value, test.metric)
    return None if known is None else known / size


def _rounds(test: Measured) -> Plot:
    """A line for each block size; of what is tracked also the line of least squares."""
    axis, size = _AXES[test.metric]
    numbers = [float(round_.number) for round_ in test.rounds]
    lines = [
        Line(
            units.format_bytes(block),
            [_in_unit(round_.values[index], test) for round_ in test.rounds],
            main=block == test.tracked_bytes,
        )
        for index, block in enumerate(test.sizes)
    ]
    strands = [Strand(numbers, lines)]
    window = test.window
    if window is not None and len(window.values) > 1:
        half = (window.last - window.first) / 2
        ends = [window.average - window.slope * half, window.average + window.slope * half]
        fit = Line("least squares", [end / size for end in ends], look="limit")
        strands.append(Strand([float(window.first), float(window.last)], [fit]))
    return Plot(
        f"rounds-{test.name}",
        f"{test.name}: rounds, {test.tracked_read_percent} % reads ({_STATES[test.steady]})",
        Axis("round", quantity=Quantity.WHOLE),
        axis,
        strands,
    )


def _matrix(test: Measured) -> Plot:
    """The mean of the window over the block size, a line for each share of reads."""
    axis, _ = _AXES[test.metric]
    sizes = sorted(test.sizes)
    lines = []
    for percent in dict.fromkeys(cell.read_percent for cell in test.cells):
        by_size = {
            cell.bytes: metric_of(cell, test.metric)
            for cell in test.cells
            if cell.read_percent == percent
        }
        ys = [_in_unit(by_size[block], test) if block in by_size else None for block in sizes]
        lines.append(Line(f"{percent} % reads", ys, main=percent == test.tracked_read_percent))
    return Plot(
        f"matrix-{test.name}",
        f"{test.name}: mean of the last rounds by block size",
        Axis("block size", quantity=Quantity.SIZE, log=True),
        axis,
        [Strand([float(block) for block in sizes], lines)],
    )


def _saturation(report: Report) -> list[Plot]:
    """Rates and times over what was written."""
    samples = report.saturation
    xs = [sample.written_bytes / (1 << 30) for sample in samples]
    response = Axis("response time", quantity=Quantity.TIME, log=None)
    times = [
        Line("mean", [sample.mean_ns for sample in samples], main=True),
        Line(
            "max",
            [float(sample.max_ns) if sample.max_ns is not None else None for sample in samples],
        ),
    ]
    rate = [Line("4 KiB random writes", [sample.iops for sample in samples], main=True)]
    return [
        Plot("saturation-iops", "Write saturation: I/Os per second", _WRITTEN,
             _AXES["iops"][0], [Strand(xs, rate)]),
        Plot("saturation-response", "Write saturation: response time", _WRITTEN, response,
             [Strand(xs, times)]),
    ]  # fmt: skip


def _power(powered: list[Run]) -> Plot:
    """The mean power of each step that has it, in their order."""
    xs = [float(number) for number in range(1, len(powered) + 1)]
    watts = [run.power.total.mean_w if run.power is not None else None for run in powered]
    return Plot(
        "pts-power",
        "Power of the measurements, in their order",
        Axis("measurement", quantity=Quantity.WHOLE),
        Axis("power", "W"),
        [Strand(xs, [Line("power", watts, main=True)])],
    )
