# SPDX-License-Identifier: GPL-2.0
"""Findings about the hosts of a plan: the verdict of a run's check, and what a claim would say."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from lib.fakes.fleet import FACTS, SILENT, FakeHost, device
from lib.fakes.fleet_coordinator import Rig

from spekctl.errors import ExitCode
from spekctl.fleet import examined
from spekctl.fleet.clock import Bound
from spekctl.fleet.wire import Lack, Unread, Verb
from spekctl.run.conditions import Finding, exit_code

FEEDS: list[str] = ["psu"]


def describe(host: FakeHost, **changes: Any) -> None:
    host.answers[Verb.DESCRIBE] = host.described(**{"feeds": FEEDS, **changes})


def rig_of(*extra: str, **more: Any) -> Rig:
    rig = Rig(*extra, **more)
    for host in rig.hosts.values():
        describe(host)
    return rig


def told(rig: Rig) -> list[Finding]:
    """The findings, which leave no host with anything but questions."""
    findings = rig.coordinator().examine()
    for host in rig.hosts.values():
        assert set(host.asked) <= {Verb.PING, Verb.DESCRIBE}
    return findings


def stops(rig: Rig) -> list[tuple[str, str, str]]:
    return [(each.subject, each.check, each.text) for each in told(rig) if each.level == "stops"]


def test_hosts_in_order_have_a_line_for_each_finding() -> None:
    findings = told(rig_of('max_skew = "1ms"', hosts="a"))
    assert exit_code(findings) is ExitCode.OK
    assert [(each.subject, each.check, each.level) for each in findings] == [
        *(("a", check, "ok") for check in ("reach", "version", "rights", "device")),
        *(("a", check, "ok") for check in ("clock", "power")),
    ]
    texts = {each.check: each.text for each in findings}
    assert texts["reach"] == "client, joined from 10.0.0.9"
    assert texts["device"] == "/dev/fake0: /dev/fake0, 1 GiB, serial S1, WWN -; free"
    assert texts["clock"].startswith("within 100 us (chrony), 0 ns behind the controller's, give")
    assert texts["clock"].endswith("; max_skew = 1.00 ms")
    assert texts["power"] == "open power feeds: psu"


@pytest.mark.parametrize(
    ("changes", "check", "sentence"),
    [
        ({"name": "x"}, "identity", "it says that it is x"),
        ({"fleet": "f-2"}, "certificate", "it is of another fleet, f-2"),
        ({"version": "0.0.9"}, "version", "it has spekctl 0.0.9 "),
        ({"trouble": "sudo: no", "lacks": Lack.RIGHTS}, "rights", "sudo: no"),
        ({"trouble": "not loaded", "lacks": Lack.MODULE}, "module", "not loaded"),
        ({"trouble": "no sdx", "lacks": Lack.DEVICE}, "device", "no sdx"),
        (
            {"devices": [device(in_use="mounted on /srv")]},
            "device",
            "/dev/fake0 is in use: mounted",
        ),
        ({"clock": Bound(None, "none")}, "clock", "the error of its clock is unknown (none)"),
    ],
)
def test_the_verdict_is_that_of_the_check_of_a_run(
    changes: dict[str, Any], check: str, sentence: str
) -> None:
    rig = rig_of('max_skew = "1ms"')
    describe(rig["b"], **changes)
    ((subject, of_check, text),) = stops(rig)
    assert (subject, of_check) == ("b", check) and text.startswith(sentence)
    refusal = rig.refused()
    assert refusal.message == f"b: {text}" and refusal.exit_code is ExitCode.REFUSED


def test_hosts_that_have_not_joined_do_not_hide_the_others() -> None:
    rig = rig_of()
    rig["b"].is_gone = True
    describe(rig["c"], devices=[device(in_use="mounted on /srv")])
    assert [(subject, check) for subject, check, _ in stops(rig)] == [
        ("b", "reach"),
        ("c", "device"),
    ]
    (text,) = [text for subject, _, text in stops(rig) if subject == "b"]
    assert text.startswith("b has not joined within 0 s")


def test_a_host_that_does_not_answer_is_a_lost_one() -> None:
    rig = rig_of()
    rig["b"].answers[Verb.DESCRIBE] = SILENT
    findings = told(rig)
    assert [each.subject for each in findings if each.level == "stops"] == ["b"]
    assert exit_code(findings) is ExitCode.HOST_LOST


def test_a_host_at_another_address_is_refused() -> None:
    rig = rig_of("[[host]]\nname = 'd'\naddress = '10.0.0.4'\ndevices = ['/dev/fake0']")
    rig.hosts["d"] = FakeHost("d")
    describe(rig["d"])
    rig.engine.named = {**rig.hosts}
    del rig.hosts["d"]
    findings = rig.coordinator().examine()
    assert [each.text for each in findings if each.level == "stops"] == [
        "it has joined from 10.0.0.9, and the plan has 10.0.0.4"
    ]


def test_another_module_than_that_of_the_first_client_is_named() -> None:
    rig = rig_of()
    describe(rig["b"], module_version="0.2")
    assert stops(rig) == [
        ("b", "version", "it has spek.ko 0.2, and a 0.1; load the same version on all clients")
    ]


@pytest.mark.parametrize(
    ("seen", "destroy", "sentence"),
    [
        ({"data": ["ext4"]}, "", "/dev/fake0 holds data: ext4"),
        ({"data": ["ext4"]}, 'destroy = ["S1"]', ""),
        ({"data": ["ext4"]}, 'destroy = ["S2"]', "/dev/fake0 holds data: ext4"),
        ({"unwritable": "it is read-only"}, "", "/dev/fake0 cannot be written: it is read-only"),
    ],
)
def test_what_a_claim_would_refuse_of_writes_is_told(
    seen: dict[str, Any], destroy: str, sentence: str
) -> None:
    for workload in ("random-write-4k", "random-read-4k"):
        rig = rig_of("options = {write = true}", hosts="a", tail=destroy, workload=workload)
        describe(rig["a"], devices=[device(**seen)])
        wanted = [("a", "writing", sentence)] if sentence and "write" in workload else []
        assert stops(rig) == wanted


@pytest.mark.parametrize(
    ("unread", "why", "stopped"),
    [
        (Unread.FAILED, "it cannot be read", True),
        (Unread.OPEN, "a program has it open for writing", False),
        (Unread.UNLISTED, "`spekctl devices` does not list it; the run's claim looks at it", False),
    ],
)
@pytest.mark.parametrize("destroy", ["", 'destroy = ["S1"]'])
def test_a_device_that_was_not_read_does_not_count_as_empty(
    unread: Unread, why: str, stopped: bool, destroy: str
) -> None:
    for workload in ("random-write-4k", "random-read-4k"):
        rig = rig_of("options = {write = true}", hosts="a", tail=destroy, workload=workload)
        describe(rig["a"], devices=[device(unread=unread)])
        findings = told(rig)
        (seen,) = [each for each in findings if each.check == "device"]
        assert seen.level == "note"
        assert seen.text.endswith(f"; free, but whether it holds data is unknown: {why}")
        refused = [each.text for each in findings if each.level == "stops"]
        text = "/dev/fake0 cannot be read, so its data are unknown, and no run overwrites it"
        assert refused == ([text] if stopped and "write" in workload else [])
        checked = rig.coordinator()
        checked.check()
        assert why in "".join(examined.checked_lines(checked.parts.values()))


def test_power_feeds_of_the_plan_have_to_be_open() -> None:
    rig = rig_of(hosts="a", tail='power_feeds = ["psu", "rail"]')
    assert stops(rig) == [
        ("a", "power", "power feeds of the plan are not open: rail; open are: psu")
    ]
    describe(rig["a"], feeds=None)
    ((_, check, text),) = stops(rig)
    assert check == "power" and text.endswith(", and the plan has power_feeds")
    rig = rig_of(hosts="a")
    describe(rig["a"], feeds=None)
    (spoiled,) = [each for each in told(rig) if each.level == "spoils"]
    assert (spoiled.check, spoiled.remedy) == ("power", "modprobe spek_prober")
    # Where no helper has looked, nothing is known of the prober.
    describe(rig["a"], feeds=None, lacks=Lack.RIGHTS, trouble="sudo: a password is required")
    assert {each.check for each in told(rig) if each.level != "ok"} == {"rights"}


def test_a_certificate_that_expires_soon_is_told() -> None:
    now = datetime.datetime.now(datetime.UTC)
    soon = examined.certificate("a", now + datetime.timedelta(hours=2))
    assert (soon.level, soon.remedy) == ("note", "make new keys with `spekctl fleet init`")
    rig = rig_of(hosts="a")
    describe(rig["a"], keys_end_s=round(now.timestamp()) + 9 * 86_400)
    (told_of,) = [each for each in told(rig) if each.check == "certificate"]
    assert told_of.level == "ok" and told_of.text.startswith("of this fleet, valid until 20")


@pytest.mark.parametrize("share", ["split", "overlap"])
def test_one_disk_by_two_names_is_told_before_a_run(share: str) -> None:
    rig = rig_of(f'share = "{share}"', hosts="a")
    twice = [device(), device("/dev/disk/by-id/fake", facts=FACTS)]
    describe(rig["a"], devices=twice)
    ((subject, check, text),) = stops(rig)
    assert (subject, check) == ("plan", "devices")
    assert text == "a: /dev/disk/by-id/fake and /dev/fake0 are one device, 259:7"
    refusal = rig.refused()
    assert refusal.message == text and not rig.asked(Verb.CLAIM)
