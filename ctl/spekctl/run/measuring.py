# SPDX-License-Identifier: GPL-2.0-or-later
"""What the options of measuring ask for: power, power states of disks, and a per-I/O log."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import msgspec

from spekctl import files, units
from spekctl.errors import UsageError
from spekctl.log import recorder
from spekctl.log.place import Place
from spekctl.power.course import BESIDE_LOADS, LEAST_NS, Pace
from spekctl.power.meter import PowerOptions
from spekctl.run.job import Request
from spekctl.workload.options import Measuring


def power_of(
    feeds: tuple[str, ...], baseline: str | None, no_prober: bool = False, *, of_file: bool = True
) -> PowerOptions:
    """What --power-feed and --power-baseline ask for. @of_file: the baseline may be a result."""
    for flag, given in (("--power-feed", bool(feeds)), ("--power-baseline", baseline is not None)):
        if no_prober and given:
            raise UsageError(f"{flag} and --no-prober exclude each other: it takes the samples")
    return PowerOptions(feeds, _baseline_w(baseline, of_file) if baseline is not None else 0.0)


def _baseline_w(text: str, of_file: bool) -> float:
    """Watts, or those of the result in a file."""
    try:
        return units.parse_watts(text)
    except UsageError:
        if not of_file:
            raise UsageError(
                f"--power-baseline: '{text}' is not a power like 12.5 or 800mW"
            ) from None
        path = Path(text)
        if not files.exists(path):
            raise UsageError(
                f"--power-baseline: '{text}' is neither a power like 12.5 or 800mW nor a file"
            ) from None

    from spekctl.documents.per_host import refuse_fleet
    from spekctl.documents.result import load_result

    result = load_result(path)
    refuse_fleet(result, "--power-baseline", "each host has power of its own")
    power = result.power
    if power is None or power.measure.total.mean_w is None:
        raise UsageError(f"--power-baseline: {path} has no power data")
    return power.measure.total.mean_w


def check(wish: Measuring, feeds: tuple[str, ...], interval_ns: int) -> None:
    """Refuse what no machine makes valid: for runs on machines that have yet to be asked. @feeds:
    the power feeds that count; @interval_ns: the report interval."""
    power_of(feeds, wish.power_baseline, wish.no_prober, of_file=False)
    pace_of(wish.power_states)
    _check_buffer(wish.log is not None, wish.log_buffer)
    _check_heat_map(wish.heat_map, interval_ns)


def _check_buffer(has_log: bool, buffer: int | None) -> None:
    if buffer is None:
        return
    if not has_log:
        raise UsageError("--log-buffer needs --log as well")
    recorder.check_buffer(buffer)


def _check_heat_map(wanted: bool, interval_ns: int) -> None:
    if wanted and not interval_ns:
        raise UsageError("--heat-map needs report intervals, and --interval 0 has none")


def with_log(request: Request, place: Place | None, buffer: int | None) -> Request:
    """The request with a log at @place, if there is one. @buffer: --log-buffer."""
    _check_buffer(place is not None, buffer)
    if place is None:
        return request
    records = recorder.default_buffer(len(request.config.cpus)) if buffer is None else buffer
    config = msgspec.structs.replace(request.config, log_records=records)
    return dataclasses.replace(request, config=config, log=place)


def with_slices(request: Request, wanted: bool, service: bool = False) -> Request:
    """The request with its response times over time, if they are @wanted, and with @service times
    as well, if it has intervals."""
    _check_heat_map(wanted, request.config.interval_ns)
    service = service and bool(request.config.interval_ns)
    return dataclasses.replace(request, slices=wanted or service, service_slices=service)


def pace_of(text: str | None) -> Pace | None:
    """The looks at power states that --power-states asks for; None: no looks."""
    if text is None:
        return BESIDE_LOADS
    if text == "off":
        return None
    try:
        interval_ns = units.parse_duration_ns(text)
    except UsageError:
        raise UsageError(
            f"--power-states: '{text}' is neither a time with its unit, such as 5s, nor off"
        ) from None
    if interval_ns < LEAST_NS:
        raise UsageError("--power-states must be at least 100ms")
    return Pace(interval_ns)


def with_power_states(request: Request, text: str | None) -> Request:
    """The request with the looks at its disks' power states that --power-states asks for."""
    return dataclasses.replace(request, power_states=pace_of(text))
