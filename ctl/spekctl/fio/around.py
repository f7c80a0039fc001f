# SPDX-License-Identifier: GPL-2.0-or-later
"""What fio does beside the I/Os of a job, and a run does not."""

from __future__ import annotations

from collections.abc import Sequence

from spekctl.fio import values
from spekctl.fio.jobfile import Job
from spekctl.fio.plan import Plan, Reader

TEXTS = {
    "exec_prerun": "its command is not run; run it before the load",
    "exec_postrun": "its command is not run; run it after the load",
    "ioscheduler": "the device keeps its scheduler; write this one to its queue/scheduler first",
}
PRE_READ = "nothing is read before the load; with pre_read fio reads all of it into the page cache"
BACKLOG = (
    "verify_backlog: written blocks are checked at the end, and where the job reads them; fio also"
    " reads them back between its writes"
)
POLLED = "hipri_percentage: all I/Os are polled; fio polls that share of them"
LISTED = "ignore_error: all errors are counted; fio ends at any but those of the list"
SAME_DATA = (
    "scramble_buffers=0: each block has random data of its own; fio writes the same {} again"
)
APART = (
    "write each step to a file (spekctl fio -o FILE), and do that between the runs of these files"
)

# A job, as the file and as the part of it that runs.
_Part = tuple[Job, Plan]


def between(groups: Sequence[Sequence[_Part]]) -> str:
    """What has to be done between @groups, each of which starts when the one before has ended: a
    sentence, or nothing. A job that runs in several of them needs its command before the first one
    only, and the command that follows it after the last one only."""
    running: dict[int, list[int]] = {}
    for number, group in enumerate(groups):
        for job, _ in group:
            running.setdefault(id(job), []).append(number)
    named: dict[str, list[str]] = {}
    before = {
        device: job.options["ioscheduler"]
        for job, plan in (groups[0] if groups else ())
        if "ioscheduler" in job.options
        for device in plan.files or [""]
    }
    for number, group in enumerate(groups):
        for job, plan in group:
            first, last = running[id(job)][0], running[id(job)][-1]
            schedulers = {before.get(device) for device in plan.files or [""]}
            for name, is_here, is_between in (
                ("exec_prerun", number == first, number > 0),
                ("exec_postrun", number == last, number < len(groups) - 1),
                (
                    "ioscheduler",
                    number == first,
                    number > 0 and schedulers != {job.options.get("ioscheduler")},
                ),
            ):
                if name not in job.options:
                    continue
                if is_here and is_between:
                    named.setdefault(name, []).append(f"[{job.name}]")
                elif not is_here and (text := difference(name)) in plan.differences:
                    plan.differences.remove(text)
    if not named:
        return ""
    reasons = [
        f"{', '.join(dict.fromkeys(jobs))} {name}: "
        + (
            "it has to be set between steps"
            if name == "ioscheduler"
            else "its command has to run between steps"
        )
        for name, jobs in named.items()
    ]
    return f"{'; '.join(reasons)}; {APART}"


def difference(name: str) -> str:
    """What is said of an option of TEXTS."""
    return f"{name}: {TEXTS[name]}"


def report(options: Reader, plan: Plan, clones: int) -> None:
    """Report what fio does beside the I/Os of a job, or to them, and a run does not."""
    if options.flag("pre_read"):
        plan.differs(PRE_READ)
    if options.given("ignore_error") and (options.text("continue_on_error") or "none") == "none":
        plan.differs(LISTED)
    share = options.value("hipri_percentage", values.percent)
    if share is not None and share < 100 and "--polled" in plan.command_line:
        plan.differs(POLLED)
    if "--verify" in plan.command_line and options.value("verify_backlog", values.whole):
        plan.differs(BACKLOG)
    filled = ("refill_buffers", "zero_buffers", "scramble_buffers")
    data = {"compressible", "duplicate", "fill"}
    writes = any(stream.get("read", "100%") != "100%" for stream in plan.streams)
    own = any(data & stream.keys() for stream in plan.streams)
    stamped = (options.text("verify") or "0") not in ("0", "null")
    if not options.given("scramble_buffers") or any(options.flag(name) for name in filled):
        return
    if writes and not own and not stamped:
        depth = (options.value("iodepth", values.positive) or 1) * clones
        plan.differs(SAME_DATA.format("block" if depth == 1 else f"{depth} blocks"))
