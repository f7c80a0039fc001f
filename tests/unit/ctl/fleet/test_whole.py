# SPDX-License-Identifier: GPL-2.0
"""What a fleet says of itself: sentences, machines and energy."""

from __future__ import annotations

import io

import msgspec
from lib.ctl.fleets import T0, Spec, facts_of, fleet_of, result_of, three
from lib.fakes.kernel import SECOND
from rich.console import Console

from spekctl.documents.hosts import HostClock, HostFacts, HostLoss, Role
from spekctl.documents.power import power_of
from spekctl.documents.result import Result
from spekctl.documents.result_parts import LogResult, Sense, SenseCount
from spekctl.fleet.merge import merge, of_host, without_run
from spekctl.kernel.records import Reason, RunState
from spekctl.render.result import print_result


def fleet_with(spec: Spec, **outcome: object) -> Result:
    own = result_of(spec)
    changed = msgspec.structs.replace(own.outcome, **outcome)
    return of_host(msgspec.structs.replace(own, outcome=changed), facts_of(spec))


def test_times_are_of_the_common_start() -> None:
    fleet = merge(three())
    assert fleet.start.monotonic_ns == fleet.start.realtime_ns == T0
    assert fleet.end.realtime_ns == T0 + 5 * SECOND + 20_000 + 1000
    assert fleet.phases[0].start_ns == T0 - 35_000
    assert fleet.run == 0 and three()[0].run == 1


def test_hosts_that_ended_otherwise_are_named() -> None:
    fleet = merge([
        fleet_of(Spec("alpha")),
        fleet_with(Spec("beta"), text="a device was removed", reason=Reason.DEVICE_GONE, ok=False),
        fleet_of(Spec("gamma")),
    ])  # fmt: skip
    assert fleet.outcome.text == "alpha, gamma: the run completed; beta: a device was removed"
    assert fleet.outcome.reason is Reason.DEVICE_GONE and not fleet.outcome.ok
    assert not fleet.at_an_end


def test_what_ended_a_host_comes_before_the_stop_of_the_others() -> None:
    stopped = fleet_with(Spec("alpha"), text="stopped", reason=Reason.STOPPED, ok=False)
    gone = fleet_with(Spec("beta"), text="gone", reason=Reason.DEVICE_GONE, ok=False)
    assert merge([stopped, gone]).outcome.reason is Reason.DEVICE_GONE
    assert merge([fleet_of(Spec("gamma")), stopped]).outcome.reason is Reason.STOPPED


def test_wrong_data_are_said_before_all_else() -> None:
    fleet = merge([fleet_of(Spec("alpha", lost_s=2)), fleet_of(Spec("beta", wrong=3))])
    assert fleet.outcome.text == (
        "beta: 3 blocks were wrong; incomplete: alpha lost at 2.0 s (its connection broke); alpha:"
        " the run completed"
    )
    assert (fleet.mismatches, fleet.outcome.ok) == (3, False)
    both = merge([fleet_of(Spec("alpha", wrong=3)), fleet_of(Spec("beta", wrong=3))])
    assert both.outcome.text == "all 2 hosts: 3 blocks were wrong" and both.mismatches == 6


def test_many_hosts_in_a_sentence_are_counted() -> None:
    fleets = [fleet_of(Spec(f"host{number}")) for number in range(7)]
    fleets.append(fleet_with(Spec("other"), text="it stopped"))
    assert merge(fleets).outcome.text == (
        "host0, host1, host2, host3, host4 and 2 more: the run completed; other: it stopped"
    )


def test_a_run_that_goes_on_keeps_the_fleet_going() -> None:
    fleet = merge([fleet_of(Spec("alpha")), fleet_with(Spec("beta"), state=RunState.RUNNING)])
    assert fleet.outcome.state is RunState.RUNNING


def test_counts_of_the_end_are_added() -> None:
    sense = Sense(3, 17, 0, False, "medium error")
    ends = {
        "outstanding": 2, "oldest_ns": 5, "backlog": 3, "offered_iops": 10.0, "sense_others": 1,
        "first_sense": sense, "senses": [SenseCount(sense, 4)],
    }  # fmt: skip
    outcome = merge(
        [fleet_with(Spec("a"), **ends), fleet_with(Spec("b"), **(ends | {"oldest_ns": 9}))]
    ).outcome
    assert (outcome.outstanding, outcome.oldest_ns, outcome.backlog) == (4, 9, 6)
    assert (outcome.offered_iops, outcome.sense_others) == (20.0, 2)
    assert outcome.senses == [SenseCount(sense, 8)] and outcome.first_sense == sense
    # Of the rows: both hosts at the end of the same interval.
    assert outcome.backlog_max == 6


def test_a_process_has_ended_where_it_has_on_all_hosts() -> None:
    early = Spec("alpha", ends=(3 * SECOND, 5, None), skew_ns=-7000)
    late = Spec("beta", ends=(2 * SECOND, 4 * SECOND, 1), skew_ns=20_000)
    ends = merge([fleet_of(late), fleet_of(early)]).outcome.arrival_ends_ns
    # Since alpha began to measure, which was 27 us before beta.
    assert ends == {
        "process0": 3 * SECOND, "process1": 4 * SECOND + 27_000, "process2": None
    }  # fmt: skip
    alone = fleet_of(early)
    assert alone.outcome.arrival_ends_ns == result_of(early).outcome.arrival_ends_ns
    # What a host that was lost, or has no such process, had done is not known.
    lost = without_run(facts_of(Spec("gamma")), alone.workload, alone.config)
    for beside in (lost, fleet_of(Spec("gamma"))):
        known = merge([alone, beside]).outcome.arrival_ends_ns
        assert known == dict.fromkeys(("process0", "process1", "process2"))
    assert merge([fleet_of(Spec("alpha")), fleet_of(Spec("beta"))]).outcome.arrival_ends_ns == {}
    target = facts_of(Spec("gamma"), role=Role.TARGET)
    beside = without_run(target, alone.workload, alone.config)
    assert merge([alone, beside]).outcome.arrival_ends_ns == alone.outcome.arrival_ends_ns


def test_the_first_error_names_its_host() -> None:
    outcome = merge([fleet_of(Spec("alpha")), fleet_of(Spec("beta", errors=2))]).outcome
    assert outcome.errors == 2 and outcome.first_error.startswith("beta: read at 4096")


def test_a_host_lost_before_the_start_and_a_silent_one() -> None:
    own = result_of(Spec("alpha"))
    loss = HostLoss(T0 - SECOND, "it refused the start")
    fleet = merge([
        of_host(own, facts_of(Spec("alpha"))),
        without_run(HostFacts("beta", planned_ns=T0, loss=loss), own.workload, own.config),
        without_run(HostFacts("gamma", planned_ns=T0), own.workload, own.config),
    ])  # fmt: skip
    assert fleet.outcome.text == (
        "incomplete: beta lost before the start (it refused the start); gamma gave no result;"
        " alpha: the run completed"
    )
    assert fleet.outcome.reason is Reason.NONE


def test_a_start_that_only_the_plan_tells_is_no_skew() -> None:
    own = result_of(Spec("alpha"))
    planned = facts_of(Spec("beta")).planned_ns
    assert planned is not None
    loss = HostLoss(planned + SECOND, "it is silent")
    facts = HostFacts("beta", planned_ns=planned, loss=loss)
    alone = of_host(own, facts_of(Spec("alpha")))
    assert alone.common is not None
    for measured in (True, False):
        beta = without_run(
            facts,
            own.workload,
            own.config,
            started=(planned, 5),
            measured=measured,
            rows=own.intervals[:1],
        )
        (start,) = (host.start for host in beta.hosts or ())
        assert (start.actual_ns, start.skew_ns) == (planned, 0 if measured else None)
        fleet = merge([alone, beta])
        assert fleet.common is not None
        assert fleet.common.skew_ns == alone.common.skew_ns
        if not measured:
            assert fleet.common.spread_ns == 0


def test_a_fleet_of_which_nothing_is_known_is_a_fleet() -> None:
    own = result_of(Spec("alpha"))
    lost = without_run(HostFacts("alpha"), own.workload, own.config)
    fleet = merge([lost, without_run(HostFacts("beta"), own.workload, own.config)])
    assert fleet.outcome.text == "all 2 hosts gave no result" and not fleet.outcome.ok
    assert lost.outcome.text == "alpha gave no result"
    assert (fleet.totals.all.ios, fleet.intervals, fleet.phases) == (0, [], [])


def test_a_clock_that_was_set_is_remarked() -> None:
    spec = Spec("beta")
    stepped = of_host(result_of(spec), facts_of(spec, clock=HostClock(1000, "PTP", -2_000_000)))
    fleet = merge([fleet_of(Spec("alpha")), stepped])
    assert "beta: the clock was set by 2.00 ms meanwhile" in fleet.remarks


def test_a_log_that_failed_is_remarked_with_its_time() -> None:
    log = LogResult("", 0, 0, 7, 7, 0, 1024, False, "no room")
    spec = Spec("beta")
    own = result_of(spec, log=log)
    failed = msgspec.structs.replace(log, failed_ns=own.start.monotonic_ns + 2_500_000_000)
    beta = of_host(result_of(spec, log=failed), facts_of(spec))
    fleet = merge([fleet_of(Spec("alpha")), beta])
    (remark,) = (remark for remark in fleet.remarks if "log: " in remark)
    assert remark == "beta: log: 0 records, 7 lost, no file: no room, at 2.5 s"


def test_a_log_that_is_not_complete_is_remarked() -> None:
    logs = {
        "alpha": LogResult("run.alpha.parquet", 9, 100, 0, 100, 0, 1024, True, ""),
        "beta": LogResult("run.beta.parquet", 9, 3000, 4000, 3000, 4000, 1024, False, "lost"),
        "gamma": LogResult("", 0, 0, 7, 7, 0, 1024, False, "the log ended before the run"),
    }
    specs = [Spec(name) for name in logs]
    fleet = merge(
        [of_host(result_of(spec, log=logs[spec.name]), facts_of(spec)) for spec in specs]
        + [fleet_of(Spec("without"))]
    )
    told = [
        "beta: log: 3,000 records, 4,000 lost, run.beta.parquet: lost",
        "gamma: log: 0 records, 7 lost, no file: the log ended before the run",
    ]
    assert [remark for remark in fleet.remarks if "log: " in remark] == told
    # Made again of the same hosts, it says so once.
    assert merge([fleet]).remarks == fleet.remarks
    console = Console(width=200, file=io.StringIO())
    print_result(fleet, console)
    assert isinstance(console.file, io.StringIO)
    assert all(remark in console.file.getvalue() for remark in told)


def test_machines_that_differ_are_all_named() -> None:
    beta = fleet_of(Spec("beta"))
    own = result_of(Spec("beta"))
    environment = msgspec.structs.replace(
        own.environment, kernel="6.1", taint=4096, governors={"powersave": "0-3"}
    )
    beta = of_host(msgspec.structs.replace(own, environment=environment), facts_of(Spec("beta")))
    alpha = fleet_of(Spec("alpha"))
    fleet = merge([alpha, beta])
    assert fleet.environment.kernel == " / ".join(sorted({"6.1", alpha.environment.kernel}))
    assert fleet.environment.taint & 4096 and fleet.environment.hostname == "2 hosts"
    assert fleet.environment.governors["powersave"] == "0-3"
    assert fleet.environment.boot_id == "" and alpha.environment.boot_id == "boot of alpha"


def test_power_of_some_hosts_is_not_the_fleets() -> None:
    """Their watts would be set against the I/Os of all."""
    fleet = merge([fleet_of(Spec("alpha", watts=10.0)), fleet_of(Spec("beta"))])
    assert fleet.power is not None
    alpha, beta = fleet.power.measure.rails
    assert (alpha.name, alpha.mean_w, alpha.joules) == ("alpha", 10.0, 40.0)
    assert (beta.name, beta.mean_w, beta.known_s, beta.gap_s) == ("beta", None, 0.0, 4.0)
    total = fleet.power.measure.total
    assert (total.mean_w, total.known_s) == (None, 0.0)
    assert fleet.power.measure.efficiency is None
    assert all(row.power is None for row in fleet.intervals)
    text = "the fleet's power is not known: not measured on beta; beta: power not measured: the run"
    assert fleet.power_text == f"{text} had no prober"
    figures = power_of(fleet)
    assert figures is not None and figures.remark == "power is not known: no samples of beta"
    console = Console(width=200, file=io.StringIO())
    print_result(fleet, console)
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert "power: unknown\n" in shown and "beta: unknown" in shown and fleet.power_text in shown


def test_why_a_host_did_not_measure_power_is_said_with_it() -> None:
    """Where no host did, that is all there is to say."""
    beta = Spec("beta")
    silent = of_host(result_of(beta, power_text="no feed is open"), facts_of(beta))
    assert merge([fleet_of(Spec("alpha", watts=10.0)), silent]).power_text == (
        "the fleet's power is not known: not measured on beta; beta: no feed is open"
    )
    neither = merge([silent])
    assert (neither.power, neither.power_text) == (None, "no feed is open")
    alpha = of_host(result_of(Spec("alpha"), power_text="no feed is open"), facts_of(Spec("alpha")))
    assert merge([silent, alpha]).power_text == "no feed is open"


def test_a_target_without_a_meter_does_not_hide_the_power_of_the_clients() -> None:
    alpha = fleet_of(Spec("alpha", watts=10.0))
    watched = without_run(facts_of(Spec("store"), role=Role.TARGET), alpha.workload, alpha.config)
    fleet = merge([alpha, watched])
    assert fleet.power is not None and fleet.power.measure.total.mean_w == 10.0
    assert fleet.power_text == ""
