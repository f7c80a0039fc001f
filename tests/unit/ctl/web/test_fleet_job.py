# SPDX-License-Identifier: GPL-2.0
"""What the page of a fleet asks for: the plan, and what the form has in its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spekctl.documents.plan import FleetTable, HostTable, PlanFile
from spekctl.errors import RefusedError, UsageError
from spekctl.web import fleet_job
from spekctl.web.fleet_job import FleetJob

FILE = PlanFile(
    FleetTable(
        "tls://127.0.0.1:0",
        "random-read-4k",
        options={"time": "60s", "write": True},
        seed=7,
    ),
    [
        HostTable("a", devices=["/dev/x"], destroy=["S1"], options={"depth": "2", "write": True}),
        HostTable("b", devices=["serial:S2"]),
        HostTable("t", role="target"),
    ],
)
WRITES = ["stream.main.read=0%"]


def planned(file: PlanFile = FILE, **asked: Any) -> Any:
    return fleet_job.planned(file, Path("/nowhere"), FleetJob(**asked))


def test_what_is_left_empty_is_as_the_plan_has_it() -> None:
    file, meant = planned(of_plan=True)
    assert meant.name == meant.workload.workload.name == "random-read-4k" and meant.seed == 7
    assert [host.options for host in meant.clients] == [
        {"time": "60s", "depth": "2"},
        {"time": "60s"},
    ]
    assert file.fleet.listen == FILE.fleet.listen


def test_the_form_stands_in_place_of_the_options_of_all() -> None:
    _, meant = planned(workload="spc1", options={"time": "5s", "depth": "9", "seed": "11"})
    assert meant.workload.workload.name == "spc1" and meant.seed == 11
    # What a host has of its own stays.
    assert [host.options["depth"] for host in meant.clients] == ["2", "9"]
    assert {host.options["time"] for host in meant.clients} == {"5s"}
    assert all("seed" not in host.options for host in meant.hosts)


def test_one_stream_and_a_text_are_workloads_as_well() -> None:
    _, meant = planned(settings=["stream.main.size=8KiB"])
    text = fleet_job.shown(FILE, meant).toml
    assert "8192" in text or "8KiB" in text
    _, again = planned(toml=text)
    assert again.workload == meant.workload
    _, changed = planned(of_plan=True, settings=["run.time=3s"])
    assert changed.workload != planned(of_plan=True)[1].workload


def test_neither_writing_nor_destroying_is_taken_from_the_file() -> None:
    file, meant = planned(settings=WRITES)
    assert [host.destroy for host in file.host] == [[], [], []]
    assert not any(host.load.write for host in meant.clients)
    with pytest.raises(
        RefusedError, match="writes to the devices of all hosts; to allow that, give"
    ):
        fleet_job.check_write(meant)
    remarks = fleet_job.shown(FILE, meant).remarks
    assert "destroy of the plan's file does not count here: type what may be destroyed" in remarks
    file, meant = planned(
        settings=WRITES, options={"write": True}, destroy=["a=S1", "b = S2", "a=S3"]
    )
    fleet_job.check_write(meant)
    assert [host.destroy for host in file.host] == [["S1", "S3"], ["S2"], []]
    assert fleet_job.shown(FILE, meant).writes


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"destroy": ["S1"]}, "'S1' names no device of a host; write HOST=SERIAL"),
        ({"destroy": ["a="]}, "write HOST=SERIAL"),
        ({"destroy": ["c=S1"]}, "the plan has no host c that sends I/O"),
        ({"destroy": ["t=S1"]}, "the plan has no host t that sends I/O"),
        ({"options": {"log": "x.parquet"}}, "--log is not given to a fleet here: logs lie on"),
        ({"options": {"power-feed": ["x"]}}, "--power-feed is not given to a fleet here"),
        ({"options": {"time": "soon"}}, "soon"),
        ({"options": {"seed": "x"}}, "seed"),
        ({"workload": "/etc/passwd"}, "there is no workload '/etc/passwd'"),
        ({"workload": "spc1", "of_plan": True}, "exclude each other"),
        ({"toml": "x = 1"}, "unknown key 'x'"),
    ],
)
def test_what_cannot_be_meant_is_one_sentence(asked: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError) as refusal:
        planned(**asked)
    assert sentence in refusal.value.message


def test_the_form_offers_what_a_fleet_can_do() -> None:
    form = fleet_job.form_of(FILE, "plan.toml")
    fields = {field.name: field for field in (*form.options, *form.measuring)}
    assert not fields.keys() & fleet_job.NOT_HERE.keys() and {"seed", "heat-map"} <= fields.keys()
    assert (fields["time"].hint, fields["write"].control) == ("60s, of the plan", "check")
    assert [(host.name, host.role, host.options) for host in form.hosts] == [
        ("a", "client", "depth=2 write=yes"),
        ("b", "client", ""),
        ("t", "target", ""),
    ]
