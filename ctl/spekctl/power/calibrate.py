# SPDX-License-Identifier: GPL-2.0-or-later
"""Zero and gain of transducers: measured by spek-daq, judged and computed here, in integers."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import pstdev

from spekctl.errors import ExitCode, NoKernelSideError, NotPermittedError, SpekError, UsageError
from spekctl.power.rails import SENS_UV_PER_A, UNPLUGGED_UV, ZERO_UV, Rail, RailsFile

# A transducer's own zero is off by 25 mV at most; four times that is a load, or no transducer.
MAX_ZERO_ERROR_UV = 100_000
# Its gain by 0.7 %, with the resistors of the board a little more.
MAX_GAIN_ERROR_PERCENT = 10
MIN_READINGS = 10
_SOURCE_TREE = Path(__file__).resolve().parents[3] / "daq" / "spek-daq"


@dataclass(frozen=True, slots=True)
class Reading:
    """Output of a channel: mean, number and scatter of its readings."""

    mean_uv: int
    deviation_uv: int
    readings: int


@dataclass(frozen=True, slots=True)
class Change:
    """A newly measured constant of a rail."""

    rail: str
    channel: str
    constant: str
    before: int
    after: int
    deviation_uv: int
    readings: int


class DeviceError(SpekError):
    """spek-daq could not measure."""


def find_daq() -> str:
    """The spek-daq to use: $SPEK_DAQ, the installed one, or the one built in this tree."""
    chosen = os.environ.get("SPEK_DAQ") or shutil.which("spek-daq")
    if chosen:
        return chosen
    if _SOURCE_TREE.exists():
        return str(_SOURCE_TREE)
    raise NoKernelSideError("spek-daq is not installed; make daq builds it, make install installs")


def measure(path: Path, time_ns: int, more: Sequence[str] = ()) -> dict[str, Reading]:
    """Read the channels of a rails file with spek-daq; readings by channel, voltages only."""
    command = [find_daq(), "--rails", str(path), "--print=raw", "--time", f"{time_ns}ns", *more]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise NoKernelSideError(f"{command[0]} can't be run: {error.strerror}") from error
    if done.returncode:
        sentence = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
        raise _failure(done.returncode, sentence[0])
    # Names of channels come with the first reading.
    if not done.stdout:
        raise DeviceError("no reading arrived; increase --time")
    return parse(done.stdout)


def _failure(code: int, sentence: str) -> SpekError:
    kinds: dict[int, type[SpekError]] = {
        ExitCode.USAGE: UsageError,
        ExitCode.PERMISSION: NotPermittedError,
    }
    return kinds.get(code, DeviceError)(sentence.removeprefix("spek-daq: "))


def parse(text: str) -> dict[str, Reading]:
    """Averages of the output of spek-daq --print=raw."""
    head, *lines = text.splitlines() or [""]
    names = head.split(",")[1:]
    rows = [line.split(",")[1:] for line in lines]
    readings = {}
    for column, name in enumerate(names):
        channel, _, unit = name.rpartition(".")
        values = [int(row[column]) for row in rows if row[column]]
        if unit == "uV" and values:
            readings[channel] = Reading(
                _nearest(sum(values), len(values)), round(pstdev(values)), len(values)
            )
        elif unit == "uV":
            readings[channel] = Reading(0, 0, 0)
    return readings


def _nearest(numerator: int, denominator: int) -> int:
    """Rounded to nearest, halves away from zero, as spek-daq does."""
    if denominator < 0:
        numerator, denominator = -numerator, -denominator
    whole = (2 * abs(numerator) + denominator) // (2 * denominator)
    return -whole if numerator < 0 else whole


def _reading(rail: Rail, readings: dict[str, Reading]) -> Reading:
    reading = readings.get(rail.channel)
    if reading is None:
        raise UsageError(
            f"rail '{rail.name}': channel '{rail.channel}' is not a transducer's output; there is"
            " nothing to calibrate"
        )
    if reading.readings < MIN_READINGS:
        raise DeviceError(
            f"rail '{rail.name}': only {reading.readings} readings arrived; increase --time"
        )
    if reading.mean_uv < UNPLUGGED_UV:
        raise DeviceError(
            f"rail '{rail.name}': the transducer on {rail.channel} is unplugged or has no supply:"
            f" its output is {reading.mean_uv / 1e6:.3f} V, below 0.4 V"
        )
    return reading


def zero(rail: Rail, readings: dict[str, Reading]) -> Change:
    """The rail's zero, from readings at no load."""
    reading = _reading(rail, readings)
    if abs(reading.mean_uv - ZERO_UV) > MAX_ZERO_ERROR_UV:
        raise DeviceError(
            f"rail '{rail.name}': its output is {reading.mean_uv / 1e6:.3f} V; a zero is"
            " 2.4 to 2.6 V: is there still a load?"
        )
    return Change(
        rail.name,
        rail.channel,
        "zero_uv",
        rail.zero_uv,
        reading.mean_uv,
        reading.deviation_uv,
        reading.readings,
    )


def gain(rail: Rail, readings: dict[str, Reading], load_ua: int) -> Change:
    """The rail's sensitivity, from readings at a known load."""
    reading = _reading(rail, readings)
    rise_uv = reading.mean_uv - rail.zero_uv
    sens = _nearest(rise_uv * 10**6, load_ua * rail.turns)
    if abs(sens - SENS_UV_PER_A) * 100 > MAX_GAIN_ERROR_PERCENT * SENS_UV_PER_A:
        raise DeviceError(
            f"rail '{rail.name}': its output rises by {rise_uv / 1e6:.4f} V at {load_ua / 1e6:g} A,"
            f" that is {sens / 1000:.1f} mV/A and turn, more than {MAX_GAIN_ERROR_PERCENT} % from"
            f" {SENS_UV_PER_A / 1000:.1f}: check the load, the rail, the number of turns and"
            " the zero"
        )
    return Change(
        rail.name,
        rail.channel,
        "sens_uv_per_a",
        rail.sens_uv_per_a,
        sens,
        reading.deviation_uv,
        reading.readings,
    )


def apply(rails: RailsFile, changes: Sequence[Change]) -> None:
    """Write the measured constants into the rails file."""
    for change in changes:
        rails.change(change.rail, **{change.constant: change.after})
    rails.write()
