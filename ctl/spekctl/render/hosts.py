# SPDX-License-Identifier: GPL-2.0-or-later
"""The hosts of a fleet beside each other, as text: the common window first."""

from __future__ import annotations

from collections.abc import Sequence

from spekctl import units
from spekctl.documents.host_results import HostResult
from spekctl.documents.hosts import CommonWindow, Role, WindowSum
from spekctl.documents.result import Result
from spekctl.documents.result_parts import Total
from spekctl.documents.times import Distribution

MIB = 1 << 20
FIGURES = ("response", "IOPS", "MiB/s", "share", "mean", "p50", "p99", "p99.9", "max")
STARTS = ("host", "skew", "clock", "by", "I/Os", "errors")
_PERCENTILES = ("p50", "p99", "p99.9")


def headline(result: Result) -> str:
    """What all hosts did together in the common window."""
    window = _window(result)
    if not window.intervals:
        return f"no common window: {window.text}"
    rates = f"{units.format_rate(window.all.iops)} IOPS, {_mib_per_s(window.all)} MiB/s"
    mean = "" if window.all.mean_ns is None else f", mean {units.format_ns(window.all.mean_ns)}"
    return (
        f"common window: {rates}{mean} over {window.duration_ns / 1e9:g} s"
        f" in which {_count(len(window.hosts))} measured"
    )


def figures(result: Result) -> list[list[str]]:
    """Rows of FIGURES: the window, everything, and each host's own. The percentiles of the window
    are known if it has all I/Os of the measure phases."""
    window, total = _window(result), result.totals.all
    times = total.times.response
    shown = [
        ["common window", *_window_cells(window, times if window.whole else None)],
        [
            *("everything", units.format_rate(total.iops), _mib_per_s(total), "-"),
            *_times(times, times.mean_ns if times is not None else None),
        ],
    ]
    return [*shown, *([host.name, *_host_cells(host, window)] for host in result.hosts or ())]


def starts(result: Result) -> list[list[str]]:
    """Rows of STARTS."""
    return [
        [
            host.name,
            _skew(host.start.skew_ns),
            "not known"
            if host.clock.bound_ns is None
            else f"±{units.format_ns(host.clock.bound_ns)}",
            host.clock.source,
            *(
                (f"{host.run.totals.all.ios:,}", f"{host.run.outcome.errors:,}")
                if host.run is not None
                else ("-", "-")
            ),
        ]
        for host in result.hosts or ()
    ]


def _window_cells(window: CommonWindow, times: Distribution | None) -> list[str]:
    if not window.intervals:
        return ["-"] * (len(FIGURES) - 1)
    both = window.all
    cells = _times(times, both.mean_ns)
    if times is None and both.ios:
        cells[-1] = units.format_ns(both.response_max_ns)
    return [units.format_rate(both.iops), _mib_per_s(both), "-", *cells]


def _host_cells(host: HostResult, window: CommonWindow) -> list[str]:
    share = next((share for share in window.hosts if share.name == host.name), None)
    times = host.run.totals.all.times.response if host.run is not None else None
    rates = ["-", "-", "-"]
    if share is not None and window.intervals:
        part = "-" if share.share is None else f"{share.share:.1%}"
        rates = [units.format_rate(share.all.iops), _mib_per_s(share.all), part]
    return [*rates, *_times(times, times.mean_ns if times is not None else None)]


def _times(times: Distribution | None, mean_ns: float | None) -> list[str]:
    mean = "-" if mean_ns is None else units.format_ns(mean_ns)
    if times is None:
        return [mean, *["-"] * (len(_PERCENTILES) + 1)]
    values = [times.percentiles_ns[name] for name in _PERCENTILES]
    return [mean, *(units.format_ns(value) for value in (*values, times.max_ns))]


def lines(result: Result) -> list[str]:
    """How well the hosts kept together, and what became of each where that is not as it should."""
    window = _window(result)
    clauses = [f"starts lie within {units.format_ns(window.spread_ns)} by the hosts' own clocks"]
    if window.skew_ns is not None:
        clauses.append(f"at most {units.format_ns(window.skew_ns)} from the planned start")
    if window.bound_ns is not None:
        clauses.append(f"clocks are right to {units.format_ns(window.bound_ns)}")
    elif window.hosts:
        started = {share.name for share in window.hosts}
        silent = [
            host.name
            for host in result.hosts or ()
            if host.clock.bound_ns is None and host.name in started
        ]
        clauses.append(f"nothing promises how right the clock of {few(silent)} is")
    told = ["; ".join(clauses)]
    if window.jain is not None:
        told.append(f"Jain's index of the hosts' I/Os in the common window: {window.jain:.4f}")
    if window.intervals and not window.whole:
        told.append(
            "the common window lacks I/Os of measure phases, so its percentiles are not known:"
            " those of each host and of everything are of whole measure phases"
        )
    told += [
        f"{host.name} is a target: its prober watched it"
        if host.role is Role.TARGET
        else f"{host.name} gave no result"
        for host in result.hosts or ()
        if host.run is None
    ]
    for host in result.hosts or ():
        if host.run is not None:
            for part in (host.run.verify, host.run.log):
                if part is not None and part.text:
                    told.append(f"{host.name}: {part.text}")
    return told


def few(names: Sequence[str]) -> str:
    """Some names, and how many more there are."""
    most = 5
    listed = ", ".join(names[:most])
    return listed if len(names) <= most else f"{listed} and {len(names) - most} more"


def _mib_per_s(both: WindowSum | Total) -> str:
    """The data rate, as the sums over all hosts and reports have it."""
    return f"{both.bytes_per_s / MIB:,.1f}"


def _count(hosts: int) -> str:
    return "one host" if hosts == 1 else f"all {hosts} hosts"


def _skew(skew_ns: int | None) -> str:
    if skew_ns is None:
        return "-"
    sign = "-" if skew_ns < 0 else "+"
    return f"{sign}{units.format_ns(abs(skew_ns))}"


def _window(result: Result) -> CommonWindow:
    assert result.common is not None
    return result.common
