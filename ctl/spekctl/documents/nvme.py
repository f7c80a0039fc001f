# SPDX-License-Identifier: GPL-2.0-or-later
"""NVMe controllers before, during and after a run: a part of results.

Counters have the width of the controller's, at most 128 bits.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from spekctl.documents.document import Part

# A data unit of the log: 1000 times 512 bytes.
UNIT_BYTES = 512_000

_MonotonicNs = Annotated[int, Meta(description="CLOCK_MONOTONIC.")]
_Kelvin = Annotated[int | None, Meta(description="Kelvin; null: not reported.")]
_Microwatts = Annotated[int | None, Meta(description="Microwatts; null: not reported.")]


class NvmeLevel(Part, frozen=True):
    """A power state, as Identify Controller describes it."""

    most_uw: Annotated[
        int | None, Meta(description="Maximum power in microwatts; null: not reported.")
    ]
    operational: Annotated[bool, Meta(description="It processes I/O.")]
    entry_us: Annotated[int, Meta(description="Maximum entry latency; 0: not reported.")]
    exit_us: Annotated[int, Meta(description="Maximum exit latency; 0: not reported.")]


class NvmeHealth(Part, frozen=True):
    """The SMART / Health Information log (02h) of the controller."""

    at_ns: _MonotonicNs
    critical_warning: Annotated[int, Meta(description="Its bits.")]
    temperature_k: Annotated[_Kelvin, Meta(description="Composite temperature.")]
    spare_percent: Annotated[int, Meta(description="Available spare capacity.")]
    spare_threshold_percent: Annotated[
        int, Meta(description="Available spare threshold: less is critical.")
    ]
    used_percent: Annotated[
        int, Meta(description="Endurance used, by the vendor's estimate; can exceed 100.")
    ]
    data_units_read: Annotated[
        int, Meta(description="By hosts, in units of 512,000 bytes, rounded up.")
    ]
    data_units_written: Annotated[int, Meta(description="The same for writes.")]
    host_reads: Annotated[int, Meta(description="Read commands completed.")]
    host_writes: Annotated[int, Meta(description="Write commands completed.")]
    busy_minutes: Annotated[int, Meta(description="Time with I/O commands in its queues.")]
    power_cycles: int
    power_on_hours: int
    unsafe_shutdowns: int
    media_errors: Annotated[int, Meta(description="Unrecovered errors of data integrity.")]
    error_log_entries: int
    warning_minutes: Annotated[
        int, Meta(description="Time at or above the warning temperature, below the critical one.")
    ]
    critical_minutes: Annotated[int, Meta(description="Time at or above the critical one.")]
    sensors_k: Annotated[
        list[int | None], Meta(description="Temperature sensors 1 to 8; null: not there.")
    ]
    light_throttles: Annotated[
        int, Meta(description="Thermal Management Temperature 1 Transition Count.")
    ]
    heavy_throttles: Annotated[
        int, Meta(description="Thermal Management Temperature 2 Transition Count.")
    ]
    light_throttled_s: Annotated[
        int, Meta(description="Total Time For Thermal Management Temperature 1.")
    ]
    heavy_throttled_s: Annotated[
        int, Meta(description="Total Time For Thermal Management Temperature 2.")
    ]
    energy_wh: Annotated[
        int | None,
        Meta(description="Operational Lifetime Energy Consumed; null: not reported (before 2.3)."),
    ]
    interval_uw: Annotated[
        _Microwatts, Meta(description="Interval Power Measurement: mean of the last second.")
    ]


class NvmePowerBin(Part, frozen=True):
    """Interval power measurements from this power up to that of the next bin."""

    from_uw: _Microwatts
    count: int


class NvmePower(Part, frozen=True):
    """The Power Measurement log (25h); empty unless somebody has started the measurement."""

    at_ns: _MonotonicNs
    measuring: Annotated[bool, Meta(description="The controller collects measurements now.")]
    generation: Annotated[int, Meta(description="Counts the starts of measurements, modulo 256.")]
    contiguous: Annotated[bool, Meta(description="No measurement is missing in between.")]
    estimated: Annotated[bool, Meta(description="Power is estimated rather than measured.")]
    measurements: int
    mean_uw: _Microwatts
    max_uw: _Microwatts
    error_percent: Annotated[
        int | None, Meta(description="Largest error of a measurement; null: not reported.")
    ]
    bins: list[NvmePowerBin]
    bins_left_out: Annotated[int, Meta(description="Bins beyond the 504 that are read.")]
    above: Annotated[int, Meta(description="Measurements above the last bin.")]


class NvmeExtended(Part, frozen=True):
    """The SMART / Health Information Extended log (C0h) of the OCP Datacenter NVMe SSD
    Specification."""

    at_ns: _MonotonicNs
    media_bytes_written: Annotated[
        int, Meta(description="Written to the medium, with what the drive itself writes.")
    ]
    media_bytes_read: Annotated[int, Meta(description="The same for reads.")]
    state_changes: Annotated[
        int | None,
        Meta(
            description="Changes of the power state, by hosts and by the controller; null: the log"
            " is of version 1, which does not count them."
        ),
    ]
    throttling: Annotated[int, Meta(description="Level of thermal throttling; 0: none.")]
    throttling_events: Annotated[
        int, Meta(description="Thermal throttling events, a counter of 8 bits.")
    ]
    free_blocks_percent: Annotated[int, Meta(description="Free blocks of the medium.")]
    incomplete_shutdowns: int


class NvmeSample(Part, frozen=True):
    """The values of one reading that change over time."""

    at_ns: _MonotonicNs
    state: Annotated[int | None, Meta(description="Number of its power state; null: not reported.")]
    temperature_k: _Kelvin
    critical_warning: int
    light_throttles: int
    heavy_throttles: int
    interval_uw: _Microwatts


class NvmeDrive(Part, frozen=True):
    """A controller with its disks that the run used, directly or below a RAID or a volume."""

    controller: Annotated[str, Meta(description="Device node to which commands were sent.")]
    disks: Annotated[list[str], Meta(description="Device nodes of its namespaces in the run.")]
    model: str
    serial: str
    text: Annotated[str, Meta(description="Why readings are missing; else empty.")]
    firmware: str = ""
    levels: Annotated[
        list[NvmeLevel], Meta(description="Its power states by number; empty: not known.")
    ] = msgspec.field(default_factory=list)
    autonomous: Annotated[
        bool | None,
        Meta(description="It changes its power state autonomously; null: not reported."),
    ] = None
    warning_k: Annotated[_Kelvin, Meta(description="Warning Composite Temperature Threshold.")] = (
        None
    )
    critical_k: Annotated[
        _Kelvin, Meta(description="Critical Composite Temperature Threshold.")
    ] = None
    interval_ns: Annotated[
        int, Meta(description="Least time between two readings, but for the last one.")
    ] = 0
    readings: Annotated[
        int, Meta(description="Number of readings, of which samples may leave out some.")
    ] = 0
    commands: Annotated[int, Meta(description="Admin commands that the readings have sent.")] = 0
    commands_ns: Annotated[int, Meta(description="Total time of these commands in the kernel.")] = 0
    command_max_ns: Annotated[int, Meta(description="The longest of these times.")] = 0
    before: Annotated[
        NvmeHealth | None, Meta(description="Before the start of the run; null: text says why.")
    ] = None
    after: Annotated[
        NvmeHealth | None, Meta(description="The last one, after the end; null: text says why.")
    ] = None
    power_before: Annotated[
        NvmePower | None, Meta(description="null: the controller has no such log.")
    ] = None
    power_after: NvmePower | None = None
    extended_before: Annotated[
        NvmeExtended | None, Meta(description="null: the controller does not list such a log.")
    ] = None
    extended_after: NvmeExtended | None = None
    hottest_k: Annotated[
        _Kelvin, Meta(description="The highest composite temperature of all readings.")
    ] = None
    state_changes: Annotated[
        int,
        Meta(
            description="Changes of its power state from one reading to the next; all changes are"
            " in the extended log only."
        ),
    ] = 0
    samples: Annotated[
        list[NvmeSample],
        Meta(
            description="Readings over time, at equal distances but for the last one: of more than"
            " 1000 every second one is left out, and so on."
        ),
    ] = msgspec.field(default_factory=list)
