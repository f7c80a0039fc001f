# SPDX-License-Identifier: GPL-2.0-or-later
"""Model files: TOML with milliseconds and watts, checked, with fields that the user overrides.

    model = load("barracuda-es", ["rpm=5200", "arms.count=4"])

The structs are the source of models/schema.json. Every complaint is one sentence: which field, what
is wrong, what is allowed.
"""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from spekctl import fields, files, settings, toml
from spekctl.contract.drive_requests import Layout
from spekctl.drive import flash, steps
from spekctl.drive.model import (
    CONDITIONS,
    SECTOR,
    TURN,
    Cache,
    Lee,
    Model,
    Watts,
    Zone,
    deepest_fall,
    hpl_points,
)
from spekctl.errors import UsageError, at
from spekctl.suggest import did_you_mean

MODELS = Path(__file__).with_name("models")
SCHEMA_FILE = MODELS / "schema.json"
WARN_FALL = 0.10
MOST_FALL = 0.40
PS_PER_MINUTE = 60 * 10**12

Ms = Annotated[float, Meta(ge=0, le=1000)]
Watt = Annotated[float, Meta(ge=0, le=1000)]
Rails = Annotated[list[Watt], Meta(min_length=2, max_length=2)]
Seconds = Annotated[float, Meta(ge=0, le=600)]


class Power(msgspec.Struct, forbid_unknown_fields=True):
    """Power of the parts of a drive, W; pairs are the 5 V and the 12 V rail."""

    active: Annotated[Rails, Meta(description="Electronics on 5 V, spindle on 12 V.")]
    standby: Annotated[Rails, Meta(description="Spindle stopped; an access starts it.")]
    stopped: Annotated[Rails, Meta(description="Spindle stopped until it is started.")]
    starting: Annotated[Rails, Meta(description="Mean while the spindle starts.")]
    to_standby: Annotated[Rails, Meta(description="Mean while the spindle stops for standby.")]
    to_stopped: Annotated[Rails, Meta(description="Mean while the spindle stops.")]
    hold: Annotated[Watt, Meta(description="Each arm assembly of an active drive, 12 V.")]
    seek: Annotated[Watt, Meta(description="Power added by a moving arm, 12 V.")]
    rotate: Annotated[Watt, Meta(description="Power added by an arm waiting for its sector, 12 V.")]
    read: Annotated[Watt, Meta(description="Power added by an arm that reads, 5 V.")]
    write: Annotated[Watt, Meta(description="Power added by an arm that writes, 5 V.")]
    starting_s: Annotated[Seconds, Meta(description="Time to start the spindle, s.")]
    stopping_s: Annotated[Seconds, Meta(description="Time to stop the spindle, s.")]


class Arms(msgspec.Struct, forbid_unknown_fields=True):
    """Arm assemblies."""

    count: Annotated[int, Meta(ge=1, le=8, description="Number of assemblies.")] = 1
    angles: Annotated[
        list[Annotated[float, Meta(ge=0, lt=1)]] | None,
        Meta(description="Where each is mounted, in turns. Default: equally spaced."),
    ] = None
    channels: Annotated[
        int, Meta(ge=1, le=8, description="Arms that work at the same time, at most.")
    ] = 1
    moving: (
        Annotated[
            int, Meta(ge=1, le=8, description="Arms that move at the same time. Default: channels.")
        ]
        | None
    ) = None
    split: Annotated[
        bool, Meta(description="Each arm has a part of the LBAs to itself, as in dual actuators.")
    ] = False


class Memory(msgspec.Struct, forbid_unknown_fields=True):
    """The cache of a drive."""

    segments: Annotated[int, Meta(ge=0, le=64, description="Read segments; 0: none.")] = 0
    segment_kib: Annotated[int, Meta(ge=0, le=2**21, description="Size of one, KiB.")] = 0
    ahead_kib: Annotated[
        int, Meta(ge=0, le=2**21, description="How far the drive reads ahead, up to a segment.")
    ] = 0
    write_kib: Annotated[
        int, Meta(ge=0, le=2**23, description="Room for written data; 0: write-through.")
    ] = 0
    hit_ms: Annotated[Ms, Meta(description="Time of a hit before its transfer, ms.")] = 0.0
    bus_mb_s: Annotated[
        float, Meta(ge=0.6, le=10000, description="Rate of the bus, 10^6 bytes per second.")
    ] = 300.0


class DriveFile(msgspec.Struct, forbid_unknown_fields=True):
    """A model file."""

    title: Annotated[str, Meta(min_length=1, description="Maker, type and name.")]
    sources: Annotated[
        list[str], Meta(min_length=1, description="Where each group of values comes from.")
    ]
    heads: Annotated[int, Meta(ge=1, le=64, description="Surfaces with data.")]
    layout: Annotated[
        Layout,
        Meta(
            description="Order of tracks: all heads of a cylinder; the same, alternately up and"
            " down; bands of cylinders per head."
        ),
    ]
    platters: (
        Annotated[int, Meta(ge=1, le=32, description="Platters. Default: heads / 2.")] | None
    ) = None
    diameter_in: (
        Annotated[float, Meta(ge=0.8, le=14, description="Diameter of a platter in inches.")] | None
    ) = None
    stacks: Annotated[
        int, Meta(ge=1, le=8, description="Stacks of platters; zones describe one of them.")
    ] = 1
    surfaces: Annotated[
        int, Meta(ge=1, le=64, description="Surfaces that transfer together, a divisor of heads.")
    ] = 1
    head_angles: (
        Annotated[
            list[Annotated[float, Meta(ge=0, lt=1)]],
            Meta(
                min_length=1,
                max_length=4,
                description="Of the heads of an arm on a surface, along the track, in turns.",
            ),
        ]
        | None
    ) = None
    zero_latency: Annotated[
        bool, Meta(description="A read of a whole track begins at any of its sectors.")
    ] = False
    band_cylinders: Annotated[
        int, Meta(ge=0, le=4194304, description="Cylinders of a band; layout banded only.")
    ] = 0
    rpm: Annotated[float, Meta(ge=60, le=60000, description="Speed of the spindle.")] | None = None
    period_ps: (
        Annotated[int, Meta(ge=10**9, le=10**12, description="Time of a turn in ps, without rpm.")]
        | None
    ) = None
    sectors: Annotated[
        int,
        Meta(ge=0, le=2**40, description="Capacity in 512-byte sectors; 0: all that zones hold."),
    ] = 0
    zones: Annotated[
        list[list[int]] | None,
        Meta(
            description="From the outermost: [first cylinder, cylinders, sectors per track], and"
            " track skew and cylinder skew in sectors unless skew_ms is given."
        ),
    ] = None
    zones_table: Annotated[
        str | None,
        Meta(
            description="CSV file instead of zones, relative to this one: columns first_cyl,"
            " last_cyl or cylinders, spt, track_skew_sectors, cyl_skew_sectors."
        ),
    ] = None
    skew_ms: Annotated[Ms | None, Meta(description="Both skews of all zones, ms.")] = None
    head_switch_ms: Annotated[Ms, Meta(description="Time to change the head, ms.")] = 0.0
    settle_ms: Annotated[Ms, Meta(description="Settle time that a write adds to a seek, ms.")] = 0.0
    overhead_ms: Annotated[
        Ms, Meta(description="Overhead of a command before the arm moves, ms.")
    ] = 0.0
    seek_points: (
        Annotated[
            list[Annotated[list[float], Meta(min_length=2, max_length=2)]],
            Meta(min_length=1, max_length=4096, description="Measured curve: [cylinders, ms]."),
        ]
        | None
    ) = None
    seek_table: Annotated[
        str | None,
        Meta(description="CSV file instead, relative to this one: columns distance_cyl, ms."),
    ] = None
    seek_ms: (
        Annotated[
            list[Ms],
            Meta(
                min_length=3,
                max_length=3,
                description="Three-parameter curve: one cylinder, mean, all cylinders; ms.",
            ),
        ]
        | None
    ) = None
    seek_hpl: (
        Annotated[
            list[Annotated[float, Meta(ge=0, le=10**7)]],
            Meta(
                min_length=6,
                max_length=6,
                description="Six-parameter curve: border in cylinders V1, below it V2 + V3"
                " sqrt(x), above it V4 + V5 x, one cylinder V6; ms.",
            ),
        ]
        | None
    ) = None
    seek_constant_ms: Annotated[Ms | None, Meta(description="The same time for all.")] = None
    arms: Annotated[Arms, Meta(description="Arm assemblies.")] = msgspec.field(default_factory=Arms)
    cache: Annotated[Memory, Meta(description="Cache. Default: none.")] = msgspec.field(
        default_factory=Memory
    )
    profile: Annotated[
        str | None, Meta(description="Power profile to use. Default: the first.")
    ] = None
    power: Annotated[
        dict[str, Power], Meta(description="Power profiles by name; none: no power figures.")
    ] = msgspec.field(default_factory=dict)


SEEKS = ("seek_points", "seek_table", "seek_ms", "seek_hpl", "seek_constant_ms")


def json_schema() -> dict[str, Any]:
    """JSON Schema of a model file, of a disk or of flash, for editors and validators."""
    kinds, parts = msgspec.json.schema_components(
        [DriveFile, flash.FlashFile], ref_template="#/$defs/{name}"
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "spek model of a drive",
        "anyOf": list(kinds),
        "$defs": parts,
    }


def names() -> list[str]:
    """Names of the drives that come with spekctl."""
    try:
        listed = os.listdir(MODELS)
    except OSError as error:
        raise UsageError(f"cannot read the models in {MODELS}: {error.strerror}") from error
    return sorted(Path(name).stem for name in listed if name.endswith(".toml"))


def find(name: str) -> Path:
    """The file that a user means by @name: a model that comes with spekctl, or a path."""
    if "/" in name or name.endswith(".toml"):
        return Path(name)
    known = names()
    if name not in known:
        if os.path.isfile(name):
            raise UsageError(f"there is no model '{name}'; to use the file, write ./{name}")
        choice = f"; choose from {', '.join(known)}, or give the path of a .toml file"
        raise UsageError(f"there is no model '{name}'{did_you_mean(name, known) or choice}")
    return MODELS / f"{name}.toml"


def load(name: str, given: Sequence[str] = (), force: bool = False) -> Model:
    """The model that @name means, with the fields that --set gives."""
    path = find(name)
    text = files.read_text(path)
    with at(path.name):
        return parse(text, path.stem, given, force, path.parent)


def parse(
    text: str,
    name: str = "",
    given: Sequence[str] = (),
    force: bool = False,
    folder: Path = Path(),
) -> Model:
    """The model that a TOML text describes."""
    data = toml.parse(text)
    if "flash" in data:
        return _flash(data, name, given)
    before = _checked(data)
    rpm = _set(data, given)
    file = _checked(data)
    model = _model(file, folder)
    scale = _size_of(file) / _size_of(before)
    if file.power and scale != 1:
        model = model.with_spindle(scale)
    if rpm is not None:
        fields.check_field(rpm, DriveFile, "rpm")
        model = model.at_rpm(rpm)
    fall, distance = deepest_fall(model.seek)
    remarks = []
    if fall > WARN_FALL:
        what = f"the seek curve falls by {fall:.0%} at {distance} cylinders"
        if fall > MOST_FALL and not force:
            raise UsageError(
                f"seek: {what}; falls of up to {MOST_FALL:.0%} are allowed unless forced (--force)"
            )
        remarks.append(what)
    return replace(
        model,
        name=name,
        sources=tuple(file.sources),
        remarks=tuple(remarks),
        max_fall_ppm=max(400_000, math.ceil(fall * 10**6)),
    )


def _flash(data: dict[str, Any], name: str, given: Sequence[str]) -> Model:
    for setting in given:
        field, _ = settings.split(setting, _FLASH)
        if field.partition(".")[0] in ("rpm", "arms", "stacks", "surfaces"):
            raise UsageError(f"{field}: a flash drive has neither platters nor arms")
    settings.apply(data, _FLASH, given)
    fields.check(data, flash.FlashFile)
    file = msgspec.convert(data, flash.FlashFile)
    return replace(flash.model_of(file), name=name, sources=tuple(file.sources))


def _size_of(file: DriveFile) -> float:
    """Factor of the spindle power that depends on its platters."""
    platters = file.platters or (file.heads + 1) // 2
    return float(file.stacks * platters * (file.diameter_in or 1.0) ** 4.6)


# --- what the user sets ---------------------------------------------------------------------------

_EXAMPLE = "settle_ms=0.2"
_DISK = settings.Target(DriveFile, _EXAMPLE)
_FLASH = settings.Target(flash.FlashFile, _EXAMPLE)
# Of each group a model has one: what is set replaces what the file has.
_EXCLUSIVE = (("zones", "zones_table"), SEEKS, ("period_ps", "rpm"))


def _set(data: dict[str, Any], given: Iterable[str]) -> Any:
    """Change a file of a disk. Return: rpm as it was set, which is another speed of the same disk;
    None if it was not."""
    speed: dict[str, Any] = {}
    for setting in given:
        name, value = settings.split(setting, _DISK)
        if name == "rpm" and value:
            settings.apply(speed, _DISK, [setting])
            continue
        for group in _EXCLUSIVE:
            for alternative in group if value and name in group else ():
                data.pop(alternative, None)
        settings.apply(data, _DISK, [setting])
    return speed.get("rpm")


# --- checks ---------------------------------------------------------------------------------------


def _checked(data: Mapping[str, Any]) -> DriveFile:
    fields.check(data, DriveFile)
    file = msgspec.convert(data, DriveFile)
    if file.rpm is None and file.period_ps is None:
        raise UsageError("rpm: missing; give 60 to 60000, or period_ps instead")
    if file.rpm is not None and file.period_ps is not None:
        raise UsageError("period_ps: give rpm or period_ps, not both")
    if (file.zones is None) == (file.zones_table is None):
        raise UsageError("zones: give exactly one of zones and zones_table")
    given = [seek for seek in SEEKS if getattr(file, seek) is not None]
    if len(given) != 1:
        said = f"{' and '.join(given)} are given" if given else "missing"
        raise UsageError(f"seek: {said}; allowed is exactly one of {', '.join(SEEKS)}")
    if (file.layout == "banded") != bool(file.band_cylinders):
        raise UsageError(
            "band_cylinders: required by layout banded, 1 to 4194304, and for no other layout"
        )
    if file.arms.angles is not None and len(file.arms.angles) != file.arms.count:
        raise UsageError(
            f"arms.angles: {len(file.arms.angles)} given for {file.arms.count} arms; give one for"
            " each arm"
        )
    if file.arms.channels > file.arms.count:
        raise UsageError(
            f"arms.channels: {file.arms.channels} is out of range; allowed are 1 to"
            f" {file.arms.count}, the number of arms"
        )
    if file.arms.moving is not None and not (
        file.arms.channels <= file.arms.moving <= file.arms.count
    ):
        raise UsageError(
            f"arms.moving: {file.arms.moving} is out of range; allowed are {file.arms.channels} to"
            f" {file.arms.count}, from the channels to the arms"
        )
    if file.heads % file.surfaces:
        raise UsageError(
            f"surfaces: {file.surfaces} does not divide the {file.heads} heads; allowed are"
            " divisors of the number of heads"
        )
    if file.arms.count % file.stacks:
        raise UsageError(
            f"stacks: {file.stacks} does not divide the {file.arms.count} arms; allowed are"
            " divisors of the number of arms"
        )
    if file.profile is not None and file.profile not in file.power:
        known = ", ".join(file.power) or "none"
        raise UsageError(f"profile: there is no profile '{file.profile}'; allowed are: {known}")
    return file


# --- milliseconds and watts to integers -----------------------------------------------------------


def _model(file: DriveFile, folder: Path) -> Model:
    period_ps = file.period_ps or round(PS_PER_MINUTE / (file.rpm or 1))
    if file.period_ps is None and float(file.rpm or 1).is_integer():
        period_ps = PS_PER_MINUTE // int(file.rpm or 1)
    zones = _zones(file, folder, period_ps)
    cylinders = zones[-1].first_cylinder + zones[-1].cylinders
    held = file.stacks * file.heads * sum(zone.cylinders * zone.spt for zone in zones)
    if file.sectors > held:
        raise UsageError(
            f"sectors: {file.sectors} is out of range; the zones hold {held}, allowed are 1 to that"
        )
    profiles = {name: _watts(watts, f"power.{name}") for name, watts in file.power.items()}
    chosen = file.profile or next(iter(profiles), "")
    arms = file.arms
    angles = (
        tuple(round(angle * TURN) % TURN for angle in arms.angles)
        if arms.angles is not None
        else tuple(TURN * arm // arms.count for arm in range(arms.count))
    )
    return Model(
        title=file.title,
        heads=file.heads,
        zones=zones,
        seek=_seek(file, folder, cylinders),
        period_ps=period_ps,
        layout=file.layout,
        band_cylinders=file.band_cylinders,
        sectors=file.sectors,
        head_switch_ns=steps.ns(file.head_switch_ms, "head_switch_ms"),
        settle_ns=steps.ns(file.settle_ms, "settle_ms"),
        overhead_ns=steps.ns(file.overhead_ms, "overhead_ms"),
        watts=profiles.get(chosen, Watts()),
        cache=_cache(file.cache),
        arm_angles=angles,
        channels=arms.channels,
        moving=arms.moving or arms.channels,
        split=arms.split,
        stacks=file.stacks,
        surfaces=file.surfaces,
        head_angles=tuple(round(angle * TURN) % TURN for angle in file.head_angles or [0.0]),
        zero_latency=file.zero_latency,
        profile=chosen,
        profiles=profiles,
    )


def _cache(given: Memory) -> Cache:
    if not given.segments and not given.write_kib:
        return Cache()
    return Cache(
        segments=given.segments,
        segment_sectors=given.segment_kib * 2,
        ahead_sectors=given.ahead_kib * 2,
        write_sectors=given.write_kib * 2,
        hit_ns=steps.ns(given.hit_ms, "cache.hit_ms"),
        sector_ps=round(SECTOR * 10**6 / given.bus_mb_s),
    )


def _zones(file: DriveFile, folder: Path, period_ps: int) -> tuple[Zone, ...]:
    rows = file.zones
    if rows is None:
        rows = _zone_rows(folder / str(file.zones_table), "zones_table")
    if not 1 <= len(rows) <= 256:
        raise UsageError(f"zones: {len(rows)} zones; allowed are 1 to 256")
    wanted = 3 if file.skew_ms is not None else 5
    zones: list[Zone] = []
    end = 0
    for number, row in enumerate(rows, start=1):
        field = f"zones.{number}"
        if file.zones_table is not None:
            row = row[:wanted]
        if len(row) != wanted:
            skews = "without skews, since skew_ms is given" if wanted == 3 else "with both skews"
            raise UsageError(f"{field}: {len(row)} numbers; allowed are {wanted}, {skews}")
        first, cylinders, spt, *skew = row
        if first < end:
            raise UsageError(f"{field}: first cylinder {first}; allowed are {end} or more")
        if not 1 <= cylinders <= 4194304 or not 1 <= spt <= 65536:
            raise UsageError(
                f"{field}: {cylinders} cylinders of {spt} sectors per track; allowed are 1 to"
                " 4194304 and 1 to 65536"
            )
        end = first + cylinders
        if file.skew_ms is not None:
            turn = TURN * steps.ns(file.skew_ms, "skew_ms") * 1000 // period_ps % TURN
            zones.append(Zone(first, cylinders, spt, turn, turn))
        else:
            track, cylinder = (TURN * (sectors % spt) // spt for sectors in skew)
            zones.append(Zone(first, cylinders, spt, track, cylinder))
    return tuple(zones)


def _table(path: Path, field: str) -> list[dict[str, str]]:
    try:
        with open(path, encoding="utf-8", newline="") as lines:
            return list(csv.DictReader(lines))
    except (OSError, ValueError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"{field}: cannot read {path}: {reason}") from error


def _zone_rows(path: Path, field: str) -> list[list[int]]:
    rows = []
    for number, row in enumerate(_table(path, field), start=2):
        try:
            first = int(row["first_cyl"])
            if "cylinders" in row:
                end = first + int(row["cylinders"])
            elif "end_cyl_exclusive" in row:
                end = int(row["end_cyl_exclusive"])
            else:
                end = int(row["last_cyl"]) + 1
            skews = [
                int(row.get(f"{key}_sectors") or row.get(key) or 0)
                for key in ("track_skew", "cyl_skew")
            ]
            rows.append([first, end - first, int(row["spt"]), *skews])
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(
                f"{field}: line {number} of {path} is wrong ({error!r}); the columns are"
                " first_cyl, last_cyl, spt, track_skew_sectors, cyl_skew_sectors"
            ) from error
    return rows


def _seek(file: DriveFile, folder: Path, cylinders: int) -> tuple[tuple[int, int], ...] | Lee:
    if file.seek_ms is not None:
        low, mean, high = file.seek_ms
        if not (15 * mean - 7 * low) / 8 <= high <= 3 * mean - 2 * low:
            raise UsageError(
                f"seek_ms: with {low} ms for one cylinder and a mean of {mean} ms, {high} ms for"
                f" all is out of range; allowed are {(15 * mean - 7 * low) / 8:g} to"
                f" {3 * mean - 2 * low:g}"
            )
        return Lee(*(steps.ns(ms, "seek_ms") for ms in file.seek_ms))
    if file.seek_constant_ms is not None:
        return ((1, max(1, steps.ns(file.seek_constant_ms, "seek_constant_ms"))),)
    if file.seek_hpl is not None:
        return hpl_points(file.seek_hpl, cylinders)
    rows, field = file.seek_points, "seek_points"
    if rows is None:
        field = "seek_table"
        path = folder / str(file.seek_table)
        try:
            rows = [[float(row["distance_cyl"]), float(row["ms"])] for row in _table(path, field)]
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(
                f"{field}: {path} is wrong ({error!r}); the columns are distance_cyl, ms"
            ) from error
    points: list[tuple[int, int]] = []
    for number, (distance, ms) in enumerate(rows, start=1):
        place = f"{field}.{number}"
        last = points[-1][0] if points else 0
        if not distance.is_integer() or not last < distance < 2**32:
            raise UsageError(
                f"{place}: {distance:g} cylinders; allowed are whole numbers above {last}, that of"
                " the point before"
            )
        if not 0 < ms <= 1000:
            raise UsageError(f"{place}: {ms:g} ms; allowed are more than 0 up to 1000")
        points.append((int(distance), steps.ns(ms, place)))
    if not points:
        raise UsageError(f"{field}: 0 entries; allowed are 1 to 4096")
    return tuple(points)


def _watts(given: Power, where: str) -> Watts:
    def rails(condition: str) -> tuple[int, int]:
        five, twelve = getattr(given, condition)
        return steps.uw(five, f"{where}.{condition}"), steps.uw(twelve, f"{where}.{condition}")

    parts = {
        mode: steps.uw(getattr(given, mode), f"{where}.{mode}")
        for mode in ("hold", "seek", "rotate", "read", "write")
    }
    return Watts(
        base=tuple(rails(condition) for condition in CONDITIONS),
        starting_ns=steps.whole(given.starting_s, 10**9, "1 ns", f"{where}.starting_s"),
        stopping_ns=steps.whole(given.stopping_s, 10**9, "1 ns", f"{where}.stopping_s"),
        **parts,
    )
