# SPDX-License-Identifier: GPL-2.0
"""A sweep over a disk of 2 ms and four requests at a time saturates at 2000 I/Os per second.

In a guest whose clock counts instructions timers are exact, and what the guest itself takes is
some thousand instructions, so a nanosecond each: the law of the device is all that is left.
"""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from spekctl.documents import curve
from spekctl.documents.result import load_result
from spekctl.gate import metrics

SERVICE_NS = 2_000_000
SLOTS = 4
CAPACITY = SLOTS * 1_000_000_000 / SERVICE_NS
RAMP_S, SECONDS = 0.5, 3
BELOW = (500, 1000, 1600)
ABOVE = (2500, 4000)
LIMIT_S = 900


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the results of the sweep are."""
    return tmp_path_factory.mktemp("sweep")


@pytest.fixture(scope="module")
def swept(folder: Path) -> curve.Curve:
    rates = ",".join(str(rate) for rate in (*BELOW, *ABOVE))
    done = subprocess.run(
        [
            *(sys.executable, "-m", "spekctl", "vm", "--kernel", "6.1", "--icount", "--disk"),
            f"null_blk,size=1G,irqmode=2,completion_nsec={SERVICE_NS},hw_queue_depth=64",
            *("--share", str(folder), "--", "sweep", "--folder", str(folder / "out")),
            *("random-read-4k", "--device", "{disk1}", "--rate", rates),
            *(
                "--max-outstanding",
                str(SLOTS),
                "--time",
                f"{SECONDS}s",
                "--ramp",
                f"{RAMP_S * 1000:.0f}ms",
            ),
            *("--no-prober", "--progress", "none", "--json"),
        ],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return msgspec.json.decode(done.stdout, type=curve.Curve)


def test_its_results_say_that_their_times_are_instructions(
    swept: curve.Curve, folder: Path
) -> None:
    for point in swept.points:
        assert point.result_file is not None
        # Its path is from the guest's working directory; the folder is the same there.
        result = load_result(folder / "out" / Path(point.result_file).name)
        assert result.environment.counts_instructions
        assert metrics.find("cpu_per_io").unit_in(result) == "instructions"


def test_below_saturation_all_that_is_offered_is_served(swept: curve.Curve) -> None:
    for point in swept.points[: len(BELOW)]:
        rate = point.load.value
        # Arrivals are Poisson: their number is off by five standard deviations at most.
        assert point.iops == pytest.approx(rate, abs=5 * math.sqrt(rate * SECONDS) / SECONDS)
        assert point.service is not None
        assert point.service.mean == pytest.approx(SERVICE_NS, rel=0.05)
        assert point.stretch == pytest.approx(1, abs=0.01)


def test_beyond_it_the_disk_does_what_littles_law_leaves_it(swept: curve.Curve) -> None:
    for point in swept.points[len(BELOW) :]:
        rate = point.load.value
        assert point.iops == pytest.approx(CAPACITY, rel=0.05)
        assert point.iops <= CAPACITY
        assert point.service is not None and point.response is not None
        assert point.service.mean == pytest.approx(SERVICE_NS, rel=0.05)
        assert point.stretch == pytest.approx(rate / CAPACITY, rel=0.05)
        # An I/O that ends at t came at t * IOPS / rate, so the longest wait is that at the end ...
        served = point.iops * (RAMP_S + SECONDS)
        longest_s = (1 - point.iops / rate) * (RAMP_S + SECONDS)
        # ... but for chance: when the last of so many Poisson arrivals came, to five deviations.
        chance_s = 5 * math.sqrt(served) / rate
        assert point.response.max / 1e9 == pytest.approx(longest_s, abs=chance_s)
        # The wait grows evenly, and what is measured begins with the end of the ramp-up.
        share = (RAMP_S + SECONDS / 2) / (RAMP_S + SECONDS)
        assert point.response.mean == pytest.approx(point.response.max * share, rel=0.03)
