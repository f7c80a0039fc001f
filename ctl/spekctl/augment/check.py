# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the superblocks and the log of a set, and writes nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from spekctl.augment import log, sets
from spekctl.augment.format import SSD
from spekctl.augment.log import Log
from spekctl.augment.reader import Reader
from spekctl.augment.sets import Set
from spekctl.documents.augment import AugmentCheck, CheckedBreak, CheckedDevice, CheckedLog
from spekctl.errors import ExitCode, UsageError


def check(paths: Sequence[str]) -> AugmentCheck:
    """@paths: devices of one set, or images of them."""
    with contextlib.ExitStack() as stack:
        parts = []
        readers: dict[str, Reader] = {}
        for path in dict.fromkeys(paths):
            readers[path] = stack.enter_context(Reader(path))
            part = sets.read(path, readers[path])
            if part is None:
                raise UsageError(f"{path} has no intact superblock of a cache")
            parts.append(part)
        known = sets.gather(parts)
        current = {number: readers[known.parts[number].path] for number in known.current}
        followed = None if known.unknown else log.follow(known.newest, current)
    newest = known.newest
    return AugmentCheck(
        uuid=str(known.uuid),
        generation=newest.generation,
        log_blocks=newest.log_blocks,
        ssd_blocks=newest.ssd_blocks,
        members=newest.nr_members,
        devices=_devices(known),
        missing=[sets.option_of(number) for number in known.missing],
        log=_log(known, followed) if followed is not None else None,
        raid=newest.raid,
    )


def exit_code(report: AugmentCheck) -> ExitCode:
    """UNDECIDED if a device is missing or no log was read, DATA_ERRORS if something is damaged."""
    if report.log is None:
        return ExitCode.UNDECIDED
    if report.log.broken is not None or any(device.intact < 2 for device in report.devices):
        return ExitCode.DATA_ERRORS
    return ExitCode.UNDECIDED if report.missing else ExitCode.OK


def _devices(known: Set) -> list[CheckedDevice]:
    return [
        CheckedDevice(
            member=None if number == SSD else number - 1,
            path=part.path,
            intact=sum(copy is not None for copy in part.copies),
            generation=part.newest.generation,
            version=part.newest.version,
            stale=number in known.stale,
        )
        for number, part in sorted(known.parts.items())
    ]


def _log(known: Set, followed: Log) -> CheckedLog:
    broken = followed.broken
    return CheckedLog(
        tail=known.newest.tail,
        tail_seq=known.newest.tail_seq,
        records=followed.records,
        used_blocks=followed.used,
        dirty_blocks=followed.blocks,
        single=followed.single,
        ranges=list(followed.ranges),
        broken=CheckedBreak(broken.seq, broken.place, list(broken.reasons)) if broken else None,
        scattered=followed.scattered,
    )
