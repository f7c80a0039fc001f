# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run command has to run: one run, or several, one after the other or side by side, which
are the steps of another program's file."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from spekctl.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from spekctl.commands.deliver import Exports
    from spekctl.documents.result import Result
    from spekctl.run.job import Request
    from spekctl.run.start import StartAt
    from spekctl.workload.imported import RateOf
    from spekctl.workload.model import WorkloadFile
    from spekctl.workload.options import Measuring, Options


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of `spekctl run`."""

    load: Options
    devices: tuple[str, ...]
    destroy: tuple[str, ...]
    detach: bool
    measuring: Measuring
    output: Path | None
    exports: Exports
    as_json: bool
    progress: str
    dry_run: bool
    verify_state: Path | None
    state_on: str | None
    state_apart: bool
    start_at: StartAt | None
    taken: tuple[str, ...] = ()  # words of a command line, from the file of another program
    sources: tuple[Path, ...] = ()  # files that the workload may come from


@dataclass(frozen=True, slots=True)
class Part:
    """A run of a command: one of several for a file of several steps.

    @beside: it starts together with the part before it
    @delay_ns: with others beside it, it starts that long after their common start
    @rate_of: its rate, of that of a part before it
    """

    workload: WorkloadFile
    asked: RunOptions
    beside: bool = False
    delay_ns: int = 0
    rate_of: RateOf | None = None


@dataclass(frozen=True, slots=True)
class Planned:
    """A part with its request."""

    part: Part
    request: Request

    @property
    def title(self) -> str:
        """Its workload and devices, for display."""
        from spekctl.run import request as run_request

        return run_request.Subject(self.request.workload, self.request.devices).title


def check(count: int, asked: RunOptions) -> None:
    """Refuse options of a single run."""
    for option, given in (
        ("--detach", asked.detach),
        ("--json", asked.as_json),
        ("--verify-state", asked.verify_state is not None),
        ("--state-on", asked.state_on is not None),
    ):
        if given:
            raise UsageError(
                f"{option} is of one run, and this file has {count} steps, which are as many runs;"
                " name one (fio:FILE#JOB, vdbench:FILE#RUN)"
            )


def of_step(asked: RunOptions, number: int, count: int) -> RunOptions:
    """The options of a step: files of its own."""
    from spekctl.commands.deliver import numbered

    return dataclasses.replace(
        asked,
        output=numbered(asked.output, number, count),
        measuring=dataclasses.replace(
            asked.measuring, log=numbered(asked.measuring.log, number, count)
        ),
    )


def set_aside(steps: Sequence[RunOptions]) -> None:
    """Older results under the names of steps, of which some may not be run; see aside.py."""
    from spekctl import files

    for number, asked in enumerate(steps, start=1):
        for _, path in (("", asked.output), *asked.exports.files(number, len(steps))):
            if path is not None:
                files.set_aside(path)


def at_measured_rates(group: Sequence[Planned], results: Sequence[Result]) -> list[Planned]:
    """Steps that start together, those at a share of the rate of a step before with the rate that
    @results, of all steps before, say. A load of the command line stays. UsageError if the other
    step had no I/O."""
    from spekctl.run import request as run_request

    ready: list[Planned] = []
    for each in group:
        share, load = each.part.rate_of, each.part.asked.load
        of_command = load.rate is not None or load.depth is not None or load.bsu is not None
        if share is not None and len(results) >= share.back and not of_command:
            before = results[-share.back]
            rate = share.of(before.totals.all.iops)
            if not rate:
                raise UsageError(
                    f"{before.workload.workload.name} had no I/Os of which {each.title} could have"
                    " a share"
                )
            click.echo(f"spekctl: taken from the run before: --rate {rate}", err=True)
            each = dataclasses.replace(each, request=run_request.at_rate(each.request, rate))
        ready.append(each)
    return ready
