# SPDX-License-Identifier: GPL-2.0
"""The folder of a test: its state, written after each phase, so that it can go on later."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NoReturn

from msgspec import structs

from spekctl import files, recorded, units
from spekctl.block.device import Device
from spekctl.documents.result import Environment, Part, TargetFacts
from spekctl.documents.spc1 import Parameters, Persistence, Phase
from spekctl.errors import UsageError

KIND: Literal["spek-spc1-state"] = "spek-spc1-state"
VERSION = 1
NAME = "state.json"
REPORT = "report.json"


class State(Part, frozen=True):
    """What a test has measured so far. The order of phases follows from them (method_plan.py)."""

    kind: Literal["spek-spc1-state"]
    version: int
    parameters: Parameters
    targets: list[TargetFacts]
    environment: Environment
    done: list[Phase]
    persistence: Persistence | None = None


def save(folder: Path, state: State) -> None:
    """Put the state in place: a crash leaves the one before."""
    files.write(folder / NAME, files.encode(state))


def exists(folder: Path) -> bool:
    """There is a test in this folder."""
    return files.exists(folder / NAME)


def load(folder: Path) -> State:
    """The state of the test in a folder."""
    if not exists(folder):
        raise UsageError(f"there is no test to resume in {folder}; leave out --resume to begin one")
    return files.read(folder / NAME, State, KIND, VERSION, "the state of a test of `spekctl spc1`")


def check_same(
    folder: Path, state: State, parameters: Parameters, devices: Sequence[Device]
) -> None:
    """Refuse to mix measurements of different things."""
    check_devices(folder, state.targets, devices)
    before, after = _flat(state.parameters), _flat(parameters)
    for what, value in before.items():
        if value != after[what]:
            refuse_other(folder, what, value, after[what])


def check_devices(folder: Path, targets: Sequence[TargetFacts], devices: Sequence[Device]) -> None:
    """Refuse to go on with other devices than @targets."""
    was, now = _devices(targets), _devices(devices)
    if len(was) != len(now):
        refuse_other(folder, "number of devices", str(len(was)), str(len(now)))
    for before, after in zip(was, now, strict=True):
        for what, value in before.items():
            if value != after[what]:
                refuse_other(folder, what, value, after[what])


def refuse_other(folder: Path, what: str, was: str, now: str) -> NoReturn:
    """Something is not as it was when the test in the folder was begun."""
    raise UsageError(
        f"the test in {folder} was begun with another {what}: {was or 'none'} then,"
        f" {now or 'none'} now; resume it as it was, or begin a new one with another --out"
    )


def _devices(some: Sequence[TargetFacts] | Sequence[Device]) -> list[dict[str, str]]:
    """What makes a device the same. Its number may change from boot to boot."""
    return [
        {
            "device": recorded.text(one.path),
            "capacity": f"{units.format_bytes(one.bytes)} ({one.bytes} bytes)",
            "logical block": f"{one.logical_block} bytes",
            "model": one.model,
            "serial number": one.serial,
            "WWN": one.wwn,
        }
        for one in some
    ]


def _flat(parameters: Parameters) -> dict[str, str]:
    """Each parameter as the user knows it."""
    found: dict[str, str] = {}
    for group in (parameters, parameters.durations, parameters.limits, parameters.shape):
        for name, value in structs.asdict(group).items():
            if isinstance(value, Part):
                continue
            found[_WORDS.get(name, name)] = _text(name, value)
    return found


def _text(name: str, value: object) -> str:
    if value is None:
        return ""
    if name.endswith("_ns") and isinstance(value, int):
        return units.format_duration(value)
    # 0 of a preset and 0.0 of a file are the same.
    return f"{value:.10g}" if isinstance(value, float) else str(value)


_WORDS = {
    "sustain_ns": "--sustain",
    "iops_ns": "--iops-time",
    "phase_ns": "--ramp-time",
    "ramp_ns": "--ramp",
    "search_ns": "--search-time",
    "resolution_percent": "--resolution",
    "response_ns": "--max-response",
    "start_bsu": "--start-bsu",
    "max_bsu": "--max-bsu",
    "seed": "--seed",
    "cpus": "list of workers' CPUs",
    "stripe_bytes": "--stripe",
    "hrrw": "--hrrw",
    "iops_per_bsu": "--iops-per-bsu",
    "backend": "--backend",
    "polled": "--polled",
    "max_outstanding": "--max-outstanding",
    "batch": "--batch",
    "spin_ns": "--spin",
    "data": "--data",
}
