# SPDX-License-Identifier: GPL-2.0
"""The hosts of a fleet beside each other."""

from __future__ import annotations

from lib.ctl import results
from lib.ctl.fleets import T0, Spec, facts_of, fleet_of, result_of, three
from lib.fakes.kernel import SECOND

from spekctl.documents.hosts import HostFacts, HostLoss, Role
from spekctl.fleet.merge import merge, of_host, without_run
from spekctl.render import hosts
from spekctl.render.result import parts
from spekctl.report import runs


def test_the_common_window_is_the_headline() -> None:
    fleet = merge(three())
    assert hosts.headline(fleet) == (
        "common window: 180 IOPS, 1.4 MiB/s, mean 448 us over 4 s in which all 3 hosts measured"
    )
    assert hosts.headline(fleet) in str(parts(fleet)[0])


def test_hosts_stand_beside_each_other() -> None:
    rows = {name: cells for name, *cells in hosts.figures(merge(three()))}
    assert list(rows) == ["common window", "everything", "alpha", "beta", "gamma"]
    assert [rows[name][0] for name in ("alpha", "beta", "gamma")] == ["90.0", "60.0", "30.0"]
    assert [rows[name][2] for name in ("alpha", "beta", "gamma")] == ["50.0%", "33.3%", "16.7%"]
    # The window has all I/Os, so its percentiles are those of everything.
    assert rows["common window"][3:] == rows["everything"][3:]
    starts = hosts.starts(merge(three()))
    assert [cells[1] for cells in starts] == ["+20.0 us", "-35.0 us", "+5.00 us"]
    assert {cells[3] for cells in starts} == {"chrony, stratum 3"}


def test_rates_are_those_of_the_sums_and_of_the_report() -> None:
    fleet = merge(three())
    of_text = dict(zip(hosts.FIGURES[1:], hosts.figures(fleet)[1][1:], strict=True))
    of_report = dict(runs.sheet_of("fleet.json", fleet).figures)
    assert of_text["MiB/s"] == of_report["MiB/s of everything"] == "1.4"
    assert of_text["IOPS"] == of_report["IOPS of everything"]
    printed = results.printed(fleet)
    assert "MiB/s" in printed and "MB/s" not in printed


def test_percentiles_of_a_part_of_the_measure_phases_are_not_known() -> None:
    fleet = merge([fleet_of(Spec("alpha")), fleet_of(Spec("beta", Spec("x").measure[:2]))])
    (window, *_) = hosts.figures(fleet)
    assert window[5:8] == ["-", "-", "-"] and window[8] == "900 us"
    assert any("percentiles are not known" in line for line in hosts.lines(fleet))


def test_a_fleet_without_a_window_says_why() -> None:
    fleet = merge([fleet_of(Spec("alpha")), fleet_of(Spec("beta", ()))])
    assert hosts.headline(fleet) == (
        "no common window: beta has no report interval of a measure phase"
    )
    assert hosts.figures(fleet)[0][1:] == ["-"] * 8


def test_hosts_without_a_result_are_named() -> None:
    own = result_of(Spec("alpha"))
    loss = HostLoss(T0 + SECOND, "its connection broke")
    fleet = merge([
        of_host(own, facts_of(Spec("alpha"))),
        without_run(HostFacts("beta", loss=loss), own.workload, own.config),
        without_run(HostFacts("store", Role.TARGET), own.workload, own.config),
    ])  # fmt: skip
    said = hosts.lines(fleet)
    assert "beta gave no result" in said
    assert "store is a target: its prober watched it" in said


def test_a_clock_without_a_bound_is_named() -> None:
    fleet = merge([fleet_of(Spec("alpha")), result_of(Spec("beta"))])
    assert "nothing promises how right the clock of beta is" in hosts.lines(fleet)[0]


def test_many_names_are_counted() -> None:
    assert hosts.few(["a", "b"]) == "a, b"
    assert hosts.few(list("abcdefg")) == "a, b, c, d, e and 2 more"
