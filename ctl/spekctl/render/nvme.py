# SPDX-License-Identifier: GPL-2.0-or-later
"""NVMe controllers of a run as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from spekctl import units
from spekctl.documents.nvme import UNIT_BYTES, NvmeDrive, NvmeExtended, NvmeHealth, NvmePower

if TYPE_CHECKING:
    from rich.console import RenderableType

_ZERO_CELSIUS_K = 273

# Counters that should not change, with the words for a difference of 1 and of more.
_EVENTS = (
    ("warning_minutes", *("min at or above the warning temperature",) * 2),
    ("critical_minutes", *("min at or above the critical temperature",) * 2),
    ("light_throttles", "time throttled lightly", "times throttled lightly"),
    ("heavy_throttles", "time throttled heavily", "times throttled heavily"),
    ("light_throttled_s", *("s throttled lightly",) * 2),
    ("heavy_throttled_s", *("s throttled heavily",) * 2),
    ("media_errors", "error of data integrity", "errors of data integrity"),
    ("error_log_entries", "entry in its error log", "entries in its error log"),
)
# All counters of which differences are shown, as a sentence calls them.
_COUNTERS = {
    "data_units_read": "data units read",
    "data_units_written": "data units written",
    "warning_minutes": "minutes at or above the warning temperature",
    "critical_minutes": "minutes at or above the critical temperature",
    "light_throttles": "transitions to light throttling",
    "heavy_throttles": "transitions to heavy throttling",
    "light_throttled_s": "seconds of light throttling",
    "heavy_throttled_s": "seconds of heavy throttling",
    "media_errors": "errors of data integrity",
    "error_log_entries": "entries in its error log",
    "energy_wh": "Wh consumed",
}


def _celsius(kelvin: int | None) -> str:
    """Degrees Celsius."""
    return "-" if kelvin is None else str(kelvin - _ZERO_CELSIUS_K)


def parts(drives: Sequence[NvmeDrive]) -> Iterator[RenderableType]:
    """A row for each controller, then what is worth a sentence."""
    from spekctl.render import tables

    numbers = ("C before", "C after", "C most", "throttled", "read", "written", "used", "state")
    table = tables.table("disk", *numbers, right=numbers, whole=("disk",))
    for drive in drives:
        table.add_row(_name(drive), *_cells(drive))
    yield table
    for drive in drives:
        yield from (f"  {_name(drive)}: {line}" for line in lines(drive))


def _name(drive: NvmeDrive) -> str:
    return ", ".join(drive.disks)


def _cells(drive: NvmeDrive) -> list[str]:
    before, after = drive.before, drive.after
    temperatures = [_celsius(health.temperature_k) if health else "-" for health in (before, after)]
    temperatures.append(_celsius(drive.hottest_k))
    if before is None or after is None:
        known = after or before
        used = f"{known.used_percent} %" if known else "-"
        return [*temperatures, "-", "-", "-", used, _state(drive)]
    light, heavy, read, written = (
        _added(before, after, name)
        for name in ("light_throttles", "heavy_throttles", "data_units_read", "data_units_written")
    )
    return [
        *temperatures,
        "-" if light is None or heavy is None else f"{light + heavy:,}",
        _amount(read),
        _amount(written),
        f"{after.used_percent} %",
        _state(drive),
    ]


def _added(before: NvmeHealth, after: NvmeHealth, counter: str) -> int | None:
    """The increase of a counter; None if it fell, which no run causes."""
    values = getattr(before, counter), getattr(after, counter)
    # The energy may not be reported.
    count = 0 if None in values else values[1] - values[0]
    return count if count >= 0 else None


def _counted(count: int, singular: str, plural: str) -> str:
    return f"{count:,} {singular if count == 1 else plural}"


def _amount(data_units: int | None) -> str:
    return "-" if data_units is None else units.format_bytes(data_units * UNIT_BYTES)


def _state(drive: NvmeDrive) -> str:
    states = [sample.state for sample in drive.samples if sample.state is not None]
    if not states:
        return "-"
    changes = f", {_counted(drive.state_changes, 'change', 'changes')}"
    return f"PS{states[-1]}{changes if drive.state_changes else ''}"


def lines(drive: NvmeDrive) -> Iterator[str]:
    """Sentences on values that the row does not show."""
    if drive.text:
        yield f"{_missing(drive)}: {drive.text}"
    if drive.before is not None and drive.after is not None:
        yield from _differences(drive.before, drive.after)
    if drive.extended_before is not None and drive.extended_after is not None:
        yield from _extended(drive, drive.extended_before, drive.extended_after)
    if drive.after is not None and drive.after.interval_uw is not None:
        yield f"its own measurement of the last second: {_watts(drive.after.interval_uw)}"
    if drive.power_after is not None:
        yield _power(drive.power_after)
    if drive.commands:
        mean_ns = drive.commands_ns / drive.commands
        yield (
            f"{_counted(drive.readings, 'reading', 'readings')}, at most one in"
            f" {units.format_duration(drive.interval_ns)} and one at the end, with"
            f" {_counted(drive.commands, 'admin command', 'admin commands')} of"
            f" {units.format_ns(mean_ns)} on average,"
            f" {units.format_ns(drive.command_max_ns)} at most"
        )


def _missing(drive: NvmeDrive) -> str:
    """Which readings a result with a reason does not have."""
    if not drive.readings:
        return "no readings"
    if drive.before is None and drive.after is None:
        return "no reading before the start, and none after the end"
    return f"no reading {'before the start' if drive.before is None else 'after the end'}"


def _differences(before: NvmeHealth, after: NvmeHealth) -> Iterator[str]:
    """Counters that should not have changed, and did."""
    for counter, singular, plural in _EVENTS:
        count = _added(before, after, counter)
        if count:
            yield f"{_counted(count, singular, plural)} during the run"
    for counter, what in _COUNTERS.items():
        if _added(before, after, counter) is None:
            yield (
                f"its count of {what} fell from {getattr(before, counter):,} to"
                f" {getattr(after, counter):,}: the part of the run is unknown"
            )
    if after.critical_warning:
        yield f"critical warning {after.critical_warning:#04x}"
    if after.spare_percent < after.spare_threshold_percent:
        yield (
            f"{after.spare_percent} % of its spare capacity is left, less than its threshold of"
            f" {after.spare_threshold_percent} %"
        )
    energy_wh = _added(before, after, "energy_wh")
    if before.energy_wh is not None and after.energy_wh is not None and energy_wh is not None:
        yield f"{energy_wh:,} Wh by its own counter, which counts whole Wh"


def _extended(drive: NvmeDrive, before: NvmeExtended, after: NvmeExtended) -> Iterator[str]:
    """The counters of the extended log, which no reading in between can miss."""
    changes = None
    if before.state_changes is not None and after.state_changes is not None:
        changes = after.state_changes - before.state_changes
    written = after.media_bytes_written - before.media_bytes_written
    if (changes or 0) < 0 or written < 0:
        yield "counters of its extended log fell: its part of the run is unknown"
        return
    line = f"{units.format_bytes(written)} written to its medium"
    if changes is not None:
        line = f"{_counted(changes, 'change', 'changes')} of its power state and {line}"
    units_written = None
    if drive.before is not None and drive.after is not None:
        units_written = _added(drive.before, drive.after, "data_units_written")
    if units_written:
        line += f", {written / (units_written * UNIT_BYTES):.2f} times what hosts wrote,"
    yield f"{line} by its own counters"
    if after.throttling:
        yield f"throttled at level {after.throttling} after the end"
    # 8 bits: a multiple of 256 events looks like none.
    events = (after.throttling_events - before.throttling_events) % 256
    if events:
        yield f"{_counted(events, 'throttling event', 'throttling events')} by its extended log"


def _power(power: NvmePower) -> str:
    """The Power Measurement log."""
    if not power.measurements:
        return "its power measurement log is empty: nobody has started the measurement"
    word = "estimate" if power.estimated else "measurement"
    error = f" (+-{power.error_percent} %)" if power.error_percent is not None else ""
    since = "" if power.measuring else ", which has ended"
    mean, most = ("unknown" if uw is None else _watts(uw) for uw in (power.mean_uw, power.max_uw))
    return (
        f"its power measurement log{since}: mean {mean}, most {most} of"
        f" {_counted(power.measurements, word, f'{word}s')}{error}"
    )


def _watts(microwatts: int) -> str:
    return units.format_watts(microwatts / 1e6)
