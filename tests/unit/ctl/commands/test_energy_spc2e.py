# SPDX-License-Identifier: GPL-2.0
"""spekctl energy spc2e: computed from reports, and what is refused."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from lib.ctl.campaign_command import interrupt_in_run
from lib.ctl.command_line import Spekctl
from lib.ctl.schemas import validator
from lib.ctl.spc2e_command import RUN, report_of, streams_kernel, streams_power
from lib.fakes.power import FakePower
from lib.fakes.queue_kernel import QueueKernel

from spekctl.documents import spc2
from spekctl.errors import ExitCode

kernel = pytest.fixture(streams_kernel)
power = pytest.fixture(streams_power)


def test_a_report_is_read_again_with_another_price(
    spekctl: Spekctl, kernel: QueueKernel, power: FakePower
) -> None:
    spekctl(*RUN, "--folder", "t", "--price", "0.5", "--hours", "low=0/1/23")
    first = report_of("t")
    again = json.loads(spekctl("energy", "spc2e", "--from", "t/energy.json", "--json").out)
    for key in ("verdict", "levels", "profiles", "composite", "annual_cost", "remarks", "passed"):
        assert again[key] == first[key], key
    assert again["source"] == "t/energy.json"
    # The same from the test under load and the idle test beside it; hours are not in them.
    line = ("energy", "spc2e", "--price", "1", "--hours", "low=0/1/23", "--json", "-o", "n.json")
    outcome = spekctl(*line, "--from", "t/report.json")
    assert outcome.code == ExitCode.OK, outcome.err
    validator(spc2.SCHEMA_FILE).validate(json.loads(Path("n.json").read_text()))
    dearer = json.loads(outcome.out)
    assert (dearer["levels"], dearer["profiles"]) == (first["levels"], first["profiles"])
    assert Fraction(dearer["annual_cost"]["exact"]) == 2 * Fraction(first["annual_cost"]["exact"])
    known = json.loads(
        spekctl("energy", "spc2e", "--from", "n.json", "--idle-watts", "5.5", "--json").out
    )
    assert known["levels"][2]["watts"] == "5.5" and known["price"] == "1"


def test_what_energy_cannot_be_computed_from_is_told(spekctl: Spekctl, kernel: QueueKernel) -> None:
    load = list(RUN[2:])
    del load[load.index("--idle-time") : load.index("--idle-time") + 2]
    assert spekctl("spc2", *load, "--folder", "t").code == ExitCode.OK
    refused = spekctl("energy", "spc2e", "--from", "t/report.json")
    assert refused.code == ExitCode.USAGE
    assert "the runs of the moderate load are missing; `spekctl energy spc2e` measures" in (
        refused.err
    )
    (result, *_) = sorted(Path("t").glob("*lfp*.json"))
    refused = spekctl("energy", "spc2e", "--from", str(result))
    assert "is a result of a run; energy is computed from a report of `spekctl spc2`" in refused.err
    refused = spekctl("energy", "spc2e", "--from", "t/report.json", "--device", "/dev/fake0")
    assert "--from and --device exclude each other" in refused.err


def test_the_two_tests_do_not_take_up_each_other(
    spekctl: Spekctl, kernel: QueueKernel, power: FakePower
) -> None:
    interrupt_in_run(6, kernel)
    spekctl(*RUN, "--folder", "t")
    line = [word for word in RUN[2:] if word not in ("--idle-time", "300ms")]
    outcome = spekctl("spc2", *line, "--folder", "t", "--resume")
    assert outcome.code == ExitCode.USAGE and "another command" in outcome.sentence
