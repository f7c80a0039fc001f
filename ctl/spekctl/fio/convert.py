# SPDX-License-Identifier: GPL-2.0-or-later
"""All jobs of a file as one workload, and a report of where each option went."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spekctl import recorded
from spekctl.errors import UsageError
from spekctl.fio import job as fio_job
from spekctl.fio import jobfile
from spekctl.fio.job import Plan
from spekctl.suggest import did_you_mean
from spekctl.workload import file as workloads
from spekctl.workload.model import WorkloadFile
from spekctl.workload.values import ARRIVALS_MAX, NAME_LEN_MAX, STREAMS_MAX


@dataclass(slots=True)
class Imported:
    """A workload, and what a user has to know about its making."""

    workload: WorkloadFile
    command_line: list[str] = field(default_factory=list)
    mapped: dict[str, str] = field(default_factory=dict)
    not_needed: dict[str, str] = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)


def load(path: Path, sections: Sequence[str] = (), accept_direct: bool = False) -> Imported:
    """Import the jobs of a file, or those of @sections. UsageError names all options that are
    refused."""
    jobs = jobfile.read(path)
    names = [one.name for one in jobs]
    for section in sections:
        if section not in names:
            hint = did_you_mean(section, names) or "; the jobs are " + ", ".join(names)
            raise UsageError(f"there is no job '{section}' in {path}{hint}")
    jobs = [one for one in jobs if not sections or one.name in sections]
    found = [
        f"[{one.name}] {text}" for one in jobs for text in fio_job.refusals(one, accept_direct)
    ]
    for one in jobs[1:]:
        for name in ("stonewall", "wait_for"):
            if one.options.get(name, "0") != "0":
                found.append(
                    f"[{one.name}] {name}: all jobs start together; import them one by one with"
                    " --section"
                )
    if found:
        raise UsageError(f"{recorded.text(str(path))} is not imported: " + "; ".join(found))
    plans = []
    for one in jobs:
        try:
            plans.append(fio_job.plan_of(one))
        except UsageError as error:
            raise UsageError(
                f"{recorded.text(str(path))} is not imported: [{one.name}] {error.message}"
            ) from error
    try:
        return _together(path, [one.name for one in jobs], plans)
    except UsageError as error:
        raise UsageError(f"{recorded.text(str(path))} is not imported: {error.message}") from error


def _together(path: Path, names: Sequence[str], plans: Sequence[Plan]) -> Imported:
    if len(plans) > ARRIVALS_MAX:
        raise UsageError(f"it has {len(plans)} jobs; at most {ARRIVALS_MAX} are allowed")
    count = sum(len(one.streams) for one in plans)
    if count > STREAMS_MAX:
        raise UsageError(f"its jobs need {count} streams; at most {STREAMS_MAX} are allowed")
    devices = list(dict.fromkeys(file for one in plans for file in one.files))
    if len(devices) > 1:
        raise UsageError(
            f"it has several devices ({', '.join(devices)}), which spek would stripe over; import"
            " jobs one by one with --section"
        )
    data: dict[str, Any] = {
        "workload": {
            "name": _word(path.stem, set()),
            "summary": f"Imported from fio's {_one_line(path.name)}",
        },
        "run": _run(plans),
        "arrival": [],
        "stream": [],
    }
    arrivals: set[str] = set()
    streams: set[str] = set()
    for name, plan in zip(names, plans, strict=True):
        arrival = _word(name, arrivals)
        data["arrival"].append({"name": arrival, **plan.arrival})
        for stream in plan.streams:
            data["stream"].append({"name": _word(name, streams), "arrival": arrival, **stream})
    found = Imported(workloads.check(data))
    found.command_line = [f"--device {one}" for one in devices]
    for plan in plans:
        found.command_line += [one for one in plan.command_line if one not in found.command_line]
        found.mapped |= plan.mapped
        found.not_needed |= plan.not_needed
        found.differences += [one for one in plan.differences if one not in found.differences]
    return found


def _run(plans: Sequence[Plan]) -> dict[str, Any]:
    """The [run] table, which all jobs share."""
    found: dict[str, Any] = {}
    for key in ("time", "ramp", "batch", "data"):
        given = list(dict.fromkeys(str(one.run.get(key, "none")) for one in plans))
        if len(given) > 1:
            raise UsageError(
                f"its jobs have different values for {key} of the run ({', '.join(given)}); import"
                " them one by one with --section"
            )
        if key in plans[0].run:
            found[key] = plans[0].run[key]
    amounts = [one.amount for one in plans]
    if "time" not in found and all(amounts):
        if len(plans) > 1:
            raise UsageError("several jobs that end by their size need a runtime")
        found["count"] = amounts[0]
    return found


def _word(text: str, taken: set[str]) -> str:
    """A name of a workload, other than those in @taken, to which it is added."""
    word = re.sub(r"[^A-Za-z0-9._-]", "-", text).lstrip("._-")[:NAME_LEN_MAX] or "job"
    name, count = word, 1
    while name in taken:
        count += 1
        tail = f".{count}"
        name = word[: NAME_LEN_MAX - len(tail)] + tail
    taken.add(name)
    return name


def _one_line(text: str) -> str:
    return "".join(one if one.isprintable() else "?" for one in recorded.text(text))
