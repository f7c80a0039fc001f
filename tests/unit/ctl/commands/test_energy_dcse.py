# SPDX-License-Identifier: GPL-2.0
"""spekctl energy dcse: published figures, and what cannot be computed."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.energy_command import of_file, of_output

from spekctl.errors import ExitCode

BEFORE = "gigabytes = 18688\nidle_watts = 1960\niops = 35000\nload_watts = 2453\n"


AFTER = "gigabytes = 18384\nidle_watts = 1870\niops = 61000\nload_watts = 2346\n"


def test_published_dcse_figures(spekctl: Spekctl) -> None:
    Path("before.toml").write_text(BEFORE)
    Path("after.toml").write_text(AFTER)
    found = of_output(
        spekctl("energy", "dcse", "--from", "after.toml", "--against", "before.toml", "--json")
    )
    assert (found["gb_per_watt"]["text"], found["iops_per_watt"]["text"]) == ("9.83", "26.00")
    assert found["mb_per_s_per_watt"] is None
    assert found["against"]["workload"]["text"] == "82.23"
    assert found["against"]["capacity"]["text"] == "3.11"
    typed = spekctl("energy", "dcse", "--iops", "35000", "--load-watts", "2453", "-o", "d.json")
    assert "workload    14.27" in typed.out and of_file(Path("d.json"))["given"]["iops"] == "35000"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--iops", "1"), "nothing to compute: give a capacity and idle power"),
        (("--iops", "many", "--load-watts", "3"), "--iops: 'many' is not a number"),
        (("--iops", "0", "--load-watts", "3"), "the rate of I/Os is 0; it must be more than 0"),
        (("--iops", "1", "--load-watts", "-3"), "the power under load is -3"),
        (("--iops", "1", "--from", "b.toml"), "--from and --iops exclude each other"),
        (("--from", "none.toml"), "there is no file none.toml"),
        (
            ("--iops", "1", "--load-watts", "3", "--idle-watts", "4"),
            "idle power, 4 W, is above that under load, 3 W",
        ),
        (("--from", "b.toml", "-o", "b.toml"), "--output b.toml would overwrite the input b.toml"),
        (
            ("--iops", "1", "--load-watts", "3", "--against", "b.toml", "-o", "b.toml"),
            "--output b.toml would overwrite the input b.toml",
        ),
        (("--from", "b.toml", "--against", "w.toml"), "w.toml: unknown key 'gigabyte'; did you"),
    ],
)
def test_dcse_refuses_what_cannot_be(
    options: tuple[str, ...], sentence: str, spekctl: Spekctl
) -> None:
    Path("b.toml").write_text(BEFORE)
    Path("w.toml").write_text("gigabyte = 3\n")
    outcome = spekctl("energy", "dcse", *options)
    assert outcome.code == ExitCode.USAGE and outcome.out == ""
    assert sentence in outcome.sentence
