"""The core of the modelled drive, compiled for userspace: the real sources, bound by cffi.

drive = Drive(load("barracuda-es").with_arms(2), policy="sptf", window=8)
drive.submit(0, lba=4096, sectors=8)
service = drive.start(0)
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lib.build.declarations import opened
from lib.core.build import DRIVE

from spekctl.drive.model import Cache, Lee, Model, Points

SHIM = Path(__file__).with_name("drive_shim.c")
POLICIES = ("fcfs", "sstf", "sptf", "clook")
START, SLEEP, STOP, MEDIA, REACHED = range(5)
ACTIVE, STANDBY, STOPPED, STARTING, TO_STANDBY, TO_STOPPED = range(6)
NEVER = 2**64 - 1
NONE = 0xFFFF
BUS = 8  # in place of an arm
MEDIUM_FAULT, WRITE_FAULT, SLOW_HEAD, ARM_FAULT, SLOW_START, GONE = range(6)
VOLATILE, NO_FLUSH, POWER_CUT, TORN = range(6, 10)
GOOD, MEDIUM_ERROR, WRITE_ERROR, NO_ARM = range(4)


class Refused(Exception):
    """The core does not take a description: errno and sentence."""


@functools.cache
def library() -> tuple[Any, Any]:
    """The compiled core: (ffi, lib)."""
    return opened(*DRIVE.compiled(SHIM.with_suffix(".h")))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a sector is; the angle in 2^-64 of a turn."""

    zone: int
    cylinder: int
    head: int
    sector: int
    angle: int


@dataclass(frozen=True, slots=True)
class Service:
    """An access, with its parts in ns."""

    lba: int
    sectors: int
    write: bool
    arrival_ns: int
    tag: int
    arm: int
    start_ns: int
    end_ns: int
    overhead_ns: int
    seek_ns: int
    rotate_ns: int
    transfer_ns: int
    cylinder: int
    head: int
    flush: bool
    error: int
    error_lba: int


@dataclass(frozen=True, slots=True)
class Account:
    """struct spek_drive_account; energies in femtojoules, exactly."""

    fj: tuple[int, int]
    condition_ns: tuple[int, ...]
    phase_ns: tuple[int, ...]
    starts: int
    served: int
    moved: int
    hits: int
    accepted: int
    destages: int
    lost: int
    ahead_sectors: int


@dataclass(frozen=True, slots=True)
class Loop:
    """What a closed loop measured: accesses per second, mean ms of the parts, the longest wait."""

    iops: float
    seek_ms: float
    rotate_ms: float
    transfer_ms: float
    longest_wait_ms: float


class Drive:
    """struct spek_drive with its description and memory.

    `fields` sets what a Model does not say: {"mechanics.zero_latency": True}.
    """

    def __init__(
        self,
        core: tuple[Any, Any],
        model: Model,
        policy: str = "fcfs",
        window: int = 256,
        queue_depth: int = 256,
        max_wait_ns: int = 0,
        phase: int = 0,
        seek_scale: int = 256,
        rotation_scale: int = 256,
        max_fall_ppm: int = 400_000,
        now_ns: int = 0,
        fields: Mapping[str, object] | None = None,
    ) -> None:
        self.ffi, self.lib = core
        ffi, lib = core
        self.c_model = ffi.new("struct spek_drive_model *")
        self.c = ffi.new("struct spek_drive *")
        self._service = ffi.new("struct spek_drive_service *")
        self._request = ffi.new("struct spek_drive_request *")
        self._refusal = ffi.new("struct spek_refusal *")
        description = self._described(
            model,
            policy=policy,
            window=window,
            max_wait_ns=max_wait_ns,
            phase=phase,
            queue_depth=queue_depth,
            seek_scale=seek_scale,
            rotation_scale=rotation_scale,
            max_fall_ppm=max_fall_ppm,
            sectors=model.sectors,
        )
        geometry, seek = self.c_model.mechanics.geometry, self.c_model.mechanics.seek
        self._zones = ffi.new("struct spek_drive_zone[]", max(1, description.nr_zones))
        self.points = ffi.new("struct spek_drive_seek_point[]", max(1, description.nr_seek_points))
        geometry.zones, seek.points = self._zones, self.points
        self._accept(lib.spek_drive_describe(self.c_model, description, self._refusal))
        for path, value in (fields or {}).items():
            *owners, name = path.split(".")
            setattr(functools.reduce(getattr, owners, self.c_model), name, value)
        self._accept(lib.spek_drive_model_init(self.c_model, self._refusal))
        lib.spek_drive_init(self.c, self.c_model, now_ns)
        if self.c_model.flash.channels:
            rule = ffi.addressof(self.c_model, "flash")
            self._memory = ffi.new("u64[]", (lib.spek_drive_flash_bytes(rule) + 7) // 8)
            lib.spek_drive_init_flash(self.c, self._memory)
        self.sectors = int(geometry.sectors)
        self.cylinders = int(geometry.cylinders)

    def _accept(self, err: int) -> None:
        if err:
            assert self._refusal.err == err
            raise Refused(err, self.ffi.string(self._refusal.text).decode())

    def _described(self, model: Model, **properties: object) -> Any:
        """The model without its cache and its number of moving arms, and with the curve of a
        formula as the shim computes it."""
        ffi = self.ffi
        curve = model.seek
        if isinstance(curve, Lee):
            curve = self._lee_points(model, curve)
        plain = replace(model, cache=Cache(), moving=0, seek=curve)
        given = ffi.from_buffer(bytearray(plain.description(**properties).packed()))
        description = ffi.new("struct spek_drive_description *")
        assert ffi.sizeof("struct spek_drive_description") == len(given)
        ffi.memmove(description, given, len(given))
        return description

    def _lee_points(self, model: Model, curve: Lee) -> Points:
        self.lee = self.ffi.new("struct shim_lee *")
        times = (curve.min_ns, curve.avg_ns, curve.max_ns)
        self._accept(self.lib.shim_lee_init(self.lee, *times, model.cylinders, self._refusal))
        points = self.ffi.new("struct spek_drive_seek_point[]", 512)
        number = self.lib.shim_lee_points(self.lee, model.cylinders, points)
        return tuple((int(points[i].distance), int(points[i].ns)) for i in range(number))

    def locate(self, lba: int) -> Place:
        c = self.ffi.new("struct spek_drive_place *")
        self.lib.spek_drive_locate(self.ffi.addressof(self.c_model.mechanics.geometry), lba, c)
        return Place(c.zone, c.cylinder, c.head, c.sector, c.angle)

    def seek_ns(self, distance: int) -> int:
        seek = self.ffi.addressof(self.c_model.mechanics.seek)
        return int(self.lib.spek_drive_seek_ns(seek, distance))

    def part(self, arm: int) -> tuple[int, int]:
        first, sectors = self.ffi.new("u64 *"), self.ffi.new("u64 *")
        mechanics = self.ffi.addressof(self.c_model.mechanics)
        self.lib.spek_drive_part(mechanics, arm, first, sectors)
        return int(first[0]), int(sectors[0])

    def submit(
        self,
        at_ns: int,
        lba: int,
        sectors: int = 8,
        write: bool = False,
        tag: int = 0,
        fua: bool = False,
        flush: bool = False,
        trim: bool = False,
    ) -> int:
        request = self._request
        request.fua, request.flush, request.trim = fua, flush, trim
        request.lba, request.sectors, request.write = lba, sectors, write
        request.arrival_ns, request.tag = at_ns, tag
        return int(self.lib.spek_drive_submit(self.c, request))

    def _taken(self, taken: bool) -> Service | None:
        if not taken:
            return None
        c, request, access = self._service, self._service.request, self._service.access
        return Service(
            request.lba, request.sectors, request.write, request.arrival_ns, request.tag,
            c.arm, c.start_ns, c.end_ns, access.overhead_ns, access.seek_ns, access.rotate_ns,
            access.transfer_ns, access.end.cylinder, access.end.head, request.flush, c.error,
            c.error_lba,
        )  # fmt: skip

    def start(self, now_ns: int) -> Service | None:
        return self._taken(self.lib.spek_drive_start(self.c, now_ns, self._service))

    def finish(self, now_ns: int) -> Service | None:
        return self._taken(self.lib.spek_drive_finish(self.c, now_ns, self._service))

    def allow(self, steps: int) -> None:
        """Steps that flash may take from now on."""
        self.lib.spek_drive_allow(self.c, steps)

    @property
    def is_short(self) -> bool:
        """It has used them up."""
        return bool(self.lib.spek_drive_is_short(self.c))

    def next_ns(self) -> int:
        return int(self.lib.spek_drive_next_ns(self.c))

    def command(self, now_ns: int, event: int) -> int:
        return int(self.lib.spek_drive_command(self.c, now_ns, event))

    def power_uw(self, rail: int, now_ns: int) -> int:
        return int(self.lib.spek_drive_power_uw(self.c, rail, now_ns))

    def fault(
        self,
        now_ns: int,
        kind: int,
        lba: int = 0,
        sectors: int = 0,
        number: int = 0,
        delay_ns: int = 0,
    ) -> None:
        fault = self.ffi.new(
            "struct spek_drive_fault *",
            {
                "kind": kind,
                "lba": lba,
                "sectors": sectors,
                "number": number,
                "delay_ns": delay_ns,
            },
        )
        self._accept(self.lib.spek_drive_fault(self.c, now_ns, fault, self._refusal))

    def clear_faults(self, now_ns: int) -> None:
        self.lib.spek_drive_clear_faults(self.c, now_ns)

    def restore_arms(self, now_ns: int) -> None:
        self.lib.spek_drive_restore_arms(self.c, now_ns)

    def sole_sectors(self, arm: int) -> int:
        return int(self.lib.spek_drive_sole_sectors(self.c, arm))

    def abort(self, now_ns: int, tag: int) -> bool:
        return bool(self.lib.spek_drive_abort(self.c, now_ns, tag))

    @property
    def condition(self) -> int:
        return int(self.c.condition)

    def account(self, now_ns: int) -> Account:
        self.lib.spek_drive_account(self.c, now_ns)
        c = self.c.account
        five, twelve = (int(counter.nj) * 10**6 + int(counter.rest) for counter in c.energy)
        return Account(
            (five, twelve),
            tuple(c.condition_ns),
            tuple(c.phase_ns),
            c.starts,
            *(c.served, c.moved, c.hits, c.accepted, c.destages, c.lost, c.ahead_sectors),
        )

    def closed_loop(
        self,
        depth: int,
        seed: int = 7,
        footprint: float = 1.0,
        sectors: int = 8,
        write: bool = False,
        measured: int = 20_000,
    ) -> Loop:
        """Random accesses with `depth` outstanding, from time 0 on."""
        loop = self.ffi.new("struct shim_loop *")
        loop.depth, loop.seed, loop.sectors, loop.write = depth, seed, sectors, write
        loop.blocks = int(self.sectors * footprint) // 8
        loop.unmeasured, loop.measured = 2000, measured
        self.lib.shim_closed_loop(self.c, loop)
        assert (loop.refused, loop.end_ns > loop.begin_ns) == (0, True)
        parts = (loop.seek_ns, loop.rotate_ns, loop.transfer_ns)
        seek_ms, rotate_ms, transfer_ms = (part / measured / 1e6 for part in parts)
        return Loop(
            measured / (loop.end_ns - loop.begin_ns) * 1e9,
            *(seek_ms, rotate_ms, transfer_ms, loop.longest_wait_ns / 1e6),
        )

    def serve(self, now_ns: int, lba: int, sectors: int = 8, write: bool = False) -> Service:
        """Serve one request on an idle drive; the drive is idle after it."""
        assert self.submit(now_ns, lba, sectors, write) == 0
        started = self.start(now_ns)
        assert started is not None
        ended = self.finish(started.end_ns)
        assert ended == started
        return ended
