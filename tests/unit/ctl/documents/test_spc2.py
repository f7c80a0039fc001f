# SPDX-License-Identifier: GPL-2.0
"""Steps of the SPC-2-like test have distinct names, and failed runs show their reasons."""

from __future__ import annotations

import itertools

import msgspec
import pytest
from lib.ctl.plot_files import stream_run

from spekctl.campaigns.spc2 import plan


def test_every_step_has_a_file_of_its_own() -> None:
    steps = [
        msgspec.structs.replace(plan.step_of(test, streams, 0, 10**9), kind=kind, again=again)
        for test, streams, kind, again in itertools.product(
            (*plan.TESTS, plan.VOD), (1, 2, 12), ("run", "search"), (0, 1, 2)
        )
    ]
    assert len({step.name for step in steps}) == len(steps)
    assert all("/" not in step.name and " " not in step.name for step in steps)


@pytest.mark.parametrize(
    ("ok", "beyond", "fine"),
    [(True, "", True), (False, "", False), (True, "too many late", False)],
)
def test_a_run_is_fine_within_its_limits_and_without_errors(
    ok: bool, beyond: str, fine: bool
) -> None:
    assert stream_run("vod", 8, 10, 1e6, ok=ok, beyond=beyond).fine is fine
