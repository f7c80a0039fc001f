# SPDX-License-Identifier: GPL-2.0-or-later
"""The report of `spekctl energy dcse`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from fractions import Fraction

from spekctl import recorded
from spekctl.documents import dcse
from spekctl.documents.energy import DCSE_NOTICE, DcseReport, DcseSpan
from spekctl.documents.exact import Figure, decimal_text, figure
from spekctl.documents.operation import Operation


def build(
    known: dcse.Inputs,
    baseline: dcse.Inputs | None,
    source: str,
    operation: Operation | None = None,
    over_time: Sequence[DcseSpan] = (),
    remarks: Sequence[str] = (),
) -> DcseReport:
    """The figures of @known, and their comparison with @baseline. @operation: whose numbers they
    are, if they are of samples."""
    metrics = dcse.metrics(known)
    return DcseReport(
        notice=DCSE_NOTICE,
        source=recorded.text(source),
        given=_given(known),
        gb_per_watt=_figure(metrics.gb_per_watt),
        iops_per_watt=_figure(metrics.iops_per_watt),
        mb_per_s_per_watt=_figure(metrics.mb_per_s_per_watt),
        against=_changes(metrics, dcse.metrics(baseline)) if baseline is not None else {},
        remarks=list(remarks),
        disks=[recorded.text(name) for name in operation.disks] if operation else [],
        rails=[recorded.text(name) for name in operation.rails] if operation else [],
        over_time=list(over_time),
    )


def _given(known: dcse.Inputs) -> dict[str, str]:
    values = {field.name: getattr(known, field.name) for field in fields(known)}
    return {name: decimal_text(value) for name, value in values.items() if value is not None}


def _figure(value: Fraction | None) -> Figure | None:
    return figure(value, dcse.DECIMALS) if value is not None else None


def _changes(now: dcse.Metrics, before: dcse.Metrics) -> dict[str, Figure]:
    changes = {
        "capacity": dcse.change(before.gb_per_watt, now.gb_per_watt),
        "workload": dcse.change(before.iops_per_watt, now.iops_per_watt),
        "throughput": dcse.change(before.mb_per_s_per_watt, now.mb_per_s_per_watt),
    }
    return {
        name: figure(100 * value, dcse.DECIMALS)
        for name, value in changes.items()
        if value is not None
    }
