# SPDX-License-Identifier: GPL-2.0
"""Figures of SPC-2-like tests: data rates."""

from __future__ import annotations

from fractions import Fraction

from spekctl.campaigns.spc2 import figures
from spekctl.documents.exact import rounded


def test_a_stream_of_video_has_the_published_rate() -> None:
    assert figures.vod_rate(1) == Fraction("0.786432")
    assert rounded(figures.vod_rate(1), 2) == "0.79"
