# SPDX-License-Identifier: GPL-2.0-or-later
"""All jobs of a file as one workload, and a report of where each option went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from spekctl import recorded, units
from spekctl.errors import UsageError, at
from spekctl.fio import around, commandline, ends, exits, flows, jobfile, replay, values, zones
from spekctl.fio import job as fio_job
from spekctl.fio.phases import count_delays, cut, in_phases
from spekctl.fio.plan import UNASKED, Asked, Plan
from spekctl.suggest import did_you_mean
from spekctl.workload import file as workloads
from spekctl.workload.imported import (
    Client,
    Imported,
    device_option,
    devices_of,
    host_names,
    without_devices,
    word,
)
from spekctl.workload.values import ARRIVALS_MAX, DATA_KEYS, DEPTH_MAX, STREAMS_MAX

BATCHES = "batches are as large as the smallest of its jobs; fio has a size for each"
READ_BACK = (
    "its reads are not checked: at its end, the run of [{}] reads back and checks all blocks that"
    " it has written"
)
SUM = (
    "the run ends after the sum of its jobs' I/Os, because a job has a rate for one direction only;"
    " fio ends each job after the job's own I/Os"
)

SEEDS = "each host draws addresses of its own; in fio all hosts draw the same addresses"
SLICES = "a device that several hosts have is split among them; in fio they overwrite each other"


@dataclass(frozen=True, slots=True)
class _Job:
    name: str
    plan: Plan
    source: jobfile.Job
    group: int  # of fio's reports, which exitall ends together
    checked_by: str = ""  # the job that wrote what this one reads, if its own run checks that


@dataclass(slots=True)
class _Step:
    """Jobs that start together; @awaited: the job whose end they start at, if it is that of one."""

    jobs: list[_Job] = field(default_factory=list)
    awaited: str | None = None


def load(
    path: Path,
    sections: Sequence[str] = (),
    accept_direct: bool = False,
    asked: Asked = UNASKED,
) -> Imported:
    """Import the jobs of a file, or those of @sections, which have to start together. UsageError
    names all options that are refused."""
    steps = load_steps(path, sections, accept_direct, asked)
    if len(steps) > 1:
        how = (
            "on devices of their own"
            if any(step.beside for step in steps)
            else "one after the other"
        )
        raise UsageError(
            f"the jobs of {recorded.text(str(path))} run in {len(steps)} steps, {how}: import each"
            " as a workload of its own (spekctl fio -o FILE), or name the job (--section,"
            " fio:FILE#JOB)"
        )
    return steps[0]


def load_steps(
    path: Path,
    sections: Sequence[str] = (),
    accept_direct: bool = False,
    asked: Asked = UNASKED,
) -> list[Imported]:
    """A workload for each group of jobs that run together, in the order in which fio runs them;
    one for the jobs of each device, where jobs that start together have devices of their own."""
    name = recorded.text(str(path))
    called = (name, path.stem, path.name)
    return _steps(jobfile.read(path), called, sections, accept_direct, asked)


def command_line_steps(
    words: Sequence[str],
    sections: Sequence[str] = (),
    accept_direct: bool = False,
    asked: Asked = UNASKED,
) -> list[Imported]:
    """As load_steps(), for the jobs of a command line of fio."""
    hosts, words = commandline.for_clients(words)
    given = commandline.read(words)
    chosen = [*sections, *given.sections]
    first = next((job for job in given.jobs if job.name in chosen), given.jobs[0])
    called = ("the command line", first.name, "command line")
    steps = _steps(given.jobs, called, chosen, accept_direct, asked)
    for step in steps:
        step.not_needed |= given.not_needed
    if hosts:
        for step in steps:
            _on_hosts(step, hosts)
    return steps


def _on_hosts(step: Imported, hosts: Sequence[str]) -> None:
    """Each host runs the whole step, on devices of the same paths."""
    label = "the command line is not imported: --client: "
    if step.beside:
        raise UsageError(
            f"{label}jobs on devices of their own are several workloads, and a fleet runs one: name"
            " the job (--section)"
        )
    for words in step.command_line:
        if words.startswith("--start-at"):
            raise UsageError(f"{label}the hosts of a fleet start together, without a startdelay")
    devices = tuple(devices_of(step.command_line))
    if not devices:
        raise UsageError(f"{label}its jobs name no device (filename)")
    names = host_names(hosts)
    step.clients = [Client(names[host], host, "", devices) for host in hosts]
    step.command_line = [
        words for words in without_devices(step.command_line) if not words.startswith("--seed")
    ]
    step.mapped |= {"client": "host", "filename": "host.devices"}
    step.differences.append(SEEDS)
    if "--verify" in step.command_line:
        step.differences.append(SLICES)


def _steps(
    jobs: Sequence[jobfile.Job],
    called: tuple[str, str, str],
    sections: Sequence[str],
    accept_direct: bool,
    asked: Asked,
) -> list[Imported]:
    """@called: what the jobs are from, in a sentence, as a name and of fio."""
    label, title_of_all, file = called
    names = [job.name for job in jobs]
    for section in sections:
        if section not in names:
            hint = did_you_mean(section, names) or "; the jobs are " + ", ".join(names)
            raise UsageError(f"there is no job '{section}' in {label}{hint}")
    jobs = [job for job in jobs if not sections or job.name in sections]
    reasons: dict[str, list[str]] = {}
    for job in jobs:
        for text in fio_job.refusals(job, accept_direct):
            reasons.setdefault(text, []).append(f"[{job.name}]")
    if reasons:
        raise UsageError(
            f"{label} is not imported: "
            + "; ".join(f"{', '.join(names)} {text}" for text, names in reasons.items())
        )
    steps = [_Step()]
    group = 0
    for job in jobs:
        try:
            group += any(_is_set(job, name) for name in ("stonewall", "new_group"))
            if _waits(job, steps, names):
                alone = "stonewall" not in job.options
                steps.append(_Step(awaited=job.options.get("wait_for") if alone else None))
            plan = fio_job.plan_of(job, asked=asked)
        except UsageError as error:
            raise UsageError(f"{label} is not imported: [{job.name}] {error.message}") from error
        steps[-1].jobs.append(_Job(job.options.get("name") or job.name, plan, job, group))
    try:
        for step in steps:
            _check_replay(step)
    except UsageError as error:
        raise UsageError(f"{label} is not imported: {error.message}") from error
    _read_back(steps)
    for step in steps:
        _share_processes(step)
        _share_streams(step)
    for reader in (member for step in steps for member in step.jobs if member.checked_by):
        reader.plan.differs(READ_BACK.format(reader.checked_by))
        reader.plan.differences.remove(fio_job.UNCHECKED)
    try:
        _set_exits(steps)
        count_delays([[job.plan for job in step.jobs] for step in steps])
        flows.couple([[(job.name, job.plan) for job in step.jobs] for step in steps])
        exits.check([[(job.name, job.plan) for job in step.jobs] for step in steps])
    except UsageError as error:
        raise UsageError(f"{label} is not imported: {error.message}") from error
    parts: list[tuple[Sequence[_Job], bool]] = []
    for step in steps:
        groups = _by_device(step.jobs)
        if len(groups) > 1:
            try:
                cut([job.plan for job in step.jobs])
            except UsageError as error:
                raise UsageError(f"{label} is not imported: {error.message}") from error
            parts += [(group, place > 0) for place, group in enumerate(groups)]
            continue
        try:
            phases = in_phases([job.plan for job in step.jobs])
        except UsageError as error:
            raise UsageError(f"{label} is not imported: {error.message}") from error
        parts += [
            ([replace(step.jobs[place], plan=plan) for place, plan in phase], False)
            for phase in phases
        ]
    between = _between(parts)
    imports = []
    for number, (part, beside) in enumerate(parts, start=1):
        title = title_of_all if len(parts) == 1 else f"{title_of_all}.{number}"
        # The name that is given is the one that readers of a result look for.
        if len(part) == 1 and part[0].source.options.get("name"):
            title = part[0].name
        try:
            imports.append(_together(title, file, part))
        except UsageError as error:
            raise UsageError(f"{label} is not imported: {error.message}") from error
        imports[-1].beside = beside
    if between:
        imports[0].between = f"the steps of {label} are not run by one command: {between}"
    return imports


def _check_replay(step: _Step) -> None:
    """Refuse a job beside one that replays a log."""
    for job in step.jobs:
        if replay.is_replay(job.source.options) and len(step.jobs) > 1:
            beside = next(member.name for member in step.jobs if member is not job)
            raise UsageError(f"[{job.name}] {replay.ALONE.format(beside)}")


def _between(parts: Sequence[tuple[Sequence[_Job], bool]]) -> str:
    """What has to be done between parts that do not start together."""
    groups: list[list[tuple[jobfile.Job, Plan]]] = []
    for jobs, beside in parts:
        if not beside:
            groups.append([])
        groups[-1] += [(job.source, job.plan) for job in jobs]
    return around.between(groups)


def _share_processes(step: _Step) -> None:
    """Give the clones of jobs that start together on the same devices one arrival process, the jobs
    with the most clones first, if they need more processes than there can be."""
    for group in _by_device(step.jobs):
        count = sum(len(job.plan.arrivals) for job in group)
        for job in sorted(group, key=lambda job: -len(job.plan.arrivals)):
            if count > ARRIVALS_MAX and job.plan.apart:
                plan = fio_job.plan_of(job.source, apart=False)
                count -= len(job.plan.arrivals) - len(plan.arrivals)
                step.jobs[step.jobs.index(job)] = replace(job, plan=plan)


def _share_streams(step: _Step) -> None:
    """Give each of the jobs that start together its part of the streams, if they need more than
    there can be."""
    needs = [len(job.plan.streams) for job in step.jobs]
    while sum(needs) > STREAMS_MAX and max(needs) > 1:
        # The largest first: jobs that have few clones keep them.
        place = needs.index(max(needs))
        needs[place] -= max(1, min(needs[place] // 2, sum(needs) - STREAMS_MAX))
    for place, (job, most) in enumerate(zip(step.jobs, needs, strict=True)):
        if most < len(job.plan.streams):
            plan = fio_job.plan_of(job.source, most, job.plan.apart)
            step.jobs[place] = replace(job, plan=plan)


def _by_device(jobs: Sequence[_Job]) -> list[list[_Job]]:
    """Jobs that start together, those of the same devices in one list; all in one if some devices
    are those of jobs with others as well."""
    groups: dict[tuple[str, ...], list[_Job]] = {}
    for job in jobs:
        groups.setdefault(tuple(job.plan.files), []).append(job)
    devices = [device for files in groups for device in files]
    apart = all(groups) and len(set(devices)) == len(devices)
    return list(groups.values()) if apart else [list(jobs)]


def _is_set(job: jobfile.Job, name: str) -> bool:
    """A boolean of a job, off unless it is given."""
    with at(name):
        return name in job.options and values.flag(job.options[name])


def _waits(job: jobfile.Job, steps: Sequence[_Step], names: Sequence[str]) -> bool:
    """True if a job starts after those of the last step."""
    awaited = job.options.get("wait_for")
    if awaited is not None and awaited not in names[: names.index(job.name)]:
        raise UsageError(f"wait_for: there is no job '{awaited}' before it")
    after_all = _is_set(job, "stonewall")
    before = [job.name for job in steps[-1].jobs]
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
    plans = [job.plan for job in step.jobs]
    # Jobs that may end before their time have to do the same.
    early = any(plan.amount or plan.passes for plan in plans)
    ends = {
        repr((plan.delay_ns, plan.run.get("time"), plan.run.get("ramp")))
        + (repr((plan.streams, plan.arrivals, plan.amount, plan.passes)) if early else "")
        for plan in plans
    }
    by_time = all("time" in job.plan.run for job in step.jobs)
    beside = [job.name for job in step.jobs if job.name != awaited]
    if beside and not (len(ends) == 1 and by_time):
        raise UsageError(
            f"wait_for: it starts when [{awaited}] has ended, whatever [{beside[0]}] does, and a"
            " step begins when all jobs of the one before have ended; import jobs one by one with"
            " --section"
        )


def _read_back(steps: Sequence[_Step]) -> None:
    """Have the blocks of a job checked in its own run if a later job checks them: a run knows only
    its own blocks."""
    written: list[tuple[tuple[int, int], _Step, int]] = []
    for number, step in enumerate(steps):
        for index in sorted(range(len(step.jobs)), key=lambda at: step.jobs[at].plan.delay_ns):
            job = step.jobs[index]
            place = (number, job.plan.delay_ns)
            if job.plan.verifies and job.plan.writes:
                written.append((place, step, index))
                continue
            if not job.plan.verifies:
                continue
            for before, wrote, position in written:
                writer = wrote.jobs[position]
                apart = {*job.plan.files}.isdisjoint(writer.plan.files)
                if before < place and not (job.plan.files and writer.plan.files and apart):
                    wrote.jobs[position] = _stamped(writer)
                    step.jobs[index] = replace(job, checked_by=writer.name)


def _stamped(writer: _Job) -> _Job:
    """A job that writes, with the check at its end."""
    if "do_verify" not in writer.source.options:
        return writer
    source = jobfile.Job(writer.source.name, {**writer.source.options, "do_verify": "1"})
    plan = fio_job.plan_of(source, apart=writer.plan.apart)
    return replace(writer, plan=plan, source=source)


def _set_exits(steps: Sequence[_Step]) -> None:
    """Say of each job which others end with it: exitall of one job is that of all."""
    jobs = [job for step in steps for job in step.jobs]
    given = any("exitall" in job.source.options for job in jobs)
    for job in jobs:
        kind = job.source.options.get("exit_what") or exits.KINDS[0]
        if kind not in exits.KINDS:
            raise UsageError(
                f"[{job.name}] exit_what: '{kind}' is not {', '.join(exits.KINDS[:-1])} or"
                f" {exits.KINDS[-1]}"
            )
        job.plan.group = job.group
        if given:
            job.plan.exits = kind
        elif "exit_what" in job.source.options:
            job.plan.not_needed["exit_what"] = exits.USELESS


def _together(title: str, file: str, jobs: Sequence[_Job]) -> Imported:
    plans = [job.plan for job in jobs]
    processes = sum(len(plan.arrivals) for plan in plans)
    if processes > ARRIVALS_MAX:
        raise UsageError(
            f"its jobs need {processes} arrival processes, one for each job and for each direction"
            f" with a rate; at most {ARRIVALS_MAX} are allowed: import them with --section"
        )
    count = sum(len(plan.streams) for plan in plans)
    if count > STREAMS_MAX:
        raise UsageError(
            f"its jobs need {count} streams; at most {STREAMS_MAX} are allowed: import them with"
            " --section"
        )
    depth = sum(arrival.get("depth", 0) for plan in plans for arrival in plan.arrivals)
    if depth > DEPTH_MAX:
        raise UsageError(
            f"iodepth, numjobs: its jobs have {depth} I/Os outstanding; at most {DEPTH_MAX} are"
            " allowed"
        )
    _check_run_options(plans)
    # A job that names none is for whatever devices the run is given.
    devices = next((plan.files for plan in plans if plan.files), [])
    if any(plan.files not in ([], devices) for plan in plans):
        listed = dict.fromkeys(file for plan in plans for file in plan.files)
        raise UsageError(
            f"filename: its jobs have different devices ({', '.join(listed)}), and streams of"
            " one run share theirs; import jobs one by one with --section"
        )
    delays = {plan.delay_ns for plan in plans}
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
    loops: dict[int, list[str]] = {}  # the loop of each flow
    for job in jobs:
        plan = job.plan
        called = [word(job.name, arrivals) for _ in plan.arrivals]
        if plan.flow:
            called = loops.setdefault(plan.flow_id, called)
        data["arrival"] += [
            {"name": arrival_name, **arrival}
            for arrival_name, arrival in zip(called, plan.arrivals, strict=False)
        ]
        for stream in plan.streams:
            named = {"name": word(job.name, streams), **stream}
            if called:
                named["arrival"] = called[stream.get("arrival", 0)]
            data["stream"].append(named)
    _name_asus(data)
    imported = Imported(workloads.check(data), "fio")
    imported.command_line = list(map(device_option, devices))
    for delay in delays - {0}:
        imported.command_line.append(f"--start-at +{units.format_duration(delay)}")
    for plan in plans:
        imported.command_line += [
            option for option in plan.command_line if option not in imported.command_line
        ]
        _add_mapped(imported.mapped, plan.mapped)
        imported.not_needed |= plan.not_needed
        imported.differences += [
            difference for difference in plan.differences if difference not in imported.differences
        ]
    # What one job does not need has an effect on another one.
    imported.not_needed = {
        name: why
        for name, why in imported.not_needed.items()
        if imported.mapped.get(name, "nothing").startswith("nothing")
    }
    return imported


def _add_mapped(mapped: dict[str, str], of_job: dict[str, str]) -> None:
    """Add the fields that the options of a job set. An option may set no field in one job, and
    the same or other fields in the next."""
    for name, place in of_job.items():
        before = mapped.get(name)
        if before is None:
            mapped[name] = place
        elif place.startswith("nothing"):
            continue
        elif before.startswith("nothing"):
            mapped[name] = place
        elif place not in before:
            mapped[name] = f"{before}, {place}"


# What a job says and a run has once, and the options of fio that say it.
_OF_RUN = {
    "--cpus": ("cpus_allowed", "cpumask", "numa_cpu_nodes"),
    "--polled": ("hipri",),
    "--until": ("steadystate",),
    "--stop-when": ("max_latency", "rate_min", "rate_iops_min"),
    "--interval": ("rate_cycle", "steadystate"),
}
TOLERANT = "continue_on_error: errors are counted and end no job, as only some of the jobs have it"
CPUS = (
    "each CPU of the jobs carries an equal part of each job; fio keeps each job on CPUs of its own"
)
ONE_SEED = "randseed: a run has one seed, that of the first job that has one"


def _check_run_options(plans: Sequence[Plan]) -> None:
    """Refuse what one of several jobs says, and would be said of all of them. Of their seeds the
    first is taken: whatever it is, each stream has numbers of its own."""
    if len(plans) == 1:
        return
    _share_cpus(plans)
    for option, names in _OF_RUN.items():
        given = [
            [option_text for option_text in plan.command_line if option_text.split()[0] == option]
            for plan in plans
        ]
        # A rate of all I/Os says nothing about those of one job.
        of_sum = (
            any("<" in option_text for texts in given for option_text in texts)
            and option == "--stop-when"
        )
        if of_sum or any(texts != given[0] for texts in given):
            named = [name for name in names if any(name in plan.mapped for plan in plans)]
            name = named[-1 if of_sum else 0]
            raise UsageError(
                f"{name}: it is of one job, and {option} is of the whole run; import the jobs one"
                " by one with --section"
            )
    if len({"--max-errors 1" in plan.command_line for plan in plans}) > 1:
        plans[0].differs(TOLERANT)
        for plan in plans:
            plan.command_line = [text for text in plan.command_line if text != "--max-errors 1"]
    seeds = [[text for text in plan.command_line if text.startswith("--seed")] for plan in plans]
    first = next((texts for texts in seeds if texts), [])
    if any(texts != first for texts in seeds):
        plans[0].differs(ONE_SEED)
    for plan in plans:
        plan.command_line = [text for text in plan.command_line if not text.startswith("--seed")]
    plans[0].command_line += first


def _share_cpus(plans: Sequence[Plan]) -> None:
    """Give equal random jobs, each with the same number of CPUs, the CPUs of all, if each CPU gets
    a part of each job: a CPU then has the same load as in fio."""
    texts = [next((text for text in plan.command_line if _is_cpus(text)), "") for plan in plans]
    if not all(texts) or any("$" in text for text in texts) or len(set(texts)) == 1:
        return
    lists = [units.parse_cpu_list(text.split()[1]) for text in texts]
    together = sorted({cpu for cpus in lists for cpu in cpus})
    of_each = {len(cpus) for cpus in lists}
    if len(of_each) > 1 or len(together) < sum(map(len, lists)):
        return
    equal = len({_but_places(plan) for plan in plans}) == 1
    spread = all(
        "pause" not in arrival and arrival.get("depth", len(together)) >= len(together)
        for arrival in plans[0].arrivals
    )
    # A worker has a part of the range of a sequential stream, and passes end with all parts.
    in_order = any(
        stream.get("pattern") in ("sequential", "backward", "strided")
        for plan in plans
        for stream in plan.streams
    )
    if not equal or not spread or in_order or plans[0].passes:
        return
    for plan in plans:
        plan.command_line = [text for text in plan.command_line if not _is_cpus(text)]
        plan.command_line.append(f"--cpus {units.format_cpu_list(together)}")
        plan.differs(CPUS)


def _but_places(plan: Plan) -> str:
    """What a job does, except for where its I/Os start."""
    streams = [{**stream, "start": 0} for stream in plan.streams]
    return repr((streams, plan.arrivals, plan.amount, plan.passes, plan.run))


def _is_cpus(text: str) -> bool:
    return text.split()[0] == "--cpus"


def _name_asus(data: dict[str, Any]) -> None:
    """Make a table of each range of zones, if there is one, and one of all for other streams."""
    pointers = [stream for stream in data["stream"] if stream.get("pattern") == "write-pointer"]
    ranges = [pointer.get("asu", {}) for pointer in pointers]
    distinct = [place for number, place in enumerate(ranges) if place not in ranges[:number]]
    if len(distinct) > 1 and not zones.are_apart(distinct):
        raise UsageError(
            "zonemode: its jobs have ranges of zones that differ and overlap, and each zone has one"
            " write pointer; import jobs one by one with --section"
        )
    if not pointers or {} in distinct:
        return
    taken = set[str]()
    named = [(word("zones", taken), place) for place in distinct]
    data["asu"] = [{"name": name, **place} for name, place in named]
    if len(pointers) < len(data["stream"]):
        data["asu"].append({"name": "all", "start": 0})
    for stream in data["stream"]:
        place = stream.get("asu")
        stream["asu"] = next((name for name, known in named if known == place), "all")


def _run(plans: Sequence[Plan]) -> dict[str, Any]:
    """The [run] table, which all jobs share."""
    _agree_on_data(plans)
    fields: dict[str, Any] = {}
    if any("batch" in plan.run for plan in plans):
        batches = {plan.run.get("batch", 1) for plan in plans}
        fields["batch"] = min(batches)
        if len(batches) > 1:
            plans[0].differs(BATCHES)
    for key, option in (("time", "runtime"), ("ramp", "ramp_time"), ("data", "zero_buffers")):
        given = list(dict.fromkeys(str(plan.run.get(key, "none")) for plan in plans))
        if len(given) > 1:
            raise UsageError(
                f"{option}: its jobs have different values for {key} of the run"
                f" ({', '.join(given)}); import them one by one with --section"
            )
        if key in plans[0].run:
            fields[key] = plans[0].run[key]
    if _end_apart(plans, "time" in fields):
        return fields
    try:
        end = _end(plans)
    except UsageError:
        # Beside a time they need no common end.
        if "time" not in fields:
            raise
        end = {}
    if len(plans) > 1 and ("time" not in fields or end):
        plans[0].differs(SUM)
    elif not end and any(plan.amount or plan.passes for plan in plans):
        plans[0].differs(ends.ENDS)
    return fields | end


def _end_apart(plans: Sequence[Plan], by_time: bool) -> bool:
    """Give each job an end of its own: an end for its arrival process, or for each process of its
    clones or directions. False if that is not possible: there is a single process, only one
    direction of a job has a rate, or no job has an end."""
    ending = [plan for plan in plans if plan.amount or plan.passes]
    if len(plans) == 1 and not plans[0].apart:
        return False
    if not ending or (len(ending) < len(plans) and not by_time):
        return False
    if any(len(plan.arrivals) > 1 and not (plan.apart or ends.rates_of(plan)) for plan in ending):
        return False
    for plan in ending:
        key = "count" if plan.amount else "passes"
        for arrival, number in zip(plan.arrivals, ends.of_processes(plan), strict=True):
            arrival[key] = number
        for option, goes_to in plan.mapped.items():
            if goes_to == f"run.{key}":
                plan.mapped[option] = f"arrival.{key}"
    return True


def _end(plans: Sequence[Plan]) -> dict[str, Any]:
    """The end of jobs that end by their sizes, as a count or as passes."""
    if all(plan.amount for plan in plans):
        return {
            "count": sum(
                (plan.amount or 0) * (len(plan.arrivals) if plan.apart else 1) for plan in plans
            )
        }
    passes = {plan.passes for plan in plans}
    if len(passes) > 1:
        raise UsageError(
            "size: its jobs end after different parts of the device, and not each of them has an"
            " arrival process with an end of its own; import jobs one by one with --section"
        )
    (number,) = passes
    return {} if number is None else {"passes": number}


def _agree_on_data(plans: Sequence[Plan]) -> None:
    """Where some jobs write zeroes and others do not, streams say so."""
    data = {plan.run["data"] for plan in plans if plan.writes}
    for plan in plans:
        if len(data) == 1:
            (plan.run["data"],) = data
        elif data and plan.run["data"] == "zero":
            plan.run["data"] = "random"
            for stream in plan.streams:
                if stream.get("read", "100%") != "100%" and not stream.keys() & set(DATA_KEYS):
                    stream["compressible"] = "100%"


def _one_line(text: str) -> str:
    return "".join(
        character if character.isprintable() else "?" for character in recorded.text(text)
    )
