# SPDX-License-Identifier: GPL-2.0
"""A disk's own times against those that spek measured."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import msgspec
from lib.ctl.results import AFTER, INFO, as_json, build, cell
from lib.fakes.kernel import SECOND

from spekctl.kernel.records import Direction


def test_times_that_a_disk_cannot_have_taken_are_found() -> None:
    """Service times add up to 0.1 s in 5 s, of which 1 s was not measured, with 16 outstanding and
    batches of 16 of one worker: up to 0.1 + 16 + 90 s are possible, and what is above is not."""

    def agrees(read_ms: int) -> bool | None:
        after = msgspec.structs.replace(AFTER, read_ms=(4_294_967_000 + read_ms) % (1 << 32))
        (target,) = as_json(build(after=after))["targets"]
        return cast(bool | None, target["disk_agrees"])

    assert [agrees(ms) for ms in (0, 106_000, 107_000, 4_154_491_962, (1 << 32) - 1)] == [
        *(True, True),
        *(False, False, False),
    ]


def test_a_disk_that_takes_too_little_time_is_found() -> None:
    """A thousand outstanding for all of the run can't have been without the disk."""
    slow = [cell(Direction.READ, [SECOND] * 4000)]
    (target,) = as_json(build(INFO, slow, after=AFTER))["targets"]
    assert target["disk_agrees"] is False


def test_disks_without_times_agree_by_their_counts() -> None:
    (target,) = as_json(build(after=msgspec.structs.replace(AFTER, read_ms=None, write_ms=None)))[
        "targets"
    ]
    assert target["disk_agrees"] is True


def test_requests_that_were_sent_twice_leave_it_open() -> None:
    info = replace(INFO, targets=(replace(INFO.targets[0], refused=3),))
    assert as_json(build(info))["targets"][0]["disk_agrees"] is None
