# SPDX-License-Identifier: GPL-2.0
"""A model file of what was measured."""

from __future__ import annotations

import pytest
from lib.fakes.modelled_disk import ModelledDisk

from spekctl.drive import file
from spekctl.drive.describe import model_text
from spekctl.drive.probe import FoundCache, Probe


def test_the_file_is_a_model_that_behaves_like_the_disk() -> None:
    model = file.load("cheetah9lp")
    disk = Probe(ModelledDisk(model)).measure()
    text = model_text(disk, FoundCache(120_000, 4, 512), 'a "disk"', "spekctl")
    again = file.parse(text)
    assert (again.title, again.capacity, again.heads) == ('a "disk"', model.capacity, model.heads)
    assert (again.cache.segments, again.cache.ahead_sectors) == (4, 512)
    assert again.mean_seek_ns() == pytest.approx(model.mean_seek_ns(), rel=0.01)
    assert again.sustained_rate(again.zones[0]) == pytest.approx(
        model.sustained_rate(model.zones[0]), rel=1e-4
    )
