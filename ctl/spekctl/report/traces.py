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
    sheet = Sheet(
        file,
        "figures of a trace",
        ", ".join(f"{origin.file} ({origin.format})" for origin in info.origins),
        remarks=render.defects(info.defects),
    )
    sheet.figures = [
        ("requests", f"{info.requests:,}"),
        ("per second", units.format_rate(info.iops)),
        ("span", units.format_ns(info.span_ns)),
        ("reads", f"{info.read_share:.1%}"),
        ("footprint", units.format_bytes(info.places.footprint_bytes)),
        ("sequential", f"{info.places.sequential:.1%}"),
    ]
    add_printed(sheet, render.parts(info))
    if info.sizes and info.requests:
        rows = [
            (units.format_bytes(size.bytes), [100 * size.requests / info.requests])
            for size in info.sizes
        ]
        sheet.bars.append(Bars("Most frequent request sizes", "%", ["share of requests"], rows))
    windows = sorted(info.dispersion, key=lambda window: window.window_ns)
    if len(windows) > 1:
        sheet.plots.append(
            Plot(
                "dispersion",
                "Burstiness by length of the window",
                Axis("window", "s", log=True),
                Axis("variance over mean", "Poisson: 1", log=True),
                [
                    Strand(
                        [window.window_ns / 1e9 for window in windows],
                        [
                            Line("trace", [window.index for window in windows], main=True),
                            Line("Poisson arrivals", [1.0] * len(windows), look="limit"),
                        ],
                    )
                ],
            )
        )
    return sheet


def fit_sheet(file: str, fit: TraceFit) -> Sheet:
    """A workload made from a trace."""
    sheet = Sheet(
        file,
        "fit of a workload to a trace",
        f"{fit.workload}, made from {fit.origins[0].file}",
        remarks=[*fit.notes, *render.defects(fit.defects)],
    )
    sheet.figures = [
        ("requests of the trace", f"{fit.requests:,}"),
        ("of the workload", f"{fit.twin_requests:,}"),
    ]
    add_printed(sheet, render.fit_parts(fit))
    return sheet


def verify_sheet(file: str, report: VerifyReport) -> Sheet:
    """Whether devices still hold what was written."""
    sheet = Sheet(
        file,
        "check of written data",
        f"check of the data on {', '.join(target.path for target in report.targets)}",
        verdict=report.text,
        good=report.ok,
    )
    counts = report.counts
    sheet.figures = [
        ("blocks compared", f"{counts.checked:,}"),
        ("wrong", f"{counts.mismatches:,}"),
        ("never written", f"{counts.never_written:,}"),
    ]
    sheet.conditions = [*runs.targets(report.targets), ("data written", report.written)]
    sheet.notes += [line.strip() for line in render_verify.report_lines(report)[1:]]
    if counts.by_kind:
        rows = [(kind, f"{count:,}") for kind, count in counts.by_kind.items()]
        sheet.grids.append(plain_grid("wrong blocks by kind", ["kind", "blocks"], rows))
    return sheet
