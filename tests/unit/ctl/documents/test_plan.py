# SPDX-License-Identifier: GPL-2.0
"""The schema of plans."""

from __future__ import annotations

import json

import jsonschema
import pytest

from spekctl import toml
from spekctl.documents import plan

PLAN = """
[fleet]
listen = "tls://10.0.0.1:8786"
workload = "random-read-4k"
[fleet.options]
time = "5s"
write = true
[[host]]
name = "client1"
devices = ["wwn:naa.6001"]
"""


def test_the_schema_takes_a_plan() -> None:
    jsonschema.validate(toml.parse(PLAN), json.loads(plan.SCHEMA_FILE.read_text()))


@pytest.mark.parametrize(
    ("good", "wrong"),
    [
        ("listen", "lissen"),
        ('"5s"', "5"),
        ('devices = ["wwn:naa.6001"]', "weight = 0"),
        ('name = "client1"', 'role = "client"'),
    ],
)
def test_the_schema_refuses_what_a_plan_has_not(good: str, wrong: str) -> None:
    schema = json.loads(plan.SCHEMA_FILE.read_text())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(toml.parse(PLAN.replace(good, wrong)), schema)
