# SPDX-License-Identifier: GPL-2.0
"""spekctl pts: its options, what they refuse, and the plan of a dry run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.pts_command import SHORT, Settling, call, report_of, settling_kernel

from spekctl.errors import ExitCode

kernel = pytest.fixture(settling_kernel)


def test_without_write_nothing_is_sent(spekctl: Spekctl, kernel: Settling) -> None:
    outcome = spekctl("pts", "--device", "/dev/fake0", *SHORT)
    assert outcome.code == ExitCode.REFUSED and "give --write" in outcome.sentence
    assert not kernel.runs_seen and not Path("t").exists()


def test_a_dry_run_says_what_would_be_done(spekctl: Spekctl, kernel: Settling) -> None:
    outcome = spekctl("pts", "--device", "/dev/fake0", "--dry-run")
    assert outcome.code == ExitCode.OK and not kernel.calls
    assert outcome.out.splitlines() == [
        "PTS-like test on /dev/fake0, unaudited",
        "  iops: purge, 200 % of the capacity by sequential writes of 128 KiB; at most 25 rounds of"
        " 56:00 (56 x 1m), tracked: iops of 4 KiB, 0 % reads",
        "  throughput-1024k: purge, 200 % of the capacity by sequential writes of 1 MiB; at most 25"
        " rounds of 2:00 (2 x 1m), tracked: bandwidth of 1 MiB, 0 % reads",
        "  throughput-128k: purge, 200 % of the capacity by sequential writes of 128 KiB; at most"
        " 25 rounds of 2:00 (2 x 1m), tracked: bandwidth of 128 KiB, 0 % reads",
        "  latency: purge, 200 % of the capacity by sequential writes of 128 KiB; at most 25 rounds"
        " of 9:00 (9 x 1m), tracked: latency of 4 KiB, 0 % reads",
        "  saturation: purge; random writes of 4 KiB for 400 % of the capacity",
        "  steady state: 5 rounds, range 20 %, slope 10 % of the average",
        "  at least 5:45:00, besides purges and what ends by its amount",
    ]
    assert not list(Path.cwd().glob("pts-*"))
    as_json = spekctl("pts", "--device", "/dev/fake0", "--dry-run", "--json", "--tests", "latency")
    assert json.loads(as_json.out)["parts"] == ["latency"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--tests", "iopps"), "--tests: no test is called 'iopps'; did you mean 'iops'?"),
        (("--tests", "iops,iops"), "--tests: iops is listed twice"),
        (("--sizes", "1000"), "--sizes: '1000' is no block size: it is a multiple of 512 bytes"),
        (("--sizes", "4K,4096"), "--sizes: 4096 is listed twice"),
        (("--sizes", "4Q"), "--sizes: '4Q' is not a size"),
        (("--sizes", "1G"), "is no block size"),
        (("--reads", "100,200"), "--reads: 200 is more than 100 per cent"),
        (("--reads", "x"), "--reads: 'x' is not a list of whole numbers"),
        (("--until", "steady:iops"), "--until: the test says what is tracked; leave out iops"),
        (("--until", "steady:window=30"), "a window of 30 rounds is more than the 25 of --rounds"),
        (("--time", "0"), "--time must be more than 0"),
        (("--saturation", "100"), "--saturation and --saturation-time exclude each other"),
        (("--destroy", "S999"), "S999"),
    ],
)
def test_wrong_input_is_refused(
    spekctl: Spekctl, kernel: Settling, options: tuple[str, ...], sentence: str
) -> None:
    outcome = call(spekctl, *options)
    assert outcome.code in (ExitCode.USAGE, ExitCode.REFUSED) and sentence in outcome.sentence
    assert not kernel.calls and not Path("t").exists()


def test_sizes_below_the_logical_block_are_left_out_or_refused(
    spekctl: Spekctl, kernel: Settling, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lib.fakes.machine import disk

    from spekctl.block import device

    monkeypatch.setattr(device, "find", lambda path: disk(path, logical_block=4096))
    outcome = spekctl("pts", "--device", "/dev/fake0", "--dry-run")
    assert outcome.code == ExitCode.OK
    assert "--sizes: sizes below the logical block, 4096 B, are left out" in outcome.out
    assert "rounds of 49:00" in outcome.out
    refused = spekctl("pts", "--device", "/dev/fake0", "--dry-run", "--sizes", "512")
    assert refused.code == ExitCode.USAGE
    assert "512 B is no multiple of the device's logical block of 4 KiB" in refused.sentence


def test_the_limits_can_be_set(spekctl: Spekctl, kernel: Settling) -> None:
    outcome = call(spekctl, "--tests", "iops", "--until", "steady:window=2,range=100%,slope=100%")
    assert outcome.code == ExitCode.OK
    report = report_of()
    assert report["parameters"]["steady"] == {"window": 2, "range": 1.0, "slope": 1.0}
    assert len(report["tests"][0]["rounds"]) == 2


def test_json_goes_to_standard_output(spekctl: Spekctl, kernel: Settling) -> None:
    outcome = call(spekctl, "--tests", "saturation", "--json")
    assert json.loads(outcome.out) == json.loads(Path("t/report.json").read_text())
