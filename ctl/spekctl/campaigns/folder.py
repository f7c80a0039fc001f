# SPDX-License-Identifier: GPL-2.0-or-later
"""The folder of a campaign: its state, and whether a resumption is of the same campaign."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from msgspec import structs

from spekctl import recorded, units
from spekctl.block.device import Device
from spekctl.documents.benchmark import SiteMinute
from spekctl.documents.device import DeviceFacts, TargetFacts
from spekctl.documents.document import Document, Part
from spekctl.documents.result_parts import Environment
from spekctl.errors import UsageError

STATE = "state.json"
REPORT = "report.json"
ENERGY_REPORT = "energy.json"
_NAMES = ("serial number", "WWN")


class State(Document, frozen=True, kw_only=True):
    """Base of the measurements of a campaign so far, which determine its next step."""

    parameters: Any
    targets: list[TargetFacts]
    environment: Environment | None
    done: list[Any]
    first_minute: SiteMinute | None = None
    last_minute: SiteMinute | None = None


def check_parameters(folder: Path, before: Any, now: Any, words: Mapping[str, str]) -> None:
    """Refuse to mix measurements of different things; @words has options of parameters."""
    was, is_now = _flat(before, words), _flat(now, words)
    for what in (*was, *is_now):
        if was.get(what) != is_now.get(what):
            refuse_other(folder, what, was.get(what, ""), is_now.get(what, ""))


def check_devices(folder: Path, targets: Sequence[TargetFacts], devices: Sequence[Device]) -> None:
    """Refuse to continue on devices other than @targets. A serial number or WWN counts if it was
    known then: earlier versions had none of md arrays."""
    was, now = _devices(targets), _devices(devices)
    if len(was) != len(now):
        refuse_other(folder, "number of devices", str(len(was)), str(len(now)))
    for before, after in zip(was, now, strict=True):
        for what, value in before.items():
            counts = value or what not in _NAMES
            if counts and value != after[what]:
                refuse_other(folder, what, value, after[what])


def refuse_other(folder: Path, what: str, was: str, now: str) -> NoReturn:
    """Refuse a resumption with something changed since the campaign started."""
    raise UsageError(
        f"the test in {folder} was started with another {what}: {was or 'none'} then,"
        f" {now or 'none'} now; resume it as it was, or start a new one with another --folder"
    )


def _devices(devices: Sequence[DeviceFacts]) -> list[dict[str, str]]:
    """The identity of a device. Its number may change from boot to boot."""
    return [
        {
            "device": recorded.text(device.path),
            "capacity": f"{units.format_bytes(device.bytes)} ({device.bytes} bytes)",
            "logical block": f"{device.logical_block} bytes",
            "model": device.model,
            "serial number": device.serial,
            "WWN": device.wwn,
        }
        for device in devices
    ]


def _flat(parameters: Any, words: Mapping[str, str]) -> dict[str, str]:
    """All parameters, including nested ones, by the names that the user knows."""
    fields: dict[str, str] = {}
    for name, value in structs.asdict(parameters).items():
        if isinstance(value, Part):
            fields |= _flat(value, words)
        elif isinstance(value, dict):
            fields |= value
        else:
            fields[words.get(name, name)] = _text(name, value)
    return fields


def _text(name: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        texts = [_text("", element) for element in value]
        return ("; " if any("," in text for text in texts) else ",").join(texts)
    if name.endswith("_ns") and isinstance(value, int):
        return units.format_duration(value)
    # 0 of a preset and 0.0 of a file are the same.
    return f"{value:.10g}" if isinstance(value, float) else str(value)
