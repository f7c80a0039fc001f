# SPDX-License-Identifier: GPL-2.0-or-later
"""All jobs of a file as one workload, and a report of where each option went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from spekctl import recorded, units
from spekctl.errors import UsageError, at
from spekctl.fio import commandline, ends, jobfile, values
from spekctl.fio import job as fio_job
from spekctl.fio.phases import in_phases
from spekctl.fio.plan import Plan
from spekctl.suggest import did_you_mean
from spekctl.workload import file as workloads
from spekctl.workload.imported import Imported, word
from spekctl.workload.values import ARRIVALS_MAX, DATA_KEYS, DEPTH_MAX, STREAMS_MAX

BATCHES = "batches are as large as the smallest of its jobs; fio has a size for each"
SUM = (
    "the run ends after as many I/Os as all its jobs have together; fio ends each job after its own"
)


@dataclass(frozen=True, slots=True)
class _Job:
    name: str
    plan: Plan
    source: jobfile.Job


@dataclass(slots=True)
class _Step:
    """Jobs that start together; @awaited: the job whose end they start at, if it is that of one."""

    jobs: list[_Job] = field(default_factory=list)
    awaited: str | None = None


def load(path: Path, sections: Sequence[str] = (), accept_direct: bool = False) -> Imported:
    """Import the jobs of a file, or those of @sections, which have to start together. UsageError
    names all options that are refused."""
    steps = load_steps(path, sections, accept_direct)
    if len(steps) > 1:
        how = (
            "on devices of their own" if any(one.beside for one in steps) else "one after the other"
        )
        raise UsageError(
            f"the jobs of {recorded.text(str(path))} run in {len(steps)} steps, {how}: import each"
            " as a workload of its own (spekctl fio -o FILE), or name the job (--section,"
            " fio:FILE#JOB)"
        )
    return steps[0]


def load_steps(
    path: Path, sections: Sequence[str] = (), accept_direct: bool = False
) -> list[Imported]:
    """A workload for each group of jobs that run together, in the order in which fio runs them;
    one for the jobs of each device, where jobs that start together have devices of their own."""
    name = recorded.text(str(path))
    return _steps(jobfile.read(path), (name, path.stem, path.name), sections, accept_direct)


def command_line_steps(
    words: Sequence[str], sections: Sequence[str] = (), accept_direct: bool = False
) -> list[Imported]:
    """As load_steps(), for the jobs of a command line of fio."""
    given = commandline.read(words)
    called = ("the command line", given.jobs[0].name, "command line")
    found = _steps(given.jobs, called, [*sections, *given.sections], accept_direct)
    for one in found:
        one.not_needed |= given.not_needed
    return found


def _steps(
    jobs: Sequence[jobfile.Job],
    called: tuple[str, str, str],
    sections: Sequence[str],
    accept_direct: bool,
) -> list[Imported]:
    """@called: what the jobs are from, in a sentence, as a name and of fio."""
    label, title_of_all, file = called
    names = [one.name for one in jobs]
    for section in sections:
        if section not in names:
            hint = did_you_mean(section, names) or "; the jobs are " + ", ".join(names)
            raise UsageError(f"there is no job '{section}' in {label}{hint}")
    jobs = [one for one in jobs if not sections or one.name in sections]
    found = [
        f"[{one.name}] {text}" for one in jobs for text in fio_job.refusals(one, accept_direct)
    ]
    if found:
        raise UsageError(f"{label} is not imported: " + "; ".join(found))
    steps = [_Step()]
    for one in jobs:
        try:
            if _waits(one, steps, names):
                alone = "stonewall" not in one.options
                steps.append(_Step(awaited=one.options.get("wait_for") if alone else None))
            plan = fio_job.plan_of(one)
        except UsageError as error:
            raise UsageError(f"{label} is not imported: [{one.name}] {error.message}") from error
        steps[-1].jobs.append(_Job(one.options.get("name") or one.name, plan, one))
    for step in steps:
        _share_streams(step)
    try:
        _check_reads(steps)
        for step in steps:
            _check_exit([one.plan for one in step.jobs])
    except UsageError as error:
        raise UsageError(f"{label} is not imported: {error.message}") from error
    parts: list[tuple[Sequence[_Job], bool]] = []
    for step in steps:
        groups = _by_device(step.jobs)
        if len(groups) > 1:
            parts += [(group, place > 0) for place, group in enumerate(groups)]
            continue
        try:
            phases = in_phases([one.plan for one in step.jobs])
        except UsageError as error:
            raise UsageError(f"{label} is not imported: {error.message}") from error
        parts += [
            ([replace(step.jobs[place], plan=plan) for place, plan in phase], False)
            for phase in phases
        ]
    made = []
    for number, (part, beside) in enumerate(parts, start=1):
        title = title_of_all if len(parts) == 1 else f"{title_of_all}.{number}"
        # The name that is given is the one that readers of a result look for.
        if len(part) == 1 and part[0].source.options.get("name"):
            title = part[0].name
        try:
            made.append(_together(title, file, part))
        except UsageError as error:
            raise UsageError(f"{label} is not imported: {error.message}") from error
        made[-1].beside = beside
    return made


def _share_streams(step: _Step) -> None:
    """Give each of the jobs that start together its part of the streams, if they need more than
    there can be."""
    needs = [len(one.plan.streams) for one in step.jobs]
    while sum(needs) > STREAMS_MAX and max(needs) > 1:
        # The largest first: jobs that have few clones keep them.
        place = needs.index(max(needs))
        needs[place] -= max(1, min(needs[place] // 2, sum(needs) - STREAMS_MAX))
    for place, (job, most) in enumerate(zip(step.jobs, needs, strict=True)):
        if most < len(job.plan.streams):
            step.jobs[place] = replace(job, plan=fio_job.plan_of(job.source, most))


def _by_device(jobs: Sequence[_Job]) -> list[list[_Job]]:
    """Jobs that start together, those of the same devices in one list; all in one if some devices
    are those of jobs with others as well."""
    found: dict[tuple[str, ...], list[_Job]] = {}
    for one in jobs:
        found.setdefault(tuple(one.plan.files), []).append(one)
    devices = [device for files in found for device in files]
    apart = all(found) and len(set(devices)) == len(devices)
    return list(found.values()) if apart else [list(jobs)]


def _waits(job: jobfile.Job, steps: Sequence[_Step], names: Sequence[str]) -> bool:
    """True if a job starts after those of the last step."""
    awaited = job.options.get("wait_for")
    if awaited is not None and awaited not in names[: names.index(job.name)]:
        raise UsageError(f"wait_for: there is no job '{awaited}' before it")
    with at("stonewall"):
        after_all = "stonewall" in job.options and values.flag(job.options["stonewall"])
    before = [one.name for one in steps[-1].jobs]
    if not before or after_all:
        return bool(before)
    if awaited in before:
        _check_wait(awaited, steps[-1])
        return True
    if steps[-1].awaited not in (None, awaited):
        raise UsageError(
            f"wait_for: it starts before [{before[0]}], which waits for"
            f" [{steps[-1].awaited}], and runs beside that; import jobs one by one with --section"
        )
    return False


def _check_wait(awaited: str, step: _Step) -> None:
    """A step begins when all jobs of the one before have ended: refuse to wait for one of them,
    unless all end at one time."""
    ends = {
        (one.plan.delay_ns, one.plan.run.get("time"), one.plan.run.get("ramp")) for one in step.jobs
    }
    by_time = all("time" in one.plan.run for one in step.jobs)
    beside = [one.name for one in step.jobs if one.name != awaited]
    if beside and not (len(ends) == 1 and by_time):
        raise UsageError(
            f"wait_for: it starts when [{awaited}] has ended, whatever [{beside[0]}] does, and a"
            " step begins when all jobs of the one before have ended; import jobs one by one with"
            " --section"
        )


def _check_reads(steps: Sequence[_Step]) -> None:
    """Refuse to check what another step has written: a run knows only its own blocks."""
    written: list[tuple[tuple[int, int], _Job]] = []
    for number, step in enumerate(steps):
        for one in sorted(step.jobs, key=lambda job: job.plan.delay_ns):
            place = (number, one.plan.delay_ns)
            if one.plan.verifies and one.plan.writes:
                written.append((place, one))
            elif one.plan.verifies:
                for before, writer in written:
                    apart = {*one.plan.files}.isdisjoint(writer.plan.files)
                    alone = one.plan.files and writer.plan.files and apart
                    if before < place and not alone:
                        checked = "--verify" in writer.plan.command_line
                        raise UsageError(
                            f"[{one.name}] verify: it checks what [{writer.name}] wrote, and a run"
                            f" checks what it has written itself: leave [{one.name}] out"
                            + (", as" if checked else " and do_verify=0 as well, so that")
                            + f" [{writer.name}] reads everything back at its end"
                        )


def _check_exit(plans: Sequence[Plan]) -> None:
    """Refuse exitall where it is not known which of the jobs is the first to end."""
    if not any("exitall" in one.not_needed for one in plans):
        return
    by_size = [one for one in plans if "time" not in one.run]
    kinds = {repr((one.streams, one.arrivals, one.delay_ns)) for one in plans}
    if by_size and len(kinds) > 1:
        raise UsageError(
            "exitall: the first of its jobs that has covered its size ends all others, and which"
            " that is depends on the device; give all of them a runtime"
        )


def _together(title: str, file: str, jobs: Sequence[_Job]) -> Imported:
    plans = [one.plan for one in jobs]
    processes = sum(len(one.arrivals) for one in plans)
    if processes > ARRIVALS_MAX:
        raise UsageError(
            f"its jobs need {processes} arrival processes, one for each job and for each direction"
            f" with a rate; at most {ARRIVALS_MAX} are allowed: import them with --section"
        )
    count = sum(len(one.streams) for one in plans)
    if count > STREAMS_MAX:
        raise UsageError(
            f"its jobs need {count} streams; at most {STREAMS_MAX} are allowed: import them with"
            " --section"
        )
    depth = sum(arrival.get("depth", 0) for one in plans for arrival in one.arrivals)
    if depth > DEPTH_MAX:
        raise UsageError(
            f"iodepth, numjobs: its jobs have {depth} I/Os outstanding; at most {DEPTH_MAX} are"
            " allowed"
        )
    _check_run_options(plans)
    # A job that names none is for whatever devices the run is given.
    devices = next((one.files for one in plans if one.files), [])
    if any(one.files not in ([], devices) for one in plans):
        listed = dict.fromkeys(file for one in plans for file in one.files)
        raise UsageError(
            f"filename: its jobs have different devices ({', '.join(listed)}), and streams of"
            " one run share theirs; import jobs one by one with --section"
        )
    delays = {one.delay_ns for one in plans}
    if len(delays) > 1:
        raise UsageError(
            "startdelay: its jobs start at different times, and streams of one run start together;"
            " import jobs one by one with --section"
        )
    data: dict[str, Any] = {
        "workload": {
            "name": word(title, set()),
            "summary": f"Imported from fio's {_one_line(file)}",
        },
        "run": _run(plans),
        "arrival": [],
        "stream": [],
    }
    arrivals: set[str] = set()
    streams: set[str] = set()
    for job in jobs:
        plan = job.plan
        called = [word(job.name, arrivals) for _ in plan.arrivals]
        data["arrival"] += [
            {"name": one, **arrival} for one, arrival in zip(called, plan.arrivals, strict=True)
        ]
        for stream in plan.streams:
            made = {"name": word(job.name, streams), **stream}
            made["arrival"] = called[stream.get("arrival", 0)]
            data["stream"].append(made)
    _name_asus(data)
    found = Imported(workloads.check(data), "fio")
    found.command_line = [f"--device {one}" for one in devices]
    for delay in delays - {0}:
        found.command_line.append(f"--start-at +{units.format_duration(delay)}")
    for plan in plans:
        found.command_line += [one for one in plan.command_line if one not in found.command_line]
        found.mapped |= plan.mapped
        found.not_needed |= plan.not_needed
        found.differences += [one for one in plan.differences if one not in found.differences]
    return found


# What a job says and a run has once, and the options of fio that say it.
_OF_RUN = {
    "--cpus": ("cpus_allowed", "cpumask", "numa_cpu_nodes"),
    "--polled": ("hipri",),
    "--until": ("steadystate",),
    "--stop-when": ("max_latency", "rate_min", "rate_iops_min"),
    "--interval": ("rate_cycle", "steadystate"),
}
TOLERANT = "continue_on_error: errors are counted and end none of the jobs, as some have it"
ONE_SEED = "randseed: a run has one seed, that of the first job that has one"


def _check_run_options(plans: Sequence[Plan]) -> None:
    """Refuse what one of several jobs says, and would be said of all of them. Of their seeds the
    first is taken: whatever it is, each stream has numbers of its own."""
    if len(plans) == 1:
        return
    for option, names in _OF_RUN.items():
        given = [[one for one in plan.command_line if one.split()[0] == option] for plan in plans]
        # A rate of all I/Os says nothing about those of one job.
        of_sum = any("<" in one for some in given for one in some) and option == "--stop-when"
        if of_sum or any(some != given[0] for some in given):
            named = [one for one in names if any(one in plan.mapped for plan in plans)]
            name = named[-1 if of_sum else 0]
            raise UsageError(
                f"{name}: it is of one job, and {option} is of the whole run; import the jobs one"
                " by one with --section"
            )
    if len({"--max-errors 1" in plan.command_line for plan in plans}) > 1:
        plans[0].differs(TOLERANT)
        for plan in plans:
            plan.command_line = [one for one in plan.command_line if one != "--max-errors 1"]
    seeds = [[one for one in plan.command_line if one.startswith("--seed")] for plan in plans]
    first = next((some for some in seeds if some), [])
    if any(some != first for some in seeds):
        plans[0].differs(ONE_SEED)
    for plan in plans:
        plan.command_line = [one for one in plan.command_line if not one.startswith("--seed")]
    plans[0].command_line += first


def _name_asus(data: dict[str, Any]) -> None:
    """Make a table of the range of zones, if there is one, and one of all for other streams."""
    pointers = [one for one in data["stream"] if one.get("pattern") == "write-pointer"]
    ranges = {tuple(one.get("asu", {}).values()) for one in pointers}
    if len(ranges) > 1:
        raise UsageError(
            "zonemode: its jobs have different ranges of zones, and each zone has one write"
            " pointer; import jobs one by one with --section"
        )
    if not pointers or () in ranges:
        return
    data["asu"] = [{"name": "zones", **pointers[0]["asu"]}, {"name": "all", "start": 0}]
    for one in data["stream"]:
        one["asu"] = "zones" if one in pointers else "all"
    if len(pointers) == len(data["stream"]):
        del data["asu"][1]


def _run(plans: Sequence[Plan]) -> dict[str, Any]:
    """The [run] table, which all jobs share."""
    _agree_on_data(plans)
    found: dict[str, Any] = {}
    if any("batch" in one.run for one in plans):
        batches = {one.run.get("batch", 1) for one in plans}
        found["batch"] = min(batches)
        if len(batches) > 1:
            plans[0].differs(BATCHES)
    for key, option in (("time", "runtime"), ("ramp", "ramp_time"), ("data", "zero_buffers")):
        given = list(dict.fromkeys(str(one.run.get(key, "none")) for one in plans))
        if len(given) > 1:
            raise UsageError(
                f"{option}: its jobs have different values for {key} of the run"
                f" ({', '.join(given)}); import them one by one with --section"
            )
        if key in plans[0].run:
            found[key] = plans[0].run[key]
    if "time" not in found or len(plans) == 1:
        found |= _end(plans)
        if len(plans) > 1:
            plans[0].differs(SUM)
    elif any(one.amount or one.passes for one in plans):
        plans[0].differs(ends.ENDS)
    return found


def _end(plans: Sequence[Plan]) -> dict[str, Any]:
    """The end of jobs that end by their sizes, as a count or as passes."""
    if all(one.amount for one in plans):
        return {"count": sum(one.amount or 0 for one in plans)}
    passes = {one.passes for one in plans}
    if len(passes) > 1:
        raise UsageError(
            "size: its jobs end after different parts of the device, and a run has one end; import"
            " jobs one by one with --section"
        )
    (number,) = passes
    return {} if number is None else {"passes": number}


def _agree_on_data(plans: Sequence[Plan]) -> None:
    """Where some jobs write zeroes and others do not, streams say so."""
    data = {one.run["data"] for one in plans if one.writes}
    for plan in plans:
        if len(data) == 1:
            (plan.run["data"],) = data
        elif data and plan.run["data"] == "zero":
            plan.run["data"] = "random"
            for stream in plan.streams:
                if stream.get("read", "100%") != "100%" and not stream.keys() & set(DATA_KEYS):
                    stream["compressible"] = "100%"


def _one_line(text: str) -> str:
    return "".join(one if one.isprintable() else "?" for one in recorded.text(text))
