# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics as text, in the format of Prometheus' exporters or as OpenMetrics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Labels = dict[str, str]
Sample = tuple[str, Labels, str]  # suffix, labels, value
Kind = Literal["gauge", "counter", "histogram", "info"]


@dataclass(frozen=True, slots=True)
class Family:
    """A metric."""

    name: str
    kind: Kind
    help: str
    samples: Sequence[Sample]
    unit: str = ""


def lines(family: Family, openmetrics: bool) -> Iterable[str]:
    """Those of a family, none if it has no samples."""
    if not family.samples:
        return
    name, kind = family.name, str(family.kind)
    if not openmetrics:
        # There a family has the name of its samples, and there is no info.
        name += {"counter": "_total", "info": "_info"}.get(kind, "")
        kind = "gauge" if kind == "info" else kind
    yield f"# HELP {name} {_escaped(family.help)}"
    yield f"# TYPE {name} {kind}"
    if openmetrics and family.unit:
        yield f"# UNIT {name} {family.unit}"
    for suffix, labels, value in family.samples:
        inside = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
        yield f"{family.name}{suffix}{f'{{{inside}}}' if inside else ''} {value}"


def seconds(ns: int) -> str:
    """Of a time that is not negative, exactly."""
    return f"{ns // 10**9}.{ns % 10**9:09d}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
