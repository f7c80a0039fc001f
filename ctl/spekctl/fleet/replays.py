# SPDX-License-Identifier: GPL-2.0-or-later
"""Merge the replays of a trace by several hosts: sums, so that the order of hosts does not matter.

If each host replays a part, each has read the whole trace, and all report the same counts of it. If
each host replays the whole trace, all counts are added.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from spekctl.documents.result_parts import ReplayResult
from spekctl.errors import RefusedError, UsageError

# Counts of the records that a host has sent.
_SENT = ("fed", "issued", "underruns", "underrun_ns")
# Counts of the trace that a host has read.
_READ = ("records", "shifted", "grown", "bad", "unordered", "lost", "idles", "idle_ns")


def check_alike(records: Mapping[str, int | None]) -> None:
    """RefusedError if hosts have read different traces, of which they would replay parts.
    @records: those of the trace by host; None: a host replays none."""
    host_of: dict[int, str] = {}
    for name, count in records.items():
        if count is not None:
            host_of.setdefault(count, name)
    if len(host_of) > 1:
        (fewer, first), *_, (more, second) = sorted(host_of.items())
        raise RefusedError(
            f"hosts have different traces at the same path: that of {first} has {fewer:,} records,"
            f" that of {second} {more:,}; give all of them the same files"
        )


def check_parts(parts: Mapping[str, ReplayResult]) -> None:
    """UsageError if the replays of hosts, by name, are not parts of one replay: they are of
    different traces, or more records were fed than the trace has. Replays of the whole trace by
    each host are independent of each other, and pass."""
    split = {name: part for name, part in parts.items() if part.split}
    if not split:
        return
    first, *_ = split
    for name, part in parts.items():
        if not part.split:
            raise UsageError(f"{first} replayed a part of its trace, and {name} all of it")
        if part.records != split[first].records:
            raise UsageError(
                f"{first} and {name} replayed parts of different traces: of"
                f" {split[first].records:,} and of {part.records:,} records"
            )
    records = split[first].records
    fed = sum(part.fed for part in split.values())
    # A host counts discards as skipped only if its own devices have none.
    skipped = sum(
        min(part.skipped.get(reason, 0) for part in split.values())
        for reason in _reasons(split.values())
    )
    if fed > records - skipped:
        raise UsageError(
            f"the parts of {', '.join(split)} overlap: together {fed:,} records were fed, and the"
            f" trace has {records - skipped:,} to replay"
        )


def _reasons(parts: Iterable[ReplayResult]) -> list[str]:
    return sorted({reason for part in parts for reason in part.skipped})


def missing(parts: Sequence[ReplayResult], hosts: int) -> int:
    """Number of records that no host has fed, although all of them came to the end of the trace:
    those are in the parts of hosts whose results are not among @parts. 0 if a host stopped earlier,
    or if each host replays the whole trace. @hosts: as of summed()."""
    if not parts or len(parts) != hosts or not all(part.split and part.complete for part in parts):
        return 0
    skipped = sum(max(part.skipped.get(reason, 0) for part in parts) for reason in _reasons(parts))
    records = max(part.records for part in parts)
    return max(0, records - skipped - sum(part.fed for part in parts))


def summed(parts: Sequence[ReplayResult], hosts: int) -> ReplayResult | None:
    """The replay of all hosts; None if there was none. @hosts: number of those that send I/O: it is
    not complete without the part of one that was lost, nor without those of hosts whose results are
    not among @parts.

    The times of underruns are in the results of the hosts, since each host has its own clock. A
    host that stopped reading the trace earlier has smaller counts of it: the largest count is used.
    """
    if not parts:
        return None
    split = all(part.split for part in parts)
    read = max if split else sum
    reasons = _reasons(parts)
    texts = sorted({part.text for part in parts if part.text})
    complete = len(parts) == hosts and all(part.complete for part in parts)
    return msgspec.structs.replace(
        parts[0],
        files=sorted({name for part in parts for name in part.files}),
        **{name: sum(getattr(part, name) for part in parts) for name in _SENT},
        **{name: read(getattr(part, name) for part in parts) for name in _READ},
        skipped={reason: read(part.skipped.get(reason, 0) for part in parts) for reason in reasons},
        depth=sum(part.depth or 0 for part in parts) or None,
        complete=complete and not missing(parts, hosts),
        underrun_first_ns=0,
        underrun_last_ns=0,
        dry_ns=max(part.dry_ns for part in parts),
        text="; ".join(texts),
        split=split,
        reread=None
        if all(part.reread is None for part in parts)
        else read(part.records if part.reread is None else part.reread for part in parts),
    )
