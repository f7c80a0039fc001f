# SPDX-License-Identifier: GPL-2.0-or-later
"""What a job of fio becomes, and its options while they are taken one by one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from spekctl.errors import UsageError, at
from spekctl.fio import values
from spekctl.fio.jobfile import Job

T = TypeVar("T")
Mix = list[tuple[int, int]]  # block sizes in bytes, with weights


@dataclass(frozen=True, slots=True)
class Asked:
    """The load that the command which runs the jobs sets."""

    workers: int = 1  # the most, for a sweep over workers
    load: bool = False  # it sets the depth or the rate, which only a single process has


UNASKED = Asked()


@dataclass(slots=True)
class Plan:
    """A job as parts of a workload."""

    # The key "arrival" of a stream is the place of its process in arrivals; absent: the first.
    streams: list[dict[str, Any]] = field(default_factory=list)
    arrivals: list[dict[str, Any]] = field(default_factory=list)
    run: dict[str, Any] = field(default_factory=dict)
    command_line: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    delay_ns: int = 0
    apart: bool = False  # each clone has an arrival process of its own
    # One of them, unless it ends by time; of each clone, if these are apart.
    amount: int | None = None  # I/Os after which fio ends the job
    passes: int | float | None = None  # of its range, where that depends on the device
    exits: str = ""  # with exitall: group, stonewall or all
    group: int = 0  # of fio's reports
    flow: int = 0  # weight of all clones
    flow_id: int = 0
    verifies: bool = False  # what it reads, or has written
    mapped: dict[str, str] = field(default_factory=dict)
    not_needed: dict[str, str] = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)

    @property
    def writes(self) -> bool:
        """Whether some of its I/Os change data."""
        return any(stream.get("read") != "100%" for stream in self.streams)

    def differs(self, text: str) -> None:
        """Note a difference, once."""
        if text not in self.differences:
            self.differences.append(text)


class Reader:
    """The options of a job, taken one by one; a complaint names the option."""

    def __init__(self, job: Job, plan: Plan) -> None:
        self._options = job.options
        self._plan = plan

    @property
    def all(self) -> Mapping[str, str | None]:
        """Every option that is given, in the order of the file."""
        return self._options

    def text(self, name: str) -> str | None:
        """The value of an option; None if it is not given."""
        if name not in self._options:
            return None
        value = self._options[name]
        if value is None or value == "":
            raise UsageError(f"{name} has no value")
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        """A boolean."""
        if name not in self._options:
            return default
        return bool(self.named(name, lambda: values.flag(self._options[name])))

    def value(self, name: str, parse: Any, *more: Any) -> Any:
        """The value of an option, parsed; None if it is not given."""
        text = self.text(name)
        return None if text is None else self.named(name, lambda: parse(text, *more))

    def nonzero(self, name: str, unit: str = "") -> bool:
        """True if the values of an option, by direction and in a @unit of one letter, are not all 0
        or missing."""
        return bool((self.text(name) or "").strip("0, " + unit))

    def last(self, names: Collection[str]) -> str | None:
        """The option of @names that was given last and counts; None without any."""
        return next((option for option in reversed(self._options) if option in names), None)

    def went(self, name: str, where: str) -> None:
        """Note where an option went, if it was given."""
        if name in self._options:
            self._plan.mapped[name] = where

    def given(self, name: str) -> bool:
        """True for an option that is given, with a value or without."""
        return name in self._options

    @staticmethod
    def named(name: str, parse: Callable[[], T]) -> T:
        """What @parse returns; its complaint names the option."""
        with at(name):
            return parse()
