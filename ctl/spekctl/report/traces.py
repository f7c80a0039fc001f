# SPDX-License-Identifier: GPL-2.0-or-later
"""Sheets of traces and of checks of written data."""

from __future__ import annotations

from spekctl import units
from spekctl.documents.trace import TraceFit, TraceInfo
from spekctl.documents.verify import VerifyReport
from spekctl.render import trace as render
from spekctl.render import verify as render_verify
from spekctl.report import runs
from spekctl.report.sheet import Axis, Bars, Line, Plot, Sheet, Strand, add_printed, plain_grid


def info_sheet(file: str, info: TraceInfo) -> Sheet:
    """Figures of a trace."""
    made = Sheet(
        file,
        "figures of a trace",
        ", ".join(f"{one.file} ({one.format})" for one in info.origins),
        remarks=render.defects(info.defects),
    )
    made.figures = [
        ("requests", f"{info.requests:,}"),
        ("per second", units.format_rate(info.iops)),
        ("span", units.format_ns(info.span_ns)),
        ("reads", f"{info.read_share:.1%}"),
        ("footprint", units.format_bytes(info.places.footprint_bytes)),
        ("sequential", f"{info.places.sequential:.1%}"),
    ]
    add_printed(made, render.parts(info))
    if info.sizes and info.requests:
        rows = [
            (units.format_bytes(one.bytes), [100 * one.requests / info.requests])
            for one in info.sizes
        ]
        made.bars.append(Bars("Most frequent request sizes", "%", ["share of requests"], rows))
    windows = sorted(info.dispersion, key=lambda one: one.window_ns)
    if len(windows) > 1:
        made.plots.append(
            Plot(
                "dispersion",
                "Burstiness by length of the window",
                Axis("window", "s", log=True),
                Axis("variance over mean", "Poisson: 1", log=True),
                [
                    Strand(
                        [one.window_ns / 1e9 for one in windows],
                        [
                            Line("trace", [one.index for one in windows], main=True),
                            Line("Poisson arrivals", [1.0] * len(windows), look="limit"),
                        ],
                    )
                ],
            )
        )
    return made


def fit_sheet(file: str, found: TraceFit) -> Sheet:
    """A workload made from a trace."""
    made = Sheet(
        file,
        "fit of a workload to a trace",
        f"{found.workload}, made from {found.origins[0].file}",
        remarks=[*found.notes, *render.defects(found.defects)],
    )
    made.figures = [
        ("requests of the trace", f"{found.requests:,}"),
        ("of the workload", f"{found.twin_requests:,}"),
    ]
    add_printed(made, render.fit_parts(found))
    return made


def verify_sheet(file: str, report: VerifyReport) -> Sheet:
    """Whether devices still hold what was written."""
    made = Sheet(
        file,
        "check of written data",
        f"check of the data on {', '.join(one.path for one in report.targets)}",
        verdict=report.text,
        good=report.ok,
    )
    counts = report.counts
    made.figures = [
        ("blocks compared", f"{counts.checked:,}"),
        ("wrong", f"{counts.mismatches:,}"),
        ("never written", f"{counts.never_written:,}"),
    ]
    made.conditions = [*runs.targets(report.targets), ("data written", report.written)]
    made.notes += [line.strip() for line in render_verify.report_lines(report)[1:]]
    if counts.by_kind:
        rows = [(kind, f"{count:,}") for kind, count in counts.by_kind.items()]
        made.grids.append(plain_grid("wrong blocks by kind", ["kind", "blocks"], rows))
    return made
