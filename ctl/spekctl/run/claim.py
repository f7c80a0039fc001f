# SPDX-License-Identifier: GPL-2.0-or-later
"""Claims devices for a run; a refusal names the holder of a device, or the option at fault."""

from __future__ import annotations

import contextlib
import errno as errno_names
import re
from collections.abc import Callable, Collection, Sequence

from spekctl.block import device as devices
from spekctl.block import replaced, safety
from spekctl.block.device import Device
from spekctl.errors import CalledOffError, RefusedError, SpekError
from spekctl.kernel.client import Kernel
from spekctl.kernel.records import ClaimInfo, RunInfo
from spekctl.run.job import Interrupts
from spekctl.workload.config import RunConfig, numbers_of


def claim(
    kernel: Kernel,
    config: RunConfig,
    on: Sequence[Device],
    interrupts: Interrupts | None = None,
    held: int | None = None,
) -> int:
    """run-new; a refusal names the holder of the device, or the option at fault.

    @held: number of the claim whose devices the run borrows; None: it claims them itself
    """
    try:
        return kernel.run_new(config, _patience(interrupts), held)
    except SpekError as error:
        if error.errno == errno_names.EBUSY:
            raise _busy(kernel, on, error, "run-new") from error
        _refuse_replaced(on, error, "run-new")
        name = _blamed_name(config, on, error)
        text = error.message + _limits_text(config, on, error)
        error.say(f"{name}: {text}" if name else text)
        raise


def hold(
    kernel: Kernel,
    on: Sequence[Device],
    written: Collection[tuple[int, int]],
    interrupts: Interrupts | None = None,
) -> int:
    """claim-new for several runs; a refusal names the holder of a device. @written: numbers of the
    devices that runs may write"""
    indices = {nr for nr, device in enumerate(on) if (device.major, device.minor) in written}
    numbers = numbers_of(on, bool(indices), indices)
    try:
        return kernel.claim_new(numbers, bool(indices), _patience(interrupts))
    except SpekError as error:
        if error.errno == errno_names.EBUSY:
            raise _busy(kernel, on, error, "claim-new") from error
        _refuse_replaced(on, error, "claim-new")
        if error.blamed is not None and error.blamed[1] < len(on):
            error.say(f"{on[error.blamed[1]].path}: {error.message}")
        raise


def _patience(interrupts: Interrupts | None) -> Callable[[], None]:
    """Ends the wait for a device when the user has interrupted it."""

    def patience() -> None:
        if interrupts is not None and interrupts.count:
            raise CalledOffError(
                "interrupted while a device was being opened; nothing was sent to it",
                interrupts.exit_code,
            )

    return patience


def _busy(kernel: Kernel, on: Sequence[Device], error: SpekError, operation: str) -> RefusedError:
    text = _busy_text(kernel, on, error)
    return RefusedError(text, errno=error.errno, operation=operation)


def _busy_text(kernel: Kernel, on: Sequence[Device], error: SpekError) -> str:
    """The holder of a device that the kernel could not claim."""
    runs, claims = _runs(kernel), _claims(kernel)
    suspects = _suspects(on, error)
    texts = []
    for device in suspects:
        if here := replaced.now_at(device):
            busy = safety.explain_busy(here, runs, claims=claims)
            texts.append(f"{replaced.sentence(device, here)}, which is in use: {busy}")
            continue
        known = safety.holders(device) or safety.held_by_spek(device, runs, claims)
        if known or len(suspects) == 1:
            texts.append(
                f"{device.path} is in use: {safety.explain_busy(device, runs, claims=claims)}"
            )
    return ". ".join(texts) or error.message


def _suspects(on: Sequence[Device], error: SpekError) -> Sequence[Device]:
    """The device that the kernel blames, or all if it names none."""
    blamed = error.blamed
    if blamed is not None and blamed[0] == "target" and blamed[1] < len(on):
        return [on[blamed[1]]]
    return on


def _refuse_replaced(on: Sequence[Device], error: SpekError, operation: str) -> None:
    """Refuse a device that is not the one that was looked at: what the kernel finds fault with is
    another one."""
    for device in _suspects(on, error):
        if here := replaced.now_at(device):
            text = replaced.sentence(device, here)
            raise RefusedError(text, errno=error.errno, operation=operation) from error


def _blamed_name(config: RunConfig, on: Sequence[Device], error: SpekError) -> str:
    """The user's name for the part of the request that the kernel blames."""
    if error.blamed is None:
        return ""
    kind, index = error.blamed
    names: dict[str, list[str]] = {
        "target": [device.path for device in on],
        "worker": [f"worker on CPU {cpu}" for cpu in config.cpus],
        "stream": [f"stream '{stream.name}'" for stream in config.streams],
        "asu": [f"asu '{asu.name}'" for asu in config.asus],
        "arrival": [f"arrival '{arrival.name}'" for arrival in config.arrivals],
    }
    of_kind = names.get(kind, [])
    return of_kind[index] if index < len(of_kind) else ""


def _limits_text(config: RunConfig, on: Sequence[Device], error: SpekError) -> str:
    """The values of the limits that a refusal names in parentheses, as (max_sectors_kb)."""
    asus = config.asus
    devices_at_fault = set(range(len(on)))
    if error.blamed is not None:
        kind, index = error.blamed
        if kind == "target":
            devices_at_fault = {index}
        elif kind == "stream" and index < len(config.streams):
            asus = [asus[config.streams[index].asu]]
        elif kind == "asu" and index < len(asus):
            asus = [asus[index]]
        if kind in ("stream", "asu"):
            devices_at_fault = {extent.target for asu in asus for extent in asu.extents}
    texts = []
    for name in re.findall(r"\((\w+_\w+)\)", error.message):
        for index, device in enumerate(on):
            value = devices.queue_attribute(device, name)
            if index in devices_at_fault and value:
                texts.append(f" {name} of {device.path} is {value}.")
    return "".join(texts)


def _runs(kernel: Kernel) -> list[RunInfo]:
    with contextlib.suppress(SpekError):
        return kernel.runs()
    return []


def _claims(kernel: Kernel) -> list[ClaimInfo]:
    with contextlib.suppress(SpekError):
        return kernel.claims()
    return []
