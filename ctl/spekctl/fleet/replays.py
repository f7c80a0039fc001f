# SPDX-License-Identifier: GPL-2.0-or-later
"""Merge the replays of a trace by several hosts: sums, so that the order of hosts does not matter.

If each host replays a part, each has read the whole trace, and all report the same counts of it. If
each host replays the whole trace, all counts are added.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from spekctl.documents.result_parts import ReplayResult
from spekctl.errors import RefusedError

# Counts of the records that a host has sent.
_SENT = ("fed", "issued", "underruns", "underrun_ns")
# Counts of the trace that a host has read.
_READ = ("records", "shifted", "grown", "bad", "unordered", "idles", "idle_ns")


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


def summed(parts: Sequence[ReplayResult], hosts: int) -> ReplayResult | None:
    """The replay of all hosts; None if there was none. @hosts: number of those that send I/O: it is
    not complete without the part of one that was lost.

    The times of underruns are in the results of the hosts, since each host has its own clock. A
    host that stopped reading the trace earlier has smaller counts of it: the largest count is used.
    """
    if not parts:
        return None
    split = all(part.split for part in parts)
    read = max if split else sum
    reasons = sorted({reason for part in parts for reason in part.skipped})
    texts = sorted({part.text for part in parts if part.text})
    return msgspec.structs.replace(
        parts[0],
        files=sorted({name for part in parts for name in part.files}),
        **{name: sum(getattr(part, name) for part in parts) for name in _SENT},
        **{name: read(getattr(part, name) for part in parts) for name in _READ},
        skipped={reason: read(part.skipped.get(reason, 0) for part in parts) for reason in reasons},
        depth=sum(part.depth or 0 for part in parts) or None,
        complete=len(parts) == hosts and all(part.complete for part in parts),
        underrun_first_ns=0,
        underrun_last_ns=0,
        dry_ns=max(part.dry_ns for part in parts),
        text="; ".join(texts),
        split=split,
    )
