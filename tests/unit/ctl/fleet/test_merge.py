# SPDX-License-Identifier: GPL-2.0
"""Merging results of hosts: exact, in any order and grouping, and refused where it would lie."""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lib.ctl import results
from lib.ctl.fleets import T0, Spec, facts_of, fleet_of, large, result_of, three
from lib.fakes.kernel import SECOND

from spekctl import files
from spekctl.documents import histogram, per_host
from spekctl.documents.host_results import HostResult
from spekctl.documents.hosts import HostFacts, HostLoss, Role
from spekctl.documents.result import Result
from spekctl.documents.times import histogram_of
from spekctl.errors import UsageError
from spekctl.fleet.merge import Sum, merge, of_host, split, without_run
from spekctl.kernel.records import Phase

MS = 1_000_000

# --- the property --------------------------------------------------------------------------------

times = st.lists(st.integers(1, 1 << 41), max_size=6)
seconds = st.lists(st.tuples(times, times), max_size=4)


@st.composite
def specs(draw: st.DrawFn, name: str) -> Spec:
    measure = draw(seconds)
    return Spec(
        name,
        measure,
        skew_ns=draw(st.integers(-3 * SECOND, 3 * SECOND)),
        boot_ns=draw(st.integers(0, T0 - 100 * SECOND)),
        lost_s=draw(st.none() | st.integers(0, 5)),
        watts=draw(st.none() | st.floats(1, 100)),
        errors=draw(st.integers(0, 2)) if any(reads for reads, _ in measure) else 0,
        missing=draw(st.lists(st.integers(0, 3), max_size=2)),
        ends=draw(st.lists(st.none() | st.integers(1, 9 * SECOND), max_size=3)),
    )


@st.composite
def hosts(draw: st.DrawFn) -> list[Result]:
    """Fleets of one host: with a run, with rows alone, or with nothing at all."""
    fleets = []
    for number in range(draw(st.integers(1, 5))):
        spec = draw(specs(f"host{number}"))
        own = result_of(spec, created=f"2026-11-0{draw(st.integers(1, 9))}T00:00:00Z")
        kind = draw(st.sampled_from(("run", "run", "run", "rows", "nothing", "target")))
        if kind == "run":
            fleets.append(of_host(own, facts_of(spec)))
        elif kind == "rows":
            loss = HostLoss(T0 + 2 * SECOND, "it did not answer")
            start = own.start.realtime_ns, own.start.monotonic_ns
            rows = own.intervals
            lost = facts_of(spec, loss=loss)
            fleets.append(without_run(lost, own.workload, own.config, started=start, rows=rows))
        else:
            role = Role.TARGET if kind == "target" else Role.CLIENT
            known = facts_of(spec, role=role)
            fleets.append(without_run(known, own.workload, own.config))
    return fleets


def assert_same(left: Result, right: Result) -> None:
    for name in Result.__struct_fields__:
        assert getattr(left, name) == getattr(right, name), name
    assert left == right


@settings(max_examples=60, deadline=None)
@given(hosts(), st.randoms(use_true_random=False))
def test_merge_of_split_is_the_same_in_any_order_and_grouping(
    fleets: list[Result], random: Any
) -> None:
    whole = merge(fleets)
    assert_same(merge(split(whole)), whole)
    parts = split(whole)
    random.shuffle(parts)
    assert_same(merge(parts), whole)
    mixed = list(fleets)
    random.shuffle(mixed)
    while len(mixed) > 1:
        at = random.randrange(len(mixed) - 1)
        mixed[at : at + 2] = [merge(mixed[at : at + 2])]
    assert_same(mixed[0], whole)


@settings(max_examples=30, deadline=None)
@given(st.permutations([specs(f"host{number}") for number in range(3)]), st.data())
def test_hosts_that_are_added_as_they_come_are_merged(
    kinds: list[st.SearchStrategy[Spec]], data: st.DataObject
) -> None:
    drawn = [data.draw(kind) for kind in kinds]
    own = [result_of(spec, created=f"2026-11-0{len(spec.measure) + 1}") for spec in drawn]
    total = Sum()
    for spec, result in zip(drawn, own, strict=True):
        total.add(result, facts_of(spec))
    fleets = [of_host(result, facts_of(spec)) for spec, result in zip(drawn, own, strict=True)]
    assert_same(total.whole(), merge(fleets))


def test_a_host_that_is_added_twice_is_refused() -> None:
    total = Sum()
    total.add(result_of(Spec("a")), facts_of(Spec("a")))
    total.add(result_of(Spec("a")), facts_of(Spec("a")))
    with pytest.raises(UsageError, match="a and a are one host twice: the same run"):
        total.whole()


@settings(max_examples=20, deadline=None)
@given(hosts())
def test_a_file_of_it_is_the_same_and_valid(fleets: list[Result]) -> None:
    whole = merge(fleets)
    results.as_json(whole)
    read = msgspec.json.decode(files.encode(whole), type=Result)
    assert_same(merge(split(read)), whole)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=4).flatmap(
        lambda numbers: st.tuples(*(specs(f"host{at}") for at in range(len(numbers))))
    )
)
def test_sums_are_those_of_the_ios_themselves(given: Sequence[Spec]) -> None:
    """Against every single time of all hosts, not against the code that adds."""
    whole = merge([fleet_of(spec) for spec in given])
    for direction, side in (("read", 0), ("write", 1)):
        every = [ns for spec in given for second in spec.measure for ns in second[side]]
        total = getattr(whole.totals, direction)
        assert (total.ios, total.bytes) == (len(every), 8192 * len(every))
        if not every:
            assert total.times.response is None
            continue
        response = total.times.response
        assert (response.count, response.sum_ns) == (len(every), sum(every))
        assert (response.min_ns, response.max_ns) == (min(every), max(every))
        cells = [
            cell
            for cell in whole.cells
            if cell.direction == direction and cell.phase is Phase.MEASURE
        ]
        counted = histogram.merge(
            hist for cell in cells if (hist := histogram_of(cell.times.response)) is not None
        )
        assert counted is not None
        wanted: dict[int, int] = {}
        for ns in every:
            index = histogram.bucket_index(ns, counted.bits)
            wanted[index] = wanted.get(index, 0) + 1
        assert {index: count for index, count in counted.counts.items() if count} == wanted
    in_rows = sum(row.read.ios + row.write.ios for row in whole.intervals)
    kept = [
        len(reads) + len(writes)
        for spec in given
        for second, (reads, writes) in enumerate(spec.measure)
        if second not in spec.missing
    ]
    assert in_rows == sum(kept)
    assert whole.outcome.errors_by_cause.get("EIO", 0) == sum(spec.errors for spec in given)


# --- sums ----------------------------------------------------------------------------------------


def test_a_host_keeps_its_own_result() -> None:
    spec = Spec("alpha", watts=10.0)
    own = result_of(spec)
    fleet = merge([of_host(own, facts_of(spec)), fleet_of(Spec("beta"))])
    assert fleet.hosts is not None
    assert per_host.own_result(fleet, fleet.hosts[0]) == msgspec.structs.replace(
        own, created=fleet.created, command=fleet.command
    )


def test_one_host_has_the_figures_of_its_result() -> None:
    own = result_of(Spec("alpha", watts=10.0))
    fleet = of_host(own, facts_of(Spec("alpha")))
    assert fleet.totals == own.totals
    assert fleet.cells == own.cells
    assert fleet.outcome == own.outcome
    assert [row.read for row in fleet.intervals] == [row.read for row in own.intervals]
    assert [phase.times for phase in fleet.phases] == [phase.times for phase in own.phases]


def test_energy_is_added_and_named() -> None:
    fleet = merge(three())
    assert fleet.power is not None
    assert fleet.power.measure.total.joules == 4 * (10.0 + 20.0 + 30.0)
    assert [rail.name for rail in fleet.power.measure.rails] == ["alpha", "beta", "gamma"]
    assert fleet.power.baseline_w == 1.5


def test_targets_and_workers_name_their_host() -> None:
    fleet = merge(three())
    assert [target.place for target in fleet.targets] == [
        "alpha:/dev/x", "beta:/dev/x", "gamma:/dev/x"
    ]  # fmt: skip


def test_percentiles_of_a_row_are_not_added_up() -> None:
    fleet = merge([fleet_of(Spec("alpha")), fleet_of(Spec("beta", [((), (5,))] * 4))])
    row = fleet.intervals[0]
    assert row.read.response_p50_ns == 300_000  # of alpha alone
    assert row.write.response_p50_ns is None
    assert row.write.response_max_ns == 900_000


def test_a_sentence_that_all_hosts_say_stands_once() -> None:
    fleet = merge(three())
    assert fleet.outcome.text == "all 3 hosts: the run completed"
    assert "all 3 hosts: a remark" in fleet.remarks


def test_a_lost_host_is_named_with_its_time() -> None:
    own = result_of(Spec("beta"))
    loss = HostLoss(T0 + 3 * SECOND + 200 * MS, "no heartbeat for 10 s")
    lost = without_run(
        HostFacts("beta", planned_ns=T0, loss=loss),
        own.workload,
        own.config,
        started=(own.start.realtime_ns, own.start.monotonic_ns),
        rows=own.intervals[:2],
    )
    fleet = merge([fleet_of(Spec("alpha")), lost])
    assert fleet.outcome.text.startswith("incomplete: beta lost at 3.2 s (no heartbeat for 10 s)")
    assert not fleet.outcome.ok and fleet.outcome.reason == "none"
    assert fleet.common is not None and fleet.common.intervals == 2
    assert [row.read.ios for row in fleet.intervals] == [4, 4, 2, 2]
    assert all(row.coverage_ppm == 1_000_000 for row in fleet.intervals)


def test_a_row_without_a_host_that_was_at_work_is_not_covered() -> None:
    fleet = merge([fleet_of(Spec("alpha", missing=(1,))), fleet_of(Spec("beta"))])
    assert [row.coverage_ppm for row in fleet.intervals] == [10**6, 500_000, 10**6, 10**6]


# --- refusals ------------------------------------------------------------------------------------


def changed(result: Result, **parts: Any) -> Result:
    """The fleet of one host with a changed run."""
    assert result.hosts is not None
    (host,) = result.hosts
    assert host.run is not None
    run = msgspec.structs.replace(host.run, **parts)
    return msgspec.structs.replace(result, hosts=[msgspec.structs.replace(host, run=run)])


def beta(change: Callable[[Result], Result]) -> list[Result]:
    return [fleet_of(Spec("alpha")), change(fleet_of(Spec("beta")))]


def test_a_different_workload_is_refused() -> None:
    def other(result: Result) -> Result:
        header = msgspec.structs.replace(result.workload.workload, name="other")
        return msgspec.structs.replace(
            result, workload=msgspec.structs.replace(result.workload, workload=header)
        )

    with pytest.raises(UsageError, match=r"^alpha and beta ran different workloads$"):
        merge(beta(other))


def test_other_streams_are_refused() -> None:
    def other(result: Result) -> Result:
        streams = [msgspec.structs.replace(result.config.streams[0], name="else")]
        return changed(result, config=msgspec.structs.replace(result.config, streams=streams))

    with pytest.raises(UsageError, match=r"^alpha and beta ran different workloads: streams "):
        merge(beta(other))


def test_another_module_is_refused() -> None:
    def other(result: Result) -> Result:
        environment = msgspec.structs.replace(result.environment, module_version="0.0.9")
        return changed(result, environment=environment)

    with pytest.raises(
        UsageError, match=r"^alpha and beta have different versions of spek.ko: 0.1.0 and 0.0.9$"
    ):
        merge(beta(other))


def test_other_histograms_are_refused() -> None:
    def other(result: Result) -> Result:
        def coarser(cell: Any) -> Any:
            response = cell.times.response
            buckets = msgspec.structs.replace(response.histogram, bits=5, first=1, counts=[3])
            response = msgspec.structs.replace(response, histogram=buckets)
            times = msgspec.structs.replace(
                cell.times, response=response, service=response, slip=response
            )
            return msgspec.structs.replace(cell, times=times, in_flight=None)

        return changed(result, cells=[coarser(cell) for cell in result.cells])

    with pytest.raises(
        UsageError, match=r"^alpha and beta have histograms of different kinds: 6 and 5 bits$"
    ):
        merge(beta(other))


def test_another_start_is_refused() -> None:
    later = Spec("beta")
    fleets = [
        fleet_of(Spec("alpha")),
        of_host(result_of(later), facts_of(later, planned_ns=T0 + SECOND)),
    ]
    with pytest.raises(UsageError, match=r"^alpha and beta were to start at different times"):
        merge(fleets)


def test_two_hosts_of_one_name_are_refused() -> None:
    second = fleet_of(Spec("alpha"))
    environment = msgspec.structs.replace(second.environment, boot_id="of another machine")
    with pytest.raises(UsageError, match=r"^two hosts have one name: alpha and alpha are of "):
        merge([fleet_of(Spec("alpha")), changed(second, environment=environment)])


def test_one_host_twice_is_refused() -> None:
    spec = Spec("alpha")
    under_another_name = of_host(result_of(spec), facts_of(spec, name="beta"))
    with pytest.raises(
        UsageError, match=r"^alpha and beta are one host: both results are of the same run$"
    ):
        merge([fleet_of(spec), under_another_name])
    with pytest.raises(UsageError, match=r"^alpha and alpha are one host twice: the same run$"):
        merge([fleet_of(spec), fleet_of(spec)])


def test_what_is_no_host_is_refused() -> None:
    spec = Spec("alpha")
    with pytest.raises(UsageError, match="no results to merge"):
        merge([])
    with pytest.raises(UsageError, match="no hosts to split"):
        split(result_of(spec))
    with pytest.raises(UsageError, match="of several hosts already"):
        of_host(fleet_of(spec), facts_of(spec))
    own = result_of(spec)
    with pytest.raises(UsageError, match="alpha has report intervals and no start"):
        without_run(facts_of(spec), own.workload, own.config, rows=own.intervals)


def test_results_of_single_machines_merge_under_their_names() -> None:
    fleet = merge([result_of(Spec("beta")), result_of(Spec("alpha"))])
    assert fleet.hosts is not None and [host.name for host in fleet.hosts] == ["alpha", "beta"]
    assert fleet.hosts[0].start.planned_ns is None and fleet.hosts[0].start.skew_ns is None
    assert fleet.common is not None and fleet.common.skew_ns is None


def test_runs_that_did_not_measure_at_the_same_time_are_refused() -> None:
    """As two runs of different days, of which the second is no host of the first."""
    day_ns = 86_400 * SECOND
    early, late = result_of(Spec("alpha")), result_of(Spec("beta", skew_ns=day_ns))
    sentence = (
        r"^alpha and beta did not measure at the same time: beta began .* after alpha had ended"
    )
    for pair in ([early, late], [late, early]):
        with pytest.raises(UsageError, match=sentence):
            merge(pair)
    # Their clocks may be off by a second.
    last = (len(Spec("alpha").measure) + 1) * SECOND
    assert merge([early, result_of(Spec("beta", skew_ns=last - 1))]).hosts
    with pytest.raises(UsageError, match="did not measure at the same time"):
        merge([early, result_of(Spec("beta", skew_ns=last))])


# --- cost ----------------------------------------------------------------------------------------

HOSTS, ROWS = 1000, 100


@pytest.fixture(scope="module")
def template() -> bytes:
    """A fleet of one host."""
    own = result_of(large(ROWS))
    drain = [msgspec.structs.replace(own.cells[0], phase=Phase.DRAIN, in_flight=None)]
    own = msgspec.structs.replace(own, cells=[*own.cells, *drain])
    assert len(own.intervals) == ROWS and len(own.cells) == 3
    return msgspec.json.encode(of_host(own, facts_of(Spec("HOST"))))


def decoded(template: bytes, count: int) -> list[Result]:
    """As many hosts, each with integers of its own, as files are decoded."""
    whole = msgspec.json.decode(template, type=Result)
    assert whole.hosts is not None
    (host,) = whole.hosts
    data = msgspec.json.encode(host)
    decode = msgspec.json.Decoder(HostResult).decode
    return [
        msgspec.structs.replace(whole, hosts=[decode(data.replace(b"HOST", b"host%04d" % number))])
        for number in range(count)
    ]


def test_a_thousand_hosts_fit_into_memory(
    template: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    tracemalloc.start()
    try:
        fleets = decoded(template, HOSTS)
        held = tracemalloc.get_traced_memory()[0]
        whole = merge(fleets)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert whole.totals.all.ios == sum(fleet.totals.all.ios for fleet in fleets)
    encoded = len(msgspec.json.encode(fleets[0].hosts))
    before = time.process_time()
    merge(fleets)
    took = time.process_time() - before
    with capsys.disabled():
        print(
            f"\n{HOSTS} hosts merged in {took:.2f} s of CPU; peak {peak >> 20} MiB, of which"
            f" {held >> 20} MiB are the decoded results; a host is {encoded >> 10} KiB of JSON"
        )
    assert peak < 1 << 30
    assert encoded < 64 << 10


def test_the_work_is_linear_in_hosts(template: bytes) -> None:
    """By lines executed: twice the hosts cost twice the lines."""

    def lines(count: int) -> int:
        fleets = decoded(template, count)
        executed = 0

        def trace(frame: Any, event: str, argument: Any) -> Any:
            nonlocal executed
            executed += event == "line"
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            merge(fleets)
        finally:
            sys.settrace(before)
        return executed

    few, twice, four = lines(2), lines(4), lines(8)
    assert (four - twice) == pytest.approx(2 * (twice - few), rel=0.02)
