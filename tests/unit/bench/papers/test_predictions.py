# SPDX-License-Identifier: GPL-2.0
"""Predictions of paper 001 over the number of drives."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bench.papers import paper001, predictions
from bench.papers.claims import NO, OPEN, PARTLY, YES
from bench.papers.predictions import Curve, Point, Predictions

from spekctl.drive import file


@pytest.fixture(scope="module")
def predicted() -> Predictions:
    return predictions.predictions()


def test_disk_ios_are_those_of_raid_5() -> None:
    assert predictions._disk_ios(0.7) == pytest.approx(1.9)
    assert predictions._disk_reads(0.7) == pytest.approx(1.3 / 1.9)
    assert predictions._disk_ios(1.0) == predictions._disk_reads(1.0) == 1


def test_the_drive_keeps_the_limit_and_a_longer_queue_would_not(predicted: Predictions) -> None:
    model = file.load(str(predictions.DRIVE))
    reads = predictions._disk_reads(0.7)
    assert predicted.busy.mean_ms <= predictions.RANDOM_MS
    longer = predictions.serve(model, reads, depth=predicted.depth + 1)
    assert longer.mean_ms > predictions.RANDOM_MS and longer.iops > predicted.busy.iops
    # The manual's random reads, 2.6 W above idle.
    alone = predictions.serve(model, 1.0, depth=1)
    assert alone.watts == pytest.approx(predictions.idle_watts(model) + 2.6, rel=0.02)


def test_idle_drives_and_their_frame_are_the_array_of_the_paper() -> None:
    drive = predictions.idle_watts(file.load(str(predictions.DRIVE)))
    array = predictions.frame_watts(predictions.P6500_DRIVES) + predictions.P6500_DRIVES * drive
    assert drive == pytest.approx(4.37) and array == pytest.approx(predictions.P6500_IDLE_W)
    assert predictions.frame_watts(25) == predictions.P6400_IDLE_W < predictions.frame_watts(26)


def test_work_grows_with_drives_up_to_what_controllers_do(predicted: Predictions) -> None:
    mixed = predicted.random[0]
    work = {point.drives: point.work for point in mixed.points}
    assert work[50] == pytest.approx(2 * work[25])
    assert work[250] == pytest.approx(predictions.P6400_IOPS)
    watts = [point.watts for point in mixed.points]
    assert watts == sorted(watts)
    for curve in (*predicted.random, *predicted.sequential):
        last = curve.points[-1]
        assert curve.points[0].drives < curve.peak.drives < last.drives
        assert last.efficiency < curve.peak.efficiency
    for curve in predicted.idle:
        assert curve.points[-1].efficiency > 1.25 * curve.points[4].efficiency


def test_predictions_are_judged_by_the_numbers_of_the_paper(predicted: Predictions) -> None:
    claims = list(paper001._predicted(predicted))
    assert [claim.verdict for claim in claims] == [PARTLY, YES, OPEN, OPEN, OPEN]
    assert claims[0].here == "12.5 IOPS/W at 100 drives"
    assert all("Assumed array" in claim.reason for claim in claims[:2])


def peaks(*of: tuple[int, float]) -> list[Curve]:
    """A curve for each mix, with a single point of these drives and this efficiency."""
    return [Curve("x", [Point(drives, value, 1.0)]) for drives, value in of]


@pytest.mark.parametrize(
    ("curves", "verdicts"),
    [
        (peaks((125, 12.7), (125, 11.5), (125, 14.9)), [YES, YES]),
        (peaks((125, 15.0), (160, 11.5), (125, 20.0)), [PARTLY, PARTLY]),
        (peaks((60, 20.0), (60, 5.0), (60, 20.0)), [NO, NO]),
    ],
)
def test_other_predictions_are_judged_otherwise(
    predicted: Predictions, curves: list[Curve], verdicts: list[str]
) -> None:
    claims = list(paper001._predicted(replace(predicted, random=curves)))
    assert [claim.verdict for claim in claims] == [*verdicts, OPEN, OPEN, OPEN]


def test_the_three_figures_are_drawn_with_the_assumption(predicted: Predictions) -> None:
    sheet = predictions.sheet_of(predicted)
    assert [plot.title for plot in sheet.plots] == [
        "8 KiB at random",
        "128 KiB sequential",
        "Ready idle",
    ]
    assert sheet.remarks == [predictions.ASSUMED]
    (strand,) = sheet.plots[0].strands
    assert [line.name for line in strand.lines] == ["70% reads", "60% reads", "80% reads"]
    assert strand.lines[0].ys[-1] == predicted.random[0].points[-1].efficiency
