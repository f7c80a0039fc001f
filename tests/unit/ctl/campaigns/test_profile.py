# SPDX-License-Identifier: GPL-2.0
"""A profile from what a guest and the plugin leave in a folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.profiles import ACCOUNT, QUEUE, RUN_OF_1000, parts
from msgspec.structs import replace

from spekctl.campaigns.profile import profile_of
from spekctl.errors import SpekError


def test_a_profile_is_what_ran_between_the_marks(tmp_path: Path) -> None:
    parts(tmp_path, {0: 500, QUEUE: 1000}, {0: 2500, QUEUE: 31000, ACCOUNT: 15000})
    profile = profile_of(tmp_path)
    assert [(function.function, function.per_io) for function in profile.functions] == [
        ("null_queue_rq", 30.0),
        ("account [spek]", 15.0),
    ]
    assert (profile.per_io, profile.user_per_io) == (45.0, 2.0)
    assert profile.run.kernel == "6.1.0"


def test_a_run_without_an_end_or_without_io_has_none(tmp_path: Path) -> None:
    with pytest.raises(SpekError, match="the run did not complete"):
        profile_of(tmp_path)
    parts(tmp_path, {}, {}, run=replace(RUN_OF_1000, ios=0))
    with pytest.raises(SpekError, match=r"the run had no I/O"):
        profile_of(tmp_path)
