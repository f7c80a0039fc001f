# SPDX-License-Identifier: GPL-2.0-or-later
"""Turns the command line into the request of a run, with all checks that need no module."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from spekctl import recorded
from spekctl.block import device as block_device
from spekctl.block import provisioning
from spekctl.block.device import Device
from spekctl.block.safety import check_named, refuse_without_write
from spekctl.block.zones import Zone
from spekctl.errors import UsageError
from spekctl.run import until
from spekctl.run.job import Request
from spekctl.run.placing import near_devices
from spekctl.run.targets import Room, check_paths, moved, targets_of, with_zones
from spekctl.workload import file, meaning, own_devices
from spekctl.workload.config import RunConfig, written_by
from spekctl.workload.layout import Target
from spekctl.workload.model import WorkloadFile
from spekctl.workload.options import OPTIONS, Options
from spekctl.workload.resolve import resolve


@dataclass(frozen=True, slots=True)
class Subject:
    """A workload on devices."""

    workload: WorkloadFile
    devices: Sequence[Device]

    @property
    def title(self) -> str:
        """The workload and devices, for display."""
        names = " ".join(device.path for device in self.devices)
        return f"{self.workload.workload.name} on {names}"


def find(name: str, paths: Sequence[str]) -> Subject:
    """Look up a workload and devices."""
    return on(file.load(name), paths)


def on(workload: WorkloadFile, words: Sequence[str]) -> Subject:
    """A workload and its devices: those of the words of --device, and those of its asus."""
    workload, paths = own_devices.taken(workload, words)
    own_devices.check_named(workload, words)
    own = {asu.device for asu in workload.asu}
    path_of: dict[str, str] = {}
    known: dict[tuple[int, int], str] = {}
    devices = []
    for device in block_device.targets(paths):
        first = known.setdefault((device.major, device.minor), device.path)
        path_of[device.path] = first
        # A device may have several paths. Given twice for the whole run it is refused later.
        if first == device.path or device.path not in own:
            devices.append(device)
    return Subject(own_devices.at(workload, path_of), devices)


def build(
    subject: Subject,
    given: Options,
    destroy: Sequence[str] = (),
    detach: bool = False,
    rooms: Sequence[Room] = (),
    available: Callable[[], int] | None = None,
) -> Request:
    """The request for a run with these options. @rooms: the part of each device that it may use;
    none: all. @available: free memory in bytes of the machine that runs it; None: of this one."""
    options = dataclasses.replace(given, detached=detach)
    if meaning.replays(subject.workload):
        from spekctl.run import replay_request

        return replay_request.build(subject.workload, subject.devices, options, destroy)
    options, placed = near_devices(options, subject.devices)
    targets = targets_of(subject.devices, rooms)
    config, remarks = configured(subject.workload, options, targets, rooms, available)
    check_paths(subject.devices, config)

    def on_zones(zones: Sequence[Sequence[Zone]]) -> RunConfig:
        return moved(resolve(subject.workload, options, with_zones(targets, zones, rooms)), rooms)

    remarks += placed
    if detach:
        remarks.append("no prober accompanies a detached run")
    if options.write and not config.writes:
        name = subject.workload.workload.name
        remarks.append(f"{name} only reads, so the devices are opened read-only")
    if config.written and len(config.written) < len(subject.devices):
        only_read = [
            device.path
            for device in subject.devices
            if (device.major, device.minor) not in config.written
        ]
        remarks.append(f"no stream writes {' or '.join(only_read)}: opened read-only")
    remarks += provisioning.remarks(subject.devices, config.streams)
    return Request(
        workload=subject.workload,
        config=config,
        devices=subject.devices,
        write_allowed=options.write,
        destroy=destroy,
        command=recorded.command(),
        remarks=remarks,
        until=until.chosen(options.until, config),
        stop_when=options.stop_when or (),
        options=given,
        on_zones=on_zones if _passes_zones(subject.workload, options, config) else None,
    )


def _passes_zones(workload: WorkloadFile, options: Options, config: RunConfig) -> bool:
    """Whether an end by passes may be one at write pointers."""
    given = [options.passes, workload.run.passes, *(each.passes for each in workload.arrival)]
    return any(asu.zone_bytes for asu in config.asus) and any(each is not None for each in given)


def configured(
    workload: WorkloadFile,
    options: Options,
    targets: Sequence[Target],
    rooms: Sequence[Room] = (),
    available: Callable[[], int] | None = None,
) -> tuple[RunConfig, list[str]]:
    """The configuration of a workload on @targets, and remarks on it. @rooms: where they are;
    @available: as of build()."""
    config = moved(resolve(workload, options, targets), rooms)
    until.check(options.until, options.stop_when or (), config)
    remarks = until.remarks(options.until, config)
    is_striped = any(asu.stripe_bytes for asu in config.asus)
    if options.stripe_bytes != OPTIONS["stripe_bytes"].default and not is_striped:
        remarks.append("--stripe has no effect: no address range lies on several devices")
    if options.verify:
        from spekctl.run import verify

        config, remark = verify.prepare(config, targets, available)
        remarks.append(remark)
    return config, remarks


def at_rate(request: Request, rate: int) -> Request:
    """A request that was built, with all else as it is, at this total rate in I/Os per second."""
    assert request.options is not None
    given = dataclasses.replace(request.options, rate=rate)
    options, _ = near_devices(given, request.devices)
    arrivals = resolve(request.workload, options, targets_of(request.devices)).arrivals
    return dataclasses.replace(
        request,
        config=msgspec.structs.replace(request.config, arrivals=arrivals),
        options=given,
        command=[*request.command, "--rate", str(rate)],
    )


def check_destroy(request: Request) -> None:
    """--destroy must name the devices, and needs --write."""
    if request.destroy:
        log = [request.state_on] if request.state_on is not None else []
        check_named([*request.devices, *log], request.destroy)
        if not request.write_allowed:
            raise UsageError("--destroy needs --write as well")


def written_of(request: Request) -> list[Device]:
    """The devices that its streams write."""
    written = written_by(request.config.streams, request.config.asus)
    return [device for index, device in enumerate(request.devices) if index in written]


def check_write(request: Request) -> None:
    """Refuse a workload that writes without --write, before any claim."""
    if request.config.writes and not request.write_allowed:
        refuse_without_write(written_of(request))
