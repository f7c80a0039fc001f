# SPDX-License-Identifier: GPL-2.0
"""What the commands of all campaigns share: lists of names, and refusals by options' names."""

from __future__ import annotations

import re

import pytest

from spekctl.commands import campaign
from spekctl.errors import UsageError

PHASES = ("hot-band", "random-read", "ready-idle")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (None, list(PHASES)),
        ("ready-idle", ["ready-idle"]),
        (" ready-idle , hot-band", ["ready-idle", "hot-band"]),
    ],
)
def test_a_list_of_names_keeps_its_order(text: str | None, names: list[str]) -> None:
    assert campaign.names_of(text, PHASES, "--phases", "phase") == names


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "random-raed",
            "--phases: no phase is called 'random-raed'; did you mean 'random-read'?"
            " (they are hot-band, random-read, ready-idle)",
        ),
        ("", "--phases: no phase is called ''"),
        ("hot-band,ready-idle,hot-band", "--phases: hot-band is listed twice"),
    ],
)
def test_a_wrong_list_of_names_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=re.escape(sentence)):
        campaign.names_of(text, PHASES, "--phases", "phase")


def test_a_parameter_of_0_is_refused_by_its_option() -> None:
    named = {"time_ns": "--time", "vod_ns": "--vod-time"}
    campaign.refuse_zero({"time_ns": None, "vod_ns": 5, "late": 0}, named)
    with pytest.raises(UsageError, match="--vod-time must be more than 0"):
        campaign.refuse_zero({"time_ns": None, "vod_ns": 0}, named)
