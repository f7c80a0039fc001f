# SPDX-License-Identifier: GPL-2.0
"""A plan with what a command line says in its place."""

from __future__ import annotations

import msgspec
import pytest

from spekctl import toml
from spekctl.documents.plan import PlanFile
from spekctl.errors import UsageError
from spekctl.fleet import plan
from spekctl.fleet.changes import changed

PLAN = """
[fleet]
listen = "tls://10.0.0.1:8786"
workload = "random-read-4k"
seed = 5
settings = ["stream.*.size=8KiB"]
options = {time = "60s", rate = "500", workers = "2"}
[[host]]
name = "a"
devices = ["/dev/fake0"]
options = {rate = "900", cpus = "1"}
[[host]]
name = "b"
devices = ["/dev/fake0"]
"""


def file() -> PlanFile:
    return msgspec.convert(toml.parse(PLAN), PlanFile)


def test_options_replace_those_of_all_hosts() -> None:
    own = changed(file(), {"time": "10s", "rate": "100"})
    assert own.fleet.options == {"time": "10s", "rate": "100", "workers": "2"}
    assert [host.options for host in own.host] == [{"cpus": "1"}, {}]
    loads = [host.load for host in plan.of(own).hosts]
    assert [(load.rate, load.time_ns) for load in loads] == [(100.0, 10**10)] * 2
    assert loads[0].cpus == [1]


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ({"depth": "8"}, {"time": "60s", "workers": "2", "depth": "8"}),
        ({"bsu": "8"}, {"time": "60s", "workers": "2", "bsu": "8"}),
        ({"workers": "1"}, {"time": "60s", "rate": "500", "workers": "1"}),
    ],
)
def test_what_excludes_an_option_of_the_plan_replaces_it(
    given: dict[str, str | bool | list[str]], left: dict[str, str]
) -> None:
    own = changed(file(), given)
    assert own.fleet.options == left
    assert ("rate" in own.host[0].options) is ("workers" in given)


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ({"depth": "32"}, {"depth": "32"}),
        ({"iops-per-bsu": "60"}, {"bsu": "8", "iops-per-bsu": "60"}),
        ({"bsu": "9"}, {"bsu": "9", "iops-per-bsu": "50"}),
    ],
)
def test_a_closed_loop_replaces_the_rate_of_a_bsu(
    given: dict[str, str | bool | list[str]], left: dict[str, str]
) -> None:
    """Guards the mend of 4f9d5885."""
    own = file()
    fleet = msgspec.structs.replace(own.fleet, options={"bsu": "8", "iops-per-bsu": "50"})
    hosts = [msgspec.structs.replace(host, options={}) for host in own.host]
    assert changed(PlanFile(fleet, hosts), given).fleet.options == left


def test_a_seed_is_that_of_the_fleet_and_settings_follow_its_own() -> None:
    own = changed(file(), {"seed": "77"}, ["stream.*.size=16KiB"])
    assert (own.fleet.seed, "seed" in own.fleet.options) == (77, False)
    assert own.fleet.settings == ["stream.*.size=8KiB", "stream.*.size=16KiB"]
    assert plan.of(own).workload.stream[0].size == "16KiB"
    assert changed(file(), {}) == file()


def test_a_value_that_will_not_do_is_refused() -> None:
    with pytest.raises(UsageError, match="--seed: "):
        changed(file(), {"seed": "x"})
    with pytest.raises(UsageError, match="--rate: "):
        plan.of(changed(file(), {"rate": "fast"}))
    with pytest.raises(UsageError, match=r"^--rate and --depth exclude each other$"):
        changed(file(), {"rate": "5", "depth": "5"})
    with pytest.raises(UsageError, match=r"^--depth and --iops-per-bsu exclude each other$"):
        changed(file(), {"depth": "5", "iops-per-bsu": "50"})
