# SPDX-License-Identifier: GPL-2.0
"""spekctl workloads: the shipped ones."""

from __future__ import annotations

import json

from lib.ctl.command_line import Spekctl


def test_workloads_are_listed(spekctl: Spekctl) -> None:
    listed = json.loads(spekctl("workloads", "--json").out)
    assert {"name", "summary"} == set(listed[0])
    assert [entry["name"] for entry in listed] == [
        line.split()[0] for line in spekctl("workloads").out.splitlines()
    ]
