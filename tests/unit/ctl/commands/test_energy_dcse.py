# SPDX-License-Identifier: GPL-2.0
"""spekctl energy dcse: published figures, and what cannot be computed."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl import probes
from lib.ctl.command_line import Spekctl
from lib.ctl.energy_command import of_file, of_output

from spekctl import files
from spekctl.errors import ExitCode

BEFORE = "gigabytes = 18688\nidle_watts = 1960\niops = 35000\nload_watts = 2453\n"


AFTER = "gigabytes = 18384\nidle_watts = 1870\niops = 61000\nload_watts = 2346\n"


def test_published_dcse_figures(spekctl: Spekctl) -> None:
    Path("before.toml").write_text(BEFORE)
    Path("after.toml").write_text(AFTER)
    report = of_output(
        spekctl("energy", "dcse", "--from", "after.toml", "--against", "before.toml", "--json")
    )
    assert (report["gb_per_watt"]["text"], report["iops_per_watt"]["text"]) == ("9.83", "26.00")
    assert report["mb_per_s_per_watt"] is None
    assert report["against"]["workload"]["text"] == "82.23"
    assert report["against"]["capacity"]["text"] == "3.11"
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


def test_samples_of_the_prober_become_figures_over_time(spekctl: Spekctl) -> None:
    """Ten reads of 400 KiB and 11 W in each second."""
    Path("m.json").write_bytes(files.encode(probes.report(4)))
    outcome = spekctl("energy", "dcse", "--samples", "m.json", "--every", "1s", "-o", "d.json")
    assert outcome.code == ExitCode.OK
    assert "disks sda; power of" in outcome.out and "2026" not in outcome.err
    report = of_file(Path("d.json"))
    assert (report["disks"], report["given"]["iops"]) == (["sda"], "10")
    assert [span["iops"] for span in report["over_time"]] == ["10"] * len(report["over_time"])
    assert len(report["over_time"]) == 4
    watts = float(report["given"]["load_watts"])
    assert report["iops_per_watt"]["text"] == f"{10 / watts:.2f}"
    shown = spekctl("show", "d.json")
    assert "IOPS/W" in shown.out and shown.out.count("100%") == 4
    assert spekctl("report", "d.json", "-o", "d.html").code == ExitCode.OK
    assert "DCsE workload" in Path("d.html").read_text()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--samples", "m.json", "--iops", "1"), "--samples and --iops exclude each other"),
        (("--samples", "m.json", "--from", "b.toml"), "--samples and --from exclude each other"),
        (("--samples", "m.json", "--gigabytes", "0"), "--gigabytes is 0; it must be more than 0"),
        (("--samples", "m.json", "--every", "0s"), "--every must be more than 0"),
        (("--samples", "m.json", "--disk", "sdb"), "--disk: the samples have no disk 'sdb'"),
        (("--samples", "e.json"), "e.json has no sample"),
        (("--samples", "b.toml"), "expected samples of `spekctl prober`"),
        (("--samples", "m.json", "-o", "m.json"), "would overwrite the input m.json"),
        (("--iops", "1", "--load-watts", "3", "--disk", "sda"), "--disk needs --samples as well"),
        (("--iops", "1", "--load-watts", "3", "--every", "1s"), "--every needs --samples as well"),
    ],
)
def test_samples_refuse_what_cannot_be(
    options: tuple[str, ...], sentence: str, spekctl: Spekctl
) -> None:
    Path("b.toml").write_text(BEFORE)
    Path("m.json").write_bytes(files.encode(probes.report()))
    Path("e.json").write_bytes(files.encode(probes.report(0)))
    outcome = spekctl("energy", "dcse", *options)
    assert outcome.code == ExitCode.USAGE and outcome.out == ""
    assert sentence in outcome.sentence
