# SPDX-License-Identifier: GPL-2.0-or-later
"""Places and lengths in zones: ``4z`` is as long as four zones of the device, whose size is known
when it is claimed."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from spekctl.errors import UsageError, at
from spekctl.workload import own_devices
from spekctl.workload.layout import Target
from spekctl.workload.meaning import asus_of, zones_of
from spekctl.workload.model import WorkloadFile

OF_ASUS = ("start", "size")
OF_STREAMS = ("start", "range")


def has_any(workload: WorkloadFile) -> bool:
    """Whether a place or length is in zones."""
    return any(
        zones_of(getattr(table, key)) is not None
        for tables, keys in ((workload.asu, OF_ASUS), (workload.stream, OF_STREAMS))
        for table in tables
        for key in keys
    )


def in_bytes(workload: WorkloadFile, targets: Sequence[Target]) -> WorkloadFile:
    """The workload on @targets, with bytes in place of zones. UsageError without zones, and over
    several devices."""
    if not has_any(workload):
        return workload
    places = own_devices.placed(workload, [target.path for target in targets])

    def changed(
        what: str, table: msgspec.Struct, keys: Sequence[str], here: Sequence[int]
    ) -> dict[str, int]:
        counts = {key: zones_of(getattr(table, key)) for key in keys}
        given = {key: count for key, count in counts.items() if count is not None}
        for key, count in given.items():
            with at(what):
                if len(here) > 1:
                    raise UsageError(f"{key} = {count}z is of one device, and not striped over")
                target = targets[here[0]]
                if not target.zone_bytes:
                    raise UsageError(f"{key} = {count}z needs zones, which {target.path} lacks")
                given[key] = count * target.zone_bytes
        return given

    first = asus_of(workload)[0].name
    return msgspec.structs.replace(
        workload,
        asu=[
            msgspec.structs.replace(
                asu, **changed(f"asu '{asu.name}'", asu, OF_ASUS, places[asu.name])
            )
            for asu in workload.asu
        ],
        stream=[
            msgspec.structs.replace(
                stream,
                **changed(
                    f"stream '{stream.name}'", stream, OF_STREAMS, places[stream.asu or first]
                ),
            )
            for stream in workload.stream
        ],
    )
