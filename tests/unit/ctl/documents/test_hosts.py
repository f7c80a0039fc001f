# SPDX-License-Identifier: GPL-2.0
"""The hosts of a fleet in its document."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from lib.ctl.fleets import T0, Spec, fleet_of, three
from lib.ctl.results import as_json

from spekctl import files
from spekctl.documents.hosts import HostStart
from spekctl.documents.result import Result
from spekctl.fleet.merge import merge


def test_a_fleet_is_a_result_with_hosts() -> None:
    fields = as_json(merge(three()))
    assert fields["kind"] == "spek-result"
    assert [host["name"] for host in fields["hosts"]] == ["alpha", "beta", "gamma"]
    assert fields["hosts"][1]["start"]["skew_ns"] == -35_000
    assert fields["hosts"][0]["clock"]["source"] == "chrony, stratum 3"
    assert fields["common"]["intervals"] == 4


def test_the_distance_of_the_clocks_of_a_host() -> None:
    assert HostStart(None, T0, 77).offset_ns == T0 - 77
    assert HostStart().offset_ns == 0


def broken(change: str) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(files.encode(merge(three())))
    match change:
        case "order":
            fields["hosts"].reverse()
        case "twice":
            fields["hosts"][1]["name"] = "alpha"
        case "none":
            fields["hosts"] = []
        case "common":
            fields["common"] = None
        case "column":
            fields["hosts"][0]["rows"]["read"]["ios"].pop()
        case "start":
            fields["hosts"][0]["start"]["monotonic_ns"] = None
        case "stream":
            fields["hosts"][0]["run"]["cells"][0]["stream"] = 9
    return fields


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("order", "sorted by name"),
        ("twice", "sorted by name"),
        ("none", "sorted by name"),
        ("common", "hosts and common come together"),
        ("column", "column ios has 3 entries for 4 rows"),
        ("start", "host alpha has intervals and no start"),
        ("stream", "stream is 9; config has 1 streams"),
    ],
)
def test_a_damaged_fleet_is_refused(change: str, words: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=words):
        msgspec.json.decode(json.dumps(broken(change)), type=Result)


def test_a_result_of_one_machine_has_no_hosts() -> None:
    fleet = fleet_of(Spec("alpha"))
    assert fleet.hosts is not None and len(fleet.hosts) == 1
