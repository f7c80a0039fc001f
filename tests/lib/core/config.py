# SPDX-License-Identifier: GPL-2.0
"""A run's configuration as the core takes it."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from lib.core import spekcore

from spekctl.contract.requests import Operation, Priority, WriteHint, ZoneOrder
from spekctl.contract.wire import code
from spekctl.workload.config import ResolvedArrival, ResolvedAsu, ResolvedStream, RunConfig

# Words that the core's streams have as numbers.
WORDS = {
    "operation": Operation,
    "priority": Priority,
    "write_hint": WriteHint,
    "zone_order": ZoneOrder,
}


def core_of(config: RunConfig) -> spekcore.Workload:
    """The same numbers as the module's core takes them."""
    return spekcore.Workload(
        [_asu(asu) for asu in config.asus],
        [_arrival(arrival) for arrival in config.arrivals],
        [_stream(stream) for stream in config.streams],
    )


def _common(kind: Any, part: Any) -> dict[str, Any]:
    """Fields of @part that have the same name in the core's @kind."""
    names = [field.name for field in fields(kind) if hasattr(part, field.name)]
    return {name: getattr(part, name) for name in names}


def _asu(asu: ResolvedAsu) -> spekcore.Asu:
    extents = [(asu.target, asu.start) for asu in asu.extents]
    return spekcore.Asu(**_common(spekcore.Asu, asu) | {"extents": extents})


def _arrival(arrival: ResolvedArrival) -> spekcore.Arrival:
    return spekcore.Arrival(
        **_common(spekcore.Arrival, arrival),
        rate=arrival.rate_milli / 1000,
        curve=[(at / 1e9, milli / 1000) for at, milli in arrival.points],
    )


def _stream(stream: ResolvedStream) -> spekcore.Stream:
    words = {name: code(kind, getattr(stream, name)) for name, kind in WORDS.items()}
    sizes = [(size.bytes, size.weight) for size in stream.sizes]
    own = {"sizes": sizes, "fill": bytes.fromhex(stream.fill), **words}
    return spekcore.Stream(**_common(spekcore.Stream, stream) | own)
