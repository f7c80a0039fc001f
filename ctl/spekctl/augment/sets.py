# SPDX-License-Identifier: GPL-2.0-or-later
"""Which devices are a set, in which order, and which of them are missing or stale.

The rules are those of kmod/augment/core/recover.c, so that what the module would refuse is refused
here, with the names of the devices.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from spekctl.augment import format
from spekctl.augment.format import SSD, Superblock, name_of
from spekctl.augment.reader import Reader
from spekctl.block.augmented import SUPERBLOCKS
from spekctl.errors import RefusedError, SpekError, UsageError


class MissingError(RefusedError):
    """A device of the set is not there; it may still come."""


class ForeignError(UsageError):
    """The superblocks of a device are of another version of the format."""


@dataclass(frozen=True, slots=True)
class Part:
    """A device with at least one intact superblock. @copies: its two, None where it is not."""

    path: str
    copies: tuple[Superblock | None, Superblock | None]

    @property
    def newest(self) -> Superblock:
        """The newer superblock."""
        return max((copy for copy in self.copies if copy is not None), key=lambda copy: copy.age)


@dataclass(frozen=True, slots=True)
class Set:
    """Devices of one set, by their numbers."""

    parts: Mapping[int, Part]

    @property
    def newest(self) -> Superblock:
        """The newest superblock, which says where the log begins."""
        return max((part.newest for part in self.parts.values()), key=lambda copy: copy.age)

    @property
    def uuid(self) -> UUID:
        """Identity of the set."""
        return self.newest.uuid

    @property
    def numbers(self) -> range:
        """Numbers of all its devices."""
        return range(self.newest.nr_members + 1)

    @property
    def missing(self) -> list[int]:
        """Devices that are not there."""
        return [number for number in self.numbers if number not in self.parts]

    @property
    def stale(self) -> list[int]:
        """Devices that are not in use in the newest generation; their log does not count."""
        return [number for number in sorted(self.parts) if not self.newest.devices >> number & 1]

    @property
    def current(self) -> list[int]:
        """Devices whose log counts."""
        return [number for number in sorted(self.parts) if number not in self.stale]

    @property
    def unknown(self) -> bool:
        """The SSD and a member of the newest generation are missing, so that it is not known what
        they held."""
        return self.is_unknown_without(())

    def is_unknown_without(self, unread: Collection[int]) -> bool:
        """The same if @unread could not be read either. The SSD alone tells what the log holds, and
        so do all members together."""
        needed = [
            number
            for number in self.numbers
            if self.newest.devices >> number & 1 and (number not in self.parts or number in unread)
        ]
        return SSD in needed and len(needed) > 1


def read(path: str, reader: Reader) -> Part | None:
    """The superblocks of a device; None if it has none. ForeignError if they are of another
    version of the format, SpekError if none of them can be read."""
    blocks = _superblocks(reader)
    copies = [format.superblock(block) for block in blocks]
    if not any(copies) and any(map(format.is_foreign_superblock, blocks)):
        raise ForeignError(
            f"the superblock of {path} is of another version of the format; the version of spek"
            " that wrote it can attach the cache, and destage what its log holds"
        )
    if not any(copies):
        return None
    return Part(path, (copies[0], copies[1]))


def _superblocks(reader: Reader) -> list[bytes]:
    """Both places, one by one, each as often as the module reads it: a torn write may have left one
    that cannot be read. Empty where there is nothing to read."""
    blocks = []
    failures = []
    for place in range(SUPERBLOCKS):
        try:
            blocks.append(reader.block(place))
        except SpekError as error:
            failures.append(error)
            blocks.append(b"")
    if len(failures) == SUPERBLOCKS:
        raise failures[0]
    return blocks


def by_set(parts: Iterable[Part]) -> dict[UUID, list[Part]]:
    """Devices of different sets apart."""
    sets: dict[UUID, list[Part]] = {}
    for part in parts:
        sets.setdefault(part.newest.uuid, []).append(part)
    return sets


def gather(parts: Sequence[Part]) -> Set:
    """The set that the devices are; UsageError if they do not belong together."""
    sets = by_set(parts)
    if len(sets) > 1:
        listed = "; ".join(
            f"{', '.join(part.path for part in members)}: set {uuid}"
            for uuid, members in sets.items()
        )
        raise UsageError(f"the devices belong to different sets ({listed})")
    numbered: dict[int, Part] = {}
    for part in parts:
        number = part.newest.device
        if number in numbered:
            raise UsageError(
                f"{numbered[number].path} and {part.path} both say that they are"
                f" {name_of(number)} of set {part.newest.uuid}: one is a copy, or another path to"
                " the same disk; name the right one"
            )
        numbered[number] = part
    gathered = Set(numbered)
    for part in numbered.values():
        _check_sizes(part, gathered.newest)
    return gathered


def _check_sizes(part: Part, newest: Superblock) -> None:
    for what in ("log_blocks", "ssd_blocks", "nr_members"):
        here, there = getattr(part.newest, what), getattr(newest, what)
        if here != there:
            raise UsageError(
                f"{part.path} has {what} {here}, and other devices of set {newest.uuid} have"
                f" {there}: their superblocks contradict each other"
            )


def leave_out(known: Set, without: Collection[int]) -> Set:
    """The set without the devices that the user names; refuses one that would miss writes.

    Every missing device has to be named: a disk that is found a minute later must not be passed by.
    """
    newest = known.newest
    for number in without:
        if number not in known.numbers:
            raise UsageError(
                f"--without {option_of(number)}: set {known.uuid} has the SSD and"
                f" {newest.nr_members} members, of which the first is member:0"
            )
    unnamed = [number for number in known.missing if number not in without]
    if unnamed:
        names = " and ".join(name_of(number) for number in unnamed)
        options = " ".join(f"--without {option_of(number)}" for number in unnamed)
        raise MissingError(
            f"{names} of set {known.uuid} {'is' if len(unnamed) == 1 else 'are'} missing; connect"
            f" {'it' if len(unnamed) == 1 else 'them'}, or give {options} to attach without"
        )
    rest = Set({number: part for number, part in known.parts.items() if number not in without})
    if not rest.parts:
        raise UsageError(f"no device of set {known.uuid} is left")
    if rest.newest.generation < newest.generation:
        raise RefusedError(
            f"the devices that are left are of generation {rest.newest.generation} of set"
            f" {known.uuid}, and {known.parts[newest.device].path} is of generation"
            f" {newest.generation}: what was written since would be lost"
        )
    if rest.unknown:
        raise RefusedError(
            f"the SSD and a member of set {known.uuid} are missing: what they held is not known;"
            " connect one of them"
        )
    return rest


def option_of(number: int) -> str:
    """A device as --without names it."""
    return "ssd" if number == SSD else f"member:{number - 1}"


def number_of(text: str) -> int:
    """The reverse of option_of()."""
    if text == "ssd":
        return SSD
    word, _, member = text.partition(":")
    if word == "member" and member.isascii() and member.isdecimal():
        number = int(member)
        if number < format.MEMBERS:
            return number + 1
    raise UsageError(f"'{text}' names no device of a set; write ssd, or member:0 to member:7")
