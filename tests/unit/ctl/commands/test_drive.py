# SPDX-License-Identifier: GPL-2.0
"""spekctl drive: what is listed, shown and refused."""

from __future__ import annotations

import json

import pytest
from lib.ctl.command_line import Spekctl, caller

from spekctl.drive import file


@pytest.fixture
def spekctl(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Spekctl:
    monkeypatch.setenv("COLUMNS", "160")
    return caller(capfd)


def test_models_are_listed(spekctl: Spekctl) -> None:
    listed = json.loads(spekctl("drive", "models", "--json").out)
    assert [entry["name"] for entry in listed] == file.names()
    lines = spekctl("drive", "models").out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == file.names()


def test_facts_of_the_drive_of_paper_003(spekctl: Spekctl) -> None:
    facts = json.loads(spekctl("drive", "show", "barracuda-es", "--arms", 4, "--json").out)
    assert facts["bytes"] == 1465149168 * 512
    assert (facts["arms"], facts["mean_seek_ms"], facts["cylinders"]) == (4, 8.5, 165_000)
    arms, fit = facts["watts"]
    assert (arms["profile"], arms["idle"], arms["all_arms_moving"]) == ("datasheet-arms", 15.3, 34)
    assert (fit["profile"], fit["all_arms_moving"]) == ("isca08-watts", 34)
    assert facts["zones"][0]["media_rate"] == pytest.approx(88.0e6, rel=1e-3)
    assert facts["zones"][-1]["sustained_rate"] == pytest.approx(43.2e6, rel=1e-3)
    assert facts["random_read_ms"] == pytest.approx(12.73, abs=0.01)
