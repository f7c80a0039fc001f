# SPDX-License-Identifier: GPL-2.0
"""The report of an SPC-2-like test."""

from __future__ import annotations

from fractions import Fraction

import pytest
from lib.ctl import frozen
from lib.ctl.command_line import Spekctl
from lib.ctl.spc2_command import READ, WRITE, report_of, streams_kernel
from lib.fakes.kernel import histogram
from lib.fakes.queue_kernel import QueueKernel

from spekctl.campaigns.spc2 import figures, plan, report
from spekctl.documents.spc2 import Run
from spekctl.errors import ExitCode
from spekctl.workload.config import RunConfig

SECOND = 10**9

kernel = pytest.fixture(streams_kernel)


def test_a_whole_test_has_its_report(spekctl: Spekctl, kernel: QueueKernel) -> None:
    outcome = spekctl(*WRITE, "--folder", "t", "--system-price", "12000")
    assert outcome.code == ExitCode.OK, outcome.out + outcome.err
    report = report_of("t")
    assert report["notice"] == "SPC-2-like, unaudited"
    assert (report["passed"], report["complete"]) == (True, True)
    # A queue of 100 I/Os per second serves 33 streams of 3 each, if at all.
    assert 25 <= report["vod_streams"] <= 33
    rates = {
        composite["name"]: Fraction(composite["mb_s"]["exact"])
        for composite in report["composites"]
    }
    # The fake's I/Os have 4 KiB each, half of its capacity in closed loop.
    assert rates["lfp"] == rates["ldq"] == Fraction(50 * 4096, 10**6)
    assert rates["vod"] == Fraction(3 * report["vod_streams"] * 4096, 10**6)
    whole = figures.mean([rates["lfp"], rates["ldq"], rates["vod"]])
    assert Fraction(report["mbps"]["exact"]) == whole == rates["spc2"]
    assert Fraction(report["price_per_mbps"]["exact"]) == 12000 / whole
    assert kernel.deleted and kernel.closed


def test_a_stream_that_underruns_is_missed(spekctl: Spekctl, kernel: QueueKernel) -> None:
    outcome = spekctl(*READ, "--folder", "t", "--parts", "vod", "--vod-streams", "100")
    assert outcome.code == ExitCode.LIMIT_MISSED
    report = report_of("t")
    assert "took longer than 333 ms: their streams underrun" in report["verdict"]
    assert report["vod_streams"] is None and report["runs"][0]["late"] > 0
    patient = spekctl(
        *(*READ, "--folder", "u", "--parts", "vod", "--vod-streams", "30"),
        *("--max-response", "1us", "--max-late", "1"),
    )
    assert patient.code == ExitCode.OK
    run = report_of("u")["runs"][0]
    assert run["late"] == run["ios"]


def test_transfers_that_are_never_answered_underrun() -> None:
    """They complete in the drain, if at all, so no time of the measure phase shows them."""
    seconds, silent, streams = 1800, 17, 10
    step = plan.step_of(plan.VOD, streams, 0, seconds * SECOND)
    served = 3 * streams * (seconds - silent)

    def run(ages: list[int]) -> Run:
        contents = frozen.result(ages, ios=served, seconds=seconds, silent=silent)
        return report.run_of(step, contents, plan.LIMITS, None)

    over = 510
    ages = [SECOND + index * 16 * SECOND // over for index in range(over)]
    stuck = run(ages)
    assert (stuck.late, stuck.unanswered, stuck.fine) == (over, over, False)
    assert stuck.beyond == (
        f"{over} of {served + over:,} transfers took longer than 333 ms, {over} of which had not"
        " been answered when the measurement ended: their streams underrun"
    )
    young = run([frozen.MS, 300 * frozen.MS])
    assert (young.late, young.unanswered, young.beyond) == (0, 0, "")


@pytest.mark.parametrize(
    ("ms", "limit_ms", "late"),
    [
        # The bucket of 331.4 to 335.5 ms has its middle above 333 ms, and below 334 ms.
        ([332, 332], 333, 0),
        ([332, 333], 333, 0),
        ([332, 334], 333, 2),
        ([332, 335], 334, 1),
        ([5, 340], 334, 1),
        ([5, 6], 334, 0),
    ],
)
def test_whether_a_transfer_is_late_is_exact(ms: list[int], limit_ms: int, late: int) -> None:
    times = histogram([frozen.MS * each for each in ms])
    assert report.late_of(times, limit_ms * frozen.MS) == late


def test_io_errors_fail_the_test(spekctl: Spekctl, kernel: QueueKernel) -> None:
    def fails(config: RunConfig) -> None:
        kernel.errors = 5 if config.name == "spc2-ldq-64k-4" else 0

    kernel.before_run = fails
    outcome = spekctl(*READ, "--folder", "t")
    assert outcome.code == ExitCode.RUN_FAILED
    assert report_of("t")["verdict"].startswith("failed: ldq-64k-4-4: ")
    assert "ERRORS" in outcome.out
