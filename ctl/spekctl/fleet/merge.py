# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of several hosts as one, and back. The merge is exact: a result of a fleet keeps the
integers of each host, and everything else in it follows from these, so the order and the grouping
of merges do not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from spekctl import units
from spekctl.documents import per_host
from spekctl.documents.host_results import HostResult
from spekctl.documents.hosts import HostFacts, HostStart, Role
from spekctl.documents.result import Result
from spekctl.documents.result_parts import Interval, ProberResult
from spekctl.errors import UsageError
from spekctl.fleet import replays, streams, whole
from spekctl.kernel.records import Phase
from spekctl.workload.config import RunConfig
from spekctl.workload.model import WorkloadFile

# Clocks of hosts may differ by this without a word, and a phase that failed may be shorter.
_CLOCKS_APART_NS = 10**9


@dataclass(frozen=True, slots=True)
class _Origin:
    """The parts of a result that are not those of its hosts."""

    workload: WorkloadFile
    config: RunConfig
    created: str
    command: Sequence[str]


class Sum:
    """Hosts of one fleet, added in any order. Keeps only those parts of each host that the fleet's
    result has."""

    def __init__(self) -> None:
        self._parts: list[tuple[HostResult, _Origin]] = []
        self._workload: WorkloadFile | None = None

    def add(self, result: Result, facts: HostFacts) -> None:
        """The result of a run of one machine. UsageError: see of_host()."""
        self._add(_host_of(result, facts), result)

    def add_fleet(self, fleet: Result) -> None:
        """Add all hosts of the result of a fleet."""
        for host in fleet.hosts or []:
            self._add(host, fleet)

    def _add(self, host: HostResult, of: Result) -> None:
        # All hosts usually have the same workload: keep one copy.
        if self._workload is None or of.workload != self._workload:
            self._workload = of.workload
        origin = _Origin(self._workload, of.config, of.created, of.command)
        self._parts.append((host, origin))

    def whole(self) -> Result:
        """The result of all added hosts, of which there must be at least one.

        UsageError: they are not of the same run of a fleet, did not measure at the same time, or a
        host was added twice.
        """
        if not self._parts:
            raise UsageError("there are no results to merge")
        parts = sorted(self._parts, key=lambda part: part[0].name)
        hosts = [host for host, _ in parts]
        _check_names(hosts)
        first, origin = parts[0]
        for host, other in parts[1:]:
            if other.workload != origin.workload:
                raise UsageError(f"{first.name} and {host.name} ran different workloads")
        _check_alike(hosts)
        _check_together(hosts)
        last = max((other for _, other in parts), key=lambda other: (other.created, other.command))
        # A config that no run gives is that of the first host.
        result = whole.of_parts(hosts, last.workload, origin.config)
        return msgspec.structs.replace(result, created=last.created, command=list(last.command))


def of_host(result: Result, facts: HostFacts) -> Result:
    """The result of a run of one machine as that of a fleet of one host.

    UsageError: it is one of a fleet already, or has times without buckets.
    """
    return whole.of([_host_of(result, facts)], result)


def _host_of(result: Result, facts: HostFacts) -> HostResult:
    """The host of a result. UsageError: see of_host()."""
    if result.hosts is not None:
        raise UsageError(f"the result of {facts.name} is one of several hosts already")
    for cell in result.cells:
        for times in (cell.times.response, cell.times.service, cell.times.slip):
            if times is not None and times.histogram is None:
                raise UsageError(
                    f"the result of {facts.name} has no buckets, so it cannot be added"
                )
    actual_ns = result.start.realtime_ns or None
    return HostResult(
        name=facts.name,
        role=facts.role,
        start=HostStart(
            planned_ns=facts.planned_ns,
            actual_ns=actual_ns,
            monotonic_ns=result.start.monotonic_ns if actual_ns is not None else None,
            skew_ns=_less(actual_ns, facts.planned_ns),
        ),
        clock=facts.clock,
        loss=facts.loss,
        run=per_host.run_of(result),
        rows=per_host.packed(result.intervals if actual_ns is not None else []),
        prober=result.prober,
        fleet_remarks=list(facts.remarks),
    )


def without_run(
    facts: HostFacts,
    workload: WorkloadFile,
    config: RunConfig,
    *,
    started: tuple[int, int] | None = None,
    measured: bool = True,
    rows: Sequence[Interval] = (),
    prober: ProberResult | None = None,
) -> Result:
    """A fleet of one host that has no result: one that was lost, or one that is only watched.

    @config: as another host has it. @started: CLOCK_REALTIME and CLOCK_MONOTONIC of its start,
    which @rows, its report intervals as far as they came, need; @measured: its kernel has told
    them, and they are not those of the plan.
    """
    if rows and started is None:
        raise UsageError(f"{facts.name} has report intervals and no start")
    actual_ns, monotonic_ns = started or (None, None)
    host = HostResult(
        name=facts.name,
        role=facts.role,
        start=HostStart(
            facts.planned_ns,
            actual_ns,
            monotonic_ns,
            _less(actual_ns, facts.planned_ns) if measured else None,
        ),
        clock=facts.clock,
        loss=facts.loss,
        run=None,
        rows=per_host.packed(rows),
        prober=prober,
        fleet_remarks=list(facts.remarks),
    )
    return whole.of_parts([host], workload, config)


def split(result: Result) -> list[Result]:
    """A result for each host of one of a fleet; merge() makes the same of them again."""
    if result.hosts is None:
        raise UsageError("the result is of one machine: there are no hosts to split it into")
    return [whole.of([host], result) for host in result.hosts]


def merge(results: Sequence[Result]) -> Result:
    """The result of all hosts of @results. One of a single machine is that of a host with the name
    of the machine.

    UsageError: they are not of the same run of a fleet, or a host is in two of them.
    """
    total = Sum()
    for result in results:
        total.add_fleet(_fleet(result))
    return total.whole()


def _fleet(result: Result) -> Result:
    if result.hosts is not None:
        return result
    name = result.environment.hostname
    if not name:
        raise UsageError("a result does not say of which host it is")
    return of_host(result, HostFacts(name=name))


def _check_names(hosts: Sequence[HostResult]) -> None:
    seen: dict[tuple[str, int, int], str] = {}
    for number, host in enumerate(hosts):
        run = host.run
        key = None
        if run is not None and run.environment.boot_id:
            key = (run.environment.boot_id, run.run, run.start.monotonic_ns)
        if key is not None and key in seen:
            raise UsageError(
                f"{seen[key]} and {host.name} are one host: both results are of the same run"
                if seen[key] != host.name
                else f"{host.name} and {host.name} are one host twice: the same run"
            )
        if number and hosts[number - 1].name == host.name:
            raise UsageError(
                f"two hosts have one name: {host.name} and {host.name} are of different runs"
            )
        if key is not None:
            seen[key] = host.name


def _check_alike(hosts: Sequence[HostResult]) -> None:
    """What has to be the same on all hosts that know it."""
    checks: tuple[tuple[Callable[[HostResult], object], str], ...] = (
        (_module, "have different versions of spek.ko: {} and {}"),
        (_streams, "ran different workloads: streams {} and {}"),
        (_interval, "report at different intervals: {} and {} ns"),
        (_bits, "have histograms of different kinds: {} and {} bits"),
        (lambda host: host.start.planned_ns, "were to start at different times: {} and {}"),
    )
    for fact, sentence in checks:
        known = [(host, value) for host in hosts if (value := fact(host)) is not None]
        for host, value in known[1:]:
            first, wanted = known[0]
            if value != wanted:
                said = sentence.format(wanted, value)
                raise UsageError(f"{first.name} and {host.name} {said}")
    replays.check_parts(
        {
            host.name: host.run.replay
            for host in hosts
            if host.run is not None and host.run.replay is not None
        }
    )


def _check_together(hosts: Sequence[HostResult]) -> None:
    """UsageError for results of `spekctl run` whose measure phases do not overlap by the clocks of
    their hosts, which may be off. Hosts of a plan have one start, which is compared already."""
    spans = [
        (phase.start_ns + host.start.offset_ns, phase.end_ns + host.start.offset_ns, host.name)
        for host in hosts
        if host.run is not None and host.start.planned_ns is None and host.start.actual_ns
        for phase in host.run.phases
        if phase.phase is Phase.MEASURE
    ]
    if not spans:
        return
    ended_ns, earlier = min((end_ns, name) for _, end_ns, name in spans)
    begun_ns, later = max((start_ns, name) for start_ns, _, name in spans)
    if begun_ns - ended_ns >= _CLOCKS_APART_NS and earlier != later:
        raise UsageError(
            f"{earlier} and {later} did not measure at the same time: {later} began"
            f" {units.format_ns(begun_ns - ended_ns)} after {earlier} had ended, by their clocks;"
            " start runs together with --start-at"
        )


def _module(host: HostResult) -> object:
    return None if host.run is None else host.run.environment.module_version


def _streams(host: HostResult) -> object:
    return None if host.run is None else streams.told(host.run)


def _interval(host: HostResult) -> object:
    return None if host.run is None else host.run.config.interval_ns


def _bits(host: HostResult) -> object:
    """As text; None: it has no histogram."""
    if host.run is None:
        return None
    kinds = set()
    for cell in host.run.cells:
        held = cell.in_flight
        ages = (held.response_age, held.service_age) if held is not None else ()
        for times in (cell.times.response, cell.times.service, cell.times.slip, *ages):
            if times is not None and times.histogram is not None:
                kinds.add(times.histogram.bits)
    return ", ".join(map(str, sorted(kinds))) or None


def _less(left_ns: int | None, right_ns: int | None) -> int | None:
    return None if left_ns is None or right_ns is None else left_ns - right_ns


__all__ = ["HostFacts", "Role", "Sum", "merge", "of_host", "split", "without_run"]
