# SPDX-License-Identifier: GPL-2.0
"""Plans of runs that other programs' files describe."""

from __future__ import annotations

import pytest

from spekctl.errors import UsageError
from spekctl.fleet import imported, plan
from spekctl.workload import file
from spekctl.workload.imported import Client, Imported

CLIENTS = [
    Client("a", "a", "me@far", ("/dev/sdb", "/dev/sdc")),
    Client("b", "b", "", ("/dev/sdd",), {"depth": "4"}),
]


def step(*words: str) -> Imported:
    made = Imported(file.load("random-read-4k"), "vdbench", list(words))
    made.clients = list(CLIENTS)
    return made


def test_a_plan_has_the_hosts_and_the_options_of_all() -> None:
    words = ("--write", "--stripe 128KiB", "--stop-when errors>1", "--stop-when iops<5")
    text = imported.to_toml(imported.plan_of(step(*words), "random-read-4k"))
    planned = plan.parse(text.replace(imported.LISTEN, "tls://10.0.0.1:8786"))
    first, second = planned.hosts
    assert (first.name, first.ssh, first.devices) == ("a", "me@far", ("/dev/sdb", "/dev/sdc"))
    assert (second.ssh, second.load.depth, first.load.depth) == ("", 4, None)
    assert first.load.stripe_bytes == 128 << 10
    assert len(first.load.stop_when or ()) == 2
    assert planned.share == "overlap"


def test_permission_to_write_is_left_to_the_user() -> None:
    made = imported.plan_of(step("--write", "--destroy S1", "--verify"), "random-read-4k")
    assert made.fleet.options == {"verify": True}
    assert "write" not in imported.to_toml(made)


def test_verification_splits_devices_that_hosts_share() -> None:
    made = imported.plan_of(step("--write", "--verify"), "random-read-4k")
    assert made.fleet.share == "split"


def test_a_plan_is_refused_until_the_address_is_filled_in() -> None:
    with pytest.raises(
        UsageError, match="'ADDRESS OF THE CONTROLLER' is not an address to listen at"
    ):
        plan.parse(imported.to_toml(imported.plan_of(step(), "random-read-4k")))
