# SPDX-License-Identifier: GPL-2.0-or-later
"""What files of other kinds have instead of the result of a run."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

import msgspec

from spekctl import files, recorded
from spekctl.documents.document import Kind

# Made of runs, whose results are beside the file if they were kept.
_STATES = (
    *(Kind.SWEEP_STATE, Kind.SPC1_STATE, Kind.SPC2_STATE),
    *(Kind.PTS_STATE, Kind.EMERALD_STATE),
)
_OF_RUNS = (Kind.CURVE, Kind.SPC1, Kind.SPC2, Kind.PTS, Kind.EMERALD, *_STATES)
_JUDGED = (Kind.GATE, Kind.COMPARISON)
# Where the contents of others are.
_COMMANDS = {
    Kind.LOG: "`spekctl log` has its figures, and with --csv its I/Os",
    Kind.TRACE: "`spekctl trace convert` writes it as CSV, and for fio and blkparse",
    Kind.PLAN: "`spekctl watch` makes the result of a detached run",
    Kind.VERIFY_STATE: "the result is the file that -o of that run named",
    Kind.PROBER: "`spekctl show --csv` alone writes its samples, `spekctl report` draws them",
    Kind.IDLE: "no I/O was sent in it",
    Kind.AB_STATE: "the results of its runs are a1.json, b1.json and so on, beside it",
}
_TOLD = 3
_LONGEST = 80


def instead(kind: Kind, data: bytes) -> str:
    """What a file of this kind has, as a clause. @data: its JSON, or the beginning of a log."""
    if kind in _COMMANDS:
        return _COMMANDS[kind]
    if kind in _OF_RUNS:
        names = _named(data, "result_file")
        if not names and kind in _STATES:
            # A state lies in the folder that keeps the results.
            return "none of its runs has completed"
        if not names:
            return "the results of its runs were not kept; --folder DIR keeps them"
        are = "result of its run is" if len(names) == 1 else "results of its runs are"
        return f"the {are} {_few(names)}, beside it"
    if kind in _JUDGED:
        names = _named(data, "file")
        return f"it judged {_few(names)}" if names else "it judged no result"
    return "the file has its figures as JSON"


def _few(names: list[str]) -> str:
    told = [shlex.quote(name[:_LONGEST]) for name in names[:_TOLD]]
    more = len(names) - len(told)
    if more:
        return f"{', '.join(told)} and {more} more"
    return " and ".join(told) if len(told) < _TOLD else f"{', '.join(told[:-1])} and {told[-1]}"


def _named(data: bytes, key: str) -> list[str]:
    """The files that the fields @key of all tables of @data name."""
    try:
        whole = files.decode(data, Any)
    except msgspec.DecodeError:
        return []
    return [*dict.fromkeys(recorded.text(name) for name in _texts(whole, key) if name)]


def _texts(node: Any, key: str) -> Iterator[str]:
    """The texts that fields @key have, of all tables in @node."""
    if isinstance(node, dict):
        if isinstance(text := node.get(key), str):
            yield text
        for value in node.values():
            yield from _texts(value, key)
    elif isinstance(node, list):
        for value in node:
            yield from _texts(value, key)
