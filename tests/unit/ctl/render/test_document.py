# SPDX-License-Identifier: GPL-2.0
"""Files of every kind as text."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.models import models

from spekctl.documents import document
from spekctl.documents.document import Kind, Origin
from spekctl.render import document as render

# Their contents serve the command that continues, or reads them in pieces.
ORIGIN_ONLY = {kind for kind in Kind if kind.endswith("-state")} | {
    Kind.LOG,
    Kind.TRACE,
    Kind.PLAN,
    Kind.IDLE,
}


def test_the_contents_of_every_report_can_be_shown() -> None:
    assert set(Kind) - ORIGIN_ONLY == set(render.MODELS)
    assert render.MODELS.items() <= models().items()


@pytest.mark.parametrize("kind", list(Kind))
def test_the_origin_of_every_kind_is_told(kind: Kind, capfd: pytest.CaptureFixture[str]) -> None:
    render.print_origin(
        Path("x"),
        Origin(kind=kind, version=7, created="2026-01-31T12:00:00Z", command=["run", "a b"]),
    )
    lines = capfd.readouterr().out.splitlines()
    assert lines[:3] == [
        f"x: {kind.text}, version 7 of its format",
        "  written 2026-01-31T12:00:00Z",
        "  by spekctl run 'a b'",
    ]


def test_an_origin_that_is_unknown_is_left_out(capfd: pytest.CaptureFixture[str]) -> None:
    render.print_origin(Path("x"), document.Origin(kind=Kind.IDLE, version=1))
    assert len(capfd.readouterr().out.splitlines()) == 1
