# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds the options of a plan to the limits of `spekctl run`, before any host is asked.

What depends on devices, CPUs or memory is checked by the hosts, which have them.
"""

from __future__ import annotations

import contextlib
import dataclasses
from pathlib import Path

from spekctl.errors import RefusedError, UsageError, at
from spekctl.fleet import totals
from spekctl.fleet.plan import Host, Plan, writes
from spekctl.workload import meaning, resolve
from spekctl.workload.model import RunDefaults, WorkloadFile
from spekctl.workload.options import Options, setting


def check(plan: Plan) -> None:
    """UsageError if no device would make the options of a client valid; it names the client if
    others have different options."""
    clients = plan.clients
    alike = all(map(_is_like, clients, clients[1:]))
    before: Host | None = None
    for host in clients:
        # Fleets are large, and most hosts have the options of the one before.
        if before is None or not _is_like(before, host):
            with contextlib.nullcontext() if alike else at(f"host '{host.name}'"):
                _check(plan.workload, host)
        before = host


def check_divided(plan: Plan, total: Options) -> None:
    """The same for a plan whose clients have parts of @total, the load that the user gave: what is
    wrong with that is said of the total, and names no client."""
    clients = plan.clients
    alike = all(map(_is_like_but_load, clients, clients[1:]))
    before: Host | None = None
    for host in clients:
        if before is not None and _is_like(before, host):
            continue
        of_host = contextlib.nullcontext() if alike else at(f"host '{host.name}'")
        try:
            _check_load(plan.workload, host.load)
        except UsageError:
            if totals.are_of_one(total):
                _check_load(plan.workload, total)
                whole = {name: getattr(total, name) for name in totals.DIVIDED}
                with of_host:
                    _check_load(plan.workload, dataclasses.replace(host.load, **whole))
            with at(f"{totals.written(total)} divided among {len(clients)} clients"):
                raise
        with of_host:
            _check_own(plan.workload, host)
        before = host


def writes_without_leave(plan: Plan) -> str:
    """Why a client must not run, as it writes without --write; else empty. Whether a trace writes
    is known to the hosts alone, which have read it."""
    if meaning.replays(plan.workload) or not writes(plan.workload):
        return ""
    if all(host.load.write for host in plan.clients):
        return ""
    return f"{plan.workload.workload.name} writes to the devices of all hosts"


def check_write(plan: Plan, leave: str) -> None:
    """RefusedError if a client writes without --write. @leave: what to do to allow that."""
    if why := writes_without_leave(plan):
        raise RefusedError(f"{why}; to allow that, {leave}")


def _is_like(host: Host, another: Host) -> bool:
    return _checked_of(host) == _checked_of(another)


def _is_like_but_load(host: Host, another: Host) -> bool:
    """But for the part of a total."""
    part = {name: getattr(host.load, name) for name in totals.DIVIDED}
    load = dataclasses.replace(another.load, **part)
    return _is_like(host, dataclasses.replace(another, load=load))


def _checked_of(host: Host) -> tuple[object, ...]:
    """What the check looks at: the path of a log, for example, is each host's own."""
    log = Path() if host.measuring.log is not None else None
    measuring = dataclasses.replace(host.measuring, log=log)
    return host.load, measuring, host.power_feeds, bool(host.destroy)


def _check(workload: WorkloadFile, host: Host) -> None:
    _check_load(workload, host.load)
    _check_own(workload, host)


def _check_load(workload: WorkloadFile, load: Options) -> None:
    # Reading logs and histograms takes numpy, which most commands do not need.
    from spekctl.run import until

    if meaning.replays(workload):
        from spekctl.run import replay_request

        alone = not meaning.beside_trace(workload)
        replay_request.check_options(workload.workload.name, load, alone)
        time_ns = 0
    else:
        resolve.check_load(workload, load)
        time_ns = _time_ns(workload, load)
    interval_ns = setting("interval_ns", load, workload.run)
    until.check_rounds(load.until, load.stop_when or (), interval_ns, time_ns)


def _check_own(workload: WorkloadFile, host: Host) -> None:
    """What a client measures and overwrites."""
    from spekctl.run import measuring

    interval_ns = setting("interval_ns", host.load, workload.run)
    measuring.check(host.measuring, host.power_feeds, interval_ns)
    if host.destroy and not host.load.write:
        raise UsageError("destroy needs write = true in the options as well")


def _time_ns(workload: WorkloadFile, load: Options) -> int:
    """Length of a measure phase that ends by time alone; 0 if something else may end it."""
    given = any(getattr(load, name) is not None for name in resolve.ENDS)
    run = RunDefaults() if given else workload.run
    counts = [setting(name, load, run) for name in ("count", "passes")]
    counts += [end for each in workload.arrival for end in (each.count, each.passes)]
    if any(count is not None for count in counts):
        return 0
    time_ns: int = setting("time_ns", load, run)
    return time_ns
